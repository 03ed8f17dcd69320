//! Every kind of secret, wherever a conversation can hold one: none reaches the store, its copies, an export or the journal.

use std::fs;
use std::path::Path;

use serde_json::json;
use tidegate_core::feature::memory::job::{
    AnswerDigest, Job, JobCause, RelayProject, TranscriptPart, VERSION, Work,
};
use tidegate_core::text::fnv;
use tidegate_core::time::Millis;
use tidegate_state::clock;
use tidegate_state::feature::memory::spool;
use tidegate_state::place::{PlaceEnv, StateDir};

use crate::sandbox::Sandbox;

#[path = "../../../core/tests/redact/table.rs"]
mod table;

/// A row of a table of what is taken out.
struct Row {
    number: usize,
    text: String,
    /// What is left.
    result: String,
    /// What is taken out.
    secrets: Vec<String>,
}

fn rows() -> Vec<Row> {
    let taken = table::rows().into_iter().filter(|(_, cells)| cells.len() == 3);
    taken
        .map(|(number, cells)| {
            let [_, text, result] = cells.try_into().expect("three cells");
            let secrets = secrets(&text, &result);
            assert!(!secrets.is_empty(), "redact.md:{number}");
            Row { number, text, result, secrets }
        })
        .collect()
}

/// What stands in the text where the result has markers.
fn secrets(text: &str, result: &str) -> Vec<String> {
    let mut left =
        result.split('⟦').map(|part| part.split_once('⟧').map_or(part, |(_, rest)| rest)).peekable();
    let mut rest =
        text.strip_prefix(left.next().unwrap_or_default()).expect("what is left stands in the text");
    let mut secrets = Vec::new();
    while let Some(part) = left.next() {
        let end =
            if left.peek().is_none() { rest.len() - part.len() } else { rest.find(part).expect("it, too") };
        secrets.push(rest[..end].to_owned());
        rest = &rest[end + part.len()..];
    }
    secrets
}

/// Pieces by which a secret is known in any file: long enough, and in nothing that is left of any row.
fn pieces(rows: &[Row]) -> Vec<(usize, String)> {
    // As it stands in a path, and in JSON.
    let left: Vec<String> =
        rows.iter().map(|row| json!(format!("/src/{}", row.result)).to_string()).collect();
    let left = left
        .join(
            "
",
        )
        .to_ascii_lowercase();
    let mut pieces = Vec::new();
    for row in rows {
        for secret in &row.secrets {
            let secret = secret.to_ascii_lowercase();
            let parts =
                secret.split(|c: char| c.is_whitespace() || matches!(c, '\\' | '"' | '\'' | '<' | '>'));
            let known = parts.filter(|part| part.len() >= 6 && !left.contains(part));
            pieces.extend(known.map(|part| (row.number, part.to_owned())));
        }
    }
    pieces
}

fn transcript(row: &Row) -> String {
    let (text, uid) = (&row.text, format!("row-{}", row.number));
    let at = |second: u32| format!("2026-11-15T11:51:{second:02}.000Z");
    // A row of a table, or a list, is one only where its line begins, and digits behind a slash are an id.
    let is_no_name = text.starts_with(|c: char| c == '|' || c.is_ascii_digit()) || text.contains('\n');
    let path = if is_no_name { "/src/table".to_owned() } else { format!("/src/{text}") };
    let calls = json!([
        { "type": "tool_use", "id": "a", "name": "Write", "input": { "file_path": path, "content": text } },
        { "type": "tool_use", "id": "b", "name": "Bash", "input": { "command": text } },
        { "type": "text", "text": format!("On the way:\n{text}") },
    ]);
    let results = json!([
        { "type": "tool_result", "tool_use_id": "a", "content": text },
        { "type": "tool_result", "tool_use_id": "b", "content": [{ "type": "text", "text": text }] },
    ]);
    let lines = [
        json!({ "type": "user", "uuid": uid, "timestamp": at(1), "turnOrigin": "human", "gitBranch": text,
            "message": { "content": text } }),
        json!({ "type": "assistant", "timestamp": at(2), "message": { "id": "m1", "content": calls } }),
        json!({ "type": "user", "uuid": format!("{uid}-r"), "timestamp": at(3), "toolUseResult": { "stdout": text },
            "message": { "content": results } }),
        json!({ "type": "assistant", "timestamp": at(4),
            "message": { "id": "m2", "content": [{ "type": "text", "text": text }] } }),
    ];
    lines.map(|line| line.to_string() + "\n").concat()
}

