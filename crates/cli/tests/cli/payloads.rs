//! What comes in on stdin: everything the client sends, and everything it should not.

use serde_json::{Value, json};

use crate::answer::Answer;
use crate::fixtures::{self, Capture};
use crate::sandbox::{Running, Sandbox, in_parallel};

/// Events that differ in how they answer; the first one gates.
const EVENTS: [&str; 9] = [
    "PreToolUse",
    "PostToolUse",
    "UserPromptSubmit",
    "SessionStart",
    "Stop",
    "PreCompact",
    "PostCompact",
    "WorktreeCreate",
    "SomethingNew",
];

/// Input that cannot be checked: the gate closes at this step, everything else is silent, both leave one record.
fn refused(sandbox: &Sandbox, event: &str, input: &[u8], step: &str, class: &str) {
    for advice in [false, true] {
        let args: &[&str] = if advice { &["--event", event, "--advice"] } else { &["--event", event] };
        let answer = sandbox.hook(args, input);
        answer.check(event);
        let record = sandbox.one_record();
        let closes = event == "PreToolUse" && !advice;
        if closes {
            answer.closed(step);
        } else {
            answer.silent();
        }
        assert_eq!(record["ruling"], "failed", "{record}");
        assert_eq!(record["failure"]["class"], class, "{record}");
        assert_eq!(record["failure"]["closed"], closes, "{record}");
        assert!(
            record["failure"]["step"].as_str().is_some_and(|found| found.starts_with(step)),
            "{step}: {record}"
        );
        assert!(record.get("session").is_none(), "{record}");
    }
}

/// The payload is fine: nobody has anything to say to it.
fn accepted(sandbox: &Sandbox, args: &[&str], event: &str, input: &[u8]) -> Value {
    let answer = sandbox.hook(args, input);
    answer.check(event);
    answer.silent();
    let record = sandbox.one_record();
    assert_eq!((&record["ruling"], &record["event"]), (&json!("pass"), &json!(event)), "{record}");
    assert!(record.get("failure").is_none(), "{record}");
    record
}

#[test]
fn every_capture_is_understood() {
    in_parallel(&fixtures::hooks(), |sandbox, capture| {
        let event = capture.event.as_str();
        for args in [&["--event", event] as &[&str], &["--event", event, "--advice"], &[]] {
            let record = accepted(sandbox, args, event, capture.text.as_bytes());
            let payload = capture.json();
            assert_eq!(record["session"], payload["session_id"], "{}", capture.name);
            assert_eq!(record.get("tool"), payload.get("tool_name"), "{}", capture.name);
            assert_eq!(record.get("agent"), payload.get("agent_id"), "{}", capture.name);
        }
    });
}

#[test]
fn a_payload_cut_off_anywhere_is_no_payload() {
    let mut cases: Vec<(Capture, usize)> = Vec::new();
    for capture in fixtures::hooks() {
        let whole = capture.text.trim_end().len();
        // The edits that the gate is for at many lengths, the others at a few.
        let edits = ["PreToolUse.Write.json", "PreToolUse.Edit.json"].contains(&capture.name.as_str());
        let parts = if edits { 40 } else { 4 };
        for part in 0..parts {
            let length = (whole - 1) * part / (parts - 1);
            let copy = Capture {
                name: capture.name.clone(),
                event: capture.event.clone(),
                text: capture.text.clone(),
            };
            cases.push((copy, length));
        }
    }
    in_parallel(&cases, |sandbox, (capture, length)| {
        let cut = &capture.text.as_bytes()[..*length];
        refused(sandbox, &capture.event, cut, "the payload is ", "payload");
    });
}

#[test]
fn without_event_the_payload_itself_says_that_it_gates() {
    let sandbox = Sandbox::new();
    let text = fixtures::hook("PreToolUse.Write").to_string();
    let named = text.find("\"PreToolUse\"").expect("it names its event") + "\"PreToolUse\"".len();
    for length in [named, named + 1, named.midpoint(text.len()), text.len() - 1] {
        sandbox.hook(&[], &text[..length]).closed("the payload is not JSON");
        assert_eq!(sandbox.one_record()["failure"]["closed"], true);
    }
    // Before that nobody can know.
    sandbox.hook(&[], &text[..named - 1]).silent();
    assert_eq!(sandbox.one_record()["failure"]["closed"], false);
    let mut broken = fixtures::hook("PreToolUse.Write");
    broken["session_id"] = json!(7);
    sandbox.hook(&[], broken.to_string()).closed("session_id is not a string");
}

