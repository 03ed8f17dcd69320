//! Many hooks at once: the host runs parallel tool calls with their hooks in parallel.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Barrier;

use serde_json::{Value, json};

use crate::answer::Answer;
use crate::fixtures;
use crate::sandbox::{Running, Sandbox};
use crate::transcript::{Transcript, addressed, answer};

const AT_ONCE: usize = 32;

/// Starts one hook per payload, all in the same moment.
fn at_once(sandbox: &Sandbox, payloads: &[Value]) -> Vec<Answer> {
    let barrier = Barrier::new(payloads.len());
    std::thread::scope(|scope| {
        let threads: Vec<_> = payloads
            .iter()
            .map(|payload| {
                let (barrier, text) = (&barrier, payload.to_string());
                let event = payload["hook_event_name"].as_str().expect("an event");
                let command = sandbox.command(&["hook", "--event", event]);
                scope.spawn(move || {
                    barrier.wait();
                    let mut running = Running::start(command);
                    running.send(text.as_bytes());
                    running.close();
                    let answer = Answer::of(running.end());
                    answer.check(event);
                    answer
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("the checks hold")).collect()
    })
}

#[test]
fn thirty_two_at_once_lose_nothing() {
    const ROUNDS: usize = 34;
    let sandbox = Sandbox::new();
    let mut transcript = Transcript::at(sandbox.path().join("t.jsonl"));
    transcript.line(&answer(50_000));
    let names =
        ["PreToolUse.Write", "PostToolUse.Bash", "UserPromptSubmit.plain", "PostToolUse.subagent-Bash"];
    let mut expected = BTreeSet::new();
    for round in 0..ROUNDS {
        let payloads: Vec<Value> = (0..AT_ONCE)
            .map(|n| {
                let mut payload = addressed(
                    fixtures::hook(names[n % names.len()]),
                    "one-session",
                    &transcript.path,
                    &sandbox.project(),
                );
                // Told apart in the record by its tool, whose name can be long: records of many lengths.
                payload["tool_name"] =
                    json!(format!("tool-{round}-{n}-{}", "x".repeat(n * round * 4 % 5000)));
                payload["tool_use_id"] = json!(format!("toolu_{round}_{n}"));
                payload["prompt_id"] = json!(format!("prompt_{round}_{n}"));
                expected.insert(payload["tool_name"].to_string());
                payload
            })
            .collect();
        for answer in at_once(&sandbox, &payloads) {
            answer.silent();
        }
        assert_eq!(sandbox.records().len(), AT_ONCE * (round + 1), "after round {round}");
    }
    let records = sandbox.records();
    assert!(records.len() >= 1000);
    let ids: BTreeSet<String> = records.iter().map(|record| record["id"].to_string()).collect();
    assert_eq!(ids.len(), records.len(), "every id is unique");
    let found: BTreeSet<String> = records.iter().map(|record| record["tool"].to_string()).collect();
    assert_eq!(found, expected, "every event is recorded once");
    assert!(records.iter().all(|record| record["session"] == "one-session"));
    // And the marks of so many can be read.
    let status = sandbox.run(&["status", "--session", "one-session", "--json"]).json();
    assert_eq!(status["events"], records.len());
}

#[test]
fn two_sessions_do_not_mix() {
    let sandbox = Sandbox::new();
    let mut transcripts = BTreeMap::new();
    for (session, used) in [("full-one", 155_000), ("empty-one", 20_000)] {
        let mut transcript = Transcript::at(sandbox.path().join(session));
        transcript.line(&answer(used));
        transcripts.insert(session, transcript);
    }
    for round in 0..6 {
        let payloads: Vec<Value> = (0..AT_ONCE)
            .map(|n| {
                let session = if n % 2 == 0 { "full-one" } else { "empty-one" };
                let mut payload = addressed(
                    fixtures::hook("UserPromptSubmit.plain"),
                    session,
                    &transcripts[session].path,
                    &sandbox.project(),
                );
                payload["prompt_id"] = json!(format!("p{round}-{n}"));
                payload
            })
            .collect();
        let answers = at_once(&sandbox, &payloads);
        for (payload, answer) in payloads.iter().zip(&answers) {
            if payload["session_id"] == "empty-one" {
                answer.silent();
            }
        }
    }
    for record in sandbox.records() {
        let used = if record["session"] == "full-one" { 155_000 } else { 20_000 };
        assert_eq!(record["meter"]["used"], used, "{record}");
    }
    for (session, said) in [("full-one", "urgent"), ("empty-one", "none")] {
        let status = sandbox.run(&["status", "--session", session, "--json"]).json();
        assert_eq!(status["pressure_said"], said, "{status}");
        assert_eq!(status["meter"]["used"], if said == "none" { 20_000 } else { 155_000 });
    }
}

/// Quiet means once, also when many see the level in the same moment.
#[test]
fn a_level_that_many_see_at_once_is_said_once() {
    let sandbox = Sandbox::new();
    let mut transcript = Transcript::at(sandbox.path().join("t.jsonl"));
    transcript.line(&answer(125_000));
    let mut said = Vec::new();
    for session in 0..6 {
        let session = format!("session-{session}");
        let round = |round: usize| -> usize {
            let payloads: Vec<Value> = (0..AT_ONCE)
                .map(|n| {
                    // Half of them begin the session but have nothing to say, as hooks of parallel calls do.
                    let capture = if n % 2 == 0 { "PostToolUse.Bash" } else { "PreToolUse.Write" };
                    let mut payload =
                        addressed(fixtures::hook(capture), &session, &transcript.path, &sandbox.project());
                    payload["tool_use_id"] = json!(format!("toolu_{round}_{n}"));
                    payload
                })
                .collect();
            at_once(&sandbox, &payloads).iter().filter(|answer| answer.context().is_some()).count()
        };
        let many = round(1) + round(2);
        said.push(many);
    }
    assert_eq!(said, vec![1; said.len()], "how often it was said, for each session");
}

/// A hook that saw no marks begins the session. When another one has begun it meanwhile, what that one wrote down
/// must stay.
#[cfg(target_os = "linux")]
#[test]
fn a_session_begun_twice_forgets_nothing() {
    use std::fs::{self, File};
    let sandbox = Sandbox::new();
    let mut transcript = Transcript::at(sandbox.path().join("t.jsonl"));
    transcript.line(&answer(125_000));
    let payload =
        |capture: &str| addressed(fixtures::hook(capture), "s", &transcript.path, &sandbox.project());
    // The marks of a hook that said the level in a session of its own.
    assert!(sandbox.event(&payload("UserPromptSubmit.plain")).context().is_some());
    let marks = sandbox.session("s").join("marks");
    let said = fs::read(&marks).expect("the marks");
    fs::remove_file(&marks).expect("our own file");

    // One that has seen no marks waits for the lock ...
    let lock =
        File::options().append(true).create(true).open(sandbox.session("s").join("lock")).expect("the lock");
    lock.lock().expect("nobody else has it");
    let mut running = Running::start(sandbox.command(&["hook", "--event", "PreToolUse"]));
    running.send(payload("PreToolUse.Write").to_string().as_bytes());
    running.close();
    let waits = |id: u32| {
        let locks = fs::read_to_string("/proc/locks").unwrap_or_default();
        locks
            .lines()
            .any(|line| line.contains("->") && line.split_whitespace().any(|word| word == id.to_string()))
    };
    while !waits(running.id()) && !running.has_ended() {
        std::thread::yield_now();
    }
    // ... while the other one writes.
    fs::write(&marks, said).expect("our own file");
    lock.unlock().expect("our own");
    Answer::of(running.end()).check("PreToolUse");
    let again = sandbox.event(&payload("UserPromptSubmit.plain"));
    assert_eq!(again.context(), None, "it was said before");
}
