//! A temporary home and project for one test: the only files that the client under test can see.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::model::Model;

/// A dummy for the scripted model.
pub const DUMMY_KEY: &str = "sk-ant-dummy-0000000000000000000000000000";

/// Fixed, so that a run does not depend on the caller's path.
const PATH: &str = "/usr/local/bin:/opt/homebrew/bin:/usr/bin:/bin";

/// Contains an empty git project.
pub struct Home {
    dir: TempDir,
    root: PathBuf,
    layout: &'static Layout,
    is_kept: bool,
}

/// Places below the root.
struct Layout {
    project: &'static str,
    state: &'static str,
    /// Always of the same length, for screens in which lines break.
    is_short: bool,
}

const APART: Layout = Layout { project: "project", state: "state", is_short: false };
const USUAL: Layout =
    Layout { project: "home/code/app", state: "home/.local/state/tidegate", is_short: true };

/// A worker of the last hooks may still run. Under its old name it finds nothing, and ends; so nothing is added while the rest
/// is removed.
impl Drop for Home {
    fn drop(&mut self) {
        let gone = self.dir.path().with_extension("gone");
        if !self.is_kept && fs::rename(self.dir.path(), &gone).is_ok() {
            let _ = fs::remove_dir_all(gone);
        }
    }
}

impl Home {
    /// With `TIDEGATE_E2E_KEEP` in the environment it stays after the test.
    pub fn new() -> Self {
        Self::of_regular("tg-")
    }

    /// With a space in every path.
    pub fn with_a_space() -> Self {
        Self::of_regular("tg a space-")
    }

    /// As on a person's machine: the project and Tidegate's files are below the home.
    pub fn of_newcomer() -> Self {
        Self::named("tg-", &USUAL)
    }

    fn of_regular(prefix: &str) -> Self {
        let home = Self::named(prefix, &APART);
        fs::create_dir(home.in_project(".claude")).expect("a directory in the project");
        home
    }

    fn named(prefix: &str, layout: &'static Layout) -> Self {
        let keep = std::env::var_os("TIDEGATE_E2E_KEEP").is_some();
        let mut builder = tempfile::Builder::new();
        let dir = builder.prefix(prefix).disable_cleanup(keep);
        let dir = if layout.is_short { dir.tempdir_in("/tmp") } else { dir.tempdir() };
        let dir = dir.expect("a temporary directory");
        // The client compares canonical paths, and the temporary directory may be behind a link.
        let root = dir.path().canonicalize().expect("the temporary directory's real path");
        let home = Self { dir, root, layout, is_kept: keep };
        for part in ["claude", "tmp", "home", layout.project, layout.state] {
            fs::create_dir_all(home.root.join(part)).expect("a directory in the temporary home");
        }
        home.git(&["init", "--quiet", "--initial-branch=main"]);
        home.seed_for_terminal();
        home
    }

    /// Contains everything that a test starts or writes.
    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn user_home(&self) -> PathBuf {
        self.root.join("home")
    }

    pub fn project(&self) -> PathBuf {
        self.root.join(self.layout.project)
    }

    pub fn in_project(&self, path: impl AsRef<Path>) -> PathBuf {
        self.project().join(path)
    }

    pub fn state(&self) -> PathBuf {
        self.root.join(self.layout.state)
    }

    /// For a test's own files, outside the project.
    pub fn scratch(&self, name: &str) -> PathBuf {
        self.root.join("tmp").join(name)
    }

    /// The client's own configuration directory.
    pub fn client_config(&self) -> PathBuf {
        self.root.join("claude")
    }

    pub fn data(&self) -> PathBuf {
        self.root.join("home/.local/share")
    }

    pub fn config(&self) -> PathBuf {
        self.root.join("home/.config")
    }

    /// Written by `tidegate init --project`.
    pub fn local_settings(&self) -> PathBuf {
        self.in_project(".claude/settings.local.json")
    }

    /// Where a person has their own programs.
    pub fn programs(&self) -> PathBuf {
        let folder = self.root.join("home/.cargo/bin");
        fs::create_dir_all(&folder).expect("a directory in the temporary home");
        folder
    }

    /// A program that is this shell script.
    pub fn add_program(&self, name: &str, script: &str) {
        let path = self.programs().join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("a program in the temporary home");
        let mode = self.command("chmod").arg("+x").arg(&path).status().expect("chmod on the path");
        assert!(mode.success(), "chmod: {mode}");
    }

    /// The link through which registrations find the program.
    pub fn link(&self) -> PathBuf {
        self.root.join("home/.local/share/tidegate/bin/tidegate")
    }

