//! A worktree that goes: what only it held stays, and the person hears of it.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::fixtures;
use crate::sandbox::Sandbox;

/// A worktree of the project, as git makes one, with an entry of its own.
fn worktree(sandbox: &Sandbox) -> PathBuf {
    let main = fs::canonicalize(sandbox.project()).expect("the project");
    let (tree, git) = (main.join(".claude/worktrees/agent-1"), main.join(".git/worktrees/agent-1"));
    for folder in [&git, &tree.join(".claude/context"), &main.join(".claude/context")] {
        fs::create_dir_all(folder).expect("new folders");
    }
    fs::write(tree.join(".git"), format!("gitdir: {}\n", git.display())).expect("a new file");
    fs::write(git.join("commondir"), "../..\n").expect("a new file");
    fs::write(git.join("gitdir"), format!("{}\n", tree.join(".git").display())).expect("a new file");
    fs::write(tree.join(".claude/context/progress.md"), "## [2026-11-16] - only here\n").expect("a new file");
    tree
}

fn run(sandbox: &Sandbox, capture: &str, cwd: &Path, change: impl FnOnce(&mut Value)) -> Option<String> {
    let mut payload = fixtures::hook(capture);
    (payload["session_id"], payload["cwd"]) = (json!("s"), json!(cwd));
    change(&mut payload);
    let event = capture.split('.').next().unwrap_or_default();
    let answer = sandbox.hook(&["--event", event], payload.to_string());
    answer.check(event);
    let said: Value = serde_json::from_str(&answer.stdout).unwrap_or_default();
    said["systemMessage"].as_str().map(str::to_owned)
}

#[test]
fn what_only_it_held_is_kept_and_told_when_it_is_gone() {
    for (capture, tool) in [("SubagentStop.agent", None), ("PreToolUse.Bash", Some("ExitWorktree"))] {
        let sandbox = Sandbox::new();
        let sandbox = sandbox.with("CLAUDE_CODE_ENTRYPOINT", "cli");
        let tree = worktree(&sandbox);
        let main = sandbox.project();
        let told = run(&sandbox, capture, &tree, |payload| {
            if let Some(tool) = tool {
                payload["tool_name"] = json!(tool);
                payload["tool_input"] = json!({ "action": "remove" });
            }
        });
        assert_eq!(told, None, "it may stay");
        assert_eq!(run(&sandbox, "UserPromptSubmit.plain", &main, |_| ()), None, "it is still there");
        fs::remove_dir_all(&tree).expect("our own");
        let told = run(&sandbox, "UserPromptSubmit.plain", &main, |_| ()).expect("it is told");
        assert!(told.contains("agent-1 was removed"), "{told}");
        let copy = told.rsplit_once(" kept in ").expect("a place").1.trim_end_matches('.');
        let text = fs::read_to_string(Path::new(copy).join("progress.md")).expect("the copy");
        assert_eq!(text, "## [2026-11-16] - only here\n");
        assert_eq!(run(&sandbox, "UserPromptSubmit.plain", &main, |_| ()), None, "once");
    }
}

#[test]
fn an_agent_in_the_project_itself_leaves_nothing() {
    let sandbox = Sandbox::new();
    worktree(&sandbox);
    let context = sandbox.project().join(".claude/context");
    fs::write(context.join("progress.md"), "## one\n").expect("a new file");
    assert_eq!(run(&sandbox, "SubagentStop.agent", &sandbox.project(), |_| ()), None);
    assert!(!sandbox.state().join("worktrees").exists());
}
