//! The tool `get_context_status`, and which session it means.

use serde_json::{Value, json};
use tidegate_core::feature::marks::SessionMark;
use tidegate_core::time::Millis;

use super::{Server, converse, request};
use crate::fixtures;
use crate::sandbox::Sandbox;
use crate::transcript::{Transcript, addressed, answer};

const SESSION: &str = "91b38a40-3ead-4aa8-8407-24d36ddad7be";

/// A session with a reading.
fn played() -> Sandbox {
    let sandbox = Sandbox::new();
    let mut transcript = Transcript::at(sandbox.path().join("t.jsonl"));
    transcript.line(&answer(124_000));
    for capture in ["SessionStart.startup", "UserPromptSubmit.plain"] {
        let payload = addressed(fixtures::hook(capture), SESSION, &transcript.path, &sandbox.project());
        let _ = sandbox.event(&payload);
    }
    sandbox
}

/// A call of the tool; what it gave.
fn status(sandbox: &Sandbox, arguments: &Value) -> Value {
    let call = request(1, "tools/call", &json!({ "name": "get_context_status", "arguments": arguments }));
    converse(sandbox, &[call]).remove(0)["result"].clone()
}

/// What the tool cannot tell is a result that says what to do, so that the model sees it.
#[test]
fn errors_of_the_tool_are_for_the_model() {
    let told = |sandbox: &Sandbox, arguments: &Value, parts: [&str; 2]| {
        let result = status(sandbox, arguments);
        let text = result["content"][0]["text"].as_str().expect("text");
        assert_eq!(result["isError"], true, "{result}");
        assert!(result.get("structuredContent").is_none(), "{result}");
        assert!(parts.iter().all(|part| text.contains(part)) && text.contains("\nhint: "), "{text}");
    };
    let nothing = Sandbox::new();
    told(&nothing, &json!({}), ["no session has been seen yet", "after the next prompt"]);
    let sandbox = nothing.with("CLAUDE_CODE_SESSION_ID", SESSION);
    told(&sandbox, &json!({}), ["has not been seen", "after the next prompt"]);

    let sandbox = played();
    told(
        &sandbox,
        &json!({ "session": "never-seen" }),
        ["never-seen has not been seen", "leave `session` out"],
    );
    told(&sandbox, &json!({ "session": "../../x" }), ["session_id has characters", "leave `session` out"]);
    told(&sandbox, &json!({ "session": 5 }), ["`session` is not a string", "leave it out"]);
    told(&sandbox, &json!({ "sesion": SESSION }), ["no argument `sesion`", "`session` is the only one"]);
    assert_eq!(status(&sandbox, &json!({ "session": null }))["structuredContent"]["session"], SESSION);

    // Without a name, a session of long ago is not this one.
    let old = played();
    let marks = [SessionMark::Attached(Millis(1)).into()];
    tidegate_state::session::marks::lock_shared(&old.session(SESSION))
        .expect("a folder")
        .append(&marks)
        .expect("marks");
    told(&old, &json!({}), ["which session this is about is not known", "after the next prompt"]);

    std::fs::write(sandbox.path().join("file"), b"").expect("a new file");
    let blocked = sandbox.path().join("file/state");
    told(
        &sandbox.with("TIDEGATE_STATE_DIR", blocked),
        &json!({}),
        ["the state directory", "TIDEGATE_STATE_DIR"],
    );
}

#[test]
fn unknown_use_is_an_answer() {
    let sandbox = Sandbox::new();
    let nowhere = sandbox.path().join("missing.jsonl");
    let start = fixtures::hook("SessionStart.startup");
    sandbox.event(&addressed(start, SESSION, &nowhere, &sandbox.project())).silent();
    let result = status(&sandbox, &json!({}));
    assert!(result.get("isError").is_none(), "{result}");
    let known = &result["structuredContent"];
    assert!(known["freshness"] == "unknown" && known["unknown"].is_string(), "{known}");
    assert!(known.get("used").is_none() && known.get("left").is_none(), "{known}");
    let text = result["content"][0]["text"].as_str().expect("text");
    assert!(text.starts_with("Context use is not known: "), "{text}");
}

