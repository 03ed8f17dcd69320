//! What happened, in values that are the same for every host: a host's wing fills an [`Event`], or names the reason why it
//! cannot.

pub mod action;
pub mod host;
pub mod kind;
pub mod prompt;
pub mod status;

use std::borrow::Cow;
use std::fmt;

pub use action::{Action, Exit};
pub use kind::EventKind;

use crate::text::json::{LongText, NotAnObject};
use action::{Command, McpCall};
use host::Host;
use prompt::{Author, EndedTask, Prompt};
use status::ContextUse;

/// How much of a prompt is decoded.
pub(crate) const PROMPT_HEAD: usize = 8 * 1024;

/// One hook call. Members that do not belong to an event's kind are absent.
#[derive(Clone, Debug, PartialEq)]
pub struct Event<'a> {
    /// The host that tells of it.
    pub host: Host,
    /// Which event.
    pub kind: EventKind,
    /// Its name on the wire; tells events apart that we have no kind for.
    pub name: Cow<'a, str>,
    /// The session, checked.
    pub session: SessionId,
    /// Where in the session it happened.
    pub thread: Thread<'a>,
    /// The turn, by the host's name for it.
    pub turn: Option<Cow<'a, str>>,
    /// The working directory.
    pub cwd: Option<Cow<'a, str>>,
    /// The file that the host writes the conversation to.
    pub transcript: Option<Cow<'a, str>>,
    /// Why it happened, in the host's own word; for the record.
    pub cause: Option<Cow<'a, str>>,
    /// How a session started.
    pub start: Option<Start>,
    /// At the start of a fork: the tokens of the conversation it copied.
    pub copied_tokens: Option<u64>,
    /// The person asked for this compaction.
    pub by_hand: bool,
    /// The summary that a compaction left.
    pub summary: Option<LongText<'a>>,
    /// The model that answers from now on.
    pub model: Option<Cow<'a, str>>,
    /// A prompt that was submitted.
    pub prompt: Option<Prompt<'a>>,
    /// The last message of the turn.
    pub last_message: Option<LongText<'a>>,
    /// Tasks in the background, when a turn ends.
    pub tasks: Vec<BackgroundTask<'a>>,
    /// A hook has held this stop before.
    pub held_before: bool,
    /// How the host deals with permissions.
    pub permission: Option<Permission<'a>>,
    /// The name of the tool that is called; else the reason why a gate cannot judge the call.
    pub tool: Result<Cow<'a, str>, FailedStep>,
    /// The host's id of the call.
    pub call: Option<Cow<'a, str>>,
    /// What is done, or was.
    pub action: Action<'a>,
    /// The host's own meter.
    pub context: Option<ContextUse>,
    /// A directory that was added to the session.
    pub directory: Option<Cow<'a, str>>,
    /// A worktree that is removed.
    pub worktree: Option<Cow<'a, str>>,
    /// What a task is about that is created or completed.
    pub task_subject: Option<Cow<'a, str>>,
}

/// Where in a session something happens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Thread<'a> {
    /// The conversation with the person.
    #[default]
    Main,
    /// A subagent.
    Agent {
        /// The host's name for it; `None` where that is not a text.
        id: Option<Cow<'a, str>>,
        /// What kind of agent it is.
        kind: Option<Cow<'a, str>>,
    },
}

/// A subagent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Agent<'a> {
    /// The host's name for it.
    pub id: &'a str,
    /// What kind of agent it is.
    pub kind: Option<&'a str>,
}

/// How a session started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// Anew.
    Startup,
    /// An old conversation is resumed.
    Resume,
    /// The conversation was cleared.
    Clear,
    /// The conversation was compacted.
    Compact,
    /// As a copy of another session.
    Fork,
    /// In a way that the host does not tell, or that has no word here.
    Other,
}

impl Start {
    /// Whether the conversation is a new one.
    pub fn is_new(self) -> bool {
        matches!(self, Start::Startup | Start::Clear)
    }
}

/// The host's permission mode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permission<'a> {
    /// Its name.
    pub mode: Cow<'a, str>,
    /// The host then asks no person about an edit, whatever a hook answers.
    pub asks_nobody: bool,
}

