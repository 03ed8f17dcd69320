//! `tidegate replay` and `tidegate tune`: past sessions, before anything is installed.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

/// Lines of a transcript, a minute apart, from two hours ago on.
struct Session {
    lines: Vec<Value>,
    cwd: String,
}

impl Session {
    fn new(cwd: &Path) -> Session {
        Session { lines: Vec::new(), cwd: cwd.display().to_string() }
    }

    fn line(mut self, mut line: Value) -> Session {
        let number = self.lines.len();
        let at = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("a clock");
        let at = tidegate_core::time::Millis(at.as_millis() as u64 - 7_200_000 + 60_000 * number as u64);
        line["timestamp"] = json!(at.iso());
        line["cwd"] = json!(self.cwd);
        line["sessionId"] = json!("5e55");
        line["uuid"] = json!(format!("u{number}"));
        self.lines.push(line);
        self
    }

    fn prompt(self, text: &str) -> Session {
        self.line(json!({"type": "user", "message": {"content": text}}))
    }

    fn answer(self, used: u64, blocks: &Value) -> Session {
        let id = format!("m{}", self.lines.len());
        let message = json!({"id": id, "model": "claude-sonnet-4-5", "usage": {"input_tokens": used}, "content": blocks});
        self.line(json!({"type": "assistant", "message": message}))
    }

    fn edit(self, used: u64) -> Session {
        let path = format!("{}/src/a.rs", self.cwd);
        let input = json!({"file_path": path, "old_string": "a", "new_string": "b"});
        let call = format!("c{}", self.lines.len());
        let block = json!({"type": "tool_use", "id": call, "name": "Edit", "input": input});
        let result = json!({"type": "tool_result", "tool_use_id": call, "content": "updated"});
        let entry =
            json!({"type": "user", "toolUseResult": {"filePath": path}, "message": {"content": [result]}});
        self.answer(used, &json!([block])).line(entry)
    }

    fn text(self, used: u64, text: &str) -> Session {
        self.answer(used, &json!([{"type": "text", "text": text}]))
    }

    fn write(self, path: &Path) {
        fs::create_dir_all(path.parent().expect("a folder")).expect("new folders");
        let lines: Vec<String> = self.lines.iter().map(ToString::to_string).collect();
        fs::write(path, lines.join("\n") + "\n").expect("a transcript");
    }
}

/// A turn with an untested edit, a climb, and a compaction that loses a constraint.
fn month(sandbox: &Sandbox) {
    let meta = json!({"trigger": "auto", "preTokens": 170_000});
    Session::new(&sandbox.project())
        .prompt("Never touch the file src/old.rs in this task. \u{1b}[2J")
        .edit(60_000)
        .text(90_000, "Done.")
        .prompt("more")
        .text(125_000, "Yes.")
        .prompt("more")
        .text(155_000, "Yes.")
        .prompt("and more")
        .line(json!({"type": "system", "subtype": "compact_boundary", "compactMetadata": meta}))
        .line(json!({"type": "user", "isCompactSummary": true, "message": {"content": "Edited src/a.rs."}}))
        .text(20_000, "On it.")
        .write(&sandbox.home().join(".claude/projects/-shop/0d9f3c1e-1111-2222-3333-444455556666.jsonl"));
}

#[test]
fn the_finding_is_the_first_line_and_nothing_is_written() {
    let sandbox = Sandbox::new();
    month(&sandbox);
    fs::write(sandbox.home().join(".claude/projects/-shop/notes.jsonl"), "{\"a\":1}\n")
        .expect("another file");
    let before = sandbox.everything();
    let ran = sandbox.run(&["replay"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let first = ran.stdout.lines().take(2).collect::<Vec<_>>().join(" ");
    assert!(first.contains("last 30 days:") && first.contains("turns ended with untested code"), "{first}");
    assert!(first.contains("1 compaction, 0 without a warning"), "{first}");
    assert!(ran.stdout.contains("src/old.rs") && ran.stdout.contains(".jsonl:"), "{}", ran.stdout);
    assert!(!ran.stdout.contains('\u{1b}'));
    assert_eq!(sandbox.everything(), before);
}

#[test]
fn the_numbers_are_the_same_as_json() {
    let sandbox = Sandbox::new();
    month(&sandbox);
    let read = |more: &[&str]| -> Value {
        let mut words = vec!["replay", "--json"];
        words.extend(more);
        let ran = sandbox.run(&words);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        serde_json::from_str(&ran.stdout).expect("JSON")
    };
    let report = read(&[]);
    assert_eq!(report["compactions"]["all"], 1);
    assert_eq!(report["compactions"]["facts_lost"], 1);
    assert_eq!(report["warnings"], json!({"early": 1, "late": 1}));
    let session = &report["session_list"][0];
    assert_eq!(session["curve"].as_array().map(Vec::len), Some(5));
    assert_eq!(session["compactions"][0]["first_warning"]["turns"], 1);
    assert_eq!(session["untested"][0]["cause"], "nothing run");
    assert_eq!(read(&[])["session_list"], report["session_list"], "the same twice");
    let changed = read(&["--set", "context-warning.early=5k", "--set", "context-warning.late=4k"]);
    assert_eq!(changed["compactions"]["without_warning"], 1);
    assert_eq!(changed["unchanged"]["compactions"]["without_warning"], 0);
    assert_eq!(read(&["--preset", "observe"])["stops"]["blocked"], 0);
}

#[test]
fn errors_say_what_to_do() {
    let sandbox = Sandbox::new();
    for (words, code, says) in [
        (vec!["replay"], 1, "no sessions"),
        (vec!["replay", "missing"], 1, "cannot read missing"),
        (vec!["replay", "--set", "context-warning.late=soon"], 2, "context-warning.late=soon"),
        (vec!["tune"], 1, "no sessions"),
    ] {
        let ran = sandbox.run(&words);
        assert_eq!(ran.code, Some(code), "{words:?} {}", ran.stderr);
        assert!(ran.stderr.contains(says) && ran.stderr.contains("hint:"), "{}", ran.stderr);
    }
}

#[test]
fn tune_proposes_nothing_without_evidence() {
    let sandbox = Sandbox::new();
    month(&sandbox);
    let ran = sandbox.run(&["tune", "--apply"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.starts_with("Not enough evidence"), "{}", ran.stdout);
    assert!(!sandbox.home().join(".config/tidegate").exists());
}