#[test]
fn a_gate_stays_a_gate_whatever_the_payload_calls_itself() {
    let sandbox = Sandbox::new();
    for name in ["Stop", "SomethingNew", "pretooluse", "PreToolUse "] {
        let mut payload = fixtures::hook("PreToolUse.Write");
        payload["hook_event_name"] = json!(name);
        payload["session_id"] = json!(["not", "an", "id"]);
        let answer = sandbox.hook(&["--event", "PreToolUse"], payload.to_string());
        assert_eq!(answer.exit, 2, "opened by calling itself `{name}`: {answer:?}");
    }
}

#[test]
fn garbage() {
    let deep = "[".repeat(200_000);
    let unused_deep = format!("{{\"session_id\": {}", "[".repeat(200_000));
    let cases: Vec<(&str, &[u8], &str)> = vec![
        ("nothing", b"", "the payload is empty"),
        ("white space", b" \r\n\t ", "the payload is empty"),
        ("a byte order mark", b"\xEF\xBB\xBF", "the payload is empty"),
        ("null", b"null", "the payload is not a JSON object"),
        ("a number", b"7", "the payload is not a JSON object"),
        ("a string", b"\"PreToolUse\"", "the payload is not a JSON object"),
        ("an array", b"[{\"session_id\": \"s\"}]", "the payload is not a JSON object"),
        ("words", b"Segmentation fault", "the payload is not JSON"),
        ("two objects", b"{\"session_id\":\"s\"}{\"session_id\":\"s\"}", "the payload is not JSON"),
        ("something behind", b"{\"session_id\":\"s\",\"tool_name\":\"Write\"} x", "the payload is not JSON"),
        ("a NUL", b"\0", "the payload is not JSON"),
        ("UTF-16", b"\xFF\xFE{\0}\0", "the payload is not JSON"),
        (
            "invalid UTF-8",
            b"{\"session_id\":\"\xff\xfe\",\"tool_name\":\"Write\"}",
            "the payload is not JSON",
        ),
        ("an overlong form", b"{\"session_id\":\"\xc0\xaf\"}", "the payload is not JSON"),
        ("single quotes", b"{'session_id': 's'}", "the payload is not JSON"),
        ("a comma too many", b"{\"session_id\":\"s\",}", "the payload is not JSON"),
        ("a line break in a string", b"{\"session_id\":\"s\n\"}", "the payload is not JSON"),
        ("much nesting", deep.as_bytes(), "the payload is not JSON"),
        ("much nesting in a member", unused_deep.as_bytes(), "the payload is not JSON"),
    ];
    in_parallel(&cases, |sandbox, (_, input, step)| {
        for event in EVENTS {
            refused(sandbox, event, input, step, "payload");
        }
    });
}

