//! A temporary home in which hooks run as in the middle of a real session: with a config, marks, a bridge and
//! a transcript.
//!
//! Its path has a fixed length and the environment is fixed, so that instruction counts depend neither on the
//! checkout nor on the caller.

mod host;

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;
use tidegate_core::host::Host;
use tidegate_state::feature::memory::spool;
use tidegate_state::file::lock;
use tidegate_state::place::{PlaceEnv, StateDir};

use xtask::failure::{Done, Failure, While};

pub(crate) use host::HOST_CASES;

/// The expected answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Exit code 0; nothing, or one JSON object.
    Json,
    /// Exit code 0; nothing, or text.
    Text,
    /// Exit code 0; one line.
    Line,
    /// A gate that could not check: exit code 2, the failed step on stderr, and one JSON object for the user.
    Closed,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) host: Host,
    arguments: &'static [&'static str],
    payload: &'static str,
    answer: Answer,
}

/// Payloads of a real client (2.1.325) with longer texts; `@NAME@` is a placeholder.
macro_rules! hook {
    ($name:literal, $answer:ident) => {
        Case {
            name: $name,
            host: Host::ClaudeCode,
            // One name for all programs, or the second one would count as a second install.
            arguments: &["hook", "--event", $name, "--via", "bench"],
            payload: include_str!(concat!("../payloads/", $name, ".json")),
            answer: Answer::$answer,
        }
    };
}

pub(crate) const SESSION_START: Case = hook!("SessionStart", Json);
pub(crate) const USER_PROMPT_SUBMIT: Case = hook!("UserPromptSubmit", Json);
pub(crate) const PRE_TOOL_USE: Case = hook!("PreToolUse", Json);
pub(crate) const POST_TOOL_USE: Case = hook!("PostToolUse", Json);
pub(crate) const STOP: Case = hook!("Stop", Json);
const STATUSLINE: Case = Case {
    name: "statusline",
    host: Host::ClaudeCode,
    arguments: &["statusline"],
    payload: include_str!("../payloads/statusline.json"),
    answer: Answer::Line,
};
const GARBAGE: Case = Case {
    name: "garbage",
    host: Host::ClaudeCode,
    arguments: &["hook", "--event", "PreToolUse"],
    payload: "{\"session_id\": \"@SESSION@\", \"transcript_path\": \"@TRANSCR",
    answer: Answer::Closed,
};

pub(crate) const CASES: [Case; 10] = [
    SESSION_START,
    USER_PROMPT_SUBMIT,
    PRE_TOOL_USE,
    POST_TOOL_USE,
    STOP,
    hook!("PreCompact", Text),
    hook!("PostCompact", Json),
    hook!("SessionEnd", Json),
    STATUSLINE,
    GARBAGE,
];

impl Case {
    pub(crate) fn is_recorded(&self) -> bool {
        self.answer != Answer::Line
    }

    /// Without the event's name, a run gets the longer deadline of a gate, which it needs under valgrind, and
    /// does the same work.
    pub(crate) fn patient_arguments(&self) -> Vec<&'static str> {
        match self.arguments {
            ["hook", "--event", "PreToolUse", ..] | ["statusline"] => self.arguments.to_vec(),
            ["hook", "--event", _, rest @ ..] => [&["hook"], rest].concat(),
            other => other.to_vec(),
        }
    }

    pub(crate) fn check(&self, output: &Output) -> Done {
        let stdout = String::from_utf8_lossy(&output.stdout);
        let stderr = String::from_utf8_lossy(&output.stderr);
        let code = if self.answer == Answer::Closed { 2 } else { 0 };
        let object = || {
            stdout.is_empty() || serde_json::from_str::<Value>(&stdout).is_ok_and(|value| value.is_object())
        };
        let right = match self.answer {
            Answer::Json => object(),
            Answer::Text => true,
            Answer::Line => stdout.lines().count() == 1 && stdout.contains('▰'),
            Answer::Closed => object() && stderr.contains("could not check"),
        };
        if output.status.code() == Some(code) && right && (stderr.is_empty() || code == 2) {
            return Ok(());
        }
        Err(Failure::new(format!(
            "{} answered wrongly: {}, stdout {stdout:?}, stderr {stderr:?}",
            self.name, output.status
        )))
    }
}

