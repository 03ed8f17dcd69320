//! People decide: approvals, `off`, `on` and `trust`, at a terminal, called by an agent, and where nobody is there.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::answer::{Answer, Ran};
use crate::fixtures;
use crate::sandbox::{Running, Sandbox, copy_program};
use crate::transcript::{Transcript, addressed, answer};

pub(crate) const SESSION: &str = "91b38a40-3ead-4aa8-8407-24d36ddad7be";

/// A session with a person in it, as an agent's shell command sees it.
pub(crate) fn attended() -> Sandbox {
    let client = std::process::id().to_string();
    let sandbox = Sandbox::new().with("CLAUDE_CODE_SESSION_ATTENDED", "1").with("CLAUDE_PID", client);
    sandbox.event(&event(&sandbox, "SessionStart.startup")).silent();
    sandbox
}

pub(crate) fn event(sandbox: &Sandbox, capture: &str) -> Value {
    let mut payload = fixtures::hook(capture);
    payload["session_id"] = json!(SESSION);
    payload["cwd"] = json!(sandbox.project());
    payload["transcript_path"] = json!(transcript_path(sandbox, SESSION));
    payload
}

/// Where the client keeps the session's transcript.
pub(crate) fn transcript_path(sandbox: &Sandbox, session: &str) -> PathBuf {
    sandbox.home().join(format!(".claude/projects/-project/{session}.jsonl"))
}

/// What the client writes into the transcript.
fn transcribe(sandbox: &Sandbox, entry: &Value) {
    write_down(sandbox, SESSION, entry);
}

/// A prompt that a person typed, as the client writes it into a session's transcript.
pub(crate) fn write_prompt_down(sandbox: &Sandbox, session: &str, prompt: &str) {
    let message = json!({ "role": "user", "content": prompt });
    let entry = json!({ "type": "user", "isSidechain": false, "turnOrigin": "human", "message": message });
    write_down(sandbox, session, &entry);
}

fn write_down(sandbox: &Sandbox, session: &str, entry: &Value) {
    let path = transcript_path(sandbox, session);
    fs::create_dir_all(path.parent().expect("a folder")).expect("a new folder");
    Transcript::at(path).line(&entry.to_string());
}

/// A command as the host's shell tool runs it.
pub(crate) fn by_agent(sandbox: &Sandbox, args: &[&str]) -> Ran {
    by_agent_of(sandbox, args, SESSION)
}

pub(crate) fn by_agent_of(sandbox: &Sandbox, args: &[&str], session: &str) -> Ran {
    let mut command = sandbox.command(args);
    command.env("CLAUDECODE", "1").env("CLAUDE_CODE_SESSION_ID", session).env_remove("CLAUDE_PROJECT_DIR");
    let mut running = Running::start(command);
    running.close();
    running.end()
}

/// A process that stands for another client, with these variables.
fn client(variables: &[(&str, &str)]) -> std::process::Child {
    let mut client = Command::new("sleep");
    client.arg("60").env_clear().envs(variables.iter().copied());
    client.spawn().expect("a process")
}

fn end(client: &mut std::process::Child) {
    client.kill().and_then(|()| client.wait()).expect("our own process");
}

/// A command as the shell tool of another client runs it.
fn by_agent_in_client(sandbox: &Sandbox, args: &[&str], client: &std::process::Child) -> Ran {
    let mut command = sandbox.command(args);
    command
        .env("CLAUDECODE", "1")
        .env("CLAUDE_CODE_SESSION_ID", SESSION)
        .env("CLAUDE_PID", client.id().to_string());
    let mut running = Running::start(command);
    running.close();
    running.end()
}

/// A payload that comes by a pipe, as a command of the agent's shell writes it.
fn piped(sandbox: &Sandbox, payload: &Value) -> std::process::Output {
    let event = payload["hook_event_name"].as_str().expect("an event");
    let mut piped = sandbox.command(&["hook", "--event", event]);
    piped.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut piped = piped.spawn().expect("the executable starts");
    piped.stdin.take().expect("a pipe").write_all(payload.to_string().as_bytes()).expect("it reads");
    piped.wait_with_output().expect("it ends")
}

/// A command at a terminal of its own, with what the person types.
#[cfg(target_os = "linux")]
pub(crate) fn at_terminal(sandbox: &Sandbox, args: &[&str], typed: &str) -> Ran {
    at_terminal_below(sandbox, args, typed, &[])
}

/// The same, in a shell with other variables; the command has only the sandbox's.
#[cfg(target_os = "linux")]
pub(crate) fn at_terminal_below(
    sandbox: &Sandbox,
    args: &[&str],
    typed: &str,
    above: &[(&str, &str)],
) -> Ran {
    let ours = sandbox.command(args);
    let words: Vec<String> = std::iter::once(ours.get_program())
        .chain(ours.get_args())
        .map(|word| format!("'{}'", word.to_string_lossy()))
        .collect();
    let mut command = Command::new("script");
    let unset: Vec<String> = above.iter().map(|(name, _)| format!("-u {name}")).collect();
    let line = format!("env {} {}", unset.join(" "), words.join(" "));
    command.args(["-qefc", &line, "/dev/null"]).env_clear().current_dir(sandbox.project());
    command.envs(ours.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.envs(above.iter().copied());
    let mut running = Running::start(command);
    running.send(typed.as_bytes());
    running.end_with_open_stdin()
}

pub(crate) fn code_of(ran: &Ran) -> String {
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(4), ""), "{ran:?}");
    let (_, after) = ran.stdout.split_once("Code ").unwrap_or_else(|| panic!("{ran:?}"));
    after[..6].to_owned()
}

/// The question whose answer counts, as the input of the client's tool.
fn question_of(ran: &Ran) -> Value {
    let line = ran.stdout.lines().find(|line| line.trim_start().starts_with('{'));
    serde_json::from_str(line.unwrap_or_else(|| panic!("{ran:?}"))).expect("JSON")
}

/// A prompt that a person types: into the client, which writes it down and calls the hook.
pub(crate) fn types(sandbox: &Sandbox, prompt: &str) -> Answer {
    write_prompt_down(sandbox, SESSION, prompt);
    submits(sandbox, prompt)
}

/// The hook's part of it.
fn submits(sandbox: &Sandbox, prompt: &str) -> Answer {
    let mut payload = event(sandbox, "UserPromptSubmit.plain");
    payload["prompt"] = json!(prompt);
    // Each prompt has an id of its own.
    payload["prompt_id"] = json!(format!("prompt-{}", sandbox.records().len()));
    sandbox.event(&payload)
}

fn is_off(sandbox: &Sandbox, policy: &str) -> bool {
    let listed = sandbox.run(&["off", "--json"]).json();
    listed
        .as_array()
        .is_some_and(|list| list.iter().any(|off| off["policy"] == policy && off["here"] == true))
}

#[test]
fn an_approval_that_a_person_types_works_once() {
    let sandbox = attended();
    let asked = by_agent(&sandbox, &["off", "context-warning", "--for", "2h"]);
    let code = code_of(&asked);
    // With its scope: wherever it is typed again, it is for what the person was shown.
    let whole = format!("off context-warning --for 2h --project {}", sandbox.project().display());
    assert!(asked.stdout.contains(&format!("Then run: tidegate {whole} --approved\n")), "{asked:?}");
    assert_eq!(
        code_of(&by_agent(&sandbox, &["off", "context-warning", "--for", "120m"])),
        code,
        "the same request"
    );

    let early = by_agent(&sandbox, &["off", "context-warning", "--for", "2h", "--approved"]);
    assert!(early.failed().contains("there is no approval"), "{early:?}");
    assert!(!is_off(&sandbox, "context-warning"));

    let told = types(&sandbox, &format!("approve {}", code.to_lowercase()));
    assert!(told.context().is_some_and(|text| text.contains(&format!("`tidegate {whole} --approved`"))));
    assert!(
        told.output()["systemMessage"]
            .as_str()
            .is_some_and(|text| text.starts_with("You approved: `tidegate off"))
    );

    let other = by_agent(&sandbox, &["off", "context-warning", "--approved"]);
    assert!(other.failed().contains("there is no approval"), "it was for two hours: {other:?}");
    let done = by_agent(&sandbox, &["off", "context-warning", "--for", "2h", "--approved"]);
    assert!(done.ok().starts_with("context-warning is off in "), "{done:?}");
    assert!(is_off(&sandbox, "context-warning"));
    let record = sandbox.records().pop().expect("a record");
    assert_eq!(record["event"], format!("tidegate {whole}"));
    assert_eq!(record["cause"], format!("approved with the code {code}"));

    let again = by_agent(&sandbox, &["off", "context-warning", "--for", "2h", "--approved"]);
    assert!(again.failed().contains("there is no approval"), "{again:?}");
    let late = types(&sandbox, &format!("approve {code}"));
    assert!(
        late.output()["systemMessage"]
            .as_str()
            .is_some_and(|text| text.starts_with("Tidegate approved nothing for"))
    );
}

