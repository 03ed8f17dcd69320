//! The gates as processes: what each event leaves behind, what the next one makes of it, and every way to fail.

use std::fs;

use serde_json::{Value, json};

use crate::answer::Answer;
use crate::sandbox::{Sandbox, in_parallel};

/// A session in a project of its own.
pub(crate) struct Work {
    pub(crate) sandbox: Sandbox,
    session: &'static str,
    calls: std::cell::Cell<u32>,
}

impl Work {
    /// In a Rust project.
    pub(crate) fn new() -> Work {
        let sandbox = Sandbox::new();
        fs::write(sandbox.project().join("Cargo.toml"), "[package]\nname = \"a\"\n").expect("a new file");
        fs::create_dir(sandbox.project().join("src")).expect("a new folder");
        sandbox.config("[skill_gate.require]\ncode = [\"code-quality-rules\"]\n");
        sandbox.install_skill("code-quality-rules");
        Work { sandbox, session: "s-1", calls: std::cell::Cell::new(0) }
    }

    pub(crate) fn payload(&self, event: &str, mut members: Value) -> Value {
        self.calls.set(self.calls.get() + 1);
        members["session_id"] = json!(self.session);
        members["hook_event_name"] = json!(event);
        members["cwd"] = json!(self.sandbox.project());
        members["prompt_id"] = json!(format!("p-{}", self.calls.get()));
        if event.contains("ToolUse") {
            members["tool_use_id"] = json!(format!("toolu_{}", self.calls.get()));
        }
        members
    }

    pub(crate) fn event(&self, event: &str, members: Value) -> Answer {
        self.sandbox.event(&self.payload(event, members))
    }

    pub(crate) fn skill(&self, name: &str) {
        let answer = self.event(
            "PostToolUse",
            json!({ "tool_name": "Skill", "tool_input": { "skill": name }, "tool_response": { "success": true } }),
        );
        assert_eq!(answer.exit, 0);
    }

    pub(crate) fn asks_to_edit(&self, file: &str) -> Answer {
        let path = self.sandbox.project().join(file);
        self.event(
            "PreToolUse",
            json!({ "tool_name": "Write", "tool_input": { "file_path": path, "content": "" } }),
        )
    }

    pub(crate) fn edits(&self, file: &str) {
        let path = self.sandbox.project().join(file);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a new folder");
        fs::write(&path, "").expect("a new file");
        let members = json!({ "tool_name": "Write", "tool_input": { "file_path": path, "content": "" } });
        self.event("PostToolUse", members).silent();
    }

    fn ran(&self, command: &str, response: &Value) {
        let members = json!({ "tool_name": "Bash", "tool_input": { "command": command }, "tool_response": response,
            "duration_ms": 5 });
        assert_eq!(self.event("PostToolUse", members).exit, 0);
    }

    pub(crate) fn bash(&self, command: &str) {
        self.ran(command, &json!({ "stdout": "", "interrupted": false }));
    }

    pub(crate) fn stop(&self) -> Answer {
        self.stop_with(json!({ "stop_hook_active": false }))
    }

    fn stop_with(&self, members: Value) -> Answer {
        self.event("Stop", members)
    }

    fn marks(&self) -> String {
        fs::read_to_string(self.sandbox.session(self.session).join("marks")).expect("marks")
    }

    pub(crate) fn is_held(&self) -> bool {
        let answer = self.stop();
        !answer.stdout.is_empty() && answer.output()["decision"] == "block"
    }
}

pub(crate) fn denied(answer: &Answer) -> bool {
    !answer.stdout.is_empty() && answer.output()["hookSpecificOutput"]["permissionDecision"] == "deny"
}

#[test]
fn an_edit_waits_for_the_skill() {
    for name in ["code-quality-rules", "tidegate:code-quality-rules", "/code-quality-rules"] {
        let work = Work::new();
        let answer = work.asks_to_edit("src/main.rs");
        assert!(denied(&answer), "{answer:?}");
        let reason = answer.output()["hookSpecificOutput"]["permissionDecisionReason"].to_string();
        assert!(!reason.contains("tidegate off"), "the way past it is the person's: {reason}");
        work.skill(name);
        work.asks_to_edit("src/main.rs").silent();
    }
    let work = Work::new();
    let typed = json!({ "command_name": "code-quality-rules", "prompt": "/code-quality-rules" });
    assert_eq!(work.event("UserPromptExpansion", typed).exit, 0);
    work.asks_to_edit("src/main.rs").silent();
}

