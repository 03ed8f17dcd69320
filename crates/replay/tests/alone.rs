//! What a replay says of a session, whatever else is replayed with it.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use serde_json::{Value, json};
use tidegate_core::feature::config::Config;
use tidegate_replay::folder::replay_files;
use tidegate_replay::report::ReplayReport;
use tidegate_state::feature::memory::transcript_files;

/// Entries of Claude Code in one project, a second apart.
fn write(folder: &Path, name: &str, entries: &[Value]) {
    let line = |(at, entry): (usize, &Value)| {
        let mut entry = entry.clone();
        entry["timestamp"] = json!(format!("2026-01-01T10:00:{at:02}.000Z"));
        entry["cwd"] = json!("/w/shop");
        entry["sessionId"] = json!("s1");
        entry["uuid"] = json!(format!("{name}-{at}"));
        format!("{entry}\n")
    };
    let text: String = entries.iter().enumerate().map(line).collect();
    fs::write(folder.join(name), text).expect("a fixture");
}

fn call(id: &str, tool: &str, input: &Value) -> Value {
    let block = json!({"type": "tool_use", "id": id, "name": tool, "input": input});
    json!({"type": "assistant", "message": {"content": [block]}})
}

#[expect(clippy::needless_pass_by_value, reason = "callers write `json!` in place")]
fn result(id: &str, output: &str, result: Value) -> Value {
    let block = json!({"type": "tool_result", "tool_use_id": id, "content": output});
    json!({"type": "user", "toolUseResult": result, "message": {"content": [block]}})
}

/// How many turns were verified, and why the others were not.
fn judge(folder: &Path, name: &str) -> (usize, Vec<String>) {
    let files = transcript_files::find(folder).expect("a fixture");
    let replayed =
        replay_files(&files, &Config::default(), Some(2), &|_| ControlFlow::Continue(())).expect("a fixture");
    let report = ReplayReport::of(&replayed, None);
    let verified = report.stops.verified;
    let session = report.session_list.into_iter().find(|session| session.file.ends_with(name));
    (verified, session.expect("a session").untested.into_iter().map(|stop| stop.cause).collect())
}

#[test]
fn a_verdict_rests_on_the_session_alone() {
    let prompt = json!({"type": "user", "message": {"content": "go"}});
    let says = json!({"type": "assistant", "message": {"content": [{"type": "text", "text": "Done."}]}});
    let edit = json!({"file_path": "/w/shop/src/a.js", "old_string": "a", "new_string": "b"});
    let linted = json!({"stdout": "", "stderr": "", "interrupted": false});
    let session = [
        prompt.clone(),
        call("c1", "Edit", &edit),
        result("c1", "updated", json!({"filePath": "/w/shop/src/a.js"})),
        call("c2", "Bash", &json!({"command": "npx eslint src"})),
        result("c2", "", linted),
        says.clone(),
    ];
    // Another session reads a manifest with tests, with which a linter is not enough.
    let manifest = json!({"scripts": {"test": "jest"}}).to_string();
    let file = json!({"file": {"content": manifest, "startLine": 1, "numLines": 1, "totalLines": 1}});
    let other = [
        prompt,
        call("c1", "Read", &json!({"file_path": "/w/shop/package.json"})),
        result("c1", &manifest, file),
        says,
    ];
    let folder = tempfile::tempdir().expect("a fixture");
    let name = "0d9f3c1e-1111-2222-3333-444455556666.jsonl";
    write(folder.path(), name, &session);
    let alone = judge(folder.path(), name);
    assert_eq!(alone, (1, Vec::new()));
    write(folder.path(), "1d9f3c1e-1111-2222-3333-444455556666.jsonl", &other);
    assert_eq!(judge(folder.path(), name), alone);
}