fn job(sandbox: &Sandbox, state: &StateDir, row: &Row) {
    let path = sandbox.path().join(format!("{}.jsonl", row.number));
    let text = transcript(row);
    fs::write(&path, &text).expect("a transcript");
    let root = sandbox.project().to_string_lossy().into_owned();
    let part = TranscriptPart {
        transcript: path.to_string_lossy().into_owned(),
        from: 0,
        to: text.len() as u64,
        because: JobCause::Stop,
        answer: Some(AnswerDigest { bytes: row.text.len() as u64, hash: fnv::hash(row.text.bytes()) }),
        topic: None,
        passed: None,
        project: RelayProject { key: root.clone(), name: "project".to_owned(), root, branch: None },
        lang: None,
    };
    // A minute ago: nothing more is waited for.
    let at = Millis(clock::now().0 - 60_000);
    let session = format!("session-{}", row.number);
    spool::put(state, &Job { v: VERSION, at, session, work: Work::Relays(part) }).expect("a job");
}

/// All files below a folder, as small letters.
fn files(folder: &Path, found: &mut Vec<(String, Vec<u8>)>) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            files(&path, found);
        } else {
            let bytes = fs::read(&path).expect("a file").to_ascii_lowercase();
            found.push((path.to_string_lossy().into_owned(), bytes));
        }
    }
}

#[test]
fn no_secret_of_a_conversation_is_in_what_is_kept() {
    let rows = rows();
    let pieces = pieces(&rows);
    let known: Vec<usize> = pieces.iter().map(|(number, _)| *number).collect();
    let told = rows.iter().filter(|row| known.contains(&row.number)).count();
    assert!(
        told > 150 && told * 10 > rows.len() * 8,
        "{told} of {} rows have a piece to look for",
        rows.len()
    );

    let sandbox = Sandbox::new();
    let env = PlaceEnv { state_dir: Some(sandbox.state()), ..PlaceEnv::default() };
    let state = StateDir::open(&env).expect("a state directory");
    for row in &rows {
        job(&sandbox, &state, row);
        let payload = json!({
            "session_id": format!("session-{}", row.number), "hook_event_name": "PostToolUse",
            "cwd": sandbox.project(), "tool_name": "Skill", "tool_input": { "skill": row.text },
            "tool_response": { "stdout": row.text },
        });
        sandbox.event(&payload).silent();
    }
    let ran = sandbox.run(&["worker", "--once", "--json"]);
    assert_eq!(ran.code, Some(0), "{} {}", ran.stdout, ran.stderr);
    assert!(spool::list(&state).expect("a spool").is_empty());
    let backup = sandbox.run(&["memory", "backup"]);
    assert_eq!(backup.code, Some(0), "{} {}", backup.stdout, backup.stderr);
    let export = sandbox.run(&["memory", "export"]);
    assert_eq!(export.code, Some(0), "{}", export.stderr);
    let logs = export.stdout.lines().filter(|line| line.contains("\"uid\":\"row-")).count();
    assert_eq!(logs, rows.len(), "a log for every row");

    let mut kept = vec![("the export".to_owned(), export.stdout.to_ascii_lowercase().into_bytes())];
    files(&sandbox.home().join(".local/share/tidegate"), &mut kept);
    files(&sandbox.state().join("journal"), &mut kept);
    // What is left of the texts is there to be found: in the store, a copy of it, the export and the journal.
    for place in ["memory.db", "backups/", "the export", "/journal/"] {
        let holds = |(name, bytes): &(String, Vec<u8>)| {
            name.contains(place) && contains(bytes, "[redacted:planetscale_token]")
        };
        assert!(
            kept.iter().any(holds),
            "{place}: {:?}",
            kept.iter().map(|(name, _)| name).collect::<Vec<_>>()
        );
    }
    let mut leaks: Vec<String> = Vec::new();
    for (name, bytes) in &kept {
        let leaked = pieces.iter().filter(|(_, piece)| contains(bytes, piece));
        leaks.extend(leaked.map(|(number, piece)| format!("redact.md:{number}: {piece} in {name}")));
    }
    assert!(leaks.is_empty(), "{leaks:#?}");
}

fn contains(bytes: &[u8], text: &str) -> bool {
    tidegate_core::text::search::find(bytes, text.as_bytes()).is_some()
}