/// Every way in which the check itself can fail, in every mode.
#[test]
fn a_check_that_fails_closes_only_a_gate_that_denies() {
    let mut cases: Vec<(&str, String, &str)> = vec![
        ("empty", String::new(), "the payload is empty"),
        ("garbage", "{".into(), "the payload is not JSON"),
        ("no object", "[1]".into(), "the payload is not a JSON object"),
    ];
    let work = Work::new();
    let whole = |members: Value| work.payload("PreToolUse", members);
    let edit = json!({ "tool_name": "Edit", "tool_input": { "file_path": "/p/a.rs" } });
    for (name, spoil, step) in [
        ("no session", json!({ "session_id": null }), "session_id is missing"),
        ("session of a wrong type", json!({ "session_id": 7 }), "session_id is not a string"),
        ("session that is a path", json!({ "session_id": "../x" }), "session_id has characters"),
        ("no tool", json!({ "tool_name": null }), "tool_name is missing"),
        ("no input", json!({ "tool_input": null }), "tool_input is missing"),
        ("no path", json!({ "tool_input": {} }), "tool_input.file_path is missing"),
        (
            "path of a wrong type",
            json!({ "tool_input": { "file_path": 7 } }),
            "tool_input.file_path has a wrong type",
        ),
        (
            "no path of a notebook",
            json!({ "tool_name": "NotebookEdit", "tool_input": { "file_path": "/p/a.ipynb" } }),
            "tool_input.notebook_path is missing",
        ),
    ] {
        let mut payload = whole(edit.clone());
        for (member, value) in spoil.as_object().expect("members") {
            payload[member] = value.clone();
        }
        cases.push((name, payload.to_string(), step));
    }
    for mode in ["deny", "remind", "shadow", "off"] {
        let sandbox = Sandbox::new();
        sandbox.config(format!("[skill_gate]\nmode = \"{mode}\"\n"));
        in_parallel(&cases, |_, (name, payload, step)| {
            let answer = sandbox.hook(&["--event", "PreToolUse"], payload);
            if mode == "deny" {
                answer.closed(step);
            } else {
                assert_eq!((answer.exit, answer.stdout.as_str()), (0, ""), "{mode}: {name}: {answer:?}");
            }
        });
    }
}

#[test]
fn marks_that_cannot_be_read_close_the_edit_and_hold_the_stop_once() {
    let work = Work::new();
    work.edits("src/main.rs");
    let marks = work.sandbox.session("s-1").join("marks");
    fs::remove_file(&marks).expect("the marks");
    fs::create_dir(&marks).expect("a folder in their place");
    work.asks_to_edit("src/main.rs").closed("the session's state cannot be used");
    assert!(work.is_held());
    work.stop_with(json!({ "stop_hook_active": true })).silent();
}

/// A stop that is held without being counted would be held for ever: the host says whether it was held in this turn.
#[cfg(unix)]
#[test]
fn a_stop_that_cannot_be_counted_is_held_once() {
    use std::os::unix::fs::PermissionsExt;
    let work = Work::new();
    work.edits("src/main.rs");
    let folder = work.sandbox.session("s-1");
    let only_root = fs::metadata("/proc/self").is_ok_and(|of| std::os::unix::fs::MetadataExt::uid(&of) == 0);
    let allow =
        |mode| fs::set_permissions(folder.join("marks"), fs::Permissions::from_mode(mode)).expect("allowed");
    if only_root {
        // Nothing is forbidden to it: a file that only grows by itself has to do.
        let link = folder.join("lock");
        fs::remove_file(&link).expect("the lock");
        fs::create_dir(&link).expect("a folder in its place");
    } else {
        allow(0o400);
    }
    assert!(work.is_held());
    work.stop_with(json!({ "stop_hook_active": true })).silent();
}

#[test]
fn a_stop_is_held_once_for_a_change_set() {
    let work = Work::new();
    work.stop().silent();
    work.edits("docs/a.md");
    work.stop().silent();
    work.edits("src/main.rs");
    assert!(work.is_held());
    let told = work.stop();
    let message = told.output()["systemMessage"].as_str().unwrap_or_default().to_owned();
    assert!(message.contains("src/main.rs") && told.output().get("decision").is_none(), "{told:?}");
    work.stop().silent();
    work.edits("src/other.rs");
    work.stop().silent();
    work.bash("cargo test");
    work.stop().silent();
    work.edits("src/other.rs");
    assert!(work.is_held(), "a change set of its own");
}

#[test]
fn evidence_is_what_succeeded_after_the_last_edit() {
    for (command, settles) in [
        ("cargo test", true),
        ("cargo check --workspace", true),
        ("cd src && cargo test", true),
        ("set -o pipefail; cargo test | tail -3", true),
        ("cargo test > log 2>&1", true),
        ("cargo test | tail -3", false),
        ("cargo test || true", false),
        ("cargo test; echo $?", false),
        ("cargo test --no-run", true),
        ("cargo test &", false),
        ("echo cargo test", false),
        ("cargo clippy", true),
        ("cargo fmt --check", false),
        ("npm test", false),
    ] {
        let work = Work::new();
        work.edits("src/main.rs");
        work.bash(command);
        assert_eq!(!work.is_held(), settles, "{command}");
    }
    let work = Work::new();
    work.bash("cargo test");
    work.edits("src/main.rs");
    assert!(work.is_held(), "before the edit");
    let work = Work::new();
    work.edits("src/main.rs");
    let failed =
        json!({ "tool_name": "Bash", "tool_input": { "command": "cargo test" }, "error": "Exit code 101" });
    work.event("PostToolUseFailure", failed).silent();
    assert!(work.is_held(), "failed");
    let work = Work::new();
    work.edits("src/main.rs");
    work.ran(
        "cargo test && grep x y",
        &json!({ "stdout": "", "returnCodeInterpretation": "No matches found" }),
    );
    assert!(work.is_held(), "a status of 1 that the client explains away");
    let work = Work::new();
    work.edits("src/main.rs");
    work.ran("cargo test", &json!({ "stdout": "", "interrupted": true }));
    assert!(work.is_held(), "interrupted");
    let work = Work::new();
    work.edits("src/main.rs");
    work.skill("verification-before-completion");
    work.stop().silent();
}

