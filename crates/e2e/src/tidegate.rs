//! The binary under test: its installation into a home, and its journal.

use std::fs;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::home::Home;
use crate::hooks::read_lines;

/// `TIDEGATE_BIN`, or the one that cargo built next to the tests.
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

/// By another process: a copy that this one writes is busy as long as a child of another thread has it open.
pub fn copy_binary(home: &Home, to: &Path) {
    fs::create_dir_all(to.parent().expect("a file has a directory")).expect("the copy's directory");
    let copied = home.command("cp").arg(binary()).arg(to).status().expect("cp on the path");
    assert!(copied.success(), "cp: {copied}");
}

pub struct Tidegate<'a> {
    home: &'a Home,
    program: PathBuf,
}

impl<'a> Tidegate<'a> {
    /// Into the home's project.
    pub fn init(home: &'a Home) -> Self {
        Self::init_with(home, &[])
    }

    /// Into the home's project, with these flags of `init`.
    pub fn init_with(home: &'a Home, flags: &[&str]) -> Self {
        let tidegate = Self::of(home);
        tidegate.init_again(flags);
        tidegate.note_recording_read();
        tidegate
    }

    /// As after an `init` at a terminal, where a person reads that conversations are recorded.
    fn note_recording_read(&self) {
        let told = self.home.state().join("told");
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&told).expect("a new folder");
        let mut options = fs::OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(0o600);
        options.open(told.join("recording")).expect("a new file");
    }

    /// For a home where it was installed by other means, or not at all.
    pub fn of(home: &'a Home) -> Self {
        Self::at(home, binary())
    }

    /// Another program than the one under test.
    pub fn at(home: &'a Home, program: PathBuf) -> Self {
        Self { home, program }
    }

    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Returns what `init` prints.
    pub fn init_again(&self, flags: &[&str]) -> String {
        let project = self.home.project().display().to_string();
        self.run(&[&["init", "--project", &project], flags].concat())
    }

    /// Edits the registrations of `init`: `change` receives the event and each of its handlers.
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

    /// In the environment of the home.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.home.command(&self.program);
        command.args(arguments);
        command
    }

    /// Must succeed; returns its output.
    pub fn run(&self, arguments: &[&str]) -> String {
        let output = self.command(arguments).output().expect("the binary starts");
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "tidegate {arguments:?}: {} {complaint}", output.status);
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    pub fn meter(&self, session: &str) -> Value {
        let text = self.run(&["meter", "--session", session, "--json"]);
        serde_json::from_str(&text).expect("the meter prints JSON")
    }

    /// Oldest first.
    pub fn journal(&self) -> Vec<Value> {
        let Ok(entries) = fs::read_dir(self.home.state().join("journal")) else { return Vec::new() };
        let mut days: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        days.sort();
        days.iter().flat_map(|day| read_lines(day)).collect()
    }

    /// Also fails if a hook missed its deadline.
    pub fn assert_unfailing(&self) {
        for record in self.journal() {
            assert!(record["failure"].is_null(), "a hook failed: {record:#}");
        }
    }

    pub fn records_of(&self, event: &str) -> Vec<Value> {
        self.journal().into_iter().filter(|record| record["event"] == event).collect()
    }
}
