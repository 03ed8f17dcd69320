//! A throw-away home in which hooks run as they do in the middle of a real session: with a config, marks,
//! a bridge and a transcript.
//!
//! Its path is always of the same length and the environment is fixed, so that instruction counts depend
//! neither on the checkout nor on the caller.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;
use tidegate_state::feature::memory::spool;
use tidegate_state::file::lock;
use tidegate_state::place::{PlaceEnv, StateDir};

use xtask::failure::{Done, Failure, While};

/// What a run has to answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Exit code 0; nothing, or one JSON object.
    Json,
    /// Exit code 0; nothing, or text.
    Text,
    /// Exit code 0; one line.
    Line,
    /// Exit code 2, the failed step on stderr, and for the user one JSON object: a gate that could not check.
    Closed,
}

/// One way to be called.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    pub(crate) name: &'static str,
    arguments: &'static [&'static str],
    payload: &'static str,
    answer: Answer,
}

/// The payloads are those of a real client (2.1.325) with longer texts; `@NAME@` is filled in.
macro_rules! hook {
    ($name:literal, $answer:ident) => {
        Case {
            name: $name,
            // Several programs answer here: one name for all, or the second would take itself for a second install.
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
    arguments: &["statusline"],
    payload: include_str!("../payloads/statusline.json"),
    answer: Answer::Line,
};
const GARBAGE: Case = Case {
    name: "garbage",
    arguments: &["hook", "--event", "PreToolUse"],
    payload: "{\"session_id\": \"@SESSION@\", \"transcript_path\": \"@TRANSCR",
    answer: Answer::Closed,
};

/// All of them.
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
    /// Whether a run leaves a record in the journal.
    pub(crate) fn is_recorded(&self) -> bool {
        self.answer != Answer::Line
    }

    /// The arguments without the event's name where only advice is given: then the run has the time of a gate,
    /// which it needs under valgrind, and does the same.
    pub(crate) fn patient_arguments(&self) -> &'static [&'static str] {
        match self.arguments {
            ["hook", "--event", "PreToolUse", ..] | ["statusline"] => self.arguments,
            _ => &["hook", "--via", "bench"],
        }
    }

    /// Compares an answer with what it has to be.
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
            Answer::Line => stdout.lines().count() == 1 && stdout.contains('%'),
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

/// A session of the stage.
#[derive(Clone, Debug)]
pub(crate) struct Session {
    pub(crate) id: String,
    pub(crate) transcript: PathBuf,
}

impl Session {
    fn append(&self, lines: &str) -> Done {
        let file = File::options().append(true).open(&self.transcript);
        file.and_then(|mut file| file.write_all(lines.as_bytes())).while_(self.transcript.display())
    }
}

/// The home.
pub(crate) struct Stage {
    dir: TempDir,
}

/// The size of the transcripts that sessions begin with.
const MEGABYTE: usize = 1_000_000;

/// A real transcript's lines of one turn: prompt, call, result, answer, and the client's bookkeeping.
const TURN: &str = include_str!("../payloads/turn.jsonl");

/// The line of a turn that holds the call's result: where a transcript ends while a tool's hooks run.
const RESULT_LINE: usize = 8;

/// Enough for a forecast.
const WARM_TURNS: u64 = 6;

impl Stage {
    /// Makes an empty one. Not in `TMPDIR`, whose length differs between machines.
    pub(crate) fn new() -> Done<Stage> {
        let dir = tempfile::Builder::new().prefix("tidegate-stage-").rand_bytes(8).tempdir_in("/tmp");
        let stage = Stage { dir: dir.while_("making a folder in /tmp")? };
        for folder in ["project/.claude", "home/.config/tidegate", "home/.claude", "transcripts", "bin"] {
            let folder = stage.at(folder);
            fs::create_dir_all(&folder).while_(folder.display())?;
        }
        stage.write("home/.config/tidegate/config.toml", "lang = \"en\"\n\n[pressure]\ninfo = \"60%\"\n")?;
        stage.write("home/.claude/settings.json", "{\"autoCompactEnabled\": true}\n")?;
        Ok(stage)
    }

    /// A path in it.
    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    fn write(&self, path: &str, text: &str) -> Done {
        let path = self.at(path);
        fs::write(&path, text).while_(path.display())
    }

    /// The private state that the hooks keep.
    pub(crate) fn state(&self) -> PathBuf {
        self.at("home/.local/state/tidegate")
    }

    /// The same, opened.
    pub(crate) fn opened(&self) -> Done<StateDir> {
        let place = PlaceEnv { state_dir: Some(self.state()), ..PlaceEnv::default() };
        StateDir::open(&place).map_err(Failure::new)
    }

    /// No hook starts a worker as long as what this gives is held. What starting one costs is not a hook's own time, and one that
    /// works beside the hooks that are timed would count as theirs.
    pub(crate) fn hold_workers_off(&self) -> Done<File> {
        spool::wait_to_work(&self.opened()?, lock::PATIENCE).while_("holding workers off")
    }

    /// A copy of an executable under a path of fixed length.
    pub(crate) fn install(&self, executable: &Path) -> Done<PathBuf> {
        let copy = self.at("bin/tidegate");
        fs::copy(executable, &copy).while_(executable.display())?;
        Ok(copy)
    }

    /// A command in the environment of the stage, and in no other.
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

    /// A call as a client makes it in a session.
    pub(crate) fn call(&self, program: &Path, case: &Case, session: &Session) -> Command {
        let mut command = self.command(program);
        command.args(case.arguments).env("CLAUDE_CODE_SESSION_ID", &session.id);
        command
    }

    /// A session in the middle of its work: `program` has seen it begin and go on for a few turns.
    pub(crate) fn session(&self, program: &Path, number: u64) -> Done<Session> {
        let id = format!("00000000-0000-4000-8000-{number:012}");
        let transcript = self.at("transcripts").join(format!("{id}.jsonl"));
        let session = Session { id, transcript };
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

    /// Lets the transcript end where it ends when this event comes: tool events come in the middle of a turn.
    pub(crate) fn begin_turn(&self, session: &Session, case: &Case, number: u64) -> Done {
        let lines = self.fill(TURN, session, number).replace("@READ@", "122000");
        let in_turn = matches!(case.name, "PreToolUse" | "PostToolUse");
        let count = if in_turn { RESULT_LINE } else { usize::MAX };
        session.append(&lines.split_inclusive('\n').take(count).collect::<String>())
    }

    /// A payload. `number` makes the ids of prompt and call; `padding` goes into its longest text.
    pub(crate) fn payload(&self, case: &Case, session: &Session, number: u64, padding: &str) -> String {
        let one_line: String = case.payload.lines().map(str::trim_start).collect();
        self.fill(&one_line, session, number).replace("@PADDING@", padding)
    }

    fn fill(&self, text: &str, session: &Session, number: u64) -> String {
        text.replace("@SESSION@", &session.id)
            .replace("@TRANSCRIPT@", &session.transcript.display().to_string())
            .replace("@PROJECT@", &self.at("project").display().to_string())
            .replace("@PROMPT@", &format!("00000000-0000-4000-9000-{number:012}"))
            .replace("@CALL@", &format!("toolu_{number:020}"))
            .replace("@N@", &format!("{number:08}"))
    }

    /// Runs a case and checks its answer. Returns the wall time from before the start to after the end.
    pub(crate) fn run(
        &self,
        program: &Path,
        case: &Case,
        session: &Session,
        payload: &str,
    ) -> Done<Duration> {
        let (time, output) = feed(&mut self.call(program, case, session), payload.as_bytes())?;
        case.check(&output)?;
        Ok(time)
    }

    /// All records of the journal, and how many lines are none.
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

/// What was read back.
#[derive(Default)]
pub(crate) struct Journal {
    pub(crate) records: Vec<Value>,
    pub(crate) torn: usize,
    /// Records in the file of another day.
    pub(crate) misplaced: usize,
}

/// Runs a command with a payload on its stdin, as a client does: pipes on all three.
pub(crate) fn feed(command: &mut Command, payload: &[u8]) -> Done<(Duration, Output)> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let name = command.get_program().display().to_string();
    let start = Instant::now();
    let mut child = command.spawn().while_(&name)?;
    // A child that has seen enough closes its end early.
    let _ = child.stdin.take().map(|mut stdin| stdin.write_all(payload));
    let output = child.wait_with_output().while_(&name)?;
    Ok((start.elapsed(), output))
}
