//! From a payload of Codex to an event.

use std::borrow::Cow;

use super::payload::{Payload, ToolInput};
use super::transcript::MACHINE;
use crate::event::action::{Action, Exit, McpCall, ShellCommand};
use crate::event::prompt::Prompt;
use crate::event::{Event, EventKind, FailedStep, Permission, UnreadableEvent};
use crate::host::patch::{PATCH_LONGEST, patched_paths};
use crate::host::{Host, head};
use crate::shell;
use crate::text::json::{Field, LongText, read_object};

/// The name for the shell, whatever the tool is called in the version.
const SHELL: &str = "Bash";
pub(super) const PATCH: &str = "apply_patch";

/// Programs that print a file.
const READERS: [&str; 7] = ["cat", "head", "tail", "sed", "nl", "less", "bat"];

/// Reads a payload; see [`HostWing::read`](crate::host::HostWing::read).
pub(super) fn parse(bytes: &[u8], registered: Option<EventKind>) -> Result<Event<'_>, UnreadableEvent<'_>> {
    let mut payload: Payload<'_> = read_object(bytes).map_err(|why| head::broken(bytes, registered, why))?;
    let name = std::mem::take(&mut payload.hook_event_name);
    let begun = head::begin(Host::Codex, name, &payload.session_id, registered)?;
    let kind = begun.kind;
    let start = (kind == EventKind::SessionStart).then(|| head::start(payload.source.get()));
    let prompt = payload.prompt.get().filter(|_| kind == EventKind::UserPromptSubmit);
    let prompt =
        prompt.map(|text| Prompt { text: *text, author: head::author(*text, &MACHINE), notice: None });
    let action = action(kind, &mut payload);
    Ok(Event {
        thread: head::thread(payload.agent_id, payload.agent_type),
        turn: payload.turn_id.value(),
        cwd: payload.cwd.value(),
        transcript: payload.transcript_path.value(),
        start,
        by_hand: payload.trigger.get().is_some_and(|trigger| trigger == "manual"),
        cause: payload.source.value().or(payload.trigger.value()).or(payload.reason.value()),
        // Every event names it, so only a new session's counts as a change.
        model: payload.model.value().filter(|_| start.is_some()),
        prompt,
        last_message: payload.last_assistant_message.value(),
        held_before: payload.stop_hook_active.value().unwrap_or_default(),
        permission: payload.permission_mode.value().map(permission),
        tool: head::required(payload.tool_name, "tool_name"),
        call: payload.tool_use_id.value(),
        action,
        ..begun
    })
}

fn permission(mode: Cow<'_, str>) -> Permission<'_> {
    Permission { asks_nobody: matches!(mode.as_ref(), "bypassPermissions" | "dontAsk"), mode }
}

/// Moves members out of the tool's input.
fn action<'a>(kind: EventKind, payload: &mut Payload<'a>) -> Action<'a> {
    let Some(tool) = payload.tool_name.get() else { return Action::Other };
    let input = std::mem::take(&mut payload.tool_input);
    let cwd = payload.cwd.get().map(AsRef::as_ref);
    let known = |input: Field<ToolInput<'a>>| input.value().unwrap_or_default();
    match tool.as_ref() {
        PATCH => Action::Edit(patched(input, cwd)),
        SHELL => {
            let response = payload.tool_response.get().map(|response| response.0);
            shell_action(kind, &input, response)
        }
        // Some models call it by a name with a prefix: `collaborationspawn_agent`.
        name if name.ends_with("spawn_agent") => {
            let ToolInput { task_name, message, agent_type, .. } = known(input);
            Action::Spawn {
                task: task_name.value().or(message.value()).unwrap_or_default(),
                kind: agent_type.value().unwrap_or_default(),
                failed: false,
                answer: None,
            }
        }
        name if name.starts_with("mcp__") => {
            let ToolInput { file_path, path, topic_id, .. } = known(input);
            Action::Mcp(McpCall {
                own_tool: head::own_tool(tool),
                topic: head::topic(topic_id),
                path: file_path.value().or(path.value()),
            })
        }
        _ => Action::Other,
    }
}

/// Paths are relative to the working directory.
fn patched<'a>(input: Field<ToolInput<'a>>, cwd: Option<&str>) -> Result<Vec<Cow<'a, str>>, FailedStep> {
    const MEMBER: &str = "tool_input.command";
    let patch = head::required(head::required(input, "tool_input")?.command, MEMBER)?;
    let patch = patch.whole(PATCH_LONGEST).ok_or(FailedStep::MemberType(MEMBER))?;
    patched_paths(&patch, cwd).ok_or(FailedStep::MemberMissing("a file in tool_input.command"))
}

/// The payload has no exit status: Codex writes it into the rollout.
fn shell_action<'a>(kind: EventKind, input: &Field<ToolInput<'a>>, response: Option<&'a str>) -> Action<'a> {
    let line = input.get().and_then(|input| head::command_line(&input.command));
    let output = response.and_then(|json| serde_json::from_str::<Field<LongText<'a>>>(json).ok()?.value());
    if kind == EventKind::PostToolUse
        && let Some(name) = line.as_deref().and_then(read_skill)
        // A file that is not there leaves an error.
        && output.is_some_and(|text| text.head(64).trim_start().starts_with("---"))
    {
        return Action::Skill { name: Some(Cow::Owned(name)), failed: false };
    }
    Action::Command(ShellCommand {
        line,
        exit: Exit::Unknown,
        output: [output, None, None],
        is_cut: false,
        background: None,
        duration: None,
    })
}

/// Codex has no tool for skills: the model reads their file with a command that does nothing else.
fn read_skill(line: &str) -> Option<String> {
    if !line.contains("SKILL.md") {
        return None;
    }
    let script = shell::parse(line)?;
    let [step] = script.steps.as_slice() else { return None };
    if !step.name().is_some_and(|name| READERS.contains(&name)) {
        return None;
    }
    let paths = step.words.iter().skip(1).filter_map(|word| word.known());
    let mut skills = paths.filter_map(|path| path.strip_suffix("/SKILL.md")?.rsplit('/').next());
    skills.next().filter(|name| !name.is_empty()).map(str::to_owned)
}