#[test]
fn session_ids_that_are_none() {
    let long = "x".repeat(129);
    let cases: Vec<(Value, &str)> = vec![
        (json!("../../x"), "session_id has characters"),
        (json!("..%2f..%2fx"), "session_id has characters"),
        (json!("/etc/passwd"), "session_id has characters"),
        (json!("."), "session_id has characters"),
        (json!(".."), "session_id has characters"),
        (json!("a.b"), "session_id has characters"),
        (json!("a b"), "session_id has characters"),
        (json!("a\u{0}b"), "session_id has characters"),
        (json!("a\nb"), "session_id has characters"),
        (json!("セッション"), "session_id has characters"),
        (json!(""), "session_id is empty"),
        (json!(long), "session_id is longer than 128"),
        (json!(7), "session_id is not a string"),
        (json!(true), "session_id is not a string"),
        (json!(["s"]), "session_id is not a string"),
        (json!({ "id": "s" }), "session_id is not a string"),
        (Value::Null, "session_id is missing"),
    ];
    let sandbox = Sandbox::new();
    sandbox.hook(&["--event", "Stop"], "").silent();
    let before = sandbox.everything();
    let _ = sandbox.new_records();
    for (id, step) in &cases {
        for event in ["PreToolUse", "PostToolUse", "Stop"] {
            let mut payload = fixtures::hook("PreToolUse.Write");
            payload["hook_event_name"] = json!(event);
            payload["session_id"] = id.clone();
            refused(&sandbox, event, payload.to_string().as_bytes(), step, "session");
        }
    }
    assert_eq!(sandbox.everything(), before, "an id that was refused has made a file");

    let longest = "x".repeat(128);
    let payload = json!({ "session_id": longest, "hook_event_name": "Stop" });
    accepted(&sandbox, &["--event", "Stop"], "Stop", payload.to_string().as_bytes());
    assert!(sandbox.session(&longest).is_dir());
}

#[test]
fn what_json_allows_is_allowed() {
    let sandbox = Sandbox::new();
    let write = fixtures::hook("PreToolUse.Write");
    let text = write.to_string();
    let with = |member: &str| text.replacen('{', &format!("{{{member},"), 1);
    let deep = format!("\"new\":{}{}", "[".repeat(50_000), "]".repeat(50_000));
    let allowed = [
        format!("\u{feff}{text}"),
        format!("\r\n {text}\n\n"),
        serde_json::to_string_pretty(&write).expect("plain data"),
        text.replace("session_id", "session\\u005fid"),
        with("\"new\":{\"a\":[1,2,{\"b\":null}]}"),
        with("\"new\":1e400"),
        with("\"new\":-0.0e-999"),
        with("\"new\":123456789012345678901234567890"),
        with("\"\":\"\""),
        with("\"session_id\":7"),
        with("\"tool_name\":null"),
        with(&deep),
    ];
    for input in &allowed {
        accepted(&sandbox, &["--event", "PreToolUse"], "PreToolUse", input.as_bytes());
    }
}

/// JavaScript cuts text between the halves of a character beyond the first plane and writes the half that is
/// left as an escape: valid JSON, and in the output of tools an everyday matter.
#[test]
fn half_a_character_in_a_text_is_no_broken_payload() {
    let sandbox = Sandbox::new();
    for (capture, member) in [
        ("PreToolUse.Write", "content"),
        ("PostToolUse.Bash", "stdout"),
        ("PostToolUse.Write", "originalFile"),
        ("UserPromptSubmit.plain", "prompt"),
        ("Stop.first", "last_assistant_message"),
    ] {
        let event = capture.split('.').next().unwrap_or_default();
        let text = fixtures::hook(capture).to_string();
        let start = text.find(&format!("\"{member}\":")).expect(member) + member.len() + 3;
        let value_end = serde_json::Deserializer::from_str(&text[start..])
            .into_iter::<Value>()
            .next()
            .and_then(Result::ok)
            .map(|value| start + value.to_string().len())
            .expect(member);
        let half = format!("{}\"cut here: \\ud83d\"{}", &text[..start], &text[value_end..]);
        let answer = sandbox.hook(&["--event", event], &half);
        answer.check(event);
        let record = sandbox.one_record();
        assert!(record.get("failure").is_none(), "{capture} {member}: {record}");
    }
}

#[test]
fn invalid_utf8_where_nobody_looks_harms_nobody() {
    let sandbox = Sandbox::new();
    let text = fixtures::hook("PostToolUse.Bash").to_string();
    let input = [&text.as_bytes()[..text.len() - 1], b",\"new\":\"\xff\xfe\"}"].concat();
    let answer = sandbox.hook(&["--event", "PostToolUse"], input);
    answer.check("PostToolUse");
    answer.silent();
    assert_eq!(sandbox.one_record()["event"], "PostToolUse");
}

