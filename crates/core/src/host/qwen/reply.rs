//! Replies on the wire, as Qwen Code 0.24.4 was seen to take them. It ignores what it does not know.

use serde_json::{Map, Value, json};

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
    /// `hookSpecificOutput.additionalContext`.
    context: bool,
    /// `systemMessage`. Without a terminal only that of Stop is shown.
    user: bool,
}

fn reply_form(kind: EventKind) -> ReplyForm {
    use EventKind as E;
    let form = |no, context, user| ReplyForm { no, context, user };
    match kind {
        // Its context is dropped.
        E::PreToolUse => form(RefusalForm::Permission, false, true),
        E::UserPromptSubmit => form(RefusalForm::Decision, true, true),
        // A block is ignored there.
        E::PostToolUse | E::PostToolUseFailure | E::SessionStart => form(RefusalForm::No, true, true),
        E::Stop => form(RefusalForm::Decision, false, true),
        E::SubagentStop => form(RefusalForm::Decision, false, false),
        // Its text joins the instructions to the summariser; a block is ignored.
        E::PreCompact => form(RefusalForm::No, true, false),
        _ => form(RefusalForm::No, false, false),
    }
}

pub(super) fn channels(kind: EventKind) -> Channels {
    let form = reply_form(kind);
    Channels { context: form.context, user: form.user }
}

pub(super) fn deliverable(kind: EventKind, call: Call) -> Call {
    let ends = matches!(kind, EventKind::Stop | EventKind::SubagentStop);
    match (reply_form(kind).no, call) {
        (_, Call::Pass) | (RefusalForm::No, _) => Call::Pass,
        // A halt lets the turn end.
        (_, Call::Halt) if ends => Call::Pass,
        (RefusalForm::Permission, Call::Ask) => Call::Ask,
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
    if call > Call::Pass {
        let reason = if answer.reason.trim().is_empty() { "not now" } else { answer.reason };
        match form.no {
            RefusalForm::Permission => {
                let decision = if call == Call::Ask { "ask" } else { "deny" };
                specific.insert("permissionDecision".to_owned(), decision.into());
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
