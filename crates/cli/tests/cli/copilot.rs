//! Copilot CLI: its calls are checked with the facts of its events file, and `init --host copilot` writes its files.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::answer::unfold;
use crate::sandbox::Sandbox;

const SESSION: &str = "5e55-copilot";
const AT: &str = "2026-11-16T18:13:15.186Z";

struct Copilot {
    sandbox: Sandbox,
    events: PathBuf,
}

impl Copilot {
    fn new() -> Copilot {
        let sandbox = Sandbox::new();
        fs::write(sandbox.project().join("package.json"), r#"{"scripts": {"test": "jest"}}"#)
            .expect("a new file");
        fs::write(sandbox.project().join("a.js"), "1").expect("a new file");
        let folder = sandbox.home().join(".copilot/session-state").join(SESSION);
        fs::create_dir_all(&folder).expect("a new folder");
        Copilot { sandbox, events: folder.join("events.jsonl") }
    }

    fn add(&self, kind: &str, data: &Value) {
        self.add_at(AT, kind, data);
    }

    fn add_at(&self, at: &str, kind: &str, data: &Value) {
        let line = json!({ "type": kind, "data": data, "id": "e", "timestamp": at });
        let text = fs::read_to_string(&self.events).unwrap_or_default();
        fs::write(&self.events, format!("{text}{line}\n")).expect("the events");
    }

    /// The answer on stdout.
    fn event(&self, name: &str, more: &Value) -> String {
        let mut payload = json!({
            "hook_event_name": name, "session_id": SESSION, "timestamp": AT, "cwd": self.sandbox.project(),
        });
        payload.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        self.send(name, &payload.to_string())
    }

    fn send(&self, name: &str, payload: &str) -> String {
        let args = ["hook", "--event", name, "--host", "copilot"];
        let ran = self.sandbox.run_with(&args, payload.as_bytes());
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{payload}");
        ran.stdout
    }

    fn start(&self) {
        let _ = self.event("SessionStart", &json!({ "source": "new" }));
    }

    fn edit(&self) {
        let input = json!({ "path": self.sandbox.project().join("a.js"), "old_str": "1", "new_str": "2" });
        let result = json!({ "result_type": "success", "text_result_for_llm": "File updated." });
        let _ = self.event("PreToolUse", &json!({ "tool_name": "Edit", "tool_input": input }));
        let _ = self.event(
            "PostToolUse",
            &json!({ "tool_name": "Edit", "tool_input": input, "tool_result": result }),
        );
    }

    fn ran(&self, output: &str) {
        let result = json!({ "result_type": "success", "text_result_for_llm": output });
        let _ = self.event(
            "PostToolUse",
            &json!({ "tool_name": "Bash", "tool_input": { "command": "npm test" }, "tool_result": result }),
        );
    }

    fn stop(&self) -> String {
        self.event("Stop", &json!({ "stop_hook_active": false, "stop_reason": "end_turn" }))
    }
}

/// Only the host's own last line tells how a command ended.
#[test]
fn a_check_counts_only_with_the_hosts_line_about_it() {
    for (output, verifies) in [
        ("1 passed\n<shellId: 0 completed with exit code 0>", true),
        ("1 failed\n<shellId: 0 completed with exit code 1>", false),
        ("1 passed", false),
        ("<shellId: 0 completed with exit code 0>\n1 failed", false),
    ] {
        let copilot = Copilot::new();
        copilot.start();
        copilot.edit();
        copilot.ran(output);
        let stop = copilot.stop();
        assert_eq!(stop.contains("\"decision\":\"block\""), !verifies, "{output}: {stop}");
    }
}

/// A call that Copilot refused or gave up may still carry a command's output.
#[test]
fn only_a_result_that_succeeded_counts() {
    for (kind, verifies) in [
        (json!("success"), true),
        (json!("failure"), false),
        (json!("denied"), false),
        (json!("rejected"), false),
        (json!(null), false),
        (json!(7), false),
    ] {
        let copilot = Copilot::new();
        copilot.start();
        copilot.edit();
        let output = "1 passed\n<shellId: 0 completed with exit code 0>";
        let result = json!({ "result_type": kind, "text_result_for_llm": output });
        let _ = copilot.event(
            "PostToolUse",
            &json!({ "tool_name": "Bash", "tool_input": { "command": "npm test" }, "tool_result": result }),
        );
        let stop = copilot.stop();
        assert_eq!(stop.contains("\"decision\":\"block\""), !verifies, "{kind}: {stop}");
    }
    // An edit that was refused changed nothing. Where nothing is said, it may have.
    for (kind, holds) in [(json!("denied"), false), (json!("failure"), false), (json!(null), true)] {
        let copilot = Copilot::new();
        copilot.start();
        let input = json!({ "path": copilot.sandbox.project().join("a.js"), "old_str": "1", "new_str": "2" });
        let result = json!({ "result_type": kind, "text_result_for_llm": "" });
        let call = json!({ "tool_name": "Edit", "tool_input": input, "tool_result": result });
        let _ = copilot.event("PostToolUse", &call);
        let stop = copilot.stop();
        assert_eq!(stop.contains("\"decision\":\"block\""), holds, "{kind}: {stop}");
    }
}

/// Copilot runs tools side by side, and only its events say when one began.
#[test]
fn a_check_that_began_before_the_edit_does_not_verify_it() {
    const AFTER: &str = "2099-01-01T00:00:00.000Z";
    let started = |id: &str, line: &str| json!({ "toolCallId": id, "toolName": "bash", "arguments": { "command": line } });
    let ended = |id: &str| json!({ "toolCallId": id, "success": true });
    for (events, verifies) in [
        (vec![(AT, "tool.execution_start", started("c", "npm test"))], false),
        (vec![(AFTER, "tool.execution_start", started("c", "npm test"))], true),
        // An earlier run of the same line has ended.
        (
            vec![
                (AT, "tool.execution_start", started("b", "npm test")),
                (AT, "tool.execution_complete", ended("b")),
                (AFTER, "tool.execution_start", started("c", "npm test")),
            ],
            true,
        ),
        // Which of two runs this is cannot be told.
        (
            vec![
                (AT, "tool.execution_start", started("b", "npm test")),
                (AFTER, "tool.execution_start", started("c", "npm test")),
            ],
            false,
        ),
        (vec![(AT, "tool.execution_start", started("b", "ls"))], true),
    ] {
        let copilot = Copilot::new();
        copilot.start();
        copilot.edit();
        for (at, kind, data) in &events {
            copilot.add_at(at, kind, data);
        }
        copilot.ran("1 passed\n<shellId: 0 completed with exit code 0>");
        let stop = copilot.stop();
        assert_eq!(stop.contains("\"decision\":\"block\""), !verifies, "{events:?}: {stop}");
    }
}

/// It runs on after the turn; its end is a notification.
#[test]
fn a_check_in_the_background_counts_at_its_end() {
    for (end, verifies) in [("has completed successfully.", true), ("has exited with exit code 1.", false)] {
        let copilot = Copilot::new();
        copilot.start();
        copilot.edit();
        copilot.ran("<command started in background with shellId: 3>");
        let notice = json!({
            "sessionId": SESSION, "timestamp": 1_795_049_902_171_u64, "cwd": copilot.sandbox.project(),
            "message": format!("Shell command \"test\" (shellId: 3) {end}"),
            "hook_event_name": "Notification", "notification_type": "shell_completed",
        });
        let _ = copilot.send("Notification", &notice.to_string());
        let stop = copilot.stop();
        assert_eq!(stop.contains("\"decision\":\"block\""), !verifies, "{end}: {stop}");
    }
}

/// Its prompt, its edits and its end are not the main conversation's.
#[test]
fn a_subagent_works_for_its_parent() {
    let copilot = Copilot::new();
    copilot.start();
    let agent = json!({ "session_id": "a-1", "agent_id": "a-1", "agent_type": "explore", "parent_agent_id": SESSION });
    let with = |more: Value| {
        let mut all = agent.clone();
        all.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        all
    };
    let _ = copilot.event("UserPromptSubmit", &with(json!({ "prompt": "never touch src/" })));
    assert_eq!(copilot.event("Stop", &with(json!({ "stop_hook_active": false }))), "");
    let sessions = fs::read_dir(copilot.sandbox.state().join("sessions")).expect("sessions").count();
    assert_eq!(sessions, 1, "the agent's session is its parent's");
    let records = copilot.sandbox.records();
    let own = format!("copilot.{SESSION}");
    assert!(records.iter().all(|record| record["session"] == own), "{records:#?}");
    let constraints = copilot.sandbox.run(&["status", "--session", SESSION, "--json"]);
    assert!(!constraints.ok().contains("never touch"), "{constraints:?}");
}

/// The compaction runs in the background: its end is in the events file alone.
#[test]
fn facts_come_back_with_the_first_tool_after_a_compaction() {
    let copilot = Copilot::new();
    copilot.add("session.start", &json!({ "sessionId": SESSION, "context": { "cwd": "/p" } }));
    copilot.start();
    let context = copilot.sandbox.project().join(".claude/context");
    fs::create_dir_all(&context).expect("a new folder");
    let notes = "# Progress\n\n## 2026-11-15 login page added\n\n- next: logout button\n";
    fs::write(context.join("progress.md"), notes).expect("a new file");
    copilot.edit();
    let said = copilot.event("PreCompact", &json!({ "trigger": "auto" }));
    assert_eq!(said, "", "it only notifies");
    let tool = || {
        let result = json!({ "result_type": "success", "text_result_for_llm": "ok\n<shellId: 0 completed with exit code 0>" });
        copilot.event(
            "PostToolUse",
            &json!({ "tool_name": "Bash", "tool_input": { "command": "true" }, "tool_result": result }),
        )
    };
    assert!(!tool().contains("lost"), "it still runs");
    let later = tidegate_core::time::Millis(4_000_000_000_000).iso();
    let done = json!({ "success": true, "summaryContent": "Work went on.", "postCompactionTokens": 11_688 });
    let line = json!({ "type": "session.compaction_complete", "data": done, "id": "e", "timestamp": later });
    let text = fs::read_to_string(&copilot.events).expect("the events");
    fs::write(&copilot.events, format!("{text}{line}\n")).expect("the events");
    let answer: Value = serde_json::from_str(&tool()).expect("JSON");
    let told = answer["additionalContext"].as_str().expect("a note for the model");
    assert!(told.contains("Copilot CLI compacted") && told.contains("login page added"), "{told}");
    assert!(told.contains("lost these facts") && told.contains("a.js"), "{told}");
    assert!(!tool().contains("login page"), "said once");
}

#[test]
fn a_payload_that_cannot_be_read_closes_the_gate_with_exit_0() {
    let sandbox = Sandbox::new();
    for broken in ["", "{", "[]", "{}", r#"{"session_id": 7}"#] {
        let ran =
            sandbox.run_with(&["hook", "--event", "PreToolUse", "--host", "copilot"], broken.as_bytes());
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{broken}");
        let answer: Value = serde_json::from_str(&ran.stdout).expect("JSON");
        assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "deny", "{broken}: {answer}");
        let ran = sandbox.run_with(&["hook", "--event", "Stop", "--host", "copilot"], broken.as_bytes());
        assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (Some(0), "", ""), "{broken}");
    }
}