#[test]
fn a_check_in_the_background_counts_from_its_end() {
    let ended = |status: &str, summary: &str| {
        let text = format!(
            "<task-notification>\n<task-id>b1</task-id>\n<status>{status}</status>\n<summary>Background command \
             \"(exit code 0)\" {summary}</summary>\n</task-notification>"
        );
        json!({ "prompt": text })
    };
    let running = json!({ "background_tasks": [{ "id": "b1", "type": "shell", "status": "running" }] });
    for (status, summary, settles) in
        [("completed", "completed (exit code 0)", true), ("failed", "failed with exit code 101", false)]
    {
        let work = Work::new();
        work.edits("src/main.rs");
        work.ran("cargo test", &json!({ "stdout": "", "backgroundTaskId": "b1" }));
        work.stop_with(running.clone()).silent();
        work.event("UserPromptSubmit", ended(status, summary)).silent();
        assert_eq!(!work.is_held(), settles, "{summary}");
    }
    let work = Work::new();
    work.edits("src/main.rs");
    work.ran("cargo test", &json!({ "stdout": "", "backgroundTaskId": "b1" }));
    work.edits("src/main.rs");
    work.event("UserPromptSubmit", ended("completed", "completed (exit code 0)")).silent();
    assert!(work.is_held(), "an edit meanwhile makes it void");
    let work = Work::new();
    work.edits("src/main.rs");
    work.ran("cargo test", &json!({ "stdout": "", "backgroundTaskId": "b1" }));
    work.event("PostToolUse", json!({ "tool_name": "TaskStop", "tool_input": { "task_id": "b1" } })).silent();
    assert!(work.is_held(), "stopped by the model");
    let work = Work::new();
    work.edits("src/main.rs");
    work.ran("npm run dev", &json!({ "stdout": "", "backgroundTaskId": "b1" }));
    let held = work.stop_with(running);
    assert_eq!(held.output()["decision"], "block", "a server is no check");
}

/// What watches never ends: it is nothing to wait for, and no evidence when somebody ends it.
#[test]
fn a_command_that_watches_is_no_check() {
    let running = json!({ "background_tasks": [{ "id": "b1", "type": "shell", "status": "running" }] });
    let scripts = r#"{"scripts": {"test": "vitest", "test:watch": "vitest --watch", "build": "tsc -b"}}"#;
    for (command, awaited, settles) in [
        ("npx vitest", false, true),
        ("npm test", false, true),
        ("npx vitest run", true, true),
        ("npx vitest --watch", false, false),
        ("npm test -- --watch", false, false),
        ("npm run test:watch", false, false),
        ("npm run build -- -w", false, false),
        ("npx tsc -w", false, false),
        ("npx jest --watchAll", false, false),
        ("cargo watch -x test", false, false),
        ("nodemon --exec 'npm test'", false, false),
    ] {
        let work = Work::new();
        fs::write(work.sandbox.project().join("package.json"), scripts).expect("a new file");
        work.edits("src/main.ts");
        work.ran(command, &json!({ "stdout": "", "backgroundTaskId": "b1" }));
        let held = work.stop_with(running.clone());
        assert_eq!(held.stdout.is_empty(), awaited, "{command}: {held:?}");
        work.edits("src/other.ts");
        work.bash(command);
        assert_eq!(work.marks().contains("verified\":true"), settles, "{command}");
    }
}

/// The file has to have changed since the call began; what the line only names has not.
#[test]
fn a_command_line_edits_what_it_changed() {
    let cases = [
        ("sed -i s/a/b/ src/main.rs", true),
        ("echo x > src/main.rs", true),
        ("cat <<'E' | tee src/main.rs\nx\nE", true),
        ("cd src && perl -pi -e s/a/b/ main.rs", true),
        ("python3 - <<'E'\nopen('src/main.rs','w').write('')\nE", true),
        ("cat src/main.rs", false),
        ("git checkout src/main.rs", false),
        ("git pull", false),
        ("make generate", false),
    ];
    for (command, edits) in cases {
        for there in [true, false] {
            let work = Work::new();
            work.stop().silent();
            if there {
                fs::write(work.sandbox.project().join("src/main.rs"), "").expect("a new file");
            }
            work.bash(command);
            assert_eq!(work.is_held(), edits && there, "{command}, there: {there}");
        }
    }
}