/// A task in the background.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackgroundTask<'a> {
    /// The host's name for it.
    pub id: Option<Cow<'a, str>>,
    /// An agent works in it.
    pub is_agent: bool,
    /// It has not ended.
    pub is_running: bool,
}

/// A session id that can be a file name: 1 to 128 of `A-Z a-z 0-9 _ -`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(String);

impl SessionId {
    /// Checks the id; nothing else makes one.
    pub fn parse(id: &str) -> Result<SessionId, FailedStep> {
        if id.is_empty() {
            Err(FailedStep::SessionEmpty)
        } else if id.len() > 128 {
            Err(FailedStep::SessionTooLong)
        } else if id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-') {
            Ok(SessionId(id.to_owned()))
        } else {
            Err(FailedStep::SessionCharacters)
        }
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// The step of a check that failed. Its text completes "could not check: …".
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FailedStep {
    /// The payload is no JSON object.
    Payload(NotAnObject),
    /// The payload did not arrive whole.
    Stdin(String),
    /// No session id.
    SessionMissing,
    /// A session id that is not text.
    SessionType,
    /// An empty session id.
    SessionEmpty,
    /// A session id of more than 128 characters.
    SessionTooLong,
    /// A session id that could not be a file name.
    SessionCharacters,
    /// A member that a gate needs is missing.
    MemberMissing(&'static str),
    /// A member that a gate needs has a wrong type.
    MemberType(&'static str),
    /// The state directory cannot be used.
    State(String),
    /// The session's marks cannot be read or written.
    Marks(String),
    /// Another process does not let go of the session's lock.
    Locked {
        /// The file.
        file: String,
        /// The process, where the system tells.
        process: Option<u32>,
    },
    /// A job could not be left for the worker.
    Spool(String),
    /// Where the cycle stands could not be changed.
    Cycle(String),
    /// The record could not be written.
    Record(String),
    /// We were too slow.
    Deadline(u64),
    /// We have a bug.
    Panic(String),
}

impl fmt::Display for FailedStep {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FailedStep::Payload(why) => write!(out, "{why}"),
            FailedStep::Stdin(why) => write!(out, "the payload could not be read ({why})"),
            FailedStep::SessionMissing => out.write_str("session_id is missing"),
            FailedStep::SessionType => out.write_str("session_id is not a string"),
            FailedStep::SessionEmpty => out.write_str("session_id is empty"),
            FailedStep::SessionTooLong => out.write_str("session_id is longer than 128 characters"),
            FailedStep::SessionCharacters => {
                out.write_str("session_id has characters other than letters, digits, _ and -")
            }
            FailedStep::MemberMissing(member) => write!(out, "{member} is missing"),
            FailedStep::MemberType(member) => write!(out, "{member} has a wrong type"),
            FailedStep::State(why) => write!(out, "the state directory cannot be used ({why})"),
            FailedStep::Marks(why) => write!(out, "the session's marks cannot be used ({why})"),
            FailedStep::Locked { file, process: Some(id) } => {
                write!(out, "process {id} does not let go of the lock {file}")
            }
            FailedStep::Locked { file, process: None } => {
                write!(out, "another process does not let go of the lock {file}")
            }
            FailedStep::Spool(why) => write!(out, "what was said could not be left to be recorded ({why})"),
            FailedStep::Cycle(why) => write!(out, "the state of the cycle could not be changed ({why})"),
            FailedStep::Record(why) => write!(out, "the record could not be written ({why})"),
            FailedStep::Deadline(ms) => write!(out, "no answer within {ms} ms"),
            FailedStep::Panic(why) => write!(out, "internal error ({why})"),
        }
    }
}

impl FailedStep {
    /// Whether the state, or what is known of the session in it, cannot be used. A full disk is of this kind, a slow one not.
    pub fn is_of_state(&self) -> bool {
        use FailedStep as F;
        matches!(self, F::State(_) | F::Marks(_) | F::Locked { .. } | F::Record(_))
    }