/// With an input method, or read out in groups; and a no that ends the request at once.
#[test]
fn a_code_counts_however_it_is_typed() {
    let sandbox = attended();
    for form in ["wide", "spaced", "hyphened"] {
        let code = code_of(&by_agent(&sandbox, &["off", "skill-gate"]));
        let typed = match form {
            "wide" => code.chars().filter_map(|c| char::from_u32(u32::from(c) + 0xfee0)).collect(),
            "spaced" => format!("{} {}", &code[..3], &code[3..]),
            _ => format!("{}-{}", &code[..2], &code[2..]),
        };
        let told = types(&sandbox, &format!("承認　{typed}"));
        assert!(
            told.output()["systemMessage"].as_str().is_some_and(|text| text.starts_with("You approved: ")),
            "{form}: {told:?}"
        );
        by_agent(&sandbox, &["off", "skill-gate", "--approved"]).ok();
    }
    let code = code_of(&by_agent(&sandbox, &["off", "skill-gate"]));
    let told = types(&sandbox, &format!("refuse {code}"));
    assert!(
        told.output()["systemMessage"]
            .as_str()
            .is_some_and(|text| text.starts_with("You refused `tidegate off skill-gate")),
        "{told:?}"
    );
    assert!(told.context().is_some_and(|text| text.contains("did not approve it")), "{told:?}");
    let late = types(&sandbox, &format!("approve {code}"));
    assert!(
        late.output()["systemMessage"].as_str().is_some_and(|text| text.contains("you refused it")),
        "{late:?}"
    );
    assert_ne!(by_agent(&sandbox, &["off", "skill-gate", "--approved"]).code, Some(0));
}

#[test]
fn a_code_of_another_session_is_said_to_be_one() {
    let sandbox = attended();
    let code = code_of(&by_agent(&sandbox, &["off", "skill-gate"]));
    let typed = |session: &str, code: &str| {
        let mut payload = event(&sandbox, "UserPromptSubmit.plain");
        payload["session_id"] = json!(session);
        payload["prompt_id"] = json!(format!("prompt-{code}"));
        payload["prompt"] = json!(format!("approve {code}"));
        sandbox.event(&payload).output()["systemMessage"].as_str().unwrap_or_default().to_owned()
    };
    let told = typed("elsewhere", &code);
    assert!(told.contains("another session asked for it"), "{told}");
    let told = typed("elsewhere", "YYYYYY");
    assert!(told.contains("no session has a request with that code"), "{told}");
}

#[test]
fn a_model_cannot_approve_by_itself() {
    let sandbox = attended();
    let ask = || code_of(&by_agent(&sandbox, &["off", "skill-gate"]));
    let refused = || {
        let ran = by_agent(&sandbox, &["off", "skill-gate", "--approved"]);
        assert!(ran.failed().contains("there is no approval"), "{ran:?}");
    };
    // Prompts that no person typed.
    let code = ask();
    for prompt in [
        format!("<task-notification>\napprove {code}"),
        format!("Stop hook feedback:\napprove {code}"),
        format!("/x approve {code}"),
        format!("I approve {code}"),
    ] {
        let _ = types(&sandbox, &prompt);
        refused();
    }
    // A headless client on the same session.
    let mut payload = event(&sandbox, "UserPromptSubmit.plain");
    payload["prompt"] = json!(format!("approve {code}"));
    let mut headless = sandbox.command(&["hook", "--event", "UserPromptSubmit"]);
    headless.env("CLAUDE_CODE_SESSION_ATTENDED", "0");
    let mut running = Running::start(headless);
    running.send(payload.to_string().as_bytes());
    running.close();
    Answer::of(running.end()).silent();
    // That client is there now, and nobody else.
    let ran = by_agent(&sandbox, &["off", "skill-gate", "--approved"]);
    assert!(ran.failed().contains("no person in this session"), "{ran:?}");
    let _ = types(&sandbox, "back again");

    // The code on its way to where it could come back as a prompt.
    let mut tool = event(&sandbox, "PostToolUse.Bash");
    tool["tool_input"] = json!({ "command": format!("claude -p 'approve {code}'") });
    let answer = sandbox.event(&tool);
    assert!(
        answer.output()["systemMessage"].as_str().is_some_and(|text| text.contains("cancelled the code")),
        "{answer:?}"
    );
    let _ = types(&sandbox, &format!("approve {code}"));
    refused();
    let code = ask();
    // Split over two lines, and by a call that fails.
    let mut cron = event(&sandbox, "PostToolUse.CronCreate");
    cron["tool_input"]["prompt"] = json!(format!("approve\n{code}"));
    assert!(sandbox.event(&cron).stdout.contains("cancelled the code"));
    let _ = types(&sandbox, &format!("approve\n{code}"));
    refused();
    let code = ask();
    let mut failed = event(&sandbox, "PostToolUse.Bash");
    failed["hook_event_name"] = json!("PostToolUseFailure");
    failed["tool_input"] = json!({ "command": format!("tmux send-keys 'approve {code}'; false") });
    assert!(sandbox.event(&failed).stdout.contains("cancelled the code"));
    let _ = types(&sandbox, &format!("approve {code}"));
    refused();
    // Prompts that say of themselves where they come from.
    let code = ask();
    let mut wakeup = event(&sandbox, "UserPromptSubmit.plain");
    wakeup["prompt"] = json!(format!("approve {code}"));
    wakeup["source"] = json!("schedule_wakeup");
    let _ = sandbox.event(&wakeup);
    refused();
    let mut other = client(&[]);
    let asked = by_agent_in_client(&sandbox, &["off", "skill-gate"], &other);
    let _ = types(&sandbox, &format!("approve {}", code_of(&asked)));
    refused();
    end(&mut other);

    // Variables and flags are what a model can type.
    let mut command = sandbox.command(&["off", "skill-gate"]);
    command.env("TIDEGATE_APPROVAL_UNATTENDED", "off").env("TIDEGATE_ATTENDED", "1");
    let mut running = Running::start(command);
    running.close();
    let ran = running.end();
    assert!(ran.failed().contains("needs a person's yes"), "{ran:?}");
    // The approval of another session is none here.
    let code = ask();
    let _ = types(&sandbox, &format!("approve {code}"));
    let elsewhere = by_agent_of(&sandbox, &["off", "skill-gate", "--approved"], "another");
    assert!(elsewhere.failed().contains("no person in this session"), "{elsewhere:?}");
    assert!(!is_off(&sandbox, "skill-gate"));
}

fn question(sandbox: &Sandbox, event_name: &str, asked: &Ran, answer: Option<&str>) -> Value {
    asking(sandbox, event_name, &code_of(asked), &question_of(asked), answer)
}

