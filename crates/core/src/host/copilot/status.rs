//! The payload of Copilot's status line.

use std::borrow::Cow;

use serde::de::{IgnoredAny, MapAccess};

use crate::event::status::{ContextUse, StatusInput};
use crate::text::json::{Field, Member, read_object, wire_key, wire_object};

wire_object! {
    struct StatusPayload<'a> {
        session_id: Cow<'a, str>,
        cwd: Cow<'a, str>,
        model: WireModel<'a>,
        context_window: ContextWindow<'a>,
    }
}

wire_object! {
    struct WireModel<'a> {
        id: Cow<'a, str>,
    }
}

wire_object! {
    /// Other counts in it are of the last request alone, without the system's prompt and the tools.
    struct ContextWindow<'a> {
        current_context_tokens: u64,
        displayed_context_limit: u64,
        context_window_size: u64,
    }
}

/// `None` if it is not an object.
pub(super) fn read(payload: &[u8]) -> Option<StatusInput<'_>> {
    let payload: StatusPayload<'_> = read_object(payload).ok()?;
    let context = payload.context_window.value().unwrap_or_default();
    // Zero means that nothing was counted yet.
    let some = |tokens: Field<u64>| tokens.value().filter(|tokens| *tokens > 0);
    Some(StatusInput {
        session: payload.session_id.value(),
        project: None,
        cwd: payload.cwd.value(),
        model: payload.model.value().and_then(|model| model.id.value()),
        context: ContextUse {
            used: some(context.current_context_tokens),
            window: some(context.displayed_context_limit).or(some(context.context_window_size)),
        },
    })
}
