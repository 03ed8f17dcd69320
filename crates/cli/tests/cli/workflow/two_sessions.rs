//! Two sessions that write one manifest between each other's events.

use std::fs;
use std::thread;

use serde_json::json;

use super::{DISCOVERY, MANIFEST, PATH, Play};
use crate::answer::Answer;
use crate::people::{SESSION, by_agent_of};

const OTHER: &str = "s-2";

impl Play {
    fn writes_as(&self, session: &str, text: &str) -> Answer {
        fs::write(self.path(), text).expect("the file");
        let id = format!("toolu_{session}_{}", self.sandbox.records().len());
        let call =
            json!({ "tool_name": "Write", "tool_input": { "file_path": self.path() }, "tool_use_id": id });
        self.event_of(session, "PostToolUse", call)
    }

    /// Why this session gets no agent.
    fn denied_as(&self, session: &str) -> String {
        let id = format!("toolu_{session}_{}", self.sandbox.records().len());
        let input = json!({ "description": "look", "subagent_type": "general-purpose", "prompt": "x" });
        let answer = self.event_of(
            session,
            "PreToolUse",
            json!({ "tool_name": "Agent", "tool_input": input, "tool_use_id": id }),
        );
        let output = if answer.stdout.is_empty() { json!({}) } else { answer.output() };
        output["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap_or_default().to_owned()
    }

    fn gate_of(&self, session: &str, args: &[&str]) -> crate::answer::Ran {
        by_agent_of(&self.sandbox, &[&["workflow"], args].concat(), session)
    }
}

/// Neither an older copy nor an early end nor a claim of the other session opens a checkpoint, for either of them.
#[test]
fn what_another_session_writes_opens_no_checkpoint() {
    let play = Play::at_gate();
    play.denied();
    let _ = play.event_of(OTHER, "SessionStart", json!({ "source": "startup" }));
    let whole = play.text();
    let claim = "gates:\n  1: {status: passed, at: \"2026-01-01T00:00:00Z\"}\n";
    for (what, text) in [
        ("an older copy", MANIFEST.to_owned()),
        ("an early end", format!("{whole}status: complete\n")),
        ("another workflow", format!("workflow: release\n{whole}")),
        ("nothing", String::new()),
        ("half of it", whole[..whole.len() / 2].to_owned()),
        ("no YAML", "current_phase: [4\nphases: }".to_owned()),
        ("a claim", format!("{}{claim}", whole.replace("summary: |", "was: |"))),
    ] {
        let _ = play.writes_as(OTHER, &text);
        assert!(play.denied().contains("heckpoint 1"), "{what}");
        assert!(play.denied().contains("heckpoint 1"), "{what}, again");
        // The other one saw the checkpoint closed, too, once it wrote the whole manifest.
        let _ = play.writes_as(OTHER, &whole);
        assert!(play.denied_as(OTHER).contains("heckpoint 1"), "{what}");
        let _ = play.writes_as(OTHER, &text);
        assert!(play.denied_as(OTHER).contains("heckpoint 1"), "{what}, its writer");
        let _ = play.writes_as(SESSION, &whole);
    }
    play.gate_of(OTHER, &["pass", "1"]).ok();
    assert_eq!((play.denied_as(OTHER), play.denied_as(SESSION)), (String::new(), String::new()), "for both");
}

/// Hooks of both at the same time, and then commands of both: no note is lost, and nothing fails.
#[test]
fn both_write_at_the_same_time() {
    let play = Play::at_gate();
    play.denied();
    let _ = play.event_of(OTHER, "SessionStart", json!({ "source": "startup" }));
    let (whole, older) = (play.text(), MANIFEST.to_owned());
    for _ in 0..4 {
        thread::scope(|scope| {
            scope.spawn(|| play.writes_as(SESSION, &whole));
            scope.spawn(|| play.writes_as(OTHER, &older));
        });
        assert!(play.denied().contains("heckpoint 1"));
    }
    let _ = play.writes_as(SESSION, &whole);
    let _ = play.writes_as(OTHER, &whole);
    thread::scope(|scope| {
        for (session, phase) in [(SESSION, "1"), (OTHER, "2")] {
            let play = &play;
            scope.spawn(move || {
                for round in 0..4 {
                    let name = format!("of-{phase}-{round}.md");
                    fs::write(play.path().with_file_name(&name), "found\n").expect("the file");
                    play.gate_of(session, &["note", phase, "--artifact", &name]).ok();
                }
            });
        }
    });
    let text = play.text();
    for phase in ["1", "2"] {
        for round in 0..4 {
            let name = format!("of-{phase}-{round}.md");
            assert_eq!(text.matches(&name).count(), 1, "{name}: {text}");
        }
    }
    assert!(text.contains(DISCOVERY), "{text}");
    assert!(play.denied().contains("has all it needs"));
    let failed: Vec<_> =
        play.sandbox.records().into_iter().filter(|record| !record["failure"].is_null()).collect();
    assert!(failed.is_empty(), "{failed:#?}");
    play.gate(&["pass", "1"]).ok();
    assert!(fs::read_to_string(play.sandbox.project().join(PATH)).is_ok_and(|text| text.contains("gates:")));
    play.spawns().silent();
}
