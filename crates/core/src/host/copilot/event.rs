//! From a payload of Copilot CLI to an event.
//!
//! A subagent has a session of its own, which belongs to its parent's here. Its Stop is followed by a SubagentStop
//! that says more, so nothing answers the former.

use std::borrow::Cow;

use super::payload::{Payload, ToolInput, ToolResult};
use super::shell_line::{ShellLine, read_notice, read_shell_line};
use crate::event::action::{Action, Exit, McpCall, ShellCommand};
use crate::event::prompt::{Author, EndedTask, Notice, Prompt};
use crate::event::{Event, EventKind, FailedStep, Start, UnreadableEvent};
use crate::host::patch::{PATCH_LONGEST, patched_paths};
use crate::host::{Host, head};
use crate::text::json::{Field, LongText, Verbatim, read_object};
use crate::time::Millis;

/// Copilot submits the reason of a blocked stop as a prompt, and writes it down as one. This beginning tells it from
/// a person's.
pub(super) const FEEDBACK: &str = "Stop hook feedback:\n";

/// Beginnings of texts in the place of prompts that no person typed.
pub(super) const MACHINE: [&str; 4] =
    ["Stop hook feedback:", "<system_notification>", "<skill-context", "<system_reminder>"];

/// The beginning of the names of Tidegate's own MCP tools: Copilot puts the server's name there.
const OWN_SERVER: &str = "tidegate-";

/// Reads a payload; see [`HostWing::read`](crate::host::HostWing::read).
pub(super) fn parse(bytes: &[u8], registered: Option<EventKind>) -> Result<Event<'_>, UnreadableEvent<'_>> {
    let mut payload: Payload<'_> = read_object(bytes).map_err(|why| head::broken(bytes, registered, why))?;
    let name = std::mem::take(&mut payload.hook_event_name);
    // Registrations in camel case get other members. Tidegate writes none, and judges none; where it did register an
    // event, a gate must not open for such a payload.
    let is_other_dialect = name == Field::Missing && payload.camel_session != Field::Missing;
    if let Some(kind) = registered.filter(|_| is_other_dialect) {
        let step = FailedStep::MemberMissing("hook_event_name");
        return Err(UnreadableEvent { kind: Some(kind), name: kind.name().into(), step });
    }
    // A subagent's events are its parent's, who started it.
    let is_of_agent = payload.agent_id != Field::Missing;
    let session = match (&payload.parent_agent_id, &payload.session_id) {
        (Field::Value(_), _) if is_of_agent => &payload.parent_agent_id,
        (_, Field::Missing) => &payload.camel_session,
        (_, session) => session,
    };
    let begun = head::begin(Host::Copilot, name, session, registered)?;
    let is_ignored = is_other_dialect || is_of_agent && begun.kind == EventKind::Stop;
    let kind = if is_ignored { EventKind::Other } else { begun.kind };
    let start = (kind == EventKind::SessionStart).then(|| match payload.source.get() {
        Some(source) if source == "new" => Start::Startup,
        source => head::start(source),
    });
    let prompt = prompt(kind, &payload, is_of_agent);
    let action = action(kind, &mut payload);
    let at = payload.timestamp.get().and_then(|text| Millis::from_iso(text));
    Ok(Event {
        kind,
        thread: head::thread(payload.agent_id, payload.agent_type),
        // No member names the turn or the call; each event has a time of its own.
        turn: payload.timestamp.value(),
        at,
        cwd: payload.cwd.value(),
        transcript: payload.transcript_path.value(),
        start,
        by_hand: payload.trigger.get().is_some_and(|trigger| trigger == "manual"),
        cause: payload.source.value().or(payload.trigger.value()).or(payload.reason.value()),
        prompt,
        last_message: payload.last_assistant_message.value(),
        held_before: payload.stop_hook_active.value().unwrap_or_default(),
        tool: head::tool_name(payload.tool_name),
        action,
        ..begun
    })
}

/// The end of a command in the background arrives as a notification, before the model hears of it.
fn prompt<'a>(kind: EventKind, payload: &Payload<'a>, is_of_agent: bool) -> Option<Prompt<'a>> {
    match kind {
        EventKind::UserPromptSubmit => {
            let text = *payload.prompt.get()?;
            let author = if is_of_agent { Author::Host } else { head::author(text, &MACHINE) };
            Some(Prompt { text, author, notice: None })
        }
        EventKind::Notification
            if payload.notification_type.get().is_some_and(|it| it == "shell_completed") =>
        {
            let text = *payload.message.get()?;
            let (id, exit) = read_notice(&text.head(1024))?;
            let notice = Some(Notice { ended: Some(EndedTask { id, exit }), agent: None });
            Some(Prompt { text, author: Author::Host, notice })
        }
        _ => None,
    }
}

