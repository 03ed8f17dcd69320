//! The wire form of Copilot's payloads: only the members that an event is made of.

use std::borrow::Cow;

use serde::de::{IgnoredAny, MapAccess};

use crate::text::json::{Field, LongText, Member, Verbatim, wire_key, wire_object};

wire_object! {
    pub(super) struct Payload<'a> {
        hook_event_name: Cow<'a, str>,
        session_id: Cow<'a, str>,
        // In notifications.
        camel_session as "sessionId": Cow<'a, str>,
        // A text, in notifications a number.
        timestamp: Cow<'a, str>,
        transcript_path: Cow<'a, str>,
        cwd: Cow<'a, str>,
        agent_id: Cow<'a, str>,
        agent_type: Cow<'a, str>,
        parent_agent_id: Cow<'a, str>,
        source: Cow<'a, str>,
        trigger: Cow<'a, str>,
        reason: Cow<'a, str>,
        prompt: LongText<'a>,
        tool_name: Cow<'a, str>,
        // An object; the text of a patch from models that patch files.
        tool_input: Verbatim<'a>,
        tool_result: ToolResult<'a>,
        stop_hook_active: bool,
        last_assistant_message: LongText<'a>,
        message: LongText<'a>,
        notification_type: Cow<'a, str>,
    }
}

wire_object! {
    pub(super) struct ToolInput<'a> {
        path: Cow<'a, str>,
        file_path: Cow<'a, str>,
        command: LongText<'a>,
        skill: Cow<'a, str>,
        name: Cow<'a, str>,
        description: Cow<'a, str>,
        agent_type: Cow<'a, str>,
        topic_id: u64,
    }
}

wire_object! {
    pub(super) struct ToolResult<'a> {
        result_type: Cow<'a, str>,
        text as "text_result_for_llm": LongText<'a>,
    }
}

impl ToolResult<'_> {
    pub(super) fn succeeded(&self) -> bool {
        self.result_type.get().is_some_and(|kind| kind == "success")
    }

    /// By a person, a rule or a hook, or because it could not be done.
    pub(super) fn was_refused(&self) -> bool {
        self.result_type.get().is_some_and(|kind| kind != "success")
    }
}
