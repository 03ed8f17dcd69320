//! Replies on the wire, as they were seen to work with 1.0.102. The exit status is always 0: any other loses the
//! reason of a denial. A note for the model has its place at the top, before a tool call in the nested object.

use serde_json::{Map, Value, json};

use super::event::FEEDBACK;
use crate::event::EventKind;
use crate::host::answer::{Answer, Call, Channels, Reply};

/// How an event says no.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RefusalForm {
    /// `hookSpecificOutput.permissionDecision`, which can also ask.
    Permission,
    /// `decision: "block"` with a reason.
    Decision,
    /// It cannot.
    No,
}

struct ReplyForm {
    no: RefusalForm,
    /// `additionalContext`.
    context: bool,
    /// `systemMessage`, which `copilot -p` does not show.
    user: bool,
}

fn reply_form(kind: EventKind) -> ReplyForm {
    use EventKind as E;
    let form = |no, context, user| ReplyForm { no, context, user };
    match kind {
        E::PreToolUse => form(RefusalForm::Permission, true, true),
        E::PostToolUse | E::UserPromptSubmit => form(RefusalForm::Decision, true, true),
        E::SessionStart => form(RefusalForm::No, true, true),
        E::Stop => form(RefusalForm::Decision, false, true),
        E::SubagentStop => form(RefusalForm::Decision, false, false),
        // PreCompact only notifies.
        _ => form(RefusalForm::No, false, false),
    }
}

pub(super) fn channels(kind: EventKind) -> Channels {
    let form = reply_form(kind);
    Channels { context: form.context, user: form.user }
}

/// Without a person, Copilot takes a question for a denial.
pub(super) fn deliverable(kind: EventKind, call: Call) -> Call {
    let ends = matches!(kind, EventKind::Stop | EventKind::SubagentStop);
    match (reply_form(kind).no, call) {
        (_, Call::Pass) | (RefusalForm::No, _) => Call::Pass,
        (RefusalForm::Permission, Call::Ask) => Call::Ask,
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
    let call = deliverable(kind, answer.call);
    if call != Call::Pass {
        let reason = if answer.reason.trim().is_empty() { "not now" } else { answer.reason };
        match form.no {
            RefusalForm::Permission => {
                let decision = if call == Call::Ask { "ask" } else { "deny" };
                specific.insert("permissionDecision".to_owned(), decision.into());
                specific.insert("permissionDecisionReason".to_owned(), reason.into());
            }
            RefusalForm::Decision => {
                let feedback = if kind == EventKind::Stop { FEEDBACK } else { "" };
                output.insert("decision".to_owned(), "block".into());
                output.insert("reason".to_owned(), format!("{feedback}{reason}").into());
            }
            RefusalForm::No => {}
        }
    }
    if let Some(context) = some(answer.context).filter(|_| form.context) {
        let place = if kind == EventKind::PreToolUse { &mut specific } else { &mut output };
        place.insert("additionalContext".to_owned(), context);
    }
    if !specific.is_empty() {
        specific.insert("hookEventName".to_owned(), kind.name().into());
        output.insert("hookSpecificOutput".to_owned(), specific.into());
    }
    let stdout = if output.is_empty() { String::new() } else { Value::from(output).to_string() };
    Reply { exit: 0, stdout, stderr: String::new() }
}

/// Only PreToolUse refuses a call.
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
