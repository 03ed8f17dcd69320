//! A workflow whose manifest is moved, deleted or made anew, and one that the next session continues.

use std::fs;

use serde_json::json;

use super::{PATH, Play};
use crate::people::{by_agent_of, code_of, types};
use crate::transcript::addressed;

/// Files between two events: deleted, moved, replaced by another session's or an older one.
#[test]
fn a_manifest_that_was_moved_keeps_its_gate() {
    let play = Play::at_gate();
    play.denied();
    let new = play.sandbox.project().join("elsewhere");
    fs::create_dir(&new).expect("a folder");
    fs::rename(play.path(), new.join("MANIFEST.yaml")).expect("it can be moved");
    assert!(play.denied().contains(&format!("Restore {PATH}")));
    play.gate(&["attach", "elsewhere/MANIFEST.yaml"]).ok();
    assert!(play.denied().contains("Complete checkpoint 1"), "its artifact stayed behind");
    fs::rename(play.path().with_file_name("discovery.md"), new.join("discovery.md"))
        .expect("it can be moved");
    assert!(play.denied().contains("has all it needs"));
    play.gate(&["pass", "1"]).ok();
    play.spawns().silent();
    // Gone after it was passed: nothing was pending.
    fs::remove_file(new.join("MANIFEST.yaml")).expect("it can go");
    play.spawns().silent();
    assert_eq!(play.because(), "the manifest is gone");
}

#[test]
fn a_manifest_made_anew_inherits_no_passed_gate() {
    let play = Play::at_gate();
    play.gate(&["pass", "1"]).ok();
    play.spawns().silent();
    let whole = play.text();
    fs::remove_file(play.path()).expect("it can go");
    // Seen by the next call that concerns it.
    let told = play.spawns().stdout;
    assert!(told.contains("is gone. No checkpoint blocks agents until it is back."), "{told}");
    let _ = play.writes(&whole.replace("gates:", "old_gates:"));
    assert!(play.denied().contains("has all it needs"), "it has to be passed again");
    play.gate(&["pass", "1"]).ok();
    play.spawns().silent();
    // Another run of the phase.
    let _ = play.gate(&["phase", "3"]);
    let call = |id: &str| {
        let input = json!({ "command": "tidegate workflow phase 3" });
        let _ = play.event(
            "PostToolUse",
            json!({ "tool_name": "Bash", "tool_input": input, "tool_use_id": id,
            "tool_response": { "stdout": "" } }),
        );
    };
    call("toolu_again");
    play.spawns().silent();
    assert!(play.gate(&["phase", "4"]).failed().contains("checkpoint 1 after phase 3 is not recorded yet"));
    let _ = play.writes(&play.text().replace("current_phase: 3", "current_phase: 4"));
    assert!(play.denied().contains("heckpoint 1"));
}

/// An ended session's workflow is the next one's; `phase` and `note` attach, too.
#[test]
fn the_next_session_takes_the_workflow_over() {
    let play = Play::at_gate();
    play.denied();
    let start = |session: &str, source: &str| {
        let mut payload = json!({ "hook_event_name": "SessionStart", "source": source });
        payload = addressed(payload, session, &play.transcript(), &play.sandbox.project());
        play.sandbox.event(&payload)
    };
    let spawn = |session: &str| {
        let id = format!("toolu_{}", play.sandbox.records().len());
        let mut payload = json!({ "hook_event_name": "PreToolUse", "tool_name": "Workflow", "tool_use_id": id,
            "tool_input": { "script": "" } });
        payload = addressed(payload, session, &play.transcript(), &play.sandbox.project());
        play.sandbox.event(&payload).stdout
    };
    // While the first one runs, another one is free.
    let _ = start("s-2", "startup");
    assert_eq!(spawn("s-2"), "");
    let _ = play.event("SessionEnd", json!({ "reason": "other" }));
    let told = start("s-3", "startup");
    let context = told.context().expect("the model is told");
    assert!(context.contains("phase 4 of 16") && context.contains("Checkpoint 1"), "{context}");
    assert!(
        told.output()["systemMessage"].as_str().is_some_and(|text| text.contains("tidegate workflow detach"))
    );
    assert!(spawn("s-3").contains("deny"));
    // Resumed meanwhile, the first one does not have it any more, but it saw the checkpoint closed. It gets the workflow
    // back once the other has ended.
    let _ = play.event("SessionStart", json!({ "source": "resume" }));
    play.denied();
    let mut ends = json!({ "hook_event_name": "SessionEnd", "reason": "other" });
    ends = addressed(ends, "s-3", &play.transcript(), &play.sandbox.project());
    let _ = play.sandbox.event(&ends);
    let _ = play.event("SessionStart", json!({ "source": "resume" }));
    play.denied();
    // Left for good: nobody takes it over.
    let code = code_of(&play.gate(&["detach"]));
    let _ = types(&play.sandbox, &format!("approve {code}"));
    play.gate(&["detach", "--approved"]).ok();
    let _ = play.event("SessionEnd", json!({ "reason": "other" }));
    assert_eq!(start("s-4", "startup").context(), None);
    assert_eq!(spawn("s-4"), "");
    // Used again, by a command that continues it.
    let ran = by_agent_of(&play.sandbox, &["workflow", "note", "4", "--status", "in_progress"], "s-4");
    ran.ok();
    assert!(spawn("s-4").contains("deny"));
}

/// As other tools write it, in their own folder.
#[test]
fn a_manifest_of_another_tool_is_used_where_it_is() {
    let play = Play::new();
    let folder = play.sandbox.project().join(".feature-development");
    fs::create_dir(&folder).expect("a folder");
    let text = "feature_name: x\ncurrent_phase: 4\nphases:\n  3_codebase_discovery:\n    status: complete\n    \
                output_file: discovery.md\n  4_skill_discovery: {status: in_progress}\ncodebase_discovery:\n  summary: |\n    \
                Removed src/old.ts\n    - Patterns: plugins register themselves\n";
    fs::write(folder.join("MANIFEST.yaml"), text).expect("the file");
    assert!(play.gate(&["status"]).ok().contains(".feature-development/MANIFEST.yaml"));
    play.gate(&["attach", ".feature-development/MANIFEST.yaml"]).ok();
    assert!(play.denied().contains("discovery.md is named and does not exist"));
    fs::write(folder.join("discovery.md"), "found\n".repeat(100)).expect("the file");
    let passed = play.gate(&["pass", "1", "--json"]).json();
    let compaction =
        passed["steps"].as_array().expect("steps").iter().find(|step| step["step"] == "compaction happened");
    assert_eq!(compaction.expect("a step")["state"], "not-needed", "{passed}");
    play.spawns().silent();
    assert!(fs::read_to_string(folder.join("MANIFEST.yaml")).expect("the file").starts_with(text));
}