/// Copilot reads Claude Code's files, too, and names itself in a variable only.
#[test]
fn hooks_of_claude_codes_settings_answer_in_copilots_form() {
    let sandbox = Sandbox::new().with("COPILOT_CLI", "1");
    let input =
        json!({ "path": sandbox.project().join(".claude/tidegate.toml"), "old_str": "a", "new_str": "b" });
    let payload = json!({ "hook_event_name": "PreToolUse", "session_id": SESSION, "timestamp": AT,
        "cwd": sandbox.project(), "tool_name": "Edit", "tool_input": input });
    let ran = sandbox.run_with(&["hook", "--event", "PreToolUse"], payload.to_string().as_bytes());
    let answer: Value = serde_json::from_str(ran.ok()).expect("JSON");
    assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "ask", "{answer}");
    assert_eq!(sandbox.one_record()["host"], "copilot");
}

/// Its shell tool names the session in a variable, and its hooks do not.
#[test]
fn a_command_of_copilots_shell_is_not_a_hook() {
    let mut copilot = Copilot::new();
    copilot.start();
    copilot.edit();
    copilot.sandbox = copilot.sandbox.with("COPILOT_AGENT_SESSION_ID", SESSION);
    copilot.ran("1 passed\n<shellId: 0 completed with exit code 0>");
    assert!(copilot.stop().contains("block"), "the forged run verified nothing");
}

