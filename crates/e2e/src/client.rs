//! The real client, headless: found, started with a cleared environment, fed turn by turn, and listened to.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::cache;
use crate::home::Home;
use crate::model::Model;
use crate::slots::Slot;

/// A 1M window, compacted proactively at 967K.
pub const OPUS_5_5: &str = "claude-opus-5-5";
/// A 200K window, compacted proactively at 167K.
pub const SONNET_4_6: &str = "claude-sonnet-4-6";
/// A 200K window, compacted only when the API refuses the prompt.
pub const SONNET_4_5: &str = "claude-sonnet-4-5";

/// No run of the client takes longer; a healthy one needs a few seconds.
const LIMIT: Duration = Duration::from_secs(90);

/// The client version that the bench is pinned to. The file beside the manifest is its only home.
pub fn version() -> &'static str {
    include_str!("../client-version").trim()
}

/// The client's executable: `TIDEGATE_CLIENT`, or the pinned version in the cache.
pub fn binary() -> PathBuf {
    if let Some(path) = std::env::var_os("TIDEGATE_CLIENT") {
        return PathBuf::from(path);
    }
    let path = cache::clients().join(version()).join("package/claude");
    assert!(path.is_file(), "no client at {}: run `cargo xtask e2e`, which fetches it", path.display());
    path
}

/// How to start the client.
pub struct Launch<'a> {
    home: &'a Home,
    model: &'a Model,
    program: Option<PathBuf>,
    id: String,
    arguments: Vec<String>,
    environment: Vec<(String, String)>,
}

impl<'a> Launch<'a> {
    /// Headless, on the newest model, with the usual tools allowed.
    pub fn new(home: &'a Home, model: &'a Model) -> Self {
        Self::asking(home, model).argument("--allowedTools").argument("Bash,Read,Write,Edit,Agent")
    }

    /// The same with no tool allowed beforehand.
    pub fn asking(home: &'a Home, model: &'a Model) -> Self {
        Self {
            home,
            model,
            program: None,
            id: OPUS_5_5.to_owned(),
            arguments: Vec::new(),
            environment: Vec::new(),
        }
    }

    /// Another version of the client than the pinned one.
    #[must_use]
    pub fn program(mut self, executable: PathBuf) -> Self {
        self.program = Some(executable);
        self
    }

    /// Runs this model.
    #[must_use]
    pub fn on(mut self, model: &str) -> Self {
        model.clone_into(&mut self.id);
        self
    }

    /// One more argument.
    #[must_use]
    pub fn argument(mut self, argument: impl Into<String>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// One more variable in the client's environment.
    #[must_use]
    pub fn environment(mut self, name: &str, value: impl Into<String>) -> Self {
        self.environment.push((name.to_owned(), value.into()));
        self
    }

    /// Settings given on the command line; hooks in them are added to those of the project.
    #[must_use]
    pub fn settings(self, settings: &Value) -> Self {
        self.argument("--settings").argument(settings.to_string())
    }

    /// Goes on with an earlier session.
    #[must_use]
    pub fn resume(self, session: &str) -> Self {
        self.argument("--resume").argument(session)
    }

    /// The command as a terminal runs it; headless runs add to it.
    pub(crate) fn command(&self) -> Command {
        let mut command = self.home.command(self.program.clone().unwrap_or_else(binary));
        command
            .envs(self.home.client_environment(self.model))
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .args(["--model", &self.id])
            .args(&self.arguments);
        command
    }

    /// The home it runs in.
    pub(crate) fn home(&self) -> &'a Home {
        self.home
    }

    /// Starts a session that takes turn after turn.
    pub fn start(self) -> Session {
        let slot = Slot::take();
        let mut command = self.command();
        command
            .args(["-p", "--input-format", "stream-json", "--output-format", "stream-json"])
            .args(["--verbose", "--include-hook-events"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("the client starts");
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().expect("a piped stdout");
        let mut stderr = child.stderr.take().expect("a piped stderr");
        let (send, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines() {
                let Ok(line) = line else { return };
                // What is not JSON is not part of the stream's protocol; it is kept for the failure report.
                let event = serde_json::from_str(&line).unwrap_or(Value::String(line));
                if send.send(event).is_err() {
                    return;
                }
            }
        });
        let (tell, complaints) = channel();
        std::thread::spawn(move || {
            let mut text = String::new();
            let _ = stderr.read_to_string(&mut text);
            let _ = tell.send(text);
        });
        Session {
            child,
            stdin,
            lines,
            complaints,
            events: Vec::new(),
            end: Instant::now() + LIMIT,
            _slot: slot,
        }
    }

    /// Runs one turn and ends the session.
    pub fn ask(self, prompt: &str) -> Run {
        let mut session = self.start();
        session.ask(prompt);
        session.finish()
    }
}

/// A running headless session.
pub struct Session {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Value>,
    complaints: Receiver<String>,
    events: Vec<Value>,
    end: Instant,
    _slot: Slot,
}

impl Session {
    /// Sends a prompt (or a slash command) and waits for the turn's result; returns what the stream said meanwhile.
    pub fn ask(&mut self, prompt: &str) -> Stream {
        let line = json!({ "type": "user", "message": { "role": "user", "content": prompt } });
        let stdin = self.stdin.as_mut().expect("the session is open");
        writeln!(stdin, "{line}").and_then(|()| stdin.flush()).expect("the client reads its input");
        let from = self.events.len();
        loop {
            let event =
                self.next().unwrap_or_else(|| panic!("no result for {prompt:?}: {}", self.diagnosis()));
            let is_result = event["type"] == "result";
            self.events.push(event);
            if is_result {
                return Stream { events: self.events[from..].to_vec() };
            }
        }
    }