/// Any question, with one answer to all that is asked in it.
fn asking(sandbox: &Sandbox, event_name: &str, code: &str, input: &Value, answer: Option<&str>) -> Value {
    let mut payload = event(sandbox, "PreToolUse.Bash");
    payload["hook_event_name"] = json!(event_name);
    payload["tool_name"] = json!("AskUserQuestion");
    payload["tool_use_id"] = json!(format!("toolu_{code}"));
    payload["tool_input"] = input.clone();
    if let Some(answer) = answer {
        let questions = input["questions"].as_array().expect("questions");
        let answered =
            |question: &Value| (question["question"].as_str().unwrap_or_default().to_owned(), json!(answer));
        let answers: serde_json::Map<String, Value> = questions.iter().map(answered).collect();
        payload["tool_response"] = json!({ "questions": questions, "answers": answers });
    }
    payload
}

/// A captured payload of the client, with our code in place of the one in it.
fn captured(sandbox: &Sandbox, capture: &str, asked: &Ran) -> Value {
    let code = code_of(asked);
    let text = event(sandbox, capture).to_string().replace("ABCD", &code);
    let mut payload: Value = serde_json::from_str(&text).expect("JSON");
    payload["tool_use_id"] = json!(format!("toolu_{code}"));
    payload
}

/// A captured question, worded as ours.
fn captured_question(sandbox: &Sandbox, capture: &str, asked: &Ran) -> Value {
    let mut payload = captured(sandbox, capture, asked);
    let ours = &question_of(asked)["questions"][0];
    for part in ["tool_input", "tool_response"] {
        let Some(question) = payload[part]["questions"].get_mut(0) else { continue };
        let old = question["question"].as_str().expect("a text").to_owned();
        question["question"] = ours["question"].clone();
        question["header"] = ours["header"].clone();
        for at in 0..2 {
            question["options"][at]["label"] = ours["options"][at]["label"].clone();
            question["options"][at]["description"] = ours["options"][at]["description"].clone();
        }
        if let Some(answer) =
            payload[part]["answers"].as_object_mut().and_then(|answers| answers.remove(&old))
        {
            let answer = answer.as_str().expect("a text").replace("Approve", "approve");
            payload[part]["answers"][ours["question"].as_str().expect("a text")] = json!(answer);
        }
    }
    payload
}

#[test]
fn what_the_client_really_sends_after_a_question() {
    for (answer, approves) in [
        ("option", true),
        // It shows the person more than the question that was given.
        ("preview", false),
        ("other", false),
        ("multi", false),
        ("unanswered", false),
        // The client went on by itself: what was ticked by then was not submitted by anybody.
        ("away", false),
        ("away-unanswered", false),
    ] {
        let sandbox = attended();
        let asked = by_agent(&sandbox, &["off", "skill-gate"]);
        let before = captured_question(&sandbox, "PreToolUse.AskUserQuestion.interactive", &asked);
        ask(&sandbox, &before).silent();
        let after = captured_question(&sandbox, &format!("PostToolUse.AskUserQuestion.{answer}"), &asked);
        let _ = ask(&sandbox, &after);
        let ran = by_agent(&sandbox, &["off", "skill-gate", "--approved"]);
        assert_eq!(ran.code == Some(0), approves, "{answer}: {ran:?}");
    }
}

#[test]
fn what_the_client_really_sends_as_a_prompt() {
    for (capture, approves) in [
        ("queued", true),
        ("agent-message", false),
        ("cross-session-message", false),
        ("background-bash", false),
    ] {
        let sandbox = attended();
        let asked = by_agent(&sandbox, &["off", "skill-gate"]);
        let payload = captured(&sandbox, &format!("UserPromptSubmit.{capture}"), &asked);
        let entry = json!({ "type": "user", "message": { "role": "user", "content": payload["prompt"] } });
        transcribe(&sandbox, &entry);
        let _ = sandbox.event(&payload);
        let ran = by_agent(&sandbox, &["off", "skill-gate", "--approved"]);
        assert_eq!(ran.code == Some(0), approves, "{capture}: {ran:?}");
    }
    // A scheduled prompt comes like a typed one; the call that schedules it gives it away.
    for (tool, prompt, in_it) in [("CronCreate", "cron", "ABCD"), ("ScheduleWakeup", "wakeup", "WXYZ")] {
        let sandbox = attended();
        let code = code_of(&by_agent(&sandbox, &["off", "skill-gate"]));
        let told = |capture: &str| {
            let text = event(&sandbox, capture).to_string().replace(in_it, &code);
            sandbox.event(&serde_json::from_str(&text).expect("JSON"))
        };
        let void = told(&format!("PostToolUse.{tool}"));
        assert!(
            void.output()["systemMessage"].as_str().is_some_and(|text| text.contains("cancelled the code")),
            "{void:?}"
        );
        let _ = told(&format!("UserPromptSubmit.{prompt}"));
        let _ = by_agent(&sandbox, &["off", "skill-gate", "--approved"]).failed();
    }
}

fn ask(sandbox: &Sandbox, payload: &Value) -> Answer {
    let event = payload["hook_event_name"].as_str().expect("an event");
    if event == "PostToolUse" {
        transcribe(
            sandbox,
            &json!({ "type": "user", "isSidechain": false, "toolUseResult": payload["tool_response"] }),
        );
    }
    let advice: &[&str] = if event == "PreToolUse" { &["--advice"] } else { &[] };
    let answer = sandbox.hook(&[&["--event", event], advice].concat(), payload.to_string());
    answer.check(event);
    answer
}

#[test]
fn an_answered_question_is_an_approval() {
    let sandbox = attended();
    let asked = by_agent(&sandbox, &["off", "skill-gate"]);
    ask(&sandbox, &question(&sandbox, "PreToolUse", &asked, None)).silent();
    let no = ask(&sandbox, &question(&sandbox, "PostToolUse", &asked, Some("no")));
    assert!(no.context().is_some_and(|text| text.contains("did not approve it")), "{no:?}");
    let ran = by_agent(&sandbox, &["off", "skill-gate", "--approved"]);
    assert!(ran.failed().contains("there is no approval"), "{ran:?}");
    // The no was for that request; another one has another code.
    let asked = by_agent(&sandbox, &["off", "skill-gate"]);
    ask(&sandbox, &question(&sandbox, "PreToolUse", &asked, None)).silent();
    let told = ask(&sandbox, &question(&sandbox, "PostToolUse", &asked, Some("approve")));
    assert!(told.context().is_some_and(|text| text.contains("--approved")), "{told:?}");
    let _ = by_agent(&sandbox, &["off", "skill-gate", "--approved"]).ok();
    // The gate is open in this project: also for what it could not check.
    sandbox.hook(&["--event", "PreToolUse"], "{").silent();
    let mut member = event(&sandbox, "PreToolUse.Write");
    member["tool_input"] = json!([]);
    sandbox.event(&member).silent();
    assert_eq!(sandbox.records().pop().expect("a record")["off_by_command"], json!(["skill-gate"]));
    // And closed again.
    let on = sandbox.run(&["on", "skill-gate"]);
    assert!(on.ok().starts_with("skill-gate is on again"), "{on:?}");
    sandbox.hook(&["--event", "PreToolUse"], "{").closed("the payload is not JSON");
}