#[test]
fn a_tool_response_of_32_mib() {
    let sandbox = Sandbox::new();
    let mut payload = fixtures::hook("PostToolUse.Bash");
    payload["tool_response"]["stdout"] = json!("0123456789abcdef\\\"\n".repeat(32 * 1024 * 1024 / 22));
    let text = payload.to_string();
    assert!(text.len() > 32 * 1024 * 1024);
    let answer = sandbox.hook(&["--event", "PostToolUse"], text);
    answer.check("PostToolUse");
    answer.silent();
    let record = sandbox.one_record();
    assert_eq!(record["ruling"], "pass", "{record}");
    assert!(record.to_string().len() < 4096);
}

#[test]
fn an_edit_of_32_mib_is_checked() {
    let sandbox = Sandbox::new();
    let mut payload = fixtures::hook("PreToolUse.Write");
    payload["tool_input"]["content"] = json!("let a = 1;\n".repeat(32 * 1024 * 1024 / 12));
    accepted(&sandbox, &["--event", "PreToolUse"], "PreToolUse", payload.to_string().as_bytes());
    // Broken behind all that: the gate sees it.
    payload["tool_name"] = json!(7);
    sandbox.hook(&["--event", "PreToolUse"], payload.to_string()).closed("tool_name has a wrong type");
}

#[test]
fn a_payload_without_end_is_not_read_to_its_end() {
    let sandbox = Sandbox::new();
    let mut payload = fixtures::hook("PreToolUse.Write");
    payload["tool_input"]["content"] = json!("x".repeat(65 * 1024 * 1024));
    sandbox.hook(&["--event", "PreToolUse"], payload.to_string()).closed("the payload could not be read");
    assert_eq!(sandbox.one_record()["failure"]["class"], "payload");
}

#[test]
fn a_stdin_that_is_never_closed_is_not_waited_for() {
    let whole = fixtures::hook("PreToolUse.Write").to_string();
    let cases: Vec<(&[&str], &str)> = vec![
        (&["--event", "PreToolUse"], ""),
        (&["--event", "PreToolUse"], &whole[..60]),
        (&["--event", "PreToolUse"], &whole),
        (&["--event", "PreToolUse", "--advice"], &whole[..60]),
        (&["--event", "UserPromptSubmit"], ""),
        (&["--event", "SessionStart"], &whole[..60]),
        (&["--event", "SomethingNew"], ""),
    ];
    std::thread::scope(|scope| {
        for (args, sent) in &cases {
            scope.spawn(move || {
                let sandbox = Sandbox::new().hurried();
                let mut running = Running::start(sandbox.command(&[&["hook"], *args].concat()));
                running.send(sent.as_bytes());
                // Nothing is closed: only the deadline can end it.
                let answer = Answer::of(running.end_with_open_stdin());
                answer.check(args[1]);
                let record = sandbox.one_record();
                assert_eq!(record["failure"]["class"], "deadline", "{record}");
                if args == &["--event", "PreToolUse"] {
                    answer.closed("no answer within 2000 ms");
                } else {
                    answer.silent();
                    assert_eq!(record["failure"]["step"], "no answer within 200 ms", "{record}");
                }
            });
        }
    });
}

/// Only Linux has a file that is always full.
#[cfg(target_os = "linux")]
#[test]
fn a_closed_gate_needs_nobody_to_read_it() {
    let sandbox = Sandbox::new();
    let full = || std::fs::OpenOptions::new().write(true).open("/dev/full").expect("/dev/full");
    let mut command = sandbox.command(&["hook", "--event", "PreToolUse"]);
    let status = command.stdin(std::process::Stdio::null()).stdout(full()).stderr(full()).status();
    assert_eq!(status.expect("it starts").code(), Some(2));
    assert_eq!(sandbox.one_record()["failure"]["closed"], true);
}

#[test]
fn what_a_closed_gate_costs_is_counted() {
    let sandbox = Sandbox::new();
    let answer = sandbox.hook(&["--event", "PreToolUse"], "{");
    answer.closed("the payload is not JSON");
    let record = sandbox.one_record();
    assert_eq!(record["said"]["model"], json!(answer.stderr.trim_end()));
    assert_eq!(record["said"]["user"], answer.output()["systemMessage"]);
    assert_eq!(record["cost"]["bytes"], answer.stderr.trim_end().len(), "{record}");
    let tokens = tidegate_core::text::tokens::estimate_tokens(answer.stderr.trim_end());
    assert_eq!(record["cost"]["tokens"], tokens, "{record}");
}

