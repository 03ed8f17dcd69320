//! The wire form of Codex's payloads: only the members that an event is made of.

use std::borrow::Cow;

use serde::de::{IgnoredAny, MapAccess};

use crate::text::json::{Field, LongText, Member, Verbatim, wire_key, wire_object};

wire_object! {
    pub(super) struct Payload<'a> {
        hook_event_name: Cow<'a, str>,
        session_id: Cow<'a, str>,
        transcript_path: Cow<'a, str>,
        cwd: Cow<'a, str>,
        turn_id: Cow<'a, str>,
        agent_id: Cow<'a, str>,
        agent_type: Cow<'a, str>,
        permission_mode: Cow<'a, str>,
        source: Cow<'a, str>,
        trigger: Cow<'a, str>,
        reason: Cow<'a, str>,
        model: Cow<'a, str>,
        prompt: LongText<'a>,
        tool_name: Cow<'a, str>,
        tool_use_id: Cow<'a, str>,
        tool_input: ToolInput<'a>,
        tool_response: Verbatim<'a>,
        stop_hook_active: bool,
        last_assistant_message: LongText<'a>,
    }
}

wire_object! {
    pub(super) struct ToolInput<'a> {
        command: LongText<'a>,
        task_name: Cow<'a, str>,
        message: Cow<'a, str>,
        agent_type: Cow<'a, str>,
        topic_id: u64,
        file_path: Cow<'a, str>,
        path: Cow<'a, str>,
    }
}
