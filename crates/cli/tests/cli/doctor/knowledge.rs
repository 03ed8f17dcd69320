//! `doctor` on flow and stock: each thing broken on its own.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use super::{healthy, only, says, wrong};
use crate::sandbox::{Sandbox, make_fifo};

const CONFIRMED: &str =
    "# Learnings\n\n## One\n- **Learning**: a\n- **Confirmed**: 2 times | 2026-02-18 | debug\n";

fn context(sandbox: &Sandbox) -> PathBuf {
    sandbox.project().join(".claude/context")
}

/// A healthy project with this file in its context folder.
fn with(name: &str, text: impl AsRef<[u8]>) -> Sandbox {
    let sandbox = healthy();
    fs::write(context(&sandbox).join(name), text).expect("a new file");
    sandbox
}

#[test]
fn healthy_files_are_counted() {
    let sandbox =
        with("progress.md", "# Progress\n\n## [2026-02-18 14:30] — a\n\n## [2026-02-18] — no time\n");
    fs::write(context(&sandbox).join("progress.archive.md"), "## [2026-02-17] — b\n").expect("a new file");
    fs::write(
        context(&sandbox).join("learnings-coding.md"),
        format!("{CONFIRMED}\n## Two\n- **Learning**: b\n"),
    )
    .expect("a new file");
    let copy = r#"{ "timestamp": "2026-02-18T14:30:00Z", "promotedCount": 1 }"#;
    fs::write(context(&sandbox).join("compound-last-run.json"), copy).expect("a new file");
    fs::write(context(&sandbox).join("theirs.json"), "{").expect("a new file");
    assert_eq!(wrong(&sandbox), [""; 0]);
    let (state, found) = says(&sandbox, "knowledge");
    assert_eq!(
        (state.as_str(), found.as_str()),
        ("ok", "2 progress notes, 1 in the archive, 2 learnings, 1 of them unverified.")
    );

    fs::remove_dir_all(context(&sandbox)).expect("our own");
    assert_eq!(
        says(&sandbox, "knowledge").1,
        "This project keeps no progress notes: it has no `.claude/context`."
    );
}

#[test]
fn what_cannot_be_read_is_named() {
    let latin = b"# Plan\nna\xefve\n";
    let cases: [(&str, &[u8], &[&str]); 4] = [
        ("task_plan.md", latin, &["skips ", "task_plan.md: not UTF-8", "Save ", "Line 2 is the first"]),
        ("progress.md", &vec![b'x'; 1024 * 1024 + 1], &["too large", "at most 1 MiB"]),
        (
            "progress.md",
            b"## [2026-02-18] - a\n\n## [2999-01-01T00:00:00Z] - b\n## 2999-01-02 c\n",
            &["2 progress notes have times in the future", "progress.md:3", "Correct the time"],
        ),
        (
            "learnings.md",
            b"## A\n- **Confirmed**: often\n",
            &["learnings.md:2: no count", "2 times | 2026-02-18"],
        ),
    ];
    for (name, text, words) in cases {
        only(&with(name, text), "knowledge warning", words);
    }

    let many = "## A\n- **Confirmed**: often\n".repeat(5);
    let sandbox = with("learnings-design.md", many);
    only(
        &sandbox,
        "knowledge warning",
        &["learnings-design.md:2: no count", "4 more lines", "learnings check"],
    );

    let sandbox = healthy();
    fs::create_dir(context(&sandbox).join("progress.md")).expect("a new folder");
    only(&sandbox, "knowledge warning", &["progress.md: not a file", "has to be a file"]);

    let sandbox = healthy();
    make_fifo(&context(&sandbox).join("learnings.md"));
    only(&sandbox, "knowledge warning", &["not a file"]);
}

#[test]
fn links_are_followed_inside_the_project_only() {
    let sandbox = healthy();
    let (project, elsewhere) = (sandbox.project(), sandbox.path().join("elsewhere"));
    fs::create_dir(&elsewhere).expect("a new folder");
    fs::write(elsewhere.join("notes.md"), "## theirs\n").expect("a new file");
    symlink(elsewhere.join("notes.md"), context(&sandbox).join("progress.md")).expect("a new link");
    only(&sandbox, "knowledge warning", &["leads out of the project", "with the file itself"]);

    fs::remove_dir_all(context(&sandbox)).expect("our own");
    symlink(&elsewhere, context(&sandbox)).expect("a new link");
    only(&sandbox, "knowledge warning", &["context leads out of the project", "reads and writes nothing"]);

    fs::remove_file(context(&sandbox)).expect("our own");
    symlink("nowhere", context(&sandbox)).expect("a new link");
    only(&sandbox, "knowledge warning", &["leads nowhere", "mkdir -p "]);

    fs::remove_file(context(&sandbox)).expect("our own");
    fs::write(context(&sandbox), "").expect("a new file");
    only(&sandbox, "knowledge warning", &["is not a folder"]);

    fs::remove_file(context(&sandbox)).expect("our own");
    fs::create_dir(project.join("notes")).expect("a new folder");
    fs::write(project.join("notes/progress.md"), "## [2026-02-18] — one\n").expect("a new file");
    symlink("../notes", context(&sandbox)).expect("a new link");
    assert_eq!(says(&sandbox, "knowledge"), ("ok".to_owned(), "1 progress note, 0 learnings.".to_owned()));
}

/// Nothing rests on the copies, so nothing is wrong.
#[test]
fn copies_that_are_half_there_are_noted() {
    for (text, words) in [
        ("{ \"timestamp\": \"2026", "last-compact.json ends in the middle"),
        ("", "ends in the middle"),
        ("[1]", "last-compact.json is unreadable: "),
        ("{ \"mine\": 1 }", "is not in Tidegate's form: it has no `timestamp`"),
    ] {
        let sandbox = with("last-compact.json", text);
        assert_eq!(wrong(&sandbox), [""; 0]);
        let (state, found) = says(&sandbox, "knowledge");
        assert!(state == "note" && found.contains(words), "{text}: {found}");
    }
}