#[test]
fn a_person_opens_a_closed_gate() {
    for off in ["skill-gate", "context-warning,skill-gate", " pressure , skill-gate "] {
        let sandbox = Sandbox::new().with("TIDEGATE_OFF", off);
        let mut member = fixtures::hook("PreToolUse.Write");
        member["tool_input"] = json!(7);
        for input in ["", "{", "{\"session_id\": \"../x\"}"] {
            sandbox.hook(&["--event", "PreToolUse"], input).silent();
            let record = sandbox.one_record();
            assert_eq!(record["failure"]["closed"], false, "{record}");
        }
        sandbox.hook(&["--event", "PreToolUse"], member.to_string()).silent();
        assert_eq!(sandbox.one_record()["event"], "PreToolUse");
    }
    for other in ["", "context-warning", "skill-gates", "SKILL-GATE"] {
        let sandbox = Sandbox::new().with("TIDEGATE_OFF", other);
        sandbox.hook(&["--event", "PreToolUse"], "").closed("the payload is empty");
    }
}

#[test]
fn a_session_of_our_own_is_left_alone_and_shown() {
    let sandbox = Sandbox::new().with("TIDEGATE_GUARD", "1");
    for capture in ["PreToolUse.Write", "UserPromptSubmit.plain", "Stop.first"] {
        let mut payload = fixtures::hook(capture);
        payload["tool_input"] = json!("not even an object");
        sandbox.event(&payload).silent();
        let record = sandbox.one_record();
        assert_eq!(record["ruling"], "unguarded", "{record}");
        assert_eq!(record["session"], payload["session_id"]);
        assert!(record.get("failure").is_none());
        let session = payload["session_id"].as_str().expect("a session");
        assert!(sandbox.run(&["status", "--session", session]).ok().contains("TIDEGATE_GUARD is set"));
    }
    // A payload that cannot be read closes nothing either: nothing is gated there.
    sandbox.hook(&["--event", "PreToolUse"], "{").silent();
}

#[test]
fn arguments_are_never_refused() {
    let sandbox = Sandbox::new();
    let stop = fixtures::hook("Stop.first").to_string();
    for args in [
        &["--event"] as &[&str],
        &["--event", "Stop", "--event", "Stop"],
        &["--event=Stop"],
        &["--bogus"],
        &["--event", "Stop", "extra", "words"],
        &["--advice=maybe"],
        &["--via"],
        &["--", "--event"],
        &["--event", ""],
    ] {
        accepted(&sandbox, args, "Stop", stop.as_bytes());
    }
}

/// The client hands a project's variables to its hooks, however its file is written.
#[test]
fn a_repository_cannot_switch_us_off() {
    let sandbox = Sandbox::new().with("TIDEGATE_OFF", "skill-gate");
    let file = sandbox.project().join(".claude/settings.json");
    std::fs::create_dir_all(file.parent().expect("a folder")).expect("a new folder");
    for text in [
        r#"{"env":{"TIDEGATE_OFF":"skill-gate"}}"#,
        r#"{"env":{},"env":{"TIDEGATE_OFF":"skill-gate"}}"#,
        r#"{"env":{"TIDEGATE_OFF":"skill-gate","X":"\ud800"}}"#,
        "\u{feff}{\"env\":{\"TIDEGATE_OFF\":\"skill-gate\"}}",
        "{broken",
    ] {
        std::fs::write(&file, text).expect("our own file");
        sandbox.hook(&["--event", "PreToolUse"], "{").closed("the payload is not JSON");
    }
    std::fs::remove_file(&file).expect("our own file");
    crate::sandbox::make_fifo(&file);
    sandbox.hook(&["--event", "PreToolUse"], "{").closed("the payload is not JSON");
    std::fs::remove_file(&file).expect("our own file");
    sandbox.hook(&["--event", "PreToolUse"], "{").silent();
}
