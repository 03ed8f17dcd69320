//! Codex: its calls are checked with the facts of its rollout, and `init --host codex` writes its files.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

const PATCH: &str = "*** Begin Patch\n*** Update File: a.js\n@@\n-1\n+2\n*** End Patch\n";

struct Rollout {
    sandbox: Sandbox,
    path: PathBuf,
}

impl Rollout {
    fn new() -> Rollout {
        let sandbox = Sandbox::new();
        fs::write(sandbox.project().join("package.json"), r#"{"scripts": {"test": "jest"}}"#)
            .expect("a new file");
        fs::write(sandbox.project().join("a.js"), "1").expect("a new file");
        let folder = sandbox.home().join(".codex/sessions/2026/11/16");
        fs::create_dir_all(&folder).expect("a new folder");
        Rollout { sandbox, path: folder.join("rollout-1.jsonl") }
    }

    fn add(&self, kind: &str, payload: &Value) {
        let line = json!({ "timestamp": "2026-11-16T18:11:47.069Z", "type": kind, "payload": payload });
        let text = fs::read_to_string(&self.path).unwrap_or_default();
        fs::write(&self.path, format!("{text}{line}\n")).expect("the rollout");
    }

    fn ended(&self, id: &str, exit: &Value) {
        let item = json!({ "type": "CommandExecution", "id": id, "exit_code": exit });
        self.add("event_msg", &json!({ "type": "item_completed", "item": item }));
    }

    /// The answer on stdout.
    fn event(&self, name: &str, more: &Value) -> String {
        let mut payload = json!({
            "hook_event_name": name, "session_id": "s-1", "turn_id": "t", "transcript_path": self.path,
            "cwd": self.sandbox.project(), "model": "gpt-5.5", "permission_mode": "default",
        });
        payload.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        let args = ["hook", "--event", name, "--host", "codex"];
        let ran = self.sandbox.run_with(&args, payload.to_string().as_bytes());
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{payload}");
        ran.stdout
    }

    fn patch(&self) {
        let call =
            json!({ "tool_name": "apply_patch", "tool_use_id": "p", "tool_input": { "command": PATCH } });
        let _ = self.event("PreToolUse", &call);
        let _ = self.event("PostToolUse", &call);
    }

    fn ran(&self, id: &str) {
        let call = json!({ "tool_name": "Bash", "tool_use_id": id, "tool_input": { "command": "npm test" }, "tool_response": "1 passed" });
        let _ = self.event("PostToolUse", &call);
    }

    fn stop(&self) -> String {
        self.event("Stop", &json!({ "stop_hook_active": false, "last_assistant_message": "done" }))
    }
}

/// Codex gives its hooks no status: only the rollout tells, and only for the call itself.
#[test]
fn a_check_counts_only_with_its_status_in_the_rollout() {
    for (exit, verifies) in [
        (Some(json!(0)), true),
        (Some(json!(1)), false),
        (Some(json!("0")), false),
        (Some(json!(null)), false),
        (None, false),
    ] {
        let rollout = Rollout::new();
        rollout.add("session_meta", &json!({ "source": "cli" }));
        let _ = rollout.event("SessionStart", &json!({ "source": "startup" }));
        rollout.patch();
        rollout.ended("another", &json!(0));
        if let Some(exit) = &exit {
            rollout.ended("c", exit);
        }
        rollout.ran("c");
        let stop = rollout.stop();
        assert_eq!(stop.contains("\"decision\":\"block\""), !verifies, "{exit:?}: {stop}");
    }
}

/// Codex drops an answer that asks, so the edit is denied.
#[test]
fn an_edit_of_our_own_files_is_denied_because_no_hook_can_ask() {
    let rollout = Rollout::new();
    let _ = rollout.sandbox.run(&[
        "init",
        "--host",
        "codex",
        "--project",
        &rollout.sandbox.project().display().to_string(),
    ]);
    for file in [".claude/tidegate.toml", ".codex/hooks.json"] {
        let patch = format!("*** Begin Patch\n*** Update File: {file}\n@@\n-a\n+b\n*** End Patch\n");
        let call =
            json!({ "tool_name": "apply_patch", "tool_use_id": file, "tool_input": { "command": patch } });
        let said = rollout.event("PreToolUse", &call);
        assert!(said.contains("\"permissionDecision\":\"deny\"") && said.contains("Codex"), "{file}: {said}");
    }
}

#[test]
fn a_payload_that_cannot_be_read_closes_the_gate_in_codexs_own_form() {
    let sandbox = Sandbox::new();
    for broken in ["", "{", "[]", "{}", r#"{"session_id": 7}"#] {
        let ran = sandbox.run_with(&["hook", "--event", "PreToolUse", "--host", "codex"], broken.as_bytes());
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{broken}");
        let answer: Value = serde_json::from_str(&ran.stdout).expect("JSON");
        assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "deny", "{broken}: {answer}");
        let ran = sandbox.run_with(&["hook", "--event", "Stop", "--host", "codex"], broken.as_bytes());
        assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (Some(0), "", ""), "{broken}");
    }
}

