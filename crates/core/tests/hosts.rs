//! Payloads of all hosts against the readers of all hosts: whole, cut, with members of other types, and with members of
//! each other. No gate may be wrong about a call, and nothing may crash.

use proptest::prelude::*;
use serde_json::{Value, json};
use tidegate_core::event::action::Exit;
use tidegate_core::event::{Event, EventKind, FailedStep};
use tidegate_core::feature::config::Config;
use tidegate_core::feature::facts::Facts;
use tidegate_core::host::Host;
use tidegate_core::host::answer::Reply;
use tidegate_core::pipeline;
use tidegate_core::pipeline::gate::check_members;
use tidegate_core::time::Millis;

const PATCH: &str = "*** Begin Patch\n*** Update File: src/a.rs\n@@\n-1\n+2\n*** End Patch\n";

/// Those that belong to no tool, and that any host may send.
const EVENTS: [&str; 11] = [
    "SessionStart",
    "UserPromptSubmit",
    "Stop",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "PostCompact",
    "Notification",
    "PermissionRequest",
    "SessionEnd",
    "SomethingNew",
];

/// What a payload is, as its host means it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meant {
    Edit,
    /// A command that failed, after it ran.
    Failed,
    Other,
}

fn with(base: &Value, more: &Value) -> Value {
    let mut all = base.clone();
    all.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    all
}

/// A host, and the members that each of its events has.
type HostForm<'a> = (Host, &'a dyn Fn(&str) -> Value);