    /// Closes the input and waits for the client's end.
    pub fn finish(mut self) -> Run {
        self.stdin = None;
        while let Some(event) = self.next() {
            self.events.push(event);
        }
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("the client's exit status") {
                break status;
            }
            assert!(Instant::now() < self.end, "the client did not end: {}", self.diagnosis());
            std::thread::sleep(Duration::from_millis(5));
        };
        let stderr = self.stderr();
        Run { stream: Stream { events: std::mem::take(&mut self.events) }, exit: status.code(), stderr }
    }

    /// The next event, or nothing when the stream or the time has ended.
    fn next(&mut self) -> Option<Value> {
        self.lines.recv_timeout(self.end.saturating_duration_since(Instant::now())).ok()
    }

    /// What it complained about. The wait is bounded: a process that the client left behind can hold the pipe open.
    fn stderr(&self) -> String {
        self.complaints.recv_timeout(Duration::from_secs(2)).unwrap_or_default()
    }

    fn diagnosis(&mut self) -> String {
        let _ = self.child.kill();
        let from = self.events.len().saturating_sub(5);
        format!("stderr {:?}, last events {:#?}", self.stderr(), &self.events[from..])
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.stdin = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a session or a turn printed.
#[derive(Clone, Debug)]
pub struct Stream {
    /// The events as they came.
    pub events: Vec<Value>,
}

/// A finished session.
#[derive(Clone, Debug)]
pub struct Run {
    /// Everything it printed.
    pub stream: Stream,
    /// Its exit code, unless a signal ended it.
    pub exit: Option<i32>,
    /// What it complained about.
    pub stderr: String,
}

impl std::ops::Deref for Run {
    type Target = Stream;

    fn deref(&self) -> &Stream {
        &self.stream
    }
}

/// How one hook run ended, in the client's own view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookResponse {
    /// The event.
    pub event: String,
    /// The event with its matcher value, as in `PreToolUse:Write`.
    pub name: String,
    /// `success`, `error`, …
    pub outcome: String,
    /// The exit code, where the process had one.
    pub exit_code: Option<i64>,
    /// What it printed.
    pub stdout: String,
    /// What it complained about.
    pub stderr: String,
}

impl Stream {
    /// The events of one `type` and `subtype`.
    pub fn of<'a>(&'a self, kind: &'a str, subtype: &'a str) -> impl Iterator<Item = &'a Value> {
        self.events.iter().filter(move |event| event["type"] == kind && event["subtype"] == subtype)
    }

    /// What the user was shown beside the answers: messages of hooks, notices of the client.
    pub fn shown(&self) -> Vec<String> {
        let shown = self.events.iter().filter(|event| event["type"] == "system");
        let texts = shown.filter_map(|event| match event["subtype"].as_str()? {
            "informational" => event["content"].as_str(),
            "notification" => event["text"].as_str(),
            _ => None,
        });
        texts.map(str::to_owned).collect()
    }

    /// Every finished hook run. The client reports none for `PreCompact`, `PostCompact` and `SessionEnd`, and gives
    /// exit code 1 to a hook that could not be started or that a signal ended.
    pub fn hook_responses(&self) -> Vec<HookResponse> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        self.of("system", "hook_response")
            .map(|event| HookResponse {
                event: text(&event["hook_event"]),
                name: text(&event["hook_name"]),
                outcome: text(&event["outcome"]),
                exit_code: event["exit_code"].as_i64(),
                stdout: text(&event["stdout"]),
                stderr: text(&event["stderr"]),
            })
            .collect()
    }

    /// The names of the hooks in the order in which they were started.
    pub fn hooks_started(&self) -> Vec<String> {
        let name = |event: &Value| event["hook_name"].as_str().map(str::to_owned);
        self.of("system", "hook_started").filter_map(name).collect()
    }

    /// The result of the last turn.
    pub fn result(&self) -> &Value {
        let result = self.events.iter().rev().find(|event| event["type"] == "result");
        result.expect("a turn ends with a result")
    }

    /// The last turn's final answer.
    pub fn answer(&self) -> &str {
        self.result()["result"].as_str().unwrap_or_default()
    }

    /// The names of the tools whose calls were denied in the last turn.
    pub fn denials(&self) -> Vec<&str> {
        let denials = self.result()["permission_denials"].as_array().map_or(&[][..], Vec::as_slice);
        denials.iter().filter_map(|denial| denial["tool_name"].as_str()).collect()
    }

    /// The window that the client assumes for `model`.
    pub fn window(&self, model: &str) -> Option<u64> {
        self.result()["modelUsage"][model]["contextWindow"].as_u64()
    }

    /// The session's id.
    pub fn session_id(&self) -> &str {
        let id = self.events.iter().find_map(|event| event["session_id"].as_str());
        id.expect("events name their session")
    }

    /// The triggers of the compactions that happened.
    pub fn compactions(&self) -> Vec<&str> {
        self.of("system", "compact_boundary")
            .filter_map(|event| event["compact_metadata"]["trigger"].as_str())
            .collect()
    }
}
