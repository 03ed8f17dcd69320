//! A clock that jumps between the hooks of one session: back a day, a year ahead, and right again.

use serde_json::json;

use crate::gates::Work;
use crate::sandbox::Sandbox;
use crate::transcript::{Transcript, addressed, answer};
use crate::worker::Machine;
use crate::{answer::Answer, fixtures};

const DAY: i64 = 86_400_000;
const JUMPS: [(i64, i64); 6] =
    [(0, -DAY), (0, 365 * DAY), (-DAY, 0), (365 * DAY, 0), (-DAY, 365 * DAY), (365 * DAY, -DAY)];

fn at(sandbox: Sandbox, ms: i64) -> Sandbox {
    sandbox.with("TEST_TIDEGATE_CLOCK", ms.to_string())
}

fn jump(mut work: Work, ms: i64) -> Work {
    work.sandbox = at(work.sandbox, ms);
    work
}

#[test]
fn an_edit_stays_unverified_and_a_skill_stays_invoked() {
    for (first, then) in JUMPS {
        let work = jump(Work::new(), first);
        work.skill("code-quality-rules");
        work.edits("src/main.rs");
        let work = jump(work, then);
        work.asks_to_edit("src/main.rs").silent();
        assert!(work.is_held(), "{first} {then}: the edit is not forgotten");
        work.bash("cargo test");
        assert!(!work.is_held(), "{first} {then}: a check now is after it");
        let work = jump(work, first);
        assert!(!work.is_held(), "{first} {then}: nothing is unverified");
        work.edits("src/main.rs");
        assert!(work.is_held(), "{first} {then}: a new edit is");
    }
}

#[test]
fn a_warning_is_said_once() {
    for (first, then) in JUMPS {
        let sandbox = at(Sandbox::new(), first);
        let mut transcript = Transcript::at(sandbox.path().join("t.jsonl"));
        transcript.line(&answer(155_000));
        let say = |sandbox: &Sandbox| -> Answer {
            let prompt = fixtures::hook("UserPromptSubmit.plain");
            sandbox.event(&addressed(prompt, "s-1", &transcript.path, &sandbox.project()))
        };
        assert!(say(&sandbox).context().is_some(), "{first} {then}");
        let sandbox = at(sandbox, then);
        say(&sandbox).silent();
        say(&at(sandbox, first)).silent();
    }
}

/// A job that a hook left is stored under every clock that a worker may have, and a failed try does not wait for a year.
#[test]
fn a_turn_is_remembered() {
    for (first, then) in JUMPS {
        let mut machine = Machine::of(at(Sandbox::new(), first));
        machine.turn("s", "u");
        machine.sandbox = at(machine.sandbox, then);
        let ran = machine.sandbox.run(&["worker", "--once"]);
        assert_eq!((ran.code, machine.logs().len()), (Some(0), 1), "{first} {then}: {ran:?}");
    }
}

/// Nothing is deleted while the clock is a year ahead for an hour.
#[test]
fn other_sessions_and_their_records_stay() {
    let sandbox = Sandbox::new();
    let event = |sandbox: &Sandbox, session: &str, capture: &str| {
        let payload = addressed(fixtures::hook(capture), session, "none".as_ref(), &sandbox.project());
        let _ = sandbox.event(&payload);
    };
    event(&sandbox, "s-1", "SessionStart.startup");
    event(&sandbox, "s-1", "UserPromptSubmit.plain");
    let before = sandbox.records();
    let sandbox = at(sandbox, 365 * DAY);
    event(&sandbox, "s-2", "SessionStart.startup");
    let sandbox = at(sandbox, 0);
    event(&sandbox, "s-3", "SessionStart.startup");
    let after = sandbox.records();
    for record in &before {
        assert!(after.contains(record), "{record}");
    }
    for session in ["s-1", "s-2", "s-3"] {
        assert!(sandbox.session(session).exists(), "{session}");
    }
}

/// An approval and `off --for` end at the latest when they should have, whatever the clock says.
#[test]
fn a_switch_does_not_last_for_a_year() {
    for then in [-DAY, 365 * DAY] {
        let mut work = Work::new();
        let off = json!([{ "policy": "skill-gate", "scope": "everywhere",
            "since": tidegate_state::clock::now().0, "until": tidegate_state::clock::now().0 + 3_600_000 }]);
        let _ = work.sandbox.event(&work.payload("SessionStart", json!({ "source": "startup" })));
        std::fs::write(work.sandbox.state().join("off.json"), off.to_string()).expect("a new file");
        work.asks_to_edit("src/main.rs").silent();
        work = jump(work, then);
        assert!(crate::gates::denied(&work.asks_to_edit("src/main.rs")), "{then}");
    }
}
