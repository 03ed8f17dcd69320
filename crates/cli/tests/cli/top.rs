//! `tidegate top` in a real terminal, which tmux keeps.

use std::fs;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::sandbox::Sandbox;

/// Far beyond what a screen takes.
const LIMIT: Duration = Duration::from_mins(1);

static STARTED: AtomicUsize = AtomicUsize::new(0);

struct Terminal {
    socket: String,
}

impl Terminal {
    fn start(sandbox: &Sandbox, columns: usize) -> Terminal {
        let folder = sandbox.path().file_name().expect("a name").to_string_lossy().into_owned();
        // A server that just ended may still have its socket.
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let terminal = Terminal { socket: format!("tidegate-test{folder}-{columns}-{number}") };
        let top = sandbox.command(&["top"]);
        let mut tmux = terminal.tmux();
        tmux.env_clear().env("TERM", "xterm-256color").current_dir(sandbox.home());
        tmux.envs(top.get_envs().filter_map(|(name, value)| Some((name, value?))));
        tmux.args(["-f", "/dev/null", "new-session", "-d", "-y", "30", "-x", &columns.to_string(), "--"]);
        // What a shell shows after it tells how it left the terminal.
        tmux.args(["sh", "-c", "sh -c 'echo $$ > \"$1\"; shift; exec \"$@\"' - \"$@\"; code=$?; [ $code = 0 ] || { echo ended $code; sleep 99; }", "-"]);
        tmux.arg(sandbox.home().join("top.pid")).arg(top.get_program()).args(top.get_args());
        assert!(tmux.status().expect("tmux starts").success());
        terminal
    }

    fn tmux(&self) -> Command {
        let mut tmux = Command::new("tmux");
        // `-u`: whatever the locale of the test, texts are UTF-8.
        tmux.args(["-u", "-L", &self.socket]);
        tmux
    }

    fn screen(&self) -> Option<String> {
        let shown = self.tmux().args(["capture-pane", "-p"]).output().expect("tmux runs");
        shown.status.success().then(|| String::from_utf8_lossy(&shown.stdout).into_owned())
    }

