//! The action that an event is about: a call of a tool, or a skill that a person typed.

use std::borrow::Cow;

use super::FailedStep;

/// An action, before or after it happens; [`EventKind`](super::EventKind) says which.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Action<'a> {
    /// None, or one that no policy looks at.
    #[default]
    Other,
    /// Files are edited, by their paths as the model gave them. An error where the call does not say which.
    Edit(Result<Vec<Cow<'a, str>>, FailedStep>),
    /// A command line.
    Command(Command<'a>),
    /// A skill is invoked, by the model or by a typed command.
    Skill {
        /// As the host names it, never empty.
        name: Option<Cow<'a, str>>,
        /// The host says that it could not be loaded.
        failed: bool,
    },
    /// An agent is spawned.
    Spawn {
        /// What it is to do; may be empty.
        task: Cow<'a, str>,
        /// What kind of agent it is; may be empty.
        kind: Cow<'a, str>,
        /// The host says that the agent failed.
        failed: bool,
    },
    /// A tool of an MCP server is called.
    Mcp(McpCall<'a>),
    /// The person is asked something.
    Question,
    /// A file is read.
    Read(Option<Cow<'a, str>>),
    /// A task in the background is ended by the model.
    StopTask(Option<Cow<'a, str>>),
    /// The session leaves its worktree, which may be gone afterwards.
    LeaveWorktree,
}

/// A command line, as far as the host tells of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command<'a> {
    /// The line; `None` where it is missing or too long to be looked into.
    pub line: Option<Cow<'a, str>>,
    /// How it ended.
    pub exit: Exit,
    /// The task that it runs as, if the call did not wait for its end.
    pub background: Option<Cow<'a, str>>,
    /// How long it ran, in milliseconds.
    pub duration: Option<u64>,
}

/// A call of an MCP server's tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpCall<'a> {
    /// The tool, if the server is Tidegate's.
    pub own_tool: Option<Cow<'a, str>>,
    /// The topic of the memory that the call names.
    pub topic: Option<i64>,
    /// The file that the call names.
    pub path: Option<Cow<'a, str>>,
}

/// The exit status of a command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// As far as the host says it.
    Known(i32),
    /// Proves nothing.
    Unknown,
}

/// A tool's input and response as they stand in the payload. Read a second time, only where they are needed: a response may
/// be megabytes long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RawTool<'a> {
    /// JSON, or empty.
    pub input: &'a str,
    /// JSON, or empty.
    pub response: &'a str,
}

/// A call that puts questions to the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// All that the person sees, question by question, in the host's own form.
    pub shown: Vec<String>,
    /// The one question, if the call holds nothing else.
    pub only: Option<Asked>,
    /// The model answered it in the same call.
    pub is_answered: bool,
}

/// One question, as the person sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The question itself.
    pub text: String,
    /// A word above it; may be empty.
    pub header: String,
    /// What the person can choose.
    pub options: Vec<AnswerOption>,
    /// More than one of these.
    pub takes_several: bool,
}

/// One answer that the person can choose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerOption {
    /// The answer.
    pub label: String,
    /// What stands below it; may be empty.
    pub description: String,
}

/// A call of the tool that puts a question to the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuestionCall {
    /// The tool.
    pub tool: &'static str,
    /// Its input, JSON.
    pub input: String,
}

/// What came back from a call that puts questions to the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answers {
    /// The one question as the person saw it, if it was the only one: a hook can have changed it on the way.
    pub only: Option<Asked>,
    /// What the person answered.
    pub given: Vec<QuestionAnswer>,
}

/// The person's answer to one question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuestionAnswer {
    /// What was asked.
    pub question: String,
    /// `None`: an answer that is not a text.
    pub text: Option<String>,
}