#[test]
fn writers_of_servers_count_where_the_config_names_them() {
    let call = |work: &Work| {
        let path = work.sandbox.project().join("src/main.rs");
        fs::write(&path, "").expect("a new file");
        let members = json!({ "tool_name": "mcp__files__write", "tool_input": { "path": path },
            "tool_response": [{ "type": "text", "text": "ok" }] });
        work.event("PostToolUse", members).silent();
    };
    let work = Work::new();
    call(&work);
    assert!(!work.is_held());
    work.sandbox.config("[tools]\nwriters = [\"mcp__files__write\"]\n");
    call(&work);
    assert!(work.is_held());
}

#[test]
fn what_survives_and_what_does_not() {
    let start = |work: &Work, source: &str| work.event("SessionStart", json!({ "source": source }));
    for (source, armed) in [("compact", true), ("resume", true), ("startup", false), ("clear", false)] {
        let work = Work::new();
        work.skill("code-quality-rules");
        work.edits("src/main.rs");
        let told = start(&work, source).context();
        assert_eq!(told.is_some_and(|text| text.contains("src/main.rs")), source == "compact", "{source}");
        assert_eq!(!denied(&work.asks_to_edit("src/a.rs")), armed, "{source}");
        assert_eq!(work.is_held(), armed, "{source}");
    }
}

#[test]
fn sessions_do_not_see_each_others_marks() {
    let mut work = Work::new();
    work.skill("code-quality-rules");
    work.edits("src/main.rs");
    work.session = "s-2";
    assert!(denied(&work.asks_to_edit("src/main.rs")));
    work.stop().silent();
    work.bash("cargo test");
    work.session = "s-1";
    assert!(work.is_held(), "another session's tests verify nothing here");
}

/// Hooks of parallel calls run at once: none of their edits is lost, and the stop is held once.
#[test]
fn at_once() {
    let work = Work::new();
    let payloads: Vec<String> = (0..32)
        .map(|number| {
            let path = work.sandbox.project().join(format!("src/{number}.rs"));
            fs::write(&path, "").expect("a new file");
            let members = json!({ "tool_name": "Write", "tool_input": { "file_path": path } });
            work.payload("PostToolUse", members).to_string()
        })
        .collect();
    in_parallel(&payloads, |_, payload| {
        work.sandbox.hook(&["--event", "PostToolUse"], payload).silent();
    });
    let stops: Vec<String> =
        (0..8).map(|_| work.payload("Stop", json!({ "stop_hook_active": false })).to_string()).collect();
    let held = std::sync::Mutex::new(Vec::new());
    in_parallel(&stops, |_, payload| {
        let answer = work.sandbox.hook(&["--event", "Stop"], payload);
        if answer.stdout.contains("\"block\"") {
            held.lock().expect("nobody panicked").push(answer.stdout);
        }
    });
    let held = held.into_inner().expect("nobody panicked");
    assert_eq!(held.len(), 1, "{held:?}");
    assert!(held[0].contains("and 27 more"), "{held:?}");
}

#[test]
fn a_task_is_held_once_per_subject() {
    let work = Work::new();
    work.sandbox.config("preset = \"strict\"\n");
    work.edits("src/main.rs");
    let complete =
        |subject: &str| work.event("TaskCompleted", json!({ "task_id": "1", "task_subject": subject }));
    let held = complete("parser");
    assert_eq!(held.exit, 2, "{held:?}");
    assert!(held.stderr.contains("src/main.rs") && held.stderr.contains("cargo test"), "{held:?}");
    complete("parser").silent();
    assert_eq!(complete("lexer").exit, 2);
    work.bash("cargo test && cargo clippy && cargo build");
    complete("printer").silent();
}

#[test]
fn a_repository_can_tighten_the_gates_and_not_loosen_them() {
    let work = Work::new();
    let folder = work.sandbox.project().join(".claude");
    fs::create_dir_all(&folder).expect("a new folder");
    let text = "[skill_gate]\nmode = \"off\"\nexempt = [\"**\"]\n[skill_gate.require]\ncode = []\ndocument = \
                [\"document-quality-rules\"]\n[verify_stop]\nmode = \"off\"\n[verify_stop.commands]\ntest = [\"true\"]\n";
    fs::write(folder.join("tidegate.toml"), text).expect("a new file");
    assert!(denied(&work.asks_to_edit("src/main.rs")));
    assert!(denied(&work.asks_to_edit("docs/a.md")), "what it adds counts");
    work.edits("src/main.rs");
    work.bash("true");
    assert!(work.is_held());
}

#[test]
fn the_users_own_commands_count() {
    let work = Work::new();
    work.sandbox.config("[verify_stop.commands]\ntest = [\"./scripts/check.sh --all\"]\n");
    work.edits("src/main.rs");
    work.bash("./scripts/check.sh");
    assert!(work.is_held());
    work.edits("src/other.rs");
    work.bash("./scripts/check.sh --all -v");
    work.stop().silent();
}

