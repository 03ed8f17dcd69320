//! Which project is meant, and whose settings its files are.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::says;
use crate::answer::Ran;
use crate::sandbox::{Running, Sandbox};

/// A sandbox without the host's word on the project.
fn plain() -> Sandbox {
    Sandbox::new().without("CLAUDE_PROJECT_DIR")
}

fn run_in(sandbox: &Sandbox, folder: &Path, args: &[&str]) -> Ran {
    let mut command = sandbox.command(args);
    command.current_dir(folder);
    let mut running = Running::start(command);
    running.close();
    running.end()
}

/// The project that doctor looks at.
fn project(sandbox: &Sandbox, folder: &Path) -> PathBuf {
    let ran = run_in(sandbox, folder, &["doctor", "--json"]);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    report["project"].as_str().expect("a project").into()
}

/// A session that worked in a folder.
fn session(sandbox: &Sandbox, id: &str, root: &Path) {
    fs::create_dir_all(sandbox.session(id)).expect("new folders");
    let marks = format!("{}\n{}\n", json!({ "attached": 1 }), json!({ "root": root }));
    fs::write(sandbox.session(id).join("marks"), marks).expect("a new file");
}

#[test]
fn the_nearest_project_counts() {
    let sandbox = plain();
    let base = fs::canonicalize(sandbox.project()).expect("the project");
    let (repository, part) = (base.join("repository"), base.join("repository/part"));
    fs::create_dir_all(part.join("src")).expect("new folders");
    fs::create_dir(repository.join(".git")).expect("a new folder");
    // Somebody once started the client far above.
    session(&sandbox, "above", &base);
    assert_eq!(project(&sandbox, &part.join("src")), repository);
    let ran = run_in(&sandbox, &part, &["status"]);
    assert!(ran.failed().contains("no session has been seen in this project"), "{ran:?}");
    assert_eq!(project(&sandbox, &base), base);
    let ran = run_in(&sandbox, &base, &["status"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");

    // A part of a repository with an install of its own.
    assert_eq!(run_in(&sandbox, &part, &["init"]).code, Some(0));
    assert_eq!(project(&sandbox, &part.join("src")), part);
    fs::remove_dir_all(sandbox.state().join("installs")).expect("our own");
    assert_eq!(project(&sandbox, &part.join("src")), part, "by its settings");
    assert_eq!(run_in(&sandbox, &part, &["uninstall"]).code, Some(0));
    assert_eq!(project(&sandbox, &part.join("src")), repository);
    session(&sandbox, "part", &part);
    assert_eq!(project(&sandbox, &part.join("src")), part);

    // In no repository what is above counts.
    let loose = base.join("loose/folder");
    fs::create_dir_all(&loose).expect("new folders");
    assert_eq!(project(&sandbox, &loose), base);
}

#[test]
fn an_install_for_the_user_makes_no_project_of_the_home() {
    let sandbox = plain();
    let folder = fs::canonicalize(sandbox.home()).expect("the home").join("code");
    fs::create_dir(&folder).expect("a new folder");
    assert_eq!(run_in(&sandbox, &folder, &["init", "--user"]).code, Some(0));
    assert_eq!(project(&sandbox, &folder), folder);
}

#[test]
fn in_the_home_directory_the_users_settings_are_the_users() {
    let sandbox = plain();
    let link = sandbox.path().join("also-home");
    symlink(sandbox.home(), &link).expect("a link");
    for home in [sandbox.home(), link] {
        let sandbox = plain().with("HOME", &home);
        assert_eq!(run_in(&sandbox, &home, &["init", "--user"]).code, Some(0));
        let ran = run_in(&sandbox, &home, &["doctor", "--json"]);
        let report: Value = serde_json::from_str(&ran.stdout).expect("JSON");
        let checks = report["checks"].as_array().expect("a list");
        let installs = checks.iter().find(|check| check["id"] == "installs").expect("the check");
        assert_eq!(installs["found"], "One place registers the hooks: your user settings.", "{report:#}");
        let fixes: Vec<&str> = checks.iter().filter_map(|check| check["cure"].as_str()).collect();
        assert!(!fixes.iter().any(|fix| fix.contains("--shared")), "{fixes:?}");
    }
}

#[test]
fn the_host_and_the_session_come_first() {
    let sandbox = Sandbox::new();
    let other = sandbox.path().join("other");
    fs::create_dir_all(other.join(".git")).expect("new folders");
    assert_eq!(project(&sandbox, &other), sandbox.project());
    let elsewhere = sandbox.path().join("elsewhere");
    session(&sandbox, "s", &elsewhere);
    let sandbox = sandbox.with("CLAUDE_CODE_SESSION_ID", "s");
    assert_eq!(project(&sandbox, &other), elsewhere);
    assert_eq!(says(&sandbox, "hooks").0, "problem");
}
