//! Relays from transcripts of the real client, and their laws. Their tables are in `src/feature/memory/relay.md`.

use proptest::prelude::*;
use serde_json::json;
use tidegate_core::feature::memory::job::AnswerDigest;
use tidegate_core::feature::memory::relay::{Relay, RelayExtract, RelayStep};
use tidegate_core::feature::memory::said::join;
use tidegate_core::host::Host;
use tidegate_core::text::fnv;

fn extract(lines: &[&str]) -> Vec<Relay> {
    let parser = Host::ClaudeCode.parser(&RelayExtract::SOUGHT);
    let mut extract = RelayExtract::new(None);
    let mut relays: Vec<Relay> = Vec::new();
    for entry in lines.iter().filter_map(|line| parser.entry(line.as_bytes())) {
        if let RelayStep::Begins(Some(relay)) = extract.entry(&entry) {
            relays.push(*relay);
        }
    }
    relays.extend(extract.finish());
    relays
}

fn fixture(name: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../cli/tests/fixtures/claude-code-2.1.325/transcript");
    std::fs::read_to_string(format!("{folder}/{name}.jsonl")).expect("a transcript of relays")
}

/// Prompt, answer and tools of every relay.
fn of_client(name: &str) -> Vec<String> {
    let text = fixture(name);
    let relays = extract(&text.lines().collect::<Vec<_>>());
    for relay in &relays {
        assert!(relay.uid.len() == 36 && relay.at.0 > 0 && relay.ended >= relay.at, "{relay:?}");
        assert!(relay.session.is_some());
    }
    let first = |text: &str| text.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
    let line = |relay: &Relay| {
        let tools: Vec<String> = relay.tools.iter().map(|(name, count)| format!("{name} {count}")).collect();
        let mut line = format!(
            "{} > {} [{}]",
            relay.prompt.replace('\n', "⏎").chars().take(24).collect::<String>(),
            first(&relay.answer),
            tools.join(", ")
        );
        for (flag, word) in [
            (relay.interrupted, "interrupted"),
            (relay.failed.is_some(), "failed"),
            (relay.compacted, "compacted"),
        ] {
            if flag {
                line = format!("{line} {word}");
            }
        }
        line
    };
    relays.iter().map(line).collect()
}

#[test]
fn transcripts_of_the_client() {
    for (name, relays) in [
        (
            "interactive-manual-compact",
            vec![
                "hello one > first answer []",
                "hello two > second answer [Bash 1] compacted",
                "hello three > third []",
            ],
        ),
        ("parallel-tools", vec!["hello there > All done. [Bash 2, Read 1]"]),
        ("api-error", vec!["hello >  [] failed"]),
        ("subagent", vec![]),
        ("interactive-queued-mid-turn", vec!["start work⏎⏎approve ABCD > end queue [Bash 2]"]),
        (
            "interactive-queued-next-turn",
            vec!["start slow > slow answer []", "approve ABCD > second answer []"],
        ),
        ("interactive-cron", vec!["schedule > The script [CronCreate 1, ScheduleWakeup 1]"]),
        (
            "interactive-ask",
            vec![
                "ask one > end one [AskUserQuestion 1]",
                "ask two > end two [AskUserQuestion 1]",
                "ask three > end three [AskUserQuestion 1]",
                "ask four >  [AskUserQuestion 1] interrupted",
            ],
        ),
        ("interactive-resumed-by-child", vec!["run nested >  [Bash 1]", "approve ABCD > answer b []"]),
        (
            "interactive-summarize-from-here",
            vec![
                "first > answer-one []",
                "second > answer-two []",
                "third > answer-three [] compacted",
                "second > answer-four []",
                "fifth > answer-five []",
            ],
        ),
    ] {
        assert_eq!(of_client(name), relays, "{name}");
    }
    assert_eq!(of_client("headless-auto-compact").len(), 6);
    let mid = of_client("headless-auto-compact-mid-turn");
    assert!(
        mid.iter().any(|line| line.contains("after compaction") && line.ends_with("compacted")),
        "{mid:?}"
    );
}

fn user(uuid: &str, second: u32, text: &str) -> String {
    serde_json::json!({
        "type": "user", "uuid": uuid, "timestamp": format!("2026-11-15T11:51:{second:02}.000Z"), "sessionId": "s",
        "gitBranch": "main", "turnOrigin": "human", "message": {"role": "user", "content": text},
    })
    .to_string()
}

fn answer(second: u32, id: &str, block: &serde_json::Value) -> String {
    serde_json::json!({
        "type": "assistant", "timestamp": format!("2026-11-15T11:51:{second:02}.000Z"),
        "message": {"id": id, "model": "claude-opus-5-5", "content": [block]},
    })
    .to_string()
}

