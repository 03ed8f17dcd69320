//! A home, a project and a transcript that are gone afterwards, and the processes that run in them.
//!
//! Every hook call is a process of its own, as the client starts it: this program with `hook` and a payload on stdin.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;
use tidegate_core::meter::NoReading;
use tidegate_core::pipeline::record::Record;
use tidegate_core::text::lang::Lang;
use tidegate_state::feature::memory::spool;
use tidegate_state::file::lock;
use tidegate_state::place::{PlaceEnv, StateDir};
use tidegate_state::{clock, journal};

use super::cleaner::{self, Cleaner};
use crate::bilingual::both;
use crate::error::CliError;
use crate::host::claude_code::transcript;
use crate::language;

const MODEL: &str = "claude-sonnet-4-6";
pub(super) const WINDOW: u64 = 200_000;

/// A busy machine can make a hook late. It then says nothing, and is asked again.
const TRIES: usize = 30;

pub(super) struct Stage {
    home: PathBuf,
    /// The same folder, unless it stays.
    temporary: Option<TempDir>,
    cleaner: Option<Cleaner>,
    program: PathBuf,
    state: StateDir,
    /// While it is held, hooks start no worker: one in the background could outlive the stage.
    worker: Option<File>,
    session: String,
    requests: u32,
    prompts: u32,
    pub(super) calls: usize,
    pub(super) micros: u64,
}

/// One hook call: what it answered, and its record.
pub(super) struct HookCall {
    /// The reason that Claude reads instead of a result, or of the end of its turn.
    pub(super) blocked: Option<String>,
    /// Along with a result or a prompt.
    pub(super) advised: Option<String>,
    pub(super) to_you: Option<String>,
    /// For the model that writes the summary.
    pub(super) to_summary: Option<String>,
    pub(super) record: Record,
}

struct Ran {
    stdout: String,
    stderr: String,
    is_success: bool,
}

impl Ran {
    fn output(self) -> Result<String, CliError> {
        if self.is_success { Ok(self.stdout) } else { Err(CliError::new(self.stderr.trim())) }
    }
}

