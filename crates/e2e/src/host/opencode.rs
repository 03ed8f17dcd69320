//! opencode: plugins in its folders, which it loads without asking for trust.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use super::process::{Output, run};
use super::trial::Driver;
use super::{DUMMY_KEY, command, executable};
use crate::home::Home;
use crate::openai::{OpenAi, Step};

/// The window and the longest answer of the scripted model.
pub const LIMITS: (u64, u64) = (100_000, 4_000);

pub struct OpenCode<'a> {
    home: &'a Home,
    model: &'a OpenAi,
}

impl<'a> OpenCode<'a> {
    /// Configures it for the scripted model.
    pub fn new(home: &'a Home, model: &'a OpenAi) -> Self {
        let (context, output) = LIMITS;
        let scripted = json!({ "name": "scripted", "limit": { "context": context, "output": output }, "tool_call": true });
        let config = json!({
            "autoupdate": false,
            "share": "disabled",
            "model": "mock/scripted",
            "small_model": "mock/scripted",
            "permission": { "edit": "allow", "bash": "allow" },
            "provider": { "mock": {
                "npm": "@ai-sdk/openai-compatible",
                "name": "mock",
                "options": { "baseURL": model.base_url(), "apiKey": DUMMY_KEY },
                "models": { "scripted": scripted },
            } },
        });
        home.write("opencode.json", &config.to_string());
        // opencode lists a skill's files with this program, which it would download.
        let tools = home.scratch("tools");
        fs::create_dir_all(&tools).expect("a folder in the temporary home");
        let lister = tools.join("rg");
        fs::write(&lister, "#!/bin/sh\nexit 1\n").expect("a script");
        fs::set_permissions(&lister, fs::Permissions::from_mode(0o755)).expect("our own file");
        Self { home, model }
    }

    pub fn ask(&self, prompt: &str) -> Output {
        run(&mut self.turn(prompt))
    }

    fn command(&self) -> Command {
        let mut command = command(self.home, self.model, &executable("opencode"));
        let path =
            self.home.environment().into_iter().find(|(name, _)| *name == "PATH").map(|(_, path)| path);
        command
            .env("PATH", format!("{}:{}", self.home.scratch("tools").display(), path.unwrap_or_default()))
            .env("OPENCODE_DISABLE_AUTOUPDATE", "1")
            .env("OPENCODE_DISABLE_MODELS_FETCH", "1");
        command
    }
}

impl Driver for OpenCode<'_> {
    const NAME: &'static str = "opencode";

    fn home(&self) -> &Home {
        self.home
    }

    fn model(&self) -> &OpenAi {
        self.model
    }

    fn turn(&self, prompt: &str) -> Command {
        let mut command = self.command();
        command.args(["run", prompt]);
        command
    }

    /// It runs no hooks: the journal alone shows whether the plugin works.
    fn failures(&self, _: &Output) -> Vec<String> {
        Vec::new()
    }
}

pub fn read(path: &Path) -> Step {
    Step::call("read", json!({ "filePath": path }))
}

pub fn shell(line: &str) -> Step {
    Step::call("bash", json!({ "command": line, "description": "a step of the script" }))
}

pub fn edit(path: &Path, old: &str, new: &str) -> Step {
    Step::call("edit", json!({ "filePath": path, "oldString": old, "newString": new }))
}

pub fn write(path: &Path, text: &str) -> Step {
    Step::call("write", json!({ "filePath": path, "content": text }))
}

pub fn invoke(skill: &str) -> Step {
    Step::call("skill", json!({ "name": skill }))
}