#[derive(Clone, Debug)]
pub(crate) struct StagedSession {
    pub(crate) id: String,
    pub(crate) transcript: PathBuf,
}

impl StagedSession {
    fn append(&self, lines: &str) -> Done {
        let file = File::options().append(true).open(&self.transcript);
        file.and_then(|mut file| file.write_all(lines.as_bytes())).while_(self.transcript.display())
    }
}

pub(crate) struct Stage {
    dir: TempDir,
}

/// The size of the transcripts at the start of a session.
const MEGABYTE: usize = 1_000_000;

/// One turn of a real transcript: prompt, call, result, answer, and the client's bookkeeping.
const TURN: &str = include_str!("../payloads/turn.jsonl");

/// The line with the result of the call: the end of the transcript while hooks of a tool run.
const RESULT_LINE: usize = 8;

/// Enough for a forecast.
const WARM_TURNS: u64 = 6;

impl Stage {
    /// Not in `TMPDIR`, whose length differs between machines.
    pub(crate) fn new() -> Done<Stage> {
        let dir = tempfile::Builder::new().prefix("tidegate-stage-").rand_bytes(8).tempdir_in("/tmp");
        let stage = Stage { dir: dir.while_("making a folder in /tmp")? };
        for folder in ["project/.claude", "home/.config/tidegate", "home/.claude", "transcripts", "bin"] {
            let folder = stage.at(folder);
            fs::create_dir_all(&folder).while_(folder.display())?;
        }
        stage.write(
            "home/.config/tidegate/config.toml",
            "lang = \"en\"\n\n[context_warning]\nearly = \"47k\"\n",
        )?;
        stage.write("home/.claude/settings.json", "{\"autoCompactEnabled\": true}\n")?;
        Ok(stage)
    }

    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    fn write(&self, path: &str, text: &str) -> Done {
        let path = self.at(path);
        fs::write(&path, text).while_(path.display())
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.at("home/.local/state/tidegate")
    }

    pub(crate) fn opened(&self) -> Done<StateDir> {
        let place = PlaceEnv { state_dir: Some(self.state()), ..PlaceEnv::default() };
        StateDir::open(&place).map_err(Failure::new)
    }

    /// Keep the returned lock: it keeps hooks from starting a worker, whose time would count as theirs.
    pub(crate) fn hold_workers_off(&self) -> Done<File> {
        spool::lock_worker(&self.opened()?, lock::PATIENCE).while_("holding workers off")
    }

    /// A copy under a path of fixed length.
    pub(crate) fn install(&self, executable: &Path) -> Done<PathBuf> {
        let copy = self.at("bin/tidegate");
        fs::copy(executable, &copy).while_(executable.display())?;
        Ok(copy)
    }

