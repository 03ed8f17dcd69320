//! Texts that a person gets once on a machine, and skills by the names that they have here.

use std::fs;

use serde_json::{Value, json};

use crate::answer::Answer;
use crate::sandbox::Sandbox;

const RECORDS: &str = "records your prompts and Claude's answers";
const STATUS_LINE: &str = "`tidegate init --user --status-line`";

/// Nobody has said anything yet.
fn untold() -> Sandbox {
    let sandbox = Sandbox::new();
    fs::remove_dir_all(sandbox.state().join("told")).expect("our own");
    sandbox
}

fn start(sandbox: &Sandbox, session: &str, arguments: &[&str]) -> String {
    let payload = json!({
        "session_id": session, "hook_event_name": "SessionStart", "source": "startup", "cwd": sandbox.project(),
    });
    let answer = sandbox.hook(&[&["--event", "SessionStart"], arguments].concat(), payload.to_string());
    message(&answer)
}

fn message(answer: &Answer) -> String {
    if answer.stdout.is_empty() {
        return String::new();
    }
    answer.output()["systemMessage"].as_str().unwrap_or_default().to_owned()
}

/// A teammate did not run `init`: the hooks came with the repository.
#[test]
fn whoever_is_recorded_hears_it_once() {
    let sandbox = untold();
    let said = start(&sandbox, "s-1", &["--via", "shared"]);
    assert!(said.contains(RECORDS) && said.contains("`tidegate off recording`"), "{said}");
    assert_eq!(start(&sandbox, "s-2", &["--via", "shared"]), "", "once");
    // In their language.
    let sandbox = untold().with("LANG", "ja_JP.UTF-8");
    assert!(start(&sandbox, "s-1", &[]).contains("このマシンだけ"));
}

#[test]
fn whoever_is_not_recorded_or_knows_it_does_not() {
    let off = untold();
    off.config("[recording]\nmode = \"off\"\n");
    assert_eq!(start(&off, "s-1", &[]), "");
    let headless = untold().with("CLAUDE_CODE_SESSION_ATTENDED", "0");
    assert_eq!(start(&headless, "s-1", &[]), "", "nobody is there, and nothing is recorded");
    // Also in the mildest preset: recording is on there.
    let observed = untold();
    observed.config("preset = \"observe\"\n");
    assert!(start(&observed, "s-1", &[]).contains(RECORDS));
}

/// `init` says it only to a person who reads it.
#[cfg(target_os = "linux")]
#[test]
fn whoever_read_it_at_init_does_not_hear_it_again() {
    use crate::people::{at_terminal, at_terminal_below};

    let installed = untold();
    assert_eq!(at_terminal(&installed, &["init"], "").code, Some(0));
    assert_eq!(start(&installed, "s-1", &[]), "", "`init` said it");
    for arguments in [
        &["init", "--json"] as &[&str],
        &["init", "--dry-run"],
        &["init", "--diff"],
        &["init", "--user", "--status-line"],
    ] {
        let unread = untold();
        assert_eq!(at_terminal(&unread, arguments, "").code, Some(0));
        assert!(start(&unread, "s-1", &[]).contains(RECORDS), "{arguments:?}");
    }
    // There was nothing to change, so it was not printed.
    let again = untold();
    assert_eq!(again.run(&["init"]).code, Some(0));
    assert_eq!(at_terminal(&again, &["init"], "").code, Some(0));
    assert!(start(&again, "s-1", &[]).contains(RECORDS));
    let piped = untold();
    assert_eq!(piped.run(&["init"]).code, Some(0));
    assert!(start(&piped, "s-1", &[]).contains(RECORDS), "a script may have run it");
    let agent = untold();
    assert_eq!(at_terminal_below(&agent, &["init"], "", &[("CLAUDECODE", "1")]).code, Some(0));
    assert!(start(&agent, "s-1", &[]).contains(RECORDS), "an agent read it");
    // Then it was off; now it is on.
    let off = untold();
    off.config("[recording]\nmode = \"off\"\n");
    assert_eq!(at_terminal(&off, &["init"], "").code, Some(0));
    off.config("");
    assert!(start(&off, "s-1", &[]).contains(RECORDS));
}

#[test]
fn with_the_plugin_the_missing_status_line_is_said_once() {
    let plugin = |sandbox: Sandbox| {
        let folder = sandbox.path().join("plugin");
        fs::create_dir_all(&folder).expect("a new folder");
        sandbox.with("CLAUDE_PLUGIN_ROOT", folder)
    };
    let sandbox = plugin(Sandbox::new());
    assert!(start(&sandbox, "s-1", &["--via", "plugin"]).contains(STATUS_LINE));
    assert_eq!(start(&sandbox, "s-2", &["--via", "plugin"]), "", "once");
    // The command that it names is enough.
    let sandbox = plugin(Sandbox::new());
    assert_eq!(sandbox.run(&["init", "--user", "--status-line"]).code, Some(0));
    assert_eq!(start(&sandbox, "s-1", &["--via", "plugin"]), "");
    assert_eq!(start(&Sandbox::new(), "s-1", &[]), "", "not with the plugin");
}

