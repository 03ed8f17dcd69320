//! Codex: its calls are checked with the facts of its rollout, and `init --host codex` writes its files.

use std::fs;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

const PATCH: &str = "*** Begin Patch\n*** Update File: a.js\n@@\n-1\n+2\n*** End Patch\n";

fn through_shell(patch: &str) -> String {
    format!("apply_patch <<'EOF'\n{patch}EOF")
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
    u64::try_from(since.as_millis()).expect("a time")
}

fn merged(mut all: Value, more: &Value) -> Value {
    let members = all.as_object_mut().expect("an object");
    for (name, value) in more.as_object().expect("an object") {
        if value.is_null() {
            members.remove(name);
        } else {
            members.insert(name.clone(), value.clone());
        }
    }
    all
}

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
        self.ended_with(id, exit, &json!({}), &json!({}));
    }

    /// With other members in the entry and in its item; `null` takes one out.
    fn ended_with(&self, id: &str, exit: &Value, more: &Value, of_item: &Value) {
        let status = if *exit == 0 { "completed" } else { "failed" };
        let command = json!(["/bin/bash", "-lc", "npm test"]);
        let item = json!({ "type": "CommandExecution", "id": id, "command": command, "status": status, "exit_code": exit });
        let now = now();
        let entry = json!({
            "type": "item_completed", "thread_id": "s-1", "turn_id": "t", "item": merged(item, of_item),
            "started_at_ms": now, "completed_at_ms": now,
        });
        self.add("event_msg", &merged(entry, more));
    }

    /// Codex takes the patch out of the command line and applies it.
    fn patched(&self, id: &str, status: &str, file: &str, at: u64) {
        self.patched_files(id, status, &[file], at);
    }

    fn patched_files(&self, id: &str, status: &str, files: &[&str], at: u64) {
        let mut changes = json!({});
        for file in files {
            let file = self.sandbox.project().join(file).to_string_lossy().into_owned();
            changes[file] =
                json!({ "type": "update", "unified_diff": "@@ -1 +1 @@\n-1\n+2\n", "move_path": null });
        }
        let item = json!({ "type": "FileChange", "id": id, "changes": changes, "status": status });
        let entry = json!({
            "type": "item_completed", "thread_id": "s-1", "turn_id": "t", "item": item, "started_at_ms": at,
            "completed_at_ms": at,
        });
        self.add("event_msg", &entry);
    }

    /// The answer to a command line before it runs.
    fn asks_to_run(&self, id: &str, line: &str) -> String {
        let call = json!({ "tool_name": "Bash", "tool_use_id": id, "tool_input": { "command": line } });
        self.event("PreToolUse", &call)
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

/// Ids come again: in another thread, and from models that count their calls anew.
#[test]
fn the_status_of_another_command_is_not_taken() {
    for (more, of_item, verifies) in [
        (json!({}), json!({}), true),
        (json!({ "thread_id": "another" }), json!({}), false),
        (json!({}), json!({ "command": ["/bin/bash", "-lc", "npm run lint"] }), false),
        (json!({}), json!({ "command": null }), false),
        (json!({}), json!({ "status": "declined" }), false),
        (json!({}), json!({ "status": "failed" }), false),
        (json!({}), json!({ "status": "in_progress" }), false),
        (json!({}), json!({ "status": null }), false),
    ] {
        let rollout = Rollout::new();
        let _ = rollout.event("SessionStart", &json!({ "source": "startup" }));
        rollout.patch();
        rollout.ended_with("c", &json!(0), &more, &of_item);
        rollout.ran("c");
        let stop = rollout.stop();
        assert_eq!(stop.contains("\"decision\":\"block\""), !verifies, "{more} {of_item}: {stop}");
    }
}

/// Codex runs commands side by side: a check that was under way when a file changed did not read the change.
#[test]
fn a_check_that_began_before_the_edit_does_not_verify_it() {
    for (earlier, verifies) in [(60_000, false), (0, true)] {
        let rollout = Rollout::new();
        let _ = rollout.event("SessionStart", &json!({ "source": "startup" }));
        rollout.patch();
        rollout.ended_with("c", &json!(0), &json!({ "started_at_ms": now() - earlier }), &json!({}));
        rollout.ran("c");
        let stop = rollout.stop();
        assert_eq!(stop.contains("\"decision\":\"block\""), !verifies, "{earlier}: {stop}");
    }
}

/// Codex runs such a line as a patch, whatever the tool's name.
#[test]
fn a_patch_through_the_shell_waits_for_the_skill_like_an_edit() {
    let rollout = Rollout::new();
    rollout.sandbox.config("[skill_gate.require]\ncode = [\"code-quality-rules\"]\n");
    rollout.sandbox.install_skill("code-quality-rules");
    let _ = rollout.event("SessionStart", &json!({ "source": "startup" }));
    let said = rollout.asks_to_run("p", &through_shell(PATCH));
    assert!(
        said.contains("\"permissionDecision\":\"deny\"") && said.contains("code-quality-rules"),
        "{said}"
    );
    for line in ["npm test", "echo apply_patch", "grep '*** Update File: a.js' apply_patch.md"] {
        assert_eq!(rollout.asks_to_run("c", line), "", "{line}");
    }
}

/// No event follows such a patch: the rollout tells that it was applied.
#[test]
fn a_patch_through_the_shell_is_unverified_work() {
    for (status, holds) in [(Some("completed"), true), (Some("declined"), false), (None, false)] {
        let rollout = Rollout::new();
        rollout.add("session_meta", &json!({ "source": "cli" }));
        let _ = rollout.event("SessionStart", &json!({ "source": "startup" }));
        assert_eq!(rollout.asks_to_run("p", &through_shell(PATCH)), "");
        if let Some(status) = status {
            rollout.patched("p", status, "a.js", now());
        }
        let stop = rollout.stop();
        assert_eq!(stop.contains("\"decision\":\"block\""), holds, "{status:?}: {stop}");
        assert_eq!(stop.contains("a.js"), holds, "{status:?}: {stop}");
    }
}

/// If nothing can tell what became of a patch, its files count as edited.
#[test]
fn a_patch_that_no_rollout_tells_of_is_unverified_work() {
    let missing = |_: &Rollout| {};
    let unreadable = |rollout: &Rollout| fs::create_dir(&rollout.path).expect("a new folder");
    let prepares: [&dyn Fn(&Rollout); 2] = [&missing, &unreadable];
    for prepare in prepares {
        let rollout = Rollout::new();
        prepare(&rollout);
        let _ = rollout.event("SessionStart", &json!({ "source": "startup" }));
        let _ = rollout.asks_to_run("p", &through_shell(PATCH));
        let stop = rollout.stop();
        assert!(stop.contains("\"decision\":\"block\"") && stop.contains("a.js"), "{stop}");
    }
    // Codex may keep no rollout.
    let call = json!({ "tool_name": "Bash", "tool_use_id": "p", "transcript_path": null, "tool_input": { "command": through_shell(PATCH) } });
    let rollout = Rollout::new();
    let _ = rollout.event("SessionStart", &json!({ "source": "startup", "transcript_path": null }));
    let _ = rollout.event("PreToolUse", &call);
    let stop = rollout.event("Stop", &json!({ "stop_hook_active": false, "transcript_path": null }));
    assert!(stop.contains("a.js"), "{stop}");
    // A patch that was denied is no edit.
    let rollout = Rollout::new();
    rollout.sandbox.config("[skill_gate.require]\ncode = [\"code-quality-rules\"]\n");
    rollout.sandbox.install_skill("code-quality-rules");
    let _ = rollout.event("SessionStart", &json!({ "source": "startup", "transcript_path": null }));
    assert!(rollout.event("PreToolUse", &call).contains("\"deny\""));
    let stop = rollout.event("Stop", &json!({ "stop_hook_active": false, "transcript_path": null }));
    assert!(!stop.contains("a.js"), "{stop}");
}

/// Only a shell knows the folder, so the command's own event names no file.
#[test]
fn a_patch_in_an_unknown_folder_is_unverified_work() {
    let patch = through_shell(&PATCH.replace("a.js", "b.js"));
    // In a known folder the file itself tells, and it is not there.
    for (folder, holds) in [("$SUB", true), ("sub", false)] {
        let rollout = Rollout::new();
        rollout.add("session_meta", &json!({ "source": "cli" }));
        let _ = rollout.event("SessionStart", &json!({ "source": "startup" }));
        let line = format!("cd \"{folder}\" && {patch}");
        let _ = rollout.asks_to_run("p", &line);
        let call = json!({ "tool_name": "Bash", "tool_use_id": "p", "tool_input": { "command": line }, "tool_response": "" });
        let _ = rollout.event("PostToolUse", &call);
        let stop = rollout.stop();
        assert_eq!(stop.contains("b.js"), holds, "{folder}: {stop}");
    }
}

/// A subagent may end without an event.
#[test]
fn the_end_of_a_turn_waits_for_no_patch() {
    let rollout = Rollout::new();
    rollout.add("session_meta", &json!({ "source": "cli" }));
    let _ = rollout.event("SessionStart", &json!({ "source": "startup" }));
    let call = json!({ "tool_name": "Bash", "tool_use_id": "p", "agent_id": "a1", "agent_type": "default",
        "tool_input": { "command": through_shell(PATCH) } });
    let _ = rollout.event("PreToolUse", &call);
    assert!(!rollout.stop().contains("a.js"));
    let marks = fs::read_to_string(rollout.sandbox.session("codex.s-1").join("marks")).expect("the marks");
    let patches = |word: &str| marks.lines().filter(|line| line.to_lowercase().contains(word)).count();
    assert_eq!((patches("announced"), patches("patched")), (1, 1), "{marks}");
}

/// Codex writes file by file, and stops at the first that it cannot write. No event follows, by whatever tool it came.
#[test]
fn a_patch_that_failed_half_way_is_unverified_work() {
    for by_shell in [true, false] {
        for changes in [true, false] {
            let rollout = Rollout::new();
            let _ = rollout.event("SessionStart", &json!({ "source": "startup" }));
            let file = |name: &str, before: u64| {
                let path = rollout.sandbox.project().join(name);
                fs::write(&path, "1").expect("a file");
                let at = SystemTime::now() - std::time::Duration::from_secs(before);
                fs::File::options()
                    .write(true)
                    .open(path)
                    .and_then(|file| file.set_modified(at))
                    .expect("its time");
            };
            file("b.js", 600);
            if by_shell {
                let _ = rollout.asks_to_run("p", &through_shell(PATCH));
            } else {
                let call = json!({ "tool_name": "apply_patch", "tool_use_id": "p", "tool_input": { "command": PATCH } });
                let _ = rollout.event("PreToolUse", &call);
            }
            file("a.js", if changes { 0 } else { 600 });
            rollout.patched_files("p", "failed", &["a.js", "b.js", "c.js/d.js"], now());
            let stop = rollout.stop();
            assert_eq!(stop.contains("a.js"), changes, "{by_shell}: {stop}");
            assert!(!stop.contains("b.js") && !stop.contains("d.js"), "{by_shell}: {stop}");
        }
    }
}

/// The event that follows tells the same as the rollout.
#[test]
fn a_patch_that_was_applied_counts_once() {
    let rollout = Rollout::new();
    let _ = rollout.event("SessionStart", &json!({ "source": "startup" }));
    let call = json!({ "tool_name": "apply_patch", "tool_use_id": "p", "tool_input": { "command": PATCH } });
    let _ = rollout.event("PreToolUse", &call);
    rollout.patched("p", "completed", "a.js", now());
    let _ = rollout.event("PostToolUse", &call);
    let marks = fs::read_to_string(rollout.sandbox.session("codex.s-1").join("marks")).expect("the marks");
    let edits = marks.lines().filter(|line| line.starts_with(r#"{"edit""#) && line.contains("a.js"));
    assert_eq!(edits.count(), 1, "{marks}");
    assert!(rollout.stop().contains("a.js"));
}

/// Codex gives the folder of a call as that of the session, and names no project.
#[test]
fn a_folder_of_the_call_is_in_the_sessions_project() {
    let rollout = Rollout::new();
    let project = rollout.sandbox.project();
    let _ = rollout.sandbox.run(&["init", "--host", "codex", "--preset", "strict", "--project", "."]);
    let _ = rollout.event("SessionStart", &json!({ "source": "startup" }));
    let (below, outside) = (project.join("sub"), rollout.sandbox.path().join("outside"));
    fs::create_dir_all(&below).expect("a new folder");
    fs::create_dir_all(&outside).expect("a new folder");
    for (folder, file) in
        [(&below, "c.js".to_owned()), (&outside, project.join("c.js").display().to_string())]
    {
        let patch = PATCH.replace("a.js", &file);
        let call = json!({ "tool_name": "Bash", "tool_use_id": "p", "cwd": folder, "tool_input": { "command": through_shell(&patch) } });
        let said = rollout.event("PreToolUse", &call);
        assert!(said.contains("\"permissionDecision\":\"deny\""), "{}: {said}", folder.display());
    }
    let last = rollout.sandbox.records().pop().expect("a record");
    assert_eq!(last["project"].as_str().map(PathBuf::from), Some(project));
}

#[test]
fn a_check_after_a_patch_through_the_shell_verifies_it() {
    for (earlier, verifies) in [(0, true), (60_000, false)] {
        let rollout = Rollout::new();
        let _ = rollout.event("SessionStart", &json!({ "source": "startup" }));
        let _ = rollout.asks_to_run("p", &through_shell(PATCH));
        rollout.patched("p", "completed", "a.js", now());
        rollout.ended_with("c", &json!(0), &json!({ "started_at_ms": now() - earlier }), &json!({}));
        rollout.ran("c");
        let stop = rollout.stop();
        assert_eq!(stop.contains("\"decision\":\"block\""), !verifies, "{earlier}: {stop}");
    }
}

/// Only edits wait for the state: without it, commands still have to run.
#[test]
fn a_command_that_edits_nothing_runs_without_the_state() {
    let rollout = Rollout::new();
    let _ = rollout.event("SessionStart", &json!({ "source": "startup" }));
    let marks = rollout.sandbox.session("codex.s-1").join("marks");
    fs::remove_file(&marks).expect("the marks");
    fs::create_dir(&marks).expect("a new folder");
    assert_eq!(rollout.asks_to_run("c", "npm test"), "");
    let said = rollout.asks_to_run("p", &through_shell(PATCH));
    assert!(said.contains("\"permissionDecision\":\"deny\"") && said.contains("could not check"), "{said}");
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
        for said in [rollout.event("PreToolUse", &call), rollout.asks_to_run(file, &through_shell(&patch))] {
            let denies = said.contains("\"permissionDecision\":\"deny\"");
            assert!(denies && said.contains("Codex"), "{file}: {said}");
        }
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

/// Hosts choose the ids of their sessions alone.
#[test]
fn a_session_of_another_host_with_the_same_id_is_another_session() {
    for edits_in_codex in [true, false] {
        let rollout = Rollout::new();
        rollout.add("session_meta", &json!({ "source": "cli" }));
        let claude = |event: &str, more: &Value| {
            let payload = json!({ "hook_event_name": event, "session_id": "s-1", "cwd": rollout.sandbox.project(), "permission_mode": "default" });
            let payload = merged(payload, more).to_string();
            rollout.sandbox.run_with(&["hook", "--event", event], payload.as_bytes()).stdout
        };
        let _ = claude("SessionStart", &json!({ "source": "startup" }));
        let _ = rollout.event("SessionStart", &json!({ "source": "startup" }));
        if edits_in_codex {
            rollout.patch();
        } else {
            let edit = json!({ "tool_name": "Edit", "tool_use_id": "e",
                "tool_input": { "file_path": rollout.sandbox.project().join("a.js") }, "tool_response": {} });
            let _ = claude("PostToolUse", &edit);
        }
        let of_claude = claude("Stop", &json!({ "stop_hook_active": false }));
        assert_eq!(of_claude.contains("a.js"), !edits_in_codex, "{of_claude}");
        let of_codex = rollout.stop();
        assert_eq!(of_codex.contains("a.js"), edits_in_codex, "{of_codex}");

        // People know the id that the host shows; that of Claude Code is its whole name.
        let status = |id: &str| {
            let shown: Value =
                serde_json::from_str(&rollout.sandbox.run(&["status", "--json", "--session", id]).stdout)
                    .expect("JSON");
            shown["session"].clone()
        };
        assert_eq!((status("s-1"), status("codex.s-1")), (json!("s-1"), json!("codex.s-1")));
        let records = rollout.sandbox.records();
        let names = |host: &str| -> Vec<&Value> {
            let mut names: Vec<_> = records
                .iter()
                .filter(|record| record["host"] == host)
                .map(|record| &record["session"])
                .collect();
            names.dedup();
            names
        };
        assert_eq!((names("claude-code"), names("codex")), (vec![&json!("s-1")], vec![&json!("codex.s-1")]));
    }
}

#[test]
fn a_session_is_found_by_the_id_that_its_host_shows() {
    let rollout = Rollout::new();
    rollout.add("session_meta", &json!({ "source": "cli" }));
    let _ = rollout.event("SessionStart", &json!({ "source": "startup" }));
    for named in ["s-1", "codex.s-1"] {
        for command in ["status", "explain", "log", "meter"] {
            let last = if command == "explain" { vec![command, "last"] } else { vec![command] };
            let ran = rollout.sandbox.run(&[last.as_slice(), &["--session", named, "--json"]].concat());
            assert_ne!(ran.code, Some(2), "{command} {named}: {ran:?}");
            assert!(!ran.stderr.contains("session"), "{command} {named}: {ran:?}");
        }
    }
    let own = rollout.sandbox.with("CODEX_SESSION_ID", "s-1").run(&["status", "--json"]);
    assert!(own.stdout.contains("codex.s-1"), "{own:?}");
}
