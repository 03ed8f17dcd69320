//! A conversation as a host wrote it down, in values that are the same for all hosts.
//!
//! Each host has one parser, from a line to a [`TranscriptEntry`]; readers fold over entries and know no
//! host. An entry borrows its line, and texts are decoded only when a reader asks for them.

use std::borrow::Cow;

use crate::event::action::{Exit, QuestionAnswers};
use crate::text::cut::first_bytes;
use crate::text::json::LongText;
use crate::text::search;
use crate::text::search::Needle;
use crate::time::Millis;

/// One line of a transcript.
#[derive(Clone, Debug)]
pub struct TranscriptEntry<'a> {
    /// As the host wrote it.
    pub line: &'a [u8],
    pub kind: EntryKind<'a>,
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
    pub content: Option<EntryContent<'a>>,
}

#[derive(Clone, Debug)]
pub enum EntryKind<'a> {
    /// Any text in the place of a prompt.
    Prompt(PromptEntry<'a>),
    /// Came while the model worked.
    Added(PromptEntry<'a>),
    /// A hook changed the arguments of this call before it ran.
    Rewritten(String),
    /// One answer may be several entries.
    Answer(AnswerEntry<'a>),
    Result(ToolResult<'a>),
    /// A command begins; not part of the conversation. The entry has the time.
    Began(CommandStart<'a>),
    /// A command has ended; not part of the conversation.
    Ended(CommandEnd<'a>),
    /// The host has dealt with a patch; not part of the conversation.
    Patched(PatchEnd<'a>),
    /// The host's own count of the context.
    Count(ContextCount),
    Boundary(BoundaryEntry<'a>),
    Other,
}

/// A text for the model, from a person or from the host itself.
#[derive(Clone, Debug)]
pub struct PromptEntry<'a> {
    /// Inserted by the host without showing it.
    pub is_hidden: bool,
    /// The host repeats the output of hooks before a compaction.
    pub repeats_output: bool,
    /// Set if a person may have typed it.
    pub typed: Option<LazyText<'a>>,
    /// Set if the host says that it sent the text itself.
    pub sent: Option<LazyText<'a>>,
    /// Set if the text may be the answer of an agent that worked in the background.
    pub conclusion: Option<LazyText<'a>>,
}

/// A text decoded on demand. Only decoding shows whether a person typed it.
#[derive(Clone, Copy, Debug)]
pub struct LazyText<'a> {
    pub json: &'a str,
    /// The host's decoder.
    pub read: fn(&'a str) -> Option<String>,
}

impl LazyText<'_> {
    pub fn text(&self) -> Option<String> {
        (self.read)(self.json)
    }
}

impl PromptEntry<'_> {
    /// `None` if it was not typed by a person.
    pub fn typed(&self) -> Option<String> {
        self.typed.as_ref().and_then(LazyText::text)
    }
}

#[derive(Clone, Debug)]
pub struct AnswerEntry<'a> {
    /// The same for all entries of one answer; may be empty.
    pub message: Cow<'a, str>,
    /// As the host was asked for it.
    pub model: Option<Cow<'a, str>>,
    pub tokens: Option<RequestTokens>,
    /// Of its model, according to the host.
    pub window: Option<u64>,
    pub ends_turn: bool,
    /// Written by the host, not by a model.
    pub is_of_host: bool,
}

#[derive(Clone, Debug)]
pub struct CommandStart<'a> {
    pub call: Cow<'a, str>,
    pub line: CallText<'a>,
}

/// In the place of an exit status that a host does not give to its hooks.
#[derive(Clone, Debug)]
pub struct CommandEnd<'a> {
    pub call: Cow<'a, str>,
    /// `None` if the host does not say which command it was.
    pub line: Option<CallText<'a>>,
    /// The conversation it ran in.
    pub thread: Option<Cow<'a, str>>,
    pub began: Option<Millis>,
    pub exit: Exit,
}

/// In the place of an event after an edit.
#[derive(Clone, Debug)]
pub struct PatchEnd<'a> {
    pub call: Cow<'a, str>,
    /// The conversation it was made in.
    pub thread: Option<Cow<'a, str>>,
    pub began: Option<Millis>,
    pub at: Option<Millis>,
    /// Whole paths; empty if nothing was applied.
    pub files: Vec<Cow<'a, str>>,
    /// It ended at one of the files, and those before it may be changed.
    pub failed: bool,
}

