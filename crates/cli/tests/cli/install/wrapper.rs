//! Hooks that a person put around the program, files that a team committed, and the status line alone.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use super::{Scope, json, run_git, said, tree};
use crate::sandbox::Sandbox;

/// Entries of the person's own that start the program, in forms that people use.
fn wrappers(sandbox: &Sandbox) -> Vec<serde_json::Value> {
    let script = sandbox.home().join("bin/hooks.sh");
    fs::create_dir_all(script.parent().expect("a folder")).expect("new folders");
    fs::write(&script, "#!/bin/sh\nexec ~/.local/share/tidegate/bin/tidegate \"$@\"\n").expect("a script");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("our own");
    vec![
        json!({
            "type": "command", "command": "/opt/hooks", "args": ["hook", "--event", "PreToolUse"], "onFailure": "block",
        }),
        json!({ "type": "command", "command": format!("timeout 5 {}", script.display()) }),
        json!({ "type": "command", "command": "LOG=1 tidegate hook --event PreToolUse" }),
    ]
}

/// A hook that starts a missing program may block every edit.
#[test]
fn the_link_stays_while_a_hook_of_theirs_needs_it() {
    let count = wrappers(&Sandbox::new()).len();
    for number in 0..count {
        let sandbox = Sandbox::new().with("COLUMNS", "120");
        let wrapper = wrappers(&sandbox).swap_remove(number);
        Scope::Project.init(&sandbox);
        let mut settings = json(&Scope::Project.read(&sandbox));
        let groups = settings["hooks"]["PreToolUse"].as_array_mut().expect("groups");
        groups.push(json!({ "hooks": [wrapper] }));
        Scope::Project.write(&sandbox, settings.to_string());
        let report = Scope::Project.uninstall(&sandbox);
        let command = wrapper["command"].as_str().expect("a command");
        let expected =
            format!("your own hook `{command}` starts Tidegate; remove it here, then run this again");
        assert!(report.contains(&expected), "{report}");
        let link = sandbox.home().join(".local/share/tidegate/bin/tidegate");
        assert!(link.exists() && report.contains("settings.local.json still needs it"), "{report}");
        let left = json(&Scope::Project.read(&sandbox));
        assert_eq!(left["hooks"], json!({ "PreToolUse": [{ "hooks": [wrapper] }] }));
    }
}

#[test]
fn another_script_is_none_of_our_business() {
    let sandbox = Sandbox::new();
    let script = sandbox.home().join("lint.sh");
    fs::write(&script, "#!/bin/sh\nexec eslint\n").expect("a script");
    let theirs = json!({ "hooks": { "Stop": [{ "hooks": [{ "type": "command", "command": script }] }] } });
    Scope::Project.write(&sandbox, theirs.to_string());
    let before = tree(&sandbox);
    Scope::Project.init(&sandbox);
    let text = said(&sandbox, &["uninstall"]);
    assert!(!text.contains("lint.sh"), "{text}");
    assert_eq!(tree(&sandbox), before);
}

/// A committed file that held only our hooks: deleting it would be a surprise in the next commit.
#[test]
fn what_a_team_committed_is_emptied_and_not_deleted() {
    let sandbox = Sandbox::new().with("COLUMNS", "120");
    let git = |args: &[&str]| {
        let (is_done, said) = run_git(&sandbox, &sandbox.project(), args);
        assert!(is_done, "{args:?}");
        said
    };
    git(&["init", "--quiet"]);
    Scope::Shared.init(&sandbox);
    git(&["add", ".claude/settings.json", ".mcp.json", ".gitignore"]);
    git(&["commit", "--quiet", "-m", "hooks"]);
    let text = said(&sandbox, &["uninstall", "--shared"]);
    assert!(text.contains(".claude/settings.json: git tracks it, so it stays as `{}`"), "{text}");
    for (file, left) in [(".claude/settings.json", "{}\n"), (".mcp.json", "{}\n"), (".gitignore", "")] {
        assert_eq!(fs::read_to_string(sandbox.project().join(file)).expect(file), left);
    }
    let changed = " M .claude/settings.json\n M .gitignore\n M .mcp.json\n";
    assert_eq!(git(&["status", "--porcelain"]), changed);
}

/// With the plugin: only what it lacks.
#[test]
fn the_status_line_alone() {
    for scope in [Scope::User, Scope::Project] {
        let sandbox = Sandbox::new();
        scope.write(&sandbox, "{ \"model\": \"opus\" }\n");
        let before = tree(&sandbox);
        let text = said(&sandbox, &[&["init", "--status-line"], scope.flags()].concat());
        assert!(text.starts_with("Added the status line to "), "{text}");
        let settings = json(&scope.read(&sandbox));
        assert!(settings.get("hooks").is_none(), "{settings}");
        assert!(settings["statusLine"]["command"].is_string(), "{settings}");
        assert!(!sandbox.home().join(".claude.json").exists());
        assert!(!sandbox.project().join(".claude/skills").exists());
        scope.uninstall(&sandbox);
        assert_eq!(tree(&sandbox), before);
    }
    let sandbox = Sandbox::new();
    for flags in [&["--shared"] as &[&str], &["--with", "cycle"], &["--preset", "guide"]] {
        assert_eq!(sandbox.run(&[&["init", "--status-line"], flags].concat()).code, Some(2));
    }
}
