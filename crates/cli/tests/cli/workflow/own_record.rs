//! A checkpoint rests on what Tidegate saw itself: not on times in the manifest, and not on one file of its own alone.

use std::fs;
use std::path::PathBuf;

use serde_json::json;

use super::{DISCOVERY, MANIFEST, PATH, Play};
use crate::answer::Answer;
use crate::people::{SESSION, code_of, types};
use crate::sandbox::make_fifo;
use crate::transcript::addressed;

/// Phase 3 is over by its status, at a time before the session began, or at none.
#[test]
fn a_time_in_the_manifest_is_no_new_session() {
    for told in ["    completed_at: \"2020-01-01T00:00:00Z\"\n", ""] {
        let play = Play::new();
        let _ = play.writes(MANIFEST);
        fs::write(play.path().with_file_name("discovery.md"), "found\n".repeat(100)).expect("the file");
        play.uses(157_000);
        let text = format!("{MANIFEST}{DISCOVERY}{told}").replace("in_progress", "complete");
        let _ = play.writes(&text);
        let checked = play.gate(&["check", "1"]);
        assert!(checked.stdout.contains("was not compacted since phase 3 ended"), "{told}: {checked:?}");
        assert_eq!(play.gate(&["pass", "1"]).code, Some(1), "{told}");
        // A claim that everything is there is no better.
        let _ = play.writes(&format!("{text}gates: {{1: {{status: passed}}}}\n"));
        play.denied();
        let _ = play.event("SessionStart", json!({ "source": "compact" }));
        crate::transcript::Transcript::at(play.transcript()).line(&crate::transcript::boundary(20_000));
        play.gate(&["pass", "1"]).ok();
        play.spawns().silent();
    }
}

/// In phase 3 no checkpoint was seen closed yet. The one after it stays, whatever becomes of the manifest.
#[test]
fn a_reached_checkpoint_stays_due() {
    let gone = |play: &Play| fs::remove_file(play.path()).expect("it can go");
    let complete = |play: &Play| {
        let _ = play.writes(&format!("{MANIFEST}status: complete\n"));
    };
    let ways: [&dyn Fn(&Play); 2] = [&gone, &complete];
    for way in ways {
        let play = Play::new();
        let _ = play.writes(MANIFEST);
        play.spawns().silent();
        way(&play);
        assert!(play.denied().contains("heckpoint 1"));
        assert!(play.gate(&["start", "y"]).failed().contains("checkpoint 1 of this session's workflow"));
        // The work goes on where it was.
        let _ = play.writes(MANIFEST);
        play.spawns().silent();
        way(&play);
        play.denied();
        let code = code_of(&play.gate(&["detach"]));
        let _ = types(&play.sandbox, &format!("approve {code}"));
        play.gate(&["detach", "--approved"]).ok();
        play.spawns().silent();
    }
}

#[test]
fn an_agent_begins_no_other_workflow_in_a_phase_with_a_checkpoint() {
    let play = Play::new();
    let _ = play.writes(MANIFEST);
    assert!(play.gate(&["start", "y"]).failed().contains("checkpoint 1 of this session's workflow"));
    let other = play.sandbox.project().join(".claude/.output/features/y/MANIFEST.yaml");
    fs::create_dir_all(other.parent().expect("a folder")).expect("the folder");
    fs::write(&other, MANIFEST.replace("current_phase: 3", "current_phase: 1")).expect("the file");
    assert!(play.gate(&["attach", &other.to_string_lossy()]).failed().contains("checkpoint 1"));
    let call =
        json!({ "tool_name": "Write", "tool_input": { "file_path": other }, "tool_use_id": "toolu_y" });
    let told = play.event("PostToolUse", call).context().expect("the model is told");
    assert!(told.contains(&format!("Complete checkpoint 1 of {PATH} first")), "{told}");
    fs::remove_file(play.path()).expect("it can go");
    play.denied();
}

fn marks(play: &Play) -> PathBuf {
    play.sandbox.session(SESSION).join("marks")
}