    /// One word for the journal.
    pub fn class(&self) -> &'static str {
        match self {
            FailedStep::Payload(_) | FailedStep::Stdin(_) => "payload",
            FailedStep::SessionMissing
            | FailedStep::SessionType
            | FailedStep::SessionEmpty
            | FailedStep::SessionTooLong
            | FailedStep::SessionCharacters => "session",
            FailedStep::MemberMissing(_) | FailedStep::MemberType(_) => "member",
            FailedStep::State(_) => "state",
            FailedStep::Marks(_) | FailedStep::Locked { .. } => "marks",
            FailedStep::Spool(_) => "spool",
            FailedStep::Cycle(_) => "cycle",
            FailedStep::Record(_) => "record",
            FailedStep::Deadline(_) => "deadline",
            FailedStep::Panic(_) => "panic",
        }
    }
}

/// An event that could not be read, with what is known about it all the same.
#[derive(Clone, Debug, PartialEq)]
pub struct Unreadable<'a> {
    /// From the payload if it has one, else from the registration.
    pub kind: Option<EventKind>,
    /// Its name on the wire, if it has one.
    pub name: Cow<'a, str>,
    /// What went wrong.
    pub step: FailedStep,
}

impl<'a> Event<'a> {
    /// An event of which no more than this is known.
    pub fn new(host: Host, kind: EventKind, name: Cow<'a, str>, session: SessionId) -> Event<'a> {
        Event {
            host,
            kind,
            name,
            session,
            thread: Thread::Main,
            turn: None,
            cwd: None,
            transcript: None,
            cause: None,
            start: None,
            copied_tokens: None,
            by_hand: false,
            summary: None,
            model: None,
            prompt: None,
            last_message: None,
            tasks: Vec::new(),
            held_before: false,
            permission: None,
            tool: Err(FailedStep::MemberMissing("tool_name")),
            call: None,
            action: Action::Other,
            context: None,
            directory: None,
            worktree: None,
            task_subject: None,
        }
    }

    /// Whether this is the main thread. What we say inside a subagent reaches nobody else.
    pub fn main_thread(&self) -> bool {
        matches!(self.thread, Thread::Main)
    }

    /// The subagent that this event comes from.
    pub fn agent(&self) -> Option<Agent<'_>> {
        match &self.thread {
            Thread::Main => None,
            Thread::Agent { id, kind } => {
                Some(Agent { id: id.as_deref().unwrap_or("?"), kind: kind.as_deref() })
            }
        }
    }

    /// The name of the subagent, if it has one.
    pub fn agent_id(&self) -> Option<&str> {
        match &self.thread {
            Thread::Main => None,
            Thread::Agent { id, .. } => id.as_deref(),
        }
    }

    /// The tool that is called, as the host names it.
    pub fn tool_name(&self) -> Option<&str> {
        self.tool.as_deref().ok()
    }

    /// Whether the worktree that this happens in may be gone afterwards.
    pub fn may_end_worktree(&self) -> bool {
        match self.kind {
            EventKind::SubagentStop => !self.main_thread(),
            EventKind::WorktreeRemove => true,
            EventKind::PreToolUse => matches!(self.action, Action::LeaveWorktree),
            _ => false,
        }
    }

    /// Whether agents still work in the background when a turn ends.
    pub fn agents_run(&self) -> bool {
        self.tasks.iter().any(|task| task.is_running && task.is_agent)
    }

    /// Whether a task in the background still runs when a turn ends.
    pub fn is_running(&self, id: &str) -> bool {
        self.tasks.iter().any(|task| task.is_running && task.id.as_deref() == Some(id))
    }

    /// Whether the conversation was just compacted.
    pub fn compacted(&self) -> bool {
        self.start == Some(Start::Compact)
    }

