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

#[test]
fn an_uninstall_says_that_git_lists_the_notes() {
    let sandbox = Sandbox::new();
    let run = |args: &[&str]| super::run_git(&sandbox, &sandbox.project(), args);
    run(&["init", "--quiet"]);
    worked(&sandbox);
    let shown = said(&sandbox, &["uninstall"]);
    let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("`git status` lists the ones that you did not commit."), "{shown}");
    run(&["add", ".claude/context"]);
    let shown = said(&sandbox, &["uninstall"]);
    let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("is yours and stays") && !words.contains("git status"), "{shown}");
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
    let removed = sandbox.state().join("worktrees/app-85ee94c05585ebbb/2026-11-17T185636Z-agent-1");
    std::fs::create_dir_all(&removed).expect("new folders");
    std::fs::write(removed.join("progress.md"), "# Progress\n").expect("a new file");
    let yes = at_terminal(&sandbox, &["uninstall", "--purge"], "y\n");
    assert_eq!(yes.code, Some(0), "{yes:?}");
    assert!(yes.stdout.contains("notes of worktrees"), "{yes:?}");
    assert!(yes.stdout.contains("your other projects"), "{yes:?}");
    let mut kept =
        sandbox.everything().into_iter().filter(|path| path.starts_with(sandbox.state()) && path.is_file());
    assert_eq!((kept.next(), kept.next()), (Some(removed.join("progress.md")), None));
    std::fs::remove_dir_all(sandbox.state()).expect("our own");
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
    assert!(ran.code == Some(1) && ran.stdout.contains("would stay and record again"), "{ran:?}");
    assert!(ran.stdout.contains("those of all projects. First run `tidegate uninstall --user`"), "{ran:?}");
    assert!(Scope::Project.settings(&sandbox).exists());
    let ran = crate::people::at_terminal(&sandbox, &["uninstall", "--user"], "");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let ran = crate::people::at_terminal(&sandbox, &["uninstall", "--purge"], "y\n");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(!sandbox.state().exists());
}

/// Refused with these words; then nothing was changed.
#[cfg(target_os = "linux")]
fn refused(sandbox: &Sandbox, parts: &[&str]) {
    let ran = crate::people::at_terminal(sandbox, &["uninstall", "--purge"], "y\n");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    // A long path may be folded behind a slash.
    let squeezed = |text: &str| text.split_whitespace().collect::<String>();
    for part in [parts, &["nothing was changed"]].concat() {
        assert!(squeezed(&ran.stdout).contains(&squeezed(part)), "{part}: {ran:?}");
    }
    assert!(sandbox.state().join("installs").exists() && Scope::Project.settings(sandbox).exists());
}

#[cfg(target_os = "linux")]
#[test]
fn it_is_not_deleted_under_hooks_that_stay() {
    use crate::people::at_terminal;

    // A team's, in the same project: its record is needed to take them out.
    let sandbox = Sandbox::new().with("COLUMNS", "200");
    worked(&sandbox);
    let _ = sandbox.run(&["init", "--shared"]);
    let project = fs::canonicalize(sandbox.project()).expect("the project");
    let command = format!("uninstall --project {} --shared", project.display());
    refused(
        &sandbox,
        &[".claude/settings.json would stay and record again", &format!("`tidegate {command}`")],
    );
    let ran = at_terminal(&sandbox, &["uninstall", "--purge", "--shared"], "y\n");
    assert_eq!(ran.code, Some(0), "all at once: {ran:?}");
    assert!(!sandbox.state().exists() && !Scope::Shared.settings(&sandbox).exists());

    // Settings that nobody can read, here or in another project.
    let sandbox = Sandbox::new().with("COLUMNS", "200");
    worked(&sandbox);
    let other = sandbox.path().join("other");
    fs::create_dir(&other).expect("a new folder");
    super::init(&sandbox, &["--project", other.to_str().expect("UTF-8")]);
    let settings = other.join(".claude/settings.local.json");
    let text = fs::read_to_string(&settings).expect("settings");
    let parts = ["may still start Tidegate, and cannot be read", "fix or delete that file"];
    for damaged in [text.as_bytes()[..text.len() / 2].to_vec(), [text.as_bytes(), b"\xff"].concat()] {
        fs::write(&settings, damaged).expect("settings");
        refused(&sandbox, &parts);
    }
    fs::remove_file(&settings).expect("settings");
    Scope::Shared.write(&sandbox, "{ \"hooks\": \"tidegate\" ");
    refused(&sandbox, &parts);
    Scope::Shared.write(&sandbox, "{ \"mine\": ");
    assert_eq!(at_terminal(&sandbox, &["uninstall", "--purge"], "y\n").code, Some(0), "not about Tidegate");
    assert!(!sandbox.state().exists());
}

