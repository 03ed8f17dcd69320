//! 1. What happened: bytes from the host become an [`Event`], or a named reason why they do not.

pub mod kind;

use std::borrow::Cow;
use std::fmt;

use crate::host::claude_code::payload::{BackgroundTask, Field, NotAnObject, Payload};
pub use kind::EventKind;

use crate::feature::memory::call;
use crate::text::search;

/// Enough to tell a person's prompt from the host's.
const FIRST_WORDS: usize = 64;

/// How much of a prompt is decoded.
const PROMPT_HEAD: usize = 8 * 1024;

/// A longer command line is not looked into.
const COMMAND_LONGEST: usize = 64 * 1024;

/// How texts begin that the host puts where a person's prompt would stand.
pub(crate) const MACHINE: [&str; 8] = [
    "<task-notification>",
    "<command-name>",
    "<command-message>",
    "<local-command-",
    "<system-reminder>",
    "<agent-message",
    "<cross-session-message",
    "Stop hook feedback:",
];

/// One hook call, as far as it is our business.
#[derive(Clone, Debug, PartialEq)]
pub struct Event<'a> {
    /// Which event.
    pub kind: EventKind,
    /// Its name on the wire; tells events apart that we have no kind for.
    pub name: Cow<'a, str>,
    /// The session, checked.
    pub session: SessionId,
    /// The rest of the payload.
    pub payload: Payload<'a>,
}

/// A subagent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Agent<'a> {
    /// The host's name for it.
    pub id: &'a str,
    /// What kind of agent it is.
    pub kind: Option<&'a str>,
}

/// A task in the background that is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndedTask {
    /// The host's name for it.
    pub id: String,
    /// A command that ended with status 0.
    pub succeeded: bool,
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
        matches!(self, FailedStep::State(_) | FailedStep::Marks(_) | FailedStep::Record(_))
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
            FailedStep::Marks(_) => "marks",
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

/// Reads a payload. `registered` is the event the hook was registered for, if it says so: the payload's own
/// name counts more, but a broken payload may have none.
pub fn parse(bytes: &[u8], registered: Option<EventKind>) -> Result<Event<'_>, Unreadable<'_>> {
    let payload: Payload<'_> =
        crate::host::claude_code::payload::read_object(bytes).map_err(|why| Unreadable {
            kind: name_in_broken_json(bytes).map(EventKind::from_name).or(registered),
            name: name_in_broken_json(bytes).unwrap_or_default().into(),
            step: FailedStep::Payload(why),
        })?;
    let (kind, name) = match (&payload.hook_event_name, registered) {
        (Field::Value(name), _) if !name.is_empty() => (EventKind::from_name(name), name.clone()),
        (_, Some(kind)) => (kind, Cow::Borrowed(kind.name())),
        (_, None) => (EventKind::Other, Cow::Borrowed("")),
    };
    let session = match &payload.session_id {
        Field::Value(id) => SessionId::parse(id),
        Field::Missing => Err(FailedStep::SessionMissing),
        Field::WrongType => Err(FailedStep::SessionType),
    };
    match session {
        Ok(session) => Ok(Event { kind, name, session, payload }),
        Err(step) => Err(Unreadable { kind: Some(kind), name, step }),
    }
}

/// Finds the event's name in a payload that was cut off: the host writes it before the tool's input.
fn name_in_broken_json(bytes: &[u8]) -> Option<&str> {
    const MEMBER: &[u8] = b"\"hook_event_name\"";
    let after = search::find(bytes, MEMBER)? + MEMBER.len();
    let rest =
        bytes.get(after..)?.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start().strip_prefix(b"\"")?;
    let end = search::first(rest, b'"')?;
    std::str::from_utf8(&rest[..end]).ok()
}

/// The exit status of a command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// As far as the host says it.
    Known(i32),
    /// Proves nothing.
    Unknown,
}