/// Moves members out of the payload.
fn action<'a>(kind: EventKind, payload: &mut Payload<'a>) -> Action<'a> {
    let Some(tool) = payload.tool_name.get() else { return Action::Other };
    let input = std::mem::take(&mut payload.tool_input);
    let result = payload.tool_result.get();
    let failed = result.is_some_and(|it| !it.succeeded());
    match tool.as_ref() {
        // It changed nothing. A result that says nothing of that may have.
        "Edit" | "Write" | "apply_patch" if result.is_some_and(ToolResult::was_refused) => Action::Other,
        "Edit" | "Write" | "apply_patch" => {
            Action::Edit(edited(&input, payload.cwd.get().map(AsRef::as_ref)))
        }
        "Bash" => Action::Command(shell_command(kind, &input, result)),
        "PowerShell" => Action::OtherShell(shell_command(kind, &input, result)),
        "Read" => Action::Read(members(&input).path.value()),
        "skill" => Action::Skill { name: members(&input).skill.value().filter(|it| !it.is_empty()), failed },
        "Agent" => {
            let ToolInput { description, name, agent_type, .. } = members(&input);
            Action::Spawn {
                task: description.value().or(name.value()).unwrap_or_default(),
                kind: agent_type.value().unwrap_or_default(),
                failed,
                answer: result.and_then(|result| result.text.get().copied()),
            }
        }
        // `server-tool`: Copilot's own tools have no hyphen.
        name if name.contains('-') => {
            let ToolInput { file_path, path, topic_id, .. } = members(&input);
            Action::Mcp(McpCall {
                own_tool: name.strip_prefix(OWN_SERVER).map(|tool| Cow::Owned(tool.to_owned())),
                topic: head::topic(topic_id),
                path: file_path.value().or(path.value()),
            })
        }
        _ => Action::Other,
    }
}

/// Empty if the input is not an object.
fn members<'a>(input: &Field<Verbatim<'a>>) -> ToolInput<'a> {
    input.get().and_then(|input| read_object(input.0.as_bytes()).ok()).unwrap_or_default()
}

/// One file by its path, or all files of a patch.
fn edited<'a>(input: &Field<Verbatim<'a>>, cwd: Option<&str>) -> Result<Vec<Cow<'a, str>>, FailedStep> {
    let Field::Value(Verbatim(json)) = *input else { return Err(FailedStep::MemberMissing("tool_input")) };
    if json.starts_with('"') {
        let patch = serde_json::from_str::<Field<LongText<'_>>>(json).ok().and_then(Field::value);
        let patch = patch.and_then(|patch| patch.whole(PATCH_LONGEST));
        let patch = patch.ok_or(FailedStep::MemberType("tool_input"))?;
        return patched_paths(&patch, cwd).ok_or(FailedStep::MemberMissing("a file in tool_input"));
    }
    let input: ToolInput<'a> =
        read_object(json.as_bytes()).map_err(|_| FailedStep::MemberType("tool_input"))?;
    let path = if input.path == Field::Missing { input.file_path } else { input.path };
    head::one_path(path, "tool_input.path")
}

/// The host's own last line of the output says how the command ended.
fn shell_command<'a>(
    kind: EventKind,
    input: &Field<Verbatim<'a>>,
    result: Option<&ToolResult<'a>>,
) -> ShellCommand<'a> {
    let output = result.and_then(|result| result.text.get().copied());
    let line = output.filter(|_| kind == EventKind::PostToolUse).and_then(read_shell_line);
    let (exit, background) = match line {
        // Without success a line about it is the command's own.
        Some(ShellLine::Ended(0) | ShellLine::Runs(_)) if !result.is_some_and(ToolResult::succeeded) => {
            (Exit::Unknown, None)
        }
        Some(ShellLine::Ended(exit)) => (Exit::Known(exit), None),
        // The start succeeded; the end is judged when its notification comes.
        Some(ShellLine::Runs(shell)) => (Exit::Known(0), Some(Cow::Owned(shell))),
        None => (Exit::Unknown, None),
    };
    ShellCommand {
        line: head::command_line(&members(input).command),
        folder: None,
        exit,
        output: [output, None, None],
        is_cut: output.is_some_and(|text| text.head(64).starts_with("Output too large")),
        background,
        duration: None,
        began: None,
    }
}
