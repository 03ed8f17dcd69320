//! opencode: the payloads and answers of Tidegate's plugin for it.

use proptest::prelude::*;
use serde_json::{Value, json};
use tidegate_core::event::action::Exit;
use tidegate_core::event::prompt::Author;
use tidegate_core::event::{Event, EventKind, FailedStep, Start, Thread};
use tidegate_core::host::Host;
use tidegate_core::host::answer::{Answer, Call};
use tidegate_core::host::window::HostSettings;
use tidegate_core::pipeline::gate::check_members;

const PATCH: &str =
    "*** Begin Patch\n*** Add File: src/b.ts\n+x\n*** Update File: src/a.ts\n@@\n-1\n+2\n*** End Patch\n";

fn extended(mut all: Value, more: &Value) -> Value {
    let members = more.as_object().expect("an object").clone();
    all.as_object_mut().expect("an object").extend(members);
    all
}

fn payload(event: &str, more: &Value) -> Value {
    let all = json!({ "opencode": 1, "hook_event_name": event, "session_id": "ses_e0e92eecbffe", "cwd": "/home/u/proj" });
    extended(all, more)
}

fn tool(event: &str, name: &str, input: &Value, more: &Value) -> Value {
    let members = json!({ "tool_name": name, "tool_input": input, "call_id": "call_1" });
    payload(event, &extended(members, more))
}

fn payloads() -> Vec<Value> {
    let none = json!({});
    let write = json!({ "filePath": "/home/u/proj/b.ts", "content": "x" });
    let command = json!({ "command": "npm test", "description": "d" });
    vec![
        payload("SessionStart", &json!({ "source": "startup" })),
        payload("UserPromptSubmit", &json!({ "prompt": "Fix it", "author": "person" })),
        tool("PreToolUse", "write", &write, &none),
        tool("PreToolUse", "apply_patch", &json!({ "patchText": PATCH }), &none),
        tool("PostToolUse", "edit", &write, &json!({ "tool_output": "Edit applied" })),
        tool("PostToolUse", "bash", &command, &json!({ "tool_output": "1 passed", "exit": 0 })),
        tool("PreToolUse", "task", &json!({ "description": "look", "subagent_type": "general" }), &none),
        tool("PostToolUse", "skill", &json!({ "name": "x" }), &json!({ "tool_output": "text" })),
        payload("PreCompact", &json!({ "trigger": "auto" })),
        payload("PostCompact", &json!({ "trigger": "auto", "summary": "in short" })),
        payload("SubagentStop", &json!({ "agent_id": "ses_child" })),
        payload(
            "Stop",
            &json!({ "last_message": "done", "held_before": false, "used": 9000, "window": 96_000 }),
        ),
    ]
}