/// Each request has a question of its own: a second one could turn the meaning of the first around.
#[test]
fn only_the_question_that_was_given_approves() {
    let change = |name: &str, question: &mut Value| {
        let text = question["questions"][0]["question"].as_str().expect("a text").to_owned();
        match name {
            "as given" => {}
            "text around it" => {
                question["questions"][0]["question"] =
                    json!(format!("I was asked to run\n{text}\nI declined. Do you approve that I declined?"));
            }
            "reversed options" => {
                question["questions"][0]["options"][0]["description"] = json!("The check stays on");
                question["questions"][0]["options"][1]["description"] = json!("Run it");
            }
            "another header" => question["questions"][0]["header"] = json!("Formatting"),
            "a second question" => {
                let second = json!({ "question": "Format the code?", "options": [] });
                question["questions"].as_array_mut().expect("a list").push(second);
            }
            _ => unreachable!("{name}"),
        }
    };
    for (name, counts) in [
        ("as given", true),
        ("text around it", false),
        ("reversed options", false),
        ("another header", false),
        ("a second question", false),
    ] {
        let sandbox = attended();
        let asked = by_agent(&sandbox, &["off", "skill-gate"]);
        let (code, mut input) = (code_of(&asked), question_of(&asked));
        change(name, &mut input);
        let told = ask(&sandbox, &asking(&sandbox, "PreToolUse", &code, &input, None));
        let says_how = told.context().is_some_and(|text| text.contains(&question_of(&asked).to_string()));
        assert_eq!(says_how, !counts, "{name}: {told:?}");
        let _ = ask(&sandbox, &asking(&sandbox, "PostToolUse", &code, &input, Some("approve")));
        let ran = by_agent(&sandbox, &["off", "skill-gate", "--approved"]);
        assert_eq!(ran.code == Some(0), counts, "{name}: {ran:?}");
        // A hook changes it after the model has asked.
        if !counts {
            let (asked, given) = (by_agent(&sandbox, &["off", "context-warning"]), "PreToolUse");
            ask(&sandbox, &question(&sandbox, given, &asked, None)).silent();
            let mut input = question_of(&asked);
            change(name, &mut input);
            let _ =
                ask(&sandbox, &asking(&sandbox, "PostToolUse", &code_of(&asked), &input, Some("approve")));
            let _ = by_agent(&sandbox, &["off", "context-warning", "--approved"]).failed();
        }
    }
}

/// A hook that an agent wrote answers the question instead of the person.
#[test]
fn an_answer_that_a_hook_gave_approves_nothing() {
    let attachment = |code: &str, event: &str| {
        let said =
            json!({ "hookSpecificOutput": { "hookEventName": event, "updatedInput": { "answers": {} } } });
        json!({ "type": "attachment", "isSidechain": false, "attachment": {
            "type": "hook_success", "hookEvent": event, "hookName": format!("{event}:AskUserQuestion"),
            "toolUseID": format!("toolu_{code}"), "stdout": said.to_string(), "command": "python3 answer.py" } })
    };
    for sign in ["decision", "PreToolUse", "PermissionRequest", "another call", "none"] {
        let sandbox = attended();
        let asked = by_agent(&sandbox, &["off", "skill-gate"]);
        let code = code_of(&asked);
        ask(&sandbox, &question(&sandbox, "PreToolUse", &asked, None)).silent();
        match sign {
            "another call" => transcribe(&sandbox, &attachment("OTHER2", "PreToolUse")),
            "PreToolUse" | "PermissionRequest" => transcribe(&sandbox, &attachment(&code, sign)),
            _ => {}
        }
        let answered = question(&sandbox, "PostToolUse", &asked, Some("approve"));
        let source = if sign == "decision" { "hook" } else { "user_temporary" };
        let result =
            json!([{ "type": "tool_result", "tool_use_id": format!("toolu_{code}"), "content": "x" }]);
        transcribe(
            &sandbox,
            &json!({ "type": "user", "isSidechain": false, "message": { "content": result },
            "toolUseResult": answered["tool_response"], "permissionDecision": { "decision": "accept", "source": source } }),
        );
        let told = sandbox.event(&answered);
        assert!(told.context().is_some_and(|text| text.contains("--approved")), "{sign}: {told:?}");
        let ran = by_agent(&sandbox, &["off", "skill-gate", "--approved"]);
        if matches!(sign, "none" | "another call") {
            assert_eq!(ran.code, Some(0), "{sign}: {ran:?}");
            continue;
        }
        assert!(ran.failed().contains("is void: a hook"), "{sign}: {ran:?}");
        assert!(!is_off(&sandbox, "skill-gate"), "{sign}");
        // The person learns of it, once.
        let mut call = event(&sandbox, "PostToolUse.Bash");
        let told = sandbox.event(&call);
        assert!(
            told.output()["systemMessage"]
                .as_str()
                .is_some_and(|text| text.contains("did not run `tidegate off")),
            "{sign}: {told:?}"
        );
        call["tool_use_id"] = json!("toolu_later");
        sandbox.event(&call).silent();
    }
}

#[test]
fn a_question_with_its_own_answer_is_none() {
    let sandbox = attended();
    let request = by_agent(&sandbox, &["off", "skill-gate"]);
    let mut asked = question(&sandbox, "PreToolUse", &request, None);
    asked["tool_input"]["answers"] = json!({ "x": "approve" });
    let told = ask(&sandbox, &asked);
    assert!(
        told.output()["systemMessage"].as_str().is_some_and(|text| text.contains("cancelled the code")),
        "{told:?}"
    );
    let mut answered = question(&sandbox, "PostToolUse", &request, Some("approve"));
    answered["tool_use_id"] = json!("toolu_unseen");
    ask(&sandbox, &answered).silent();
    let ran = by_agent(&sandbox, &["off", "skill-gate", "--approved"]);
    assert!(ran.failed().contains("there is no approval"), "{ran:?}");
}

/// An agent's shell command writes a payload of its own into the hook: the code from the request, the session, the client.
#[test]
fn a_payload_that_an_agent_pipes_into_the_hook_approves_nothing() {
    let sandbox = attended();
    let asked = by_agent(&sandbox, &["off", "skill-gate"]);
    let mut payload = event(&sandbox, "UserPromptSubmit.plain");
    payload["prompt"] = json!(format!("approve {}", code_of(&asked)));
    let output = piped(&sandbox, &payload);
    assert!(output.status.success() && output.stdout.is_empty(), "{output:?}");
    // In the transcript or not: the client did not call.
    transcribe(&sandbox, &json!({ "type": "user", "message": { "content": payload["prompt"] } }));
    let ran = by_agent(&sandbox, &["off", "skill-gate", "--approved"]);
    assert!(ran.failed().contains("there is no approval"), "{ran:?}");
    assert!(!is_off(&sandbox, "skill-gate"));
}

/// In a session that began behind a pipe no client is known, so the events there count. An approval does not, and the person
/// learns why.
#[cfg(target_os = "linux")]
#[test]
fn behind_a_pipe_nothing_is_approved_and_the_person_is_told() {
    for (locale, told, at_terminal) in [
        ("C.UTF-8", "a script runs between Claude Code and Tidegate's hook", "yourself in a terminal"),
        ("ja_JP.UTF-8", "フックの間にスクリプトがあります", "端末から"),
    ] {
        let client = std::process::id().to_string();
        let sandbox = Sandbox::new().with("CLAUDE_CODE_SESSION_ATTENDED", "1").with("CLAUDE_PID", client);
        let sandbox = sandbox.with("LANG", locale);
        assert!(piped(&sandbox, &event(&sandbox, "SessionStart.startup")).status.success());
        let asked = by_agent(&sandbox, &["off", "skill-gate"]);
        let prompt = format!("approve {}", code_of(&asked));
        let mut payload = event(&sandbox, "UserPromptSubmit.plain");
        payload["prompt"] = json!(prompt);
        // With nothing else against it: the client's transcript holds it.
        write_prompt_down(&sandbox, SESSION, &prompt);
        let output = piped(&sandbox, &payload);
        let said: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let message = said["systemMessage"].as_str().unwrap_or_default();
        for part in [prompt.as_str(), told, at_terminal, "`tidegate off skill-gate"] {
            assert!(message.contains(part), "{part}: {said}");
        }
        assert!(said["hookSpecificOutput"].is_null(), "it is for the person: {said}");
        let ran = by_agent(&sandbox, &["off", "skill-gate", "--approved"]);
        assert!(ran.failed().contains("there is no approval"), "{ran:?}");
        assert!(!is_off(&sandbox, "skill-gate"));
    }
}

/// JSON has no form for such a path, and a panic is not an answer.
#[cfg(target_os = "linux")]
#[test]
fn json_about_a_folder_that_is_not_utf8_is_refused() {
    use std::os::unix::ffi::OsStrExt;
    let sandbox = Sandbox::new();
    let project = sandbox.path().join(std::ffi::OsStr::from_bytes(b"caf\xe9"));
    fs::create_dir_all(project.join(".claude")).expect("new folders");
    fs::write(project.join(".claude/tidegate.toml"), "preset = \"strict\"\n").expect("a new file");
    let mut command = sandbox.command(&["trust", "--json"]);
    command.current_dir(&project).env("CLAUDE_PROJECT_DIR", &project);
    let mut running = Running::start(command);
    running.close();
    let ran = running.end();
    assert!(ran.failed().contains("cannot be printed as JSON"), "{ran:?}");
}

