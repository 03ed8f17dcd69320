//! A scripted Messages API on loopback that records every request.
//!
//! A [`Script`] is data: a queue of [`Reply`]s for the main thread, one for each subagent (identified by its
//! prompt), and the summaries for compactions. The [`Model`] routes a request by its content, so a test need
//! not know how many side requests the client makes. Unexpected requests get a polite answer, so that the
//! client ends its run, and [`Model::finish`] reports them.

use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::home::Home;
use crate::server::Server;

mod http;

/// The start of the client's compaction request; it has no other mark.
const COMPACTION_MARK: &str = "CRITICAL: Respond with TEXT ONLY";

/// The client writes its transcript in batches of about 100 ms.
const WRITE_LAG: Duration = Duration::from_secs(10);

/// The client puts these around instructions of a person or a hook in that request.
const INSTRUCTIONS: (&str, &str) = ("\n\nAdditional Instructions:\n", "\n\nREMINDER: ");

/// The client puts this before a hook's context, after the event's name.
const CONTEXT_MARK: &str = " hook additional context: ";

/// The client puts this before the reason of a held stop.
const HELD_MARK: &str = "Stop hook feedback:\n";

/// The prompt size of a reply that sets none.
const USUAL_PROMPT: u64 = 12_000;

/// The token counters of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Prompt tokens neither read from nor written to the cache.
    pub input: u64,
    pub cache_creation: u64,
    pub cache_read: u64,
    pub output: u64,
    /// Prompt tokens of an earlier round in the same answer, by a server-side tool: they are in the totals,
    /// but not in the context.
    pub earlier_round: Option<u64>,
}

impl Usage {
    /// Spread over all three counters, so that a reader that forgets one is wrong.
    pub fn prompt(tokens: u64) -> Self {
        let input = tokens.min(7);
        let cache_creation = (tokens - input) / 10;
        Self {
            input,
            cache_creation,
            cache_read: tokens - input - cache_creation,
            output: 30,
            earlier_round: None,
        }
    }

    /// After an earlier round of that many prompt tokens.
    #[must_use]
    pub fn after_round(self, tokens: u64) -> Self {
        Self { earlier_round: Some(tokens), ..self }
    }

    /// The numerator of the client's status line.
    pub fn prompt_tokens(self) -> u64 {
        self.input + self.cache_creation + self.cache_read
    }
}

#[derive(Clone, Debug)]
enum Block {
    Text(String),
    Tool { name: String, input: Value },
}

#[derive(Clone, Debug)]
pub struct Reply(Answer);

#[derive(Clone, Debug)]
enum Answer {
    Message { blocks: Vec<Block>, usage: Usage },
    Error { status: u16, kind: String, message: String },
}

impl Reply {
    /// Plain text ends the turn.
    pub fn text(text: impl Into<String>) -> Self {
        Self::message(Block::Text(text.into()))
    }

    pub fn tool(name: impl Into<String>, input: Value) -> Self {
        Self::message(Block::Tool { name: name.into(), input })
    }

    pub fn bash(command: impl Into<String>) -> Self {
        Self::tool("Bash", json!({ "command": command.into(), "description": "a step of the script" }))
    }

    pub fn write(path: impl AsRef<Path>, content: &str) -> Self {
        Self::tool("Write", json!({ "file_path": path.as_ref(), "content": content }))
    }

    /// In the foreground, so that its end is part of the turn.
    pub fn agent(prompt: impl Into<String>) -> Self {
        Self::tool(
            "Agent",
            json!({
                "description": "a step of the script",
                "prompt": prompt.into(),
                "subagent_type": "general-purpose",
                "run_in_background": false,
            }),
        )
    }

    /// An API error.
    pub fn error(status: u16, kind: impl Into<String>, message: impl Into<String>) -> Self {
        Self(Answer::Error { status, kind: kind.into(), message: message.into() })
    }

    /// Makes the client compact if it did not do so by itself.
    pub fn prompt_too_long(tokens: u64, limit: u64) -> Self {
        Self::error(
            400,
            "invalid_request_error",
            format!("prompt is too long: {tokens} tokens > {limit} maximum"),
        )
    }

    /// Adds a parallel tool call.
    #[must_use]
    pub fn and_tool(mut self, name: impl Into<String>, input: Value) -> Self {
        if let Answer::Message { blocks, .. } = &mut self.0 {
            blocks.push(Block::Tool { name: name.into(), input });
        }
        self
    }

    /// For a prompt of `tokens`.
    #[must_use]
    pub fn used(self, tokens: u64) -> Self {
        self.usage(Usage::prompt(tokens))
    }