/// `init` gives a skill a longer name where the person has another of that name.
#[test]
fn texts_name_a_skill_as_it_is_called_here() {
    let sandbox = Sandbox::new();
    sandbox.install_skill("verification-before-completion");
    assert_eq!(sandbox.run(&["init"]).code, Some(0));
    start(&sandbox, "s-1", &[]);
    let event = |name: &str, mut members: Value| {
        members["session_id"] = json!("s-1");
        members["hook_event_name"] = json!(name);
        members["cwd"] = json!(sandbox.project());
        sandbox.hook(&["--event", name], members.to_string())
    };
    let file = sandbox.project().join("a.sh");
    fs::write(&file, "x").expect("a new file");
    let edit = json!({ "tool_name": "Write", "tool_use_id": "t-1", "tool_input": { "file_path": file, "content": "x" },
        "tool_response": { "filePath": file } });
    let _ = event("PostToolUse", edit);
    let stop = event("Stop", json!({ "stop_hook_active": false, "prompt_id": "p-1" }));
    let reason = stop.output()["reason"].as_str().unwrap_or_default().to_owned();
    assert!(reason.contains("the skill tidegate-verification-before-completion"), "{reason}");
    // And under that name it counts.
    let skill = json!({ "tool_name": "Skill", "tool_use_id": "t-2",
        "tool_input": { "skill": "tidegate-verification-before-completion" }, "tool_response": { "success": true } });
    let _ = event("PostToolUse", skill);
    event("Stop", json!({ "stop_hook_active": true, "prompt_id": "p-2" })).silent();
}

/// A teammate who never ran `init` has no such skill: one line of a repository's config must not deny all their edits.
#[test]
fn a_preset_requires_its_skill_only_where_it_is_installed() {
    let sandbox = Sandbox::new();
    let config = sandbox.project().join(".claude/tidegate.toml");
    fs::create_dir_all(config.parent().expect("a folder")).expect("new folders");
    fs::write(&config, "preset = \"strict\"\n").expect("a new file");
    start(&sandbox, "s-1", &[]);
    let file = sandbox.project().join("a.rs");
    let edit = || {
        let payload = json!({
            "session_id": "s-1", "hook_event_name": "PreToolUse", "cwd": sandbox.project(), "tool_name": "Write",
            "tool_use_id": "t-1", "tool_input": { "file_path": file, "content": "x" },
        });
        sandbox.hook(&["--event", "PreToolUse"], payload.to_string())
    };
    edit().silent();
    let status = sandbox.run(&["status"]);
    assert!(status.ok().contains("`code-quality-rules` of the preset is not installed"), "{status:?}");
    assert!(status.ok().contains("`tidegate init --with rules`"), "{status:?}");
    // The repository says it by name.
    let named = "preset = \"strict\"\n[skill_gate.require]\ncode = [\"code-quality-rules\"]\n";
    fs::write(&config, named).expect("the file");
    assert!(message(&edit()).contains("did not find it"));
    fs::write(&config, "preset = \"strict\"\n").expect("the file");
    sandbox.install_skill("code-quality-rules");
    assert!(edit().stdout.contains("code-quality-rules"), "installed by the person");
    let status = sandbox.run(&["status"]);
    assert!(!status.ok().contains("`code-quality-rules` of the preset"), "{status:?}");
}

/// A required skill that is not installed could never be invoked.
#[test]
fn a_required_skill_that_is_missing_is_named_with_the_way_to_get_it() {
    let sandbox = Sandbox::new();
    sandbox.config("preset = \"strict\"\n[skill_gate.require]\ncode = [\"code-quality-rules\"]\n");
    let file = sandbox.project().join("a.rs");
    let edit = |session: &str, file: &std::path::Path| {
        let payload = json!({
            "session_id": session, "hook_event_name": "PreToolUse", "cwd": sandbox.project(), "tool_name": "Write",
            "tool_use_id": "t-1", "tool_input": { "file_path": file, "content": "x" },
        });
        sandbox.hook(&["--event", "PreToolUse"], payload.to_string())
    };
    let denied = edit("s-1", &file);
    let reason = denied.output()["hookSpecificOutput"]["permissionDecisionReason"].to_string();
    assert!(reason.contains("If Claude Code does not know it, tell the user"), "{reason}");
    assert!(message(&denied).contains("`tidegate init --with rules`"), "{denied:?}");
    assert_eq!(sandbox.run(&["init", "--with", "rules"]).code, Some(0));
    let denied = edit("s-2", &file);
    assert!(
        !denied.stdout.contains("did not find") && denied.stdout.contains("code-quality-rules"),
        "{denied:?}"
    );
    sandbox.config("[skill_gate.require]\ncode = [\"team-rules\"]\n");
    let denied = edit("s-3", &file);
    assert!(message(&denied).contains(".claude/skills/team-rules/SKILL.md"), "{denied:?}");
    sandbox.install_skill("team-rules");
    let denied = edit("s-4", &file);
    assert!(!denied.stdout.contains("did not find") && denied.stdout.contains("team-rules"), "{denied:?}");
}
