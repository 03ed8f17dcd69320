//! From a payload of Claude Code to an event.

use std::borrow::Cow;

use super::payload::{self, ContextWindow, Payload};
use super::tools;
use crate::event::action::Exit;
use crate::event::prompt::{Author, EndedAgent, EndedTask, Notice, Prompt};
use crate::event::{BackgroundTask, Event, EventKind, PROMPT_HEAD, Permission, Start, UnreadableEvent};
use crate::host::{Host, head};
use crate::text::json::{LongText, read_object};

/// Enough to tell a person's prompt from the host's.
const FIRST_WORDS: usize = 64;

/// Begins the host's report that a background task ended.
const TASK_NOTIFICATION: &str = "<task-notification>";

/// Beginnings of texts that the host puts in place of a person's prompt.
pub(crate) const MACHINE: [&str; 8] = [
    TASK_NOTIFICATION,
    "<command-name>",
    "<command-message>",
    "<local-command-",
    "<system-reminder>",
    "<agent-message",
    "<cross-session-message",
    "Stop hook feedback:",
];

/// Reads a payload; see [`HostWing::read`](crate::host::HostWing::read).
pub(super) fn parse(bytes: &[u8], registered: Option<EventKind>) -> Result<Event<'_>, UnreadableEvent<'_>> {
    let mut payload: Payload<'_> = read_object(bytes).map_err(|why| head::broken(bytes, registered, why))?;
    let name = std::mem::take(&mut payload.hook_event_name);
    let begun = head::begin(Host::ClaudeCode, name, &payload.session_id, registered)?;
    let kind = begun.kind;
    let start = (kind == EventKind::SessionStart).then(|| head::start(payload.source.get()));
    let prompt = payload.prompt.get().filter(|_| kind == EventKind::UserPromptSubmit);
    let prompt = prompt.map(|text| prompt_of(*text, payload.source.get().map(AsRef::as_ref)));
    let action = tools::action(kind, &mut payload);
    Ok(Event {
        thread: head::thread(payload.agent_id, payload.agent_type),
        turn: payload.prompt_id.value(),
        cwd: payload.cwd.value(),
        transcript: payload.transcript_path.value(),
        start,
        copied_tokens: payload.context_tokens.value().filter(|_| start == Some(Start::Fork)),
        by_hand: payload.trigger.get().is_some_and(|trigger| trigger == "manual"),
        cause: payload.source.value().or(payload.trigger.value()),
        summary: payload.compact_summary.value(),
        model: match kind {
            EventKind::SessionStart => payload.model.value(),
            EventKind::PostModelSwitch => payload.to_model.value(),
            _ => None,
        },
        prompt,
        last_message: payload.last_assistant_message.value(),
        tasks: payload.background_tasks.value().unwrap_or_default().0.into_iter().map(task).collect(),
        held_before: payload.stop_hook_active.value().unwrap_or_default(),
        permission: payload.permission_mode.value().map(permission),
        tool: head::tool_name(payload.tool_name),
        call: payload.tool_use_id.value(),
        action,
        context: payload.context_window.get().map(ContextWindow::context),
        directory: payload.directory.value(),
        worktree: payload.worktree_path.value(),
        task_subject: payload.task_subject.value(),
        ..begun
    })
}

/// In some modes the host's own rules decide: for files in its own folder, and for whatever a path in the
/// project leads to, also through a link (seen with 2.1.325).
fn permission(mode: Cow<'_, str>) -> Permission<'_> {
    Permission { asks_nobody: matches!(mode.as_ref(), "bypassPermissions" | "dontAsk" | "auto"), mode }
}

fn task(task: payload::WireTask<'_>) -> BackgroundTask<'_> {
    let kind = task.kind.get().map_or("", AsRef::as_ref);
    BackgroundTask {
        is_agent: ["agent", "teammate", "workflow"].iter().any(|word| kind.contains(word)),
        is_running: task.status.get().is_none_or(|status| status == "running"),
        id: task.id.value(),
    }
}

/// `source` is declared by the host's types, but 2.1.325 does not send it.
fn prompt_of<'a>(text: LongText<'a>, source: Option<&str>) -> Prompt<'a> {
    let words = match text.first_words(FIRST_WORDS) {
        Some(words) => Cow::Borrowed(words),
        None => Cow::Owned(text.head(PROMPT_HEAD).trim_start().to_owned()),
    };
    let is_typed = matches!(source, None | Some("user" | "sdk"))
        && !MACHINE.iter().any(|start| words.starts_with(start));
    let author = match is_typed {
        false => Author::Host,
        true if words.starts_with('/') => Author::PersonByCommand,
        true => Author::Person,
    };
    let notice = words.starts_with(TASK_NOTIFICATION).then(|| notice(&text.head(PROMPT_HEAD))).flatten();
    Prompt { text, author, notice }
}

fn notice(prompt: &str) -> Option<Notice> {
    let text = prompt.trim_start().strip_prefix(TASK_NOTIFICATION)?;
    let between = |tag: &str| {
        let (_, rest) = text.split_once(&format!("<{tag}>"))?;
        rest.split_once(&format!("</{tag}>")).map(|(inner, _)| inner)
    };
    // A task that was stopped has no status of its own.
    let has_ended = matches!(between("status"), Some("completed" | "failed"));
    let status = between("summary").filter(|_| has_ended).and_then(|summary| {
        let (_, rest) =
            summary.rsplit_once("(exit code ").or_else(|| summary.rsplit_once("with exit code "))?;
        rest.trim_end_matches(')').parse().ok()
    });
    let exit = status.map_or(Exit::Unknown, Exit::Known);
    let ended = between("task-id").map(|id| EndedTask { id: id.to_owned(), exit });
    let agent = between("summary").and_then(|summary| {
        let task = ["Agent \"", "Dynamic workflow \""].iter().find_map(|kind| summary.strip_prefix(kind))?;
        // A long answer may be cut off.
        let answer = text.split_once("<result>").map_or("", |(_, rest)| rest);
        Some(EndedAgent {
            task: task.rsplit_once('"').map_or(task, |(task, _)| task).to_owned(),
            failed: between("status") == Some("failed"),
            answer: answer.split("</result>").next().unwrap_or_default().to_owned(),
        })
    });
    Some(Notice { ended, agent })
}

#[cfg(test)]
mod tests {
    use super::*;

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