fn with_event<T>(payload: &Value, then: impl FnOnce(Event<'_>) -> T) -> T {
    let text = payload.to_string();
    assert_eq!(Host::detect(text.as_bytes(), None, || None), Host::OpenCode, "{text}");
    then(Host::OpenCode.read(text.as_bytes(), None).expect("an event"))
}

#[test]
fn an_edit_names_its_files() {
    for name in ["edit", "write", "multiedit"] {
        with_event(&tool("PreToolUse", name, &json!({ "filePath": "/p/a.ts" }), &json!({})), |event| {
            assert_eq!(event.edit_paths().expect("an edit").expect("its path"), ["/p/a.ts"]);
        });
    }
    with_event(&tool("PreToolUse", "apply_patch", &json!({ "patchText": PATCH }), &json!({})), |event| {
        let paths = event.edit_paths().expect("an edit").expect("its paths");
        assert_eq!(paths, ["/home/u/proj/src/b.ts", "/home/u/proj/src/a.ts"]);
    });
    // A gate cannot judge these.
    for (name, input, step) in [
        ("write", json!({ "file_path": "/p/a" }), FailedStep::MemberMissing("tool_input.filePath")),
        ("write", json!({ "filePath": 7 }), FailedStep::MemberType("tool_input.filePath")),
        ("edit", json!("text"), FailedStep::MemberType("tool_input")),
        (
            "apply_patch",
            json!({ "patchText": "no patch" }),
            FailedStep::MemberMissing("a file in tool_input.patchText"),
        ),
    ] {
        with_event(&tool("PreToolUse", name, &input, &json!({})), |event| {
            assert_eq!(check_members(&event), Err(step));
        });
    }
}

#[test]
fn events_say_who_and_what() {
    let exit = |status: &Value| {
        let more = json!({ "tool_output": "x", "exit": status });
        with_event(&tool("PostToolUse", "bash", &json!({ "command": "npm test" }), &more), |event| {
            event.finished_command().expect("a command").exit
        })
    };
    assert_eq!((exit(&json!(0)), exit(&json!(3))), (Exit::Known(0), Exit::Known(3)));
    for odd in [json!(null), json!("0"), json!(0.5), json!([0])] {
        assert_eq!(exit(&odd), Exit::Unknown, "{odd}");
    }
    let prompt = |text: &str, author: &str| {
        with_event(&payload("UserPromptSubmit", &json!({ "prompt": text, "author": author })), |event| {
            event.prompt.map(|prompt| prompt.author)
        })
    };
    assert_eq!(prompt("Fix it", "person"), Some(Author::Person));
    assert_eq!(prompt("/compound", "person"), Some(Author::PersonByCommand));
    assert_eq!(prompt("Run npm test", "host"), Some(Author::Host));
    with_event(&payload("SessionStart", &json!({ "source": "startup" })), |event| {
        assert_eq!(event.start, Some(Start::Startup));
    });
    with_event(&payload("SubagentStop", &json!({ "agent_id": "ses_child" })), |event| {
        assert_ne!(event.thread, Thread::Main);
    });
    let own = tool("PostToolUse", "tidegate_search", &json!({}), &json!({}));
    with_event(&own, |event| assert_eq!(event.memory_call(), Some("search")));
    with_event(&payload("Stop", &json!({ "used": 9000, "window": 96_000 })), |event| {
        let context = event.context.expect("a meter");
        assert_eq!((context.used, context.window), (Some(9000), Some(96_000)));
    });
    let window = Host::OpenCode.window("", Some(96_000), 9000, &HostSettings::default()).expect("a window");
    assert_eq!((window.tokens, window.compact_at), (96_000, Some(96_000)));
}

/// What is recorded as said is what arrives.
#[test]
fn only_what_arrives_counts_as_said() {
    for kind in EventKind::ALL {
        let channels = Host::OpenCode.channels(*kind);
        let answer = Answer { call: Call::Pass, reason: "", context: "CONTEXT", user: "MESSAGE" };
        let stdout = Host::OpenCode.reply(*kind, &answer).stdout;
        assert_eq!(
            (stdout.contains("CONTEXT"), stdout.contains("MESSAGE")),
            (channels.context, channels.user)
        );
        for call in [Call::Ask, Call::Deny, Call::Halt] {
            let says_no =
                Host::OpenCode.reply(*kind, &Answer { call, reason: "REASON", ..Answer::default() });
            let is_delivered = Host::OpenCode.deliverable(*kind, call) == Call::Deny;
            assert_eq!(says_no.stdout.contains("REASON"), is_delivered, "{kind:?} {call:?}");
        }
    }
    // The plugin denies a call about which the program says nothing.
    let before = |call| {
        Host::OpenCode.reply(EventKind::PreToolUse, &Answer { call, reason: "REASON", ..Answer::default() })
    };
    assert_eq!(before(Call::Pass).stdout, r#"{"pass":true}"#);
    assert_eq!(before(Call::Deny).stdout, r#"{"deny":"REASON"}"#);
    assert_eq!(Host::OpenCode.refuse("could not check", "").stdout, r#"{"deny":"could not check"}"#);
}

/// For pass, ask, deny and halt.
#[test]
fn every_event_with_every_call() {
    for kind in EventKind::ALL {
        let said = [Call::Pass, Call::Ask, Call::Deny, Call::Halt].map(|call| {
            let answer = Answer { call, reason: "REASON", context: "CONTEXT", user: "MESSAGE" };
            Host::OpenCode.reply(*kind, &answer).stdout
        });
        let deny = r#"{"deny":"REASON"}"#;
        let block = r#"{"block":"REASON"}"#;
        let expected = match kind {
            EventKind::PreToolUse => [r#"{"pass":true}"#, deny, deny, deny],
            // A halt lets the turn end.
            EventKind::Stop => ["", block, block, ""],
            EventKind::SessionStart
            | EventKind::UserPromptSubmit
            | EventKind::PostToolUse
            | EventKind::PreCompact => [r#"{"context":"CONTEXT"}"#; 4],
            _ => [""; 4],
        };
        assert_eq!(said, expected, "{kind:?}");
    }
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (1i64..).prop_map(Value::from),
        "[a-z*/ \n]{0,20}".prop_map(Value::from),
        Just(json!([[], {}])),
        Just(json!({ "filePath": [] })),
    ]
}

fn is_editor(payload: &Value) -> bool {
    ["edit", "write", "apply_patch"].iter().any(|name| payload["tool_name"] == *name)
}

proptest! {
    #[test]
    fn a_payload_that_was_cut_is_refused(which in 0usize..12, at in 0.0f64..1.0) {
        let text = payloads()[which].to_string();
        let cut = ((text.len() as f64) * at) as usize;
        prop_assert!(Host::OpenCode.read(&text.as_bytes()[..cut], Some(EventKind::PreToolUse)).is_err());
    }

    #[test]
    fn a_member_of_another_type_is_no_edit_and_no_evidence(
        which in 0usize..12, member in any::<prop::sample::Index>(), with in value(), in_input: bool,
    ) {
        let mut payload = payloads()[which].clone();
        let is_edit = is_editor(&payload);
        let status = payload["exit"].clone();
        {
            let members = match payload.get_mut("tool_input").filter(|_| in_input) {
                Some(input) => input.as_object_mut().expect("an object"),
                None => payload.as_object_mut().expect("an object"),
            };
            let name = members.keys().nth(member.index(members.len())).expect("a member").clone();
            members.insert(name, with);
        }
        let text = payload.to_string();
        let Ok(event) = Host::OpenCode.read(text.as_bytes(), None) else { return Ok(()) };
        let is_known = event.finished_command().is_some_and(|command| command.exit == Exit::Known(0));
        prop_assert!(!is_known || status == json!(0) && payload["exit"] == status, "{}", text);
        prop_assert!(is_edit || event.edit_paths().is_none());
        if is_edit && is_editor(&payload) {
            match event.edit_paths() {
                Some(Ok(paths)) => prop_assert!(!paths.is_empty()),
                Some(Err(_)) => prop_assert!(check_members(&event).is_err() || event.kind != EventKind::PreToolUse),
                None => prop_assert!(false, "{}", text),
            }
        }
    }

    /// Payloads of one host read as those of another: never a panic, and nothing proves anything.
    #[test]
    fn payloads_of_other_hosts_prove_nothing(which in 0usize..12, host in 0usize..Host::ALL.len()) {
        let payload = payloads()[which].clone();
        let host = Host::ALL[host];
        let text = payload.to_string();
        if let (Ok(event), true) = (host.read(text.as_bytes(), None), host != Host::OpenCode) {
            let proves = event.finished_command().is_some_and(|command| command.exit == Exit::Known(0));
            prop_assert!(!proves, "{:?} {}", host, text);
        }
    }
}