/// What the config names is a program, however it is spelt.
#[test]
fn a_configured_script_counts_by_the_file_it_is() {
    let whole = |work: &Work| work.sandbox.project().join("scripts/check.sh").display().to_string();
    for (command, settles) in [
        ("bash ./scripts/check.sh", true),
        ("scripts/check.sh", true),
        ("WHOLE", true),
        ("cd scripts && ./check.sh", true),
        ("cd /tmp && ./scripts/check.sh", false),
        ("bash -n scripts/check.sh", false),
    ] {
        let work = Work::new();
        work.sandbox.config("[verify_stop.commands]\ntest = [\"./scripts/check.sh\"]\n");
        work.edits("src/main.rs");
        work.bash(&command.replace("WHOLE", &whole(&work)));
        assert_eq!(!work.is_held(), settles, "{command}");
    }
    let work = Work::new();
    work.sandbox.config("[verify_stop.commands]\ntest = [\"cd tools && ./check.sh\"]\n");
    work.edits("src/main.rs");
    work.bash("cd tools");
    assert!(work.is_held());
    let shown = work.sandbox.run(&["config", "show"]);
    assert!(shown.stderr.contains("write the one that checks, such as \"tools/check.sh\""), "{shown:?}");
}

/// A folder has many names.
#[cfg(unix)]
#[test]
fn a_check_counts_whatever_its_folder_is_called() {
    let home = |work: &Work| {
        let proj = work.sandbox.home().join("proj");
        std::os::unix::fs::symlink(work.sandbox.project(), &proj).expect("a new link");
        proj.display().to_string()
    };
    for (command, settles) in [
        ("cd ~/proj && cargo test", true),
        ("cd $HOME/proj && cargo test", true),
        ("cd ~/proj/src && cargo test", true),
        ("(cd ~/proj && cargo test)", true),
        ("cd \"$CLAUDE_PROJECT_DIR\" && cargo test", true),
        ("cd $PWD && cargo test", true),
        ("cargo test --manifest-path ~/proj/Cargo.toml", true),
        ("cd LINK && cargo test", true),
        ("cd ~ && cargo test", false),
        ("cd ~/other && cargo test", false),
        ("cd $WHERE && cargo test", false),
    ] {
        let work = Work::new();
        let link = home(&work);
        work.edits("src/main.rs");
        work.bash(&command.replace("LINK", &link));
        assert_eq!(!work.is_held(), settles, "{command}");
    }
    // The client says where a line ended; back where it began it may have been put.
    for (command, ended, settles) in [
        ("cd $WHERE && cargo test", "src", true),
        ("cd $WHERE; cargo test", "src", true),
        ("(cd $WHERE && cargo test)", "src", false),
        ("cd $WHERE && (cd $THERE && cargo test)", "src", false),
        ("cd $WHERE && cargo test", "", false),
    ] {
        let work = Work::new();
        work.edits("src/main.rs");
        let mut payload = work.payload(
            "PostToolUse",
            json!({ "tool_name": "Bash", "tool_input": { "command": command }, "duration_ms": 5,
                "tool_response": { "stdout": "", "interrupted": false } }),
        );
        payload["cwd"] = json!(work.sandbox.project().join(ended));
        assert_eq!(work.sandbox.event(&payload).exit, 0);
        assert_eq!(!work.is_held(), settles, "{command}, ended in {ended:?}");
    }
    // The client may know the project by another name than its shell.
    let work = Work::new();
    let link = home(&work);
    let mut stop = work.payload("Stop", json!({ "stop_hook_active": false }));
    let mut ran = work.payload(
        "PostToolUse",
        json!({ "tool_name": "Bash", "tool_input": { "command": "cargo test" }, "duration_ms": 5,
            "tool_response": { "stdout": "", "interrupted": false } }),
    );
    work.edits("src/main.rs");
    ran["cwd"] = json!(link);
    stop["cwd"] = json!(link);
    assert_eq!(work.sandbox.event(&ran).exit, 0);
    work.sandbox.event(&stop).silent();
}

