//! The forms of Qwen Code's replies (0.24.4). It ignores what it does not know.

use crate::event::EventKind;
use crate::host::common_reply::{ContextPlace, MUTE, RefusalForm, ReplyForm};

pub(super) fn form(kind: EventKind) -> ReplyForm {
    use ContextPlace::{Nested, No};
    use EventKind as E;
    let form = |no, context, user| ReplyForm { no, context, user };
    match kind {
        // Its context is dropped.
        E::PreToolUse => form(RefusalForm::Permission { asks: true }, No, true),
        E::UserPromptSubmit => form(RefusalForm::Decision, Nested, true),
        // A block is ignored there.
        E::PostToolUse | E::PostToolUseFailure | E::SessionStart => form(RefusalForm::No, Nested, true),
        // Without a terminal it shows the person the message of Stop, and of no other event.
        E::Stop => form(RefusalForm::Decision, No, true),
        E::SubagentStop => form(RefusalForm::Decision, No, false),
        // Its text joins the instructions to the summariser; a block is ignored.
        E::PreCompact => form(RefusalForm::No, Nested, false),
        _ => MUTE,
    }
}
