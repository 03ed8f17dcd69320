//! Codex: hooks of plugins, run by a login shell, with the project as their working directory.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::process::{Output, run, succeed};
use super::trial::Driver;
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

    /// A line at the top of its config.
    pub fn configure(&self, line: &str) {
        let path = self.config();
        let text = fs::read_to_string(&path).expect("the host's config");
        fs::write(path, format!("{line}\n{text}")).expect("the host's config");
    }

    /// With another model than the usual one.
    pub fn use_model(&self, model: &str) {
        let path = self.config();
        let text = fs::read_to_string(&path).expect("the host's config");
        fs::write(path, text.replace("model = \"gpt-5.5\"", &format!("model = \"{model}\"")))
            .expect("the host's config");
    }

    /// As the person's review in `/hooks` does: keeps the hash of each hook, as Codex itself computes it.
    pub fn trust_hooks(&self) {
        let path = self.config();
        let mut text = fs::read_to_string(&path).expect("the host's config");
        for hook in self.listed_hooks() {
            let (key, hash) = (&hook["key"], hook["currentHash"].as_str().expect("a hash"));
            write!(text, "\n[hooks.state.{key}]\ntrusted_hash = \"{hash}\"\n").expect("writing to a string");
        }
        fs::write(path, text).expect("the host's config");
    }

    fn listed_hooks(&self) -> Vec<Value> {
        let mut command = self.command();
        command.arg("app-server").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut server = command.spawn().expect("the host starts");
        let mut stdin = server.stdin.take().expect("a pipe");
        let ask = |id: u32, method: &str, params: Value| {
            json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string() + "\n"
        };
        let start = ask(1, "initialize", json!({ "clientInfo": { "name": "test", "version": "1" } }));
        let list = ask(2, "hooks/list", json!({ "cwds": [self.home.project()] }));
        stdin
            .write_all((start + "{\"jsonrpc\":\"2.0\",\"method\":\"initialized\"}\n" + &list).as_bytes())
            .expect("a pipe");
        let lines = BufReader::new(server.stdout.take().expect("a pipe")).lines();
        let answers =
            lines.map_while(Result::ok).filter_map(|line| serde_json::from_str::<Value>(&line).ok());
        let answer = answers.into_iter().find(|answer| answer["id"] == 2).expect("a list of hooks");
        drop(stdin);
        let _ = server.kill();
        let _ = server.wait();
        answer["result"]["data"][0]["hooks"].as_array().cloned().expect("hooks")
    }

    fn config(&self) -> std::path::PathBuf {
        self.home.user_home().join(".codex/config.toml")
    }

    /// One turn, with the hooks that a person has trusted.
    pub fn ask_with_trusted_hooks(&self, prompt: &str) -> Output {
        run(self.command().args(["exec", "--dangerously-bypass-approvals-and-sandbox"]).arg(prompt))
    }

    /// One turn, with hooks that need no review and tools without a sandbox.
    pub fn ask(&self, prompt: &str) -> Output {
        run(&mut self.turn(prompt))
    }

    fn command(&self) -> Command {
        let mut command = command(self.home, self.model, &executable("codex"));
        command.env(KEY, DUMMY_KEY);
        command
    }
}

impl Driver for Codex<'_> {
    const NAME: &'static str = "codex";

    fn home(&self) -> &Home {
        self.home
    }

    fn model(&self) -> &OpenAi {
        self.model
    }

    fn turn(&self, prompt: &str) -> Command {
        let mut command = self.command();
        let bypass = ["--dangerously-bypass-hook-trust", "--dangerously-bypass-approvals-and-sandbox"];
        command.arg("exec").args(bypass).arg(prompt);
        command
    }

    fn failures(&self, output: &Output) -> Vec<String> {
        let runs = hook_runs(output);
        let is_called = runs.iter().any(|run| run.starts_with("UserPromptSubmit "));
        let silence = (!is_called).then(|| "no hook was run".to_owned());
        let failed = runs.iter().filter(|run| run.ends_with(" Failed")).map(|run| (*run).to_owned());
        silence.into_iter().chain(failed).collect()
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
