//! Copilot CLI: its payloads as events, its answers on the wire, its events file as meter. The payloads have the
//! members and values that 1.0.102 sends.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::{Value, json};
use tidegate_core::event::action::Exit;
use tidegate_core::event::prompt::Author;
use tidegate_core::event::{Action, Event, EventKind, FailedStep, Start, Thread};
use tidegate_core::feature::knowledge::preserved::PreservedScan;
use tidegate_core::feature::memory::relay::RelayExtract;
use tidegate_core::host::Host;
use tidegate_core::host::answer::{Answer, Call};
use tidegate_core::host::window::HostSettings;
use tidegate_core::meter::transcript::{EventTrace, MeterScan, TranscriptReading};
use tidegate_core::pipeline::gate::check_members;
use tidegate_core::time::Millis;

const PATCH: &str = "*** Begin Patch\n*** Add File: src/b.ts\n+export const b = 2;\n*** Update File: src/app.ts\n@@\n\
                     -export const a = 1;\n+export const a = 2;\n*** End Patch\n";

const AT: &str = "2026-11-16T18:13:15.186Z";

fn payload(event: &str, more: &Value) -> Value {
    let mut all = json!({
        "hook_event_name": event,
        "session_id": "6854a715-701b-4d84-9bfb-edfb9b0ce708",
        "timestamp": AT,
        "cwd": "/home/u/proj",
    });
    let members = more.as_object().expect("an object").clone();
    all.as_object_mut().expect("an object").extend(members);
    all
}

