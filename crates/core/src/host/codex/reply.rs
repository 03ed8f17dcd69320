//! The forms of Codex's replies (0.166.0). It drops an answer with any member that its schema does not have for the
//! event, and the call runs.

use crate::event::EventKind;
use crate::host::common_reply::{ContextPlace, MUTE, RefusalForm, ReplyForm};

pub(super) fn form(kind: EventKind) -> ReplyForm {
    use ContextPlace::{Nested, No};
    use EventKind as E;
    let form = |no, context, user| ReplyForm { no, context, user };
    match kind {
        // A question is invalid, and so is an end of the turn.
        E::PreToolUse => form(RefusalForm::Permission { asks: false }, Nested, true),
        E::PostToolUse | E::UserPromptSubmit => form(RefusalForm::Decision, Nested, true),
        E::SessionStart => form(RefusalForm::No, Nested, true),
        E::SubagentStart => form(RefusalForm::No, Nested, false),
        // Neither takes a `hookSpecificOutput`.
        E::Stop => form(RefusalForm::Decision, No, true),
        E::SubagentStop => form(RefusalForm::Decision, No, false),
        // The text of PreCompact is dropped, and a veto would end the turn.
        _ => MUTE,
    }
}