impl Event<'_> {
    /// Whether this is the main thread. What we say inside a subagent reaches nobody else.
    pub fn main_thread(&self) -> bool {
        matches!(self.payload.agent_id, Field::Missing)
    }

    /// Whether the worktree that this happens in may be gone afterwards.
    pub fn may_end_worktree(&self) -> bool {
        match self.kind {
            EventKind::SubagentStop => !self.main_thread(),
            EventKind::WorktreeRemove => true,
            EventKind::PreToolUse => self.payload.tool_name.get().is_some_and(|tool| tool == "ExitWorktree"),
            _ => false,
        }
    }

    /// Whether agents still work in the background when a turn ends.
    pub fn agents_run(&self) -> bool {
        let is_agent = |task: &&BackgroundTask<'_>| {
            let kind = task.kind.get();
            kind.is_some_and(|kind| ["agent", "teammate", "workflow"].iter().any(|word| kind.contains(word)))
        };
        self.running_tasks().any(|task| is_agent(&task))
    }

    /// Whether a task in the background still runs when a turn ends.
    pub fn is_running(&self, id: &str) -> bool {
        self.running_tasks().any(|task| task.id.get().is_some_and(|task| task == id))
    }

    fn running_tasks(&self) -> impl Iterator<Item = &BackgroundTask<'_>> {
        let tasks = self.payload.background_tasks.get().map(|tasks| tasks.0.as_slice()).unwrap_or_default();
        tasks.iter().filter(|task| task.status.get().is_none_or(|status| status == "running"))
    }

    /// At the start of a fork: the tokens of the conversation it copied.
    pub fn forked_with(&self) -> Option<u64> {
        let forks = self.kind == EventKind::SessionStart
            && self.payload.source.get().is_some_and(|source| source == "fork");
        self.payload.context_tokens.get().copied().filter(|_| forks)
    }

    /// Whether a person typed this prompt. The host submits prompts of its own: results of background tasks,
    /// output of commands, feedback of hooks.
    ///
    /// Gives the beginning of it, which is all that anybody looks at.
    pub fn human_prompt(&self) -> Option<Cow<'_, str>> {
        let prompt = self.payload.prompt.get().filter(|_| self.is_human_prompt())?;
        Some(prompt.head(PROMPT_HEAD))
    }

    /// Whether it is one.
    pub fn is_human_prompt(&self) -> bool {
        self.first_words().is_some()
    }

    /// The first words of a person's prompt.
    fn first_words(&self) -> Option<Cow<'_, str>> {
        let prompt = self.payload.prompt.get().filter(|_| self.kind == EventKind::UserPromptSubmit)?;
        // Declared by the host's types, not sent by 2.1.325.
        let source = self.payload.source.get().map(AsRef::as_ref);
        if !matches!(source, None | Some("user" | "sdk")) {
            return None;
        }
        let words = match prompt.first_words(FIRST_WORDS) {
            Some(words) => Cow::Borrowed(words),
            None => Cow::Owned(prompt.head(PROMPT_HEAD).trim_start().to_owned()),
        };
        let typed = !MACHINE.iter().any(|start| words.starts_with(start));
        typed.then_some(words)
    }

    /// A prompt that a person typed in words of their own: no command.
    pub fn free_prompt(&self) -> Option<Cow<'_, str>> {
        self.is_free_prompt().then(|| self.human_prompt()).flatten()
    }

    /// Whether it is one.
    pub fn is_free_prompt(&self) -> bool {
        self.first_words().is_some_and(|words| !words.starts_with('/'))
    }

    /// The skill that was invoked, by the model or by a typed command, as the host names it.
    pub fn skill(&self) -> Option<&str> {
        let payload = &self.payload;
        match (self.kind, payload.tool_name.get().map(AsRef::as_ref)) {
            (EventKind::UserPromptExpansion, _) => payload.command_name.get().map(AsRef::as_ref),
            (EventKind::PostToolUse, Some("Skill")) => {
                let failed = payload
                    .tool_response
                    .get()
                    .is_some_and(|response| response.success == Field::Value(false));
                payload
                    .tool_input
                    .get()
                    .and_then(|input| input.skill.get())
                    .map(AsRef::as_ref)
                    .filter(|_| !failed)
            }
            _ => None,
        }
        // The model may call it as a person would type it.
        .map(|name| name.strip_prefix('/').unwrap_or(name))
        .filter(|name| !name.is_empty())
    }

    /// The command line that has run or has been started.
    pub fn command(&self) -> Option<Cow<'_, str>> {
        let ran = matches!(self.kind, EventKind::PostToolUse | EventKind::PostToolUseFailure)
            && self.payload.tool_name.get().is_some_and(|tool| tool == "Bash");
        let input = self.payload.tool_input.get().filter(|_| ran)?;
        input.command.get()?.whole(COMMAND_LONGEST)
    }

    /// How a command line ended. The event itself says that it was with 0, but for a 1 of `grep`, `diff` and the like, which
    /// the host takes for a success and explains (seen with 2.1.325). A response of another shape is not this host's.
    pub fn exit(&self) -> Exit {
        let response = match &self.payload.tool_response {
            _ if self.kind != EventKind::PostToolUse => return Exit::Unknown,
            Field::WrongType => return Exit::Unknown,
            Field::Missing => return Exit::Known(0),
            Field::Value(response) => response,
        };
        if response.interrupted == Field::Value(true) {
            return Exit::Unknown;
        }
        Exit::Known(i32::from(response.status_explained != Field::Missing))
    }

    /// The files that an editing tool, or one that the config names as a writer, has written.
    pub fn written(&self, writers: impl Fn(&str) -> bool) -> Option<&str> {
        let tool = self.payload.tool_name.get().filter(|_| self.kind == EventKind::PostToolUse)?;
        if let Some(target) = self.edit_target() {
            return target.ok();
        }
        let input = self.payload.tool_input.get().filter(|_| writers(tool))?;
        [&input.file_path, &input.path, &input.notebook_path]
            .into_iter()
            .find_map(Field::get)
            .map(AsRef::as_ref)
    }

    /// A file of flow or stock that was read.
    pub fn knowledge_read(&self) -> Option<&str> {
        let tool = self.payload.tool_name.get().filter(|_| self.kind == EventKind::PostToolUse)?;
        let input = self.payload.tool_input.get().filter(|_| tool == "Read")?;
        input.file_path.get().map(AsRef::as_ref).filter(|path| path.contains("/.claude/context/"))
    }

    /// The tool of our own MCP server that was called, on the main thread and with success.
    pub fn memory_call(&self) -> Option<&str> {
        let called = self.kind == EventKind::PostToolUse && self.main_thread();
        call::tool(self.payload.tool_name.get().filter(|_| called)?)
    }

    /// The topic that such a call names.
    pub fn called_topic(&self) -> Option<i64> {
        let id = self.payload.tool_input.get()?.topic_id.get()?;
        i64::try_from(*id).ok().filter(|id| *id > 0)
    }

    /// The agent that is spawned here, or was: what it is to do, and of what kind it is. Older hosts call the tool `Task`.
    pub fn spawn(&self) -> Option<(&str, &str)> {
        let is_tool = matches!(
            self.kind,
            EventKind::PreToolUse | EventKind::PostToolUse | EventKind::PostToolUseFailure
        );
        let tool = self.payload.tool_name.get().filter(|_| is_tool)?;
        if !matches!(tool.as_ref(), "Agent" | "Task") {
            return None;
        }
        let input = self.payload.tool_input.get();
        let description = input.and_then(|input| input.description.get()).map(AsRef::as_ref);
        let kind = input.and_then(|input| input.subagent_type.get()).map(AsRef::as_ref);
        Some((description.unwrap_or_default(), kind.unwrap_or_default()))
    }

    /// What an agent in the background was to do that this prompt of the host's says has failed.
    pub fn failed_agent(&self) -> Option<String> {
        let prompt = self.payload.prompt.get().filter(|_| self.kind == EventKind::UserPromptSubmit)?;
        let prompt = prompt.head(PROMPT_HEAD);
        let text = prompt.trim_start().strip_prefix("<task-notification>")?;
        if !text.contains("<status>failed</status>") {
            return None;
        }
        let (_, after) = text.split_once("<summary>Agent \"")?;
        after
            .split_once("</summary>")
            .and_then(|(summary, _)| summary.rsplit_once('"'))
            .map(|(what, _)| what.to_owned())
    }

    /// Whether the agent that was spawned here failed.
    pub fn spawn_failed(&self) -> bool {
        let status = self.payload.tool_response.get().and_then(|response| response.status.get());
        let failed = status.is_some_and(|status| matches!(status.as_ref(), "failed" | "error"));
        self.spawn().is_some()
            && (self.kind == EventKind::PostToolUseFailure || self.kind == EventKind::PostToolUse && failed)
    }

    /// The task in the background that the model has ended.
    pub fn stopped_task(&self) -> Option<&str> {
        let tool = self.payload.tool_name.get().filter(|_| self.kind == EventKind::PostToolUse)?;
        let input =
            self.payload.tool_input.get().filter(|_| matches!(tool.as_ref(), "TaskStop" | "KillShell"))?;
        input.task_id.get().map(AsRef::as_ref)
    }

    /// The subagent that this event comes from.
    pub fn agent(&self) -> Option<Agent<'_>> {
        let kind = self.payload.agent_type.get().map(AsRef::as_ref);
        match &self.payload.agent_id {
            Field::Missing => None,
            Field::Value(id) => Some(Agent { id, kind }),
            Field::WrongType => Some(Agent { id: "?", kind }),
        }
    }

    /// Whether the conversation was just compacted.
    pub fn compacted(&self) -> bool {
        self.kind == EventKind::SessionStart
            && self.payload.source.get().is_some_and(|source| source == "compact")
    }

    /// The task in the background that this prompt of the host's says has ended, and how.
    pub fn ended_task(&self) -> Option<EndedTask> {
        let prompt = self.payload.prompt.get().filter(|_| self.kind == EventKind::UserPromptSubmit)?;
        let prompt = prompt.head(PROMPT_HEAD);
        let text = prompt.trim_start().strip_prefix("<task-notification>")?;
        let between = |tag: &str| {
            let (_, rest) = text.split_once(&format!("<{tag}>"))?;
            rest.split_once(&format!("</{tag}>")).map(|(inner, _)| inner)
        };
        let completed = between("status") == Some("completed");
        let status = between("summary").and_then(|summary| summary.rsplit_once("(exit code "));
        let zero = status.is_some_and(|(_, rest)| rest == "0)");
        Some(EndedTask { id: between("task-id")?.to_owned(), succeeded: completed && zero })
    }

    /// The file an editing tool is about to write; `None` when the tool edits no file.
    pub fn edit_target(&self) -> Option<Result<&str, FailedStep>> {
        let notebook = match self.payload.tool_name.get().map(AsRef::as_ref) {
            Some("Edit" | "Write" | "MultiEdit") => false,
            Some("NotebookEdit") => true,
            _ => return None,
        };
        let input = match &self.payload.tool_input {
            Field::Missing => return Some(Err(FailedStep::MemberMissing("tool_input"))),
            Field::WrongType => return Some(Err(FailedStep::MemberType("tool_input"))),
            Field::Value(input) => input,
        };
        let (member, path) = if notebook {
            ("tool_input.notebook_path", &input.notebook_path)
        } else {
            ("tool_input.file_path", &input.file_path)
        };
        Some(match path {
            Field::Value(path) if !path.is_empty() => Ok(path),
            Field::Value(_) | Field::Missing => Err(FailedStep::MemberMissing(member)),
            Field::WrongType => Err(FailedStep::MemberType(member)),
        })
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

    #[test]
    fn the_payload_names_its_event_and_the_registration_stands_in() {
        let session = r#""session_id": "s""#;
        let kind = |json: String, registered| parse(json.as_bytes(), registered).map(|event| event.kind).ok();
        let pre = Some(EventKind::PreToolUse);
        assert_eq!(kind(format!("{{{session}, \"hook_event_name\": \"Stop\"}}"), pre), Some(EventKind::Stop));
        assert_eq!(
            kind(format!("{{{session}, \"hook_event_name\": null}}"), pre),
            Some(EventKind::PreToolUse)
        );
        assert_eq!(kind(format!("{{{session}, \"hook_event_name\": 7}}"), pre), Some(EventKind::PreToolUse));
        assert_eq!(kind(format!("{{{session}}}"), None), Some(EventKind::Other));
    }

    #[test]
    fn a_payload_that_was_cut_off_still_tells_its_event() {
        let kind = |json: &str| parse(json.as_bytes(), None).unwrap_err().kind;
        assert_eq!(
            kind(r#"{"session_id": "s", "hook_event_name" : "PreToolUse", "tool_inp"#),
            Some(EventKind::PreToolUse)
        );
        assert_eq!(kind(r#"{"session_id": "s", "hook_event_na"#), None);
        assert_eq!(kind(r#"{"hook_event_name": "PreTool"#), None);
    }

    #[test]
    fn machine_made_prompts_are_not_a_persons() {
        let event = |prompt: &str| {
            let json = serde_json::json!({"session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt": prompt});
            let text = json.to_string();
            parse(text.as_bytes(), None).unwrap().human_prompt().is_some()
        };
        assert!(event("hello"));
        assert!(event("/compound"));
        assert!(!event("<task-notification>\n<task-id>a</task-id>"));
        assert!(!event("  Stop hook feedback:\nrun the tests"));
        assert!(!event(" \n\t<task-notification>"));
        assert!(!event("\u{3000}\n<command-name>/x"));
        assert!(
            event("\"quoted\" <task-notification>")
                && event("\\n")
                && event("")
                && event("あ".repeat(40).as_str())
        );
    }
}