/// Written apart from the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextCount {
    pub of: Counted,
    pub tokens: Option<RequestTokens>,
    pub window: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// Right after an answer.
    Request,
    /// Of an earlier request, or of none.
    Earlier,
    /// The host's estimate after a boundary.
    Estimate,
}

/// Tokens of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestTokens {
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
    /// The host's decoder.
    pub answers: fn(&str) -> Option<QuestionAnswers>,
}

impl ToolResult<'_> {
    /// If the call asked a person, and the person answered.
    pub fn answers(&self) -> Option<QuestionAnswers> {
        if self.is_by_hook { None } else { (self.answers)(self.output) }
    }
}

#[derive(Clone, Debug)]
pub struct BoundaryEntry<'a> {
    /// The host's estimate of the remaining tokens.
    pub left: Option<u64>,
    /// Ids of earlier entries that the host kept whole.
    pub kept: Vec<Cow<'a, str>>,
    /// Where the host writes it into this entry. The entry's content then holds the texts that it kept.
    pub summary: Option<LazyText<'a>>,
}

/// Decoded on demand.
#[derive(Clone, Copy, Debug)]
pub struct EntryContent<'a> {
    pub json: &'a str,
    /// The host's decoder.
    pub read: fn(&'a str) -> Option<Vec<ContentPart<'a>>>,
}

#[derive(Clone, Debug)]
pub enum ContentPart<'a> {
    Text(LongText<'a>),
    Call(ToolCall<'a>),
    Result(CallResult<'a>),
    Interruption,
}

#[derive(Clone, Debug)]
pub struct CallResult<'a> {
    pub call: Option<Cow<'a, str>>,
    pub failed: bool,
    /// Of a command, where this result tells it.
    pub exit: Exit,
    /// The answer of an agent that has ended, or what a command printed.
    pub conclusion: Option<LazyText<'a>>,
    /// What a command printed that ended with an error.
    pub failure: Option<LazyText<'a>>,
}

#[derive(Clone, Debug)]
pub struct ToolCall<'a> {
    /// Repeated in the result.
    pub id: Cow<'a, str>,
    pub tool: Cow<'a, str>,
    /// The tool edits files.
    pub is_edit: bool,
    pub files: Vec<Cow<'a, str>>,
    pub task: CallTask<'a>,
}

/// As far as a reader of the conversation wants to know.
#[derive(Clone, Debug)]
pub enum CallTask<'a> {
    /// A command line.
    Command(CallText<'a>),
    /// An agent's work, in a few words.
    Agent(Option<CallText<'a>>),
    /// The person is asked.
    Question,
    Other,
}

/// A text in the arguments of a call.
#[derive(Clone, Debug)]
pub enum CallText<'a> {
    InLine(LongText<'a>),
    /// The host writes arguments as JSON within a JSON text.
    Decoded(String),
}

impl CallText<'_> {
    pub fn is(&self, line: &str) -> bool {
        match self {
            CallText::InLine(text) => text.lossy() == line,
            CallText::Decoded(text) => text == line,
        }
    }

    /// About this many bytes from its beginning.
    pub fn head(&self, bytes: usize) -> Cow<'_, str> {
        match self {
            CallText::InLine(text) => text.head(bytes),
            CallText::Decoded(text) => Cow::Borrowed(first_bytes(text, bytes)),
        }
    }
}

impl<'a> ContentPart<'a> {
    pub fn text(&self) -> Option<LongText<'a>> {
        match self {
            ContentPart::Text(text) => Some(*text),
            _ => None,
        }
    }
}

