//! One event registered twice: by `init` and by the plugin.

use serde_json::json;

use crate::fixtures;
use crate::sandbox::Sandbox;
use crate::transcript::{Transcript, addressed, answer};

#[test]
fn advice_and_record_come_once() {
    for (first, second) in [(None, Some("plugin")), (Some("plugin"), None)] {
        let sandbox = Sandbox::new();
        let mut transcript = Transcript::at(sandbox.path().join("t.jsonl"));
        transcript.line(&answer(125_000));
        let run = |capture: &str, via: Option<&str>| {
            let payload = addressed(fixtures::hook(capture), "s", &transcript.path, &sandbox.project());
            let event = capture.split('.').next().unwrap_or_default();
            let mut args = vec!["--event", event];
            args.extend(via.iter().flat_map(|via| ["--via", via]));
            let answer = sandbox.hook(&args, payload.to_string());
            answer.check(event);
            answer
        };
        assert!(run("UserPromptSubmit.plain", first).context().is_some());
        run("UserPromptSubmit.plain", second).silent();
        assert!(sandbox.one_record()["said"]["model"].is_string());

        // Events that say nothing are written down once too.
        for capture in
            ["SessionStart.resume", "PostToolUse.Bash", "PreToolUse.Write", "Stop.first", "SessionEnd.other"]
        {
            run(capture, first).silent();
            run(capture, second).silent();
            assert_eq!(sandbox.one_record()["event"], capture.split('.').next().unwrap_or_default());
        }
        // The same registration may come again: a turn can have several stops.
        run("Stop.active", first).silent();
        assert_eq!(sandbox.new_records().len(), 1);
    }
}

#[test]
fn a_denial_stands_in_both() {
    let sandbox = Sandbox::new();
    let mut payload = fixtures::hook("PreToolUse.Write");
    payload["tool_input"] = json!([]);
    let text = payload.to_string();
    for args in [&["--event", "PreToolUse"] as &[&str], &["--event", "PreToolUse", "--via", "plugin"]] {
        sandbox.hook(args, &text).closed("tool_input has a wrong type");
    }
    assert!(sandbox.records().iter().all(|record| record["failure"]["closed"] == true));
}

#[test]
fn different_events_are_no_duplicates() {
    let sandbox = Sandbox::new();
    let run = |tool_use: &str, via: &str| {
        let mut payload = fixtures::hook("PostToolUse.Bash");
        payload["tool_use_id"] = json!(tool_use);
        sandbox.hook(&["--event", "PostToolUse", "--via", via], payload.to_string()).silent();
    };
    run("toolu_1", "plugin");
    run("toolu_2", "settings");
    run("toolu_3", "plugin");
    assert_eq!(sandbox.new_records().len(), 3);
    // The second time is told by both its event and its call.
    let mut other = fixtures::hook("PreToolUse.Bash");
    other["session_id"] = fixtures::hook("PostToolUse.Bash")["session_id"].clone();
    other["tool_use_id"] = json!("toolu_1");
    sandbox.hook(&["--event", "PreToolUse", "--via", "settings"], other.to_string()).silent();
    assert_eq!(sandbox.new_records().len(), 1);
}