    /// With exactly these counters.
    #[must_use]
    pub fn usage(mut self, counters: Usage) -> Self {
        if let Answer::Message { usage, .. } = &mut self.0 {
            *usage = counters;
        }
        self
    }

    fn message(block: Block) -> Self {
        Self(Answer::Message { blocks: vec![block], usage: Usage::prompt(USUAL_PROMPT) })
    }
}

type Compute = Box<dyn FnOnce(&Request) -> Reply + Send>;

enum Step {
    Fixed(Reply),
    Computed(Compute),
}

impl Step {
    fn reply(self, request: &Request) -> Reply {
        match self {
            Self::Fixed(reply) => reply,
            Self::Computed(compute) => compute(request),
        }
    }
}

/// The origin of a request, derived from its content.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Route {
    Main,
    /// Named by its scripted prompt.
    Subagent(String),
    Compaction,
    /// Requests without tools: titles, classifiers, prompt hooks.
    Side,
}

/// As received.
#[derive(Clone, Debug)]
pub struct Request {
    pub route: Route,
    /// From the client's header.
    pub session: String,
    /// The number of earlier compactions in the session: requests of one conversation extend each other.
    pub conversation: usize,
    /// False if it was answered with an error.
    pub answered: bool,
    pub body: Value,
}

/// The result of a tool call, as the model receives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolResult {
    /// The call failed or was denied.
    pub is_error: bool,
    pub text: String,
}

impl Request {
    pub fn messages(&self) -> &[Value] {
        self.body["messages"].as_array().map_or(&[], Vec::as_slice)
    }

    /// Of any role: hook context is `system` or `user`, depending on the model.
    pub fn texts(&self) -> Vec<&str> {
        let mut texts = Vec::new();
        for message in self.messages() {
            collect_texts(&message["content"], &mut texts);
        }
        texts
    }

    /// Occurrences in the messages.
    pub fn count(&self, needle: &str) -> usize {
        self.texts().iter().map(|text| text.matches(needle).count()).sum()
    }

    /// In the whole request, including system prompt and tools.
    pub fn mentions(&self, needle: &str) -> bool {
        let mut texts = Vec::new();
        every_string(&self.body, &mut texts);
        texts.iter().any(|text| text.contains(needle))
    }

    /// All context from hooks, oldest first, as `Event: text`. Of each only the first paragraph, because the
    /// client joins several with blank lines.
    pub fn hook_contexts(&self) -> Vec<String> {
        let paragraphs = self.texts().into_iter().flat_map(|text| text.split("\n\n"));
        paragraphs
            .filter_map(|paragraph| {
                let (before, text) = paragraph.split_once(CONTEXT_MARK)?;
                let event = before.rsplit('\n').next().unwrap_or_default();
                let text = text.split("</system-reminder>").next().unwrap_or_default();
                Some(format!("{event}: {}", text.trim()))
            })
            .collect()
    }

    /// Reasons of held stops, oldest first.
    pub fn held_stops(&self) -> Vec<String> {
        let reason = |text: &str| {
            let (_, reason) = text.split_once(HELD_MARK)?;
            Some(reason.trim().to_owned())
        };
        self.texts().into_iter().filter_map(reason).collect()
    }

    /// Instructions of a person or a hook for the summary that this request asks for.
    pub fn summary_instructions(&self) -> Option<&str> {
        let asked = self.last_user_text().filter(|_| self.route == Route::Compaction)?;
        let (_, after) = asked.split_once(INSTRUCTIONS.0)?;
        Some(after.rsplit_once(INSTRUCTIONS.1).map_or(after, |(instructions, _)| instructions))
    }

    /// Oldest first.
    pub fn tool_results(&self) -> Vec<ToolResult> {
        let blocks = self.messages().iter().filter_map(|message| message["content"].as_array()).flatten();
        blocks
            .filter(|block| block["type"] == "tool_result")
            .map(|block| {
                let mut texts = Vec::new();
                collect_texts(&block["content"], &mut texts);
                ToolResult { is_error: block["is_error"] == true, text: texts.join("\n") }
            })
            .collect()
    }

    pub fn last_tool_result(&self) -> ToolResult {
        self.tool_results().pop().expect("the request should hold a tool result")
    }

    fn last_user_text(&self) -> Option<&str> {
        let message = self.messages().iter().rev().find(|message| message["role"] == "user")?;
        let mut texts = Vec::new();
        collect_texts(&message["content"], &mut texts);
        texts.pop()
    }

