//! A conversation as a host wrote it down, in values that are the same for all hosts.
//!
//! Each host has one parser, from a line to an [`Entry`]; readers fold over entries and know no host. An entry borrows its line,
//! and texts are decoded only when a reader asks for them.

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
    /// What it tells.
    pub kind: Kind<'a>,
    /// The entry's own name.
    pub id: Option<Cow<'a, str>>,
    /// When it was written.
    pub at: Option<Millis>,
    /// The session that the host wrote it for.
    pub session: Option<Cow<'a, str>>,
    /// The branch that was checked out.
    pub branch: Option<Cow<'a, str>>,
    /// The host's version.
    pub version: Option<Cow<'a, str>>,
    /// It belongs to a subagent, not to the main thread.
    pub is_of_agent: bool,
    /// It stands for an answer that the host could not get.
    pub is_error: bool,
    /// What it adds to the conversation.
    pub content: Option<Content<'a>>,
}

/// What an entry tells.
#[derive(Clone, Debug)]
pub enum Kind<'a> {
    /// Something that stands where prompts do.
    Prompt(Prompt<'a>),
    /// A person typed this while the model worked.
    Added(Prompt<'a>),
    /// A part of an answer. One answer may be several entries.
    Answer(Answer<'a>),
    /// A tool's result.
    Result(ToolResult<'a>),
    /// The conversation was compacted.
    Boundary(Boundary<'a>),
    /// Anything else.
    Other,
}

/// A text for the model, from a person or from the host itself.
#[derive(Clone, Debug)]
pub struct Prompt<'a> {
    /// The host put it in without showing it.
    pub is_hidden: bool,
    /// The host repeats what hooks printed before a compaction.
    pub repeats_output: bool,
    /// The words of a person, if they are a person's.
    pub typed: Option<Typed<'a>>,
    /// The words, where the host says that it sent them by itself.
    pub sent: Option<Typed<'a>>,
}

/// Words that are decoded when they are asked for. Only then does it show whether a person typed them.
#[derive(Clone, Copy, Debug)]
pub struct Typed<'a> {
    /// JSON.
    pub json: &'a str,
    /// The host's way to read it.
    pub read: fn(&'a str) -> Option<String>,
}

impl Prompt<'_> {
    /// What a person typed, if a person did.
    pub fn typed(&self) -> Option<String> {
        self.typed.and_then(|typed| (typed.read)(typed.json))
    }
}

/// One entry of an answer.
#[derive(Clone, Debug)]
pub struct Answer<'a> {
    /// The same for all entries of one answer; may be empty.
    pub message: Cow<'a, str>,
    /// The model as it was asked for.
    pub model: Option<Cow<'a, str>>,
    /// What the request took.
    pub tokens: Option<Tokens>,
    /// The turn ends with it.
    pub ends_turn: bool,
    /// The host wrote it, not a model.
    pub is_of_host: bool,
}

/// Tokens of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tokens {
    /// What it held.
    pub used: u64,
    /// Those of the answer to it.
    pub answer: u64,
}

/// The result of a tool; its parts say of which calls.
#[derive(Clone, Debug)]
pub struct ToolResult<'a> {
    /// JSON in the tool's own form.
    pub output: &'a str,
    /// A hook decided about the call instead of a person.
    pub is_by_hook: bool,
}

/// One compaction.
#[derive(Clone, Debug)]
pub struct Boundary<'a> {
    /// The host's estimate of the tokens that are left.
    pub left: Option<u64>,
    /// The entries before it that the host kept whole.
    pub kept: Vec<Cow<'a, str>>,
}

/// What an entry adds to the conversation, not decoded yet.
#[derive(Clone, Copy, Debug)]
pub struct Content<'a> {
    /// JSON.
    pub json: &'a str,
    /// The host's way to read it.
    pub read: fn(&'a str) -> Option<Vec<Part<'a>>>,
}