#[test]
fn a_client_with_the_number_zero_is_none() {
    let sandbox = attended();
    let mut command = sandbox.command(&["off", "skill-gate"]);
    command.env("CLAUDECODE", "1").env("CLAUDE_CODE_SESSION_ID", SESSION).env("CLAUDE_PID", "0");
    let mut running = Running::start(command);
    running.close();
    let ran = running.end();
    assert!(ran.failed().contains("no sign of the Claude Code"), "{ran:?}");
}

#[test]
fn an_approval_that_is_not_in_the_transcript_is_not_used() {
    let sandbox = attended();
    let asked = by_agent(&sandbox, &["off", "skill-gate"]);
    let prompt = format!("approve {}", code_of(&asked));
    // What the model, a tool, a subagent or the client itself wrote is not a person's.
    for entry in [
        json!({ "type": "assistant", "message": { "content": [{ "type": "text", "text": prompt }] } }),
        json!({ "type": "user", "toolUseResult": { "stdout": prompt }, "message": { "content": [{ "type": "tool_result", "content": prompt }] } }),
        json!({ "type": "user", "isSidechain": true, "message": { "content": prompt } }),
        json!({ "type": "user", "isMeta": true, "message": { "content": prompt } }),
    ] {
        transcribe(&sandbox, &entry);
    }
    let told = submits(&sandbox, &prompt);
    assert!(told.context().is_some_and(|text| text.contains("--approved")), "the hook takes it: {told:?}");
    let ran = by_agent(&sandbox, &["off", "skill-gate", "--approved"]);
    assert!(ran.failed().contains("not in this session's transcript"), "{ran:?}");
    // Nor is a transcript that lies elsewhere the client's.
    let elsewhere = sandbox.path().join(format!("elsewhere/-project/{SESSION}.jsonl"));
    fs::create_dir_all(elsewhere.parent().expect("a folder")).expect("a new folder");
    let entry = json!({ "type": "user", "turnOrigin": "human", "message": { "content": prompt } });
    Transcript::at(elsewhere.clone()).line(&entry.to_string());
    let mut other = event(&sandbox, "UserPromptSubmit.plain");
    other["transcript_path"] = json!(elsewhere);
    let _ = sandbox.event(&other);
    let ran = by_agent(&sandbox, &["off", "skill-gate", "--approved"]);
    assert!(ran.failed().contains("not in this session's transcript"), "{ran:?}");
    assert!(!is_off(&sandbox, "skill-gate"));
    // The client says that it sent the prompt by itself.
    let _ = sandbox.event(&event(&sandbox, "UserPromptSubmit.plain"));
    transcribe(&sandbox, &json!({ "type": "user", "turnOrigin": "cron", "message": { "content": prompt } }));
    let ran = by_agent(&sandbox, &["off", "skill-gate", "--approved"]);
    assert!(ran.failed().contains("is void: a hook or a scheduled prompt"), "{ran:?}");
    let told = sandbox.event(&event(&sandbox, "PostToolUse.Bash"));
    assert!(told.stdout.contains("you did not give that yes yourself"), "{told:?}");
}

#[test]
fn a_question_that_hides_the_command_approves_nothing() {
    let sandbox = attended();
    let asked = by_agent(&sandbox, &["off", "skill-gate"]);
    let text = format!("Shall I format the code? ref {}", code_of(&asked));
    let mut payload = question(&sandbox, "PreToolUse", &asked, None);
    payload["tool_input"] = json!({ "questions": [{ "question": text }] });
    let told = ask(&sandbox, &payload);
    assert!(told.context().is_some_and(|text| text.contains(&question_of(&asked).to_string())), "{told:?}");
    payload["hook_event_name"] = json!("PostToolUse");
    payload["tool_response"] = json!({ "answers": { text.as_str(): "approve" } });
    let _ = ask(&sandbox, &payload);
    let ran = by_agent(&sandbox, &["off", "skill-gate", "--approved"]);
    assert!(ran.failed().contains("there is no approval"), "{ran:?}");
}

#[test]
fn without_a_sign_that_a_person_is_there_nothing_is_approved() {
    let client = std::process::id().to_string();
    let sandbox = Sandbox::new().with("CLAUDE_PID", client);
    sandbox.event(&event(&sandbox, "SessionStart.startup")).silent();
    assert_eq!(sandbox.one_record()["person"], "unknown");
    let ran = by_agent(&sandbox, &["off", "skill-gate"]);
    assert!(ran.failed().contains("no person in this session"), "{ran:?}");
}

/// The person learns from Tidegate itself what they are asked for: after the call that asked, once, and in the status line.
#[test]
fn a_person_is_shown_the_request_without_the_model() {
    let sandbox = attended();
    let asked = by_agent(&sandbox, &["off", "skill-gate", "--for", "1h"]);
    let mut call = event(&sandbox, "PostToolUse.Bash");
    call["hook_event_name"] = json!("PostToolUseFailure");
    call["tool_input"] = json!({ "command": "tidegate off skill-gate --for 1h" });
    call["tool_use_id"] = json!("toolu_asks");
    let told = sandbox.event(&call);
    let shown = told.output()["systemMessage"].as_str().unwrap_or_default().to_owned();
    let code = code_of(&asked);
    let command = format!("tidegate off skill-gate --for 1h --project {}", sandbox.project().display());
    assert!(shown.contains(&format!("approve {code}")) && shown.contains(&command), "{shown}");
    assert_eq!(told.context(), None, "it is for the person");
    call["tool_use_id"] = json!("toolu_later");
    sandbox.event(&call).silent();
    let mut status = fixtures::status_lines()[1].json();
    status["session_id"] = json!(SESSION);
    let line = sandbox.run_with(&["statusline"], status.to_string().as_bytes());
    assert!(line.ok().contains(&format!("approve {code}?")), "{line:?}");
    // Of several the newest is named: an old request must not stand for the one that is asked now.
    let newest = code_of(&by_agent(&sandbox, &["off", "verify-stop"]));
    let line = sandbox.run_with(&["statusline"], status.to_string().as_bytes());
    assert!(line.ok().contains(&format!("2 wait · approve {newest}?")), "{line:?}");
    assert!(!line.stdout.contains(&code), "{line:?}");
    // Nothing else pushes it out of a narrow line.
    let mut edit = event(&sandbox, "PostToolUse.Write");
    edit["tool_input"]["file_path"] = json!(sandbox.project().join("a.rs"));
    let _ = sandbox.event(&edit);
    let sandbox = sandbox.with("COLUMNS", "60");
    let line = sandbox.run_with(&["statusline"], status.to_string().as_bytes());
    assert!(line.ok().contains(&format!("approve {newest}?")), "{line:?}");
}

#[test]
fn unattended_it_is_refused_unless_the_user_said_so_before() {
    let sandbox = Sandbox::new();
    for config in ["", "[approval]\nunattended = [\"trust\"]\n"] {
        sandbox.config(config);
        let ran = sandbox.run(&["off", "context-warning"]);
        assert!(
            ran.failed().contains("no terminal to ask at") && ran.stderr.contains("config.toml"),
            "{ran:?}"
        );
    }
    // A project cannot say it.
    fs::create_dir_all(sandbox.project().join(".claude")).expect("a new folder");
    let own = sandbox.project().join(".claude/tidegate.toml");
    fs::write(&own, "[approval]\nunattended = [\"off\", \"trust\"]\n").expect("a new file");
    let _ = sandbox.run(&["off", "context-warning"]).failed();
    assert!(!is_off(&sandbox, "context-warning"));
    sandbox.config("[approval]\nunattended = [\"off\"]\n");
    let ran = sandbox.run(&["off", "context-warning"]);
    assert!(ran.ok().contains("context-warning is off in"), "{ran:?}");
    assert_eq!(sandbox.one_record()["cause"], "the user's config allows it unattended");
}