    fn starts_with_prompt(&self, prompt: &str) -> bool {
        let Some(first) = self.messages().iter().find(|message| message["role"] == "user") else {
            return false;
        };
        let mut texts = Vec::new();
        collect_texts(&first["content"], &mut texts);
        texts.iter().any(|text| text.trim() == prompt.trim())
    }
}

fn collect_texts<'a>(content: &'a Value, into: &mut Vec<&'a str>) {
    match content {
        Value::String(text) => into.push(text),
        Value::Array(blocks) => {
            for block in blocks {
                if let Some(text) = block["text"].as_str() {
                    into.push(text);
                } else {
                    collect_texts(&block["content"], into);
                }
            }
        }
        _ => {}
    }
}

fn every_string<'a>(value: &'a Value, into: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => into.push(text),
        Value::Array(items) => items.iter().for_each(|item| every_string(item, into)),
        Value::Object(members) => members.values().for_each(|member| every_string(member, into)),
        _ => {}
    }
}

/// The model's answers by route.
#[derive(Default)]
pub struct Script {
    main: VecDeque<Step>,
    subagents: BTreeMap<String, VecDeque<Step>>,
    summaries: VecDeque<Step>,
    sides: VecDeque<Step>,
}

impl Script {
    pub fn new() -> Self {
        Self::default()
    }

    #[must_use]
    pub fn main(mut self, reply: Reply) -> Self {
        self.main.push_back(Step::Fixed(reply));
        self
    }

    /// Made from the request.
    #[must_use]
    pub fn main_with(mut self, reply: impl FnOnce(&Request) -> Reply + Send + 'static) -> Self {
        self.main.push_back(Step::Computed(Box::new(reply)));
        self
    }

    /// For the subagent that was started with `prompt`.
    #[must_use]
    pub fn subagent(mut self, prompt: &str, reply: Reply) -> Self {
        self.subagents.entry(prompt.to_owned()).or_default().push_back(Step::Fixed(reply));
        self
    }

    /// Without one, the summary is a fixed sentence.
    #[must_use]
    pub fn summary(mut self, reply: Reply) -> Self {
        self.summaries.push_back(Step::Fixed(reply));
        self
    }

    /// Made from the request.
    #[must_use]
    pub fn summary_with(mut self, reply: impl FnOnce(&Request) -> Reply + Send + 'static) -> Self {
        self.summaries.push_back(Step::Computed(Box::new(reply)));
        self
    }

    /// Answers a request without tools; without one the answer is an empty object.
    #[must_use]
    pub fn side(mut self, reply: Reply) -> Self {
        self.sides.push_back(Step::Fixed(reply));
        self
    }
}

#[derive(Default)]
struct State {
    script: Script,
    requests: Vec<Request>,
    compactions: BTreeMap<String, usize>,
    unexpected: Vec<String>,
    answers: usize,
    paced_by: Option<PathBuf>,
    newest_main: BTreeMap<String, String>,
}