    /// The whole environment of everything that a test starts; a terminal adds its own variables.
    pub fn environment(&self) -> Vec<(&'static str, String)> {
        let at = |part: &str| self.root.join(part).display().to_string();
        vec![
            ("PATH", PATH.to_owned()),
            ("HOME", at("home")),
            ("TMPDIR", at("tmp")),
            ("CLAUDE_CODE_TMPDIR", at("tmp")),
            ("CLAUDE_CONFIG_DIR", at("claude")),
            ("XDG_STATE_HOME", at("home/.local/state")),
            ("XDG_CONFIG_HOME", at("home/.config")),
            ("XDG_CACHE_HOME", at("home/.cache")),
            ("XDG_DATA_HOME", at("home/.local/share")),
            ("TIDEGATE_STATE_DIR", at(self.layout.state)),
            // The account's home, and the process where the search for an agent ends: the tests may run
            // inside one.
            ("TEST_TIDEGATE_HOME", at("home")),
            ("TEST_TIDEGATE_TOP", std::process::id().to_string()),
            // On a busy machine neither a hook nor the client is late.
            ("TEST_TIDEGATE_PATIENCE", "100".to_owned()),
            ("TEST_TIDEGATE_CLIENT_PATIENCE", "100".to_owned()),
            ("LANG", "C.UTF-8".to_owned()),
            ("TZ", "UTC".to_owned()),
            ("SHELL", "/bin/sh".to_owned()),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
            // Otherwise an interactive client fetches its plugin marketplace.
            ("CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL", "1".to_owned()),
            ("DISABLE_AUTOUPDATER", "1".to_owned()),
            ("DISABLE_TELEMETRY", "1".to_owned()),
            ("DISABLE_ERROR_REPORTING", "1".to_owned()),
            // Scripted errors are intended: a retry would consume the next answer of the script.
            ("CLAUDE_CODE_MAX_RETRIES", "0".to_owned()),
        ]
    }

    /// Lets the client talk to the scripted model and to no one else.
    pub fn client_environment(&self, model: &Model) -> Vec<(&'static str, String)> {
        let mut table = self.environment();
        table.push(("ANTHROPIC_BASE_URL", model.url()));
        table.push(("ANTHROPIC_API_KEY", DUMMY_KEY.to_owned()));
        table.extend(proxies(&model.url()));
        table
    }

    /// With exactly the environment of this home, in the project.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.env_clear().envs(self.environment()).current_dir(self.project()).stdin(Stdio::null());
        command
    }

    pub fn git(&self, arguments: &[&str]) {
        let identity = ["-c", "user.name=Bench", "-c", "user.email=bench@example.invalid"];
        let output = self.command("git").args(identity).args(arguments).output().expect("git on the path");
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// Creates missing directories.
    pub fn write(&self, path: impl AsRef<Path>, text: &str) -> PathBuf {
        let path = self.in_project(path);
        fs::create_dir_all(path.parent().expect("a file has a directory")).expect("the file's directory");
        fs::write(&path, text).expect("a file in the project");
        path
    }

    /// Adds to the user's config of Tidegate.
    pub fn write_config(&self, text: &str) {
        let path = self.config().join("tidegate/config.toml");
        fs::create_dir_all(path.parent().expect("a file has a directory")).expect("the config's directory");
        let before = fs::read_to_string(&path).unwrap_or_default();
        // `init` wrote sections, so top-level text has to come first.
        fs::write(&path, format!("{text}\n{before}")).expect("the user's config");
    }

    /// The project's local settings, by `tidegate init` or a test.
    pub fn read_settings(&self) -> Value {
        let text = fs::read_to_string(self.local_settings()).expect("the project's local settings");
        serde_json::from_str(&text).expect("settings are JSON")
    }

    pub fn write_settings(&self, settings: &Value) {
        fs::write(self.local_settings(), settings.to_string()).expect("the project's local settings");
    }

    /// Interactive sessions first ask about theme, key and trust, unless this file says they did.
    fn seed_for_terminal(&self) {
        let tail = &DUMMY_KEY[DUMMY_KEY.len() - 20..];
        let seed = json!({
            "hasCompletedOnboarding": true,
            "theme": "dark",
            "customApiKeyResponses": { "approved": [tail], "rejected": [] },
            "projects": { self.project().display().to_string(): {
                "hasTrustDialogAccepted": true,
                "hasCompletedProjectOnboarding": true,
            } },
        });
        fs::write(self.client_config().join(".claude.json"), seed.to_string())
            .expect("the client's own state");
    }
}

/// The scripted model as the proxy for every other address: it refuses and reports each request.
pub(crate) fn proxies(model: &str) -> Vec<(&'static str, String)> {
    let names = ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"];
    let mut table = names.map(|name| (name, model.to_owned())).to_vec();
    table.push(("NO_PROXY", "127.0.0.1".to_owned()));
    table
}

impl Default for Home {
    fn default() -> Self {
        Self::new()
    }
}