/// Both files of a project may have Tidegate's hooks.
#[test]
fn an_event_that_two_files_register_is_answered_once() {
    let mut copilot = Copilot::new();
    copilot.sandbox = copilot.sandbox.with("COPILOT_CLI", "1");
    copilot.start();
    copilot.edit();
    assert!(copilot.stop().contains("block"));
    let stop = json!({ "hook_event_name": "Stop", "session_id": SESSION, "timestamp": AT,
        "cwd": copilot.sandbox.project(), "stop_hook_active": false, "stop_reason": "end_turn" });
    let again = copilot.sandbox.run_with(&["hook", "--event", "Stop"], stop.to_string().as_bytes());
    assert_eq!(again.ok(), "");
    let stops = copilot.sandbox.records().into_iter().filter(|record| record["event"] == "Stop").count();
    assert_eq!(stops, 1);
}

#[test]
fn the_status_line_leaves_the_numbers_for_the_hooks() {
    let copilot = Copilot::new();
    copilot.start();
    let payload = json!({ "session_id": SESSION, "cwd": copilot.sandbox.project(), "model": { "id": "gpt-5.5" },
        "context_window": { "current_context_tokens": 62_400, "displayed_context_limit": 128_000 } });
    let ran = copilot.sandbox.run_with(&["statusline", "--host", "copilot"], payload.to_string().as_bytes());
    assert!(ran.ok().contains("40k to compaction"), "{ran:?}");
}

