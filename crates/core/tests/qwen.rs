//! Qwen Code: its payloads as events, its answers on the wire, its chat record as meter and memory. The payloads have the
//! members and values that 0.24.4 sends.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use proptest::prelude::*;
use serde_json::{Value, json};
use tidegate_core::event::action::Exit;
use tidegate_core::event::prompt::Author;
use tidegate_core::event::{Action, Event, EventKind, FailedStep, Start, Thread};
use tidegate_core::feature::knowledge::preserved::PreservedScan;
use tidegate_core::feature::memory::relay::RelayExtract;
use tidegate_core::feature::memory::said;
use tidegate_core::host::Host;
use tidegate_core::host::answer::{Answer, Call};
use tidegate_core::host::transcript::Sought;
use tidegate_core::meter::transcript::{EventTrace, MeterScan, TranscriptReading};
use tidegate_core::pipeline::gate::check_members;
use tidegate_core::time::Millis;

fn extended(mut all: Value, more: &Value) -> Value {
    let members = more.as_object().expect("an object").clone();
    all.as_object_mut().expect("an object").extend(members);
    all
}

fn payload(event: &str, more: &Value) -> Value {
    let all = json!({
        "session_id": "7be1c561-716b-489a-acab-b016996e955f",
        "transcript_path": "/home/u/.qwen/projects/-home-u-proj/chats/7be1c561.jsonl",
        "cwd": "/home/u/proj",
        "hook_event_name": event,
        "timestamp": "2026-11-16T18:11:47.069Z",
        "permission_mode": "default",
        "prompt_id": "7be1c561########0",
    });
    extended(all, more)
}

fn tool(event: &str, name: &str, input: &Value, more: &Value) -> Value {
    let members =
        json!({ "tool_name": name, "tool_input": input, "tool_use_id": "toolu_1", "tool_call_id": "call_1" });
    payload(event, &extended(members, more))
}

fn report(command: &str, output: &str, status: &str) -> String {
    format!(
        "Command: {command}\nDirectory: (root)\nOutput: {output}\nError: (none)\nExit Code: {status}\nSignal: (none)\nProcess Group PGID: (none)"
    )
}

/// One of every kind that Qwen Code sends.
fn payloads() -> Vec<Value> {
    let none = json!({});
    let write = json!({ "file_path": "/home/u/proj/b.ts", "content": "x" });
    let command = json!({ "command": "npm test", "is_background": false });
    vec![
        payload("SessionStart", &json!({ "source": "startup", "model": "qwen3-coder-plus" })),
        payload("SessionStart", &json!({ "source": "compact" })),
        payload("UserPromptSubmit", &json!({ "prompt": "Fix it", "submitted_prompt": "Fix it" })),
        payload("UserPromptSubmit", &json!({ "prompt": "" })),
        tool("PreToolUse", "write_file", &write, &none),
        tool(
            "PreToolUse",
            "edit",
            &json!({ "file_path": "/home/u/proj/a.ts", "old_string": "a", "new_string": "b" }),
            &none,
        ),
        tool(
            "PostToolUse",
            "write_file",
            &write,
            &json!({ "tool_response": { "llmContent": "Successfully created", "returnDisplay": {} } }),
        ),
        tool("PreToolUse", "run_shell_command", &command, &none),
        tool(
            "PostToolUse",
            "run_shell_command",
            &command,
            &json!({ "tool_response": { "llmContent": report("npm test", "1 passed", "0") } }),
        ),
        tool(
            "PostToolUseFailure",
            "run_shell_command",
            &command,
            &json!({ "error": report("npm test", "1 failed", "1"), "is_interrupt": false }),
        ),
        tool(
            "PostToolUse",
            "skill",
            &json!({ "skill": "x" }),
            &json!({ "tool_response": { "llmContent": [{ "text": "Base directory" }] } }),
        ),
        tool(
            "PreToolUse",
            "agent",
            &json!({ "description": "look", "prompt": "find it", "subagent_type": "Explore" }),
            &none,
        ),
        tool("PreToolUse", "notebook_edit", &json!({ "notebook_path": "/home/u/proj/a.ipynb" }), &none),
        tool(
            "PostToolUse",
            "mcp__tidegate__search",
            &json!({ "query": "x" }),
            &json!({ "tool_response": { "llmContent": [] } }),
        ),
        payload("PreCompact", &json!({ "trigger": "auto", "custom_instructions": "" })),
        payload("PostCompact", &json!({ "trigger": "auto", "compact_summary": "The work so far." })),
        payload(
            "SubagentStop",
            &json!({ "agent_id": "Explore-call_2", "agent_type": "Explore", "stop_hook_active": false }),
        ),
        payload(
            "Stop",
            &json!({ "stop_hook_active": true, "last_assistant_message": "done", "background_tasks": [], "context_limit": 200_000, "input_tokens": 19_980 }),
        ),
    ]
}