/// A directory that was added, and another worktree.
#[test]
fn other_folders_of_the_project_are_verified_where_they_are() {
    let work = Work::new();
    let other = work.sandbox.home().join("other");
    fs::create_dir_all(other.join("src")).expect("new folders");
    fs::write(other.join("go.mod"), "module x\n").expect("a new file");
    work.event("DirectoryAdded", json!({ "directory": other, "source": "slash_command" })).silent();
    let edits = |file: &std::path::Path| {
        fs::write(file, "").expect("a new file");
        let members = json!({ "tool_name": "Write", "tool_input": { "file_path": file, "content": "" } });
        work.event("PostToolUse", members).silent();
    };
    let file = other.join("src/a.go");
    edits(&file);
    let held = work.stop();
    let reason = held.output()["reason"].as_str().unwrap_or_default().to_owned();
    assert!(reason.contains(&*file.to_string_lossy()), "{reason}");
    assert!(reason.contains(&format!("`cd {} && go test ./...`", other.display())), "{reason}");
    work.bash(&format!("(cd {} && go test ./...)", other.display()));
    work.stop().silent();
    assert!(work.marks().contains("verified\":true"));

    let tree = work.sandbox.home().join("tree");
    let git = work.sandbox.project().join(".git/worktrees/tree");
    for folder in [&git, &tree.join("src")] {
        fs::create_dir_all(folder).expect("new folders");
    }
    let write = |path: std::path::PathBuf, text: String| fs::write(path, text).expect("a new file");
    write(tree.join("Cargo.toml"), "[package]\nname = \"a\"\n".into());
    write(tree.join(".git"), format!("gitdir: {}\n", git.display()));
    write(git.join("commondir"), "../..\n".into());
    write(git.join("gitdir"), format!("{}\n", tree.join(".git").display()));
    edits(&tree.join("src/main.rs"));
    let reason = work.stop().output()["reason"].as_str().unwrap_or_default().to_owned();
    assert!(reason.contains(&format!("`cd {} && cargo test`", tree.display())), "{reason}");
    edits(&tree.join("src/lib.rs"));
    work.bash(&format!("(cd {} && cargo test)", tree.display()));
    work.edits("src/other.rs");
    assert!(work.is_held(), "a change set of its own");
}

/// A line that writes and then tests says nothing about what somebody else edited in the meantime.
#[test]
fn an_edit_in_the_middle_of_a_check_is_not_verified_by_it() {
    for command in ["cargo test", "echo x > src/main.rs && cargo test"] {
        let work = Work::new();
        work.edits("src/other.rs");
        fs::write(work.sandbox.project().join("src/main.rs"), "x").expect("a new file");
        let members = json!({ "tool_name": "Bash", "tool_input": { "command": command }, "duration_ms": 300_000,
            "tool_response": { "stdout": "" } });
        work.event("PostToolUse", members).silent();
        assert!(work.is_held(), "{command}");
        let record =
            work.sandbox.records().into_iter().rfind(|record| record["tool"] == "Bash").expect("a record");
        assert!(record["did"]["verified"].is_null() && record["did"]["checked"].is_array(), "{record}");
    }
}

#[test]
fn strict_takes_checks_that_ran_at_the_same_time() {
    let work = Work::new();
    work.sandbox.config("preset = \"strict\"\n");
    fs::write(work.sandbox.project().join("clippy.toml"), "").expect("a new file");
    work.edits("src/main.rs");
    let payloads: Vec<String> = ["cargo test", "cargo clippy"]
        .iter()
        .map(|command| {
            let members = json!({ "tool_name": "Bash", "tool_input": { "command": command }, "duration_ms": 1,
                "tool_response": { "stdout": "" } });
            work.payload("PostToolUse", members).to_string()
        })
        .collect();
    in_parallel(&payloads, |_, payload| work.sandbox.hook(&["--event", "PostToolUse"], payload).silent());
    work.stop().silent();
}

#[test]
fn a_scratch_file_that_is_gone_again_holds_nobody() {
    let work = Work::new();
    work.edits("probe.py");
    fs::remove_file(work.sandbox.project().join("probe.py")).expect("it is there");
    work.stop().silent();
    work.sandbox.config("[verify_stop]\nexempt = [\"scratch/**\"]\n");
    work.edits("scratch/a.py");
    work.stop().silent();
}

/// Of two registrations the first answers an event. A process that keeps the lock of that file ends no turn unchecked.
#[test]
fn a_claim_that_is_not_given_back_opens_nothing() {
    let mut work = Work::new();
    work.sandbox = work.sandbox.waiting();
    work.edits("src/a.rs");
    let claims = fs::File::open(work.sandbox.session(work.session).join("claims")).expect("a file");
    claims.lock().expect("nobody else has it");
    assert!(work.is_held());
}

/// While a suspended process holds the session's lock, nothing can be put into the marks.
#[test]
fn an_edit_that_could_not_be_noted_holds_the_next_stop() {
    let mut work = Work::new();
    work.sandbox = work.sandbox.waiting();
    work.skill("code-quality-rules");
    work.stop().silent();
    let lock = fs::File::create(work.sandbox.session(work.session).join("lock")).expect("a file");
    lock.lock().expect("nobody else has it");
    let path = work.sandbox.project().join("src/a.rs");
    fs::write(&path, "").expect("a new file");
    let wrote = json!({ "tool_name": "Write", "tool_input": { "file_path": path, "content": "" } });
    work.sandbox.hook(&["--event", "PostToolUse"], work.payload("PostToolUse", wrote).to_string()).silent();
    let document = json!({ "tool_name": "Write", "tool_input": { "file_path": "README.md", "content": "" } });
    work.sandbox
        .hook(&["--event", "PostToolUse"], work.payload("PostToolUse", document).to_string())
        .silent();
    // Without the lock it cannot be told: the turn is held once.
    let held = work.stop();
    assert_eq!(held.output()["decision"], "block", "{held:?}");
    work.stop_with(json!({ "stop_hook_active": true })).silent();
    lock.unlock().expect("our own");
    let held = work.stop();
    assert_eq!(held.output()["decision"], "block", "{held:?}");
    assert!(held.stdout.contains("src/a.rs") && !held.stdout.contains("README"), "{held:?}");
    work.bash("cargo test");
    assert!(!work.is_held());
    assert!(!work.is_held(), "the sign is used up");
}

