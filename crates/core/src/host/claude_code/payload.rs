//! The wire form of Claude Code's payloads: only the members that an event is made of.

use std::borrow::Cow;

use serde::de::{IgnoredAny, MapAccess, SeqAccess};

use crate::event::status::ContextUse;
use crate::host::head::FirstText;
use crate::text::json::{Field, LongText, Member, ObjectList, wire_key, wire_object};

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
        model: Cow<'a, str>,
        to_model: Cow<'a, str>,
        prompt: LongText<'a>,
        tool_name: Cow<'a, str>,
        tool_use_id: Cow<'a, str>,
        tool_input: ToolInput<'a>,
        tool_response: ToolResponse<'a>,
        error: LongText<'a>,
        is_interrupt: bool,
        duration_ms: u64,
        command_name: Cow<'a, str>,
        task_subject: Cow<'a, str>,
        directory: Cow<'a, str>,
        worktree_path: Cow<'a, str>,
        stop_hook_active: bool,
        background_tasks: ObjectList<WireTask<'a>>,
        last_assistant_message: LongText<'a>,
        compact_summary: LongText<'a>,
        context_tokens: u64,
        context_window: ContextWindow<'a>,
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
        to: Cow<'a, str>,
        message: SentMessage<'a>,
    }
}

wire_object! {
    /// A message to an agent, if it is not a text.
    pub(super) struct SentMessage<'a> {
        kind as "type": Cow<'a, str>,
    }
}

wire_object! {
    pub(super) struct ToolResponse<'a> {
        success: bool,
        interrupted: bool,
        stdout: LongText<'a>,
        stderr: LongText<'a>,
        status: Cow<'a, str>,
        content: FirstText<'a>,
        status_explained as "returnCodeInterpretation": Cow<'a, str>,
        background_task as "backgroundTaskId": Cow<'a, str>,
        persisted_output as "persistedOutputPath": Cow<'a, str>,
    }
}

wire_object! {
    pub(super) struct WireTask<'a> {
        id: Cow<'a, str>,
        kind as "type": Cow<'a, str>,
        status: Cow<'a, str>,
    }
}

wire_object! {
    /// The host's own meter. In the status line of Claude Code, in the Stop payload of some other hosts.
    pub(super) struct ContextWindow<'a> {
        context_window_size: u64,
        total_input_tokens: u64,
        current_usage: Usage<'a>,
    }
}

wire_object! {
    /// Token counts of one answer.
    pub(super) struct Usage<'a> {
        input_tokens: u64,
        cache_creation_input_tokens: u64,
        cache_read_input_tokens: u64,
        output_tokens: u64,
        iterations: LastIteration<'a>,
    }
}

/// With server tools one answer takes several requests. The totals then count the context once per request,
/// so only the last iteration shows the size of the context.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct LastIteration<'a>(Option<Box<Usage<'a>>>);

impl<'de> Member<'de> for LastIteration<'de> {
    fn list<A: SeqAccess<'de>>(mut seq: A) -> Result<Option<Self>, A::Error> {
        let mut last = None;
        while let Some(usage) = seq.next_element::<Field<Usage<'de>>>()? {
            last = usage.value().map(Box::new).or(last);
        }
        Ok(Some(LastIteration(last)))
    }
}

impl Usage<'_> {
    /// Tokens of the request: the numerator of the host's own percentage. `None` without any count.
    pub(super) fn used(&self) -> Option<u64> {
        let usage = self.last();
        let parts = [&usage.input_tokens, &usage.cache_creation_input_tokens, &usage.cache_read_input_tokens];
        let counted = parts.iter().any(|part| part.get().is_some());
        counted.then(|| parts.iter().filter_map(|part| part.get()).sum())
    }

    pub(super) fn answer(&self) -> u64 {
        self.last().output_tokens.get().copied().unwrap_or_default()
    }

    /// The last iteration with a count, else the totals.
    fn last(&self) -> &Self {
        let last = self.iterations.get().and_then(|iterations| iterations.0.as_deref());
        last.filter(|last| last.used().is_some()).unwrap_or(self)
    }
}

impl ContextWindow<'_> {
    /// Zero or `null` used tokens mean unknown, not empty; a window of zero means none.
    pub(super) fn context(&self) -> ContextUse {
        let usage = self.current_usage.get().and_then(Usage::used);
        let used = usage.or(self.total_input_tokens.get().copied()).filter(|used| *used > 0);
        let window = self.context_window_size.get().copied().filter(|size| *size > 0);
        ContextUse { used, window }
    }
}
