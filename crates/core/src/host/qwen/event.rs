//! From a payload of Qwen Code to an event.

use std::borrow::Cow;

use super::payload::{Payload, WireTask};
use super::tools;
use super::transcript::MACHINE;
use crate::event::prompt::{Author, Prompt};
use crate::event::status::ContextUse;
use crate::event::{BackgroundTask, Event, EventKind, Permission, UnreadableEvent};
use crate::host::{Host, head};
use crate::text::json::{Field, LongText, read_object};

/// Reads a payload; see [`HostWing::read`](crate::host::HostWing::read).
pub(super) fn parse(bytes: &[u8], registered: Option<EventKind>) -> Result<Event<'_>, UnreadableEvent<'_>> {
    let mut payload: Payload<'_> = read_object(bytes).map_err(|why| head::broken(bytes, registered, why))?;
    let name = std::mem::take(&mut payload.hook_event_name);
    let begun = head::begin(Host::Qwen, name, &payload.session_id, registered)?;
    let kind = kind(begun.kind, &payload);
    let start = (kind == EventKind::SessionStart).then(|| head::start(payload.source.get()));
    let prompt = payload.prompt.get().filter(|_| kind == EventKind::UserPromptSubmit);
    let is_submitted = payload.submitted_prompt != Field::Missing;
    let prompt = prompt.map(|text| Prompt { text: *text, author: author(*text, is_submitted), notice: None });
    let action = tools::action(kind, &mut payload);
    let window = payload.context_limit.get().copied().filter(|window| *window > 0);
    let name = if kind == begun.kind { begun.name } else { Cow::Borrowed(kind.name()) };
    Ok(Event {
        kind,
        name,
        thread: head::thread(payload.agent_id, payload.agent_type),
        turn: payload.prompt_id.value(),
        cwd: payload.cwd.value(),
        transcript: payload.transcript_path.value(),
        start,
        by_hand: payload.trigger.get().is_some_and(|trigger| trigger == "manual"),
        cause: payload.source.value().or(payload.trigger.value()).or(payload.reason.value()),
        summary: payload.compact_summary.value(),
        model: payload.model.value().filter(|_| start.is_some()),
        prompt,
        last_message: payload.last_assistant_message.value(),
        tasks: payload.background_tasks.value().unwrap_or_default().0.into_iter().map(task).collect(),
        held_before: payload.stop_hook_active.value().unwrap_or_default(),
        permission: payload.permission_mode.value().map(permission),
        tool: head::tool_name(payload.tool_name),
        // The chat record has the model's own id of the call.
        call: payload.tool_call_id.value().or(payload.tool_use_id.value()),
        action,
        // Its count leaves out the answer, which the next request holds: the record has both.
        context: window.map(|window| ContextUse { used: None, window: Some(window) }),
        ..begun
    })
}

/// Qwen Code also announces the results of tools as a prompt, with an empty text.
fn kind(named: EventKind, payload: &Payload<'_>) -> EventKind {
    let is_empty = payload.prompt.get().is_none_or(|prompt| prompt.is_empty());
    if named == EventKind::UserPromptSubmit && is_empty { EventKind::PostToolBatch } else { named }
}

fn permission(mode: Cow<'_, str>) -> Permission<'_> {
    Permission { asks_nobody: mode == "yolo", mode }
}

/// A person's text comes a second time, as it was submitted. The reason of a blocked stop does not.
fn author(text: LongText<'_>, is_submitted: bool) -> Author {
    if is_submitted { head::author(text, &MACHINE) } else { Author::Host }
}

/// A background command has no type.
fn task(task: WireTask<'_>) -> BackgroundTask<'_> {
    BackgroundTask {
        is_agent: task.agent_type != Field::Missing,
        is_running: task.status.get().is_none_or(|status| status == "running"),
        id: task.id.value(),
    }
}
