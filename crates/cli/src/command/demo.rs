//! `tidegate demo`: a scripted session through the real hooks, in a throw-away project.
//!
//! Every event is a process of its own, as the client starts it: this program with `hook`, a payload on stdin, a
//! home, a state directory and a transcript that are gone afterwards.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;
use tidegate_core::pipeline::record::Record;
use tidegate_state::{clock, journal};

use super::Outcome;
use crate::error::CliError;
use crate::host::claude_code::transcript;
use crate::local_time::LocalClock;
use crate::print;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate demo

Needs no Claude Code and installs nothing.")]
pub(crate) struct Args;

const SESSION: &str = "demo-session";

pub(crate) fn run() -> Outcome {
    let mut demo = Demo::new()?;
    print::line(
        "A session on a 200k window whose client compacts at 167k. Every line is one hook process.\n",
    );
    demo.play()?;
    print::line("\nWhat you would see below the prompt (tidegate statusline):");
    print::line(&format!("  {}", demo.status_line(131_000)?));
    print::line("\nWhy the last warning was given (tidegate explain):");
    if let Some(record) = &demo.last_said {
        let clock = LocalClock::of_system(tidegate_state::clock::now());
        super::explain::explain_page(record, &clock).print();
    }
    print::line(&format!(
        "\nAll of it: {} events in {} ms of hook time, nothing installed, nothing left behind.",
        demo.events,
        demo.micros / 1000
    ));
    print::line("To use it: tidegate init --project .");
    Ok(ExitCode::SUCCESS)
}

struct Demo {
    folder: TempDir,
    binary: PathBuf,
    calls: u32,
    events: usize,
    micros: u64,
    last_said: Option<Record>,
}