fn text(second: u32, id: &str, text: &str) -> String {
    answer(second, id, &serde_json::json!({"type": "text", "text": text}))
}

fn write(id: &str, tool: &str, path: &str) -> String {
    answer(
        2,
        "m",
        &serde_json::json!({"type": "tool_use", "id": id, "name": tool, "input": {"file_path": path}}),
    )
}

fn result(id: &str, failed: bool) -> String {
    serde_json::json!({
        "type": "user", "uuid": "r", "toolUseResult": {},
        "message": {"content": [{"type": "tool_result", "tool_use_id": id, "content": "x", "is_error": failed}]},
    })
    .to_string()
}

#[test]
fn files_that_were_written() {
    let lines = [
        user("u", 1, "go"),
        write("1", "Write", "/p/a"),
        result("1", false),
        write("2", "Edit", "/p/b"),
        result("2", true),
        write("3", "Read", "/p/c"),
        write("4", "Edit", "/p/d"),
        write("5", "Edit", "/p/a"),
    ];
    let relays = extract(&lines.each_ref().map(String::as_str));
    assert_eq!(relays[0].files, ["/p/d", "/p/a"]);
    assert_eq!(relays[0].tools.get("Edit"), Some(&3));
    let many: Vec<String> = std::iter::once(user("u", 1, "go"))
        .chain((0..5000).map(|n| write(&n.to_string(), "Edit", &format!("/p/{n}"))))
        .collect();
    let relays = extract(&many.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!((relays[0].files.len(), relays[0].files[99].as_str()), (100, "/p/4999"));
}

#[test]
fn the_last_text_that_says_something_is_the_answer() {
    let tag = "<!-- [meta] project: p (id: 1) | topic: t (id: 2) -->";
    let lines = [
        user("u", 1, "go"),
        text(2, "m1", "let me see"),
        answer(3, "m1", &serde_json::json!({"type": "thinking", "thinking": "hm"})),
        text(4, "m2", "done"),
        text(4, "m2", "and more"),
        r#"{"type":"user","message":{"content":"Stop hook feedback:\nno tag"}}"#.to_owned(),
        text(5, "m3", tag),
    ];
    let relay = extract(&lines.each_ref().map(String::as_str)).pop().unwrap();
    assert_eq!(relay.answer, "done\n\nand more");
    assert_eq!(join(&relay.said), "let me see\n\ndone\n\nand more");
    assert_eq!(relay.tag.map(|tag| tag.topic.id), Some(2));
    assert_eq!(relay.ended.since(relay.at), 4000);
    assert_eq!((relay.session.as_deref(), relay.branch.as_deref()), (Some("s"), Some("main")));
}

fn call(id: &str, tool: &str, input: &serde_json::Value) -> String {
    answer(2, id, &json!({"type": "tool_use", "id": id, "name": tool, "input": input}))
}

fn returned(id: &str, failed: bool, content: &serde_json::Value, output: &serde_json::Value) -> String {
    json!({
        "type": "user", "uuid": "r", "toolUseResult": output,
        "message": {"content": [{"type": "tool_result", "tool_use_id": id, "content": content, "is_error": failed}]},
    })
    .to_string()
}

#[test]
fn everything_that_was_said_is_kept_in_order() {
    let question = json!({"questions": [{"question": "Which queue?"}], "answers": {"Which queue?": "SQS"}});
    let notified = "<task-notification>\n<task-id>a</task-id>\n<summary>Agent \"d\" finished</summary>\n\
                    <result>No caller is left.</result>\n</task-notification>";
    let lines = [
        user("u", 1, "why do logins fail?"),
        text(2, "m1", "The root cause is kestrel."),
        call("1", "Bash", &json!({"command": "cargo test\n  --all"})),
        returned(
            "1",
            true,
            &json!("Exit code 101\n   Compiling shop\nerror[E0308]: mismatched types"),
            &json!("Error: Exit code 101"),
        ),
        call("2", "AskUserQuestion", &json!({"questions": [{"question": "Which queue?"}]})),
        returned("2", false, &json!("User has answered your questions: …"), &question),
        call("3", "Agent", &json!({"description": "Look for callers", "prompt": "long"})),
        returned("3", false, &json!([{"type": "text", "text": "Two callers in src/a.rs."}]), &json!({})),
        call("4", "Agent", &json!({"description": "Again"})),
        returned(
            "4",
            false,
            &json!([{"type": "text", "text": "Async agent launched successfully."}]),
            &json!({"isAsync": true}),
        ),
        json!({"type": "user", "promptSource": "system", "turnOrigin": "task_notification",
               "message": {"content": notified}})
        .to_string(),
        call("5", "Bash", &json!({"command": "rm -rf /"})),
        returned("5", true, &json!("Permission to use Bash has been denied."), &json!("Error: denied")),
        call("6", "Read", &json!({"file_path": "/etc/passwd"})),
        returned("6", false, &json!("root:x:0:0"), &json!({"file": {}})),
        text(9, "m2", "All done."),
    ];
    let relay = extract(&lines.each_ref().map(String::as_str)).pop().unwrap();
    assert_eq!(
        join(&relay.said),
        "The root cause is kestrel.\n\n\
         Failed: cargo test --all: error[E0308]: mismatched types\n\n\
         Q: Which queue?\nA: SQS\n\n\
         Agent: Look for callers: Two callers in src/a.rs.\n\n\
         Agent: No caller is left.\n\n\
         All done."
    );
}

#[test]
fn an_answer_that_a_hook_gave_is_not_a_persons() {
    let asked = call("1", "AskUserQuestion", &json!({"questions": [{"question": "Which queue?"}]}));
    let given = |decision: serde_json::Value| {
        let output = json!({"questions": [], "answers": {"Which queue?": "SQS"}});
        let mut line: serde_json::Value =
            serde_json::from_str(&returned("1", false, &json!("x"), &output)).unwrap();
        line["permissionDecision"] = decision;
        extract(&[&user("u", 1, "go"), &asked, &line.to_string()]).pop().unwrap().said.len()
    };
    assert_eq!(given(json!({"source": "user"})), 1);
    assert_eq!(given(json!({"source": "hook"})), 0);
}

/// Clients that do not say who decided write down what hooks answered.
#[test]
fn an_answer_to_a_question_that_a_hook_rewrote_is_not_a_persons() {
    let asked = call("1", "AskUserQuestion", &json!({"questions": [{"question": "Which queue?"}]}));
    let output = json!({"questions": [], "answers": {"Which queue?": "SQS"}});
    let given = returned("1", false, &json!("x"), &output);
    let hook = |event: &str, call: &str| {
        json!({"type": "attachment", "attachment": {"type": "hook_success", "hookEvent": event, "toolUseID": call,
               "stdout": "{\"hookSpecificOutput\":{\"updatedInput\":{\"answers\":{}}}}"}})
        .to_string()
    };
    let answered = |lines: &[&str]| {
        let start = user("u", 1, "go");
        let lines: Vec<&str> = [start.as_str(), &asked].into_iter().chain(lines.iter().copied()).collect();
        extract(&lines).pop().unwrap().answered.len()
    };
    for event in ["PreToolUse", "PermissionRequest"] {
        assert_eq!(answered(&[&hook(event, "1"), &given]), 0, "{event}");
        assert_eq!(answered(&[&given, &hook(event, "1")]), 0, "{event}, written later");
    }
    assert_eq!(answered(&[&hook("PreToolUse", "2"), &given]), 1, "another call");
    assert_eq!(answered(&[&hook("PostToolUse", "1"), &given]), 1, "too late to answer");
}

/// An agent in the background that ends while the model works.
#[test]
fn a_conclusion_that_comes_meanwhile_is_kept() {
    let notified = "<task-notification>\n<task-id>a</task-id>\n<result>The bittern module leaks.</result>\n</task-notification>";
    for mode in [json!("task-notification"), json!("prompt"), json!(null)] {
        let queued = json!({"type": "attachment", "attachment": {"type": "queued_command", "prompt": notified, "commandMode": mode}});
        let lines = [user("u", 1, "go"), queued.to_string(), text(2, "m1", "Done.")];
        let relay = extract(&lines.each_ref().map(String::as_str)).pop().unwrap();
        assert_eq!(
            (relay.prompt.as_str(), join(&relay.said)),
            ("go", "Agent: The bittern module leaks.\n\nDone.".to_owned())
        );
    }
}

#[test]
fn a_question_in_a_dialog_of_the_client_is_kept_with_its_answer() {
    let text = fixture("interactive-ask");
    let relays = extract(&text.lines().collect::<Vec<_>>());
    let answered: Vec<usize> = relays.iter().map(|relay| relay.answered.len()).collect();
    assert_eq!(answered, [1, 1, 1, 0], "the last was refused");
}

#[test]
fn an_answer_is_recognised_by_its_text() {
    let expected = |text: &str| AnswerDigest { bytes: text.len() as u64, hash: fnv::hash(text.bytes()) };
    let seen = |lines: &[String], told: &str| {
        let parser = Host::ClaudeCode.parser(&RelayExtract::SOUGHT);
        let mut extract = RelayExtract::new(Some(expected(told)));
        for entry in lines.iter().filter_map(|line| parser.entry(line.as_bytes())) {
            extract.entry(&entry);
        }
        extract.answered()
    };
    let lines = [user("u", 1, "go"), text(2, "m1", "first"), text(2, "m1", "second\n")];
    for told in ["second\n", "second", "firstsecond\n", "first\nsecond", "first\n\nsecond\n"] {
        assert!(seen(&lines, told), "{told:?}");
    }
    assert!(!seen(&lines, "third") && !seen(&lines[..1], "first"));
    let again = [lines.as_slice(), &[user("v", 3, "again")]].concat();
    assert!(!seen(&again, "second"), "another relay's");
}

#[test]
fn a_relay_of_any_length_is_small() {
    let parser = Host::ClaudeCode.parser(&[]);
    let mut extract = RelayExtract::new(None);
    let mut take = |line: String| extract.entry(&parser.entry(line.as_bytes()).expect("an entry"));
    take(user("u", 1, &"prompt ".repeat(100_000)));
    for n in 0..2000 {
        take(text(2, &n.to_string(), &"words ".repeat(2000)));
    }
    let relay = extract.finish().unwrap();
    let length = relay.prompt.len() + relay.answer.len() + join(&relay.said).len();
    assert!(length < 40_000, "{length}");
    assert!(relay.prompt.contains("\n…\n"));
}

#[test]
fn secrets_are_gone_before_anything_is_cut() {
    let key = format!(
        "-----BEGIN RSA PRIVATE KEY-----\n{}-----END RSA PRIVATE KEY-----",
        "QUJDREVGR0hJSktM\n".repeat(900)
    );
    let prompt = format!("use this\n{key}\n<private>{}</private> thanks", "hidden ".repeat(3000));
    let answers = [
        text(2, "m", "password=hunter2hunter2"),
        text(3, "n", "token ghp_abcdefghijklmnopqrstuvwxyz0123456789"),
    ];
    let relay = extract(&[&user("u", 1, &prompt), &answers[0], &answers[1]]).pop().unwrap();
    assert!(!relay.prompt.contains("QUJD") && !relay.prompt.contains("hidden"), "{}", relay.prompt);
    assert!(relay.prompt.starts_with("use this") && relay.prompt.ends_with("thanks"), "{}", relay.prompt);
    assert!(!relay.answer.contains("ghp_a") && !join(&relay.said).contains("hunter2"));
    assert_eq!(relay.redacted.total(), 4, "{:?}", relay.redacted);
}

#[test]
fn secrets_are_gone_from_the_names_of_branch_and_files() {
    let token = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
    let prompt = json!({
        "type": "user", "uuid": "u", "timestamp": "2026-11-15T12:00:01Z", "turnOrigin": "human",
        "gitBranch": format!("try/{token}"), "message": {"role": "user", "content": "go"},
    });
    let write = |path: &str| {
        let call = json!({"type": "tool_use", "id": path, "name": "Write", "input": {"file_path": path}});
        json!({"type": "assistant", "message": {"id": path, "model": "m", "content": [call]}}).to_string()
    };
    // Cut after 1024 bytes, what is left of the second would be no token any more.
    let long = format!("/{}/{token}", "a".repeat(1024 - 14));
    let lines = [prompt.to_string(), write(&format!("/src/{token}.rs")), write(&long), write(&long)];
    let relay = extract(&lines.each_ref().map(String::as_str)).pop().unwrap();
    assert_eq!(relay.branch.as_deref(), Some("try/[redacted:github_token]"));
    assert_eq!(relay.files[0], "/src/[redacted:github_token].rs");
    assert_eq!((relay.files.len(), relay.files[1].contains("ghp_")), (2, false), "{}", relay.files[1]);
    assert_eq!(relay.redacted.total(), 3, "{:?}", relay.redacted);
}

proptest! {
    /// Odd, torn and unknown lines cost nothing but themselves.
    #[test]
    fn lines_in_between_do_not_matter(
        torn in 1_usize..200,
        odd in prop_oneof![
            Just("{\"type\":\"api-request-blob\",\"message\":\"\\\"user\\\"\"}".to_owned()),
            Just("{\"type\":\"brand-new\",\"user\":[1,2,{}]}".to_owned()),
            Just("{\"type\":\"user\"}".to_owned()),
            Just("{\"type\":\"assistant\",\"message\":{\"content\":\"user\"}}".to_owned()),
            Just("{\"type\":\"assistant\",\"isSidechain\":true,\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"side\"}]}}".to_owned()),
            "\\PC{0,40}",
        ],
    ) {
        let whole = [user("u", 1, "go"), text(2, "m", "done"), user("v", 3, "more"), text(4, "n", "done too")];
        let torn = &whole[3][..whole[3].len().min(torn)];
        let clean = extract(&whole.each_ref().map(String::as_str));
        let mut lines: Vec<&str> = Vec::new();
        for line in &whole {
            lines.extend([odd.as_str(), line.as_str()]);
        }
        if torn.len() < whole[3].len() {
            lines.push(torn);
        }
        prop_assert_eq!(extract(&lines), clean);
    }
}
