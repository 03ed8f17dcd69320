//! Lines of other hosts as the entries that a walk understands, with the names that Claude Code has for tools.
//!
//! Core's own parsers read the lines. What they do not tell is left out: contents of files, skills, tasks in the
//! background, and whether a person asked for a compaction.

use std::collections::{HashMap, HashSet, VecDeque};
use std::path::Path;

use serde_json::{Value, json};
use tidegate_core::event::action::Exit;
use tidegate_core::host::Host;
use tidegate_core::host::transcript::{
    AnswerEntry, BoundaryEntry, CallResult, CallTask, CallText, ContentPart, ContextCount, Counted,
    EntryKind as HostEntry, LazyText, LineRead, RequestTokens, ToolCall, TranscriptEntry, TranscriptParser,
};
use tidegate_core::text::cut::cut_middle;

use crate::entry::{BoundaryMeta, Entry, EntryKind, Part, RequestUsage, plain_response};
use crate::walk::{INTERRUPTION, NEVER_RAN};

/// Bytes of one text.
const LONGEST: usize = 1024 * 1024;

pub(crate) struct OtherReader {
    host: Host,
    parser: TranscriptParser,
    line: usize,
    session: String,
    cwd: String,
    /// All of the file is a subagent's.
    is_of_agent: bool,
    /// Commands without a result so far.
    commands: HashSet<String>,
    /// Statuses that came before the results of their calls.
    exits: HashMap<String, Exit>,
    /// Edits of several files, each of which became a call: how many more there are.
    others: HashMap<String, usize>,
    /// The id of the last answer.
    answer: String,
    /// According to the host.
    window: Option<u64>,
    counted: Option<RequestTokens>,
    /// The host counts each request right after it.
    counts_requests: bool,
    /// The model writes a summary: its count is not the conversation's.
    is_summarising: bool,
}

impl OtherReader {
    pub(crate) fn new(host: Host) -> OtherReader {
        OtherReader {
            host,
            parser: host.parser(&[]),
            line: 0,
            session: String::new(),
            cwd: String::new(),
            is_of_agent: false,
            commands: HashSet::new(),
            exits: HashMap::new(),
            others: HashMap::new(),
            answer: String::new(),
            window: None,
            counted: None,
            counts_requests: false,
            is_summarising: false,
        }
    }

    /// A line that was too long to be read.
    pub(crate) fn skip(&mut self) {
        self.line += 1;
    }

    /// An error for a line that the host did not write.
    pub(crate) fn read(&mut self, line: &[u8], entries: &mut VecDeque<Entry>) -> Result<(), ()> {
        self.line += 1;
        let line = line.trim_ascii();
        if line.is_empty() {
            return Ok(());
        }
        let LineRead::Entry(read) = self.parser.read_line(line) else { return Err(()) };
        let mut cwd = None;
        if let Some(origin) = self.host.origin(&read) {
            self.session = origin.session.unwrap_or(std::mem::take(&mut self.session));
            self.is_of_agent |= origin.is_of_agent;
            cwd = origin.folder.filter(|folder| !folder.is_empty() && *folder != self.cwd);
        }
        if let Some(folder) = &cwd {
            self.cwd.clone_from(folder);
        }
        let blank = Entry {
            line: self.line,
            at: read.at,
            cwd,
            agent: (self.is_of_agent || read.is_of_agent).then(|| "agent".to_owned()),
            uuid: self.id_of(&read),
            ..Entry::default()
        };
        self.enter(&read, blank, entries);
        Ok(())
    }

    /// Not every line has one.
    fn id_of(&self, read: &TranscriptEntry<'_>) -> String {
        let message = match &read.kind {
            HostEntry::Answer(answer) if !answer.message.is_empty() => Some(answer.message.as_ref()),
            _ => read.id.as_deref(),
        };
        message.map_or_else(|| format!("{}:{}", self.session, self.line), str::to_owned)
    }

