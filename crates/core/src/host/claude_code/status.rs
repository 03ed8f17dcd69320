//! The payload of Claude Code's status line.

use std::borrow::Cow;

use serde::de::{IgnoredAny, MapAccess};

use super::payload::ContextWindow;
use crate::event::status::StatusInput;
use crate::text::json::{Field, Member, read_object, wire_key, wire_object};

wire_object! {
    struct StatusPayload<'a> {
        session_id: Cow<'a, str>,
        cwd: Cow<'a, str>,
        model: WireModel<'a>,
        workspace: Workspace<'a>,
        context_window: ContextWindow<'a>,
    }
}

wire_object! {
    struct WireModel<'a> {
        id: Cow<'a, str>,
    }
}

wire_object! {
    struct Workspace<'a> {
        project_dir: Cow<'a, str>,
    }
}

/// `None` if it is not an object.
pub(super) fn read(payload: &[u8]) -> Option<StatusInput<'_>> {
    let payload: StatusPayload<'_> = read_object(payload).ok()?;
    Some(StatusInput {
        session: payload.session_id.value(),
        cwd: payload.cwd.value(),
        project: payload.workspace.value().and_then(|workspace| workspace.project_dir.value()),
        model: payload.model.value().and_then(|model| model.id.value()),
        context: payload.context_window.get().map(ContextWindow::context).unwrap_or_default(),
    })
}