/// In the forms that the hosts send, written for this test.
fn payloads() -> Vec<(Host, Meant, Value)> {
    let base = |event: &str| json!({ "hook_event_name": event, "session_id": "s-1", "cwd": "/p" });
    let tool = |base: &Value, name: &str, input: Value, more: &Value| {
        with(&with(base, &json!({ "tool_name": name, "tool_input": input })), more)
    };
    let run = json!({ "command": "npm test" });
    let file = json!({ "file_path": "/p/src/a.rs", "old_string": "1", "new_string": "2" });
    let path = json!({ "path": "/p/src/a.rs", "old_str": "1", "new_str": "2" });

    let claude = |event: &str| {
        with(
            &base(event),
            &json!({ "transcript_path": "/h/.claude/projects/p/s.jsonl", "permission_mode": "default" }),
        )
    };
    let codex = |event: &str| {
        with(
            &base(event),
            &json!({ "turn_id": "t", "transcript_path": "/h/.codex/sessions/r.jsonl", "model": "gpt-5.5" }),
        )
    };
    let copilot = |event: &str| with(&base(event), &json!({ "timestamp": "2026-11-16T18:13:15.186Z" }));
    let qwen = |event: &str| {
        with(&base(event), &json!({ "timestamp": "2026", "transcript_path": "/h/.qwen/projects/p/c.jsonl" }))
    };
    let opencode = |event: &str| with(&json!({ "opencode": 1 }), &base(event));
    let gemini = |event: &str| {
        with(&base(event), &json!({ "timestamp": "2026", "transcript_path": "/h/.gemini/tmp/p/c.jsonl" }))
    };
    let id = json!({ "tool_use_id": "c-1" });
    let none = json!({});
    let report = "Command: npm test\nDirectory: (root)\nOutput: 1 failed\nError: (none)\nExit Code: 1\nSignal: (none)\n\
                  Process Group PGID: (none)";
    // Every other event of each host, with the members of all: what an event does not have is not read.
    let about = json!({
        "source": "startup", "trigger": "auto", "reason": "other", "prompt": "Fix it", "stop_hook_active": false,
        "last_assistant_message": "done", "agent_id": "a", "agent_type": "explore", "permission_mode": "default",
        "message": "Shell command \"test\" (shellId: 3) has exited with exit code 1.", "notification_type": "shell_completed",
    });
    let forms: [HostForm<'_>; 4] =
        [(Host::Codex, &codex), (Host::Copilot, &copilot), (Host::Qwen, &qwen), (Host::OpenCode, &opencode)];
    let mut others = Vec::new();
    for (host, form) in forms {
        others.extend(EVENTS.map(|event| (host, Meant::Other, with(&form(event), &about))));
        let calls = [
            ("skill", json!({ "skill": "compound" })),
            ("mcp__tidegate__set_topic", json!({ "topic_id": 3 })),
            ("spawn_agent", json!({ "task_name": "look", "message": "find it" })),
            ("agent", json!({ "description": "look", "prompt": "find it" })),
            ("read_file", json!({ "file_path": "/p/src/a.rs" })),
        ];
        for (event, (name, input)) in ["PreToolUse", "PostToolUse", "PostToolUseFailure"]
            .iter()
            .flat_map(|event| calls.iter().map(move |call| (event, call)))
        {
            others.push((
                host,
                Meant::Other,
                tool(&form(event), name, input.clone(), &json!({ "tool_response": "ok" })),
            ));
        }
    }
    let failed_text = json!({ "tool_result": { "result_type": "success", "text_result_for_llm": "1 failed\n<shellId: 0 completed with exit code 1>" } });
    let mut all = vec![
        (Host::ClaudeCode, Meant::Edit, tool(&claude("PreToolUse"), "Edit", file.clone(), &id)),
        (
            Host::ClaudeCode,
            Meant::Failed,
            tool(
                &claude("PostToolUseFailure"),
                "Bash",
                run.clone(),
                &json!({ "tool_use_id": "c", "error": "Exit code 1\n1 failed" }),
            ),
        ),
        (Host::ClaudeCode, Meant::Other, with(&claude("UserPromptSubmit"), &json!({ "prompt": "Fix it" }))),
        (Host::ClaudeCode, Meant::Other, with(&claude("Stop"), &json!({ "stop_hook_active": false }))),
        (
            Host::Codex,
            Meant::Edit,
            tool(&codex("PreToolUse"), "apply_patch", json!({ "command": PATCH }), &id),
        ),
        (
            Host::Codex,
            Meant::Failed,
            tool(
                &codex("PostToolUse"),
                "Bash",
                run.clone(),
                &json!({ "tool_use_id": "c", "tool_response": "1 failed" }),
            ),
        ),
        (Host::Codex, Meant::Other, with(&codex("SessionStart"), &json!({ "source": "compact" }))),
        (Host::Copilot, Meant::Edit, tool(&copilot("PreToolUse"), "Edit", path.clone(), &none)),
        (Host::Copilot, Meant::Edit, tool(&copilot("PreToolUse"), "Edit", json!(PATCH), &none)),
        (Host::Copilot, Meant::Failed, tool(&copilot("PostToolUse"), "Bash", run.clone(), &failed_text)),
        (
            Host::Copilot,
            Meant::Other,
            with(
                &copilot("Stop"),
                &json!({ "transcript_path": "/h/.copilot/session-state/s/events.jsonl", "stop_hook_active": true }),
            ),
        ),
        (
            Host::Copilot,
            Meant::Other,
            with(
                &copilot("UserPromptSubmit"),
                &json!({ "agent_id": "a", "agent_type": "x", "parent_agent_id": "s", "prompt": "look" }),
            ),
        ),
        (Host::Qwen, Meant::Edit, tool(&qwen("PreToolUse"), "edit", file.clone(), &id)),
        (
            Host::Qwen,
            Meant::Failed,
            tool(
                &qwen("PostToolUseFailure"),
                "run_shell_command",
                run.clone(),
                &json!({ "tool_call_id": "c", "error": report, "is_interrupt": false }),
            ),
        ),
        (
            Host::Qwen,
            Meant::Failed,
            tool(
                &qwen("PostToolUse"),
                "run_shell_command",
                run.clone(),
                &json!({ "tool_use_id": "c", "tool_response": { "llmContent": report } }),
            ),
        ),
        (
            Host::Qwen,
            Meant::Other,
            with(&qwen("UserPromptSubmit"), &json!({ "prompt": "Fix it", "submitted_prompt": "Fix it" })),
        ),
        (
            Host::Qwen,
            Meant::Other,
            with(&qwen("Stop"), &json!({ "stop_hook_active": true, "background_tasks": [{ "id": "b" }] })),
        ),
        (
            Host::OpenCode,
            Meant::Edit,
            tool(
                &opencode("PreToolUse"),
                "edit",
                json!({ "filePath": "/p/src/a.rs", "oldString": "1" }),
                &none,
            ),
        ),
        (
            Host::OpenCode,
            Meant::Edit,
            tool(&opencode("PreToolUse"), "apply_patch", json!({ "patchText": PATCH }), &none),
        ),
        (
            Host::OpenCode,
            Meant::Failed,
            tool(
                &opencode("PostToolUse"),
                "bash",
                run.clone(),
                &json!({ "call_id": "c", "tool_output": "1 failed", "exit": 1 }),
            ),
        ),
        (
            Host::OpenCode,
            Meant::Other,
            with(
                &opencode("Stop"),
                &json!({ "last_message": "done", "held_before": true, "used": 9, "window": 96 }),
            ),
        ),
        (Host::Gemini, Meant::Edit, tool(&gemini("BeforeTool"), "replace", file, &none)),
        (
            Host::Gemini,
            Meant::Failed,
            tool(
                &gemini("AfterTool"),
                "run_shell_command",
                run,
                &json!({ "tool_response": { "llmContent": "1 failed" } }),
            ),
        ),
        (
            Host::VsCode,
            Meant::Edit,
            json!({ "hookEventName": "PreToolUse", "sessionId": "s", "timestamp": "2026", "tool_name": "editFiles", "tool_input": {} }),
        ),
        (
            Host::Unknown,
            Meant::Other,
            json!({ "sessionId": "s", "timestamp": 1_794_000_000_000_u64, "toolName": "edit", "toolArgs": {} }),
        ),
    ];
    all.append(&mut others);
    all
}

/// Hosts that a file or a variable can name, and none.
fn named() -> Vec<Option<Host>> {
    let is_named = |host: &Host| !matches!(host, Host::ClaudeCode | Host::Unknown);
    Host::ALL.iter().copied().filter(is_named).map(Some).chain([None]).collect()
}

fn hosts() -> impl Strategy<Value = Option<Host>> {
    prop::sample::select(named())
}

/// Whatever file or variable called: a call in the form of another host is not refused for its form, and a command that
/// failed is no evidence.
#[test]
fn every_call_in_every_hosts_hands() {
    let registered = named();
    for (of, meant, payload) in payloads() {
        let text = payload.to_string();
        for (by_file, by_variable) in
            registered.iter().flat_map(|file| registered.iter().map(move |it| (*file, *it)))
        {
            let host = Host::detect(text.as_bytes(), by_file, || by_variable);
            let context = format!("{of:?} in {by_file:?} {by_variable:?} as {host:?}: {text}");
            let Ok(event) = host.read(text.as_bytes(), Some(EventKind::PreToolUse)) else { continue };
            if meant == Meant::Failed {
                let exit = event.finished_command().map(|command| command.exit);
                assert_ne!(exit, Some(Exit::Known(0)), "{context}");
            }
            let is_gated = !host.is_only_recorded() && event.kind == EventKind::PreToolUse;
            let is_refused = is_gated && check_members(&event).is_err();
            assert!(!is_refused, "{context}");
        }
        // As its host calls: by its own file, and with its own variables.
        let own = Host::detect(text.as_bytes(), (of != Host::Unknown).then_some(of), || None);
        assert_eq!(own, of, "{text}");
        if own == Host::Unknown {
            continue;
        }
        let event = own.read(text.as_bytes(), None).expect("an event");
        let reply = play(&event);
        assert!(reply.exit == 0, "{text}: {reply:?}");
        if meant == Meant::Edit && !own.is_only_recorded() {
            assert!(matches!(event.edit_paths(), Some(Ok([_, ..]))), "{text}");
        }
    }
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[a-z*/ \n]{0,20}".prop_map(Value::from),
        Just(json!([])),
        Just(json!([[], {}])),
        Just(json!({ "path": { "path": [] }, "command": 7 })),
    ]
}