impl<'a> EntryContent<'a> {
    /// `None` if it does not have the form of any.
    pub fn parts(self) -> Option<Vec<ContentPart<'a>>> {
        (self.read)(self.json)
    }

    /// Everything as words: texts, calls and results.
    pub fn words(self) -> String {
        self.json.replace("\\n", "\n").replace("\\t", " ").replace("\\\"", "\"")
    }
}

impl<'a> TranscriptEntry<'a> {
    pub fn parts(&self) -> Vec<ContentPart<'a>> {
        self.content.and_then(EntryContent::parts).unwrap_or_default()
    }

    /// `text` must be plain letters: the line is searched undecoded.
    pub fn mentions(&self, text: &str) -> bool {
        search::find(self.line, text.as_bytes()).is_some()
    }

    /// Typed by a person into the main thread, at the beginning of a turn or while the model worked.
    pub fn typed_prompt(&self) -> Option<String> {
        match &self.kind {
            EntryKind::Prompt(prompt) | EntryKind::Added(prompt) if !self.is_of_agent => prompt.typed(),
            _ => None,
        }
    }
}

impl TranscriptEntry<'_> {
    /// Sent by the host to the main thread, in place of a person's prompt.
    pub fn sent_prompt(&self) -> Option<String> {
        match &self.kind {
            EntryKind::Prompt(prompt) if !self.is_of_agent => prompt.sent.as_ref().and_then(LazyText::text),
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
    /// [`EntryKind::Rewritten`]
    Rewritten,
    Answers,
    /// [`EntryKind::Result`] alone.
    Results,
    Boundaries,
    /// An [`EntryKind::Prompt`] that repeats the output of hooks.
    RepeatedOutput,
    /// [`EntryKind::Began`], with the [`EntryKind::Result`] of those that have ended and the [`EntryKind::Answer`] that
    /// made the calls.
    Beginnings,
    /// [`EntryKind::Ended`].
    Endings,
    /// [`EntryKind::Patched`].
    Patches,
    /// [`EntryKind::Count`].
    Counts,
    /// [`EntryKind::Other`] with the place of the conversation, if the host writes it apart from prompts.
    Origins,
}

/// Where a conversation takes place, as far as one entry says so.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConversationOrigin {
    pub session: Option<String>,
    /// The working directory.
    pub folder: Option<String>,
    /// Set where prompts do not name it themselves.
    pub branch: Option<String>,
    /// The whole conversation is one between a subagent and its parent.
    pub is_of_agent: bool,
    pub is_unattended: bool,
}

#[derive(Debug)]
pub struct TranscriptParser {
    /// Lines without any of these are skipped. Empty: every line is parsed.
    needles: Vec<Needle>,
    read: for<'a> fn(&'a [u8]) -> Option<TranscriptEntry<'a>>,
}

impl TranscriptParser {
    pub(super) fn new(
        needles: Vec<Needle>,
        read: for<'a> fn(&'a [u8]) -> Option<TranscriptEntry<'a>>,
    ) -> TranscriptParser {
        TranscriptParser { needles, read }
    }

    /// For a host whose transcripts cannot be read.
    pub(super) fn of_nothing() -> TranscriptParser {
        TranscriptParser::new(Vec::new(), |_| None)
    }

    /// `None` if the line is skipped or is not an entry.
    pub fn entry<'a>(&self, line: &'a [u8]) -> Option<TranscriptEntry<'a>> {
        if self.skips(line) { None } else { (self.read)(line) }
    }

    pub fn read_line<'a>(&self, line: &'a [u8]) -> LineRead<'a> {
        if self.skips(line) {
            return LineRead::Skipped;
        }
        (self.read)(line).map_or(LineRead::Damaged, LineRead::Entry)
    }

    fn skips(&self, line: &[u8]) -> bool {
        !self.needles.is_empty() && !self.needles.iter().any(|needle| needle.is_in(line))
    }
}

#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "one at a time, never in a list")]
pub enum LineRead<'a> {
    /// Not of a kind that is sought.
    Skipped,
    /// Not what the host writes.
    Damaged,
    Entry(TranscriptEntry<'a>),
}

/// Without empty lines.
pub fn lines(bytes: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty())
}