    /// With no other environment.
    pub(crate) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", self.at("home"))
            .env("LANG", "C.UTF-8")
            .env("COLUMNS", "120")
            .env("CLAUDE_PROJECT_DIR", self.at("project"))
            .current_dir(self.at("project"));
        command
    }

    /// As a client makes it.
    pub(crate) fn call(&self, program: &Path, case: &Case, session: &StagedSession) -> Command {
        let mut command = self.command_of_host(program, case, session);
        command.args(case.arguments);
        command
    }

    /// With the variables of the case's host, and no arguments.
    pub(crate) fn command_of_host(&self, program: &Path, case: &Case, session: &StagedSession) -> Command {
        let mut command = self.command(program);
        if case.host == Host::ClaudeCode {
            command.env("CLAUDE_CODE_SESSION_ID", &session.id);
        } else {
            host::set_variables(&mut command, case.host, session);
        }
        command
    }

    /// A session of the case's host.
    pub(crate) fn session_for(&self, program: &Path, case: &Case, number: u64) -> Done<StagedSession> {
        match case.host {
            Host::ClaudeCode => self.session(program, number),
            host => self.session_of_host(program, host, number),
        }
    }

    /// A session in the middle of its work: `program` has seen its start and a few turns.
    pub(crate) fn session(&self, program: &Path, number: u64) -> Done<StagedSession> {
        let id = format!("00000000-0000-4000-8000-{number:012}");
        let transcript = self.at("transcripts").join(format!("{id}.jsonl"));
        let session = StagedSession { id, transcript };
        let turns = (MEGABYTE / TURN.len()) as u64;
        let mut text = String::new();
        for turn in 0..turns - WARM_TURNS {
            text += &self.fill(TURN, &session, turn).replace("@READ@", "60000");
        }
        fs::write(&session.transcript, &text).while_(session.transcript.display())?;
        let run = |case: &Case, number| {
            self.run(program, case, &session, &self.payload(case, &session, number, ""))
        };
        run(&SESSION_START, 1)?;
        for turn in 1..=WARM_TURNS {
            let used = 98_000 + 4_000 * turn;
            let lines = self.fill(TURN, &session, turns + turn).replace("@READ@", &used.to_string());
            session.append(&lines)?;
            run(&USER_PROMPT_SUBMIT, turn)?;
        }
        run(&STATUSLINE, 0)?;
        Ok(session)
    }

    /// Ends the transcript where it ends at this event: tool events come in the middle of a turn.
    pub(crate) fn begin_turn(&self, session: &StagedSession, case: &Case, number: u64) -> Done {
        if case.host != Host::ClaudeCode {
            return self.begin_turn_of_host(session, case.host, number);
        }
        let lines = self.fill(TURN, session, number).replace("@READ@", "122000");
        let in_turn = matches!(case.name, "PreToolUse" | "PostToolUse");
        let count = if in_turn { RESULT_LINE } else { usize::MAX };
        session.append(&lines.split_inclusive('\n').take(count).collect::<String>())
    }

    /// `number` makes the ids of prompt and call; `padding` goes into the longest text.
    pub(crate) fn payload(&self, case: &Case, session: &StagedSession, number: u64, padding: &str) -> String {
        let one_line: String = case.payload.lines().map(str::trim_start).collect();
        self.fill(&one_line, session, number).replace("@PADDING@", padding)
    }

    fn fill(&self, text: &str, session: &StagedSession, number: u64) -> String {
        text.replace("@SESSION@", &session.id)
            .replace("@TRANSCRIPT@", &session.transcript.display().to_string())
            .replace("@PROJECT@", &self.at("project").display().to_string())
            .replace("@PROMPT@", &format!("00000000-0000-4000-9000-{number:012}"))
            .replace("@CALL@", &format!("toolu_{number:020}"))
            .replace("@N@", &format!("{number:08}"))
    }

    /// Checks the answer and returns the wall time of the whole process.
    pub(crate) fn run(
        &self,
        program: &Path,
        case: &Case,
        session: &StagedSession,
        payload: &str,
    ) -> Done<Duration> {
        let (time, output) = run_with_input(&mut self.call(program, case, session), payload.as_bytes())?;
        case.check(&output)?;
        Ok(time)
    }

    /// All records, and the number of unreadable lines.
    pub(crate) fn journal(&self) -> Done<Journal> {
        let folder = self.state().join("journal");
        let mut journal = Journal::default();
        for entry in fs::read_dir(&folder).while_(folder.display())? {
            let path = entry.while_(folder.display())?.path();
            let day = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
            let text = fs::read(&path).while_(path.display())?;
            for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
                match serde_json::from_slice::<Value>(line) {
                    Ok(record) if record.is_object() => {
                        let at = record["at"].as_str().unwrap_or_default();
                        journal.misplaced += usize::from(!at.starts_with(&day));
                        journal.records.push(record);
                    }
                    _ => journal.torn += 1,
                }
            }
        }
        Ok(journal)
    }
}

#[derive(Default)]
pub(crate) struct Journal {
    pub(crate) records: Vec<Value>,
    pub(crate) torn: usize,
    /// Records in the file of another day.
    pub(crate) misplaced: usize,
}

/// As a client does it: with pipes for stdin, stdout and stderr.
pub(crate) fn run_with_input(command: &mut Command, payload: &[u8]) -> Done<(Duration, Output)> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let name = command.get_program().display().to_string();
    let start = Instant::now();
    let mut child = command.spawn().while_(&name)?;
    // A child may close its stdin early.
    let _ = child.stdin.take().map(|mut stdin| stdin.write_all(payload));
    let output = child.wait_with_output().while_(&name)?;
    Ok((start.elapsed(), output))
}
