//! Answers for the plugin: one object with the members that it knows. Before a call every answer is explicit, a yes, too: a
//! program that ends without a word has checked nothing.

use serde_json::{Map, Value};

use crate::event::EventKind;
use crate::host::answer::{Answer, Call, Channels, Reply};
use crate::host::common_reply;

/// The member that says no: before a call it fails, after a turn it becomes the next prompt.
fn refusal(kind: EventKind) -> Option<&'static str> {
    match kind {
        EventKind::PreToolUse => Some("deny"),
        EventKind::Stop => Some("block"),
        _ => None,
    }
}

/// opencode shows a person no text of a plugin.
pub(super) fn channels(kind: EventKind) -> Channels {
    use EventKind as E;
    let context = matches!(kind, E::SessionStart | E::UserPromptSubmit | E::PostToolUse | E::PreCompact);
    Channels { context, user: false }
}

pub(super) fn deliverable(kind: EventKind, call: Call) -> Call {
    match (refusal(kind), call) {
        (None, _) | (_, Call::Pass) => Call::Pass,
        // A halt lets the turn end.
        (_, Call::Halt) if kind == EventKind::Stop => Call::Pass,
        (Some(_), Call::Ask | Call::Deny | Call::Halt) => Call::Deny,
    }
}

pub(super) fn reply(kind: EventKind, answer: &Answer<'_>) -> Reply {
    let mut output = Map::new();
    let denies = deliverable(kind, answer.call) == Call::Deny;
    if let Some(member) = refusal(kind).filter(|_| denies) {
        output.insert(member.to_owned(), common_reply::reason_of(answer).into());
    }
    if kind == EventKind::PreToolUse && !denies {
        output.insert("pass".to_owned(), true.into());
    }
    if channels(kind).context && !answer.context.is_empty() {
        output.insert("context".to_owned(), answer.context.into());
    }
    let stdout = if output.is_empty() { String::new() } else { Value::from(output).to_string() };
    Reply { exit: 0, stdout, stderr: String::new() }
}

/// Only PreToolUse refuses a call.
pub(super) fn refuse(model: &str) -> Reply {
    reply(EventKind::PreToolUse, &Answer { call: Call::Deny, reason: model, ..Answer::default() })
}
