//! Qwen Code: hooks of its own settings and of plugins, which it converts into extensions without asking for
//! trust.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::process::{Output, run, succeed};
use super::trial::Driver;
use super::{DUMMY_KEY, command, executable};
use crate::home::Home;
use crate::openai::{OpenAi, Step};

pub struct Qwen<'a> {
    home: &'a Home,
    model: &'a OpenAi,
    /// Variables that switch features on.
    features: &'static [&'static str],
}

impl<'a> Qwen<'a> {
    /// Configures it for the scripted model.
    pub fn new(home: &'a Home, model: &'a OpenAi) -> Self {
        Self::configured(home, model, &json!({}), &[])
    }

    /// With all tools that a terminal session can have, each with its declaration in the first request.
    pub fn with_every_tool(home: &'a Home, model: &'a OpenAi) -> Self {
        const FEATURES: &[&str] = &["QWEN_CODE_ENABLE_AGENT_TEAM", "QWEN_CODE_ENABLE_WORKFLOWS"];
        // Without the tool that searches for tools, none is left to be found later.
        Self::configured(home, model, &json!({ "permissions": { "deny": ["tool_search"] } }), FEATURES)
    }

    fn configured(
        home: &'a Home,
        model: &'a OpenAi,
        more: &Value,
        features: &'static [&'static str],
    ) -> Self {
        let mut settings = json!({
            "security": { "auth": { "selectedType": "openai" } },
            "general": { "enableAutoUpdate": false, "disableAutoUpdate": true, "disableUpdateNag": true },
            "privacy": { "usageStatisticsEnabled": false },
            "telemetry": { "enabled": false },
        });
        let members = more.as_object().cloned().unwrap_or_default();
        settings.as_object_mut().expect("an object").extend(members);
        write_settings(&home.user_home().join(".qwen/settings.json"), &settings);
        Self { home, model, features }
    }

    /// Into the project's settings, like a person who copies them from `.claude`.
    pub fn write_hooks(&self, hooks: &Value) {
        write_settings(&self.home.in_project(".qwen/settings.json"), &json!({ "hooks": hooks }));
    }

    /// From a folder that acts as a marketplace.
    pub fn install_plugin(&self, marketplace: &Path) {
        let source = format!("{}:tidegate", marketplace.display());
        succeed(self.command().args(["extensions", "install", &source, "--consent"]));
    }

    pub fn ask(&self, prompt: &str) -> Output {
        run(&mut self.turn(prompt))
    }

    fn command(&self) -> Command {
        let mut command = command(self.home, self.model, &executable("node"));
        command
            .arg(executable("qwen"))
            .env("OPENAI_BASE_URL", self.model.base_url())
            .env("OPENAI_API_KEY", DUMMY_KEY)
            .env("OPENAI_MODEL", "scripted")
            .env("QWEN_CODE_SUPPRESS_YOLO_WARNING", "1")
            .envs(self.features.iter().map(|variable| (variable, "1")));
        command
    }
}

impl Driver for Qwen<'_> {
    const NAME: &'static str = "qwen";

    fn home(&self) -> &Home {
        self.home
    }

    fn model(&self) -> &OpenAi {
        self.model
    }

    fn turn(&self, prompt: &str) -> Command {
        let mut command = self.command();
        command.args(["-p", prompt, "--yolo"]);
        command
    }

    fn failures(&self, output: &Output) -> Vec<String> {
        warnings(output).into_iter().map(str::to_owned).collect()
    }
}

fn write_settings(path: &Path, settings: &Value) {
    fs::create_dir_all(path.parent().expect("a file has a directory")).expect("the settings' directory");
    fs::write(path, settings.to_string()).expect("the host's settings");
}

/// Qwen shows the stderr of failed hooks at the end of a turn. It also says which servers of a team's `.mcp.json` did not
/// start, which is not about hooks, and which tools a hook has denied.
pub fn warnings(output: &Output) -> Vec<&str> {
    let is_of_hook = |line: &&str| {
        line.starts_with("Warning:")
            && !line.starts_with("Warning: Tool ")
            && !line.contains("MCP server(s) failed to start")
    };
    output.stderr.lines().filter(is_of_hook).collect()
}

pub fn read(path: &Path) -> Step {
    Step::call("read_file", json!({ "file_path": path }))
}

pub fn shell(line: &str) -> Step {
    let arguments = json!({ "command": line, "description": "a step of the script", "is_background": false });
    Step::call("run_shell_command", arguments)
}

/// Qwen allows an edit only after it has read the file.
pub fn edit(path: &Path, old: &str, new: &str) -> Step {
    Step::call("edit", json!({ "file_path": path, "old_string": old, "new_string": new }))
}

pub fn write(path: &Path, text: &str) -> Step {
    Step::call("write_file", json!({ "file_path": path, "content": text }))
}

pub fn invoke(skill: &str) -> Step {
    Step::call("skill", json!({ "skill": skill }))
}
