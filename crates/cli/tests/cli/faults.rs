//! Faults of the machine: `faults.md` lists them with the tests that inject each. Those that belong to no other file are here.

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Value, json};

use crate::fixtures;
use crate::gates::{Work, denied};
use crate::killed::can_trace;
use crate::sandbox::{Running, Sandbox};
use crate::security_doc;
use crate::transcript::addressed;
use crate::worker::Machine;

#[test]
fn every_fault_has_a_test_that_is_there() {
    let rows = security_doc::assert_tests_exist("crates/cli/tests/cli/faults.md", "fault");
    assert!(rows > 15, "{rows} rows");
}

/// From no byte at all up to room for everything. A write in the middle of a line is cut off there.
const ROOMS: std::ops::Range<u32> = 0..12;

#[test]
fn a_full_disk_opens_no_gate_and_loses_no_edit() {
    let mut closed = 0;
    for blocks in ROOMS {
        let mut work = Work::new();
        // Before the skill: by its rule or because it cannot be checked, but never open.
        work.sandbox = work.sandbox.full_after(blocks);
        let answer = work.asks_to_edit("src/main.rs");
        closed += u32::from(answer.exit == 2);
        assert!(answer.exit == 2 || denied(&answer), "{blocks}: {answer:?}");
        work.sandbox = work.sandbox.below(&[]);
        work.skill("code-quality-rules");
        // An edit that could not be noted holds the next end of a turn.
        work.sandbox = work.sandbox.full_after(blocks);
        work.edits("src/main.rs");
        work.sandbox = work.sandbox.below(&[]);
        assert!(work.is_held(), "{blocks}: the edit is known");
        work.bash("cargo test");
        assert!(!work.is_held(), "{blocks}: with room again, nothing is left of it");
        // One that was noted is not forgotten by an end of a turn without room.
        work.edits("src/main.rs");
        work.sandbox = work.sandbox.full_after(blocks);
        assert!(work.is_held(), "{blocks}: it cannot pass in silence");
        work.sandbox = work.sandbox.below(&[]);
        let shown = work.sandbox.run(&["status"]);
        assert!(shown.ok().contains("src/main.rs"), "{blocks}: {shown:?}");
        // A line that was cut costs only itself.
        let records = work.sandbox.run(&["journal", "--json", "--last", "99"]);
        assert_eq!(records.code, Some(0), "{blocks}: {records:?}");
        let whole = records.stdout.lines().filter(|line| serde_json::from_str::<Value>(line).is_ok()).count();
        assert_eq!(whole, records.stdout.lines().count(), "{blocks}");
        // Those with room: the skill, two ends of a turn, the check, the second edit.
        assert!(whole >= 5, "{blocks}: {records:?}");
    }
    assert!(closed > 0, "no room was too small");
}

/// Locks that do nothing, as in a folder that two machines share by a file system without them.
const WITHOUT_LOCKS: [&str; 10] =
    ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=flock", "-e", "inject=flock:retval=0", "--"];

#[test]
fn two_machines_write_into_one_state() {
    const HOOKS: usize = 24;
    if !can_trace() {
        return;
    }
    let sandbox = Sandbox::new().below(&WITHOUT_LOCKS);
    let of = |session: &str, n: usize| {
        let path = sandbox.project().join(format!("src/{session}-{n}.rs"));
        let mut payload =
            addressed(fixtures::hook("PostToolUse.Write"), session, "none".as_ref(), &sandbox.project());
        payload["tool_input"] = json!({ "file_path": path, "content": "" });
        payload["tool_use_id"] = json!(format!("toolu_{session}_{n}"));
        payload
    };
    std::thread::scope(|scope| {
        for session in ["here", "there"] {
            let (sandbox, of) = (&sandbox, &of);
            scope.spawn(move || {
                for n in 0..HOOKS {
                    let _ = sandbox.event(&of(session, n));
                }
            });
        }
    });
    // Whole lines, and none is missing.
    let records = sandbox.records();
    for session in ["here", "there"] {
        let of_session = records.iter().filter(|record| record["session"] == session).count();
        assert_eq!(of_session, HOOKS, "{session}");
        let marks = fs::read_to_string(sandbox.session(session).join("marks")).expect("marks");
        for n in 0..HOOKS {
            assert!(marks.contains(&format!("{session}-{n}.rs")), "{session} {n}: {marks}");
        }
    }
}

#[test]
fn two_machines_work_on_one_queue() {
    if !can_trace() {
        return;
    }
    let mut machine = Machine::new();
    let uids: BTreeSet<String> = (0..12).map(|n| format!("u{n}")).collect();
    for (n, uid) in uids.iter().enumerate() {
        machine.turn(&format!("s{}", n % 3), uid);
    }
    machine.sandbox = machine.sandbox.below(&WITHOUT_LOCKS);
    let workers = [0, 1].map(|_| Running::start(machine.sandbox.command(&["worker", "--once"])));
    for mut worker in workers {
        worker.close();
        let ran = worker.end();
        assert!(ran.code.is_some(), "{ran:?}");
    }
    machine.sandbox = machine.sandbox.below(&[]);
    machine.emptied();
    machine.holds(&uids);
    let checked = machine.sandbox.run(&["memory", "check"]);
    assert_eq!(checked.code, Some(0), "{checked:?}");
}
