//! A scripted model behind OpenAI's two APIs on loopback, for hosts other than Claude Code.
//!
//! Hosts differ in how many requests one turn takes, so the script is a list of [`Step`]s whose last one is repeated.
//! Only requests with tools move it on: titles, routers and summaries are answered apart. Every other address is
//! refused and written down, and hosts have this server as their proxy: they reach nothing else.

use std::sync::{Arc, Mutex, MutexGuard};

use serde_json::Value;

use crate::server::Server;

mod wire;

/// How Codex begins the message that asks for a summary of the conversation (0.166.0).
const SUMMARY_MARK: &str = "You are performing a CONTEXT CHECKPOINT COMPACTION";

/// The prompt tokens that an answer claims to have used: far from any compaction.
const USUAL_PROMPT: u64 = 12_000;

/// A call of one of the host's own tools.
#[derive(Clone, Debug)]
pub enum Call {
    /// With arguments as JSON.
    Function {
        /// The tool.
        name: String,
        /// Its arguments.
        arguments: Value,
    },
    /// With one text as its input, as a patch of files.
    Freeform {
        /// The tool.
        name: String,
        /// The text.
        input: String,
    },
}

/// One answer of the model.
#[derive(Clone, Debug, Default)]
pub struct Step {
    text: String,
    calls: Vec<Call>,
    used: Option<u64>,
}

impl Step {
    /// Plain text, which ends the turn.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// A call of a tool with these arguments.
    pub fn call(name: &str, arguments: Value) -> Self {
        Self { calls: vec![Call::Function { name: name.to_owned(), arguments }], ..Self::default() }
    }

    /// A call of a tool with this text.
    pub fn freeform(name: &str, input: impl Into<String>) -> Self {
        Self { calls: vec![Call::Freeform { name: name.to_owned(), input: input.into() }], ..Self::default() }
    }

    /// A patch that replaces the only line of a file in the project, as models of OpenAI edit files.
    pub fn patch(file: &str, old: &str, new: &str) -> Self {
        let patch = format!("*** Begin Patch\n*** Update File: {file}\n@@\n-{old}\n+{new}\n*** End Patch\n");
        Self::freeform("apply_patch", patch)
    }

    /// The same answer for a prompt of `tokens`.
    #[must_use]
    pub fn used(mut self, tokens: u64) -> Self {
        self.used = Some(tokens);
        self
    }
}

/// One request as the model received it.
#[derive(Clone, Debug)]
pub struct Request {
    /// Whether the host offered tools in it, as it does in the turns of a session.
    pub has_tools: bool,
    /// The parsed body.
    pub body: Value,
}

impl Request {
    /// The conversation: `messages` of chat completions, `input` of responses.
    fn items(&self) -> &[Value] {
        let items = self.body["messages"].as_array().or_else(|| self.body["input"].as_array());
        items.map_or(&[], Vec::as_slice)
    }

    /// Whether a text of the conversation contains `needle`.
    pub fn says(&self, needle: &str) -> bool {
        self.items().iter().any(|item| texts(&item["content"]).iter().any(|text| text.contains(needle)))
    }

    /// The results of all tool calls, oldest first.
    pub fn tool_results(&self) -> Vec<String> {
        let results = self.items().iter().filter_map(|item| match item["type"].as_str() {
            Some("function_call_output" | "custom_tool_call_output") => Some(&item["output"]),
            _ if item["role"] == "tool" => Some(&item["content"]),
            _ => None,
        });
        results.map(|result| texts(result).join("\n")).collect()
    }

    fn wants_summary(&self) -> bool {
        let last = self.items().last().map(|item| texts(&item["content"])).unwrap_or_default();
        last.iter().any(|text| text.starts_with(SUMMARY_MARK))
    }
}

/// The texts of a message's content, which is one text or a list of parts.
fn texts(content: &Value) -> Vec<&str> {
    match content {
        Value::String(text) => vec![text],
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => Vec::new(),
    }
}

struct State {
    steps: Vec<Step>,
    turns: usize,
    requests: Vec<Request>,
    refused: Vec<String>,
}

impl State {
    /// The answer to a request, and its number.
    fn answer(&mut self, body: Value) -> (Step, usize) {
        let has_tools = body["tools"].as_array().is_some_and(|tools| !tools.is_empty());
        let request = Request { has_tools, body };
        let step = if request.wants_summary() {
            Step::text("The work so far, in short.")
        } else if has_tools {
            let step = self.steps.get(self.turns).or(self.steps.last()).cloned().unwrap_or_default();
            self.turns += 1;
            step
        } else {
            Step::text("{}")
        };
        self.requests.push(request);
        (step, self.requests.len())
    }
}

struct Shared(Mutex<State>);

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().expect("no panic under the lock")
    }
}

/// The running server.
pub struct OpenAi {
    server: Server,
    shared: Arc<Shared>,
}

impl OpenAi {
    /// Starts to serve these steps.
    pub fn start(steps: Vec<Step>) -> Self {
        let state = State { steps, turns: 0, requests: Vec::new(), refused: Vec::new() };
        let shared = Arc::new(Shared(Mutex::new(state)));
        let served = Arc::clone(&shared);
        let server = Server::start(move |request| wire::respond(request, &served));
        Self { server, shared }
    }

    /// The address that hosts take as the API's base URL.
    pub fn base_url(&self) -> String {
        format!("{}/v1", self.server.url())
    }

    /// The address that hosts take as their proxy.
    pub fn proxy_url(&self) -> String {
        self.server.url()
    }

    /// The requests that moved the script on, in order of arrival.
    pub fn turns(&self) -> Vec<Request> {
        let state = self.shared.lock();
        state.requests.iter().filter(|request| request.has_tools).cloned().collect()
    }

    /// Everything that was asked of this server and that no model answers, other hosts' addresses included.
    pub fn refused(&self) -> Vec<String> {
        self.shared.lock().refused.clone()
    }
}
