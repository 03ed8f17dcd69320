//! Codex: hooks of plugins, run by a login shell, with the project as their working directory.

use std::fs;
use std::path::Path;

use serde_json::json;

use super::process::{Output, run, succeed};
use super::{DUMMY_KEY, command, executable};
use crate::home::Home;
use crate::openai::{OpenAi, Step};

const KEY: &str = "SCRIPTED_KEY";

pub struct Codex<'a> {
    home: &'a Home,
    model: &'a OpenAi,
}

impl<'a> Codex<'a> {
    /// Configures it for the scripted model, in a trusted project.
    pub fn new(home: &'a Home, model: &'a OpenAi) -> Self {
        // JSON strings are valid TOML basic strings.
        let config = format!(
            "model = \"gpt-5.5\"\nmodel_provider = \"scripted\"\ncheck_for_update_on_startup = false\n\
             [analytics]\nenabled = false\n\
             [model_providers.scripted]\nname = \"scripted\"\nbase_url = {}\nwire_api = \"responses\"\n\
             env_key = \"{KEY}\"\nrequest_max_retries = 0\nstream_max_retries = 0\n\
             [projects.{}]\ntrust_level = \"trusted\"\n",
            json!(model.base_url()),
            json!(home.project()),
        );
        let folder = home.user_home().join(".codex");
        fs::create_dir_all(&folder).expect("a folder in the temporary home");
        fs::write(folder.join("config.toml"), config).expect("the host's config");
        Self { home, model }
    }

    /// From a folder that acts as a marketplace.
    pub fn install_plugin(&self, marketplace: &Path) {
        succeed(self.command().args(["plugin", "marketplace", "add"]).arg(marketplace));
        succeed(self.command().args(["plugin", "add", "tidegate@tidegate"]));
    }

    /// One turn, with hooks that need no review and tools without a sandbox.
    pub fn ask(&self, prompt: &str) -> Output {
        let bypass = ["--dangerously-bypass-hook-trust", "--dangerously-bypass-approvals-and-sandbox"];
        run(self.command().arg("exec").args(bypass).arg(prompt))
    }

    fn command(&self) -> std::process::Command {
        let mut command = command(self.home, self.model, &executable("codex"));
        command.env(KEY, DUMMY_KEY);
        command
    }
}

/// Codex's own report of each hook run, as in `UserPromptSubmit Completed`.
pub fn hook_runs(output: &Output) -> Vec<&str> {
    let lines = output.stderr.lines().filter_map(|line| line.strip_prefix("hook: "));
    lines.filter(|line| line.contains(' ')).collect()
}

/// Codex has no other tool that reads a file.
pub fn shell(line: &str) -> Step {
    Step::call("exec_command", json!({ "cmd": line }))
}
