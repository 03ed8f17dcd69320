//! Edits that only the files themselves, or git, tell of: patches, patterns, another shell, another commit.

use std::fs;
use std::time::SystemTime;

use serde_json::json;

use crate::gates::Work;

/// Until the file's time is later than now: the clock of a file system lags behind.
fn write(work: &Work, file: &str, text: &str) {
    let path = work.sandbox.project().join(file);
    let now = SystemTime::now();
    loop {
        fs::write(&path, text).expect("a new file");
        if fs::metadata(&path).and_then(|file| file.modified()).expect("a time") > now {
            return;
        }
        std::thread::yield_now();
    }
}

#[test]
fn a_patch_edits_the_files_that_it_names() {
    for (command, patched, edits) in [
        ("git apply p.diff", "src/main.rs", true),
        ("git apply -R p.diff", "src/main.rs", true),
        ("patch -p1 -i p.diff", "src/main.rs", true),
        ("patch -p1 < p.diff", "src/main.rs", true),
        ("git apply p.diff", "README.md", false),
        ("git apply --check p.diff", "src/main.rs", false),
        ("git apply gone.diff", "src/main.rs", false),
    ] {
        let work = Work::new();
        write(&work, patched, "x");
        write(&work, "p.diff", &format!("--- a/{patched}\n+++ b/{patched}\n@@ -1 +1 @@\n-a\n+x\n"));
        work.bash(command);
        assert_eq!(work.is_held(), edits, "{command} of {patched}");
    }
}

#[test]
fn a_pattern_edits_code_and_a_list_of_files_the_known_ones() {
    for (command, edits, voids) in [
        ("sed -i s/a/b/ src/*.rs", true, true),
        ("find src -name '*.rs' -exec sed -i s/a/b/ {} +", true, true),
        ("git ls-files '*.rs' | xargs sed -i s/a/b/", true, true),
        ("sed -i s/a/b/ docs/*.md", false, false),
        ("grep -rl a . | xargs sed -i s/a/b/", false, true),
        ("for f in $(ls src); do sed -i s/a/b/ src/$f; done", false, true),
        ("tar xzf x.tgz", false, true),
        ("git apply gone.diff", false, true),
        ("grep -rl a . | xargs grep b", false, false),
    ] {
        let work = Work::new();
        write(&work, "src/main.rs", "x");
        work.bash(command);
        assert_eq!(work.is_held(), edits, "{command}");
        let work = Work::new();
        work.edits("src/main.rs");
        work.bash("cargo test");
        work.stop().silent();
        write(&work, "src/main.rs", "y");
        work.bash(command);
        assert_eq!(work.is_held(), voids, "{command}, after a check");
    }
}

#[test]
fn another_shell_edits_and_proves_nothing() {
    let run = |work: &Work, command: &str| {
        let members = json!({ "tool_name": "PowerShell", "tool_input": { "command": command },
            "tool_response": { "stdout": "", "stderr": "", "interrupted": false }, "duration_ms": 5 });
        assert_eq!(work.event("PostToolUse", members).exit, 0);
    };
    let work = Work::new();
    write(&work, "src/main.rs", "x");
    run(&work, "Set-Content -Path src\\main.rs -Value 'x'");
    assert!(work.is_held());
    let work = Work::new();
    work.edits("src/main.rs");
    run(&work, "cargo test");
    assert!(work.is_held(), "whether it passed is not known");
    work.bash("cargo test");
    work.stop().silent();
    write(&work, "src/main.rs", "y");
    run(&work, "Get-ChildItem -Recurse | ForEach-Object { fix $_ }");
    assert!(work.is_held(), "a known file has changed");
    let work = Work::new();
    work.edits("src/main.rs");
    work.bash("cargo test");
    run(&work, "Get-Content src/main.rs");
    work.stop().silent();
}

#[test]
fn an_edit_that_git_takes_back_is_none() {
    for (commands, undone) in [
        (&["git checkout src/main.rs"][..], true),
        (&["git checkout -- ."], true),
        (&["git restore src"], true),
        (&["git reset --hard"], true),
        (&["git restore --staged src/main.rs"], false),
        (&["git checkout src/other.rs"], false),
        (&["git commit -am x", "git checkout src/main.rs"], false),
        (&["git stash drop"], false),
        (&["git stash", "git stash drop"], true),
    ] {
        let work = Work::new();
        work.edits("src/main.rs");
        for command in commands {
            write(&work, "src/main.rs", "as before");
            work.bash(command);
        }
        assert_eq!(!work.is_held(), undone, "{commands:?}");
    }
    let work = Work::new();
    work.edits("src/main.rs");
    work.bash("git checkout -- .");
    assert!(work.is_held(), "a new file is not git's");
}

#[test]
fn a_check_of_another_commit_is_none() {
    for (commands, settles) in [
        (&["git checkout HEAD~1", "cargo test"][..], false),
        (&["git checkout 1a2b3c4", "cargo test"], false),
        (&["git checkout HEAD~1", "git checkout -", "cargo test"], true),
        (&["git switch main", "cargo test"], true),
        (&["git commit -am x", "git switch main", "cargo test"], false),
        (&["git commit -am x", "git switch main", "git switch feature", "cargo test"], true),
        (&["git commit -am x", "git switch main", "git merge feature", "cargo test"], true),
        (&["git commit -am x", "git checkout -b next", "cargo test"], true),
        (&["git stash", "cargo test"], false),
        (&["git stash", "git stash pop", "cargo test"], true),
    ] {
        let work = Work::new();
        work.edits("src/main.rs");
        for command in commands {
            work.bash(command);
        }
        assert_eq!(!work.is_held(), settles, "{commands:?}");
    }
}

#[test]
fn a_removed_file_of_the_project_is_an_edit() {
    for (command, edits) in [
        ("rm src/old.rs", true),
        ("git rm src/old.rs", true),
        ("rm src/old.rs && git status | head", true),
        ("rm -f src/old.rs", false),
        ("rm old.md", false),
        ("rm /elsewhere/old.rs", false),
        ("rm src/old.rs || true", false),
    ] {
        let work = Work::new();
        work.bash(command);
        assert_eq!(work.is_held(), edits, "{command}");
    }
    let work = Work::new();
    work.edits("src/trial.rs");
    work.bash("cargo test");
    fs::remove_file(work.sandbox.project().join("src/trial.rs")).expect("the file is there");
    work.bash("rm src/trial.rs");
    work.stop().silent();
    work.bash("rm src/old.rs");
    assert!(work.is_held());
    work.bash("cargo test");
    work.stop().silent();
}

#[test]
fn a_script_without_an_extension_is_known_by_its_first_line() {
    for (text, edits) in [("#!/bin/sh\ntrue\n", true), ("true\n", false), ("#", false)] {
        let work = Work::new();
        write(&work, "deploy", text);
        work.bash("printf x > deploy");
        assert_eq!(work.is_held(), edits, "{text:?}");
    }
}