/// An agent brings a config folder of its own.
#[test]
fn a_config_folder_that_was_moved_allows_nothing() {
    let sandbox = Sandbox::new();
    let evil = sandbox.path().join("evil");
    for folder in ["tidegate", ".config/tidegate"] {
        fs::create_dir_all(evil.join(folder)).expect("new folders");
        let config = "[approval]\nunattended = [\"off\", \"trust\", \"memory import\"]\n";
        fs::write(evil.join(folder).join("config.toml"), config).expect("a new file");
    }
    for variable in ["XDG_CONFIG_HOME", "HOME"] {
        let mut command = sandbox.command(&["off", "context-warning"]);
        command.env(variable, &evil);
        let mut running = Running::start(command);
        running.close();
        let ran = running.end();
        assert!(ran.failed().contains("needs a person's yes"), "{variable}: {ran:?}");
        let own = sandbox.home().join(".config/tidegate/config.toml");
        assert!(ran.stderr.contains(&format!("{}, the account's own", own.display())), "{variable}: {ran:?}");
        assert!(!is_off(&sandbox, "context-warning"), "{variable}");
        let mut doctor = sandbox.command(&["doctor", "--json"]);
        doctor.env(variable, &evil);
        let said = String::from_utf8(doctor.output().expect("it runs").stdout).expect("UTF-8");
        assert!(said.contains("allows nothing, because HOME or XDG_CONFIG_HOME"), "{variable}: {said}");
        assert!(said.contains(&format!("It counts only in {}", own.display())), "{variable}: {said}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn at_a_terminal_it_asks() {
    let sandbox = Sandbox::new();
    fs::create_dir_all(sandbox.project().join(".claude")).expect("a new folder");
    fs::write(sandbox.project().join(".claude/tidegate.toml"), "text_budget = 700\n").expect("a new file");
    let no = at_terminal(&sandbox, &["trust"], "\n");
    assert!(no.stdout.contains("Continue? [y/N]") && no.stdout.contains("nothing was changed"), "{no:?}");
    assert_ne!(no.code, Some(0));
    let yes = at_terminal(&sandbox, &["trust"], "y\n");
    assert!(yes.code == Some(0) && yes.stdout.contains("trusted as they are now"), "{yes:?}");
}

/// Who types it at a terminal has said yes.
#[cfg(target_os = "linux")]
#[test]
fn at_a_terminal_off_does_not_ask() {
    let sandbox = Sandbox::new();
    let ran = at_terminal(&sandbox, &["off", "context-warning", "--for", "30m"], "");
    assert!(ran.code == Some(0) && ran.stdout.contains("context-warning is off in"), "{ran:?}");
    assert!(!ran.stdout.contains("[y/N]"), "{ran:?}");
    assert!(is_off(&sandbox, "context-warning"));
    let record = sandbox.one_record();
    assert_eq!((&record["cause"], &record["person"]), (&json!("typed at the terminal"), &json!("there")));
}

/// Agents can open a terminal for a command and type into it.
#[cfg(target_os = "linux")]
#[test]
fn a_terminal_that_an_agent_drives_is_not_a_person() {
    for variable in tidegate_core::host::Host::agent_variables() {
        let sandbox = Sandbox::new().with(variable, "1");
        let ran = at_terminal(&sandbox, &["off", "context-warning"], "y\n");
        assert!(ran.code != Some(0) && ran.stdout.contains("needs a person's yes"), "{variable}: {ran:?}");
        assert!(!is_off(&sandbox, "context-warning"), "{variable}");
    }
}

/// They can also clear the variables of what they start, but not those of the shell they start it from.
#[cfg(target_os = "linux")]
#[test]
fn a_terminal_below_an_agent_is_not_a_person() {
    let sandbox = Sandbox::new();
    let ran = at_terminal_below(&sandbox, &["off", "context-warning"], "y\n", &[("CLAUDECODE", "1")]);
    assert!(ran.code != Some(0) && ran.stdout.contains("needs a person's yes"), "{ran:?}");
    assert!(!is_off(&sandbox, "context-warning"));
    // What a script may do, an agent's script may not.
    assert_eq!(sandbox.run(&["init"]).code, Some(0));
    let below = Command::new("sh")
        .args(["-c", "env -u CLAUDECODE \"$0\" uninstall; true", env!("CARGO_BIN_EXE_tidegate")])
        .env_clear()
        .envs(sandbox.command(&[]).get_envs().filter_map(|(name, value)| Some((name, value?))))
        .env("CLAUDECODE", "1")
        .current_dir(sandbox.project())
        .output()
        .expect("a shell");
    assert!(String::from_utf8_lossy(&below.stderr).contains("needs a person's yes"), "{below:?}");
    assert!(sandbox.project().join(".claude/settings.local.json").exists());
}

/// An agent starts a command outside of its own processes, where nothing shows who started it.
#[cfg(target_os = "linux")]
#[test]
fn while_a_session_runs_a_command_without_a_terminal_may_be_an_agents() {
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.run(&["init"]).code, Some(0));
    let settings = sandbox.project().join(".claude/settings.local.json");
    let program = sandbox.path().join("claude");
    copy_program("/bin/sleep".as_ref(), &program);
    let mut agent =
        Command::new(&program).arg("60").current_dir(sandbox.project()).spawn().expect("it starts");
    let elsewhere = sandbox.path().join("other-state");
    for args in [&["uninstall"] as &[&str], &["init", "--preset", "observe"]] {
        for moved in [false, true] {
            let mut command = sandbox.command(args);
            if moved {
                command.env("TIDEGATE_STATE_DIR", &elsewhere);
            }
            let mut running = Running::start(command);
            running.close();
            let ran = running.end();
            assert!(ran.failed().contains("needs a person's yes"), "{ran:?}");
            assert!(settings.exists());
        }
    }
    let ran = at_terminal(&sandbox, &["uninstall"], "");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(!settings.exists());
    // Rows of other projects could speak for the person there.
    let row = json!({"kind": "project", "uid": "p", "key": "/elsewhere/.git", "name": "bank", "created": 1, "updated": 1});
    let import = |sandbox: &Sandbox| sandbox.run_with(&["memory", "import"], row.to_string().as_bytes());
    let ran = import(&sandbox);
    assert!(ran.failed().contains("belong to other projects"), "{ran:?}");
    // A person's own settings are everybody's on the machine, wherever an agent works.
    assert_eq!(sandbox.run(&["init", "--user"]).code, Some(0));
    let ran = sandbox.run(&["uninstall", "--user"]);
    assert!(ran.failed().contains("needs a person's yes"), "{ran:?}");
    end(&mut agent);
    // Nothing runs there: a script may do it.
    assert_eq!(import(&sandbox).code, Some(0));
    assert_eq!(sandbox.run(&["uninstall", "--user"]).code, Some(0));
    assert_eq!(sandbox.run(&["init"]).code, Some(0));
    assert_eq!(sandbox.run(&["uninstall"]).code, Some(0));
}

/// An agent starts a second client, and types into it.
#[cfg(target_os = "linux")]
#[test]
fn a_client_that_an_agent_started_approves_nothing() {
    let sandbox = attended();
    let mut nested = client(&[("CLAUDE_CODE_SESSION_ID", "outer")]);
    for args in [&["off", "skill-gate"][..], &["off", "skill-gate", "--approved"]] {
        let ran = by_agent_in_client(&sandbox, args, &nested);
        assert!(
            ran.failed().contains("a Claude Code that an agent started (CLAUDE_CODE_SESSION_ID in"),
            "{ran:?}"
        );
    }
    end(&mut nested);
    let ran = by_agent_in_client(&sandbox, &["off", "skill-gate"], &nested);
    assert!(ran.failed().contains("no Claude Code that can be looked at"), "{ran:?}");
}

/// The hook, too: the client that types the approval is the one that is looked at.
#[cfg(target_os = "linux")]
#[test]
fn a_prompt_typed_into_an_agents_client_approves_nothing() {
    // The client of a hook is the process of this test, so that has to be one that an agent started.
    if std::env::var_os("CLAUDECODE").is_none() {
        let name = "people::a_prompt_typed_into_an_agents_client_approves_nothing";
        let mut again = Command::new(std::env::current_exe().expect("this program"));
        let output = again.args(["--exact", name]).env("CLAUDECODE", "1").output().expect("it starts");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("1 passed"), "{said}");
        return;
    }
    let sandbox = attended();
    let code = code_of(&by_agent(&sandbox, &["off", "skill-gate"]));
    let mut payload = event(&sandbox, "UserPromptSubmit.plain");
    payload["prompt"] = json!(format!("approve {code}"));
    let hook = |variables: &[(&str, &str)]| {
        let mut hook = sandbox.command(&["hook", "--event", "UserPromptSubmit"]);
        hook.envs(variables.iter().copied());
        let mut running = Running::start(hook);
        running.send(payload.to_string().as_bytes());
        running.close();
        Answer::of(running.end())
    };
    // A variable of ours does not make a person of a client that says that nobody is there.
    let told = hook(&[("TIDEGATE_ATTENDED", "1"), ("CLAUDE_CODE_SESSION_ATTENDED", "0")]);
    assert!(told.stdout.contains("did not count, because Claude Code says that no person"), "{told:?}");
    let because = || sandbox.records().pop().expect("a record").to_string();
    assert!(because().contains("the client says that no person is there"), "{}", because());
    let told = hook(&[("TEST_TIDEGATE_TOP", "1")]);
    assert!(told.stdout.contains("did not count, because an agent started this Claude Code"), "{told:?}");
    assert!(because().contains("an agent started this client"), "{}", because());
    let ran = by_agent(&sandbox, &["off", "skill-gate", "--approved"]);
    assert!(ran.failed().contains("there is no approval"), "{ran:?}");
}

