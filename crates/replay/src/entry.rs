//! One line of a transcript, with no more of it than a replay needs.
//!
//! Most bytes of a transcript are contents of files and outputs, often twice. They are skipped where they stand: a line of
//! 100 MB is in memory once. Everything that is kept has a limit.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::{Map, Value, json};
use tidegate_core::host::Host;
use tidegate_core::host::transcript::{EntryKind as HostEntry, Sought, TranscriptParser};
use tidegate_core::text::json::{Field, LongText};
use tidegate_core::time::Millis;

use crate::members::{Members, list, plain_text};
use crate::seen_files;
use crate::transcript::Reads;

/// Bytes of JSON of one text. Longer ones lose their end, outputs their middle.
const LONGEST_TEXT: usize = 1024 * 1024;

/// The same of a structured result or an input.
const LONGEST_VALUE: usize = 1024 * 1024;

/// Bytes of a message that may be compared with lost facts, should a compaction keep it.
const LONGEST_KEPT: usize = 64 * 1024;

/// The contents of files are large, and hooks do not look at them.
pub(crate) const CONTENTS: [&str; 6] =
    ["content", "old_string", "new_string", "edits", "new_source", "prompt"];

impl<'a> Members<'a> {
    fn text(&self, name: &str) -> Option<Cow<'a, str>> {
        self.get(name).and_then(short_text)
    }

    fn owned(&self, name: &str) -> String {
        self.text(name).unwrap_or_default().into_owned()
    }

    fn is_set(&self, name: &str) -> bool {
        self.get(name) == Some("true")
    }

    fn number(&self, name: &str) -> Option<u64> {
        self.get(name)?.parse().ok()
    }
}

fn long_text(json: &str) -> Option<LongText<'_>> {
    serde_json::from_str::<Field<LongText<'_>>>(json).ok()?.value()
}

/// The beginning of a text.
fn short_text(json: &str) -> Option<Cow<'_, str>> {
    if json.len() <= LONGEST_TEXT
        && let Some(plain) = plain_text(json)
    {
        return Some(Cow::Borrowed(plain));
    }
    let text = long_text(json)?;
    Some(if json.len() <= LONGEST_TEXT { text.lossy() } else { text.head(LONGEST_TEXT) })
}

/// Of a longer output its beginning and its end.
fn output_text(json: &str) -> Option<String> {
    let text = long_text(json)?;
    if json.len() <= LONGEST_TEXT {
        return Some(text.lossy().into_owned());
    }
    Some(format!("{}\n…\n{}", text.head(LONGEST_TEXT / 2), text.tail(LONGEST_TEXT / 2)))
}

/// A longer text is cut, anything else that is longer is left out.
fn short_value(json: &str) -> Value {
    if json.len() <= LONGEST_VALUE {
        return serde_json::from_str(json).unwrap_or_default();
    }
    output_text(json).map_or(Value::Null, Value::String)
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum EntryKind {
    System,
    Attachment,
    Answer,
    Input,
    /// A person typed while the model worked.
    QueueOperation,
    #[default]
    Other,
}

/// The parts that matter here, taken out of the form in which a subagent's entry is wrapped.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "flags of the wire")]
pub(crate) struct Entry {
    /// In the file, counted from 1.
    pub(crate) line: usize,
    pub(crate) kind: EntryKind,
    pub(crate) at: Option<Millis>,
    pub(crate) cwd: Option<String>,
    /// `None` on the main thread.
    pub(crate) agent: Option<String>,
    pub(crate) uuid: String,
    pub(crate) is_meta: bool,
    pub(crate) is_summary: bool,
    pub(crate) is_api_error: bool,
    pub(crate) is_queued: bool,
    /// An answer that the client wrote itself.
    pub(crate) is_synthetic: bool,
    pub(crate) subtype: String,
    pub(crate) usage: Option<RequestUsage>,
    pub(crate) parts: Vec<Part>,
    /// All texts of an input or attachment.
    pub(crate) text: String,
    pub(crate) boundary: Option<BoundaryMeta>,
    /// JSON of the message, for the main thread.
    pub(crate) content: String,
}

#[derive(Debug)]
pub(crate) enum Part {
    Text(String),
    Call { id: String, tool: String, input: Value },
    Result { id: String, failed: bool, output: String, result: Value },
}

/// What the host's model counted for one answer of the main thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestUsage {
    /// The answer's id: the client writes an answer block by block, each time with its usage.
    pub message: String,
    /// As requested, with `[1m]` if there was one.
    pub model: Option<String>,
    pub used: u64,
    pub answer: u64,
    /// According to the host, if it says so.
    pub window: Option<u64>,
    /// The client's version.
    pub client: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct BoundaryMeta {
    pub(crate) is_by_hand: bool,
    pub(crate) tokens_before: Option<u64>,
    /// Ids of messages that the host kept whole.
    pub(crate) kept: Vec<String>,
    /// Messages that the host repeats here.
    pub(crate) texts: Vec<String>,
}

/// What the structured result of a call is needed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ResultUse {
    /// As the hook's response.
    Response,
    /// It shows a file that tells how the project is tested.
    File,
}