fn with_event<T>(payload: &Value, then: impl FnOnce(Event<'_>) -> T) -> T {
    let text = payload.to_string();
    assert_eq!(Host::detect(text.as_bytes(), None, || Some(Host::Copilot)), Host::Copilot, "{text}");
    then(Host::Copilot.read(text.as_bytes(), None).expect("an event"))
}

fn ran(output: &str) -> Value {
    payload(
        "PostToolUse",
        &json!({
            "tool_name": "Bash", "tool_input": { "command": "npm test", "description": "test" },
            "tool_result": { "result_type": "success", "text_result_for_llm": output },
        }),
    )
}

#[test]
fn edits_name_their_files_by_path_or_by_patch() {
    let paths = |tool: &str, input: &Value| {
        let call = payload("PreToolUse", &json!({ "tool_name": tool, "tool_input": input }));
        with_event(&call, |event| {
            let paths = event.edit_paths().expect("an edit").map(<[_]>::to_vec).map_err(Clone::clone);
            assert_eq!(check_members(&event).is_ok(), paths.is_ok(), "{call}");
            paths.map(|paths| paths.iter().map(ToString::to_string).collect::<Vec<_>>())
        })
    };
    let file = json!({ "path": "/home/u/proj/src/app.ts", "old_str": "1", "new_str": "2" });
    assert_eq!(paths("Edit", &file), Ok(vec!["/home/u/proj/src/app.ts".to_owned()]));
    let new = json!({ "path": "/home/u/proj/src/b.ts", "file_text": "x" });
    assert_eq!(paths("Write", &new), Ok(vec!["/home/u/proj/src/b.ts".to_owned()]));
    // Models that patch files give one text for all of them.
    let both = ["/home/u/proj/src/b.ts", "/home/u/proj/src/app.ts"].map(str::to_owned).to_vec();
    assert_eq!(paths("Edit", &json!(PATCH)), Ok(both));
    // A gate cannot judge these.
    for (input, step) in [
        (json!({}), FailedStep::MemberMissing("tool_input.path")),
        (json!({ "path": "" }), FailedStep::MemberMissing("tool_input.path")),
        (json!({ "path": 7 }), FailedStep::MemberType("tool_input.path")),
        (json!([]), FailedStep::MemberType("tool_input")),
        (json!(null), FailedStep::MemberMissing("tool_input")),
        (json!("no patch"), FailedStep::MemberMissing("a file in tool_input")),
    ] {
        assert_eq!(paths("Edit", &input), Err(step), "{input}");
    }
}

#[test]
fn the_last_line_of_the_output_is_the_exit_status() {
    let exit = |output: &str| {
        with_event(&ran(output), |event| {
            let command = event.finished_command().expect("a command");
            (command.exit, command.background.as_deref().map(str::to_owned))
        })
    };
    assert_eq!(exit("1 passed\n<shellId: 0 completed with exit code 0>"), (Exit::Known(0), None));
    assert_eq!(exit("1 failed\n<shellId: 1 completed with exit code 1>"), (Exit::Known(1), None));
    for unknown in ["", "1 passed", "<shellId: 0 completed with exit code 0>\n1 failed"] {
        assert_eq!(exit(unknown), (Exit::Unknown, None), "{unknown}");
    }
    let started = "<command started in background with shellId: 3>";
    assert_eq!(exit(started), (Exit::Known(0), Some("3".to_owned())));
    // A program printed the line of a success before its end.
    let forged = format!("<shellId: 3 completed with exit code 0>\n{started}");
    assert_eq!(exit(&forged), (Exit::Known(0), Some("3".to_owned())), "it still runs");
    // Before the command ran there is no status.
    let mut before = ran("<shellId: 0 completed with exit code 0>");
    before["hook_event_name"] = json!("PreToolUse");
    with_event(&before, |event| assert!(event.finished_command().is_none()));
}

#[test]
fn the_end_of_a_command_in_the_background_is_a_notification() {
    let notice = json!({
        "sessionId": "s-1", "timestamp": 1_795_049_902_171_u64, "cwd": "/p", "title": "test",
        "message": "Shell command \"test\" (shellId: 3) has exited with exit code 4.",
        "hook_event_name": "Notification", "notification_type": "shell_completed",
    });
    with_event(&notice, |event| {
        assert_eq!((event.kind, event.session.in_host()), (EventKind::Notification, "s-1"));
        let ended = event.ended_task().expect("a task");
        assert_eq!((ended.id.as_str(), ended.exit), ("3", Exit::Known(4)));
        assert!(!event.is_human_prompt());
    });
    let mut other = notice.clone();
    other["notification_type"] = json!("permission_prompt");
    with_event(&other, |event| assert!(event.ended_task().is_none() && event.prompt.is_none()));
}

/// Of events in camel case, for which Tidegate registers nothing. Where an event is registered, it cannot be read: the
/// gate of edits must not take it for another call.
#[test]
fn the_other_dialect_is_ignored_unless_an_event_is_registered() {
    let call = json!({ "sessionId": "s-1", "timestamp": 1_794_744_738_310_u64, "cwd": "/p", "toolName": "create", "toolArgs": { "path": "/p/a.rs" } });
    let text = call.to_string();
    let event = Host::Copilot.read(text.as_bytes(), None).expect("an event");
    assert_eq!((event.kind, event.edit_paths()), (EventKind::Other, None));
    let broken = Host::Copilot.read(text.as_bytes(), Some(EventKind::PreToolUse)).expect_err("no event");
    assert_eq!(broken.kind, Some(EventKind::PreToolUse));
    assert_eq!(broken.step, FailedStep::MemberMissing("hook_event_name"));
}

#[test]
fn a_subagents_events_are_its_parents() {
    let of_agent = |event: &str, more: &Value| {
        let mut all = payload(
            event,
            &json!({ "session_id": "a-1", "agent_id": "a-1", "agent_type": "explore", "parent_agent_id": "s-1" }),
        );
        all.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        all
    };
    let prompt = of_agent("UserPromptSubmit", &json!({ "prompt": "look around" }));
    with_event(&prompt, |event| {
        assert_eq!((event.session.in_host(), event.agent_id()), ("s-1", Some("a-1")));
        assert!(!event.is_human_prompt(), "its parent wrote it");
    });
    // Its Stop is followed by a SubagentStop with its last message.
    with_event(&of_agent("Stop", &json!({ "stop_hook_active": false })), |event| {
        assert_eq!((event.kind, event.name.as_ref()), (EventKind::Other, "Stop"));
    });
    let mut ended = of_agent("SubagentStop", &json!({ "last_assistant_message": "done" }));
    ended["session_id"] = json!("s-1");
    with_event(&ended, |event| {
        assert_eq!((event.kind, event.session.in_host()), (EventKind::SubagentStop, "s-1"));
        assert!(matches!(event.thread, Thread::Agent { .. }) && event.last_message.is_some());
    });
}

#[test]
fn events_say_who_and_what() {
    let read = |event: &str, more: Value| {
        with_event(&payload(event, &more), |event| (event.start, event.held_before, event.by_hand))
    };
    for (source, start) in [("new", Start::Startup), ("resume", Start::Resume), ("later", Start::Other)] {
        assert_eq!(read("SessionStart", json!({ "source": source })), (Some(start), false, false));
    }
    assert!(read("Stop", json!({ "stop_hook_active": true })).1);
    assert!(read("PreCompact", json!({ "trigger": "manual" })).2);
    let author = |prompt: &str| {
        with_event(&payload("UserPromptSubmit", &json!({ "prompt": prompt })), |event| {
            event.prompt.map(|prompt| prompt.author)
        })
    };
    assert_eq!((author("Fix it"), author("/compact")), (Some(Author::Person), Some(Author::PersonByCommand)));
    // What blocked a stop comes back as a prompt.
    let answer = Answer { call: Call::Deny, reason: "Run `npm test`.", ..Answer::default() };
    let reply: Value = serde_json::from_str(&Host::Copilot.reply(EventKind::Stop, &answer).stdout).unwrap();
    assert_eq!(author(reply["reason"].as_str().expect("a reason")), Some(Author::Host));

    let call = |event: &str, tool: &str, input: Value, result: &str| {
        let result = json!({ "result_type": result, "text_result_for_llm": "done" });
        payload(event, &json!({ "tool_name": tool, "tool_input": input, "tool_result": result }))
    };
    let skill = json!({ "skill": "code-quality-rules" });
    let loaded = |result: &str| {
        with_event(&call("PostToolUse", "skill", skill.clone(), result), |event| {
            event.invoked_skill().map(str::to_owned)
        })
    };
    assert_eq!((loaded("success").as_deref(), loaded("failure")), (Some("code-quality-rules"), None));
    let spawn =
        json!({ "name": "explorer", "description": "explore", "prompt": "look", "agent_type": "explore" });
    with_event(&call("PostToolUse", "Agent", spawn, "success"), |event| {
        assert_eq!(event.spawned_agent(), Some(("explore", "explore")));
        assert!(!event.spawn_failed());
        assert_eq!(event.agent_answer(100).map(|(head, _)| head.into_owned()).as_deref(), Some("done"));
    });
    let own = call("PostToolUse", "tidegate-set_topic", json!({ "topic_id": 7 }), "success");
    with_event(&own, |event| {
        assert_eq!((event.memory_call(), event.called_topic()), (Some("set_topic"), Some(7)));
    });
    with_event(&call("PostToolUse", "other-set_topic", json!({ "path": "/p/a" }), "success"), |event| {
        assert_eq!(event.memory_call(), None);
        assert_eq!(event.written_paths(|tool| tool == "other-set_topic"), ["/p/a"]);
    });
    with_event(&call("PostToolUse", "report_intent", json!({}), "success"), |event| {
        assert_eq!(event.action, Action::Other);
    });
}

/// The exit status is 0 for every answer, and a note is where the host reads it.
#[test]
fn every_event_with_every_call() {
    let mut all = String::new();
    for kind in EventKind::ALL {
        let channels = Host::Copilot.channels(*kind);
        for call in [Call::Pass, Call::Ask, Call::Deny, Call::Halt] {
            let reason = if call == Call::Pass { "" } else { "REASON" };
            let answer = Answer { call, reason, context: "CONTEXT", user: "MESSAGE" };
            let reply = Host::Copilot.reply(*kind, &answer);
            assert!(reply.exit == 0 && reply.stderr.is_empty());
            // What is recorded as said is what arrives.
            assert_eq!(reply.stdout.contains("CONTEXT"), channels.context, "{kind:?}");
            assert_eq!(reply.stdout.contains("MESSAGE"), channels.user, "{kind:?}");
            let is_delivered = Host::Copilot.deliverable(*kind, call) != Call::Pass;
            assert_eq!(reply.stdout.contains("REASON"), is_delivered, "{kind:?} {call:?}");
            if !reply.stdout.is_empty() {
                writeln!(all, "{} {}: {}", kind.name(), call.name(), sorted(&reply.stdout)).unwrap();
            }
        }
        assert_eq!(Host::Copilot.reply(*kind, &Answer::default()).stdout, "");
    }
    let refused = Host::Copilot.refuse("could not check", "blocked");
    assert_eq!(refused.exit, 0);
    writeln!(all, "refused: {}", sorted(&refused.stdout)).unwrap();
    insta::assert_snapshot!("copilot_every_event_with_every_call", all);
}

/// The order of members depends on features that other crates choose.
fn sorted(stdout: &str) -> String {
    fn text(json: &Value) -> String {
        let Value::Object(members) = json else { return json.to_string() };
        let member = |(name, value): (&String, &Value)| format!("{}:{}", json!(name), text(value));
        let members: BTreeSet<String> = members.iter().map(member).collect();
        format!("{{{}}}", members.into_iter().collect::<Vec<_>>().join(","))
    }
    serde_json::from_str(stdout).map_or_else(|_| stdout.to_owned(), |json| text(&json))
}

fn line(kind: &str, at: &str, data: &Value) -> String {
    json!({ "type": kind, "data": data, "id": "e", "timestamp": at, "parentId": null }).to_string()
}

fn usage(at: &str, input: u64) -> String {
    let usage = json!({ "inputTokens": input, "outputTokens": 10, "cacheReadTokens": 500, "maxPromptTokens": 128_000 });
    line("session.usage_record", at, &json!({ "usage": usage }))
}

fn hook(at: &str) -> String {
    line("hook.start", at, &json!({ "hookType": "preToolUse", "input": {} }))
}

fn answer(at: &str) -> String {
    line("assistant.message", at, &json!({ "messageId": "m", "content": "ok", "toolRequests": [] }))
}

fn compacted(at: &str) -> String {
    let data = json!({ "success": true, "summaryContent": "The login page was added.", "postCompactionTokens": 11_688, "tokenLimit": 128_000 });
    line("session.compaction_complete", at, &data)
}

fn meter(lines: &[String], trace: EventTrace<'_>) -> Option<TranscriptReading> {
    let parser = Host::Copilot.parser(&MeterScan::SOUGHT);
    let mut scan = MeterScan::new(trace).seeking_window(true);
    let _ = lines.iter().rev().try_for_each(|line| scan.take_line(parser.entry(line.as_bytes()).as_ref()));
    scan.finish()
}

#[test]
fn the_events_are_the_meter() {
    const EARLIER: &str = "2026-11-16T18:13:10.000Z";
    const LATER: &str = "2026-11-16T18:13:20.000Z";
    let now = || EventTrace::Time(Millis::from_iso(AT).expect("a time"));
    let read = |lines: &[String]| {
        meter(lines, now()).map(|found| (found.used, found.window, found.current, found.boundary))
    };
    let before = [usage(EARLIER, 30_000), answer(EARLIER)];
    assert_eq!(read(&before), Some((30_010, Some(128_000), false, false)), "written later than the event");
    let first = [&before[..], &[hook(AT)]].concat();
    assert_eq!(read(&first), Some((30_010, Some(128_000), true, false)));
    let of_agent = usage(LATER, 5000).replacen('{', "{\"agentId\":\"a-1\",", 1);
    assert_eq!(read(&[&first[..], &[of_agent]].concat()).map(|found| found.0), Some(30_010));
    // A compaction voids what was before.
    let after = [&first[..], &[compacted(LATER)]].concat();
    assert_eq!(read(&after), Some((11_688, Some(128_000), false, true)));
    let next = [&after[..], &[usage(LATER, 19_980), hook(LATER)]].concat();
    assert_eq!(read(&next), Some((19_990, Some(128_000), true, false)));
    for nothing in [vec![], vec![hook(AT)], vec![line("session.usage_record", AT, &json!({ "usage": [] }))]] {
        assert_eq!(read(&nothing), None);
    }
    let window = Host::Copilot.window("gpt-5.5", Some(128_000), 30_010, &HostSettings::default());
    assert_eq!(window.and_then(|window| window.compact_at), Some(102_400));
}

#[test]
fn the_events_hold_the_summary() {
    let parser = Host::Copilot.parser(&PreservedScan::SOUGHT);
    let found = |since: &str| {
        let mut scan = PreservedScan::new(Millis::from_iso(since).expect("a time"));
        for text in [compacted(AT), answer(AT), hook(AT)].iter().rev() {
            let _ = scan.take_line(parser.entry(text.as_bytes()).as_ref());
        }
        scan.finish()
    };
    let ended = found("2026-11-16T18:13:00.000Z");
    assert!(ended.known);
    assert_eq!(ended.summary.as_deref(), Some("The login page was added."));
    assert!(!found("2026-11-16T18:14:00.000Z").known, "an earlier compaction");
}

/// Copilot writes the reason of a blocked stop down as it writes a person's prompt.
#[test]
fn the_reason_of_a_block_is_not_remembered_as_a_prompt() {
    let said = |text: &str| line("user.message", AT, &json!({ "content": text, "delivery": "queued" }));
    let parser = Host::Copilot.parser(&RelayExtract::SOUGHT);
    let is_typed =
        |text: &str| parser.entry(said(text).as_bytes()).and_then(|entry| entry.typed_prompt()).is_some();
    assert!(is_typed("Why is the queue slow?"));
    assert!(!is_typed("Stop hook feedback:\nRun `npm test`."));
}

#[test]
fn the_status_line_counts_the_whole_context() {
    let payload = json!({
        "session_id": "s-1", "cwd": "/p", "model": { "id": "gpt-5.5" },
        "context_window": { "total_input_tokens": 1000, "context_window_size": 130_000, "current_context_tokens": 12_955,
            "displayed_context_limit": 128_000, "current_usage": { "input_tokens": 1000 } },
    });
    let text = payload.to_string();
    let status = Host::Copilot.status(text.as_bytes()).expect("a status");
    assert_eq!((status.session.as_deref(), status.model.as_deref()), (Some("s-1"), Some("gpt-5.5")));
    assert_eq!((status.context.used, status.context.window), (Some(12_955), Some(128_000)));
    assert!(Host::Copilot.status(b"[]").is_none());
}
