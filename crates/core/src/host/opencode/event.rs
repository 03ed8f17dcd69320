//! From a payload of the plugin to an event.

use std::borrow::Cow;

use serde::de::{IgnoredAny, MapAccess};

use crate::event::action::{Action, Exit, McpCall, ShellCommand};
use crate::event::prompt::{Author, Prompt};
use crate::event::status::ContextUse;
use crate::event::{Event, EventKind, FailedStep, UnreadableEvent};
use crate::host::patch::{PATCH_LONGEST, patched_paths};
use crate::host::{Host, head};
use crate::text::json::{Field, LongText, Member, read_object, wire_key, wire_object};
use crate::time::Millis;

/// opencode puts the name of an MCP server before the name of each of its tools.
const OWN_SERVER: &str = "tidegate_";

/// Reads a payload; see [`HostWing::read`](crate::host::HostWing::read).
pub(super) fn parse(bytes: &[u8], registered: Option<EventKind>) -> Result<Event<'_>, UnreadableEvent<'_>> {
    let mut payload: Payload<'_> = read_object(bytes).map_err(|why| head::broken(bytes, registered, why))?;
    let name = std::mem::take(&mut payload.hook_event_name);
    let begun = head::begin(Host::OpenCode, name, &payload.session_id, registered)?;
    let kind = begun.kind;
    let start = (kind == EventKind::SessionStart).then(|| head::start(payload.source.get()));
    let is_of_person = payload.author.get().is_some_and(|author| author == "person");
    let prompt = payload.prompt.get().filter(|_| kind == EventKind::UserPromptSubmit);
    let prompt = prompt.map(|text| Prompt { text: *text, author: author(*text, is_of_person), notice: None });
    let action = action(kind, &mut payload);
    let positive = |count: &Field<u64>| count.get().copied().filter(|count| *count > 0);
    let context = ContextUse { used: positive(&payload.used), window: positive(&payload.window) };
    Ok(Event {
        thread: head::thread(payload.agent_id, Field::Missing),
        cwd: payload.cwd.value(),
        start,
        by_hand: payload.trigger.get().is_some_and(|trigger| trigger == "manual"),
        cause: payload.source.value().or(payload.trigger.value()),
        summary: payload.summary.value(),
        prompt,
        last_message: payload.last_message.value(),
        held_before: payload.held_before.value().unwrap_or_default(),
        tool: head::tool_name(payload.tool_name),
        call: payload.call_id.value(),
        action,
        context: (context.used.is_some() || context.window.is_some()).then_some(context),
        ..begun
    })
}

fn author(text: LongText<'_>, is_of_person: bool) -> Author {
    if is_of_person { head::author(text, &[]) } else { Author::Host }
}

/// Moves members out of the tool's input.
fn action<'a>(kind: EventKind, payload: &mut Payload<'a>) -> Action<'a> {
    let Some(tool) = payload.tool_name.get() else { return Action::Other };
    let input = std::mem::take(&mut payload.tool_input);
    let cwd = payload.cwd.get().map(AsRef::as_ref);
    let known = |input: Field<ToolInput<'a>>| input.value().unwrap_or_default();
    match tool.as_ref() {
        "edit" | "write" | "multiedit" => {
            Action::Edit(head::edited(input, "tool_input.filePath", |input| input.file_path))
        }
        "apply_patch" | "patch" => Action::Edit(patched(input, cwd)),
        "bash" => {
            let input = known(input);
            Action::Command(ShellCommand {
                line: head::command_line(&input.command),
                folder: head::command_folder(&input.workdir, cwd),
                exit: exit(kind, payload),
                output: [payload.tool_output.get().copied(), None, None],
                is_cut: false,
                background: None,
                duration: None,
                began: payload.began.get().copied().map(Millis),
            })
        }
        // A skill that is not there has no event after it.
        "skill" => {
            Action::Skill { name: known(input).name.value().filter(|name| !name.is_empty()), failed: false }
        }
        "task" => {
            let ToolInput { description, subagent_type, .. } = known(input);
            Action::Spawn {
                task: description.value().unwrap_or_default(),
                kind: subagent_type.value().unwrap_or_default(),
                failed: false,
                answer: payload.tool_output.get().copied(),
            }
        }
        "question" => Action::Question,
        "read" => Action::Read(known(input).file_path.value()),
        // opencode's own tools have no other underscore.
        name if name.contains('_') => {
            let own = name.strip_prefix(OWN_SERVER).map(|tool| Cow::Owned(tool.to_owned()));
            let ToolInput { file_path, other_file_path, path, topic_id, .. } = known(input);
            let path = path.value().or(other_file_path.value()).or(file_path.value());
            Action::Mcp(McpCall { own_tool: own, topic: head::topic(topic_id), path })
        }
        _ => Action::Other,
    }
}

fn exit(kind: EventKind, payload: &Payload<'_>) -> Exit {
    let whole = |code: &f64| code.fract() == 0.0 && (-2_147_483_648.0..=2_147_483_647.0).contains(code);
    let code = payload.exit.get().filter(|code| kind == EventKind::PostToolUse && whole(code));
    code.map_or(Exit::Unknown, |code| Exit::Known(*code as i32))
}

/// Paths are relative to the working directory.
fn patched<'a>(input: Field<ToolInput<'a>>, cwd: Option<&str>) -> Result<Vec<Cow<'a, str>>, FailedStep> {
    const MEMBER: &str = "tool_input.patchText";
    let patch = head::required(head::required(input, "tool_input")?.patch, MEMBER)?;
    let patch = patch.whole(PATCH_LONGEST).ok_or(FailedStep::MemberType(MEMBER))?;
    patched_paths(&patch, cwd).ok_or(FailedStep::MemberMissing("a file in tool_input.patchText"))
}

wire_object! {
    struct Payload<'a> {
        hook_event_name: Cow<'a, str>,
        session_id: Cow<'a, str>,
        agent_id: Cow<'a, str>,
        cwd: Cow<'a, str>,
        source: Cow<'a, str>,
        trigger: Cow<'a, str>,
        summary: LongText<'a>,
        prompt: LongText<'a>,
        author: Cow<'a, str>,
        last_message: LongText<'a>,
        held_before: bool,
        used: u64,
        window: u64,
        tool_name: Cow<'a, str>,
        call_id: Cow<'a, str>,
        tool_input: ToolInput<'a>,
        tool_output: LongText<'a>,
        exit: f64,
        // When the command began, in milliseconds.
        began: u64,
    }
}

wire_object! {
    struct ToolInput<'a> {
        file_path as "filePath": Cow<'a, str>,
        other_file_path as "file_path": Cow<'a, str>,
        path: Cow<'a, str>,
        command: LongText<'a>,
        workdir: Cow<'a, str>,
        name: Cow<'a, str>,
        description: Cow<'a, str>,
        subagent_type: Cow<'a, str>,
        patch as "patchText": LongText<'a>,
        topic_id: u64,
    }
}
