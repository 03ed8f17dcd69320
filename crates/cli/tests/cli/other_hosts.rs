//! Qwen Code and opencode: their calls are checked in their own form, and `init --host` writes their files.

use std::fs;

use serde_json::{Value, json};

use crate::answer::unfold;
use crate::sandbox::Sandbox;

fn qwen(event: &str, more: &Value) -> Value {
    let mut payload = json!({ "hook_event_name": event, "session_id": "s-1", "timestamp": "2026", "tool_call_id": "c",
        "transcript_path": "/h/.qwen/projects/p/chats/s-1.jsonl" });
    payload.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    payload
}

fn opencode(event: &str, more: &Value) -> Value {
    let mut payload =
        json!({ "opencode": 1, "hook_event_name": event, "session_id": "ses_1", "call_id": "c" });
    payload.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    payload
}

#[test]
fn a_payload_that_cannot_be_read_closes_the_gate_in_the_hosts_own_form() {
    let sandbox = Sandbox::new();
    for broken in ["", "{", "[]", "{}", r#"{"session_id": 7}"#] {
        let answer = |host: &str, event: &str| {
            let ran = sandbox.run_with(&["hook", "--event", event, "--host", host], broken.as_bytes());
            assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{host} {broken}");
            ran.stdout
        };
        let denied: Value = serde_json::from_str(&answer("qwen", "PreToolUse")).expect("JSON");
        assert_eq!(denied["hookSpecificOutput"]["permissionDecision"], "deny", "{broken}: {denied}");
        let denied: Value = serde_json::from_str(&answer("opencode", "PreToolUse")).expect("JSON");
        assert!(denied["deny"].as_str().is_some_and(|reason| !reason.is_empty()), "{broken}: {denied}");
        assert_eq!(answer("opencode", "Stop"), "", "{broken}");
    }
}