struct Shared {
    state: Mutex<State>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("a panic in a computed reply; see its message above")
    }

    /// A courtesy, not a check: if nothing is written (errors, sessions without a file), the wait just ends.
    fn await_transcript(&self, session: &str) {
        let (projects, answer) = {
            let state = self.lock();
            (state.paced_by.clone(), state.newest_main.get(session).cloned())
        };
        let (Some(projects), Some(answer)) = (projects, answer) else { return };
        let end = Instant::now() + WRITE_LAG;
        while Instant::now() < end && !transcript(&projects, session).contains(&answer) {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

pub struct Model {
    server: Server,
    shared: Arc<Shared>,
}

impl Model {
    /// On a free port of the loopback interface.
    pub fn start(script: Script) -> Self {
        let shared = Arc::new(Shared { state: Mutex::new(State { script, ..State::default() }) });
        let served = Arc::clone(&shared);
        let server = Server::start(move |request| http::respond(request, &served));
        Self { server, shared }
    }

    /// For the client.
    pub fn url(&self) -> String {
        self.server.url()
    }

    /// Delays answers on the main thread until the client has written the previous one into its transcript,
    /// as with a real model. Otherwise a fast script outruns the client's batched writes.
    #[must_use]
    pub fn paced(self, home: &Home) -> Self {
        self.shared.lock().paced_by = Some(home.client_config().join("projects"));
        self
    }

    /// Waits until the session's newest answer is in the client's transcript.
    pub fn await_transcript(&self, session: &str) {
        self.shared.await_transcript(session);
    }

    /// For the main thread, while the model is running.
    pub fn then(&self, reply: Reply) {
        self.shared.lock().script.main.push_back(Step::Fixed(reply));
    }

    /// Made from the request.
    pub fn then_with(&self, reply: impl FnOnce(&Request) -> Reply + Send + 'static) {
        self.shared.lock().script.main.push_back(Step::Computed(Box::new(reply)));
    }

    /// In order of arrival.
    pub fn requests(&self) -> Vec<Request> {
        self.shared.lock().requests.clone()
    }

    pub fn requests_on(&self, route: &Route) -> Vec<Request> {
        self.requests().into_iter().filter(|request| request.route == *route).collect()
    }

    pub fn main_requests(&self) -> Vec<Request> {
        self.requests_on(&Route::Main)
    }

    pub fn last_main(&self) -> Request {
        self.main_requests().pop().expect("the main thread should have sent a request")
    }

    fn await_subagents(&self) {
        let end = Instant::now() + SUBAGENT_LIMIT;
        let is_asked = |shared: &Shared| shared.lock().script.subagents.values().all(VecDeque::is_empty);
        while !is_asked(&self.shared) && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Fails if answers are left over, or if anything else was asked.
    pub fn finish(&self) {
        self.await_subagents();
        let state = self.shared.lock();
        assert!(state.unexpected.is_empty(), "not in the script: {:#?}", state.unexpected);
        assert_eq!(state.script.main.len(), 0, "answers for the main thread that nobody asked for");
        for (prompt, left) in &state.script.subagents {
            assert_eq!(left.len(), 0, "answers for the subagent {prompt:?} that nobody asked for");
        }
        assert_eq!(state.script.summaries.len(), 0, "summaries that nobody asked for");
        assert_eq!(state.script.sides.len(), 0, "answers to requests without tools that nobody asked for");
    }
}

/// In a terminal the client may send a subagent's first request after the main thread's next one.
const SUBAGENT_LIMIT: Duration = Duration::from_mins(2);

/// Whatever the client calls the project's directory.
fn transcript(projects: &Path, session: &str) -> String {
    let Ok(entries) = fs::read_dir(projects) else { return String::new() };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path().join(format!("{session}.jsonl"))));
    paths.filter_map(|path| fs::read_to_string(path).ok()).collect()
}

impl State {
    fn answer(&mut self, session: &str, body: Value) -> (Reply, usize) {
        let conversation = self.compactions.get(session).copied().unwrap_or_default();
        let mut request =
            Request { route: Route::Main, session: session.to_owned(), conversation, answered: true, body };
        request.route = self.route(&request);
        let reply = match &request.route {
            Route::Main => self.script.main.pop_front().map(|step| step.reply(&request)),
            Route::Subagent(prompt) => {
                let steps = self.script.subagents.get_mut(prompt);
                steps.and_then(VecDeque::pop_front).map(|step| step.reply(&request))
            }
            Route::Compaction => Some(self.script.summaries.pop_front().map_or_else(
                || {
                    Reply::text(
                        "<analysis>Scripted.</analysis>\n<summary>The work so far, in short.</summary>",
                    )
                },
                |step| step.reply(&request),
            )),
            Route::Side => Some(
                self.script.sides.pop_front().map_or_else(|| Reply::text("{}"), |step| step.reply(&request)),
            ),
        };
        let reply = reply.unwrap_or_else(|| {
            let asked = request.last_user_text().unwrap_or_default();
            let asked: String = asked.chars().take(200).collect();
            self.unexpected.push(format!("a request on {:?}, last user text {asked:?}", request.route));
            Reply::text("The script has ended.")
        });
        request.answered = matches!(reply.0, Answer::Message { .. });
        if request.route == Route::Compaction && request.answered {
            *self.compactions.entry(session.to_owned()).or_default() += 1;
        }
        self.answers += 1;
        if request.route == Route::Main && request.answered {
            self.newest_main.insert(session.to_owned(), message_id(self.answers));
        }
        self.requests.push(request);
        (reply, self.answers)
    }

    fn route(&self, request: &Request) -> Route {
        let has_tools = request.body["tools"].as_array().is_some_and(|tools| !tools.is_empty());
        if request.last_user_text().is_some_and(|text| text.starts_with(COMPACTION_MARK)) {
            return Route::Compaction;
        }
        if !has_tools {
            return Route::Side;
        }
        let prompt = self.script.subagents.keys().find(|prompt| request.starts_with_prompt(prompt));
        prompt.map_or(Route::Main, |prompt| Route::Subagent(prompt.clone()))
    }
}

fn message_id(answer: usize) -> String {
    format!("msg_scripted_{answer:04}")
}
