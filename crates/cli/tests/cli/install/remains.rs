//! What an uninstall leaves, and how it is deleted.

use std::fs;

use serde_json::json;

use super::{Scope, said};
use crate::sandbox::Sandbox;

/// Some work, so that there is something to leave.
fn worked(sandbox: &Sandbox) {
    Scope::Project.init(sandbox);
    let topic = sandbox.run(&["memory", "topic", "add", "sessions", "--json"]).json();
    let id = topic["id"].as_i64().unwrap_or_else(|| panic!("{topic}")).to_string();
    let _ = sandbox.run(&["memory", "log", "add", &id, "it was the cache"]).ok();
    // An event that leaves nothing for a worker, which would write on its own.
    let payload = json!({
        "session_id": "s-1", "hook_event_name": "UserPromptSubmit", "prompt": "go", "cwd": sandbox.project(),
    });
    let _ = sandbox.hook(&["--event", "UserPromptSubmit"], payload.to_string());
    sandbox.config("lang = \"en\"\n");
    let notes = sandbox.project().join(".claude/context/progress.md");
    fs::write(notes, "# Progress\n").expect("notes");
}

#[test]
fn what_stays_is_said_with_its_number_and_size() {
    let sandbox = Sandbox::new().with("COLUMNS", "120");
    worked(&sandbox);
    let report = sandbox.run(&["uninstall", "--dry-run", "--json"]).json();
    let kept = |what: &str| {
        let all = report["kept"].as_array().expect("a list");
        all.iter().find(|kept| kept["what"] == what).unwrap_or_else(|| panic!("{what}: {report}")).clone()
    };
    assert!(kept("conversations")["exchanges"] == 1, "{report}");
    assert!(kept("conversations")["bytes"].as_u64() > Some(1_000), "{report}");
    assert!(kept("state")["bytes"].as_u64() > Some(0));
    assert!(kept("config").is_object() && kept("notes").is_object());
    let text = said(&sandbox, &["uninstall"]);
    for part in [
        "Still on this machine:",
        "1 recorded exchange (",
        "~/.local/share/tidegate/memory",
        "journal and session state (",
        "your settings: ~/.config/tidegate/config.toml",
        "`tidegate uninstall --purge`",
        "`tidegate memory forget project .`",
        ".claude/context is yours and stays.",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let forgot = sandbox.run(&["memory", "forget", "project", "."]);
    assert!(forgot.failed().contains("needs a person"), "it is a command that exists: {forgot:?}");
}

#[test]
fn only_a_person_at_a_terminal_deletes_it() {
    let sandbox = Sandbox::new();
    worked(&sandbox);
    let all = || sandbox.everything().into_iter().filter(|path| !is_of_sqlite(path)).collect::<Vec<_>>();
    let before = all();
    let ran = sandbox.run(&["uninstall", "--purge"]);
    assert!(ran.failed().contains("needs you at a terminal"), "{ran:?}");
    assert!(ran.stderr.contains("nothing was changed"), "{ran:?}");
    assert_eq!(sandbox.run(&["uninstall", "--purge", "--yes"]).code, Some(2), "no flag says yes");
    assert_eq!(all(), before);
    // A dry run deletes nothing.
    said(&sandbox, &["uninstall", "--purge", "--dry-run"]);
    assert_eq!(all(), before);
}

/// Files next to the store that come and go with its use.
fn is_of_sqlite(path: &std::path::Path) -> bool {
    path.extension().is_some_and(|extension| extension == "db-wal" || extension == "db-shm")
}

#[cfg(target_os = "linux")]
#[test]
fn at_a_terminal_it_names_what_goes_and_asks() {
    use crate::people::{at_terminal, at_terminal_below};

    let sandbox = Sandbox::new();
    worked(&sandbox);
    let all = || sandbox.everything().into_iter().filter(|path| !is_of_sqlite(path)).collect::<Vec<_>>();
    let before = all();
    let agent = at_terminal_below(&sandbox, &["uninstall", "--purge"], "y\n", &[("CLAUDECODE", "1")]);
    assert!(agent.code == Some(1) && agent.stdout.contains("needs you at a terminal"), "{agent:?}");
    let no = at_terminal(&sandbox, &["uninstall", "--purge"], "n\n");
    for part in ["for all projects", "1 recorded exchange", "journal and session state", "your settings"] {
        assert!(no.stdout.contains(part), "{part}: {no:?}");
    }
    assert_eq!((no.code, all()), (Some(1), before));
    let yes = at_terminal(&sandbox, &["uninstall", "--purge"], "y\n");
    assert_eq!(yes.code, Some(0), "{yes:?}");
    assert!(!Scope::Project.settings(&sandbox).exists());
    for folder in [
        sandbox.state(),
        sandbox.home().join(".local/share/tidegate"),
        sandbox.home().join(".config/tidegate"),
    ] {
        assert!(!folder.exists(), "{}: {:?}", folder.display(), sandbox.everything());
    }
    assert!(sandbox.project().join(".claude/context/progress.md").exists(), "notes are theirs");
}

/// The data is that of all projects, and the record of another install is needed to take it out.
#[cfg(target_os = "linux")]
#[test]
fn it_is_not_deleted_under_another_install() {
    let sandbox = Sandbox::new();
    worked(&sandbox);
    Scope::User.init(&sandbox);
    let ran = crate::people::at_terminal(&sandbox, &["uninstall", "--purge"], "y\n");
    assert!(ran.code == Some(1) && ran.stdout.contains("still installed in"), "{ran:?}");
    assert!(Scope::Project.settings(&sandbox).exists());
    let ran = crate::people::at_terminal(&sandbox, &["uninstall", "--user"], "");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let ran = crate::people::at_terminal(&sandbox, &["uninstall", "--purge"], "y\n");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(!sandbox.state().exists());
}

/// A folder that a person chose may hold more than ours.
#[cfg(target_os = "linux")]
#[test]
fn only_our_own_files_are_deleted() {
    let sandbox = Sandbox::new();
    worked(&sandbox);
    let mine = sandbox.state().join("mine.txt");
    fs::write(&mine, "mine").expect("a new file");
    let ran = crate::people::at_terminal(&sandbox, &["uninstall", "--purge"], "y\n");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(fs::read_dir(sandbox.state()).expect("the folder").count(), 1, "{:?}", sandbox.everything());
    assert!(mine.exists());
}