/// The whole way from an event to its reply, without anything known beforehand.
fn play(event: &Event<'_>) -> Reply {
    let (facts, config) = (Facts::of(event, Millis(1_794_000_000_000)), Config::default());
    let _ = pipeline::observe(&facts, &config);
    let ruling = pipeline::decide(&facts, &config, &|| 0);
    let outcome = ruling.settle(event.host, event.kind, event.is_main_thread(), config.text_budget(event));
    event.host.reply(event.kind, &outcome.answer())
}

proptest! {
    #[test]
    fn a_payload_that_was_cut_is_refused(which in any::<prop::sample::Index>(), at in 0.0f64..1.0, by_file in hosts(), by_variable in hosts()) {
        let all = payloads();
        let text = all[which.index(all.len())].2.to_string();
        let mut cut = ((text.len() as f64) * at) as usize;
        while !text.is_char_boundary(cut) { cut -= 1; }
        let torn = &text.as_bytes()[..cut];
        let host = Host::detect(torn, by_file, || by_variable);
        let read = host.read(torn, Some(EventKind::PreToolUse));
        prop_assert!(matches!(read.map_err(|it| it.step), Err(FailedStep::Payload(_))));
    }

    /// One member of another type, and one of another host's payload.
    #[test]
    fn a_payload_that_was_mixed_proves_nothing(
        which in any::<prop::sample::Index>(), other in any::<prop::sample::Index>(), member in any::<prop::sample::Index>(),
        from in any::<prop::sample::Index>(), odd in value(), in_input: bool, by_file in hosts(), by_variable in hosts(),
    ) {
        let all = payloads();
        let (_, meant, mut payload) = all[which.index(all.len())].clone();
        let exit_before = payload["exit"].clone();
        let (_, _, foreign) = &all[other.index(all.len())];
        {
            let members = match payload.get_mut("tool_input").filter(|input| in_input && input.is_object()) {
                Some(input) => input.as_object_mut().expect("an object"),
                None => payload.as_object_mut().expect("an object"),
            };
            if !members.is_empty() {
                let name = members.keys().nth(member.index(members.len())).expect("a member").clone();
                members.insert(name, odd);
            }
        }
        let foreign = foreign.as_object().expect("an object");
        let (name, value) = foreign.iter().nth(from.index(foreign.len())).expect("a member");
        payload.as_object_mut().expect("an object").insert(name.clone(), value.clone());
        let text = payload.to_string();
        let host = Host::detect(text.as_bytes(), by_file, || by_variable);
        let Ok(event) = host.read(text.as_bytes(), Some(EventKind::PreToolUse)) else { return Ok(()) };
        let reply = play(&event);
        prop_assert!(event.host == Host::ClaudeCode || reply.exit == 0, "a code denies every call in Copilot: {}", text);
        // The result of another call is that call's; another number in its place says something else.
        let is_changed = name == "tool_result" || payload["exit"] != exit_before;
        if meant == Meant::Failed && !is_changed && host != Host::ClaudeCode {
            let exit = event.finished_command().map(|command| command.exit);
            prop_assert_ne!(exit, Some(Exit::Known(0)), "{}", text);
        }
        // An edit is judged, or the gate says that it could not.
        match event.edit_paths() {
            Some(Ok(paths)) => prop_assert!(!paths.is_empty() && paths.iter().all(|path| !path.is_empty())),
            Some(Err(_)) if event.kind == EventKind::PreToolUse => prop_assert!(check_members(&event).is_err()),
            _ => {}
        }
    }
}
