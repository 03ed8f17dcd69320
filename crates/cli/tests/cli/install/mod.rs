//! `init` and `uninstall` on what they may find.

mod files;
mod link;
mod other_hosts;
mod refusals;
mod remains;
mod said;
mod server;
mod settings;
mod shapes;
mod wrapper;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::sandbox::Sandbox;

/// Where an install goes, and into which file its hooks.
#[derive(Clone, Copy, Debug)]
enum Scope {
    Project,
    Shared,
    User,
}

const SCOPES: [Scope; 3] = [Scope::Project, Scope::Shared, Scope::User];

impl Scope {
    fn flags(self) -> &'static [&'static str] {
        match self {
            Scope::Project => &["--project", "."],
            Scope::Shared => &["--project", ".", "--shared"],
            Scope::User => &["--user"],
        }
    }

    fn settings(self, sandbox: &Sandbox) -> PathBuf {
        match self {
            Scope::Project => sandbox.project().join(".claude/settings.local.json"),
            Scope::Shared => sandbox.project().join(".claude/settings.json"),
            Scope::User => sandbox.home().join(".claude/settings.json"),
        }
    }

    /// Puts a settings file there.
    fn write(self, sandbox: &Sandbox, text: impl AsRef<[u8]>) {
        let path = self.settings(sandbox);
        fs::create_dir_all(path.parent().expect("a folder")).expect("new folders");
        fs::write(path, text).expect("a new file");
    }

    fn read(self, sandbox: &Sandbox) -> String {
        fs::read_to_string(self.settings(sandbox)).expect("the settings")
    }

    fn init(self, sandbox: &Sandbox) -> String {
        init(sandbox, self.flags())
    }

    fn uninstall(self, sandbox: &Sandbox) -> String {
        listed(sandbox.run(&words("uninstall", &[self.flags(), &["--json"]].concat())).ok())
    }

    fn refused(self, sandbox: &Sandbox, command: &str) -> String {
        sandbox.run(&words(command, self.flags())).failed().to_owned()
    }
}

fn words<'a>(command: &'a str, flags: &[&'a str]) -> Vec<&'a str> {
    [&[command], flags].concat()
}

/// An `init` that goes well, one line for each file. The executable under test is a build, and that is all it may warn of.
fn init(sandbox: &Sandbox, flags: &[&str]) -> String {
    let ran = sandbox.run(&words("init", &[flags, &["--json"]].concat()));
    let warnings = json(ran.ok())["warnings"].as_array().cloned().unwrap_or_default();
    let is_build = |line: &Value| line.as_str().is_some_and(|line| line.contains("cargo clean"));
    assert!(warnings.iter().all(is_build) && warnings.len() <= 1, "{ran:?}");
    listed(&ran.stdout)
}

/// `FILE: WHAT; DETAIL`.
fn listed(report: &str) -> String {
    let report = json(report);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let line = |change: &Value| {
        format!("{}: {}; {}\n", text(&change["file"]), text(&change["what"]), text(&change["detail"]))
    };
    report["changes"].as_array().into_iter().flatten().map(line).collect()
}

/// As a person reads it, without warnings.
fn said(sandbox: &Sandbox, arguments: &[&str]) -> String {
    let ran = sandbox.run(arguments);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    ran.stdout
}

/// Everything in the project and in the home, by path: a file's bytes, where a link leads, nothing for a folder.
fn tree(sandbox: &Sandbox) -> BTreeMap<PathBuf, Vec<u8>> {
    let below = |path: &PathBuf| !path.starts_with(sandbox.state());
    sandbox.everything().into_iter().filter(below).map(|path| (path.clone(), content(&path))).collect()
}

fn content(path: &Path) -> Vec<u8> {
    if let Ok(target) = fs::read_link(path) {
        return target.into_os_string().into_encoded_bytes();
    }
    fs::read(path).unwrap_or_default()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text.trim_start_matches('\u{feff}'))
        .unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// All handlers of settings, with their events.
fn handlers(settings: &Value) -> Vec<(String, Value)> {
    let events = settings["hooks"].as_object().into_iter().flatten();
    let groups = events.flat_map(|(event, groups)| {
        groups.as_array().into_iter().flatten().map(move |group| (event.clone(), group.clone()))
    });
    groups
        .flat_map(|(event, group)| {
            let handlers = group["hooks"].as_array().cloned().unwrap_or_default();
            handlers.into_iter().map(move |handler| (event.clone(), handler))
        })
        .collect()
}

fn git(sandbox: &Sandbox) {
    fs::create_dir(sandbox.project().join(".git")).expect("a new folder");
}

/// Whether it went well, and what it printed.
fn run_git(sandbox: &Sandbox, folder: &Path, args: &[&str]) -> (bool, String) {
    let mut command = std::process::Command::new("git");
    command.args(["-c", "user.name=me", "-c", "user.email=me@example.invalid"]).args(args);
    command.current_dir(folder).env_clear().env("PATH", "/usr/bin:/bin").env("HOME", sandbox.home());
    let ran = command.output().expect("git runs");
    (ran.status.success(), String::from_utf8_lossy(&ran.stdout).into_owned())
}
