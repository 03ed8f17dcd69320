//! A scripted model behind OpenAI's two APIs on loopback, for hosts other than Claude Code.
//!
//! Hosts differ in the number of requests per turn, so the script is a list of [`Step`]s, and the last one
//! repeats. Only requests with tools advance it: titles, routers and summaries are answered separately. Every
//! other address is refused and recorded, and this server is the hosts' proxy, so they reach nothing else.

use std::sync::{Arc, Mutex, MutexGuard};

use serde_json::Value;

use crate::server::Server;

mod wire;

/// The starts of messages that ask for a summary: of Codex (0.166.0), Copilot (1.0.102) and Qwen Code (0.24.4).
const SUMMARY_MARKS: [&str; 3] = [
    "You are performing a CONTEXT CHECKPOINT COMPACTION",
    "Please create a detailed summary of the conversation so far.",
    "You are the component that summarizes a conversation",
];

/// Far from any compaction.
const USUAL_PROMPT: u64 = 12_000;

#[derive(Clone, Debug)]
pub enum Call {
    /// With JSON arguments. Some of Codex's tools are in a namespace.
    Function { namespace: Option<String>, name: String, arguments: Value },
    /// With one text as its input, such as a patch.
    Freeform { name: String, input: String },
}

/// One answer of the model.
#[derive(Clone, Debug, Default)]
pub struct Step {
    text: String,
    calls: Vec<Call>,
    used: Option<u64>,
}

impl Step {
    /// Plain text ends the turn.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    pub fn call(name: &str, arguments: Value) -> Self {
        Self::call_in(None, name, arguments)
    }

    /// Of a tool in a namespace.
    pub fn call_in(namespace: Option<&str>, name: &str, arguments: Value) -> Self {
        let namespace = namespace.map(str::to_owned);
        Self {
            calls: vec![Call::Function { namespace, name: name.to_owned(), arguments }],
            ..Self::default()
        }
    }

    pub fn freeform(name: &str, input: impl Into<String>) -> Self {
        Self { calls: vec![Call::Freeform { name: name.to_owned(), input: input.into() }], ..Self::default() }
    }

    /// A patch that replaces the only line of a file, as OpenAI's models edit files.
    pub fn patch(file: &str, old: &str, new: &str) -> Self {
        let patch = format!("*** Begin Patch\n*** Update File: {file}\n@@\n-{old}\n+{new}\n*** End Patch\n");
        Self::freeform("apply_patch", patch)
    }

    /// One answer with the calls of several.
    pub fn all(steps: impl IntoIterator<Item = Step>) -> Self {
        Self { calls: steps.into_iter().flat_map(|step| step.calls).collect(), ..Self::default() }
    }

    /// For a prompt of `tokens`.
    #[must_use]
    pub fn used(mut self, tokens: u64) -> Self {
        self.used = Some(tokens);
        self
    }
}

/// As received.
#[derive(Clone, Debug)]
pub struct Request {
    /// True for the turns of a session.
    pub has_tools: bool,
    pub body: Value,
}

impl Request {
    /// `messages` of chat completions, `input` of responses.
    fn items(&self) -> &[Value] {
        let items = self.body["messages"].as_array().or_else(|| self.body["input"].as_array());
        items.map_or(&[], Vec::as_slice)
    }

    pub fn says(&self, needle: &str) -> bool {
        self.items()
            .iter()
            .any(|item| content_texts(&item["content"]).iter().any(|text| text.contains(needle)))
    }

    /// Oldest first.
    pub fn tool_results(&self) -> Vec<String> {
        let results = self.items().iter().filter_map(|item| match item["type"].as_str() {
            Some("function_call_output" | "custom_tool_call_output") => Some(&item["output"]),
            _ if item["role"] == "tool" => Some(&item["content"]),
            _ => None,
        });
        results.map(|result| content_texts(result).join("\n")).collect()
    }

    /// Names of the tools that the model may call.
    pub fn tools(&self) -> Vec<String> {
        let tools = self.body["tools"].as_array().into_iter().flatten();
        let names = tools.filter_map(|tool| tool["function"]["name"].as_str().or(tool["name"].as_str()));
        names.map(str::to_owned).collect()
    }

    fn wants_summary(&self) -> bool {
        let last = self.items().last().map(|item| content_texts(&item["content"])).unwrap_or_default();
        last.iter().any(|text| SUMMARY_MARKS.iter().any(|mark| text.starts_with(mark)))
    }
}

/// The content is one text or a list of parts.
fn content_texts(content: &Value) -> Vec<&str> {
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
    /// Returns the answer and its number.
    fn answer(&mut self, body: Value) -> (Step, usize) {
        let names_tools = body["tools"].as_array().is_some_and(|tools| !tools.is_empty());
        // Codex names the tools of some models elsewhere; all its requests but those for a summary are turns.
        let is_of_codex = body["input"].is_array();
        let mut request = Request { has_tools: names_tools, body };
        request.has_tools |= is_of_codex && !request.wants_summary();
        let has_tools = request.has_tools;
        let step = if request.wants_summary() {
            // Qwen Code takes only a text in this element for a summary.
            Step::text("<state_snapshot>The work so far, in short.</state_snapshot>")
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

pub struct OpenAi {
    server: Server,
    shared: Arc<Shared>,
}

impl OpenAi {
    pub fn start(steps: Vec<Step>) -> Self {
        let state = State { steps, turns: 0, requests: Vec::new(), refused: Vec::new() };
        let shared = Arc::new(Shared(Mutex::new(state)));
        let served = Arc::clone(&shared);
        let server = Server::start(move |request| wire::respond(request, &served));
        Self { server, shared }
    }

    pub fn base_url(&self) -> String {
        format!("{}/v1", self.server.url())
    }

    pub fn proxy_url(&self) -> String {
        self.server.url()
    }

    /// The requests that advanced the script, in order of arrival.
    pub fn turns(&self) -> Vec<Request> {
        let state = self.shared.lock();
        state
            .requests
            .iter()
            .filter(|request| request.has_tools && !request.wants_summary())
            .cloned()
            .collect()
    }

    /// The requests for a summary.
    pub fn summaries(&self) -> Vec<Request> {
        self.shared.lock().requests.iter().filter(|request| request.wants_summary()).cloned().collect()
    }

    /// All requests that no model answers, including those to other addresses.
    pub fn refused(&self) -> Vec<String> {
        self.shared.lock().refused.clone()
    }
}