    fn wait_for(&self, text: &str) -> String {
        let began = Instant::now();
        loop {
            let screen = self.screen().unwrap_or_default();
            if screen.contains(text) {
                return screen;
            }
            assert!(began.elapsed() < LIMIT, "no {text:?}:\n{screen}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn press(&self, keys: &[&str]) {
        assert!(self.tmux().arg("send-keys").args(keys).status().expect("tmux runs").success());
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.tmux().arg("kill-server").output();
    }
}

/// A session in `home/code/NAME`.
fn begin(sandbox: &Sandbox, id: &str, name: &str) -> std::path::PathBuf {
    let project = sandbox.home().join("code").join(name);
    fs::create_dir_all(project.join(".git")).expect("a project");
    let payload = json!({
        "hook_event_name": "SessionStart", "source": "startup", "session_id": id, "cwd": project,
        "transcript_path": project.join("none.jsonl"),
    });
    let mut hook = sandbox.command(&["hook", "--event", "SessionStart"]);
    hook.current_dir(&project).env("CLAUDE_PROJECT_DIR", &project);
    crate::sandbox::feed(hook, payload.to_string().as_bytes());
    project
}

#[test]
fn a_policy_is_switched_off_in_the_project_that_the_screen_names() {
    let sandbox = Sandbox::new().without("CLAUDE_PROJECT_DIR");
    let project = begin(&sandbox, "5e55-1", "billing");
    let terminal = Terminal::start(&sandbox, 80);
    terminal.wait_for("billing");
    terminal.press(&["o"]);
    let asked = terminal.wait_for("Policy to switch off in ");
    let flat: String = asked.split_whitespace().collect();
    let folder: String = project.display().to_string().split_whitespace().collect();
    assert!(flat.contains(&format!("switchoffin{folder}")), "{asked}");
    terminal.press(&["context-wrning", "Enter"]);
    let refused = terminal.wait_for("did you mean `context-warning`?");
    assert!(!refused.contains("For how long"), "{refused}");
    terminal.press(&["context-warning", "Enter"]);
    terminal.wait_for("For how long");
    terminal.press(&["soon", "Enter"]);
    terminal.wait_for("use a time such as");
    terminal.press(&["1h", "Enter"]);
    terminal.wait_for("Enter returns");
    terminal.press(&["Enter"]);
    terminal.wait_for("Sessions");
    terminal.press(&["Escape"]);
    terminal.wait_for("Sessions");
    terminal.press(&["q"]);
    let began = Instant::now();
    while terminal.screen().is_some() {
        assert!(began.elapsed() < LIMIT, "`q` ends it");
        std::thread::sleep(Duration::from_millis(50));
    }
    let listed = |folder: &std::path::Path| {
        let mut off = sandbox.command(&["off", "--json"]);
        off.current_dir(folder);
        String::from_utf8(off.output().expect("it runs").stdout).expect("UTF-8")
    };
    let shown = listed(&project);
    assert!(shown.contains("context-warning") && shown.contains("\"until\""), "{shown}");
    assert!(!listed(&sandbox.home()).contains("\"here\":true"), "{}", listed(&sandbox.home()));
}

#[test]
fn a_signal_leaves_the_terminal_as_it_was() {
    let sandbox = Sandbox::new().without("CLAUDE_PROJECT_DIR");
    begin(&sandbox, "5e55-4", "billing");
    for (signal, ended) in [("-TERM", "ended 143"), ("-HUP", "ended 129")] {
        let terminal = Terminal::start(&sandbox, 80);
        terminal.wait_for("q quit");
        let top = fs::read_to_string(sandbox.home().join("top.pid")).expect("its number");
        assert!(Command::new("kill").args([signal, top.trim()]).status().expect("kill runs").success());
        let screen = terminal.wait_for(ended);
        assert!(!screen.contains("q quit"), "{screen}");
        let asked = ["display-message", "-p", "#{alternate_on} #{cursor_flag}"];
        let shown = terminal.tmux().args(asked).output().expect("tmux runs").stdout;
        assert_eq!(String::from_utf8_lossy(&shown).trim(), "0 1");
    }
}

#[test]
fn nothing_is_switched_off_without_an_answer() {
    let sandbox = Sandbox::new().without("CLAUDE_PROJECT_DIR");
    begin(&sandbox, "5e55-3", "billing");
    let terminal = Terminal::start(&sandbox, 80);
    for cancel in ["Escape", "C-d", "C-c", "Enter"] {
        terminal.wait_for("q quit");
        terminal.press(&["o"]);
        terminal.wait_for("Policy to switch off in ");
        terminal.press(&["context-warning", "Enter"]);
        terminal.wait_for("For how long");
        terminal.press(&[cancel]);
    }
    terminal.wait_for("q quit");
    terminal.press(&["o"]);
    terminal.wait_for("Policy to switch off in ");
    terminal.press(&["C-d"]);
    terminal.wait_for("q quit");
    let off = sandbox.run(&["off", "--json"]);
    assert_eq!(off.ok().trim(), "[]");
}

#[test]
fn a_narrow_terminal_names_the_projects() {
    let sandbox = Sandbox::new().without("CLAUDE_PROJECT_DIR");
    begin(&sandbox, "5e55-2", "billing");
    let terminal = Terminal::start(&sandbox, 60);
    let screen = terminal.wait_for("billing");
    assert!(screen.contains("q quit"), "{screen}");
}

/// A session that was blocked once, in `home/code/NAME`.
fn begin_blocked(sandbox: &Sandbox, id: &str, name: &str) {
    let project = begin(sandbox, id, name);
    let file = project.join("login.ts");
    fs::write(&file, "b").expect("a file");
    let send = |mut payload: serde_json::Value| {
        payload["session_id"] = json!(id);
        payload["cwd"] = json!(project);
        payload["transcript_path"] = json!(project.join("none.jsonl"));
        let event = payload["hook_event_name"].as_str().expect("an event").to_owned();
        let mut hook = sandbox.command(&["hook", "--event", &event]);
        hook.current_dir(&project).env("CLAUDE_PROJECT_DIR", &project);
        crate::sandbox::feed(hook, payload.to_string().as_bytes());
    };
    send(json!({ "hook_event_name": "PostToolUse", "tool_name": "Edit", "tool_use_id": "1",
        "tool_input": { "file_path": file, "old_string": "a", "new_string": "b" },
        "tool_response": { "filePath": file } }));
    send(json!({ "hook_event_name": "Stop", "stop_hook_active": false, "last_assistant_message": "Done." }));
}

#[test]
fn a_result_is_explained_and_the_memory_is_searched() {
    let sandbox = Sandbox::new().without("CLAUDE_PROJECT_DIR");
    begin_blocked(&sandbox, "5e55-5", "billing");
    let rows = [
        json!({"kind": "project", "uid": "p", "key": "/p", "name": "billing", "created": 1, "updated": 1}),
        json!({"kind": "topic", "uid": "t", "project": "p", "title": "Login", "status": "open", "created": 2, "updated": 2}),
        json!({"kind": "decision", "uid": "d", "topic": "t", "text": "a signed cookie, valid for 30 days", "created": 3, "updated": 3}),
    ];
    let rows: Vec<String> = rows.iter().map(serde_json::Value::to_string).collect();
    let _ = sandbox.run_with(&["memory", "import"], rows.join("\n").as_bytes()).ok();
    let terminal = Terminal::start(&sandbox, 100);
    let screen = terminal.wait_for("verify-stop blocked");
    // The one before it is there, too.
    assert!(screen.contains("Last results") && screen.contains("A session started"), "{screen}");
    terminal.press(&["e"]);
    let explained = terminal.wait_for("Esc back");
    assert!(explained.contains("verify-stop") && explained.contains("login.ts"), "{explained}");
    terminal.press(&["Escape"]);
    terminal.wait_for("Last results");
    terminal.press(&["/"]);
    terminal.wait_for("Search the memory");
    terminal.press(&["-l", "cookie"]);
    terminal.press(&["Enter"]);
    let found = terminal.wait_for("Esc back");
    assert!(found.contains("valid for 30 days"), "{found}");
}

#[test]
fn a_person_reads_and_searches_in_japanese() {
    let sandbox = Sandbox::new().without("CLAUDE_PROJECT_DIR").with("LANG", "ja_JP.UTF-8");
    begin_blocked(&sandbox, "5e55-6", "kaikei");
    let rows = [
        json!({"kind": "project", "uid": "p", "key": "/p", "name": "kaikei", "created": 1, "updated": 1}),
        json!({"kind": "topic", "uid": "t", "project": "p", "title": "検索", "status": "open", "created": 2, "updated": 2}),
        json!({"kind": "decision", "uid": "d", "topic": "t", "text": "検索の設計を見直す", "created": 3, "updated": 3}),
    ];
    let rows: Vec<String> = rows.iter().map(serde_json::Value::to_string).collect();
    let _ = sandbox.run_with(&["memory", "import"], rows.join("\n").as_bytes()).ok();
    let terminal = Terminal::start(&sandbox, 100);
    let screen = terminal.wait_for("最近の結果");
    assert!(screen.contains("verify-stop"), "{screen}");
    terminal.press(&["e"]);
    let explained = terminal.wait_for("Esc 戻る");
    assert!(explained.contains("verify-stop") && explained.contains("login.ts"), "{explained}");
    terminal.press(&["Escape"]);
    terminal.wait_for("最近の結果");
    terminal.press(&["/"]);
    terminal.wait_for("記憶を検索");
    terminal.press(&["-l", "設計"]);
    terminal.wait_for("設計");
    terminal.press(&["Enter"]);
    let found = terminal.wait_for("Esc 戻る");
    assert!(found.contains("検索の設計を見直す"), "{found}");
}