/// One part of an entry's content.
#[derive(Clone, Debug)]
pub enum Part<'a> {
    /// A text.
    Text(LongText<'a>),
    /// A tool is called.
    Call(Call<'a>),
    /// A tool has answered.
    Result {
        /// The call.
        call: Option<Cow<'a, str>>,
        /// It failed.
        failed: bool,
    },
    /// The person interrupted the model.
    Interruption,
}

/// A call of a tool.
#[derive(Clone, Debug)]
pub struct Call<'a> {
    /// Its name, which the result repeats.
    pub id: Cow<'a, str>,
    /// The tool.
    pub tool: Cow<'a, str>,
    /// The tool edits files.
    pub is_edit: bool,
    /// The files that it edits.
    pub files: Vec<Cow<'a, str>>,
}

impl<'a> Part<'a> {
    /// The text, if it is one.
    pub fn text(&self) -> Option<LongText<'a>> {
        match self {
            Part::Text(text) => Some(*text),
            _ => None,
        }
    }
}

impl<'a> Content<'a> {
    /// Its parts; `None` where it has not the form of any.
    pub fn parts(self) -> Option<Vec<Part<'a>>> {
        (self.read)(self.json)
    }

    /// Everything in it as words, be it text, a call or its result.
    pub fn words(self) -> String {
        self.json.replace("\\n", "\n").replace("\\t", " ").replace("\\\"", "\"")
    }
}

impl<'a> Entry<'a> {
    /// The parts of its content.
    pub fn parts(&self) -> Vec<Part<'a>> {
        self.content.and_then(Content::parts).unwrap_or_default()
    }

    /// Whether a text of plain letters stands anywhere in it.
    pub fn mentions(&self, text: &str) -> bool {
        search::find(self.line, text.as_bytes()).is_some()
    }

    /// What a person typed into the main thread, at the beginning of a turn or while the model worked.
    pub fn typed_prompt(&self) -> Option<String> {
        match &self.kind {
            Kind::Prompt(prompt) | Kind::Added(prompt) if !self.is_of_agent => prompt.typed(),
            _ => None,
        }
    }
}

impl Entry<'_> {
    /// What the host sent to the main thread by itself, where a person's prompt would stand.
    pub fn sent_prompt(&self) -> Option<String> {
        match &self.kind {
            Kind::Prompt(prompt) if !self.is_of_agent => prompt.sent.and_then(|sent| (sent.read)(sent.json)),
            _ => None,
        }
    }
}

/// A kind of entry that a reader looks for. A parser passes over lines that cannot be of a kind that is sought, before it
/// parses them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sought {
    /// [`Kind::Prompt`], and [`Kind::Result`] with it: both stand in the same place.
    Prompts,
    /// [`Kind::Added`].
    Added,
    /// [`Kind::Answer`].
    Answers,
    /// [`Kind::Result`] alone.
    Results,
    /// [`Kind::Boundary`].
    Boundaries,
    /// A [`Kind::Prompt`] that repeats what hooks printed.
    RepeatedOutput,
}

/// Reads lines of one host's transcripts.
#[derive(Debug)]
pub struct Parser {
    /// A line that holds none of these is not sought. Without any, every line is.
    needles: Vec<Needle>,
    read: for<'a> fn(&'a [u8]) -> Option<Entry<'a>>,
}

impl Parser {
    /// Reads lines that hold one of these, in a host's way.
    pub(super) fn new(needles: Vec<Needle>, read: for<'a> fn(&'a [u8]) -> Option<Entry<'a>>) -> Parser {
        Parser { needles, read }
    }

    /// For a host whose transcripts cannot be read.
    pub(super) fn of_nothing() -> Parser {
        Parser::new(Vec::new(), |_| None)
    }

    /// The entry of a line; `None` where it is not sought, or is not one.
    pub fn entry<'a>(&self, line: &'a [u8]) -> Option<Entry<'a>> {
        if !self.needles.is_empty() && !self.needles.iter().any(|needle| needle.is_in(line)) {
            return None;
        }
        (self.read)(line)
    }

    /// The same for a line that mentions a text of plain letters, in whatever case. Others are not parsed.
    pub fn entry_that_mentions<'a>(&self, line: &'a [u8], text: &str) -> Option<Entry<'a>> {
        search::holds_in_any_case(line, text.as_bytes()).then(|| self.entry(line)).flatten()
    }
}

/// The lines of a whole transcript, but for empty ones.
pub fn lines(bytes: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty())
}
