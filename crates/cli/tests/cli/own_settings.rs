//! An agent's edit of Tidegate's own config or state, or of the host's hook settings, has a person asked.

use std::fs;

use serde_json::json;

use crate::fixtures;
use crate::sandbox::Sandbox;

/// The program that the hooks of the tests start.
const EXE: &str = env!("CARGO_BIN_EXE_tidegate");

fn edit(sandbox: &Sandbox, path: &str) -> crate::answer::Answer {
    let mut payload = fixtures::hook("PreToolUse.Write");
    payload["cwd"] = json!(sandbox.project());
    payload["permission_mode"] = json!("default");
    payload["tool_input"]["file_path"] = json!(sandbox.path().join(path));
    sandbox.event(&payload)
}

#[test]
fn a_person_is_asked() {
    let sandbox = Sandbox::new();
    fs::create_dir_all(sandbox.project().join(".claude")).expect("a new folder");
    fs::create_dir_all(sandbox.home().join(".claude")).expect("a new folder");
    for (path, what) in [
        ("project/.claude/tidegate.toml", "Tidegate's config"),
        ("project/.claude/tidegate.local.toml", "Tidegate's config"),
        ("home/.config/tidegate/config.toml", "Tidegate's config"),
        ("project/.claude/settings.json", "hooks and status line"),
        ("project/.claude/settings.local.json", "hooks and status line"),
        ("project/src/../.claude/settings.json", "hooks and status line"),
        ("home/.claude/settings.json", "hooks and status line"),
        ("state/off.json", "private state"),
        ("home/.local/share/tidegate/bin/tidegate", "the program"),
        (EXE, "the program"),
        ("home/.claude/plugins/cache/tidegate/tidegate/0.1.1/hooks/hooks.json", "plugin"),
        ("home/.local/share/tidegate/memory/memory.db", "memory"),
        ("home/.local/share/tidegate/memory/memory.db-wal", "memory"),
    ] {
        let answer = edit(&sandbox, path);
        let decision = &answer.output()["hookSpecificOutput"];
        assert_eq!(decision["permissionDecision"], "ask", "{path}: {answer:?}");
        let reason = decision["permissionDecisionReason"].as_str().unwrap_or_default();
        assert!(reason.contains(what), "{path}: {reason}");
        assert_eq!(sandbox.one_record()["ruling"], "ask", "{path}");
    }
    for path in [
        "project/settings.json",
        "project/.claude/context/progress.md",
        "project/.claude/context/learnings.md",
        "home/.claude/CLAUDE.md",
    ] {
        edit(&sandbox, path).silent();
    }
}

#[test]
fn where_the_client_would_ask_nobody_it_is_denied() {
    let sandbox = Sandbox::new();
    for mode in ["bypassPermissions", "auto"] {
        let mut payload = fixtures::hook("PreToolUse.Write");
        payload["cwd"] = json!(sandbox.project());
        payload["permission_mode"] = json!(mode);
        payload["tool_input"]["file_path"] = json!(sandbox.project().join(".claude/settings.json"));
        let answer = sandbox.event(&payload);
        let output = answer.output();
        assert_eq!(output["hookSpecificOutput"]["permissionDecision"], "deny", "{answer:?}");
        let (reason, message) =
            (output["hookSpecificOutput"].to_string(), output["systemMessage"].to_string());
        assert!(
            message.contains("tidegate off own-settings") && !reason.contains("tidegate off"),
            "{answer:?}"
        );
    }
}

/// By a link in the project, the client takes them for files of the project.
#[test]
fn no_own_file_is_edited_by_a_link_where_the_client_would_ask_nobody() {
    let sandbox = Sandbox::new();
    sandbox.config("");
    let link = sandbox.project().join("link");
    std::os::unix::fs::symlink(sandbox.home().join(".config/tidegate"), &link).expect("a link");
    for mode in ["bypassPermissions", "dontAsk", "auto"] {
        for path in [link.join("config.toml"), sandbox.home().join(".config/tidegate/config.toml")] {
            let mut payload = fixtures::hook("PreToolUse.Write");
            payload["cwd"] = json!(sandbox.project());
            payload["permission_mode"] = json!(mode);
            payload["tool_input"]["file_path"] = json!(path);
            let answer = sandbox.event(&payload);
            let decision = &answer.output()["hookSpecificOutput"]["permissionDecision"];
            assert_eq!(decision, "deny", "{mode} {}: {answer:?}", path.display());
        }
    }
}

#[test]
fn also_where_the_state_fails_and_the_other_gate_is_off() {
    let sandbox = Sandbox::new().with("TIDEGATE_OFF", "skill-gate").with("TIDEGATE_STATE_DIR", "relative");
    let answer = edit(&sandbox, "project/.claude/settings.json");
    assert_eq!(answer.output()["hookSpecificOutput"]["permissionDecision"], "ask", "{answer:?}");
    edit(&sandbox, "project/src/main.rs").silent();
}

#[test]
fn also_of_the_folder_the_client_was_started_in() {
    let sandbox = Sandbox::new();
    let (main, tree) = (sandbox.project(), sandbox.path().join("tree"));
    let git = |args: &[&str]| {
        let mut git = std::process::Command::new("git");
        git.env_clear().env("HOME", sandbox.home()).env("PATH", "/usr/bin:/bin").current_dir(&main);
        let author = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
        assert!(git.args(author).args(args).output().expect("git").status.success(), "{args:?}");
    };
    git(&["init", "-q"]);
    git(&["commit", "-q", "--allow-empty", "-m", "begin"]);
    git(&["worktree", "add", "-q", &tree.to_string_lossy()]);
    for path in
        ["project/.claude/settings.json", "project/.claude/tidegate.toml", "tree/.claude/settings.json"]
    {
        let mut payload = fixtures::hook("PreToolUse.Write");
        payload["cwd"] = json!(tree);
        payload["permission_mode"] = json!("default");
        payload["tool_input"]["file_path"] = json!(sandbox.path().join(path));
        let answer = sandbox.event(&payload);
        assert_eq!(answer.output()["hookSpecificOutput"]["permissionDecision"], "ask", "{path}: {answer:?}");
    }
}

#[test]
fn in_the_persons_language() {
    let sandbox = Sandbox::new().with("LANG", "ja_JP.UTF-8");
    let answer = edit(&sandbox, "home/.claude/settings.json");
    let reason = answer.output()["hookSpecificOutput"]["permissionDecisionReason"].to_string();
    assert!(reason.contains("編集しようとしています"), "{reason}");
}

#[test]
fn a_repository_cannot_switch_it_off() {
    let sandbox = Sandbox::new();
    fs::create_dir_all(sandbox.project().join(".claude")).expect("a new folder");
    fs::write(
        sandbox.project().join(".claude/tidegate.toml"),
        "preset = \"observe\"\n[own_settings]\nmode = \"off\"\n",
    )
    .expect("a new file");
    let answer = edit(&sandbox, "project/.claude/settings.json");
    assert_eq!(answer.output()["hookSpecificOutput"]["permissionDecision"], "ask", "{answer:?}");
    sandbox.config("[own_settings]\nmode = \"shadow\"\n");
    edit(&sandbox, "project/.claude/settings.local.json").silent();
    let record = sandbox.new_records().pop().expect("a record");
    let verdict =
        record["verdicts"].as_array().and_then(|all| all.iter().find(|v| v["policy"] == "own-settings"));
    assert_eq!(verdict.expect("a verdict")["shadow"], true, "{record}");
}
