//! `tidegate handoff`, and who is told of what it wrote.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::people::{SESSION, attended, by_agent, event};
use crate::sandbox::Sandbox;

fn path(sandbox: &Sandbox, name: &str) -> PathBuf {
    sandbox.project().join(".claude/context").join(name)
}

fn text(sandbox: &Sandbox, name: &str) -> String {
    fs::read_to_string(path(sandbox, name)).unwrap_or_default()
}

fn put(sandbox: &Sandbox, name: &str, text: &str) {
    fs::create_dir_all(path(sandbox, "")).expect("a folder");
    fs::write(path(sandbox, name), text).expect("a file");
}

const PLAN: &str = "# Current Task: refresh session tokens\n\n## Constraints\n- the old endpoint stays\n\n\
    ## Remaining\n- [ ] cancel the timer\n- [ ] who rotates the key?\n";

const FLOW: &str = "# Progress\n\n## [2026-11-16T02:10:05Z] — Tokens are refreshed\n- Decision: at 80% of the lifetime\n\
    - Next: logout\n";

/// A session that edited a file.
fn at_work() -> Sandbox {
    let sandbox = attended();
    put(&sandbox, "task_plan.md", PLAN);
    put(&sandbox, "progress.md", FLOW);
    let mut edited = event(&sandbox, "PostToolUse.Write");
    edited["tool_input"]["file_path"] = json!(sandbox.project().join("src/auth.ts"));
    let _ = sandbox.event(&edited);
    sandbox
}

fn starts(sandbox: &Sandbox, session: &str, source: &str) -> Value {
    let mut payload = event(sandbox, "SessionStart.startup");
    payload["session_id"] = json!(session);
    payload["source"] = json!(source);
    let answer = sandbox.event(&payload);
    let said = sandbox.records().pop().expect("a record")["said"].clone();
    let told = |text: &Value| text.as_str().is_some_and(|text| text.contains("handoff.md"));
    assert_eq!(
        answer.context().is_some_and(|text| text.contains("handoff.md")),
        told(&said["model"]),
        "{said}"
    );
    json!({ "model": told(&said["model"]), "user": told(&said["user"]) })
}

#[test]
fn it_says_what_files_and_marks_know() {
    let sandbox = at_work();
    let _ = sandbox.new_records();
    let dry = by_agent(&sandbox, &["handoff", "--dry-run"]);
    assert!(!path(&sandbox, "handoff.md").exists());
    let written = by_agent(&sandbox, &["handoff", "--json"]).json();
    assert_eq!(written["file"], json!(path(&sandbox, "handoff.md")));
    assert_eq!(written.get("kept"), None);
    let handoff = text(&sandbox, "handoff.md");
    let body = |text: &str| text.split_once("\n\n").map(|(_, body)| body.trim_end().to_owned());
    assert_eq!(body(dry.ok()), body(&handoff));
    let (head, body) = handoff.split_once("\n\n").expect("a head");
    assert!(head.contains(&format!("# Handoff of session {SESSION}, 20")), "{head}");
    let transcript = event(&sandbox, "PostToolUse.Write")["transcript_path"].clone();
    let expected = format!(
        "## Goal\n\n- task_plan.md: refresh session tokens\n- task_plan.md, constraint: the old endpoint stays\n\n\
         ## Decisions in progress.md\n\n- at 80% of the lifetime\n\n## Edited, without a passed check since\n\n- src/auth.ts\n\n\
         ## Progress notes that are not reviewed\n\n- Tokens are refreshed\n\n## Next in progress.md\n\n- logout\n\n\
         ## Open in task_plan.md\n\n- cancel the timer\n\n## Open questions in task_plan.md\n\n- who rotates the key?\n\n\
         ## Paths\n\n- edited: src/auth.ts\n- .claude/context/task_plan.md\n- .claude/context/progress.md\n\
         - transcript: {}\n",
        transcript.as_str().expect("a path")
    );
    assert_eq!(body, expected);
    let record = sandbox.one_record();
    assert_eq!(
        (&record["event"], &record["cause"]),
        (&json!("tidegate handoff"), &json!("a handoff was written"))
    );
}

#[test]
fn a_cycle_is_part_of_it() {
    let sandbox = at_work();
    by_agent(&sandbox, &["cycle", "start", "--anyway"]).ok();
    by_agent(&sandbox, &["handoff"]).ok();
    let handoff = text(&sandbox, "handoff.md");
    let stages = "## State of the work: cycle dev-cycle, running\n\n- sprint: under way\n- audit: not begun\n\
        - ship: not begun\n- retrospective: not begun\n";
    assert!(handoff.contains(stages), "{handoff}");
    fs::write(sandbox.project().join(".claude/dev-cycle.state.json"), "{").expect("a file");
    by_agent(&sandbox, &["handoff"]).ok();
    assert!(!text(&sandbox, "handoff.md").contains("dev-cycle"), "what cannot be believed is left out");
}

