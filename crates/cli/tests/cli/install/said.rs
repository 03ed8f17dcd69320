//! What `init` and `uninstall` tell a person.

use std::fs;
use std::path::Path;

use serde_json::json;

use super::{Scope, git, init, json};
use crate::sandbox::Sandbox;

/// The lines on stderr, without the one about the build under test.
fn warnings(sandbox: &Sandbox, flags: &[&str]) -> Vec<String> {
    let ran = sandbox.run(&super::words("init", flags));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let lines = ran.stderr.lines().filter(|line| !line.contains("cargo clean"));
    lines.map(|line| line.strip_prefix("warning: ").unwrap_or_else(|| panic!("{ran:?}")).to_owned()).collect()
}

#[test]
fn hooks_that_will_not_run_are_warned_of() {
    let sandbox = Sandbox::new();
    Scope::User.write(&sandbox, "{ \"disableAllHooks\": true }");
    let said = warnings(&sandbox, &[]);
    assert!(said.len() == 1 && said[0].contains("has `disableAllHooks`: no hook will run"), "{said:?}");
    // The nearer file decides.
    let sandbox = Sandbox::new();
    Scope::User.write(&sandbox, "{ \"disableAllHooks\": true }");
    Scope::Project.write(&sandbox, "{ \"disableAllHooks\": false }");
    assert_eq!(warnings(&sandbox, &[]), [""; 0]);
    assert_eq!(warnings(&sandbox, &["--user"]).len(), 1);
}

#[test]
fn a_second_install_is_told() {
    let sandbox = Sandbox::new();
    Scope::User.write(&sandbox, json!({ "enabledPlugins": { "tidegate@tidegate": true } }).to_string());
    for flags in [&[] as &[&str], &["--user"], &["--shared"]] {
        let said = warnings(&sandbox, flags);
        let plugin =
            said.iter().filter(|line| line.starts_with("the plugin tidegate@tidegate is enabled, too"));
        assert!(plugin.count() == 1 && said[0].contains("answered once"), "{said:?}");
    }
    let sandbox = Sandbox::new();
    Scope::Shared.init(&sandbox);
    let said = warnings(&sandbox, &[]);
    assert!(said.len() == 1 && said[0].contains("registers the hooks already"), "{said:?}");
    assert_eq!(warnings(&sandbox, &["--shared"]), [""; 0]);
}

#[test]
fn it_ends_with_what_to_do_next() {
    let sandbox = Sandbox::new();
    let last = |said: &str| said.lines().last().unwrap_or_default().to_owned();
    assert!(!init(&sandbox, &["--dry-run"]).contains("next: "));
    let said = init(&sandbox, &[]);
    assert!(
        last(&said).starts_with("next: start the client here, trust the folder")
            && said.contains("`tidegate doctor`"),
        "{said}"
    );
    assert_eq!(said.matches("next: ").count(), 1);
    assert!(!init(&sandbox, &[]).contains("next: "), "nothing was done");
    assert!(last(&init(&sandbox, &["--user"])).starts_with("next: start the client"), "{said}");
    assert!(!Scope::Project.uninstall(&sandbox).contains("next: "));
}

#[test]
fn a_dry_run_shows_settings_first_and_new_pages_in_a_line() {
    let sandbox = Sandbox::new();
    git(&sandbox);
    let said = init(&sandbox, &["--dry-run"]);
    assert!(said.starts_with("--- /dev/null\n+++ ./.claude/settings.local.json\n"), "{said}");
    let skill = said.lines().find(|line| line.contains("getting-started")).expect("a line");
    assert!(skill.contains("SKILL.md: would be written, ") && skill.ends_with(" lines"), "{skill}");
    assert!(!said.contains("+name: getting-started") && said.contains("+# tidegate: end"), "{said}");
    init(&sandbox, &[]);
    let ran = sandbox.run(&["uninstall", "--dry-run"]);
    assert!(ran.ok().contains("getting-started/SKILL.md: would be removed\n"), "{ran:?}");
}

#[test]
fn paths_for_machines_are_absolute() {
    let sandbox = Sandbox::new();
    for flags in [&["--json", "--dry-run"] as &[&str], &["--json"]] {
        let report = json(&init(&sandbox, flags));
        let changes = report["changes"].as_array().expect("a list");
        let is_absolute = |change: &serde_json::Value| {
            change["file"].as_str().is_some_and(|file| Path::new(file).is_absolute())
        };
        assert!(changes.len() > 5 && changes.iter().all(is_absolute), "{report}");
    }
}

#[test]
fn below_an_install_it_is_named() {
    let sandbox = Sandbox::new();
    Scope::Project.init(&sandbox);
    let below = sandbox.project().join("src");
    fs::create_dir(&below).expect("a new folder");
    let ran = sandbox.run(&["uninstall", "--project", "src"]);
    let expected = format!("`tidegate uninstall --project {}`", sandbox.project().display());
    assert!(
        ran.ok().contains("nothing of ours there, but above it") && ran.ok().contains(&expected),
        "{ran:?}"
    );
    assert!(Scope::Project.settings(&sandbox).exists());
}

#[test]
fn an_install_above_is_named() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.project().join(".git")).expect("a new folder");
    fs::create_dir_all(sandbox.project().join("src/deep")).expect("new folders");
    let first = sandbox.run(&["init"]);
    assert!(!first.stderr.contains("has an install, too"), "{first:?}");
    let second = sandbox.run(&["init", "--project", "src/deep"]);
    assert!(second.code == Some(0) && second.stderr.contains("has an install, too"), "{second:?}");
}