/// Reads lines of one transcript in their order: the tool of a call tells what is kept of its result.
pub(crate) struct EntryReader {
    reads: Reads,
    answers: TranscriptParser,
    /// Calls without a result so far, by id.
    calls: HashMap<String, ResultUse>,
    line: usize,
    /// Lines up to this one are known to be JSON objects.
    sound: usize,
    /// The answer whose usage was read last: each of its blocks repeats it.
    counted: String,
}

impl EntryReader {
    pub(crate) fn new(reads: Reads) -> EntryReader {
        let answers = Host::ClaudeCode.parser(&[Sought::Answers]);
        EntryReader { reads, answers, calls: HashMap::new(), line: 0, sound: 0, counted: String::new() }
    }

    /// Lines so far.
    pub(crate) fn lines(&self) -> usize {
        self.line
    }

    /// Lines up to this one were read before, and are JSON objects.
    pub(crate) fn trust(&mut self, lines: usize) {
        self.sound = lines;
    }

    /// A line that was too long to be read.
    pub(crate) fn skip(&mut self) {
        self.line += 1;
    }

    /// `Ok(None)` for an empty line, an error for one that is not a JSON object.
    pub(crate) fn read(&mut self, line: &[u8]) -> Result<Option<Entry>, ()> {
        self.line += 1;
        let text = std::str::from_utf8(line).map_or_else(|_| String::from_utf8_lossy(line), Cow::Borrowed);
        let text = text.trim();
        if text.is_empty() {
            return Ok(None);
        }
        // The file may be another one by now, which costs no more than wrong entries.
        let whole = if self.line <= self.sound { Members::within(text) } else { Members::of(text) };
        let whole = whole.ok_or(())?;
        let mut entry = Entry {
            line: self.line,
            at: whole.text("timestamp").and_then(|at| Millis::from_iso(&at)),
            cwd: whole.text("cwd").filter(|cwd| !cwd.is_empty()).map(Cow::into_owned),
            ..Entry::default()
        };
        let kind = whole.text("type").unwrap_or_default();
        let data = if kind == "progress" { whole.object("data") } else { None };
        let wrapped = data.filter(|data| data.text("type").is_some_and(|kind| kind == "agent_progress"));
        let agent = match &wrapped {
            Some(data) => Some(data.owned("agentId")),
            None => whole.is_set("isSidechain").then(|| whole.owned("agentId")),
        };
        entry.agent = agent.map(|id| if id.is_empty() { "agent".to_owned() } else { id });
        let inner = wrapped.and_then(|data| data.object("message"));
        let inner = inner.as_ref().unwrap_or(&whole);
        entry.kind = match inner.text("type").as_deref() {
            Some("system") => EntryKind::System,
            Some("attachment") => EntryKind::Attachment,
            Some("assistant") => EntryKind::Answer,
            Some("user") => EntryKind::Input,
            Some("queue-operation") => EntryKind::QueueOperation,
            _ => return Ok(Some(entry)),
        };
        entry.uuid = whole.owned("uuid");
        entry.is_meta = whole.is_set("isMeta");
        match entry.kind {
            EntryKind::System => read_system(&mut entry, &whole),
            EntryKind::Attachment => {
                let queued = whole.object("attachment").filter(|it| it.owned("type") == "queued_command");
                if let Some(prompt) = queued.and_then(|it| it.get("prompt")) {
                    "queued_command".clone_into(&mut entry.subtype);
                    entry.text = join_text(prompt);
                }
            }
            EntryKind::Answer => self.read_answer(&mut entry, &whole, inner, text),
            EntryKind::Input => self.read_input(&mut entry, &whole, inner),
            EntryKind::QueueOperation | EntryKind::Other => {}
        }
        Ok(Some(entry))
    }