#[test]
fn init_and_uninstall_leave_copilots_files_as_they_were() {
    let sandbox = Sandbox::new();
    let project = sandbox.project();
    let shown = project.display().to_string();
    let said = sandbox.run(&["init", "--host", "copilot", "--project", &shown]);
    assert!(said.ok().contains("Copilot CLI") && said.ok().contains("trust the folder"), "{said:?}");
    let file = project.join(".github/hooks/tidegate.json");
    let written: Value = serde_json::from_str(&fs::read_to_string(&file).expect("a file")).expect("JSON");
    for (event, groups) in written["hooks"].as_object().expect("events") {
        for group in groups.as_array().expect("groups") {
            let handler = &group["hooks"][0];
            assert!(handler["exec"].as_str().is_some_and(|exec| exec.starts_with('/')), "{handler}");
            assert!(handler.get("command").is_none(), "no other host may run it: {handler}");
            let words: Vec<&str> =
                handler["args"].as_array().expect("words").iter().filter_map(Value::as_str).collect();
            assert_eq!(words[..3], ["hook", "--event", event.as_str()]);
            assert!(words.ends_with(&["--host", "copilot"]), "{words:?}");
        }
    }
    assert!(project.join(".github/skills/compound/SKILL.md").is_file());
    let again = sandbox.run(&["init", "--host", "copilot", "--project", &shown]);
    assert!(again.ok().contains("Nothing to change"), "{again:?}");
    let config = sandbox.home().join(".copilot/config.json");
    fs::create_dir_all(config.parent().expect("a folder")).expect("a new folder");
    fs::write(&config, json!({ "trustedFolders": [shown] }).to_string()).expect("its config");
    let doctor = sandbox.run(&["doctor", "--all", "--project", &shown]);
    fs::remove_file(&config).expect("its config");
    let doctor = unfold(&doctor.stdout);
    assert!(doctor.contains("has all of Tidegate's hooks for Copilot CLI"), "{doctor}");
    let _ = sandbox.run(&["uninstall", "--host", "copilot", "--project", &shown]);
    assert!(!project.join(".github").exists());

    // All projects: the server goes into a file that may have others.
    let config = sandbox.home().join(".copilot/mcp-config.json");
    fs::create_dir_all(config.parent().expect("a folder")).expect("a new folder");
    let before = "{\n  \"mcpServers\": {\n    \"other\": { \"command\": \"x\" }\n  }\n}\n";
    fs::write(&config, before).expect("a new file");
    let _ = sandbox.run(&["init", "--user", "--host", "copilot"]).ok();
    let text = fs::read_to_string(&config).expect("a file");
    let servers: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(servers["mcpServers"]["tidegate"]["args"], json!(["mcp"]), "{text}");
    assert!(sandbox.home().join(".copilot/hooks/tidegate.json").is_file());
    let _ = sandbox.run(&["uninstall", "--user", "--host", "copilot"]).ok();
    assert_eq!(fs::read_to_string(&config).expect("a file"), before);
    assert!(!sandbox.home().join(".copilot/hooks").exists());
}
