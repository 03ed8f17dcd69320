//! Events in values that are the same for every host. A host's wing fills an [`Event`], or returns the reason
//! why it cannot.

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
use crate::time::Millis;
use action::{McpCall, ShellCommand};
use host::Host;
use prompt::{Author, EndedAgent, EndedTask, Prompt};
use status::ContextUse;

/// Bytes of a prompt that are decoded.
pub(crate) const PROMPT_HEAD: usize = 8 * 1024;

/// One hook call. Members that do not belong to the event's kind are absent.
#[derive(Clone, Debug, PartialEq)]
pub struct Event<'a> {
    pub host: Host,
    pub kind: EventKind,
    /// The host's name for it; tells events of [`EventKind::Other`] apart.
    pub name: Cow<'a, str>,
    pub session: SessionId,
    pub thread: Thread<'a>,
    /// The host's id of the turn.
    pub turn: Option<Cow<'a, str>>,
    pub cwd: Option<Cow<'a, str>>,
    /// When it happened, by the host's clock, if the host says so and writes the same time into its transcript.
    pub at: Option<Millis>,
    /// The file of the conversation.
    pub transcript: Option<Cow<'a, str>>,
    /// The reason in the host's own word, for the record.
    pub cause: Option<Cow<'a, str>>,
    pub start: Option<Start>,
    /// At the start of a fork: tokens of the copied conversation.
    pub copied_tokens: Option<u64>,
    /// The person asked for this compaction.
    pub by_hand: bool,
    /// The summary written by a compaction.
    pub summary: Option<LongText<'a>>,
    /// The model that answers from now on.
    pub model: Option<Cow<'a, str>>,
    pub prompt: Option<Prompt<'a>>,
    /// The last message of the turn.
    pub last_message: Option<LongText<'a>>,
    /// Background tasks at the end of a turn.
    pub tasks: Vec<BackgroundTask<'a>>,
    /// A hook has already blocked this stop once.
    pub held_before: bool,
    pub permission: Option<Permission<'a>>,
    /// The tool's name, or the reason why a gate cannot judge the call.
    pub tool: Result<Cow<'a, str>, FailedStep>,
    /// The host's id of the call.
    pub call: Option<Cow<'a, str>>,
    pub action: Action<'a>,
    /// The host's own meter.
    pub context: Option<ContextUse>,
    /// A directory added to the session.
    pub directory: Option<Cow<'a, str>>,
    /// A worktree that is removed.
    pub worktree: Option<Cow<'a, str>>,
    /// The subject of a task that is created or completed.
    pub task_subject: Option<Cow<'a, str>>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Thread<'a> {
    /// The conversation with the person.
    #[default]
    Main,
    Agent {
        /// `None` if the host's id is not a text.
        id: Option<Cow<'a, str>>,
        /// The agent's type.
        kind: Option<Cow<'a, str>>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subagent<'a> {
    /// The host's id, or `?`.
    pub id: &'a str,
    /// The agent's type.
    pub kind: Option<&'a str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    Startup,
    Resume,
    Clear,
    Compact,
    /// A copy of another session.
    Fork,
    /// Unknown to Tidegate, or not reported.
    Other,
}

impl Start {
    pub fn is_new(self) -> bool {
        matches!(self, Start::Startup | Start::Clear)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permission<'a> {
    /// The host's name for it.
    pub mode: Cow<'a, str>,
    /// In this mode the host never asks about an edit, whatever a hook answers.
    pub asks_nobody: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackgroundTask<'a> {
    /// The host's id.
    pub id: Option<Cow<'a, str>>,
    pub is_agent: bool,
    pub is_running: bool,
}

/// How a tool call gives work to an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentWork<'e> {
    /// It starts one.
    Spawn,
    /// It speaks to one that was started before.
    Message,
    /// It invokes this skill, which may run in an agent.
    Skill(&'e str),
}

/// The name under which everything of a session is kept, which can be a file name: for Claude Code the id that it gave the
/// session, 1 to 128 of `A-Z a-z 0-9 _ -`. For another host its name comes first (`codex.ID`), because two hosts may use the
/// same id.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(String);

impl SessionId {
    /// Of the session to which the host gave this id.
    pub fn of(host: Host, id: &str) -> Result<SessionId, FailedStep> {
        if id.is_empty() {
            Err(FailedStep::SessionEmpty)
        } else if id.len() > 128 {
            Err(FailedStep::SessionTooLong)
        } else if !id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-') {
            Err(FailedStep::SessionCharacters)
        } else if host == Host::ClaudeCode {
            Ok(SessionId(id.to_owned()))
        } else {
            Ok(SessionId(format!("{}.{id}", host.name())))
        }
    }

    /// From the name of a folder, a record or what a person typed.
    pub fn parse(name: &str) -> Result<SessionId, FailedStep> {
        let Some((host, id)) = name.split_once('.') else { return SessionId::of(Host::ClaudeCode, name) };
        let host = Host::from_name(host);
        let session = SessionId::of(host, id)?;
        // Each session has one name only.
        if session.as_str() == name { Ok(session) } else { Err(FailedStep::SessionCharacters) }
    }

    pub fn host(&self) -> Host {
        self.0.split_once('.').map_or(Host::ClaudeCode, |(host, _)| Host::from_name(host))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The id that the host gave the session.
    pub fn in_host(&self) -> &str {
        self.0.split_once('.').map_or(&self.0, |(_, id)| id)
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
    Payload(NotAnObject),
    /// The payload did not arrive whole.
    Stdin(String),
    SessionMissing,
    /// The session id is not a text.
    SessionType,
    SessionEmpty,
    /// More than 128 characters.
    SessionTooLong,
    /// It could not be a file name.
    SessionCharacters,
    /// A gate needs this member.
    MemberMissing(&'static str),
    /// A gate needs this member.
    MemberType(&'static str),
    /// A gate needs this member.
    MemberEmpty(&'static str),
    /// A gate was asked, with a payload that belongs to another event.
    OtherEvent,
    State(String),
    Marks(String),
    /// Another process holds the session's lock.
    Locked {
        file: String,
        /// Known only on some systems.
        process: Option<u32>,
    },
    /// A job for the worker could not be written.
    Spool(String),
    /// The cycle's file could not be changed.
    Cycle(String),
    Record(String),
    /// Milliseconds.
    Deadline(u64),
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
            FailedStep::MemberEmpty(member) => write!(out, "{member} is empty"),
            FailedStep::OtherEvent => out.write_str("the payload is of another event"),
            FailedStep::State(why) => write!(out, "the state directory cannot be used ({why})"),
            FailedStep::Marks(why) => write!(out, "the session's state cannot be used ({why})"),
            FailedStep::Locked { file, process: Some(id) } => {
                write!(out, "process {id} keeps the lock {file}")
            }
            FailedStep::Locked { file, process: None } => {
                write!(out, "another process keeps the lock {file}")
            }
            FailedStep::Spool(why) => write!(out, "recording could not be queued ({why})"),
            FailedStep::Cycle(why) => write!(out, "the cycle's state cannot be changed ({why})"),
            FailedStep::Record(why) => write!(out, "the record could not be written ({why})"),
            FailedStep::Deadline(ms) => write!(out, "no answer within {ms} ms"),
            FailedStep::Panic(why) => write!(out, "internal error ({why})"),
        }
    }
}

impl FailedStep {
    /// Whether the state directory or the session's files in it are unusable. A full disk counts, a slow one
    /// does not.
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
            FailedStep::MemberMissing(_)
            | FailedStep::MemberType(_)
            | FailedStep::MemberEmpty(_)
            | FailedStep::OtherEvent => "member",
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

/// An event that could not be read, with the parts that could.
#[derive(Clone, Debug, PartialEq)]
pub struct UnreadableEvent<'a> {
    /// From the payload, else from the registration.
    pub kind: Option<EventKind>,
    /// The host's name for it; may be empty.
    pub name: Cow<'a, str>,
    pub step: FailedStep,
}

impl<'a> Event<'a> {
    /// All other members are absent.
    pub fn new(host: Host, kind: EventKind, name: Cow<'a, str>, session: SessionId) -> Event<'a> {
        Event {
            host,
            kind,
            name,
            session,
            thread: Thread::Main,
            turn: None,
            cwd: None,
            at: None,
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

    /// Text from a hook inside a subagent reaches only that subagent.
    pub fn is_main_thread(&self) -> bool {
        matches!(self.thread, Thread::Main)
    }

    /// Whether texts of this event reach the main thread.
    pub fn is_heard(&self) -> bool {
        self.is_main_thread() && self.start.is_none_or(|start| self.host.hears_at(start))
    }

    pub fn agent(&self) -> Option<Subagent<'_>> {
        match &self.thread {
            Thread::Main => None,
            Thread::Agent { id, kind } => {
                Some(Subagent { id: id.as_deref().unwrap_or("?"), kind: kind.as_deref() })
            }
        }
    }

    pub fn agent_id(&self) -> Option<&str> {
        match &self.thread {
            Thread::Main => None,
            Thread::Agent { id, .. } => id.as_deref(),
        }
    }

    pub fn tool_name(&self) -> Option<&str> {
        self.tool.as_deref().ok()
    }

    /// Whether the event's worktree may be gone afterwards.
    pub fn may_end_worktree(&self) -> bool {
        match self.kind {
            EventKind::SubagentStop => !self.is_main_thread(),
            EventKind::WorktreeRemove => true,
            EventKind::PreToolUse => matches!(self.action, Action::LeaveWorktree),
            _ => false,
        }
    }

    /// Whether agents still work in the background at the end of a turn.
    pub fn has_running_agents(&self) -> bool {
        self.tasks.iter().any(|task| task.is_running && task.is_agent)
    }

    /// Whether this background task still runs at the end of a turn.
    pub fn is_running(&self, id: &str) -> bool {
        self.tasks.iter().any(|task| task.is_running && task.id.as_deref() == Some(id))
    }

    pub fn follows_compaction(&self) -> bool {
        self.start == Some(Start::Compact)
    }

    /// The beginning of a prompt that a person typed; the rest is never read.
    pub fn human_prompt(&self) -> Option<Cow<'a, str>> {
        let prompt = self.prompt.as_ref().filter(|_| self.is_human_prompt())?;
        Some(prompt.text.head(PROMPT_HEAD))
    }

    pub fn is_human_prompt(&self) -> bool {
        self.prompt.as_ref().is_some_and(|prompt| prompt.author != Author::Host)
    }

    /// A prompt that a person typed in their own words, not a command.
    pub fn free_prompt(&self) -> Option<Cow<'a, str>> {
        self.is_free_prompt().then(|| self.human_prompt()).flatten()
    }

    pub fn is_free_prompt(&self) -> bool {
        self.prompt.as_ref().is_some_and(|prompt| prompt.author == Author::Person)
    }

    /// From a prompt with which the host reports the end of a background task.
    pub fn ended_task(&self) -> Option<&EndedTask> {
        self.prompt.as_ref()?.notice.as_ref()?.ended.as_ref()
    }

    /// From a prompt with which the host reports the end of a background agent.
    pub fn ended_agent(&self) -> Option<&EndedAgent> {
        self.prompt.as_ref()?.notice.as_ref()?.agent.as_ref()
    }

    /// The skill that the model or a typed command invoked.
    pub fn invoked_skill(&self) -> Option<&str> {
        let invoked = matches!(self.kind, EventKind::UserPromptExpansion | EventKind::PostToolUse);
        match &self.action {
            Action::Skill { name, failed: false } if invoked => name.as_deref(),
            _ => None,
        }
    }

    pub fn command_line(&self) -> Option<&str> {
        self.finished_command().and_then(|command| command.line.as_deref())
    }

    /// The command that has run or was started in the background.
    pub fn finished_command(&self) -> Option<&ShellCommand<'a>> {
        let ran = matches!(self.kind, EventKind::PostToolUse | EventKind::PostToolUseFailure);
        match &self.action {
            Action::Command(command) if ran => Some(command),
            _ => None,
        }
    }

    /// A command has run, and the payload does not tell when it began or how it ended.
    pub fn lacks_run(&self) -> bool {
        self.finished_command().is_some_and(|command| command.began.is_none() && command.duration.is_none())
    }

    /// From another place than the payload, which counts more.
    pub fn set_run(&mut self, began: Option<Millis>, exit: Exit) {
        if let Action::Command(command) = &mut self.action {
            command.began = began;
            if command.exit == Exit::Unknown {
                command.exit = exit;
            }
        }
    }

    /// A command that is not a patch, before it runs: no gate of edits closes for it.
    pub fn is_plain_command(&self) -> bool {
        self.kind == EventKind::PreToolUse
            && matches!(self.action, Action::Command(_) | Action::OtherShell(_))
    }

    /// The files of a patch that maybe no later event reports, before it is applied.
    pub fn announced_patch(&self) -> Option<&[Cow<'a, str>]> {
        match &self.action {
            Action::Patch(paths) if self.kind == EventKind::PreToolUse => Some(paths),
            _ => None,
        }
    }

    /// A command in another language than the shell's, after it ran.
    pub fn other_shell(&self) -> Option<&ShellCommand<'a>> {
        let ran = matches!(self.kind, EventKind::PostToolUse | EventKind::PostToolUseFailure);
        match &self.action {
            Action::OtherShell(command) if ran => Some(command),
            _ => None,
        }
    }

    /// `None` if the call does not edit files.
    pub fn edit_paths(&self) -> Option<Result<&[Cow<'a, str>], &FailedStep>> {
        match &self.action {
            Action::Edit(paths) => Some(paths.as_deref()),
            Action::Patch(paths) => Some(Ok(paths)),
            _ => None,
        }
    }

    /// Files written by an editing tool, or by an MCP tool that the config lists as a writer.
    pub fn written_paths(&self, writers: impl Fn(&str) -> bool) -> &[Cow<'a, str>] {
        match (&self.action, &self.tool) {
            _ if self.kind != EventKind::PostToolUse => &[],
            (Action::Edit(Ok(paths)), _) => paths,
            (Action::Mcp(McpCall { path, .. }), Ok(tool)) if writers(tool) => path.as_slice(),
            _ => &[],
        }
    }

    pub fn read_path(&self) -> Option<&str> {
        match &self.action {
            Action::Read(path) if self.kind == EventKind::PostToolUse => path.as_deref(),
            _ => None,
        }
    }

    /// The tool of Tidegate's own MCP server that succeeded on the main thread.
    pub fn memory_call(&self) -> Option<&str> {
        match &self.action {
            Action::Mcp(call) if self.kind == EventKind::PostToolUse && self.is_main_thread() => {
                call.own_tool.as_deref()
            }
            _ => None,
        }
    }

    pub fn called_topic(&self) -> Option<i64> {
        match &self.action {
            Action::Mcp(call) => call.topic,
            _ => None,
        }
    }

    /// Description and type of the agent.
    pub fn spawned_agent(&self) -> Option<(&str, &str)> {
        let is_tool = matches!(
            self.kind,
            EventKind::PreToolUse | EventKind::PostToolUse | EventKind::PostToolUseFailure
        );
        match &self.action {
            Action::Spawn { task, kind, .. } if is_tool => Some((task, kind)),
            _ => None,
        }
    }

    /// A call that gives work to an agent, or may, before it happens.
    pub fn agent_work(&self) -> Option<AgentWork<'_>> {
        match &self.action {
            _ if self.kind != EventKind::PreToolUse => None,
            Action::Spawn { .. } => Some(AgentWork::Spawn),
            Action::Message => Some(AgentWork::Message),
            Action::Skill { name: Some(name), .. } => Some(AgentWork::Skill(name)),
            _ => None,
        }
    }

    pub fn spawn_failed(&self) -> bool {
        match (&self.action, self.kind) {
            (Action::Spawn { .. }, EventKind::PostToolUseFailure) => true,
            (Action::Spawn { failed, .. }, EventKind::PostToolUse) => *failed,
            _ => false,
        }
    }

    /// The beginning and the end of the agent's answer.
    pub fn agent_answer(&self, bytes: usize) -> Option<(Cow<'a, str>, Cow<'a, str>)> {
        match &self.action {
            Action::Spawn { answer: Some(answer), .. } if self.kind == EventKind::PostToolUse => {
                Some((answer.head(bytes), answer.tail(bytes)))
            }
            _ => None,
        }
    }

    /// A prompt of the model that the host will submit later, as [`Event::human_prompt`] will have it.
    pub fn scheduled_prompt(&self) -> Option<Cow<'a, str>> {
        match &self.action {
            Action::Schedule(prompt) if self.kind == EventKind::PostToolUse => {
                prompt.map(|prompt| prompt.head(PROMPT_HEAD))
            }
            _ => None,
        }
    }

    /// A background task that the model ended.
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
    fn the_same_id_in_two_hosts_names_two_sessions() {
        for host in Host::ALL {
            let session = SessionId::of(*host, "a-1").unwrap();
            assert_eq!((session.host(), session.in_host()), (*host, "a-1"));
            assert_eq!(SessionId::parse(session.as_str()), Ok(session.clone()));
            assert_eq!(session.as_str() == "a-1", *host == Host::ClaudeCode);
        }
        for name in ["claude-code.a-1", "codexx.a-1", ".a-1", "codex.", "codex.a.b", "codex.codex.a"] {
            assert!(SessionId::parse(name).is_err(), "{name}");
        }
    }

    #[test]
    fn session_ids_that_could_leave_the_directory_are_refused() {
        for id in ["../../x", "a/b", "a.b", "", "セッション", "a b", &"x".repeat(129)] {
            assert!(SessionId::of(Host::ClaudeCode, id).is_err(), "{id}");
            assert!(SessionId::of(Host::Codex, id).is_err(), "{id}");
            assert!(SessionId::parse(id).is_err(), "{id}");
        }
        for id in ["91b38a40-3ead-4aa8-8407-24d36ddad7be", "a_B-9", &"x".repeat(128)] {
            assert!(SessionId::parse(id).is_ok(), "{id}");
        }
    }
}