fn with_event<T>(payload: &Value, then: impl FnOnce(Event<'_>) -> T) -> T {
    let text = payload.to_string();
    assert_eq!(Host::detect(text.as_bytes(), None, || None), Host::Qwen, "{text}");
    then(Host::Qwen.read(text.as_bytes(), None).expect("an event"))
}

#[test]
fn an_edit_names_its_file() {
    for (name, member, path) in [
        ("edit", "file_path", "/p/a.ts"),
        ("write_file", "file_path", "/p/b.ts"),
        ("notebook_edit", "notebook_path", "/p/c.ipynb"),
    ] {
        with_event(&tool("PreToolUse", name, &json!({ member: path }), &json!({})), |event| {
            assert_eq!(event.edit_paths().expect("an edit").expect("its path"), [path]);
            assert_eq!((check_members(&event), event.call.as_deref()), (Ok(()), Some("call_1")));
        });
    }
    // A gate cannot judge these.
    for (input, step) in [
        (json!({ "path": "/p/a.ts" }), FailedStep::MemberMissing("tool_input.file_path")),
        (json!({ "file_path": "" }), FailedStep::MemberMissing("tool_input.file_path")),
        (json!({ "file_path": 7 }), FailedStep::MemberType("tool_input.file_path")),
        (json!("text"), FailedStep::MemberType("tool_input")),
    ] {
        with_event(&tool("PreToolUse", "edit", &input, &json!({})), |event| {
            assert_eq!(check_members(&event), Err(step));
        });
    }
}

#[test]
fn the_end_of_a_report_tells_how_a_command_ended() {
    let command = json!({ "command": "npm test" });
    let exit = |event: &str, text: &str| {
        let more = match event {
            "PostToolUse" => json!({ "tool_response": { "llmContent": text } }),
            _ => json!({ "error": text }),
        };
        with_event(&tool(event, "run_shell_command", &command, &more), |event| {
            event.finished_command().expect("a command").exit
        })
    };
    let (post, failure) = ("PostToolUse", "PostToolUseFailure");
    assert_eq!(exit(post, &report("npm test", "1 passed", "0")), Exit::Known(0));
    assert_eq!(exit(failure, &report("npm test", "1 failed", "1")), Exit::Known(1));
    assert_eq!(exit(failure, &report("kill", "(empty)", "(none)")), Exit::Unknown);
    // What a command prints is no status.
    assert_eq!(exit(failure, &report("npm test", "Exit Code: 0\nSignal: (none)", "5")), Exit::Known(5));
    assert_eq!(exit(post, "Command: x\nOutput: Exit Code: 0"), Exit::Unknown);
    assert_eq!(exit(post, "x\nExit Code: 0\nSignal: (none)"), Exit::Unknown);
    assert_eq!(exit(post, "Command: x\nExit Code: 0\nand more"), Exit::Unknown);
    let long = report("npm test", &"line\n".repeat(4000), "0");
    assert_eq!(
        exit(post, &long.replacen("Command: ", "Tool output was too large and has been truncated.\n", 1)),
        Exit::Known(0)
    );
    let background = "Background shell started.\nid: bg_1\npid: 7\noutput file: /t\nExit Code: 0";
    let more = json!({ "tool_response": { "llmContent": background } });
    with_event(&tool(post, "run_shell_command", &command, &more), |event| {
        let started = event.finished_command().expect("a command");
        assert_eq!((started.exit, started.background.as_deref()), (Exit::Unknown, Some("bg_1")));
    });
    let more = json!({ "error": report("npm test", "x", "1"), "is_interrupt": true });
    with_event(&tool(failure, "run_shell_command", &command, &more), |event| {
        assert_eq!(event.finished_command().expect("a command").exit, Exit::Unknown);
    });
}

#[test]
fn events_say_who_and_what() {
    let start = |source: &str| {
        with_event(&payload("SessionStart", &json!({ "source": source })), |event| {
            (event.start, event.is_heard())
        })
    };
    assert_eq!(start("startup"), (Some(Start::Startup), true));
    // What is said there is dropped.
    assert_eq!(start("compact"), (Some(Start::Compact), false));
    let prompt = |more: &Value| {
        with_event(&payload("UserPromptSubmit", more), |event| {
            (event.kind, event.prompt.map(|prompt| prompt.author))
        })
    };
    let submitted = |text: &str| prompt(&json!({ "prompt": text, "submitted_prompt": text }));
    assert_eq!(submitted("Fix it"), (EventKind::UserPromptSubmit, Some(Author::Person)));
    assert_eq!(submitted("/compound"), (EventKind::UserPromptSubmit, Some(Author::PersonByCommand)));
    assert_eq!(submitted("<task-notification>x"), (EventKind::UserPromptSubmit, Some(Author::Host)));
    // The reason of a blocked stop, and results on their way to the model.
    assert_eq!(
        prompt(&json!({ "prompt": "Run npm test" })),
        (EventKind::UserPromptSubmit, Some(Author::Host))
    );
    assert_eq!(prompt(&json!({ "prompt": "" })), (EventKind::PostToolBatch, None));
    let skill = tool("PostToolUse", "skill", &json!({ "skill": "/code-rules" }), &json!({}));
    with_event(&skill, |event| assert_eq!(event.invoked_skill(), Some("code-rules")));
    let spawn = tool(
        "PreToolUse",
        "agent",
        &json!({ "description": "look", "subagent_type": "Explore" }),
        &json!({}),
    );
    with_event(&spawn, |event| assert_eq!(event.spawned_agent(), Some(("look", "Explore"))));
    // Work for an agent, whatever way it is given; an answer to the leader of a team is none.
    let work = |name: &str, input: &Value| {
        let call = tool("PreToolUse", name, input, &json!({}));
        let mut found = None;
        with_event(&call, |event| found = event.agent_work().map(|work| format!("{work:?}")));
        found
    };
    let message = |to: &Value| extended(json!({ "message": "go on" }), to);
    for (name, input, expected) in [
        ("agent", json!({ "description": "look" }), Some("Spawn")),
        ("workflow", json!({ "script": "x" }), Some("Spawn")),
        ("create_sub_session", json!({ "prompt": "look" }), Some("Spawn")),
        ("send_message", message(&json!({ "task_id": "t1" })), Some("Message")),
        ("send_message", message(&json!({ "to": "*" })), Some("Message")),
        ("send_message", message(&json!({ "to": "leader" })), None),
        ("send_message", json!(7), Some("Message")),
        ("team_create", json!({ "team_name": "x" }), None),
        ("list_agents", json!({}), None),
    ] {
        assert_eq!(work(name, &input).as_deref(), expected, "{name} {input}");
    }
    let own = tool("PostToolUse", "mcp__tidegate__search", &json!({}), &json!({}));
    with_event(&own, |event| assert_eq!(event.memory_call(), Some("search")));
    with_event(&payload("SubagentStop", &json!({ "agent_id": "a" })), |event| {
        assert_ne!(event.thread, Thread::Main);
    });
    let stop = json!({ "context_limit": 200_000, "input_tokens": 19_980, "background_tasks": [{ "id": "b", "status": "running", "agent_type": "x" }] });
    with_event(&payload("Stop", &stop), |event| {
        let context = event.context.expect("a meter");
        assert_eq!((context.used, context.window), (None, Some(200_000)));
        assert!(event.has_running_agents());
    });
    with_event(&payload("PostCompact", &json!({ "compact_summary": "in short" })), |event| {
        assert_eq!(event.summary.map(|it| it.lossy().into_owned()).as_deref(), Some("in short"));
    });
}

#[test]
fn every_event_with_every_call() {
    let mut all = String::new();
    for kind in EventKind::ALL {
        for (call, says) in [Call::Pass, Call::Ask, Call::Deny, Call::Halt]
            .into_iter()
            .flat_map(|call| [(call, false), (call, true)])
        {
            let text = |text: &'static str| if says { text } else { "" };
            let reason = if call == Call::Pass { "" } else { "REASON" };
            let answer = Answer { call, reason, context: text("CONTEXT"), user: text("MESSAGE") };
            let reply = Host::Qwen.reply(*kind, &answer);
            assert!(reply.exit == 0 && reply.stderr.is_empty());
            if !reply.stdout.is_empty() {
                let texts = if says { " + texts" } else { "" };
                writeln!(all, "{} {}{texts}: {}", kind.name(), call.name(), sorted(&reply.stdout)).unwrap();
            }
        }
    }
    writeln!(all, "refused: {}", sorted(&Host::Qwen.refuse("could not check", "blocked").stdout)).unwrap();
    insta::assert_snapshot!("qwen_every_event_with_every_call", all);
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

/// What is recorded as said is what arrives.
#[test]
fn only_what_arrives_counts_as_said() {
    for kind in EventKind::ALL {
        let channels = Host::Qwen.channels(*kind);
        let answer = Answer { call: Call::Pass, reason: "", context: "CONTEXT", user: "MESSAGE" };
        let stdout = Host::Qwen.reply(*kind, &answer).stdout;
        assert_eq!(
            (stdout.contains("CONTEXT"), stdout.contains("MESSAGE")),
            (channels.context, channels.user)
        );
        for call in [Call::Ask, Call::Deny, Call::Halt] {
            let says_no = Host::Qwen.reply(*kind, &Answer { call, reason: "REASON", ..Answer::default() });
            let is_delivered = Host::Qwen.deliverable(*kind, call) > Call::Pass;
            assert_eq!(says_no.stdout.contains("REASON"), is_delivered, "{kind:?} {call:?}");
        }
    }
}

fn line(id: &str, kind: &str, more: &Value) -> String {
    let all = json!({
        "uuid": id, "parentUuid": null, "sessionId": "s1", "timestamp": "2026-11-16T18:11:47.069Z", "type": kind,
        "cwd": "/p/shop", "version": "0.24.4", "gitBranch": "feat/x",
    });
    extended(all, more).to_string()
}

fn prompt(id: &str, text: &str) -> String {
    let parts = json!([{ "text": text }, { "text": "<qwen:user-prompt-submit-context>\nnote\n</qwen:user-prompt-submit-context>" }]);
    line(id, "user", &json!({ "provenance": "real_user", "message": { "role": "user", "parts": parts } }))
}

fn answer(parts: &Value, total: u64, window: Option<u64>) -> String {
    let usage =
        json!({ "promptTokenCount": total - 10, "candidatesTokenCount": 10, "totalTokenCount": total });
    let more = json!({ "provenance": "assistant_output", "model": "qwen3-coder-plus", "message": { "role": "model", "parts": parts }, "usageMetadata": usage });
    let window = window.map_or(json!({}), |window| json!({ "contextWindowSize": window }));
    line("a", "assistant", &extended(more, &window))
}

fn call(id: &str, name: &str, arguments: &Value) -> Value {
    json!({ "functionCall": { "id": id, "name": name, "args": arguments } })
}

fn result(id: &str, name: &str, response: &Value, execution: &str) -> String {
    let parts = json!([{ "functionResponse": { "id": id, "name": name, "response": response } }]);
    let status = if execution == "success" { "success" } else { "error" };
    let outcome = json!({ "callId": id, "status": status, "executionStatus": execution });
    line(
        "r",
        "tool_result",
        &json!({ "message": { "role": "user", "parts": parts }, "toolCallResult": outcome }),
    )
}

fn compressed(left: u64) -> String {
    let history = json!([
        { "role": "user", "parts": [{ "text": "The login page was added." }] },
        { "role": "model", "parts": [{ "text": "Got it." }, call("c", "edit", &json!({}))] },
    ]);
    let payload =
        json!({ "info": { "newTokenCount": left, "compressionStatus": 1 }, "compressedHistory": history });
    line("b", "system", &json!({ "subtype": "chat_compression", "systemPayload": payload }))
}

fn meter(lines: &[String], trace: EventTrace<'_>) -> Option<TranscriptReading> {
    let parser = Host::Qwen.parser(&MeterScan::SOUGHT);
    let mut scan = MeterScan::new(trace);
    let _ = lines.iter().rev().try_for_each(|line| scan.take_line(parser.entry(line.as_bytes()).as_ref()));
    scan.finish()
}

#[test]
fn the_chat_record_is_the_meter() {
    let read = |lines: &[String], trace| {
        meter(lines, trace).map(|found| (found.used, found.window, found.current, found.boundary))
    };
    let shell = |id: &str| json!([call(id, "run_shell_command", &json!({ "command": "ls" }))]);
    let first = [prompt("p", "Go on"), answer(&shell("c1"), 30_010, Some(1_000_000))];
    assert_eq!(read(&first, EventTrace::ToolUse("c1")), Some((30_010, Some(1_000_000), true, false)));
    let next = [&first[..], &[answer(&json!([{ "text": "done" }]), 42_010, None)]].concat();
    assert_eq!(read(&next, EventTrace::LastMessage("done".into())), Some((42_010, None, true, false)));
    assert_eq!(read(&next, EventTrace::ToolUse("c9")), Some((42_010, None, false, false)));
    let of_agent = answer(&json!([{ "text": "x" }]), 5_010, None).replacen('{', "{\"isSidechain\":true,", 1);
    assert_eq!(
        read(&[&next[..], &[of_agent]].concat(), EventTrace::None),
        Some((42_010, None, false, false))
    );
    let boundary = [&next[..], &[compressed(9000)]].concat();
    assert_eq!(read(&boundary, EventTrace::None), Some((9000, None, false, true)));
    for nothing in
        [vec![], vec![prompt("p", "x")], vec![line("a", "assistant", &json!({ "usageMetadata": [] }))]]
    {
        assert_eq!(read(&nothing, EventTrace::None), None);
    }
}

#[test]
fn the_chat_record_holds_the_summary_and_what_was_kept() {
    let parser = Host::Qwen.parser(&PreservedScan::SOUGHT);
    let mut scan = PreservedScan::new(Millis(0));
    let _ = scan.take_line(parser.entry(compressed(9000).as_bytes()).as_ref());
    let found = scan.finish();
    assert_eq!(found.summary.as_deref(), Some("The login page was added."));
    assert!(found.known && found.texts == ["The login page was added.", "Got it."]);
}

#[test]
fn the_chat_record_gives_its_exchange() {
    let lines = [
        prompt("p1", "Why is the queue slow?"),
        answer(
            &json!([
                { "text": "let me think", "thought": true },
                { "text": "The cause is a lock." },
                call("c1", "run_shell_command", &json!({ "command": "make test" })),
                call("c2", "write_file", &json!({ "file_path": "/p/new.rs" })),
                call("c3", "edit", &json!({ "file_path": "/p/old.rs" })),
                call("c4", "agent", &json!({ "description": "look around" })),
            ]),
            9_000,
            None,
        ),
        result(
            "c1",
            "run_shell_command",
            &json!({ "error": report("make test", "building\nerror: no rule", "2") }),
            "error",
        ),
        result("c2", "write_file", &json!({ "output": "Created" }), "success"),
        result("c3", "edit", &json!({ "error": "REASON" }), "not_started"),
        result("c4", "agent", &json!({ "output": "two callers" }), "success"),
        line(
            "n",
            "user",
            &json!({ "subtype": "notification", "provenance": "system", "message": { "parts": [{ "text": "<task-notification>" }] } }),
        ),
        answer(&json!([{ "text": "Fixed." }]), 9_500, None),
    ];
    let parser = Host::Qwen.parser(&RelayExtract::SOUGHT);
    let mut extract = RelayExtract::new(None);
    for line in &lines {
        if let Some(entry) = parser.entry(line.as_bytes()) {
            extract.entry(&entry);
        }
    }
    let relay = extract.finish().unwrap();
    assert_eq!((relay.uid.as_str(), relay.prompt.as_str()), ("p1", "Why is the queue slow?"));
    assert_eq!(
        said::join(&relay.said),
        "The cause is a lock.\n\nFailed: make test: error: no rule\n\nAgent: look around: two callers\n\nFixed."
    );
    assert_eq!(relay.files, ["/p/new.rs"]);
    let first = parser.entry(lines[0].as_bytes()).unwrap();
    let origin = Host::Qwen.origin(&first).unwrap();
    assert_eq!((origin.session.as_deref(), origin.folder.as_deref()), (Some("s1"), Some("/p/shop")));
    assert_eq!(first.branch.as_deref(), Some("feat/x"));
    for line in &lines[..4] {
        assert!(Host::Qwen.wrote(line.as_bytes()), "{line}");
    }
    let of_claude =
        r#"{"type":"user","uuid":"u","sessionId":"s","message":{"role":"user","content":"hello"}}"#;
    assert!(!Host::Qwen.wrote(of_claude.as_bytes()));
}

/// Payloads of other hosts, shortened.
fn foreign() -> Vec<Value> {
    vec![
        json!({ "hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Edit", "tool_input": { "path": "/p/a.rs" } }),
        json!({ "hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Write", "tool_input": { "file_path": "/p/a.rs" } }),
        json!({ "hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "apply_patch", "tool_input": { "command": "*** Begin Patch\n*** Add File: a\n" } }),
        json!({ "hook_event_name": "PostToolUse", "session_id": "s", "tool_name": "Bash", "tool_input": { "command": "npm test" }, "tool_response": { "stdout": "x" } }),
        json!({ "hook_event_name": "PostToolUse", "session_id": "s", "tool_name": "run_shell_command", "tool_input": { "command": "npm test" }, "tool_response": "passed" }),
        json!({ "hook_event_name": "BeforeTool", "session_id": "s", "tool_name": "replace", "tool_input": { "file_path": "a" } }),
        json!({ "sessionId": "s", "toolName": "edit", "toolArgs": {} }),
    ]
}

/// Nothing of a foreign payload is taken for an edit or for evidence.
#[test]
fn payloads_of_other_hosts_are_no_edits_and_prove_nothing() {
    for payload in foreign() {
        let text = payload.to_string();
        if let Ok(event) = Host::Qwen.read(text.as_bytes(), None) {
            assert!(event.edit_paths().is_none(), "{text}");
            assert!(event.finished_command().is_none_or(|command| command.exit == Exit::Unknown), "{text}");
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
        Just(json!({ "llmContent": { "file_path": [] } })),
    ]
}

fn is_editor(payload: &Value) -> bool {
    ["edit", "write_file", "notebook_edit"].iter().any(|name| payload["tool_name"] == *name)
}

proptest! {
    #[test]
    fn a_payload_that_was_cut_is_refused(which in 0usize..18, at in 0.0f64..1.0) {
        let text = payloads()[which].to_string();
        let cut = ((text.len() as f64) * at) as usize;
        let read = Host::Qwen.read(&text.as_bytes()[..cut], Some(EventKind::PreToolUse));
        prop_assert!(read.is_err());
    }

    #[test]
    fn a_member_of_another_type_is_no_edit_and_no_evidence(
        which in 0usize..18, member in any::<prop::sample::Index>(), with in value(), nested in 0usize..3,
    ) {
        let mut payload = payloads()[which].clone();
        let is_edit = is_editor(&payload);
        let is_evidence = payload["hook_event_name"] == "PostToolUse" && payload["tool_name"] == "run_shell_command";
        let before = payload["tool_response"]["llmContent"].clone();
        {
            let inner = ["", "tool_input", "tool_response"][nested];
            let members = match payload.get_mut(inner) {
                Some(inner) => inner.as_object_mut().expect("an object"),
                None => payload.as_object_mut().expect("an object"),
            };
            if members.is_empty() { return Ok(()) }
            let name = members.keys().nth(member.index(members.len())).expect("a member").clone();
            members.insert(name, with);
        }
        let text = payload.to_string();
        let Ok(event) = Host::Qwen.read(text.as_bytes(), None) else { return Ok(()) };
        let is_unchanged = is_evidence && payload["tool_response"]["llmContent"] == before;
        prop_assert!(is_unchanged || event.finished_command().is_none_or(|it| it.exit != Exit::Known(0)), "{}", text);
        if !is_edit {
            prop_assert!(event.edit_paths().is_none());
        }
        // A call of a tool that edits is judged, or the gate says that it could not.
        if is_edit && is_editor(&payload) {
            match event.edit_paths() {
                Some(Ok(paths)) => prop_assert!(!paths.is_empty()),
                Some(Err(_)) => prop_assert!(check_members(&event).is_err() || event.kind != EventKind::PreToolUse),
                None => prop_assert!(false, "{}", text),
            }
        }
        if let Action::Skill { name: Some(name), .. } = &event.action {
            prop_assert!(!name.is_empty());
        }
    }

    #[test]
    fn a_damaged_chat_record_is_read(which in 0usize..4, at in 0.0f64..1.0) {
        let shell = json!([call("c1", "run_shell_command", &json!({ "command": "ls" }))]);
        let lines = [prompt("p", "x"), answer(&shell, 30_010, Some(1)), compressed(5), result("c", "edit", &json!({ "output": "x" }), "success")];
        let text = &lines[which];
        let cut = ((text.len() as f64) * at) as usize;
        let torn = String::from_utf8_lossy(&text.as_bytes()[..cut]).into_owned();
        prop_assert!(Host::Qwen.parser(&[] as &[Sought]).entry(torn.as_bytes()).is_none());
        prop_assert!(!Host::Qwen.wrote(torn.as_bytes()));
    }
}
