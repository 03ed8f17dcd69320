//! Replies in the form that Claude Code's hooks brought up, as other hosts adopted it: one JSON object on stdout, exit
//! status 0. Each host has its own table of what an event can carry, made of nothing but what was seen to work; only a
//! member that the table has is written.
//!
//! Claude Code itself has more ways to say no, and is not answered from here.

use serde_json::{Map, Value, json};

use super::answer::{Answer, Call, Channels, Reply};
use crate::event::EventKind;

/// How an event says no.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RefusalForm {
    /// `hookSpecificOutput.permissionDecision`, which needs a reason.
    Permission { asks: bool },
    /// `decision: "block"` with a reason.
    Decision,
    /// It cannot.
    No,
}

/// The place of `additionalContext`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ContextPlace {
    /// In `hookSpecificOutput`.
    Nested,
    Top,
    /// Dropped by the host.
    No,
}

/// One row of a host's table.
pub(super) struct ReplyForm {
    pub(super) no: RefusalForm,
    pub(super) context: ContextPlace,
    /// `systemMessage` reaches the person, at least at a terminal.
    pub(super) user: bool,
}

/// Without members, the event carries nothing.
pub(super) const MUTE: ReplyForm = ReplyForm { no: RefusalForm::No, context: ContextPlace::No, user: false };

impl ReplyForm {
    pub(super) fn channels(&self) -> Channels {
        Channels { context: self.context != ContextPlace::No, user: self.user }
    }

    /// A stricter call would be dropped, or make the whole answer invalid: then the tool would run.
    pub(super) fn deliverable(&self, kind: EventKind, call: Call) -> Call {
        let ends = matches!(kind, EventKind::Stop | EventKind::SubagentStop);
        match (self.no, call) {
            (_, Call::Pass) | (RefusalForm::No, _) => Call::Pass,
            // A halt lets the turn end.
            (_, Call::Halt) if ends => Call::Pass,
            (RefusalForm::Permission { asks: true }, Call::Ask) => Call::Ask,
            (_, Call::Ask | Call::Deny | Call::Halt) => Call::Deny,
        }
    }

    pub(super) fn reply(&self, kind: EventKind, answer: &Answer<'_>) -> Reply {
        let some = |text: &str| (!text.is_empty()).then(|| Value::from(text));
        let mut output = Map::new();
        let mut specific = Map::new();
        if let Some(user) = some(answer.user).filter(|_| self.user) {
            output.insert("systemMessage".to_owned(), user);
        }
        let call = self.deliverable(kind, answer.call);
        if call != Call::Pass {
            let reason = reason_of(answer);
            match self.no {
                RefusalForm::Permission { .. } => {
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
        if let Some(context) = some(answer.context) {
            let place = match self.context {
                ContextPlace::Nested => Some(&mut specific),
                ContextPlace::Top => Some(&mut output),
                ContextPlace::No => None,
            };
            place.map(|place| place.insert("additionalContext".to_owned(), context));
        }
        if !specific.is_empty() {
            specific.insert("hookEventName".to_owned(), kind.name().into());
            output.insert("hookSpecificOutput".to_owned(), specific.into());
        }
        let stdout = if output.is_empty() { String::new() } else { Value::from(output).to_string() };
        Reply { exit: 0, stdout, stderr: String::new() }
    }
}

/// No host takes a denial without a reason.
pub(super) fn reason_of<'a>(answer: &Answer<'a>) -> &'a str {
    if answer.reason.trim().is_empty() { "not now" } else { answer.reason }
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
