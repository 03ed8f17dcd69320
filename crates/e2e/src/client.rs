//! The real client, headless: started with a cleared environment and driven turn by turn.

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
/// A 200K window, compacted only when the API rejects the prompt.
pub const SONNET_4_5: &str = "claude-sonnet-4-5";

/// A healthy run needs a few seconds.
const LIMIT: Duration = Duration::from_mins(5);

/// The only place of this version is the file next to the manifest.
pub fn version() -> &'static str {
    include_str!("../client-version").trim()
}

/// `TIDEGATE_CLIENT`, or the pinned version in the cache.
pub fn binary() -> PathBuf {
    if let Some(path) = std::env::var_os("TIDEGATE_CLIENT") {
        return PathBuf::from(path);
    }
    let path = cache::clients().join(version()).join("package/claude");
    assert!(path.is_file(), "no client at {}: run `cargo xtask e2e`, which fetches it", path.display());
    path
}

/// Whether [`binary`] is the pinned version.
pub fn is_pinned() -> bool {
    binary() == cache::clients().join(version()).join("package/claude")
}

/// The command line of the client.
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

    /// Allows no tool in advance.
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

    #[must_use]
    pub fn program(mut self, executable: PathBuf) -> Self {
        self.program = Some(executable);
        self
    }

    #[must_use]
    pub fn on(mut self, model: &str) -> Self {
        model.clone_into(&mut self.id);
        self
    }

    #[must_use]
    pub fn argument(mut self, argument: impl Into<String>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    #[must_use]
    pub fn environment(mut self, name: &str, value: impl Into<String>) -> Self {
        self.environment.push((name.to_owned(), value.into()));
        self
    }

    /// Given on the command line; hooks in them are added to those of the project.
    #[must_use]
    pub fn settings(self, settings: &Value) -> Self {
        self.argument("--settings").argument(settings.to_string())
    }

    #[must_use]
    pub fn resume(self, session: &str) -> Self {
        self.argument("--resume").argument(session)
    }

    /// For a terminal; headless runs add arguments.
    pub(crate) fn command(&self) -> Command {
        let mut command = self.home.command(self.program.clone().unwrap_or_else(binary));
        command
            .envs(self.home.client_environment(self.model))
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .args(["--model", &self.id])
            .args(&self.arguments);
        command
    }

    pub(crate) fn home(&self) -> &'a Home {
        self.home
    }

    pub fn start(self) -> ClientSession {
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
                // Lines that are not JSON are not part of the protocol; they are kept for the failure report.
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
        ClientSession {
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

pub struct ClientSession {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Value>,
    complaints: Receiver<String>,
    events: Vec<Value>,
    end: Instant,
    _slot: Slot,
}

impl ClientSession {
    /// Sends a prompt or a slash command and returns the events up to the turn's result.
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

    /// Closes the input and waits for the client to exit.
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

    /// `None` when the stream or the time has ended.
    fn next(&mut self) -> Option<Value> {
        self.lines.recv_timeout(self.end.saturating_duration_since(Instant::now())).ok()
    }

    /// With a time limit: a process that the client left behind can hold the pipe open.
    fn stderr(&self) -> String {
        self.complaints.recv_timeout(Duration::from_secs(10)).unwrap_or_default()
    }

    fn diagnosis(&mut self) -> String {
        let _ = self.child.kill();
        let from = self.events.len().saturating_sub(5);
        format!("stderr {:?}, last events {:#?}", self.stderr(), &self.events[from..])
    }
}

impl Drop for ClientSession {
    fn drop(&mut self) {
        self.stdin = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The events of a session or a turn.
#[derive(Clone, Debug)]
pub struct Stream {
    pub events: Vec<Value>,
}

#[derive(Clone, Debug)]
pub struct Run {
    pub stream: Stream,
    /// `None` if a signal ended it.
    pub exit: Option<i32>,
    pub stderr: String,
}

impl std::ops::Deref for Run {
    type Target = Stream;

    fn deref(&self) -> &Stream {
        &self.stream
    }
}

/// A hook run as the client reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookResponse {
    pub event: String,
    /// The event with its matcher value, as in `PreToolUse:Write`.
    pub name: String,
    /// `success`, `error`, …
    pub outcome: String,
    /// `None` if the process had none.
    pub exit_code: Option<i64>,
    pub stdout: String,
    pub stderr: String,
}

impl Stream {
    /// By `type` and `subtype`.
    pub fn of<'a>(&'a self, kind: &'a str, subtype: &'a str) -> impl Iterator<Item = &'a Value> {
        self.events.iter().filter(move |event| event["type"] == kind && event["subtype"] == subtype)
    }

    /// Texts for the user other than answers: messages of hooks and notices of the client.
    pub fn shown(&self) -> Vec<String> {
        let shown = self.events.iter().filter(|event| event["type"] == "system");
        let texts = shown.filter_map(|event| match event["subtype"].as_str()? {
            "informational" => event["content"].as_str(),
            "notification" => event["text"].as_str(),
            _ => None,
        });
        texts.map(str::to_owned).collect()
    }

    /// The client reports no `PreCompact`, `PostCompact` or `SessionEnd`, and gives exit code 1 to a hook
    /// that could not be started or that a signal ended.
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

    /// In the order of their start.
    pub fn hooks_started(&self) -> Vec<String> {
        let name = |event: &Value| event["hook_name"].as_str().map(str::to_owned);
        self.of("system", "hook_started").filter_map(name).collect()
    }

    /// Of the last turn.
    pub fn result(&self) -> &Value {
        let result = self.events.iter().rev().find(|event| event["type"] == "result");
        result.expect("a turn ends with a result")
    }

    /// Of the last turn.
    pub fn answer(&self) -> &str {
        self.result()["result"].as_str().unwrap_or_default()
    }

    /// Names of the tools whose calls were denied in the last turn.
    pub fn denials(&self) -> Vec<&str> {
        let denials = self.result()["permission_denials"].as_array().map_or(&[][..], Vec::as_slice);
        denials.iter().filter_map(|denial| denial["tool_name"].as_str()).collect()
    }

    /// The window that the client assumes for `model`.
    pub fn window(&self, model: &str) -> Option<u64> {
        self.result()["modelUsage"][model]["contextWindow"].as_u64()
    }

    pub fn session_id(&self) -> &str {
        let id = self.events.iter().find_map(|event| event["session_id"].as_str());
        id.expect("events name their session")
    }

    /// The triggers of the compactions.
    pub fn compactions(&self) -> Vec<&str> {
        self.of("system", "compact_boundary")
            .filter_map(|event| event["compact_metadata"]["trigger"].as_str())
            .collect()
    }
}