    fn read_answer(&mut self, entry: &mut Entry, whole: &Members<'_>, inner: &Members<'_>, line: &str) {
        entry.is_api_error = whole.is_set("isApiErrorMessage");
        let Some(message) = inner.object("message") else { return };
        entry.is_synthetic = message.text("model").is_some_and(|model| model == "<synthetic>");
        let content = message.get("content").unwrap_or_default();
        self.keep_content(entry, content);
        if content.starts_with('"') {
            entry.parts.extend(short_text(content).map(|text| Part::Text(text.into_owned())));
        }
        for block in list(content).into_iter().filter_map(Members::within) {
            match block.text("type").as_deref() {
                Some("text") => entry.parts.push(Part::Text(block.owned("text"))),
                Some("tool_use") => entry.parts.push(self.read_call(&block)),
                _ => {}
            }
        }
        let is_counted = self.reads != Reads::Files && entry.agent.is_none() && !entry.is_api_error;
        let id = message.text("id").unwrap_or_default();
        let is_new = id.is_empty() || id != self.counted;
        if is_counted
            && is_new
            && let Some(read) = self.answers.entry(line.as_bytes())
        {
            entry.usage = usage_of(&read.kind, whole);
            if entry.usage.is_some() {
                self.counted = id.into_owned();
            }
        }
    }

    fn keep_content(&self, entry: &mut Entry, content: &str) {
        if self.reads != Reads::Files && entry.agent.is_none() && content.len() <= LONGEST_KEPT {
            content.clone_into(&mut entry.content);
        }
    }

    fn read_call(&mut self, block: &Members<'_>) -> Part {
        let (id, tool) = (block.owned("id"), block.owned("name"));
        let members = block.object("input").unwrap_or_default();
        let is_shown = self.reads != Reads::Moments && seen_files::shows_file(&tool) && {
            let path = members.text("file_path").unwrap_or_default();
            seen_files::is_of_interest(&seen_files::with_slashes(&path))
        };
        let is_kept = |name: &str| is_shown || !CONTENTS.contains(&name);
        let input: Map<String, Value> = members
            .iter()
            .filter(|(name, _)| is_kept(name))
            .map(|(name, value)| (name.to_owned(), short_value(value)))
            .collect();
        let result = match tool.as_str() {
            "Bash" => Some(ResultUse::Response),
            "Skill" | "Agent" | "Task" | "BashOutput" | "TaskOutput" if self.reads != Reads::Files => {
                Some(ResultUse::Response)
            }
            _ if is_shown => Some(ResultUse::File),
            _ => None,
        };
        if let Some(result) = result {
            self.calls.insert(id.clone(), result);
        }
        Part::Call { id, tool, input: Value::Object(input) }
    }

    fn read_input(&mut self, entry: &mut Entry, whole: &Members<'_>, inner: &Members<'_>) {
        entry.is_summary = whole.is_set("isCompactSummary");
        entry.is_queued = whole.is_set("isQueued");
        let Some(message) = inner.object("message") else { return };
        let content = message.get("content").unwrap_or_default();
        self.keep_content(entry, content);
        if !content.starts_with('[') {
            entry.text = join_text(content);
            return;
        }
        let mut texts = Vec::new();
        for part in list(content) {
            let Some(block) = Members::within(part) else {
                texts.extend(short_text(part));
                continue;
            };
            match block.text("type").as_deref() {
                Some("text") => texts.extend(block.text("text")),
                Some("tool_result") => entry.parts.push(self.read_result(&block, inner.get("toolUseResult"))),
                _ => {}
            }
        }
        entry.text = texts.join("\n");
    }

