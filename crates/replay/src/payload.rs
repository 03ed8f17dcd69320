//! Payloads as the client would have sent them to its hooks.

use serde::Serialize;
use serde_json::{Value, json};

use crate::moment::{CompactionStart, Happening, Moment, RunningTask, ToolUse};
use crate::scratch::Scratch;

/// Any id will do: marks of a session are kept in memory.
const SESSION: &str = "replayed";

/// Most of it is borrowed: outputs are large.
#[derive(Default, Serialize)]
struct Payload<'a> {
    hook_event_name: &'static str,
    session_id: &'static str,
    transcript_path: &'static str,
    cwd: String,
    prompt_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trigger: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    compact_summary: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    command_name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_use_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_input: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_response: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    duration_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stop_hook_active: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_assistant_message: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    background_tasks: Option<Vec<Value>>,
}

impl<'a> Payload<'a> {
    fn of(name: &'static str, moment: &Moment, turn: usize, scratch: &Scratch) -> Payload<'a> {
        Payload {
            hook_event_name: name,
            session_id: SESSION,
            transcript_path: "/nonexistent/transcript.jsonl",
            cwd: scratch.map_path(&moment.cwd),
            prompt_id: turn.to_string(),
            ..Payload::default()
        }
    }

    fn with_tool(self, call: &'a ToolUse, scratch: &Scratch) -> Payload<'a> {
        let mut input = call.input.clone();
        for name in ["file_path", "notebook_path", "path"] {
            if let Some(path) = input[name].as_str() {
                input[name] = json!(scratch.map_path(path));
            }
        }
        if let Some(line) = input["command"].as_str() {
            input["command"] = json!(scratch.map(line));
        }
        Payload { tool_name: Some(&call.tool), tool_use_id: Some(&call.id), tool_input: Some(input), ..self }
    }

    /// Nothing in it can fail to be written.
    fn write(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }
}

/// The payload, with paths of the session led into the scratch folder.
pub(crate) fn write_payload(moment: &Moment, turn: usize, scratch: &Scratch) -> Vec<u8> {
    let of = |name| {
        let agent_type = moment.agent.is_some().then_some("general-purpose");
        let head = Payload::of(name, moment, turn, scratch);
        Payload { agent_id: moment.agent.as_deref(), agent_type, ..head }
    };
    let payload = match &moment.what {
        Happening::Start => Payload { source: Some("startup"), ..of("SessionStart") },
        Happening::Compaction(_) => Payload { source: Some("compact"), ..of("SessionStart") },
        Happening::Summary(summary) => {
            Payload { trigger: Some("auto"), compact_summary: Some(summary), ..of("PostCompact") }
        }
        // No hook runs when the model answers.
        Happening::Answer(_) => of("Notification"),
        Happening::Prompt(prompt) => Payload { prompt: Some(prompt), ..of("UserPromptSubmit") },
        Happening::TypedCommand(name) => Payload { command_name: Some(name), ..of("UserPromptExpansion") },
        Happening::Call(call) => of("PreToolUse").with_tool(call, scratch),
        Happening::Result(end) => {
            let payload = match &end.response {
                Ok(response) => Payload { tool_response: Some(response), ..of("PostToolUse") },
                Err(error) => Payload { error: Some(error), ..of("PostToolUseFailure") },
            };
            Payload { duration_ms: Some(end.millis), ..payload }.with_tool(&end.call, scratch)
        }
        Happening::TurnEnd(end) => Payload {
            stop_hook_active: Some(false),
            last_assistant_message: Some(&end.said),
            background_tasks: Some(end.running.iter().map(write_task).collect()),
            ..of("Stop")
        },
    };
    payload.write()
}

/// Comes before the compaction, whose own payload is that of the start after it.
pub(crate) fn write_pre_compact(
    moment: &Moment,
    start: &CompactionStart,
    turn: usize,
    scratch: &Scratch,
) -> Vec<u8> {
    let trigger = Some(if start.is_by_hand { "manual" } else { "auto" });
    Payload { trigger, ..Payload::of("PreCompact", moment, turn, scratch) }.write()
}

fn write_task(task: &RunningTask) -> Value {
    json!({"id": task.id, "type": if task.is_agent { "agent" } else { "shell" }, "status": "running"})
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::read_session;
    use tidegate_core::event::EventKind::{PostToolUse, PreToolUse, SessionStart, Stop, UserPromptSubmit};
    use tidegate_core::host::Host;

    #[test]
    fn the_hooks_of_a_small_session() {
        let lines = [
            json!({"type": "user", "cwd": "/w/shop", "message": {"content": "fix it"}}),
            json!({"type": "assistant", "cwd": "/w/shop", "message": {"content": [
                {"type": "tool_use", "id": "1", "name": "Edit", "input": {"file_path": "/w/shop/a.rs", "old_string": "x"}}]}}),
            json!({"type": "user", "cwd": "/w/shop", "toolUseResult": {"originalFile": "x"}, "message": {"content": [
                {"type": "tool_result", "tool_use_id": "1", "content": "done"}]}}),
            json!({"type": "assistant", "cwd": "/w/shop", "message": {"content": [{"type": "text", "text": "Done."}]}}),
        ];
        let text = lines.map(|line| line.to_string()).join("\n");
        let session = read_session("a.jsonl", &text);
        let scratch = Scratch::new("/w/shop").unwrap();
        let mut kinds = Vec::new();
        for moment in &session.moments {
            let bytes = write_payload(moment, 1, &scratch);
            let event = Host::ClaudeCode.read(&bytes, None).unwrap();
            if let Some(Ok(paths)) = event.edit_paths() {
                assert_eq!(paths, [scratch.root.join("a.rs").to_str().unwrap()]);
            }
            kinds.push(event.kind);
        }
        assert_eq!(kinds, [SessionStart, UserPromptSubmit, PreToolUse, PostToolUse, Stop]);
    }
}