    /// The beginning of a prompt that a person typed, which is all that is looked at.
    pub fn human_prompt(&self) -> Option<Cow<'a, str>> {
        let prompt = self.prompt.as_ref().filter(|_| self.is_human_prompt())?;
        Some(prompt.text.head(PROMPT_HEAD))
    }

    /// Whether a person typed this prompt.
    pub fn is_human_prompt(&self) -> bool {
        self.prompt.as_ref().is_some_and(|prompt| prompt.author != Author::Host)
    }

    /// A prompt that a person typed in words of their own: no command.
    pub fn free_prompt(&self) -> Option<Cow<'a, str>> {
        self.is_free_prompt().then(|| self.human_prompt()).flatten()
    }

    /// Whether it is one.
    pub fn is_free_prompt(&self) -> bool {
        self.prompt.as_ref().is_some_and(|prompt| prompt.author == Author::Person)
    }

    /// The task in the background that this prompt of the host's says has ended, and how.
    pub fn ended_task(&self) -> Option<&EndedTask> {
        self.prompt.as_ref()?.notice.as_ref()?.ended.as_ref()
    }

    /// What an agent in the background was to do that this prompt of the host's says has failed.
    pub fn failed_agent(&self) -> Option<&str> {
        self.prompt.as_ref()?.notice.as_ref()?.failed_agent.as_deref()
    }

    /// The skill that was invoked, by the model or by a typed command, as the host names it.
    pub fn skill(&self) -> Option<&str> {
        let invoked = matches!(self.kind, EventKind::UserPromptExpansion | EventKind::PostToolUse);
        match &self.action {
            Action::Skill { name, failed: false } if invoked => name.as_deref(),
            _ => None,
        }
    }

    /// The command line that has run or has been started.
    pub fn command(&self) -> Option<&str> {
        self.ran().and_then(|command| command.line.as_deref())
    }

    /// The same, with what is known of its run.
    pub fn ran(&self) -> Option<&Command<'a>> {
        let ran = matches!(self.kind, EventKind::PostToolUse | EventKind::PostToolUseFailure);
        match &self.action {
            Action::Command(command) if ran => Some(command),
            _ => None,
        }
    }

    /// The files that a call edits; `None` when it edits none.
    pub fn edit_paths(&self) -> Option<Result<&[Cow<'a, str>], &FailedStep>> {
        match &self.action {
            Action::Edit(paths) => Some(paths.as_deref()),
            _ => None,
        }
    }

    /// The files that an editing tool, or one that the config names as a writer, has written.
    pub fn written(&self, writers: impl Fn(&str) -> bool) -> &[Cow<'a, str>] {
        match (&self.action, &self.tool) {
            _ if self.kind != EventKind::PostToolUse => &[],
            (Action::Edit(Ok(paths)), _) => paths,
            (Action::Mcp(McpCall { path, .. }), Ok(tool)) if writers(tool) => path.as_slice(),
            _ => &[],
        }
    }

    /// The file that was read.
    pub fn read(&self) -> Option<&str> {
        match &self.action {
            Action::Read(path) if self.kind == EventKind::PostToolUse => path.as_deref(),
            _ => None,
        }
    }

    /// The tool of our own MCP server that was called, on the main thread and with success.
    pub fn memory_call(&self) -> Option<&str> {
        match &self.action {
            Action::Mcp(call) if self.kind == EventKind::PostToolUse && self.main_thread() => {
                call.own_tool.as_deref()
            }
            _ => None,
        }
    }

    /// The topic that such a call names.
    pub fn called_topic(&self) -> Option<i64> {
        match &self.action {
            Action::Mcp(call) => call.topic,
            _ => None,
        }
    }

    /// The agent that is spawned here, or was: what it is to do, and of what kind it is.
    pub fn spawn(&self) -> Option<(&str, &str)> {
        let is_tool = matches!(
            self.kind,
            EventKind::PreToolUse | EventKind::PostToolUse | EventKind::PostToolUseFailure
        );
        match &self.action {
            Action::Spawn { task, kind, .. } if is_tool => Some((task, kind)),
            _ => None,
        }
    }

    /// Whether the agent that was spawned here failed.
    pub fn spawn_failed(&self) -> bool {
        match (&self.action, self.kind) {
            (Action::Spawn { .. }, EventKind::PostToolUseFailure) => true,
            (Action::Spawn { failed, .. }, EventKind::PostToolUse) => *failed,
            _ => false,
        }
    }

    /// The task in the background that the model has ended.
    pub fn stopped_task(&self) -> Option<&str> {
        match &self.action {
            Action::StopTask(task) if self.kind == EventKind::PostToolUse => task.as_deref(),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn session_ids_that_could_leave_the_directory_are_refused() {
        for id in ["../../x", "a/b", "a.b", "", "セッション", "a b", &"x".repeat(129)] {
            assert!(SessionId::parse(id).is_err(), "{id}");
        }
        for id in ["91b38a40-3ead-4aa8-8407-24d36ddad7be", "a_B-9", &"x".repeat(128)] {
            assert!(SessionId::parse(id).is_ok(), "{id}");
        }
    }
}