/// The turn must neither end unchecked nor never, and the person must learn what to do.
#[test]
fn a_stop_that_waits_for_a_lock_is_held_once_and_names_its_holder() {
    let mut work = Work::new();
    work.sandbox = work.sandbox.waiting();
    work.skill("code-quality-rules");
    work.edits("src/a.rs");
    let path = work.sandbox.session(work.session).join("lock");
    let lock = fs::File::create(&path).expect("a file");
    lock.lock().expect("nobody else has it");
    for _ in 0..2 {
        work.sandbox.new_records();
        let held = work.stop();
        assert_eq!(held.output()["decision"], "block", "{held:?}");
        let message = held.output()["systemMessage"].to_string();
        assert!(message.contains(&path.display().to_string()), "{message}");
        let holder = format!("kill -CONT {}", std::process::id());
        assert!(message.contains(&holder) || !std::path::Path::new("/proc/locks").exists(), "{message}");
        assert!(!message.contains("disk"), "{message}");
        let failure = &work.sandbox.one_record()["failure"];
        assert_eq!((&failure["class"], &failure["closed"]), (&json!("marks"), &json!(true)), "{failure}");
        work.stop_with(json!({ "stop_hook_active": true })).silent();
    }
    lock.unlock().expect("our own");
    let held = work.stop();
    assert!(held.stdout.contains("src/a.rs"), "{held:?}");
}

/// Only the session's own folder cannot be written, during one edit.
#[test]
fn an_edit_that_the_session_could_not_hold_holds_the_next_stop() {
    for tool in ["Write", "Bash"] {
        let work = Work::new();
        work.skill("code-quality-rules");
        let folder = work.sandbox.session(work.session);
        let aside = work.sandbox.path().join("aside");
        fs::rename(&folder, &aside).expect("its own");
        fs::write(&folder, "not a folder").expect("a new file");
        let path = work.sandbox.project().join("src/a.rs");
        fs::write(&path, "").expect("a new file");
        let input = match tool {
            "Write" => json!({ "file_path": path, "content": "" }),
            _ => json!({ "command": "echo >> src/a.rs" }),
        };
        let wrote = json!({ "tool_name": tool, "tool_input": input, "tool_response": {}, "duration_ms": 5 });
        work.event("PostToolUse", wrote).silent();
        fs::remove_file(&folder).expect("its own");
        fs::rename(&aside, &folder).expect("its own");
        let held = work.stop();
        assert_eq!(held.output()["decision"], "block", "{tool}: {held:?}");
        assert!(held.stdout.contains("src/a.rs"), "{held:?}");
        work.bash("cargo test");
        assert!(!work.is_held());
        assert!(!work.sandbox.state().join("unnoted").exists(), "the sign is used up");
    }
}

/// There is no state at all during one edit.
#[test]
fn an_edit_without_a_state_holds_the_next_stop() {
    let work = Work::new();
    work.skill("code-quality-rules");
    let (state, aside) = (work.sandbox.state(), work.sandbox.path().join("aside"));
    fs::rename(&state, &aside).expect("its own");
    fs::write(&state, "not a folder").expect("a new file");
    work.edits("src/a.rs");
    fs::remove_file(&state).expect("its own");
    fs::rename(&aside, &state).expect("its own");
    let held = work.stop();
    assert_eq!(held.output()["decision"], "block", "{held:?}");
    assert!(held.stdout.contains("src/a.rs"), "{held:?}");
    work.bash("cargo test");
    assert!(!work.is_held());
}