impl Stage {
    pub(super) fn new(keep: Option<&Path>) -> Result<Stage, CliError> {
        let failed = |error: std::io::Error| {
            CliError::new(both!("cannot make a folder: {error}", "フォルダを作れません: {error}"))
        };
        let temporary = match keep {
            Some(folder) => fs::create_dir(folder).map(|()| None),
            None => tempfile::Builder::new().prefix(cleaner::PREFIX).tempdir().map(Some),
        };
        let temporary = temporary.map_err(failed)?;
        let home = temporary.as_ref().map(TempDir::path).or(keep).unwrap_or(Path::new("."));
        let home = fs::canonicalize(home).map_err(failed)?;
        let program = std::env::current_exe().map_err(CliError::new)?;
        let cleaner = temporary.is_some().then(|| Cleaner::start(&program, &home)).transpose();
        let cleaner = cleaner.map_err(failed)?;
        let at = |path: &str| home.join(path);
        let lang = match language::current() {
            Lang::En => "en",
            Lang::Ja => "ja",
        };
        let files = [
            (".config/tidegate/config.toml", format!("lang = \"{lang}\"\n")),
            ("shop/package.json", r#"{ "scripts": { "test": "vitest run" } }"#.to_owned()),
            ("shop/login.ts", "export {}\n".to_owned()),
        ];
        for (path, text) in files {
            let path = at(path);
            let made = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&path, text));
            made.map_err(failed)?;
        }
        let place = PlaceEnv { home: Some(home.clone()), ..PlaceEnv::default() };
        let state = StateDir::open(&place).map_err(CliError::new)?;
        let mut stage = Stage {
            home,
            temporary,
            cleaner,
            program,
            state,
            worker: None,
            session: String::new(),
            requests: 0,
            prompts: 0,
            calls: 0,
            micros: 0,
        };
        stage.hold_workers_off()?;
        Ok(stage)
    }

    fn hold_workers_off(&mut self) -> Result<(), CliError> {
        self.worker = Some(spool::lock_worker(&self.state, lock::PATIENCE).map_err(CliError::new)?);
        Ok(())
    }

    pub(super) fn remove(self) -> Result<(), CliError> {
        let path = self.home.display().to_string();
        drop(self.worker);
        let removed = self.temporary.map_or(Ok(()), TempDir::close);
        drop(self.cleaner);
        removed.map_err(|error| {
            CliError::new(both!("cannot delete {path}: {error}", "{path} を削除できません: {error}"))
        })
    }

    pub(super) fn project(&self) -> PathBuf {
        self.home.join("shop")
    }

    pub(super) fn start_session(&mut self, name: &str) -> Result<HookCall, CliError> {
        name.clone_into(&mut self.session);
        self.event("SessionStart", json!({ "source": "startup", "model": MODEL }))
    }

    pub(super) fn prompt(&mut self, prompt: &str) -> Result<HookCall, CliError> {
        self.prompts += 1;
        let call = self.event("UserPromptSubmit", json!({ "prompt": prompt }))?;
        self.append(&transcript::prompt_entry(self.prompts, prompt, clock::now()))?;
        Ok(call)
    }

    /// The end of a turn whose last message is in the transcript by then.
    pub(super) fn stop(&mut self, message: &str, used: u64) -> Result<HookCall, CliError> {
        self.requests += 1;
        let content = json!({ "type": "text", "text": message });
        self.append(&transcript::answer_entry(self.requests, MODEL, &content, used, clock::now()))?;
        self.event("Stop", json!({ "stop_hook_active": false, "last_assistant_message": message }))
    }

    pub(super) fn before_edit(&mut self) -> Result<HookCall, CliError> {
        let call = self.edit_payload();
        self.event("PreToolUse", call)
    }

    pub(super) fn edit(&mut self) -> Result<HookCall, CliError> {
        let mut call = self.edit_payload();
        call["tool_response"] = json!({ "type": "update" });
        self.event("PostToolUse", call)
    }

    fn edit_payload(&self) -> Value {
        let input = json!({ "file_path": self.project().join("login.ts"), "content": "export {}\n" });
        json!({ "tool_name": "Write", "tool_input": input, "tool_use_id": format!("toolu_{}", self.requests) })
    }

    /// A command's result; the call is in the transcript by then, with the tokens that are in use.
    pub(super) fn bash(&mut self, command: &str, used: u64) -> Result<HookCall, CliError> {
        self.requests += 1;
        let id = format!("toolu_{}", self.requests);
        let content =
            json!({ "type": "tool_use", "id": id, "name": "Bash", "input": { "command": command } });
        self.append(&transcript::answer_entry(self.requests, MODEL, &content, used, clock::now()))?;
        let members = json!({
            "tool_name": "Bash",
            "tool_input": { "command": command },
            "tool_response": { "stdout": "", "stderr": "", "interrupted": false },
            "tool_use_id": id,
        });
        self.event("PostToolUse", members)
    }

    pub(super) fn boundary(&mut self, before: u64, after: u64) -> Result<(), CliError> {
        self.append(&transcript::boundary_entry(before, after, clock::now()))
    }

    /// Until the hook is in time.
    pub(super) fn event(&mut self, name: &'static str, mut members: Value) -> Result<HookCall, CliError> {
        members["session_id"] = json!(self.session);
        members["hook_event_name"] = json!(name);
        members["transcript_path"] = json!(self.transcript());
        members["cwd"] = json!(self.project());
        members["prompt_id"] = json!(format!("prompt-{}", self.prompts));
        let payload = members.to_string();
        let mut tries = 0;
        loop {
            tries += 1;
            let ran = self.run(&["hook", "--event", name], payload.as_bytes())?;
            let record = self.newest_record()?;
            if !is_late(&record) || tries == TRIES {
                self.calls += 1;
                self.micros += record.cost.us;
                return Ok(read_answer(name, &ran, record));
            }
        }
    }

    pub(super) fn status_line(&self, used: u64) -> Result<String, CliError> {
        let payload = json!({
            "session_id": self.session,
            "transcript_path": self.transcript(),
            "cwd": self.project(),
            "model": { "id": MODEL },
            "context_window": { "context_window_size": WINDOW, "total_input_tokens": used },
        });
        let ran = self.run(&["statusline"], payload.to_string().as_bytes())?;
        Ok(ran.stdout.trim_end().to_owned())
    }

    /// A command of Tidegate, as a person would type it.
    pub(super) fn command(&self, args: &[&str]) -> Result<String, CliError> {
        self.run(args, b"")?.output()
    }

    /// The same in Claude's shell.
    pub(super) fn command_of_claude(&self, args: &[&str]) -> Result<String, CliError> {
        self.run_with(args, b"", &[("CLAUDE_CODE_SESSION_ID", self.session.as_str())])?.output()
    }

    /// Stores what the hooks have left, as the worker in the background does.
    pub(super) fn store_conversations(&mut self) -> Result<(), CliError> {
        self.worker = None;
        self.command(&["worker", "--once"])?;
        self.hold_workers_off()
    }

    fn run(&self, args: &[&str], input: &[u8]) -> Result<Ran, CliError> {
        self.run_with(args, input, &[])
    }

    fn run_with(&self, args: &[&str], input: &[u8], variables: &[(&str, &str)]) -> Result<Ran, CliError> {
        let program = self.program.display();
        let failed = |error: std::io::Error| {
            CliError::new(both!("cannot run {program}: {error}", "{program} を実行できません: {error}"))
        };
        let mut command = Command::new(&self.program);
        command.args(args).env_clear().current_dir(self.project());
        command.env("HOME", &self.home).env("CLAUDE_PROJECT_DIR", self.project());
        command.envs(variables.iter().copied());
        if let Some(root) = std::env::var_os("SystemRoot") {
            command.env("SystemRoot", root);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(failed)?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(input).map_err(failed)?;
        }
        let output = child.wait_with_output().map_err(failed)?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
        Ok(Ran { stdout, stderr, is_success: output.status.success() })
    }

    fn newest_record(&self) -> Result<Record, CliError> {
        let newest = journal::list_files(&self.state.journal()).ok().and_then(|files| files.last().cloned());
        let record = newest.and_then(|path| journal::read(&path).ok()?.records.pop());
        record.ok_or_else(|| {
            CliError::new(both!("a hook left no record", "フックが記録を残しませんでした"))
                .hint(both!("please report this", "不具合として報告してください"))
        })
    }

    fn append(&self, entry: &Value) -> Result<(), CliError> {
        let file = OpenOptions::new().append(true).create(true).open(self.transcript());
        file.and_then(|mut file| writeln!(file, "{entry}")).map_err(CliError::new)
    }

    fn transcript(&self) -> PathBuf {
        self.home.join(format!("{}.jsonl", self.session))
    }
}

/// The hook, or its reading of the transcript, was not in time.
fn is_late(record: &Record) -> bool {
    let unknown = record.meter.as_ref().and_then(|meter| meter.unknown.as_deref());
    record.failure.is_some() || unknown == Some(NoReading::TimedOut.to_string().as_str())
}

fn read_answer(event: &str, ran: &Ran, record: Record) -> HookCall {
    let answer: Value = serde_json::from_str(&ran.stdout).unwrap_or_default();
    let text = |value: &Value| value.as_str().map(|text| text.trim_end().to_owned());
    let output = &answer["hookSpecificOutput"];
    HookCall {
        blocked: text(&output["permissionDecisionReason"]).or_else(|| text(&answer["reason"])),
        advised: text(&output["additionalContext"]),
        to_you: text(&answer["systemMessage"]),
        // Before a compaction, the output is plain text.
        to_summary: (event == "PreCompact" && !ran.stdout.trim().is_empty())
            .then(|| ran.stdout.trim_end().to_owned()),
        record,
    }
}