    fn enter(&mut self, read: &TranscriptEntry<'_>, blank: Entry, entries: &mut VecDeque<Entry>) {
        match &read.kind {
            HostEntry::Prompt(prompt) | HostEntry::Added(prompt) => {
                let is_added = matches!(read.kind, HostEntry::Added(_));
                let interrupts = read.parts().iter().any(|part| matches!(part, ContentPart::Interruption));
                let text = if interrupts { Some(INTERRUPTION.to_owned()) } else { prompt.typed() };
                let kind = if text.is_some() { EntryKind::Input } else { EntryKind::Other };
                let text = text.map(short).unwrap_or_default();
                entries.push_back(Entry { kind, text, is_queued: is_added, ..blank });
            }
            HostEntry::Answer(answer) if answer.is_of_host => {
                self.is_summarising = true;
                entries.push_back(blank);
            }
            HostEntry::Answer(answer) => entries.push_back(self.answer(read, answer, blank)),
            HostEntry::Result(_) => {
                let parts = read.parts().into_iter().filter_map(|part| match part {
                    ContentPart::Result(result) => Some(self.results(&result)),
                    _ => None,
                });
                let parts = parts.flatten().collect();
                entries.push_back(Entry { kind: EntryKind::Input, parts, ..blank });
            }
            HostEntry::Ended(end) => {
                if self.commands.contains(end.call.as_ref()) {
                    self.exits.insert(end.call.to_string(), end.exit);
                }
                entries.push_back(blank);
            }
            HostEntry::Count(count) => entries.push_back(self.count(read, *count, blank)),
            HostEntry::Boundary(boundary) => self.compact(read, boundary, blank, entries),
            HostEntry::Rewritten(_) | HostEntry::Began(_) | HostEntry::Patched(_) | HostEntry::Other => {
                entries.push_back(blank);
            }
        }
    }

    fn answer(&mut self, read: &TranscriptEntry<'_>, answer: &AnswerEntry<'_>, blank: Entry) -> Entry {
        let mut parts = Vec::new();
        for part in read.parts() {
            match part {
                ContentPart::Text(text) => parts.push(Part::Text(short(text.lossy().into_owned()))),
                ContentPart::Call(call) => self.calls(&call, &mut parts),
                ContentPart::Result(_) | ContentPart::Interruption => {}
            }
        }
        self.answer.clone_from(&blank.uuid);
        self.window = answer.window.or(self.window);
        let tokens = answer.tokens.filter(|_| blank.agent.is_none());
        let usage = tokens.map(|tokens| {
            let model = answer.model.as_ref().map(ToString::to_string);
            RequestUsage { model, ..self.usage(tokens) }
        });
        Entry { kind: EntryKind::Answer, parts, usage, ..blank }
    }

    /// Without an id: such an answer is known by its time and its tokens.
    fn usage(&self, tokens: RequestTokens) -> RequestUsage {
        RequestUsage {
            message: String::new(),
            model: None,
            used: tokens.used,
            answer: tokens.answer,
            window: self.window,
            client: None,
        }
    }

    fn calls(&mut self, call: &ToolCall<'_>, parts: &mut Vec<Part>) {
        let id = call.id.to_string();
        let mut push = |id: String, tool: &str, input: Value| {
            parts.push(Part::Call { id, tool: tool.to_owned(), input });
        };
        if call.is_edit && !call.files.is_empty() {
            for (at, file) in call.files.iter().enumerate() {
                let path = Path::new(&self.cwd).join(file.as_ref());
                push(nth(&id, at), "Edit", json!({"file_path": path.to_string_lossy()}));
            }
            if call.files.len() > 1 {
                self.others.insert(id, call.files.len() - 1);
            }
            return;
        }
        match &call.task {
            CallTask::Command(line) => {
                self.commands.insert(id.clone());
                push(id, "Bash", json!({"command": whole(line)}));
            }
            CallTask::Agent(task) => {
                let task = task.as_ref().map(whole).unwrap_or_default();
                push(id, "Task", json!({"description": task}));
            }
            CallTask::Question => push(id, "AskUserQuestion", json!({})),
            CallTask::Other => push(id, &call.tool, json!({})),
        }
    }