/// As on a full disk: whether something was edited, and verified since, is not known. Once in a turn, or it would never end.
#[test]
fn a_turn_that_cannot_be_checked_is_held_once() {
    type Break = fn(&Work);
    let breaks: [(&str, Break); 3] = [
        ("journal", |work| {
            let journal = work.sandbox.state().join("journal");
            let _ = fs::remove_dir_all(&journal);
            fs::write(journal, "").expect("a new file");
        }),
        ("marks", |work| {
            let marks = work.sandbox.session(work.session).join("marks");
            fs::remove_file(&marks).expect("its own");
            fs::create_dir(marks).expect("a new folder");
        }),
        ("state", |work| {
            fs::remove_dir_all(work.sandbox.state()).expect("its own");
            fs::write(work.sandbox.state(), "").expect("a new file");
        }),
    ];
    for (what, breaks) in breaks {
        let work = Work::new();
        work.skill("code-quality-rules");
        breaks(&work);
        for _ in 0..2 {
            let stop = |active: bool, off: Option<&str>| {
                let payload = work.payload("Stop", json!({ "stop_hook_active": active })).to_string();
                let mut hook = work.sandbox.command(&["hook", "--event", "Stop"]);
                hook.envs(off.map(|off| ("TIDEGATE_OFF", off)));
                let mut hook = crate::sandbox::Running::start(hook);
                hook.send(payload.as_bytes());
                hook.close();
                let answer = Answer::of(hook.end());
                answer.check("Stop");
                answer
            };
            let held = stop(false, None);
            assert_eq!(held.output()["decision"], "block", "{what}: {held:?}");
            let message = held.output()["systemMessage"].to_string();
            assert!(message.contains("TIDEGATE_OFF=verify-stop"), "{what}: {message}");
            assert!(!held.output()["reason"].to_string().contains("TIDEGATE_OFF"), "{what}: {held:?}");
            stop(true, None).silent();
            stop(false, Some("verify-stop")).silent();
        }
    }
}

/// A check that ran after such an edit speaks of it, although the marks did not know of it when the check ran.
#[test]
fn an_edit_that_could_not_be_noted_and_was_checked_holds_nothing() {
    let mut work = Work::new();
    work.sandbox = work.sandbox.waiting();
    work.skill("code-quality-rules");
    let lock = fs::File::create(work.sandbox.session(work.session).join("lock")).expect("a file");
    lock.lock().expect("nobody else has it");
    let path = work.sandbox.project().join("src/a.rs");
    fs::write(&path, "").expect("a new file");
    let wrote = json!({ "tool_name": "Write", "tool_input": { "file_path": path, "content": "" } });
    work.sandbox.hook(&["--event", "PostToolUse"], work.payload("PostToolUse", wrote).to_string()).silent();
    lock.unlock().expect("our own");
    work.bash("cargo test");
    assert!(!work.is_held());
}

#[test]
fn a_project_that_is_not_known_closes_the_gate() {
    let sandbox = Sandbox::new().without("CLAUDE_PROJECT_DIR");
    let edit = json!({ "session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "Edit",
        "tool_input": { "file_path": "/p/a.rs" }, "cwd": 5 });
    sandbox.hook(&["--event", "PreToolUse"], edit.to_string()).closed("cwd is missing");
}

#[test]
fn what_was_moved_there_was_edited_and_what_was_only_read_was_not() {
    let work = Work::new();
    work.stop().silent();
    let (from, to) = (work.sandbox.path().join("made.rs"), work.sandbox.project().join("src/main.rs"));
    fs::write(&from, "").expect("a new file");
    let before = std::time::SystemTime::now() - std::time::Duration::from_hours(1);
    fs::File::options().write(true).open(&from).and_then(|file| file.set_modified(before)).expect("older");
    fs::rename(&from, &to).expect("moved");
    work.bash("mv ../made.rs src/main.rs");
    assert!(work.is_held(), "moved with its old time");
    let work = Work::new();
    work.edits("src/a.rs");
    work.bash("cargo test");
    work.bash("python3 -c \"print(open('src/a.rs').read())\"");
    work.stop().silent();
}

#[test]
fn a_moved_folder_takes_its_edits_along() {
    for line in ["mv src lib", "git mv src lib", "mkdir lib && mv src lib/src"] {
        let work = Work::new();
        let project = work.sandbox.project();
        fs::create_dir_all(project.join("src/deep")).expect("new folders");
        fs::write(project.join("src/deep/made.rs"), "").expect("a new file");
        work.edits("src/deep/made.rs");
        let to = if line.ends_with("lib/src") { "lib/src" } else { "lib" };
        fs::create_dir_all(project.join(to).parent().expect("a folder")).expect("a new folder");
        fs::rename(project.join("src"), project.join(to)).expect("moved");
        work.bash(line);
        assert!(work.is_held(), "{line}");
    }
}

/// A name that is told shortened is still the name of a file that is there.
#[test]
fn a_file_with_a_long_path_is_not_gone() {
    for folder in ["a/very/long/".repeat(8), "とても長い名前/".repeat(4), "x".repeat(250) + "/"] {
        let work = Work::new();
        let file = work.sandbox.project().join(&folder).join("made.rs");
        fs::create_dir_all(file.parent().expect("a folder")).expect("new folders");
        fs::write(&file, "").expect("a new file");
        work.edits(&format!("{folder}made.rs"));
        assert!(work.is_held(), "{folder}");
        fs::remove_file(&file).expect("our own");
        work.stop().silent();
    }
}

#[test]
fn a_line_is_named_without_what_may_be_secret() {
    let work = Work::new();
    work.edits("src/main.rs");
    work.bash("API_TOKEN=sk-very-secret cargo test | tail");
    let held = work.stop();
    assert!(
        held.stdout.contains("API_TOKEN=… cargo test | tail") && !held.stdout.contains("secret"),
        "{held:?}"
    );
}
