//! Copilot CLI: hooks of `.claude/settings*.json` in trusted folders, and those of plugins in any.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use super::process::{Output, run, succeed};
use super::{DUMMY_KEY, command, executable};
use crate::home::Home;
use crate::openai::{OpenAi, Step};

/// A model that it does not know: it edits by `edit` and writes by `create`.
const UNKNOWN_MODEL: &str = "scripted";
/// A model that patches files by `apply_patch`.
const PATCHING_MODEL: &str = "gpt-5.5";

/// Copilot CLI in a home.
pub struct Copilot<'a> {
    home: &'a Home,
    model: &'a OpenAi,
    trusting: bool,
    id: &'static str,
}

impl<'a> Copilot<'a> {
    /// In a project that it does not trust.
    pub fn new(home: &'a Home, model: &'a OpenAi) -> Self {
        Self { home, model, trusting: false, id: UNKNOWN_MODEL }
    }

    /// In a project that it trusts.
    pub fn trusting(home: &'a Home, model: &'a OpenAi) -> Self {
        Self { trusting: true, ..Self::new(home, model) }
    }

    /// The same with a model that patches files.
    #[must_use]
    pub fn patching(self) -> Self {
        Self { id: PATCHING_MODEL, ..self }
    }

    /// Installs the plugin that a folder offers as a marketplace.
    pub fn install_plugin(&self, marketplace: &Path) {
        succeed(self.command().args(["plugin", "marketplace", "add"]).arg(marketplace));
        succeed(self.command().args(["plugin", "install", "tidegate@tidegate"]));
    }

    /// Runs one turn.
    pub fn ask(&self, prompt: &str) -> Output {
        let mut command = self.command();
        command.args(["-p", prompt, "--allow-all-tools", "--allow-all-paths"]);
        command.args(["--log-level", "all", "--log-dir"]).arg(self.home.scratch("copilot-log"));
        if self.trusting {
            command.arg("--trust-folder");
        }
        run(&mut command)
    }

    /// The lines of its log about hooks that failed. Most of these failures are not shown to the person.
    pub fn hook_failures(&self) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.home.scratch("copilot-log")) else { return Vec::new() };
        let texts = entries.filter_map(|entry| fs::read_to_string(entry.ok()?.path()).ok());
        let lines = texts.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>());
        lines.filter(|line| line.contains("hook") && line.contains("[ERROR]")).collect()
    }

    fn command(&self) -> Command {
        let mut command = command(self.home, self.model, &executable("copilot"));
        command
            .env("COPILOT_OFFLINE", "true")
            .env("COPILOT_AUTO_UPDATE", "false")
            .env("COPILOT_PROVIDER_BASE_URL", self.model.base_url())
            .env("COPILOT_PROVIDER_API_KEY", DUMMY_KEY)
            .env("COPILOT_MODEL", self.id);
        command
    }
}

/// Reads a file.
pub fn view(path: &Path) -> Step {
    Step::call("view", json!({ "path": path }))
}

/// A shell command.
pub fn shell(line: &str) -> Step {
    Step::call("bash", json!({ "command": line, "description": "a step of the script" }))
}

/// An edit of a file.
pub fn edit(path: &Path, old: &str, new: &str) -> Step {
    Step::call("edit", json!({ "path": path, "old_str": old, "new_str": new }))
}
