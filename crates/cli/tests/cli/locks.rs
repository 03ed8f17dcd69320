//! Locks whose holder never lets go: a suspended process, say. Commands end with an error that names it.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use crate::sandbox::Sandbox;

fn hold(path: &Path) -> File {
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    let file = File::options().write(true).create(true).truncate(false).open(path).expect("a lock");
    file.lock().expect("nobody else has it");
    file
}

#[test]
fn no_command_waits_for_ever_for_a_lock() {
    type Case = (&'static [&'static str], fn(&Sandbox) -> PathBuf);
    let cases: [Case; 6] = [
        (&["off", "verify-stop"], |sandbox| sandbox.state().join("off.lock")),
        (&["memory", "search", "first"], |sandbox| store(sandbox, "lock")),
        (&["memory", "topic", "add", "second"], |sandbox| sandbox.state().join("memory/lock")),
        (&["memory", "backup"], |sandbox| store(sandbox, "lock.copies")),
        (&["init", "--project", "."], |sandbox| sandbox.state().join("installs/lock")),
        (&["progress", "add", "x"], |sandbox| project_lock(sandbox)),
    ];
    // Each waits for ten seconds, and together they need no longer.
    std::thread::scope(|scope| {
        for (args, lock) in cases {
            scope.spawn(move || ends(args, lock));
        }
    });
}

fn ends(args: &[&str], lock: fn(&Sandbox) -> PathBuf) {
    let sandbox = Sandbox::new();
    sandbox.config("[approval]\nunattended = [\"off\"]\n");
    let first = sandbox.run(&["memory", "topic", "add", "first"]);
    assert_eq!(first.code, Some(0), "{first:?}");
    fs::create_dir_all(sandbox.project().join(".claude/context")).expect("a folder");
    let path = lock(&sandbox);
    let _held = hold(&path);
    let ran = sandbox.run(args);
    assert_eq!(ran.code, Some(1), "{args:?}: {ran:?}");
    assert!(ran.stderr.contains(&path.display().to_string()), "{args:?}: {ran:?}");
    let named = format!("kill -CONT {}", std::process::id());
    assert!(ran.stderr.contains(&named) || !Path::new("/proc/locks").exists(), "{args:?}: {ran:?}");
}

fn store(sandbox: &Sandbox, name: &str) -> PathBuf {
    sandbox.home().join(".local/share/tidegate/memory").join(name)
}

/// Its folder is named after the project's path.
fn project_lock(sandbox: &Sandbox) -> PathBuf {
    let project = fs::canonicalize(sandbox.project()).expect("the project");
    sandbox.state().join("projects").join(tidegate_state::project::folder_name(&project)).join("lock")
}
