//! The forms of Copilot's replies (1.0.102). The exit status is always 0: any other loses the reason of a denial. A note
//! for the model has its place at the top, before a tool call in the nested object.

use super::event::FEEDBACK;
use crate::event::EventKind;
use crate::host::answer::{Answer, Reply};
use crate::host::common_reply::{self, ContextPlace, MUTE, RefusalForm, ReplyForm};

pub(super) fn form(kind: EventKind) -> ReplyForm {
    use ContextPlace::{Nested, No, Top};
    use EventKind as E;
    let form = |no, context, user| ReplyForm { no, context, user };
    match kind {
        // Without a person, Copilot takes a question for a denial.
        E::PreToolUse => form(RefusalForm::Permission { asks: true }, Nested, true),
        E::PostToolUse | E::UserPromptSubmit => form(RefusalForm::Decision, Top, true),
        E::SessionStart => form(RefusalForm::No, Top, true),
        E::Stop => form(RefusalForm::Decision, No, true),
        E::SubagentStop => form(RefusalForm::Decision, No, false),
        // PreCompact only notifies.
        _ => MUTE,
    }
}

/// The reason of a blocked stop comes back as a prompt, so it says that it is none.
pub(super) fn reply(kind: EventKind, answer: &Answer<'_>) -> Reply {
    if kind != EventKind::Stop {
        return form(kind).reply(kind, answer);
    }
    let reason = format!("{FEEDBACK}{}", common_reply::reason_of(answer));
    form(kind).reply(kind, &Answer { reason: &reason, ..*answer })
}