#[test]
fn what_is_switched_off_is_said() {
    let sandbox = played().with("TIDEGATE_OFF", "context-warning");
    let stop = fixtures::hook("Stop.first");
    let transcript = sandbox.path().join("t.jsonl");
    sandbox.event(&addressed(stop, SESSION, &transcript, &sandbox.project())).silent();
    let result = status(&sandbox, &json!({ "session": SESSION }));
    assert_eq!(result["structuredContent"]["switched_off"], json!(["context-warning"]), "{result}");
    let text = result["content"][0]["text"].as_str().expect("text");
    assert!(text.ends_with("Policies switched off in this session: context-warning."), "{text}");
    // By the command, too.
    sandbox.config("[approval]\nunattended = [\"off\"]\n");
    let _ = sandbox.run(&["off", "verify-stop"]).ok();
    let result = status(&sandbox, &json!({ "session": SESSION }));
    assert_eq!(
        result["structuredContent"]["switched_off"],
        json!(["context-warning", "verify-stop"]),
        "{result}"
    );
}

/// The client clears the conversation and keeps the server, which still has the old session in its environment.
#[test]
fn after_a_clear_the_tool_reads_the_new_session() {
    let sandbox = played().with("CLAUDE_CODE_SESSION_ID", SESSION);
    let play = |capture: &str, session: &str| {
        let transcript = sandbox.path().join(format!("{session}.jsonl"));
        let payload = addressed(fixtures::hook(capture), session, &transcript, &sandbox.project());
        sandbox.event(&payload).silent();
    };
    let read = |arguments: Value| status(&sandbox, &arguments)["structuredContent"]["session"].clone();
    for next in ["second", "third"] {
        let before = if next == "second" { SESSION } else { "second" };
        play("SessionEnd.clear", before);
        assert_eq!(read(json!({})), before, "nothing has come after it yet");
        play("SessionStart.startup", "of-another-terminal");
        assert_eq!(read(json!({})), before);
        play("SessionStart.clear", next);
        assert_eq!(read(json!({})), next);
    }
    assert_eq!(read(json!({ "session": SESSION })), SESSION, "the one that is named");
    play("SessionEnd.other", "third");
    play("SessionStart.resume", SESSION);
    assert_eq!(read(json!({})), SESSION, "resumed");
}

/// A client waits for each answer before it asks on, and reads the present, not what was at the start.
#[test]
fn answers_come_at_once_and_are_fresh() {
    let sandbox = played();
    let mut server = Server::start(&sandbox);
    let mut used = || server.gives("get_context_status", &json!({}))["used"].clone();
    assert_eq!(used(), 124_000);
    let mut transcript = Transcript::at(sandbox.path().join("t.jsonl"));
    transcript.line(&answer(131_000));
    assert_eq!(used(), 131_000);
    server.end();
}

#[test]
fn a_session_is_told_in_full() {
    let sandbox = played().with("CLAUDE_CODE_SESSION_ID", SESSION);
    let result = Server::start(&sandbox).call("get_context_status", &json!({}));
    assert!(result.get("isError").is_none(), "{result}");
    let status = &result["structuredContent"];
    assert_eq!((&status["session"], &status["used"]), (&json!(SESSION), &json!(124_000)));
    assert_eq!((&status["window"], &status["left"]), (&json!(200_000), &json!(43_000)));
    assert_eq!((&status["level"], &status["pressure_said"]), (&json!(60), &json!("info")));
    assert_eq!(status["switched_off"], json!([]));
    let text = result["content"][0]["text"].as_str().expect("text");
    let known = "62% of 200k tokens are in use (124000 tokens). 43k tokens are left before Claude Code compacts at 167000.";
    assert!(text.starts_with(known), "{text}");
}
