//! The wire form of Qwen Code's payloads: only the members that an event is made of.

use std::borrow::Cow;

use serde::de::{IgnoredAny, MapAccess, SeqAccess};

use crate::text::json::{Field, LongText, Member, Verbatim, wire_key, wire_object};

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
        background_tasks: BackgroundTasks<'a>,
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
        task_id: Cow<'a, str>,
        description: Cow<'a, str>,
        subagent_type: Cow<'a, str>,
        name: Cow<'a, str>,
        topic_id: u64,
        prompt: LongText<'a>,
    }
}

wire_object! {
    pub(super) struct ToolResponse<'a> {
        content as "llmContent": Verbatim<'a>,
    }
}

wire_object! {
    pub(super) struct WireBlock<'a> {
        text: LongText<'a>,
    }
}

/// A text, or the first text of a list.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Said<'a>(Option<LongText<'a>>);

impl<'a> Said<'a> {
    pub(super) fn first(json: &'a str) -> Option<LongText<'a>> {
        let text = || serde_json::from_str::<Field<LongText<'a>>>(json).ok()?.value();
        text().or_else(|| serde_json::from_str::<Field<Said<'a>>>(json).ok()?.value()?.0)
    }
}

impl<'de> Member<'de> for Said<'de> {
    fn list<A: SeqAccess<'de>>(mut seq: A) -> Result<Option<Self>, A::Error> {
        let mut first = None;
        while let Some(block) = seq.next_element::<Field<WireBlock<'de>>>()? {
            first = first.or_else(|| block.value()?.text.value());
        }
        Ok(Some(Said(first)))
    }
}

wire_object! {
    pub(super) struct WireTask<'a> {
        id: Cow<'a, str>,
        status: Cow<'a, str>,
        agent_type: Cow<'a, str>,
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct BackgroundTasks<'a>(pub(super) Vec<WireTask<'a>>);

impl<'de> Member<'de> for BackgroundTasks<'de> {
    fn list<A: SeqAccess<'de>>(mut seq: A) -> Result<Option<Self>, A::Error> {
        let mut tasks = Vec::new();
        while let Some(task) = seq.next_element::<Field<WireTask<'de>>>()? {
            tasks.extend(task.value());
        }
        Ok(Some(BackgroundTasks(tasks)))
    }
}