/// Marks that were removed, emptied or cut, or of which one line is missing.
#[test]
fn marks_that_are_lost_open_nothing() {
    let without_workflow = |text: &str| {
        let kept: Vec<&str> =
            text.lines().filter(|line| !line.contains("gate-pending") && !line.contains(PATH)).collect();
        kept.join("\n")
    };
    for at in 0..4 {
        for is_gone in [false, true] {
            let play = Play::at_gate();
            play.denied();
            let text = fs::read_to_string(marks(&play)).expect("marks");
            fs::remove_file(marks(&play)).expect("they can go");
            let ways =
                [None, Some(String::new()), Some(text[..40].to_owned()), Some(without_workflow(&text))];
            if let Some(left) = &ways[at] {
                fs::write(marks(&play), left).expect("marks");
            }
            if is_gone {
                fs::remove_file(play.path()).expect("it can go");
            }
            let answer = play.spawns();
            let output = answer.output();
            assert_eq!(output["hookSpecificOutput"]["permissionDecision"], "deny", "{at}: {answer:?}");
            let shown = output["systemMessage"].as_str().unwrap_or_default();
            assert!(shown.contains("part of this session's own record was lost"), "{at}: {answer:?}");
            // The marks have it again.
            assert!(!play.spawns().stdout.contains("was lost"), "{at}");
            play.denied();
            let code = code_of(&play.gate(&["detach"]));
            let _ = types(&play.sandbox, &format!("approve {code}"));
            play.gate(&["detach", "--approved"]).ok();
            play.spawns().silent();
            fs::remove_file(marks(&play)).expect("they can go");
            play.spawns().silent();
        }
    }
}

#[test]
fn marks_that_cannot_be_used_open_nothing() {
    let pipe = |play: &Play, name: &str| {
        let path = play.sandbox.session(SESSION).join(name);
        fs::remove_file(&path).expect("it can go");
        make_fifo(&path);
    };
    for name in ["marks", "lock"] {
        let play = Play::at_gate();
        play.sandbox.config("[approval]\nunattended = [\"off\"]\n");
        play.denied();
        pipe(&play, name);
        let denied = spawns_as_registered(&play);
        assert!(denied.stdout.contains("Run `tidegate workflow pass 1`"), "{name}: {denied:?}");
        fs::remove_file(play.path()).expect("it can go");
        let denied = spawns_as_registered(&play);
        assert!(denied.stdout.contains(&format!("Restore {PATH}")), "{name}: {denied:?}");
        play.sandbox.run(&["off", "workflow", "--for", "1h"]).ok();
        spawns_as_registered(&play).silent();
    }
}

/// The registration for agents is advice: what it cannot check passes.
fn spawns_as_registered(play: &Play) -> Answer {
    let input = json!({ "description": "look", "subagent_type": "general-purpose", "prompt": "x" });
    let id = format!("toolu_{}", play.sandbox.records().len());
    let call = json!({ "hook_event_name": "PreToolUse", "tool_name": "Agent", "tool_input": input, "tool_use_id": id });
    let payload = addressed(call, SESSION, &play.transcript(), &play.sandbox.project());
    play.sandbox.hook(&["--event", "PreToolUse", "--advice"], payload.to_string())
}

/// Nothing was ever closed here.
#[test]
fn lost_marks_close_nothing_of_their_own() {
    let play = Play::new();
    play.spawns().silent();
    fs::remove_file(marks(&play)).expect("they can go");
    play.spawns().silent();
    let play = Play::at_gate();
    play.gate(&["pass", "1"]).ok();
    play.spawns().silent();
    fs::remove_file(marks(&play)).expect("they can go");
    play.spawns().silent();
    fs::remove_file(marks(&play)).expect("they can go");
    make_fifo(&marks(&play));
    spawns_as_registered(&play).silent();
}

/// The checkpoint went with the manifest; the old place closes nothing any more.
#[test]
fn a_manifest_that_was_moved_leaves_no_checkpoint_behind() {
    let play = Play::at_gate();
    play.denied();
    let moved = play.sandbox.project().join(".claude/.output/features/y");
    fs::rename(play.path().parent().expect("a folder"), &moved).expect("it can move");
    play.denied();
    play.gate(&["attach", ".claude/.output/features/y/MANIFEST.yaml"]).ok();
    play.gate(&["pass", "1"]).ok();
    fs::remove_file(marks(&play)).expect("they can go");
    play.spawns().silent();
}
