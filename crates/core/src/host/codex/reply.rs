//! Replies on the wire. Codex drops an answer with any member that its schema does not have, and the call runs. So
//! every event has a form of its own, made of nothing but the members that were seen to work (0.166.0).

use serde_json::{Map, Value, json};

use crate::event::EventKind;
use crate::host::answer::{Answer, Call, Channels, Reply};

/// How an event says no.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RefusalForm {
    /// `hookSpecificOutput.permissionDecision: "deny"`, which needs a reason.
    Permission,
    /// `decision: "block"` with a reason.
    Decision,
    /// It cannot.
    No,
}

struct ReplyForm {
    no: RefusalForm,
    /// `hookSpecificOutput.additionalContext`.
    context: bool,
    /// `systemMessage`, which `codex exec` does not show.
    user: bool,
}

fn reply_form(kind: EventKind) -> ReplyForm {
    use EventKind as E;
    let form = |no, context, user| ReplyForm { no, context, user };
    match kind {
        E::PreToolUse => form(RefusalForm::Permission, true, true),
        E::PostToolUse | E::UserPromptSubmit => form(RefusalForm::Decision, true, true),
        E::SessionStart => form(RefusalForm::No, true, true),
        E::SubagentStart => form(RefusalForm::No, true, false),
        // Neither takes a `hookSpecificOutput`.
        E::Stop => form(RefusalForm::Decision, false, true),
        E::SubagentStop => form(RefusalForm::Decision, false, false),
        // The text of PreCompact is dropped, and a veto would end the turn.
        _ => form(RefusalForm::No, false, false),
    }
}

pub(super) fn channels(kind: EventKind) -> Channels {
    let form = reply_form(kind);
    Channels { context: form.context, user: form.user }
}

/// An answer that asks or ends the turn is invalid, and the call would run.
pub(super) fn deliverable(kind: EventKind, call: Call) -> Call {
    let ends = matches!(kind, EventKind::Stop | EventKind::SubagentStop);
    match (reply_form(kind).no, call) {
        (_, Call::Pass) | (RefusalForm::No, _) => Call::Pass,
        // A halt lets the turn end.
        (_, Call::Halt) if ends => Call::Pass,
        (_, Call::Ask | Call::Deny | Call::Halt) => Call::Deny,
    }
}

pub(super) fn reply(kind: EventKind, answer: &Answer<'_>) -> Reply {
    let form = reply_form(kind);
    let some = |text: &str| (!text.is_empty()).then(|| Value::from(text));
    let mut output = Map::new();
    let mut specific = Map::new();
    if let Some(user) = some(answer.user).filter(|_| form.user) {
        output.insert("systemMessage".to_owned(), user);
    }
    if deliverable(kind, answer.call) == Call::Deny {
        let reason = if answer.reason.trim().is_empty() { "not now" } else { answer.reason };
        match form.no {
            RefusalForm::Permission => {
                specific.insert("permissionDecision".to_owned(), "deny".into());
                specific.insert("permissionDecisionReason".to_owned(), reason.into());
            }
            RefusalForm::Decision => {
                output.insert("decision".to_owned(), "block".into());
                output.insert("reason".to_owned(), reason.into());
            }
            RefusalForm::No => {}
        }
    }
    if let Some(context) = some(answer.context).filter(|_| form.context) {
        specific.insert("additionalContext".to_owned(), context);
    }
    if !specific.is_empty() {
        specific.insert("hookEventName".to_owned(), kind.name().into());
        output.insert("hookSpecificOutput".to_owned(), specific.into());
    }
    let stdout = if output.is_empty() { String::new() } else { Value::from(output).to_string() };
    Reply { exit: 0, stdout, stderr: String::new() }
}

/// Only PreToolUse refuses a call. With exit 0 the person's text arrives, too.
pub(super) fn refuse(model: &str, user: &str) -> Reply {
    let output = json!({
        "systemMessage": user,
        "hookSpecificOutput": {
            "hookEventName": EventKind::PreToolUse.name(),
            "permissionDecision": "deny",
            "permissionDecisionReason": model,
        },
    });
    Reply { exit: 0, stdout: output.to_string(), stderr: String::new() }
}