#[test]
fn off_counts_where_it_was_meant() {
    let sandbox = Sandbox::new();
    sandbox.config("[approval]\nunattended = [\"off\"]\n");
    let mut transcript = Transcript::at(sandbox.path().join("t.jsonl"));
    transcript.line(&answer(155_000));
    let at_use = |session: &str| {
        let prompt = addressed(
            fixtures::hook("UserPromptSubmit.plain"),
            session,
            &transcript.path,
            &sandbox.project(),
        );
        sandbox.event(&prompt).context().is_some()
    };
    assert!(at_use("one"));
    let _ = sandbox.run(&["off", "context-warning", "--session", "one"]).ok();
    assert!(at_use("two"), "another session of the project");
    let _ = sandbox.run(&["off", "context-warning"]).ok();
    assert!(!at_use("three"), "the project");
    let listed = sandbox.run(&["off"]);
    let words = listed.words();
    assert!(words.contains("context-warning off until you switch it on"), "{words}");
    assert!(words.contains("Elsewhere - context-warning is off in session one"), "{words}");
    let _ = sandbox.run(&["on", "context-warning"]).ok();
    assert!(at_use("four"));
    let none = sandbox.run(&["off"]).words();
    assert!(none.contains("context-warning on ") && !none.contains("Elsewhere"), "{none}");
    let _ = sandbox.run(&["off", "context-warning", "--everywhere", "--for", "1d"]).ok();
    assert!(!at_use("five"));
}

#[test]
fn another_folder_and_another_session() {
    let sandbox = Sandbox::new();
    sandbox.config("[approval]\nunattended = [\"off\"]\n");
    let other = sandbox.path().join("other");
    fs::create_dir(&other).expect("a new folder");
    let mut start = fixtures::hook("SessionStart.startup");
    start["session_id"] = json!("elsewhere");
    start["cwd"] = json!(other);
    let mut hook = sandbox.command(&["hook", "--event", "SessionStart"]);
    hook.env("CLAUDE_PROJECT_DIR", &other);
    crate::sandbox::feed(hook, start.to_string().as_bytes());
    let _ = sandbox.run(&["off", "context-warning", "--session", "elsewhere"]).ok();
    // Switched on here, it stays off there.
    assert!(sandbox.run(&["on", "context-warning"]).ok().contains("was not off here"));
    assert_eq!(sandbox.run(&["off", "--json"]).json().as_array().map(Vec::len), Some(1));
    let ran = sandbox.run(&["off", "skill-gate", "--project", &other.to_string_lossy()]);
    assert!(ran.ok().contains("/other until"), "{ran:?}");
    // Switched on again from here, also when the folder is gone.
    fs::remove_dir_all(&other).expect("our own");
    assert!(sandbox.run(&["on", "skill-gate"]).ok().contains("was not off here"));
    let ran = sandbox.run(&["on", "skill-gate", "--project", &other.to_string_lossy()]);
    assert!(ran.ok().starts_with("skill-gate is on again"), "{ran:?}");
    sandbox.hook(&["--event", "PreToolUse"], "{").closed("the payload is not JSON");
}

#[test]
fn a_session_in_the_home_does_not_make_everything_below_it_one_project() {
    let sandbox = Sandbox::new().without("CLAUDE_PROJECT_DIR");
    let mut start = fixtures::hook("SessionStart.startup");
    start["cwd"] = json!(sandbox.home());
    sandbox.event(&start).silent();
    let project = sandbox.home().join("new");
    fs::create_dir_all(project.join(".claude")).expect("new folders");
    fs::write(project.join(".claude/tidegate.toml"), "[context_warning]\nmode = \"advise\"\n")
        .expect("a new file");
    let mut trust = sandbox.command(&["trust"]);
    trust.current_dir(&project);
    let mut running = Running::start(trust);
    running.close();
    let ran = running.end();
    assert!(
        ran.words().contains("new/.claude/tidegate.toml asks for nothing that needs your trust"),
        "{ran:?}"
    );
}

#[test]
fn a_damaged_list_is_said_and_left_alone() {
    let sandbox = Sandbox::new();
    sandbox.config("[approval]\nunattended = [\"off\"]\n");
    let _ = sandbox.run(&["off", "context-warning"]).ok();
    let list = sandbox.state().join("off.json");
    fs::write(&list, "[{").expect("ours");
    let ran = sandbox.run(&["off", "skill-gate"]);
    assert!(ran.failed().contains("off.json: ") && ran.stderr.contains("nothing was changed"), "{ran:?}");
    assert_eq!(fs::read_to_string(&list).expect("the file"), "[{");
    assert!(sandbox.run(&["off"]).stderr.contains("switches nothing off"));
}

