//! The binary under test: where it is, how it is installed into a home, and what it wrote.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::home::Home;
use crate::hooks::read_lines;

/// The binary: `TIDEGATE_BIN`, or the one that cargo built beside the tests.
pub fn binary() -> PathBuf {
    if let Some(path) = std::env::var_os("TIDEGATE_BIN") {
        return PathBuf::from(path);
    }
    let tests = std::env::current_exe().expect("the path of the test executable");
    let profile = tests.parent().and_then(|deps| deps.parent()).expect("tests are built into <profile>/deps");
    let path = profile.join(format!("tidegate{}", std::env::consts::EXE_SUFFIX));
    assert!(path.is_file(), "no binary at {}: run `cargo build` first", path.display());
    path
}

/// The binary as installed in a home.
pub struct Tidegate<'a> {
    home: &'a Home,
}

impl<'a> Tidegate<'a> {
    /// Installs it into the home's project.
    pub fn init(home: &'a Home) -> Self {
        Self::init_with(home, &[])
    }

    /// Installs it into the home's project in another way.
    pub fn init_with(home: &'a Home, flags: &[&str]) -> Self {
        let tidegate = Self::of(home);
        let project = home.project().display().to_string();
        tidegate.run(&[&["init", "--project", &project], flags].concat());
        tidegate
    }

    /// Whatever installed it, or nothing did: what it wrote, and its commands.
    pub fn of(home: &'a Home) -> Self {
        Self { home }
    }

    /// Changes what `init` registered: called with the event and each of its handlers.
    pub fn rewire(&self, change: impl Fn(&str, &mut Value)) {
        let mut settings = self.home.read_settings();
        let events = settings["hooks"].as_object_mut().expect("init registers hooks");
        for (event, groups) in events {
            let groups = groups.as_array_mut().expect("an event has groups");
            for handler in groups.iter_mut().filter_map(|group| group["hooks"].as_array_mut()).flatten() {
                change(event, handler);
            }
        }
        self.home.write_settings(&settings);
    }

    /// A call of the binary in the environment of the home.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.home.command(binary());
        command.args(arguments);
        command
    }

    /// Runs it; it must succeed.
    pub fn run(&self, arguments: &[&str]) -> String {
        let output = self.command(arguments).output().expect("the binary starts");
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "tidegate {arguments:?}: {} {complaint}", output.status);
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// One reading of the meter for a session.
    pub fn meter(&self, session: &str) -> Value {
        let text = self.run(&["meter", "--session", session, "--json"]);
        serde_json::from_str(&text).expect("the meter prints JSON")
    }

    /// The journal's records, oldest first.
    pub fn journal(&self) -> Vec<Value> {
        let Ok(entries) = fs::read_dir(self.home.state().join("journal")) else { return Vec::new() };
        let mut days: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        days.sort();
        days.iter().flat_map(|day| read_lines(day)).collect()
    }

    /// Asserts that no hook failed by itself, be it that the machine was too slow for its deadline.
    pub fn assert_unfailing(&self) {
        for record in self.journal() {
            assert!(record["failure"].is_null(), "a hook failed: {record:#}");
        }
    }

    /// The journal's records of one event.
    pub fn records_of(&self, event: &str) -> Vec<Value> {
        self.journal().into_iter().filter(|record| record["event"] == event).collect()
    }
}

/// Says for a scenario that fails whether hooks ran out of time in it. `cargo xtask e2e` runs such a scenario once more,
/// alone: a machine that stands still for 200 ms says nothing about the product.
impl Drop for Tidegate<'_> {
    #[expect(clippy::print_stdout, reason = "the test harness keeps it with the scenario's output")]
    fn drop(&mut self) {
        let was_late = |record: &Value| record["failure"]["class"] == "deadline";
        if std::thread::panicking() && self.journal().iter().any(was_late) {
            println!("{OUT_OF_TIME}");
        }
    }
}

/// How `cargo xtask e2e` recognises such a scenario in its output.
const OUT_OF_TIME: &str = "a hook ran out of time in this scenario";
