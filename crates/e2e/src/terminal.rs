//! The real client in a terminal: its own tmux server, screens to read and keys to press.
//!
//! Headless runs have no status line and no screen, so some behaviour shows only here.

use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::client::Launch;
use crate::home::Home;
use crate::slots::Slot;

/// A healthy client needs seconds.
const LIMIT: Duration = Duration::from_mins(3);
/// For all that a scenario waits for.
const LIFETIME: Duration = Duration::from_mins(20);
const POLL: Duration = Duration::from_millis(50);

static STARTED: AtomicUsize = AtomicUsize::new(0);

pub struct Terminal<'a> {
    home: &'a Home,
    socket: String,
    _slot: Slot,
}

impl<'a> Terminal<'a> {
    /// Waits for the client's prompt.
    pub fn start(launch: &Launch<'a>) -> Self {
        let terminal = Self::open(launch, &launch.command(), 150);
        terminal.wait_for("❯");
        terminal
    }

    /// A shell in the project in which `claude` is this client, 80 columns wide. Waits for its prompt.
    pub fn shell(launch: &Launch<'a>) -> Self {
        let (home, client) = (launch.home(), launch.command());
        let words = std::iter::once(client.get_program()).chain(client.get_args());
        let words: Vec<String> = words.map(|word| format!("'{}'", word.to_string_lossy())).collect();
        home.add_program("claude", &format!("exec {} \"$@\"", words.join(" ")));
        let mut shell = home.command("/bin/sh");
        shell.envs(client.get_envs().filter_map(|(name, value)| Some((name, value?))));
        shell.env("PATH", format!("{}:/usr/bin:/bin", home.programs().display())).env("PS1", "$ ");
        let terminal = Self::open(launch, &shell, 80);
        terminal.wait_for("$ ");
        terminal
    }

    fn open(launch: &Launch<'a>, program: &Command, columns: u16) -> Self {
        let home = launch.home();
        let name = home.root().file_name().and_then(|name| Some(name.to_str()?.to_owned()));
        // A home can have several terminals in turn, and a tmux server takes a moment to release its socket.
        let socket = format!(
            "{}-{}",
            name.expect("a temporary home has a plain name"),
            STARTED.fetch_add(1, Ordering::Relaxed)
        );
        let terminal = Self { home, socket, _slot: Slot::take() };
        let mut tmux = terminal.tmux();
        for (name, value) in program.get_envs() {
            if let Some(value) = value {
                tmux.env(name, value);
            }
        }
        // The pane ends itself even if this process is killed before it can clean up. By then its number may be another
        // process's, which began at another time.
        let bounded = format!(
            "began() {{ ps -o lstart= -p $$; }}; first=$(began); \
             (sleep {}; [ \"$(began)\" = \"$first\" ] && kill $$) & exec \"$@\"",
            LIFETIME.as_secs()
        );
        tmux.args(["-f", "/dev/null", "new-session", "-d", "-x", &columns.to_string(), "-y", "50", "--"])
            .args(["/bin/sh", "-c", &bounded, "client"])
            .arg(program.get_program())
            .args(program.get_args());
        run_command(&mut tmux);
        terminal
    }

    pub fn screen(&self) -> String {
        run_command(self.tmux().args(["capture-pane", "-p", "-J"]))
    }

    /// Line by line, as the client folded it.
    pub fn folded_screen(&self) -> String {
        run_command(self.tmux().args(["capture-pane", "-p"]))
    }

    /// Returns the screen.
    pub fn wait_for(&self, text: &str) -> String {
        self.wait_until(&format!("{text:?} on the screen"), |screen| screen.contains(text))
    }

    /// Ignores line breaks; returns the screen as one line.
    pub fn wait_for_sentence(&self, sentence: &str) -> String {
        let what = format!("{sentence:?} on the screen, in one line or in several");
        join_lines(&self.wait_until(&what, |screen| join_lines(screen).contains(sentence)))
    }

    /// For something that need not be on the screen.
    pub fn wait_while(&self, what: &str, condition: impl Fn() -> bool) {
        self.wait_until(what, |_| !condition());
    }

    /// Returns the screen.
    pub fn wait_until(&self, what: &str, condition: impl Fn(&str) -> bool) -> String {
        let end = Instant::now() + LIMIT;
        loop {
            let screen = self.screen();
            if condition(&screen) {
                return screen;
            }
            assert!(Instant::now() < end, "waited {LIMIT:?} for {what}:\n{screen}");
            std::thread::sleep(POLL);
        }
    }

    /// Types a line, waits until it is on the screen, and presses Enter.
    pub fn enter(&self, line: &str) {
        run_command(self.tmux().args(["send-keys", "-l", "--", line]));
        self.wait_for(line);
        self.press("Enter");
    }

    /// As tmux names it.
    pub fn press(&self, key: &str) {
        run_command(self.tmux().args(["send-keys", key]));
    }

    /// Repeats a key until `text` is gone: a dialog ignores keys in its first moment.
    pub fn dismiss(&self, key: &str, text: &str) {
        let end = Instant::now() + LIMIT;
        while self.screen().contains(text) {
            assert!(Instant::now() < end, "{key} does not take {text:?} away:\n{}", self.screen());
            self.press(key);
            let patience = Instant::now() + Duration::from_secs(2);
            while self.screen().contains(text) && Instant::now() < patience {
                std::thread::sleep(POLL);
            }
        }
    }

    fn tmux(&self) -> Command {
        let mut command = self.home.command("tmux");
        let sockets = self.home.root().join("tmp");
        command.env("TMUX_TMPDIR", sockets).env("TERM", "xterm-256color").args(["-L", &self.socket]);
        command
    }
}

impl Drop for Terminal<'_> {
    fn drop(&mut self) {
        // A client keeps writing for two seconds after its terminal is gone, into a home that is being
        // removed.
        let client = self.tmux().args(["display-message", "-p", "#{pane_pid}"]).output();
        let client = client.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
        if let Ok(client) = client
            && !client.is_empty()
        {
            let _ = self.home.command("kill").args(["-KILL", &client]).output();
        }
        let _ = self.tmux().arg("kill-server").output();
    }
}

fn join_lines(screen: &str) -> String {
    screen.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn run_command(command: &mut Command) -> String {
    let output = command.output().expect("tmux on the path");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {complaint}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}
