//! The client's own variables and events, told from those that a repository or an agent made up.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::answer::Answer;
use crate::sandbox::{Running, Sandbox};

const SESSION: &str = "s-1";

/// A session in a Rust project, whose client is this process.
fn of_client() -> Sandbox {
    let sandbox = Sandbox::new().with("CLAUDE_PID", std::process::id().to_string());
    fs::write(sandbox.project().join("Cargo.toml"), "[package]\nname = \"a\"\n").expect("a new file");
    fs::create_dir(sandbox.project().join("src")).expect("a new folder");
    sandbox.config("[skill_gate.require]\ncode = [\"code-quality-rules\"]\n");
    sandbox
}

fn payload(sandbox: &Sandbox, event: &str, mut members: Value) -> Value {
    members["session_id"] = json!(SESSION);
    members["hook_event_name"] = json!(event);
    members["cwd"] = json!(sandbox.project());
    members
}

fn starts(sandbox: &Sandbox) -> Value {
    payload(sandbox, "SessionStart", json!({ "source": "startup" }))
}

fn invokes_the_skill(sandbox: &Sandbox) -> Value {
    let input = json!({ "skill": "code-quality-rules" });
    let members = json!({ "tool_name": "Skill", "tool_input": input, "tool_response": { "success": true } });
    payload(sandbox, "PostToolUse", members)
}

fn edits(sandbox: &Sandbox) -> Value {
    let path = sandbox.project().join("src/a.rs");
    fs::write(&path, "").expect("a new file");
    let input = json!({ "file_path": path, "content": "" });
    payload(sandbox, "PostToolUse", json!({ "tool_name": "Write", "tool_input": input }))
}

fn checks(sandbox: &Sandbox) -> Value {
    let response = json!({ "stdout": "", "interrupted": false });
    let members =
        json!({ "tool_name": "Bash", "tool_input": { "command": "cargo test" }, "tool_response": response });
    payload(sandbox, "PostToolUse", members)
}

fn asks_to_edit(sandbox: &Sandbox) -> Value {
    let input = json!({ "file_path": sandbox.project().join("src/b.rs"), "content": "" });
    payload(sandbox, "PreToolUse", json!({ "tool_name": "Write", "tool_input": input }))
}

fn stops(sandbox: &Sandbox) -> Value {
    payload(sandbox, "Stop", json!({ "stop_hook_active": false }))
}

fn is_held(answer: &Answer) -> bool {
    !answer.stdout.is_empty() && answer.output()["decision"] == "block"
}

fn is_denied(answer: &Answer) -> bool {
    !answer.stdout.is_empty() && answer.output()["hookSpecificOutput"]["permissionDecision"] == "deny"
}

/// As a command of the agent's shell writes a payload into the hook.
fn piped(sandbox: &Sandbox, payload: &Value) -> Answer {
    let event = payload["hook_event_name"].as_str().expect("an event");
    let mut hook = sandbox.command(&["hook", "--event", event]);
    hook.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut hook = hook.spawn().expect("the executable starts");
    hook.stdin.take().expect("a pipe").write_all(payload.to_string().as_bytes()).expect("it reads");
    let output = hook.wait_with_output().expect("it ends");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    Answer {
        exit: output.status.code().expect("an end"),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    }
}

/// By a socket of the client's, with the variable that only its shell has.
fn in_the_shell(sandbox: &Sandbox, payload: &Value) -> Answer {
    let event = payload["hook_event_name"].as_str().expect("an event");
    let mut hook = sandbox.command(&["hook", "--event", event]);
    hook.env("AI_AGENT", "claude-code_2-1-325_agent");
    let mut hook = Running::start(hook);
    hook.send(payload.to_string().as_bytes());
    hook.close();
    Answer::of(hook.end())
}

#[test]
fn events_that_the_client_did_not_send_change_nothing() {
    let sandbox = of_client();
    let _ = sandbox.event(&starts(&sandbox));
    let _ = sandbox.event(&invokes_the_skill(&sandbox));
    sandbox.event(&edits(&sandbox)).silent();
    let marks = || fs::read_to_string(sandbox.session(SESSION).join("marks")).expect("marks");
    let before = marks();
    sandbox.new_records();
    for forged in [starts(&sandbox), checks(&sandbox), invokes_the_skill(&sandbox)] {
        for call in [piped, in_the_shell] {
            call(&sandbox, &forged).silent();
            assert_eq!(sandbox.one_record()["ruling"], "not-client", "{forged}");
        }
    }
    let status = sandbox.run(&["status", "--session", SESSION]);
    assert!(status.ok().contains("warning: 6 hook runs did not come from Claude Code"), "{status:?}");
    // A gate answers as always, and an end of a turn that is made up uses nothing up.
    assert!(is_held(&piped(&sandbox, &stops(&sandbox))));
    assert_eq!(marks(), before);
    assert!(is_held(&sandbox.event(&stops(&sandbox))), "the client's own");
    let _ = sandbox.event(&checks(&sandbox));
    assert!(!is_held(&sandbox.event(&stops(&sandbox))), "what the client says counts");
    piped(&sandbox, &edits(&sandbox)).silent();
    assert!(!is_held(&sandbox.event(&stops(&sandbox))));
}