#[cfg(target_os = "linux")]
#[test]
fn it_is_not_deleted_under_the_plugin_or_a_hook_of_their_own() {
    let sandbox = Sandbox::new().with("COLUMNS", "200");
    worked(&sandbox);
    let enabled = json!({ "enabledPlugins": { "tidegate@market": true } }).to_string();
    let parts = |command| ["the plugin tidegate@market would stay and record again", command];
    Scope::User.write(&sandbox, &enabled);
    refused(&sandbox, &parts("`claude plugin uninstall tidegate@market`"));
    fs::remove_file(Scope::User.settings(&sandbox)).expect("settings");
    Scope::Shared.write(&sandbox, &enabled);
    refused(&sandbox, &parts("`claude plugin uninstall tidegate@market --scope project`"));
    fs::remove_file(Scope::Shared.settings(&sandbox)).expect("settings");
    // In another project, which the client lists.
    let other = sandbox.path().join("other");
    fs::create_dir_all(other.join(".claude")).expect("new folders");
    fs::write(other.join(".claude/settings.local.json"), &enabled).expect("settings");
    let list = json!({ "plugins": { "tidegate@market": [{ "projectPath": other, "installPath": "/x" }] } });
    let plugins = sandbox.home().join(".claude/plugins");
    fs::create_dir_all(&plugins).expect("a new folder");
    fs::write(plugins.join("installed_plugins.json"), list.to_string()).expect("a list");
    refused(
        &sandbox,
        &parts(&format!("cd {} && claude plugin uninstall tidegate@market --scope local`", other.display())),
    );
    fs::remove_dir_all(other).expect("our own");
    // A hook of their own around the program.
    let mut settings = super::json(&Scope::Project.read(&sandbox));
    let link = sandbox.home().join(".local/share/tidegate/bin/tidegate");
    let wrapper = format!("env A=b {} hook --event Stop", link.display());
    settings["hooks"]["Stop"] = json!([{ "hooks": [{ "type": "command", "command": wrapper }] }]);
    Scope::Project.write(&sandbox, settings.to_string());
    refused(&sandbox, &["your own hook `env A=b", "remove it there"]);
}

/// A folder that a person chose may hold more than ours.
#[cfg(target_os = "linux")]
#[test]
fn only_our_own_files_are_deleted() {
    let sandbox = Sandbox::new();
    worked(&sandbox);
    let mine = ["mine.txt", "projects/thesis/chapter.md", "config/nginx.json"]
        .map(|name| sandbox.state().join(name));
    for file in &mine {
        fs::create_dir_all(file.parent().expect("a folder")).expect("new folders");
        fs::write(file, "mine").expect("a new file");
    }
    // Kept with the person's other settings.
    let config = sandbox.home().join(".config/tidegate/config.toml");
    let dotfile = sandbox.path().join("dotfile.toml");
    fs::rename(&config, &dotfile).expect("the config");
    std::os::unix::fs::symlink(&dotfile, &config).expect("a link");
    let ran = crate::people::at_terminal(&sandbox, &["uninstall", "--purge"], "y\n");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(fs::read_dir(sandbox.state()).expect("the folder").count(), 3, "{:?}", sandbox.everything());
    assert!(mine.iter().all(|file| file.exists()) && dotfile.exists() && !config.is_symlink());
    let (_, named) =
        ran.stdout.split_once("not Tidegate's, so they stay:").unwrap_or_else(|| panic!("{ran:?}"));
    for part in ["mine.txt", "projects/thesis", "config/nginx.json", "dotfile.toml"] {
        assert!(named.contains(part), "{part}: {named}");
    }
}

/// A person may keep the memory on another disk.
#[cfg(target_os = "linux")]
#[test]
fn a_memory_behind_their_own_link_is_deleted() {
    let sandbox = Sandbox::new().with("COLUMNS", "200");
    worked(&sandbox);
    let (memory, disk) = (sandbox.home().join(".local/share/tidegate/memory"), sandbox.path().join("disk"));
    fs::rename(&memory, &disk).expect("the memory");
    std::os::unix::fs::symlink(&disk, &memory).expect("a link");
    let ran = crate::people::at_terminal(&sandbox, &["uninstall", "--purge"], "y\n");
    assert!(ran.code == Some(0) && ran.stdout.contains(&format!("-> {}", disk.display())), "{ran:?}");
    assert!(!disk.exists() && !memory.is_symlink() && !ran.stdout.contains("so they stay"), "{ran:?}");
}