    fn read_result(&mut self, block: &Members<'_>, result: Option<&str>) -> Part {
        let (id, failed) = (block.owned("tool_use_id"), block.is_set("is_error"));
        let wanted = self.calls.remove(&id);
        let has_hooks = self.reads != Reads::Files;
        // Of a call that failed the hooks hear why.
        let is_read = failed && has_hooks || wanted == Some(ResultUse::Response);
        let output = block.get("content").filter(|_| is_read).map(join_output).unwrap_or_default();
        let result = match (wanted, result.filter(|_| !failed)) {
            (Some(ResultUse::Response), Some(result)) if has_hooks => response(result),
            (Some(ResultUse::File), Some(result)) => short_value(result),
            _ => Value::Null,
        };
        Part::Result { id, failed, output, result }
    }
}

fn usage_of(read: &HostEntry<'_>, line: &Members<'_>) -> Option<RequestUsage> {
    let HostEntry::Answer(answer) = read else { return None };
    let tokens = answer.tokens.filter(|tokens| tokens.used > 0 && !answer.is_of_host)?;
    Some(RequestUsage {
        message: answer.message.to_string(),
        model: answer.model.as_ref().map(ToString::to_string),
        used: tokens.used,
        answer: tokens.answer,
        window: None,
        client: line.text("version").map(Cow::into_owned),
    })
}

fn read_system(entry: &mut Entry, whole: &Members<'_>) {
    entry.subtype = whole.owned("subtype");
    if entry.subtype != "compact_boundary" {
        return;
    }
    let meta = whole.object("compactMetadata").unwrap_or_default();
    let kept = meta.object("preservedMessages").and_then(|kept| kept.get("uuids"));
    entry.boundary = Some(BoundaryMeta {
        is_by_hand: meta.text("trigger").is_some_and(|trigger| trigger == "manual"),
        tokens_before: meta.number("preTokens"),
        kept: kept
            .map(list)
            .unwrap_or_default()
            .into_iter()
            .filter_map(short_text)
            .map(Cow::into_owned)
            .collect(),
        texts: Vec::new(),
    });
}

/// The whole result of a tool whose response hooks read. Of a longer one its texts are cut, and long lists left out.
fn response(result: &str) -> Value {
    if result.len() <= LONGEST_VALUE / 16 {
        return short_value(result);
    }
    let Some(members) = Members::within(result) else { return Value::Null };
    let member = |(name, value): (&str, &str)| {
        let is_long = value.len() > LONGEST_VALUE / 16;
        let is_text = value.starts_with('"');
        (!is_long || is_text).then(|| (name.to_owned(), short_value(value)))
    };
    Value::Object(members.iter().filter_map(member).collect())
}

fn join_text(content: &str) -> String {
    join_parts(content, |json| short_text(json).map(Cow::into_owned))
}

fn join_output(content: &str) -> String {
    join_parts(content, output_text)
}

/// All texts, one below the other.
fn join_parts(content: &str, read: fn(&str) -> Option<String>) -> String {
    let text = |json: &str| {
        if json.starts_with('"') {
            return read(json);
        }
        let block = Members::within(json)?;
        block.text("type").filter(|kind| kind == "text")?;
        block.get("text").and_then(read)
    };
    if content.starts_with('[') {
        return list(content).into_iter().filter_map(text).collect::<Vec<_>>().join("\n");
    }
    text(content).unwrap_or_default()
}

/// Everything in a message as words: texts, calls and results.
pub(crate) fn words_of(content: &str) -> String {
    content.replace("\\n", "\n").replace("\\t", " ").replace("\\\"", "\"")
}

/// The response of a call whose result has no structure, as those of subagents.
pub(crate) fn plain_response(output: &str) -> Value {
    json!({"stdout": output, "stderr": "", "interrupted": false})
}