/// Whatever else a payload says it is: the gate was asked about a call, and cannot tell which.
#[test]
fn a_payload_of_another_event_or_without_a_tool_closes_the_gate() {
    let path = "/p/src/a.rs";
    let other = json!({ "hook_event_name": "PostToolUse", "tool_name": "Edit", "tool_input": { "file_path": path, "filePath": path, "path": path } });
    let unnamed =
        json!({ "hook_event_name": "PreToolUse", "tool_name": "", "tool_input": { "file_path": path } });
    for (payload, step) in [
        (&other, "the payload is of another event"),
        (&json!({ "hook_event_name": "Stop" }), "the payload is of another event"),
        (
            &json!({ "hook_event_name": "SomethingNew", "tool_name": "Edit" }),
            "the payload is of another event",
        ),
        (&unnamed, "tool_name is empty"),
    ] {
        for host in ["claude-code", "codex", "copilot", "qwen", "opencode"] {
            let sandbox = Sandbox::new();
            let mut payload = payload.clone();
            payload["session_id"] = json!("s-1");
            payload["cwd"] = json!(sandbox.project());
            let args: &[&str] = if host == "claude-code" { &[] } else { &["--host", host] };
            let args = [&["hook", "--event", "PreToolUse"], args].concat();
            let ran = sandbox.run_with(&args, payload.to_string().as_bytes());
            let said = format!("{}{}", ran.stdout, ran.stderr);
            assert!(said.contains(step), "{host} {payload}: {ran:?}");
            let denies = ran.code == Some(2)
                || said.contains("\"permissionDecision\":\"deny\"")
                || said.starts_with(r#"{"deny":"#);
            assert!(denies, "{host} {payload}: {ran:?}");
            // Advice has nothing to close.
            let args = [args.as_slice(), &["--advice"]].concat();
            let ran = sandbox.run_with(&args, payload.to_string().as_bytes());
            assert!(ran.code == Some(0) && !ran.stdout.contains("deny"), "{host} {payload}: {ran:?}");
        }
    }
}

/// opencode runs tools side by side, and its plugin says when one began.
#[test]
fn a_check_that_began_before_the_edit_does_not_verify_it() {
    for (began, verifies) in [(1_000_u64, false), (4_000_000_000_000, true)] {
        let sandbox = Sandbox::new();
        fs::write(sandbox.project().join("package.json"), r#"{"scripts": {"test": "jest"}}"#)
            .expect("a new file");
        fs::write(sandbox.project().join("a.js"), "1").expect("a new file");
        let send = |event: &str, more: &Value| {
            let mut payload = opencode(event, more);
            payload["cwd"] = json!(sandbox.project());
            let ran = sandbox
                .run_with(&["hook", "--event", event, "--host", "opencode"], payload.to_string().as_bytes());
            assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{payload}");
            ran.stdout
        };
        let _ = send("SessionStart", &json!({ "source": "startup" }));
        let edit = json!({ "tool_name": "edit", "tool_input": { "filePath": sandbox.project().join("a.js") }, "tool_output": "" });
        let _ = send("PostToolUse", &edit);
        let run = json!({ "tool_name": "bash", "tool_input": { "command": "npm test" }, "tool_output": "1 passed", "exit": 0, "began": began });
        let _ = send("PostToolUse", &run);
        let stop = send("Stop", &json!({ "last_message": "done", "held_before": false }));
        assert_eq!(stop.contains("\"block\""), !verifies, "{began}: {stop}");
    }
}

/// The plugin denies an edit about which the program says nothing. So it says yes where a person has switched the gate off,
/// even if it cannot check anything.
#[test]
fn a_gate_that_is_off_says_yes_to_opencode() {
    let sandbox = Sandbox::new().with("TIDEGATE_OFF", "skill-gate");
    let edit =
        opencode("PreToolUse", &json!({ "tool_name": "edit", "tool_input": { "filePath": "/p/a.rs" } }));
    for payload in [edit.to_string(), "{".to_owned(), String::new()] {
        let said =
            sandbox.run_with(&["hook", "--event", "PreToolUse", "--host", "opencode"], payload.as_bytes());
        assert_eq!((said.code, said.stdout.as_str()), (Some(0), r#"{"pass":true}"#), "{payload}");
    }
}

/// Each host's way to guard Tidegate's own files: Qwen Code can ask, a plugin cannot.
#[test]
fn edits_of_our_own_files_are_asked_about_or_denied() {
    let sandbox = Sandbox::new();
    let project = sandbox.project().display().to_string();
    let _ = sandbox.run(&["init", "--host", "qwen", "--project", &project]);
    let _ = sandbox.run(&["init", "--host", "opencode", "--project", &project]);
    for file in [".claude/tidegate.toml", ".qwen/settings.json", ".opencode/plugins/tidegate.js"] {
        let path = sandbox.project().join(file);
        let call = |name: &str, member: &str| json!({ "cwd": &project, "tool_name": name, "tool_input": { member: path } });
        let payload = qwen("PreToolUse", &call("edit", "file_path")).to_string();
        let said = sandbox.run_with(&["hook", "--event", "PreToolUse", "--host", "qwen"], payload.as_bytes());
        assert!(said.stdout.contains(r#""permissionDecision":"ask""#), "{file}: {said:?}");
        let payload = opencode("PreToolUse", &call("edit", "filePath")).to_string();
        let said =
            sandbox.run_with(&["hook", "--event", "PreToolUse", "--host", "opencode"], payload.as_bytes());
        assert!(said.stdout.starts_with(r#"{"deny":"#), "{file}: {said:?}");
    }
}

/// Whichever host edits them.
#[test]
fn folders_that_a_variable_moved_are_guarded() {
    for (variable, file) in [
        ("COPILOT_HOME", "hooks/tidegate.json"),
        ("QWEN_HOME", "settings.json"),
        ("CODEX_HOME", "hooks.json"),
    ] {
        let sandbox = Sandbox::new();
        let project = sandbox.project().display().to_string();
        let moved = sandbox.path().join("moved");
        let edit =
            json!({ "cwd": project, "tool_name": "edit", "tool_input": { "file_path": moved.join(file) } });
        let sandbox = sandbox.with(variable, &moved);
        let payload = qwen("PreToolUse", &edit).to_string();
        let said = sandbox.run_with(&["hook", "--event", "PreToolUse", "--host", "qwen"], payload.as_bytes());
        assert!(said.stdout.contains(r#""permissionDecision":"ask""#), "{variable}: {said:?}");
    }
}

#[test]
fn init_and_uninstall_leave_qwens_settings_as_they_were() {
    let sandbox = Sandbox::new();
    let folder = sandbox.project().join(".qwen");
    fs::create_dir(&folder).expect("a new folder");
    let file = folder.join("settings.json");
    let before =
        "{\n  \"model\": { \"name\": \"x\" },\n  \"mcpServers\": { \"other\": { \"command\": \"y\" } }\n}\n";
    fs::write(&file, before).expect("a new file");
    let project = sandbox.project().display().to_string();
    let _ = sandbox.run(&["init", "--host", "qwen", "--project", &project]).ok();
    let written: Value = serde_json::from_str(&fs::read_to_string(&file).expect("a file")).expect("JSON");
    for (event, groups) in written["hooks"].as_object().expect("events") {
        for group in groups.as_array().expect("groups") {
            let handler = &group["hooks"][0];
            let line = handler["command"].as_str().expect("a line");
            assert!(
                line.contains(&format!("hook --event {event}")) && line.ends_with("--host qwen"),
                "{line}"
            );
            assert!(handler.get("args").is_none() && group.get("matcher") != Some(&json!("")), "{group}");
        }
    }
    assert_eq!(written["mcpServers"]["tidegate"]["args"], json!(["mcp"]));
    assert_eq!(
        (&written["mcpServers"]["other"]["command"], &written["model"]["name"]),
        (&json!("y"), &json!("x"))
    );
    let again = sandbox.run(&["init", "--host", "qwen", "--project", &project]);
    assert!(again.ok().contains("Nothing to change"), "{again:?}");
    let doctor = sandbox.run(&["doctor", "--all", "--project", &project]);
    assert!(unfold(&doctor.stdout).contains("settings.json has all of Tidegate's hooks"), "{doctor:?}");
    let _ = sandbox.run(&["uninstall", "--host", "qwen", "--project", &project]);
    assert_eq!(fs::read_to_string(&file).expect("a file"), before);
    assert!(!folder.join("skills").exists());

    // Changed since, it loses no more than Tidegate's part.
    let _ = sandbox.run(&["init", "--host", "qwen", "--project", &project]);
    let text = fs::read_to_string(&file).expect("a file");
    fs::write(&file, text.replacen('{', "{\n  \"$version\": 3,", 1)).expect("the file");
    let _ = sandbox.run(&["uninstall", "--host", "qwen", "--project", &project]);
    let left: Value = serde_json::from_str(&fs::read_to_string(&file).expect("a file")).expect("JSON");
    assert_eq!((&left["$version"], left.get("hooks")), (&json!(3), None), "{left}");
    assert_eq!(left["mcpServers"], json!({ "other": { "command": "y" } }));

    // Where nothing was, nothing stays.
    fs::remove_dir_all(&folder).expect("our own folder");
    let _ = sandbox.run(&["init", "--host", "qwen", "--project", &project]);
    let _ = sandbox.run(&["uninstall", "--host", "qwen", "--project", &project]);
    assert!(!folder.exists());
}

#[test]
fn the_plugin_for_opencode_comes_and_goes() {
    let sandbox = Sandbox::new();
    let folder = sandbox.project().join(".opencode");
    let file = folder.join("plugins/tidegate.js");
    let project = sandbox.project().display().to_string();
    let _ = sandbox.run(&["init", "--host", "opencode", "--project", &project]).ok();
    assert!(fs::read_to_string(&file).expect("the plugin").starts_with("// Tidegate for opencode."));
    let again = sandbox.run(&["init", "--host", "opencode", "--project", &project]);
    assert!(again.ok().contains("Nothing to change"), "{again:?}");
    let doctor = sandbox.run(&["doctor", "--all", "--project", &project]);
    assert!(unfold(&doctor.stdout).contains("tidegate.js is this version's plugin"), "{doctor:?}");
    fs::write(&file, "// Tidegate for opencode. An older one.\n").expect("the plugin");
    let doctor = sandbox.run(&["doctor", "--project", &project]);
    assert!(
        doctor.code == Some(1) && unfold(&doctor.stdout).contains("is not the plugin of this version"),
        "{doctor:?}"
    );
    let _ = sandbox.run(&["init", "--host", "opencode", "--project", &project]).ok();
    let _ = sandbox.run(&["uninstall", "--project", &project]);
    assert!(!folder.exists());

    // A person's own file of that name stays.
    fs::create_dir_all(folder.join("plugins")).expect("a new folder");
    fs::write(&file, "export const Mine = 1\n").expect("a new file");
    let _ = sandbox.run(&["init", "--host", "opencode", "--project", &project]);
    let _ = sandbox.run(&["uninstall", "--host", "opencode", "--project", &project]);
    assert_eq!(fs::read_to_string(&file).expect("a file"), "export const Mine = 1\n");
}

/// A plugin's numbers are all that Tidegate has: opencode writes no transcript.
#[test]
fn status_shows_what_opencodes_plugin_told() {
    let sandbox = Sandbox::new();
    let project = sandbox.project();
    let event = |name: &str, more: Value| {
        let mut more = more;
        more["cwd"] = json!(project);
        let payload = opencode(name, &more).to_string();
        let said = sandbox.run_with(&["hook", "--event", name, "--host", "opencode"], payload.as_bytes());
        assert_eq!(said.code, Some(0), "{said:?}");
    };
    event("SessionStart", json!({ "source": "startup" }));
    let status = || serde_json::from_str::<Value>(sandbox.run(&["status", "--json"]).ok()).expect("JSON");
    assert_eq!(status()["meter"].get("used"), None, "nothing is known yet");
    let words = unfold(sandbox.run(&["status"]).ok());
    assert!(words.contains("opencode has not answered") && !words.contains("Claude"), "{words}");
    event(
        "UserPromptSubmit",
        json!({ "prompt": "go", "author": "person", "used": 40_000, "window": 100_000 }),
    );
    event("PostToolUse", json!({ "tool_name": "bash", "tool_input": { "command": "true" }, "exit": 0 }));
    let meter = status()["meter"].clone();
    assert_eq!((&meter["used"], &meter["window"]), (&json!(40_000), &json!(100_000)), "{meter}");
    let words = unfold(sandbox.run(&["status"]).ok());
    assert!(words.contains("before opencode compacts") && !words.contains("Claude"), "{words}");
    let words = unfold(sandbox.run(&["meter"]).ok());
    assert!(
        words.contains("40% of 100k tokens used") && words.contains("before opencode compacts"),
        "{words}"
    );
    // A compaction ends what was known.
    event("PostCompact", json!({ "trigger": "auto", "summary": "short" }));
    event("SessionStart", json!({ "source": "compact" }));
    assert_eq!(status()["meter"].get("used"), None);
}

#[test]
fn commands_name_the_agent_that_is_installed_and_the_one_that_ran() {
    let sandbox = Sandbox::new();
    let _ = sandbox.run(&["init", "--host", "qwen"]).ok();
    let words = unfold(sandbox.run(&["status"]).failed());
    assert!(words.contains("installed here for Qwen Code") && !words.contains("claude"), "{words}");
    fs::remove_file(sandbox.home().join(".local/share/tidegate/bin/tidegate")).expect("our link");
    let doctor = unfold(&sandbox.run(&["doctor"]).stdout);
    assert!(doctor.contains("--host qwen`") && !doctor.contains("claude"), "{doctor}");
    let _ = sandbox.run(&["init", "--host", "qwen"]).ok();
    fs::write(sandbox.project().join("a.rs"), "").expect("a new file");
    let project = sandbox.project();
    let event = |name: &str, more: Value| {
        let mut more = more;
        more["cwd"] = json!(project);
        let payload = qwen(name, &more).to_string();
        sandbox.run_with(&["hook", "--event", name, "--host", "qwen"], payload.as_bytes())
    };
    let edit = json!({ "tool_name": "edit", "tool_input": { "file_path": project.join("a.rs") }, "tool_response": {} });
    let _ = event("SessionStart", json!({ "source": "startup" }));
    let _ = event("PostToolUse", edit);
    let stop = event("Stop", json!({ "last_assistant_message": "done", "stop_hook_active": false }));
    assert!(stop.stdout.contains("block"), "{stop:?}");
    for command in [&["log"][..], &["explain", "last"], &["status"]] {
        let words = unfold(sandbox.run(command).ok());
        assert!(words.contains("Qwen Code") && !words.contains("Claude"), "{command:?}: {words}");
    }
}

#[test]
fn more_skills_come_for_other_hosts_and_the_strict_preset_is_complete() {
    for (host, folder) in
        [("codex", ".codex"), ("copilot", ".github"), ("qwen", ".qwen"), ("opencode", ".opencode")]
    {
        let sandbox = Sandbox::new();
        let skills = sandbox.project().join(folder).join("skills");
        let has = |name: &str| skills.join(name).join("SKILL.md").is_file();
        let _ = sandbox.run(&["init", "--host", host, "--with", "cycle"]).ok();
        assert!(has("dev-cycle") && has("compound") && !has("compaction-gates"), "{host}");
        let _ = sandbox.run(&["init", "--host", host, "--preset", "strict"]).ok();
        assert!(has("dev-cycle") && has("code-quality-rules"), "{host}: what was asked for before stays");
        let ran = sandbox.run(&["doctor", "--json"]);
        let report: Value = serde_json::from_str(&ran.stdout).expect("JSON");
        let is_wrong = |it: &&Value| it["state"] == "problem" || it["state"] == "warning";
        let wrong: Vec<&Value> = report["checks"].as_array().into_iter().flatten().filter(is_wrong).collect();
        // Codex and Copilot wait for the person's trust; the program under test is not on PATH.
        let waits = |it: &&Value| it["found"].as_str().is_some_and(|found| found.contains("does not trust"));
        let known = |it: &&Value| it["id"] == "codex" || it["id"] == "binary" || waits(it);
        assert!(wrong.iter().all(known), "{host}: {wrong:#?}");
        let _ = sandbox.run(&["uninstall", "--host", host]).ok();
        assert!(!skills.exists(), "{host}");
    }
}

/// Qwen Code's `directory` and opencode's `workdir`: the payload's folder stays the session's.
#[test]
fn a_command_runs_in_the_folder_that_its_call_names() {
    let report = "Command: x\nOutput: 1 passed\nError: (none)\nExit Code: 0\nSignal: (none)";
    let runs = |host: &str, folder: &str, edits: bool, line: &str| {
        let sandbox = Sandbox::new();
        for package in ["a", "b"] {
            let folder = sandbox.project().join("packages").join(package);
            fs::create_dir_all(&folder).expect("a folder");
            fs::write(folder.join("package.json"), r#"{"scripts": {"test": "jest"}}"#).expect("a new file");
            fs::write(folder.join("lib.js"), "1").expect("a new file");
        }
        let send = |event: &str, more: &Value| {
            let mut payload = if host == "qwen" { qwen(event, more) } else { opencode(event, more) };
            payload["cwd"] = json!(sandbox.project());
            let ran =
                sandbox.run_with(&["hook", "--event", event, "--host", host], payload.to_string().as_bytes());
            assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{payload}");
            ran.stdout
        };
        let _ = send("SessionStart", &json!({ "source": "startup" }));
        let edited = sandbox.project().join("packages/a/lib.js");
        if edits {
            let tool = if host == "qwen" { "write_file" } else { "write" };
            let input = json!({ "file_path": edited, "filePath": edited });
            let _ =
                send("PostToolUse", &json!({ "tool_name": tool, "tool_input": input, "tool_output": "" }));
        } else {
            fs::write(&edited, "2").expect("an edit");
        }
        let folder = folder.replace("ROOT", &sandbox.project().display().to_string());
        let run = if host == "qwen" {
            json!({ "tool_name": "run_shell_command", "tool_input": { "command": line, "directory": folder },
                "tool_response": { "llmContent": report } })
        } else {
            json!({ "tool_name": "bash", "tool_input": { "command": line, "workdir": folder },
                "tool_output": "1 passed", "exit": 0, "began": if edits { 4_000_000_000_000_u64 } else { 1_000 } })
        };
        let _ = send("PostToolUse", &run);
        let stop = send(
            "Stop",
            &json!({ "last_message": "done", "last_assistant_message": "done",
            "held_before": false, "stop_hook_active": false }),
        );
        stop.contains("block")
    };
    for host in ["qwen", "opencode"] {
        for (folder, blocks) in [
            ("packages/a", false),
            ("ROOT/packages/a", false),
            ("./packages/b/../a/", false),
            ("packages/b", true),
            ("ROOT/packages/b", true),
        ] {
            assert_eq!(runs(host, folder, true, "npm test"), blocks, "{host} {folder}");
        }
        assert!(runs(host, "packages/a", false, "echo 2 > lib.js"), "{host}: an edit by the shell");
        assert!(!runs(host, "packages/b", false, "echo 2 > lib2.txt"), "{host}");
    }
}

/// A host looks for skills in folders of its own.
#[test]
fn a_missing_skill_is_named_where_the_host_loads_it() {
    for (host, home, loads_claudes) in
        [("qwen", ".qwen", false), ("codex", ".codex", true), ("opencode", ".opencode", true)]
    {
        let sandbox = Sandbox::new();
        let project = sandbox.project();
        fs::create_dir_all(sandbox.home().join(".config/tidegate")).expect("a folder");
        let config = "[skill_gate.require]\ncode = [\"team-rules\"]\n";
        fs::write(sandbox.home().join(".config/tidegate/config.toml"), config).expect("a config");
        let _ = sandbox.run(&["init", "--host", host, "--project", &project.display().to_string()]).ok();
        let edited = project.join("a.js");
        let denied = |session: &str| {
            let more = match host {
                "codex" => json!({ "tool_name": "apply_patch",
                    "tool_input": { "command": "*** Begin Patch\n*** Add File: a.js\n+1\n*** End Patch\n" } }),
                "qwen" => json!({ "tool_name": "write_file", "tool_input": { "file_path": edited } }),
                _ => json!({ "tool_name": "write", "tool_input": { "filePath": edited } }),
            };
            let mut payload = match host {
                "opencode" => opencode("PreToolUse", &more),
                _ => qwen("PreToolUse", &more),
            };
            payload["session_id"] = json!(session);
            payload["cwd"] = json!(project);
            let ran = sandbox
                .run_with(&["hook", "--event", "PreToolUse", "--host", host], payload.to_string().as_bytes());
            assert!(ran.stdout.contains("deny"), "{host}: {ran:?}");
        };
        let log = || sandbox.run(&["log"]).ok().split_whitespace().collect::<Vec<_>>().join(" ");
        let doctor =
            || sandbox.run(&["doctor", "--all"]).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        denied("s-1");
        // opencode's plugin shows a person nothing.
        let shows = host != "opencode";
        assert_eq!(log().contains(&format!("{home}/skills/team-rules/SKILL.md")), shows, "{host}: {}", log());
        assert!(doctor().contains("cannot find the required skill `team-rules`"), "{host}: {}", doctor());
        assert!(doctor().contains(&format!("`{home}/skills/team-rules`")), "{host}: {}", doctor());
        let put = |home: &str| {
            let folder = project.join(home).join("skills/team-rules");
            fs::create_dir_all(&folder).expect("a folder");
            fs::write(folder.join("SKILL.md"), "---\nname: team-rules\n---\nx\n").expect("a skill");
        };
        put(".claude");
        denied("s-2");
        let is_missing = || doctor().contains("cannot find the required skill");
        let times = || log().matches("did not find it").count();
        let missed = if loads_claudes { 1 } else { 2 } * usize::from(shows);
        assert_eq!((times(), is_missing()), (missed, !loads_claudes), "{host}: {}", log());
        put(home);
        denied("s-3");
        assert_eq!((times(), is_missing()), (missed, false), "{host}: {}", log());
    }
}

/// Copilot CLI and opencode have names of their own for `mcp__SERVER__TOOL`; a name that cannot be one costs only itself.
#[test]
fn a_writer_is_known_by_the_hosts_own_name() {
    for (host, tool) in
        [("copilot", "fs-write_file"), ("opencode", "fs_write_file"), ("qwen", "mcp__fs__write_file")]
    {
        for (writers, blocks) in
            [(r#""Write", "mcp__fs__write_file""#, true), (r#""mcp__fs__read_file""#, false)]
        {
            let sandbox = Sandbox::new();
            let project = sandbox.project();
            fs::create_dir_all(sandbox.home().join(".config/tidegate")).expect("a folder");
            fs::write(
                sandbox.home().join(".config/tidegate/config.toml"),
                format!("[tools]\nwriters = [{writers}]\n"),
            )
            .expect("a config");
            fs::write(project.join("package.json"), r#"{"scripts": {"test": "jest"}}"#).expect("a new file");
            fs::write(project.join("a.js"), "1").expect("a new file");
            let send = |event: &str, more: &Value| {
                let mut payload = match host {
                    "opencode" => opencode(event, more),
                    "qwen" => qwen(event, more),
                    _ => {
                        let mut payload = more.clone();
                        payload["hook_event_name"] = json!(event);
                        payload["session_id"] = json!("s-1");
                        payload["timestamp"] = json!("2026-11-16T18:13:14.583Z");
                        if event == "PostToolUse" {
                            payload["tool_result"] =
                                json!({ "result_type": "success", "text_result_for_llm": "ok" });
                        }
                        payload
                    }
                };
                payload["cwd"] = json!(project);
                let args = ["hook", "--event", event, "--host", host];
                let ran = sandbox.run_with(&args, payload.to_string().as_bytes());
                assert_eq!(ran.code, Some(0), "{payload}");
                ran.stdout
            };
            let _ = send("SessionStart", &json!({ "source": "startup" }));
            let input = json!({ "path": project.join("a.js"), "content": "2" });
            let _ = send(
                "PostToolUse",
                &json!({ "tool_name": tool, "tool_input": input,
                "tool_output": "ok" }),
            );
            let stop = send(
                "Stop",
                &json!({ "last_message": "done", "last_assistant_message": "done",
                "held_before": false, "stop_hook_active": false, "stop_reason": "end_turn" }),
            );
            assert_eq!(stop.contains("block"), blocks, "{host} {writers}: {stop}");
        }
    }
}
