//! `tidegate top` in a real terminal, which tmux keeps.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::sandbox::Sandbox;

/// Far beyond what a screen takes.
const LIMIT: Duration = Duration::from_mins(1);

struct Terminal {
    socket: String,
}

impl Terminal {
    fn start(sandbox: &Sandbox, columns: usize) -> Terminal {
        let folder = sandbox.path().file_name().expect("a name").to_string_lossy().into_owned();
        let terminal = Terminal { socket: format!("tidegate-test{folder}-{columns}") };
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
        tmux.args(["-L", &self.socket]);
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