/// The summary may lose the state of a cycle; without one there is no handoff.
#[test]
fn a_compaction_in_a_cycle_writes_it() {
    let sandbox = at_work();
    let _ = sandbox.event(&event(&sandbox, "PreCompact.auto"));
    assert!(!path(&sandbox, "handoff.md").exists());
    by_agent(&sandbox, &["cycle", "start", "--anyway"]).ok();
    let _ = sandbox.event(&event(&sandbox, "PreCompact.auto"));
    let handoff = text(&sandbox, "handoff.md");
    assert!(handoff.contains("- sprint: under way\n"), "{handoff}");
    let told = json!({ "model": true, "user": false });
    assert_eq!(starts(&sandbox, SESSION, "compact"), told, "the person has the work before them");
}

#[test]
fn nothing_is_made_up() {
    let sandbox = Sandbox::new();
    let refused = sandbox.run(&["handoff"]);
    assert!(refused.failed().contains("there is nothing to hand off"), "{refused:?}");
    assert!(!sandbox.project().join(".claude").exists());
    put(&sandbox, "progress.md", FLOW);
    assert!(sandbox.run(&["handoff"]).ok().starts_with("Wrote the handoff to"));
    let handoff = text(&sandbox, "handoff.md");
    for absent in ["## Goal", "## Edited", "## Open", "## Where", "session", "transcript"] {
        assert!(!handoff.contains(absent), "{absent}: {handoff}");
    }
}

#[test]
fn what_a_person_wrote_is_kept() {
    let sandbox = at_work().with("COLUMNS", "200");
    put(&sandbox, "handoff.md", "# My own notes\n");
    let first = by_agent(&sandbox, &["handoff"]);
    let kept = path(&sandbox, "handoff.kept.md");
    assert!(first.words().contains(&format!("they are kept in {}", kept.display())), "{first:?}");
    assert_eq!(fs::read_to_string(&kept).expect("it is there"), "# My own notes\n");
    let second = by_agent(&sandbox, &["handoff", "--json"]).json();
    assert_eq!(second.get("kept"), None, "ours is replaced: {second}");

    fs::remove_file(path(&sandbox, "handoff.md")).expect("it can go");
    symlink(&kept, path(&sandbox, "handoff.md")).expect("a link");
    let refused = by_agent(&sandbox, &["handoff"]);
    assert!(refused.failed().contains("was not written: it is a link"), "{refused:?}");
    assert_eq!(fs::read_to_string(&kept).expect("it is there"), "# My own notes\n");
}

#[test]
fn others_are_told_once_and_who_wrote_it_after_a_boundary() {
    let sandbox = at_work();
    by_agent(&sandbox, &["handoff"]).ok();
    let (told, silent) = (json!({ "model": true, "user": true }), json!({ "model": false, "user": false }));
    assert_eq!(starts(&sandbox, "other", "startup"), told);
    assert_eq!(starts(&sandbox, "other", "resume"), silent);
    assert_eq!(starts(&sandbox, SESSION, "resume"), silent, "it wrote it");
    let model_alone = json!({ "model": true, "user": false });
    assert_eq!(starts(&sandbox, SESSION, "compact"), model_alone, "and does not know any more");
    assert_eq!(starts(&sandbox, SESSION, "compact"), silent);
    by_agent(&sandbox, &["handoff"]).ok();
    assert_eq!(starts(&sandbox, "other", "resume"), told, "another one");

    let written = text(&sandbox, "handoff.md");
    let (head, body) = written.split_once('\n').expect("a head");
    let old = head.replace(head.split(' ').nth(3).expect("a time"), "2026-01-01T00:00:00.000Z");
    put(&sandbox, "handoff.md", &format!("{old}\n{body}"));
    assert_eq!(starts(&sandbox, "third", "startup"), silent, "long ago");
}

#[test]
fn at_a_terminal_it_is_of_the_newest_session() {
    let sandbox = at_work();
    sandbox.run(&["handoff"]).ok();
    assert!(text(&sandbox, "handoff.md").contains("- src/auth.ts\n"));
    let resumed = starts(&sandbox, SESSION, "resume");
    assert_eq!(resumed, json!({ "model": true, "user": true }), "the session did not write it");
}