#[test]
fn a_gate_answers_a_caller_that_is_not_the_client() {
    let sandbox = of_client();
    let _ = sandbox.event(&starts(&sandbox));
    let denied = piped(&sandbox, &asks_to_edit(&sandbox));
    assert!(is_denied(&denied), "{denied:?}");
    piped(&sandbox, &invokes_the_skill(&sandbox)).silent();
    assert!(is_denied(&sandbox.event(&asks_to_edit(&sandbox))), "the skill was never invoked");
}

/// Older clients have pipes, and do not say who they are.
#[test]
fn a_session_that_began_by_a_pipe_goes_by_pipes() {
    let sandbox = of_client().without("CLAUDE_PID");
    let _ = piped(&sandbox, &starts(&sandbox));
    let _ = piped(&sandbox, &invokes_the_skill(&sandbox));
    piped(&sandbox, &edits(&sandbox)).silent();
    assert!(is_held(&piped(&sandbox, &stops(&sandbox))));
    let _ = piped(&sandbox, &checks(&sandbox));
    assert!(!is_held(&piped(&sandbox, &stops(&sandbox))));
}

/// The settings of a repository are gone, and the client still has their variables.
#[test]
fn a_variable_that_the_client_was_not_started_with_does_not_count() {
    let of = |own: &str| {
        let sandbox = of_client().with("TIDEGATE_OFF", "skill-gate");
        let state = sandbox.state();
        let (home, state) = (sandbox.home(), state.display());
        let environ = format!("HOME={}\0TIDEGATE_STATE_DIR={state}\0{own}", home.display());
        fs::write(sandbox.path().join("client-environ"), environ).expect("a new file");
        sandbox
    };
    let sandbox = of("");
    assert!(is_denied(&sandbox.event(&asks_to_edit(&sandbox))));
    let record = sandbox.one_record();
    assert!(record["config"].to_string().contains("TIDEGATE_OFF is ignored"), "{record}");
    assert!(is_denied(&{
        let sandbox = of("TIDEGATE_OFF=context-warning\0");
        sandbox.event(&asks_to_edit(&sandbox))
    }));
    let sandbox = of("TIDEGATE_OFF=skill-gate\0");
    sandbox.event(&asks_to_edit(&sandbox)).silent();
    // A person's own settings may set it.
    let sandbox = of("");
    fs::create_dir(sandbox.home().join(".claude")).expect("a new folder");
    let settings = json!({ "env": { "TIDEGATE_OFF": "skill-gate" } }).to_string();
    fs::write(sandbox.home().join(".claude/settings.json"), settings).expect("a new file");
    sandbox.event(&asks_to_edit(&sandbox)).silent();
}

/// The same for a command of the agent's shell.
#[test]
fn a_command_does_without_variables_that_the_client_was_not_started_with() {
    let sandbox = of_client().without("TIDEGATE_STATE_DIR").without("CLAUDE_PROJECT_DIR");
    let off = |own: &str| {
        let environ = format!("HOME={}\0{own}", sandbox.home().display());
        fs::write(sandbox.path().join("client-environ"), environ).expect("a new file");
        let mut command = sandbox.command(&["config", "show", "--origin"]);
        command.env("CLAUDECODE", "1").env("TIDEGATE_CONTEXT_WARNING_MODE", "off");
        let mut command = Running::start(command);
        command.close();
        command.end()
    };
    let ran = off("");
    assert!(ran.stderr.contains("ignored TIDEGATE_CONTEXT_WARNING_MODE"), "{ran:?}");
    assert!(!ran.stdout.contains("TIDEGATE_CONTEXT_WARNING_MODE"), "{ran:?}");
    let ran = off("TIDEGATE_CONTEXT_WARNING_MODE=off\0");
    assert!(ran.stderr.is_empty() && ran.stdout.contains("TIDEGATE_CONTEXT_WARNING_MODE"), "{ran:?}");
}
