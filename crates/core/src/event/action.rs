//! The action of an event: a tool call, or a skill that a person typed.

use std::borrow::Cow;

use super::FailedStep;
use crate::text::json::LongText;
use crate::time::Millis;

/// Before or after it happens; [`EventKind`](super::EventKind) tells which.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Action<'a> {
    /// Also an action that no policy looks at.
    #[default]
    Other,
    /// Paths as the model gave them. An error if the call does not name them.
    Edit(Result<Vec<Cow<'a, str>>, FailedStep>),
    /// A patch of these files before it is applied. No event may follow it, as for one in a command line: then only the
    /// transcript tells what became of it.
    Patch(Vec<Cow<'a, str>>),
    Command(ShellCommand<'a>),
    /// In another language than the shell's: only files tell what it did.
    OtherShell(ShellCommand<'a>),
    Skill {
        /// The host's name for it, never empty.
        name: Option<Cow<'a, str>>,
        /// The host reports that it could not be loaded.
        failed: bool,
    },
    Spawn {
        /// The description for the agent; may be empty.
        task: Cow<'a, str>,
        /// The agent's type; may be empty.
        kind: Cow<'a, str>,
        /// The host reports that the agent failed.
        failed: bool,
        /// The agent's answer, if the call waited for it.
        answer: Option<LongText<'a>>,
    },
    /// Words for an agent that was started before: they begin or continue work of its own.
    Message,
    Mcp(McpCall<'a>),
    /// The model asks the person.
    Question,
    Read(Option<Cow<'a, str>>),
    /// The model ends a background task.
    StopTask(Option<Cow<'a, str>>),
    /// The session leaves its worktree, which may be gone afterwards.
    LeaveWorktree,
    /// The model schedules a prompt, which the host will submit like one of the person.
    Schedule(Option<LongText<'a>>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellCommand<'a> {
    /// `None` if it is missing or too long to inspect.
    pub line: Option<Cow<'a, str>>,
    /// Where it starts (a whole path), if the call itself names a folder. The next command starts in the session's again.
    pub folder: Option<String>,
    pub exit: Exit,
    /// Up to three parts: what it wrote, its errors, and what the host says of its failure.
    pub output: [Option<LongText<'a>>; 3],
    /// The host kept only the beginning of the output.
    pub is_cut: bool,
    /// The id of its task, if the call did not wait for the end.
    pub background: Option<Cow<'a, str>>,
    /// In milliseconds.
    pub duration: Option<u64>,
    /// When it began, from hosts that do not say how long it took.
    pub began: Option<Millis>,
}

impl ShellCommand<'_> {
    /// At most this many bytes of each part, from its end.
    pub fn last_output(&self, bytes: usize) -> String {
        let parts = self.output.iter().flatten().map(|part| part.tail(bytes));
        parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
    }

    pub fn says(&self, text: &str) -> bool {
        let lower = text.to_ascii_lowercase();
        self.output.iter().flatten().any(|part| part.mentions(lower.as_bytes()))
    }

    /// Not if it succeeded without output that tells of a failure.
    pub fn may_have_failed(&self) -> bool {
        self.exit != Exit::Known(0) || self.says("fail") || self.says("error")
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpCall<'a> {
    /// The tool, if the server is Tidegate's own.
    pub own_tool: Option<Cow<'a, str>>,
    /// The memory topic in the call's input.
    pub topic: Option<i64>,
    /// The file in the call's input.
    pub path: Option<Cow<'a, str>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    Known(i32),
    /// Not reported by the host. Proves nothing.
    Unknown,
}

/// A tool's input and response as raw JSON. Parsed only on demand, because a response may be megabytes long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RawTool<'a> {
    /// JSON, or empty.
    pub input: &'a str,
    /// JSON, or empty.
    pub response: &'a str,
}

/// The input of a call that asks the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuestionInput {
    /// Everything shown to the person, one JSON text per question.
    pub shown: Vec<String>,
    /// The question, if the call asks only one and holds nothing else.
    pub only: Option<PersonQuestion>,
    /// The model supplied the answer in the same call.
    pub is_answered: bool,
}

pub const OWN_HEADER: &str = "Tidegate";

/// One question, as the person sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PersonQuestion {
    pub text: String,
    /// A short title above the question; may be empty.
    /// [`OWN_HEADER`] for Tidegate's own questions.
    pub header: String,
    pub options: Vec<AnswerOption>,
    pub takes_several: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerOption {
    pub label: String,
    /// A line below the label; may be empty.
    pub description: String,
}

/// A tool call that asks the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuestionCall {
    pub tool: &'static str,
    /// JSON.
    pub input: String,
}

/// The response to a call that asks the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuestionAnswers {
    /// The question, if there was only one. A hook may have changed it before the person saw it.
    pub only: Option<PersonQuestion>,
    pub given: Vec<QuestionAnswer>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuestionAnswer {
    pub question: String,
    /// `None` if the answer is not a text.
    pub text: Option<String>,
}