    fn results(&mut self, result: &CallResult<'_>) -> Vec<Part> {
        let id = result.call.as_deref().unwrap_or_default();
        let is_command = self.commands.remove(id);
        let exit = self.exits.remove(id).unwrap_or(result.exit);
        let others = self.others.remove(id).unwrap_or_default();
        let text = |text: &Option<LazyText<'_>>| text.as_ref().and_then(LazyText::text);
        let printed = text(&result.failure).or_else(|| text(&result.conclusion));
        let failed = result.failed || is_command && matches!(exit, Exit::Known(status) if status != 0);
        let output = match (&printed, exit) {
            // Only what ran left something.
            (None, Exit::Unknown) if failed => NEVER_RAN[0].to_owned(),
            (_, Exit::Known(status)) if failed && is_command => {
                format!("Exit code {status}\n{}", printed.unwrap_or_default())
            }
            _ => printed.unwrap_or_default(),
        };
        let output = short(output);
        let result = if is_command && !failed {
            let mut response = plain_response(&output);
            // As Claude Code says that a status is not known.
            response["interrupted"] = json!(exit == Exit::Unknown);
            response
        } else {
            Value::Null
        };
        let part =
            |at| Part::Result { id: nth(id, at), failed, output: output.clone(), result: result.clone() };
        (0..=others).map(part).collect()
    }

    /// The tokens of an answer that is a line of its own.
    fn count(&mut self, read: &TranscriptEntry<'_>, count: ContextCount, blank: Entry) -> Entry {
        self.window = count.window.or(self.window);
        if read.is_of_agent || self.is_of_agent || self.is_summarising {
            return blank;
        }
        self.counts_requests |= count.of == Counted::Request;
        let tokens = count.tokens.filter(|tokens| match count.of {
            Counted::Request => true,
            Counted::Earlier => !self.counts_requests && self.counted != Some(*tokens),
            Counted::Estimate => false,
        });
        let Some(tokens) = tokens else { return blank };
        self.counted = Some(tokens);
        let usage = Some(self.usage(tokens));
        Entry { kind: EntryKind::Answer, uuid: self.answer.clone(), usage, ..blank }
    }

    fn compact(
        &mut self,
        read: &TranscriptEntry<'_>,
        boundary: &BoundaryEntry<'_>,
        blank: Entry,
        entries: &mut VecDeque<Entry>,
    ) {
        self.is_summarising = false;
        self.counted = None;
        let texts: Vec<String> =
            read.parts().iter().filter_map(ContentPart::text).map(|text| text.lossy().into_owned()).collect();
        let summary = boundary.summary.as_ref().and_then(LazyText::text);
        let meta = BoundaryMeta { texts, ..BoundaryMeta::default() };
        let after = Entry {
            line: blank.line,
            at: blank.at,
            agent: blank.agent.clone(),
            kind: EntryKind::Input,
            is_summary: true,
            ..Entry::default()
        };
        let subtype = "compact_boundary".to_owned();
        entries.push_back(Entry { kind: EntryKind::System, subtype, boundary: Some(meta), ..blank });
        entries.extend(summary.map(|text| Entry { text: short(text), ..after }));
    }
}

/// The id of a call for each file of an edit.
fn nth(id: &str, at: usize) -> String {
    if at == 0 { id.to_owned() } else { format!("{id} {at}") }
}

fn whole(text: &CallText<'_>) -> String {
    text.head(LONGEST).into_owned()
}

/// What a run says about itself is at its end.
fn short(text: String) -> String {
    if text.len() <= LONGEST { text } else { cut_middle(&text, (LONGEST / 2, LONGEST / 2)) }
}
