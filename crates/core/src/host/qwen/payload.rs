//! The wire form of Qwen Code's payloads: only the members that an event is made of.

use std::borrow::Cow;

use serde::de::{IgnoredAny, MapAccess};

use crate::text::json::{Field, LongText, Member, ObjectList, Verbatim, wire_key, wire_object};

wire_object! {
    pub(super) struct Payload<'a> {
        hook_event_name: Cow<'a, str>,
        session_id: Cow<'a, str>,
        transcript_path: Cow<'a, str>,
        cwd: Cow<'a, str>,
        prompt_id: Cow<'a, str>,
        agent_id: Cow<'a, str>,
        agent_type: Cow<'a, str>,
        permission_mode: Cow<'a, str>,
        source: Cow<'a, str>,
        trigger: Cow<'a, str>,
        reason: Cow<'a, str>,
        model: Cow<'a, str>,
        prompt: LongText<'a>,
        submitted_prompt: LongText<'a>,
        tool_name: Cow<'a, str>,
        tool_use_id: Cow<'a, str>,
        tool_call_id: Cow<'a, str>,
        tool_input: ToolInput<'a>,
        tool_response: ToolResponse<'a>,
        error: LongText<'a>,
        is_interrupt: bool,
        duration_ms: u64,
        stop_hook_active: bool,
        last_assistant_message: LongText<'a>,
        background_tasks: ObjectList<WireTask<'a>>,
        compact_summary: LongText<'a>,
        context_limit: u64,
    }
}

wire_object! {
    pub(super) struct ToolInput<'a> {
        file_path: Cow<'a, str>,
        notebook_path: Cow<'a, str>,
        path: Cow<'a, str>,
        skill: Cow<'a, str>,
        command: LongText<'a>,
        directory: Cow<'a, str>,
        task_id: Cow<'a, str>,
        description: Cow<'a, str>,
        subagent_type: Cow<'a, str>,
        name: Cow<'a, str>,
        topic_id: u64,
        prompt: LongText<'a>,
        to: Cow<'a, str>,
    }
}

wire_object! {
    pub(super) struct ToolResponse<'a> {
        content as "llmContent": Verbatim<'a>,
    }
}

wire_object! {
    pub(super) struct WireTask<'a> {
        id: Cow<'a, str>,
        status: Cow<'a, str>,
        agent_type: Cow<'a, str>,
    }
}