impl Demo {
    fn new() -> Result<Demo, CliError> {
        let folder =
            tempfile::tempdir().map_err(|error| CliError::new(format!("no temporary folder: {error}")))?;
        let project = folder.path().join("project");
        fs::create_dir_all(project.join(".claude/context")).map_err(CliError::new)?;
        let files = [
            ("package.json", r#"{ "scripts": { "test": "vitest run" } }"#),
            (
                ".claude/context/task_plan.md",
                "# Current Task: login\n\n## Constraints\n- no new dependencies\n",
            ),
        ];
        for (name, text) in files {
            fs::write(project.join(name), text).map_err(CliError::new)?;
        }
        let binary = std::env::current_exe().map_err(CliError::new)?;
        Ok(Demo { folder, binary, calls: 0, events: 0, micros: 0, last_said: None })
    }

    fn play(&mut self) -> Result<(), CliError> {
        self.event(
            "SessionStart",
            "the client starts",
            json!({ "source": "startup", "model": "claude-sonnet-4-6" }),
        )?;
        let relays = [
            ("add a login page", 24_000),
            ("use the existing form", 47_000),
            ("and remember the user", 71_000),
            ("in a cookie", 93_000),
        ];
        for (prompt, used) in relays {
            self.event("UserPromptSubmit", &format!("you: {prompt}"), json!({ "prompt": prompt }))?;
            self.answer(used)?;
        }
        self.edit()?;
        self.event(
            "UserPromptSubmit",
            "you: now look through the logs",
            json!({ "prompt": "now look through the logs" }),
        )?;
        self.tool("a long log", 122_000, None)?;
        self.tool("the next call", 127_000, None)?;
        self.tool("a subagent's call, past the next level", 151_000, Some("agent-1"))?;
        self.tool("back in the main thread", 152_000, None)?;
        self.event(
            "PreCompact",
            "the client compacts by itself",
            json!({ "trigger": "auto", "custom_instructions": null }),
        )?;
        self.event("SessionStart", "the client goes on with a summary", json!({ "source": "compact" }))?;
        let summary = "A login page was added in login.ts and its tests pass. No new dependencies.";
        self.event(
            "PostCompact",
            &format!("the summary: \"{summary}\""),
            json!({ "trigger": "auto", "compact_summary": summary }),
        )?;
        self.boundary()?;
        self.event("UserPromptSubmit", "you: go on", json!({ "prompt": "go on" }))?;
        self.answer(40_000)?;
        self.tool("use climbs again", 124_000, None)?;
        self.gate("an edit whose payload arrives in half", true)?;
        self.stop("the turn ends")
    }

    /// An edit too early, then with the skill; a stop too early, then with the tests.
    fn edit(&mut self) -> Result<(), CliError> {
        self.gate("the agent edits login.ts", false)?;
        let skill = json!({ "tool_name": "Skill", "tool_input": { "skill": "code-quality-rules" },
            "tool_response": { "success": true }, "tool_use_id": "toolu_skill" });
        self.event("PostToolUse", "the agent invokes the skill", skill)?;
        self.gate("the same edit again", false)?;
        let target = self.folder.path().join("project/login.ts");
        fs::write(&target, "export {}").map_err(CliError::new)?;
        let done = json!({ "tool_name": "Write", "tool_input": { "file_path": target },
            "tool_response": { "type": "create" }, "tool_use_id": "toolu_write" });
        self.event("PostToolUse", "the edit is made", done)?;
        self.stop("the agent calls it done")?;
        self.bash("npm test | tail -1", "tests, with their exit status hidden")?;
        self.bash("npm test", "tests")?;
        self.progress()?;
        self.stop("the agent calls it done again")
    }

    /// The agent writes down its progress.
    fn progress(&self) -> Result<(), CliError> {
        let project = self.folder.path().join("project").display().to_string();
        let entry = ["the login page remembers its user", "--decision", "a signed cookie, valid for 30 days"];
        let (_, err, code) =
            self.run(&[&["progress", "add"], &entry[..], &["--project", &project]].concat(), b"")?;
        if code != 0 {
            return Err(CliError::new(err.trim()));
        }
        print::line(&format!(
            "{:23}the agent runs: tidegate progress add \"{}\" {} \"{}\"",
            "", entry[0], entry[1], entry[2]
        ));
        Ok(())
    }

    fn stop(&mut self, what: &str) -> Result<(), CliError> {
        self.event("Stop", what, json!({ "stop_hook_active": false, "last_assistant_message": "done" }))
    }

    fn bash(&mut self, command: &str, what: &str) -> Result<(), CliError> {
        let members = json!({
            "tool_name": "Bash",
            "tool_input": { "command": command },
            "tool_response": { "stdout": "ok", "interrupted": false },
            "tool_use_id": format!("toolu_{}_{}", self.calls, self.events),
        });
        self.event("PostToolUse", &format!("{what}: {command}"), members)
    }

    /// A tool's result; its call is in the transcript by then.
    fn tool(&mut self, what: &str, used: u64, agent: Option<&str>) -> Result<(), CliError> {
        self.answer(used)?;
        let mut members = json!({
            "tool_name": "Bash",
            "tool_input": { "command": "cat server.log" },
            "tool_response": { "stdout": "ok" },
            "tool_use_id": format!("toolu_{}", self.calls),
        });
        if let Some(agent) = agent {
            members["agent_id"] = json!(agent);
        }
        self.event("PostToolUse", what, members)
    }

    fn gate(&mut self, what: &str, broken: bool) -> Result<(), CliError> {
        let target = self.folder.path().join("project/login.ts");
        let members = json!({
            "tool_name": "Write",
            "tool_input": { "file_path": target, "content": "export {}" },
            "tool_use_id": format!("toolu_{}_{}", self.calls, self.events),
        });
        let payload = self.payload("PreToolUse", members);
        let sent = if broken { &payload.as_bytes()[..payload.len() / 2] } else { payload.as_bytes() };
        self.send("PreToolUse", what, sent)
    }

    fn event(&mut self, name: &str, what: &str, members: Value) -> Result<(), CliError> {
        let payload = self.payload(name, members);
        self.send(name, what, payload.as_bytes())
    }

    fn payload(&self, name: &str, mut members: Value) -> String {
        members["session_id"] = json!(SESSION);
        members["hook_event_name"] = json!(name);
        members["transcript_path"] = json!(self.transcript());
        members["cwd"] = json!(self.folder.path().join("project"));
        members["prompt_id"] = json!(format!("prompt-{}", self.events));
        members.to_string()
    }

    /// Runs one hook and prints its line of the timeline.
    fn send(&mut self, name: &str, what: &str, payload: &[u8]) -> Result<(), CliError> {
        let (out, err, code) = self.run(&["hook", "--event", name], payload)?;
        let record = self.newest_record()?;
        self.events += 1;
        self.micros += record.cost.us;
        let percent = record.meter.as_ref().and_then(|meter| meter.used_pct);
        let percent = percent.map(|percent| format!("{}%", percent.round())).unwrap_or_default();
        let because: Vec<String> = record
            .verdicts
            .iter()
            .map(|verdict| format!("{}: {}", verdict.policy, verdict.because))
            .collect();
        let because = if because.is_empty() { String::new() } else { format!("  ({})", because.join("; ")) };
        print::line(&format!("{name:<17}{percent:>4}  {what}{because}"));
        let indent = " ".repeat(23);
        let told = |whom: &str, text: &str| {
            let below = format!("\n{indent}{:width$}", "", width = whom.len() + 4);
            print::line(&format!("{indent}{whom} <- {}", text.trim_end().replace('\n', &below)));
        };
        for done in super::explain::list_deeds(&record.did) {
            print::line(&format!("{indent}{}", done.en));
        }
        if code == 2 {
            print::line(&format!("{indent}exit 2: the gate stays closed"));
            told("model", err.trim());
        }
        let answer: Value = serde_json::from_str(&out).unwrap_or_default();
        let reason = answer["hookSpecificOutput"]["permissionDecisionReason"].as_str();
        if let Some(reason) = reason.or(answer["reason"].as_str()) {
            told("model", reason);
        }
        if let Some(context) = answer["hookSpecificOutput"]["additionalContext"].as_str() {
            told("model", context);
            self.last_said = Some(record);
        }
        if let Some(message) = answer["systemMessage"].as_str() {
            told("you  ", message);
        }
        // Before a compaction, the output is plain text for the model that writes the summary.
        if name == "PreCompact" && !out.is_empty() {
            told("summary", &out);
        }
        Ok(())
    }

    fn status_line(&self, used: u64) -> Result<String, CliError> {
        let payload = json!({
            "session_id": SESSION,
            "transcript_path": self.transcript(),
            "cwd": self.folder.path().join("project"),
            "model": { "id": "claude-sonnet-4-6" },
            "context_window": { "context_window_size": 200_000, "total_input_tokens": used },
        });
        Ok(self.run(&["statusline"], payload.to_string().as_bytes())?.0.trim_end().to_owned())
    }

    fn run(&self, args: &[&str], payload: &[u8]) -> Result<(String, String, i32), CliError> {
        let failed = |error: std::io::Error| {
            CliError::new(format!("{} could not be run: {error}", self.binary.display()))
        };
        let mut command = Command::new(&self.binary);
        command.args(args).env_clear();
        command.env("HOME", self.folder.path()).env("CLAUDE_PROJECT_DIR", self.folder.path().join("project"));
        // The language of the person who watches.
        for name in ["LC_ALL", "LC_MESSAGES", "LANG", "SystemRoot"] {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(payload).map_err(failed)?;
        }
        let output = child.wait_with_output().map_err(failed)?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ok((text(&output.stdout), text(&output.stderr), output.status.code().unwrap_or(-1)))
    }

    fn newest_record(&self) -> Result<Record, CliError> {
        let folder = self.folder.path().join(".local/state/tidegate/journal");
        let newest = journal::list_files(&folder).ok().and_then(|files| files.last().cloned());
        let record = newest.and_then(|path| journal::read(&path).ok()?.records.pop());
        record.ok_or_else(|| CliError::new("the hook left no record").hint("please report this"))
    }

    /// The client writes an answer with its token counts.
    fn answer(&mut self, used: u64) -> Result<(), CliError> {
        self.calls += 1;
        self.append(&transcript::answer_entry(self.calls, "claude-sonnet-4-6", used, clock::now()))
    }

    fn boundary(&mut self) -> Result<(), CliError> {
        self.append(&transcript::boundary_entry(167_000, 9000, clock::now()))
    }

    fn append(&self, entry: &Value) -> Result<(), CliError> {
        let mut file =
            OpenOptions::new().append(true).create(true).open(self.transcript()).map_err(CliError::new)?;
        writeln!(file, "{entry}").map_err(CliError::new)
    }

    fn transcript(&self) -> PathBuf {
        self.folder.path().join("transcript.jsonl")
    }
}
