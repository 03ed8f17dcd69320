//! Copilot CLI: hooks of `.claude/settings*.json` in trusted folders, and those of plugins in any.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use super::process::{Output, run, succeed};
use super::trial::Driver;
use super::{DUMMY_KEY, command, executable};
use crate::home::Home;
use crate::openai::{OpenAi, Step};

/// An unknown model edits with `edit` and writes with `create`.
const UNKNOWN_MODEL: &str = "scripted";
/// This model patches files with `apply_patch`.
const PATCHING_MODEL: &str = "gpt-5.5";

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

    /// With a model that patches files.
    #[must_use]
    pub fn patching(self) -> Self {
        Self { id: PATCHING_MODEL, ..self }
    }

    /// From a folder that acts as a marketplace.
    pub fn install_plugin(&self, marketplace: &Path) {
        succeed(self.command().args(["plugin", "marketplace", "add"]).arg(marketplace));
        succeed(self.command().args(["plugin", "install", "tidegate@tidegate"]));
    }

    pub fn ask(&self, prompt: &str) -> Output {
        run(&mut self.turn(prompt))
    }

    /// Lines of its log about failed hooks. The user does not see most of these failures.
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

impl Driver for Copilot<'_> {
    const NAME: &'static str = "copilot";

    fn home(&self) -> &Home {
        self.home
    }

    fn model(&self) -> &OpenAi {
        self.model
    }

    fn turn(&self, prompt: &str) -> Command {
        let mut command = self.command();
        command.args(["-p", prompt, "--allow-all-tools", "--allow-all-paths"]);
        command.args(["--log-level", "all", "--log-dir"]).arg(self.home.scratch("copilot-log"));
        if self.trusting {
            command.arg("--trust-folder");
        }
        command
    }

    fn failures(&self, _: &Output) -> Vec<String> {
        self.hook_failures()
    }
}

pub fn view(path: &Path) -> Step {
    Step::call("view", json!({ "path": path }))
}

pub fn shell(line: &str) -> Step {
    Step::call("bash", json!({ "command": line, "description": "a step of the script" }))
}

pub fn edit(path: &Path, old: &str, new: &str) -> Step {
    Step::call("edit", json!({ "path": path, "old_str": old, "new_str": new }))
}
