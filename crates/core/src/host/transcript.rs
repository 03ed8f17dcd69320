//! A conversation as a host wrote it down, in values that are the same for all hosts.
//!
//! Each host has one parser, from a line to a [`TranscriptEntry`]; readers fold over entries and know no
//! host. An entry borrows
//! its line, and texts are decoded only when a reader asks for them.

use std::borrow::Cow;

use crate::text::json::LongText;
use crate::text::search;
use crate::text::search::Needle;
use crate::time::Millis;

/// One line of a transcript.
#[derive(Clone, Debug)]
pub struct Entry<'a> {
    /// As the host wrote it.
    pub line: &'a [u8],
    pub kind: Kind<'a>,
    pub id: Option<Cow<'a, str>>,
    pub at: Option<Millis>,
    /// The session that the host wrote it for.
    pub session: Option<Cow<'a, str>>,
    /// The branch that was checked out.
    pub branch: Option<Cow<'a, str>>,
    /// The host's version.
    pub version: Option<Cow<'a, str>>,
    /// From a subagent, not from the main thread.
    pub is_of_agent: bool,
    /// In place of an answer that the host could not get.
    pub is_error: bool,
    pub content: Option<Content<'a>>,
}

#[derive(Clone, Debug)]
pub enum Kind<'a> {
    /// Any text in the place of a prompt.
    Prompt(Prompt<'a>),
    /// Typed by a person while the model worked.
    Added(Prompt<'a>),
    /// One answer may be several entries.
    Answer(Answer<'a>),
    Result(ToolResult<'a>),
    Boundary(Boundary<'a>),
    Other,
}

/// A text for the model, from a person or from the host itself.
#[derive(Clone, Debug)]
pub struct Prompt<'a> {
    /// Inserted by the host without showing it.
    pub is_hidden: bool,
    /// The host repeats the output of hooks before a compaction.
    pub repeats_output: bool,
    /// Set if a person may have typed it.
    pub typed: Option<Typed<'a>>,
    /// Set if the host says that it sent the text itself.
    pub sent: Option<Typed<'a>>,
}

/// A text decoded on demand. Only decoding shows whether a person typed it.
#[derive(Clone, Copy, Debug)]
pub struct Typed<'a> {
    pub json: &'a str,
    /// The host's decoder.
    pub read: fn(&'a str) -> Option<String>,
}

impl Prompt<'_> {
    /// `None` if it was not typed by a person.
    pub fn typed(&self) -> Option<String> {
        self.typed.and_then(|typed| (typed.read)(typed.json))
    }
}

#[derive(Clone, Debug)]
pub struct Answer<'a> {
    /// The same for all entries of one answer; may be empty.
    pub message: Cow<'a, str>,
    /// As the host was asked for it.
    pub model: Option<Cow<'a, str>>,
    pub tokens: Option<Tokens>,
    pub ends_turn: bool,
    /// Written by the host, not by a model.
    pub is_of_host: bool,
}

/// Tokens of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tokens {
    pub used: u64,
    pub answer: u64,
}

/// Its parts name the calls.
#[derive(Clone, Debug)]
pub struct ToolResult<'a> {
    /// JSON in the tool's own form.
    pub output: &'a str,
    /// A hook instead of a person decided about the call.
    pub is_by_hook: bool,
}

#[derive(Clone, Debug)]
pub struct Boundary<'a> {
    /// The host's estimate of the remaining tokens.
    pub left: Option<u64>,
    /// Ids of earlier entries that the host kept whole.
    pub kept: Vec<Cow<'a, str>>,
}

/// Decoded on demand.
#[derive(Clone, Copy, Debug)]
pub struct Content<'a> {
    pub json: &'a str,
    /// The host's decoder.
    pub read: fn(&'a str) -> Option<Vec<Part<'a>>>,
}

#[derive(Clone, Debug)]
pub enum Part<'a> {
    Text(LongText<'a>),
    Call(Call<'a>),
    Result { call: Option<Cow<'a, str>>, failed: bool },
    Interruption,
}

#[derive(Clone, Debug)]
pub struct Call<'a> {
    /// Repeated in the result.
    pub id: Cow<'a, str>,
    pub tool: Cow<'a, str>,
    /// The tool edits files.
    pub is_edit: bool,
    pub files: Vec<Cow<'a, str>>,
}

impl<'a> Part<'a> {
    pub fn text(&self) -> Option<LongText<'a>> {
        match self {
            Part::Text(text) => Some(*text),
            _ => None,
        }
    }
}

impl<'a> Content<'a> {
    /// `None` if it does not have the form of any.
    pub fn parts(self) -> Option<Vec<Part<'a>>> {
        (self.read)(self.json)
    }

    /// Everything as words: texts, calls and results.
    pub fn words(self) -> String {
        self.json.replace("\\n", "\n").replace("\\t", " ").replace("\\\"", "\"")
    }
}

impl<'a> Entry<'a> {
    pub fn parts(&self) -> Vec<Part<'a>> {
        self.content.and_then(Content::parts).unwrap_or_default()
    }

    /// `text` must be plain letters: the line is searched undecoded.
    pub fn mentions(&self, text: &str) -> bool {
        search::find(self.line, text.as_bytes()).is_some()
    }

    /// Typed by a person into the main thread, at the beginning of a turn or while the model worked.
    pub fn typed_prompt(&self) -> Option<String> {
        match &self.kind {
            Kind::Prompt(prompt) | Kind::Added(prompt) if !self.is_of_agent => prompt.typed(),
            _ => None,
        }
    }
}

impl Entry<'_> {
    /// Sent by the host to the main thread, in place of a person's prompt.
    pub fn sent_prompt(&self) -> Option<String> {
        match &self.kind {
            Kind::Prompt(prompt) if !self.is_of_agent => prompt.sent.and_then(|sent| (sent.read)(sent.json)),
            _ => None,
        }
    }
}

/// A kind of entry that a reader needs. The parser skips lines of other kinds before it parses them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sought {
    /// [`EntryKind::Prompt`], and [`EntryKind::Result`] with it: both look the same before parsing.
    Prompts,
    Added,
    Answers,
    /// [`EntryKind::Result`] alone.
    Results,
    Boundaries,
    /// An [`EntryKind::Prompt`] that repeats the output of hooks.
    RepeatedOutput,
}

#[derive(Debug)]
pub struct Parser {
    /// Lines without any of these are skipped. Empty: every line is parsed.
    needles: Vec<Needle>,
    read: for<'a> fn(&'a [u8]) -> Option<Entry<'a>>,
}

impl Parser {
    pub(super) fn new(needles: Vec<Needle>, read: for<'a> fn(&'a [u8]) -> Option<Entry<'a>>) -> Parser {
        Parser { needles, read }
    }

    /// For a host whose transcripts cannot be read.
    pub(super) fn of_nothing() -> Parser {
        Parser::new(Vec::new(), |_| None)
    }

    /// `None` if the line is skipped or is not an entry.
    pub fn entry<'a>(&self, line: &'a [u8]) -> Option<Entry<'a>> {
        if !self.needles.is_empty() && !self.needles.iter().any(|needle| needle.is_in(line)) {
            return None;
        }
        (self.read)(line)
    }

    /// Only for a line that contains `text`, plain letters, in any case.
    pub fn entry_that_mentions<'a>(&self, line: &'a [u8], text: &str) -> Option<Entry<'a>> {
        search::holds_in_any_case(line, text.as_bytes()).then(|| self.entry(line)).flatten()
    }
}

/// Without empty lines.
pub fn lines(bytes: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty())
}
