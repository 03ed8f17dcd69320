//! Payloads of hosts whose protocol is not spoken here: recorded, answered with nothing, never held back.

use serde_json::{Value, json};

use crate::answer::unfold;
use crate::fixtures;
use crate::sandbox::Sandbox;

type Variables = &'static [(&'static str, &'static str)];

/// Calls of other hosts, with the members that they have and Claude Code has not.
fn payloads() -> Vec<(&'static str, Variables, Value)> {
    let session = "04ca0000-0000-4000-8000-000000000001";
    vec![
        (
            "vscode",
            &[],
            json!({ "hookEventName": "PreToolUse", "sessionId": session, "tool_name": "editFiles", "tool_input": {} }),
        ),
        (
            "gemini",
            &[],
            json!({ "hook_event_name": "BeforeTool", "session_id": session, "timestamp": "2026", "tool_name": "replace" }),
        ),
    ]
}

#[test]
fn other_hosts_are_recorded_and_never_held_back() {
    for (host, variables, payload) in payloads() {
        let mut sandbox = Sandbox::new();
        for (name, value) in variables {
            sandbox = sandbox.with(name, *value);
        }
        for args in
            [&["hook", "--event", "PreToolUse"] as &[&str], &["hook", "--event", "Stop"], &["hook"], &[]]
        {
            let ran = sandbox.run_with(args, payload.to_string().as_bytes());
            let said = (ran.code, ran.stdout.as_str(), ran.stderr.as_str());
            assert_eq!(said, (Some(0), "", ""), "{host} {args:?}: {payload}");
            let record = sandbox.one_record();
            assert_eq!((&record["host"], &record["ruling"]), (&json!(host), &json!("foreign")), "{record}");
            assert_eq!((&record["person"], &record["said"]), (&json!("unknown"), &Value::Null), "{record}");
        }
        assert!(!sandbox.state().join("sessions").exists(), "nothing is remembered of its session");
        let explained = sandbox.run(&["explain", "last"]);
        let title = tidegate_core::host::Host::title(host);
        assert!(explained.words().contains(&format!("agent {title} cost")), "{explained:?}");
        assert!(!explained.stdout.contains("unattended"), "{explained:?}");
    }
}

#[test]
fn a_broken_payload_of_another_host_is_not_held_back_either() {
    let sandbox = Sandbox::new().with("COPILOT_CLI", "1");
    for broken in ["", "{", "[]", "{}"] {
        let ran = sandbox.run_with(&["hook", "--event", "PreToolUse"], broken.as_bytes());
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{broken}");
    }
    // Without a sign of another host the gate closes.
    let sandbox = Sandbox::new();
    let ran = sandbox.run_with(&["hook", "--event", "PreToolUse"], b"{");
    assert_eq!(ran.code, Some(2));
}

/// A repository's settings, or the shell that the client was started from, may set another host's variables.
#[test]
fn the_client_that_names_the_session_is_claude_code() {
    let mut payload = fixtures::hook("PreToolUse.Write");
    payload["tool_input"] = json!([]);
    payload["timestamp"] = json!("a later version may send one");
    let session = payload["session_id"].as_str().expect("an id").to_owned();
    let sandbox = Sandbox::new().with("COPILOT_CLI", "1").with("CLAUDE_CODE_SESSION_ID", session);
    sandbox.hook(&["--event", "PreToolUse"], payload.to_string()).closed("tool_input has a wrong type");
    assert_eq!(sandbox.one_record()["host"], "claude-code");
}

#[test]
fn a_person_learns_that_nothing_is_checked_in_another_host() {
    let sandbox = Sandbox::new();
    let mut payload = json!({ "hook_event_name": "AfterTool", "session_id": "s", "tool_name": "run_shell_command",
        "tool_input": { "command": "npm test" }, "tool_response": "1 failed" });
    payload["cwd"] = json!(sandbox.project());
    for _ in 0..2 {
        let _ = sandbox.run_with(&["hook"], payload.to_string().as_bytes());
    }
    let said = "Gemini CLI called Tidegate's hooks here 2 times";
    let status = sandbox.run(&["status"]);
    assert!(status.stderr.contains(said), "{status:?}");
    let doctor = sandbox.run(&["doctor"]);
    assert!(unfold(&doctor.stdout).contains(said), "{doctor:?}");
    let journal = sandbox.run(&["journal"]);
    assert!(journal.ok().contains("Gemini CLI: not checked"), "{journal:?}");
    // With a session of Claude Code beside it.
    let mut start = fixtures::hook("SessionStart.startup");
    start["cwd"] = json!(sandbox.project());
    let _ = sandbox.event(&start);
    let status = sandbox.run(&["status"]);
    assert!(status.words().contains(said), "{status:?}");
    let status = sandbox.run(&["status", "--json"]).json();
    assert_eq!(status["unchecked_hosts"][0]["host"], "gemini");
}

/// The same call, had nothing told the host: a response that is not of Claude Code's shape verifies nothing.
#[test]
fn an_exit_status_that_is_not_known_verifies_nothing() {
    for (response, unverified) in [
        (json!({ "stdout": "ok", "stderr": "", "interrupted": false }), false),
        (json!("1 failed"), true),
        (json!(["ok"]), true),
        (json!({ "stdout": "ok", "interrupted": true }), true),
    ] {
        let sandbox = Sandbox::new();
        std::fs::write(sandbox.project().join("package.json"), r#"{"scripts": {"test": "jest"}}"#)
            .expect("a new file");
        let event = |name: &str, change: &dyn Fn(&mut Value)| {
            let mut payload = fixtures::hook(name);
            payload["session_id"] = json!("a-session");
            payload["cwd"] = json!(sandbox.project());
            change(&mut payload);
            sandbox.event(&payload)
        };
        let _ = event("SessionStart.startup", &|_| {});
        let code = sandbox.project().join("a.js");
        std::fs::write(&code, "1").expect("a new file");
        let _ = event("PostToolUse.Write", &|payload| payload["tool_input"]["file_path"] = json!(code));
        let _ = event("PostToolUse.Bash", &|payload| {
            payload["tool_input"] = json!({ "command": "npm test" });
            payload["tool_response"] = response.clone();
            payload["duration_ms"] = json!(0);
        });
        let status = sandbox.run(&["status", "--session", "a-session", "--json"]).json();
        assert_eq!(status["unverified"].is_object(), unverified, "{response}: {status}");
    }
}