#[test]
fn an_agent_does_not_get_rid_of_us_by_itself() {
    let sandbox = attended();
    let ran = sandbox.run(&["init"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let settings = sandbox.project().join(".claude/settings.local.json");
    let before = fs::read(&settings).expect("what init wrote");
    let asked = by_agent(&sandbox, &["uninstall"]);
    let code = code_of(&asked);
    let _ = by_agent(&sandbox, &["uninstall", "--approved"]).failed();
    let looser = code_of(&by_agent(&sandbox, &["init", "--preset", "observe"]));
    assert_eq!(fs::read(&settings).expect("the file"), before);
    assert!(!sandbox.home().join(".config").exists(), "no preset was written");
    // Nor by a variable that makes it look as if nothing changed.
    let mut sly = sandbox.command(&["init", "--preset", "observe"]);
    sly.env("CLAUDECODE", "1").env("CLAUDE_CODE_SESSION_ID", SESSION).env("TIDEGATE_PRESET", "observe");
    let mut running = Running::start(sly);
    running.close();
    assert_eq!(code_of(&running.end()), looser);
    // The strictest one may be chosen by anybody.
    assert_eq!(by_agent(&sandbox, &["init", "--preset", "strict"]).code, Some(0));
    // With a person's yes, each works.
    let _ = types(&sandbox, &format!("approve {looser}"));
    assert_eq!(by_agent(&sandbox, &["init", "--preset", "observe", "--approved"]).code, Some(0));
    let config = fs::read_to_string(sandbox.home().join(".config/tidegate/config.toml")).expect("the config");
    assert!(config.contains("observe"), "{config}");
    let _ = types(&sandbox, &format!("approve {code}"));
    assert_eq!(by_agent(&sandbox, &["uninstall", "--approved"]).code, Some(0));
    assert!(!settings.exists());
}

#[test]
fn a_fork_takes_no_approval_along() {
    let sandbox = attended();
    let code = code_of(&by_agent(&sandbox, &["off", "context-warning"]));
    let _ = types(&sandbox, &format!("approve {code}"));
    let mut transcript = Transcript::at(sandbox.path().join("t.jsonl"));
    transcript.line(&answer(50_000));
    let mut prompt = event(&sandbox, "UserPromptSubmit.plain");
    prompt["transcript_path"] = json!(transcript.path);
    let _ = sandbox.event(&prompt);
    let mut fork = event(&sandbox, "SessionStart.startup");
    fork["session_id"] = json!("forked");
    fork["source"] = json!("fork");
    fork["context_tokens"] = json!(50_050);
    let _ = sandbox.event(&fork);
    let marks = fs::read_to_string(sandbox.session("forked").join("marks")).expect("its marks");
    assert!(marks.contains("root") && !marks.contains("approval"), "{marks}");
}

#[test]
fn a_policy_goes_off_and_on_by_its_former_id() {
    let sandbox = attended();
    for (former, now) in [
        ("phase", "activity"),
        ("pressure", "context-warning"),
        ("compound-nudge", "learning-reminder"),
        ("workflow-gate", "workflow"),
        ("relay-log", "recording"),
    ] {
        let hint = format!("hint: `{former}` is called `{now}` now\n");
        // The same request by either id.
        let code = code_of(&by_agent(&sandbox, &["off", now, "--for", "2h"]));
        let ran = by_agent(&sandbox, &["off", former, "--for", "2h"]);
        assert!(ran.stdout.contains(&format!("Code {code}")) && ran.stderr == hint, "{ran:?}");
        assert!(ran.stdout.contains(&format!("run: tidegate off {now} --for 2h")), "{ran:?}");
        let _ = types(&sandbox, &format!("approve {code}"));
        let ran = by_agent(&sandbox, &["off", former, "--for", "2h", "--approved"]);
        assert!(ran.stdout.starts_with(&format!("{now} is off in")) && ran.stderr == hint, "{ran:?}");
        assert!(is_off(&sandbox, now), "{now}");
        let ran = sandbox.run(&["on", former]);
        assert!(ran.stdout.starts_with(&format!("{now} is on again")) && ran.stderr == hint, "{ran:?}");
        assert!(!is_off(&sandbox, now), "{now}");
    }
    // Switched off by 0.1, switched on by this version.
    let list = json!([{ "policy": "relay-log", "scope": "everywhere", "since": 0 }]);
    fs::write(sandbox.state().join("off.json"), list.to_string()).expect("our own file");
    assert!(is_off(&sandbox, "recording"));
    assert!(sandbox.run(&["on", "recording"]).ok().contains("recording is on again"));
}

#[test]
fn what_there_is_no_policy_of_is_said() {
    let sandbox = Sandbox::new();
    for command in ["off", "on"] {
        let ran = sandbox.run(&[command, "presure"]);
        assert!(ran.failed().contains("hint: did you mean `context-warning`?"), "{ran:?}");
        let _ = sandbox.run(&[command, "approval"]).failed();
    }
    let ran = sandbox.run(&["off", "context-warning", "--for", "soon"]);
    assert!(ran.code == Some(2) && ran.stderr.contains("30m, 2h or 1d"), "{ran:?}");
}

#[test]
fn trust_is_for_what_was_shown() {
    let sandbox = attended();
    fs::create_dir_all(sandbox.project().join(".claude")).expect("a new folder");
    let own = sandbox.project().join(".claude/tidegate.toml");
    let budget =
        || sandbox.run(&["config", "show", "--json"]).stdout.contains("\"text_budget\":{\"value\":700");
    fs::write(&own, "text_budget = 700\n[context_warning]\nmode = \"advise\"\n").expect("a new file");
    assert!(!budget());
    let asked = by_agent(&sandbox, &["trust"]);
    assert!(asked.stdout.contains("text_budget = 700 (now 1200;"), "{asked:?}");
    let code = code_of(&asked);
    // What comes into force, in the question and in the message to the person; a digest says nothing.
    let sets = "(sets text_budget = 700; context_warning.mode = \"advise\")";
    assert!(
        question_of(&asked)["questions"][0]["question"].as_str().is_some_and(|text| text.contains(sets)),
        "{asked:?}"
    );
    let told = sandbox.event(&event(&sandbox, "PostToolUse.Bash"));
    assert!(told.output()["systemMessage"].as_str().is_some_and(|text| text.contains(sets)), "{told:?}");
    let then =
        asked.stdout.lines().last().and_then(|line| line.strip_prefix("Then run: tidegate ")).expect("how");
    let then: Vec<&str> = then.split(' ').collect();
    let _ = types(&sandbox, &format!("approve {code}"));
    // Changed behind the person's back: what they approved is not what is there.
    fs::write(&own, "text_budget = 700\nlang = \"ja\"\n").expect("the file");
    let ran = by_agent(&sandbox, &then);
    assert!(ran.failed().contains("have changed since"), "{ran:?}");
    let _ = by_agent(&sandbox, &["trust", "--approved"]).failed();
    fs::write(&own, "text_budget = 700\n[context_warning]\nmode = \"advise\"\n").expect("the file");
    assert!(by_agent(&sandbox, &then).ok().starts_with("These files are trusted as they are now."));
    assert!(budget());
    assert!(sandbox.run(&["trust"]).words().contains("is trusted as it is"));
    fs::write(&own, "text_budget = 700\n").expect("the file");
    assert!(!budget(), "any change revokes it");
    let asked = by_agent(&sandbox, &["trust"]);
    assert!(asked.stdout.contains("has changed since you trusted it"), "{asked:?}");
    // What only another version would take is trusted along with the rest, so it is shown.
    fs::write(&own, "text_budget = 700\n[recorder]\ncommand = \"curl x\"\n[skill_gate]\nmode = \"loud\"\n")
        .expect("the file");
    let asked = by_agent(&sandbox, &["trust"]);
    let unknown = "recorder.command = \"curl x\" (no effect in this version: it has no such key";
    let invalid = "skill_gate.mode = \"loud\" (no effect in this version: \"loud\" does not fit";
    assert!(asked.stdout.contains(unknown) && asked.stdout.contains(invalid), "{asked:?}");
    // Also while the file is away: it may come back as it was.
    fs::rename(&own, sandbox.path().join("away")).expect("our own");
    assert!(sandbox.run(&["trust", "--revoke"]).ok().starts_with("No longer trusted"));
}

/// A person who cannot take in all of it approves something else than they think.
#[test]
fn what_does_not_fit_a_glance_is_not_approved_by_a_code() {
    let sandbox = attended();
    fs::create_dir_all(sandbox.project().join(".claude")).expect("a new folder");
    let names = [
        "verify_stop",
        "skill_gate",
        "task_gate",
        "compaction",
        "context_warning",
        "cycle",
        "activity",
        "own_settings",
    ];
    let off: Vec<String> = names.iter().map(|name| format!("[{name}]\nmode = \"off\"\n")).collect();
    fs::write(
        sandbox.project().join(".claude/tidegate.toml"),
        format!("preset = \"observe\"\n{}", off.concat()),
    )
    .expect("a new file");
    let ran = by_agent(&sandbox, &["trust"]);
    assert!(ran.failed().contains("more than a person can approve at a glance"), "{ran:?}");
    assert!(ran.stderr.contains("in a terminal of their own"), "{ran:?}");
}