/// Its shell tool names the session in a variable, and its hooks do not.
#[test]
fn a_command_of_the_agent_is_not_a_hook() {
    let mut rollout = Rollout::new();
    rollout.add("session_meta", &json!({ "source": "cli" }));
    let _ = rollout.event("SessionStart", &json!({ "source": "startup" }));
    rollout.patch();
    rollout.ended("c", &json!(0));
    rollout.sandbox = rollout.sandbox.with("CODEX_SESSION_ID", "s-1");
    rollout.ran("c");
    assert!(rollout.stop().contains("block"), "the forged run verified nothing");
}

#[test]
fn init_and_uninstall_leave_codexs_files_as_they_were() {
    let sandbox = Sandbox::new();
    let folder = sandbox.project().join(".codex");
    fs::create_dir(&folder).expect("a new folder");
    let hooks = "{\n  \"hooks\": {\n    \"Stop\": [{ \"hooks\": [{ \"type\": \"command\", \"command\": \"true\" }] }]\n  }\n}\n";
    let config = "model = \"gpt-5.5\" # mine\n\n[mcp_servers.other]\ncommand = \"x\"\n";
    fs::write(folder.join("hooks.json"), hooks).expect("a new file");
    fs::write(folder.join("config.toml"), config).expect("a new file");
    let project = sandbox.project().display().to_string();
    let said = sandbox.run(&["init", "--host", "codex", "--project", &project]);
    assert!(said.ok().contains("/hooks"), "{said:?}");
    let written: Value =
        serde_json::from_str(&fs::read_to_string(folder.join("hooks.json")).expect("a file")).expect("JSON");
    for (event, groups) in written["hooks"].as_object().expect("events") {
        let ours = groups
            .as_array()
            .into_iter()
            .flatten()
            .map(|group| &group["hooks"][0])
            .filter(|it| it["command"] != "true");
        for handler in ours {
            let line = handler["command"].as_str().expect("a line");
            assert!(
                line.contains(&format!("hook --event {event}")) && line.ends_with("--host codex"),
                "{line}"
            );
            assert!(handler.get("args").is_none() && handler.get("onFailure").is_none(), "{handler}");
        }
    }
    let again = sandbox.run(&["init", "--host", "codex", "--project", &project]);
    assert!(again.ok().contains("Nothing to change"), "{again:?}");
    let doctor = sandbox.run(&["doctor", "--project", &project]);
    assert_eq!(doctor.code, Some(1), "hooks that are not trusted are a problem");
    assert!(doctor.stdout.contains("/hooks"), "{doctor:?}");
    let _ = sandbox.run(&["uninstall", "--host", "codex", "--project", &project]);
    assert_eq!(fs::read_to_string(folder.join("hooks.json")).expect("a file"), hooks);
    assert_eq!(fs::read_to_string(folder.join("config.toml")).expect("a file"), config);
    assert!(!folder.join("skills").exists());
    // Without a name every host's part goes.
    let _ = sandbox.run(&["init", "--host", "codex", "--project", &project]);
    let _ = sandbox.run(&["init", "--project", &project]);
    let _ = sandbox.run(&["uninstall", "--project", &project]);
    assert_eq!(fs::read_to_string(folder.join("hooks.json")).expect("a file"), hooks);
    assert!(
        !folder.join("skills").exists() && !sandbox.project().join(".claude/settings.local.json").exists()
    );
}
