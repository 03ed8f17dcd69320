//! Payloads as the client would have sent them to its hooks.

use serde_json::{Value, json};

use crate::scratch::Scratch;
use crate::transcript::{CompactionStart, Happening, Moment, RunningTask, ToolUse};

/// Any id will do: marks of a session are kept in memory.
const SESSION: &str = "replayed";

/// The payload, with paths of the session led into the scratch folder.
pub(crate) fn write_payload(moment: &Moment, turn: usize, scratch: &Scratch) -> Value {
    let mut payload = write_head(moment, turn, scratch);
    if let Some(agent) = &moment.agent {
        payload["agent_id"] = json!(agent);
        payload["agent_type"] = json!("general-purpose");
    }
    let name = match &moment.what {
        Happening::Start => {
            payload["source"] = json!("startup");
            "SessionStart"
        }
        Happening::Compaction(_) => {
            payload["source"] = json!("compact");
            "SessionStart"
        }
        Happening::Summary(summary) => {
            payload["trigger"] = json!("auto");
            payload["compact_summary"] = json!(summary);
            "PostCompact"
        }
        // No hook runs when the model answers.
        Happening::Answer(_) => "Notification",
        Happening::Prompt(prompt) => {
            payload["prompt"] = json!(prompt);
            "UserPromptSubmit"
        }
        Happening::TypedCommand(name) => {
            payload["command_name"] = json!(name);
            "UserPromptExpansion"
        }
        Happening::Call(call) => {
            name_tool(&mut payload, call, scratch);
            "PreToolUse"
        }
        Happening::Result(end) => {
            name_tool(&mut payload, &end.call, scratch);
            payload["duration_ms"] = json!(end.millis);
            match &end.response {
                Ok(response) => {
                    payload["tool_response"] = response.clone();
                    "PostToolUse"
                }
                Err(error) => {
                    payload["error"] = json!(error);
                    "PostToolUseFailure"
                }
            }
        }
        Happening::TurnEnd(end) => {
            payload["stop_hook_active"] = json!(false);
            payload["last_assistant_message"] = json!(end.said);
            payload["background_tasks"] = end.running.iter().map(write_task).collect();
            "Stop"
        }
    };
    payload["hook_event_name"] = json!(name);
    payload
}

fn write_head(moment: &Moment, turn: usize, scratch: &Scratch) -> Value {
    json!({
        "session_id": SESSION,
        "transcript_path": "/nonexistent/transcript.jsonl",
        "cwd": scratch.map_path(&moment.cwd),
        "prompt_id": turn.to_string(),
    })
}

/// Comes before the compaction, whose own payload is that of the start after it.
pub(crate) fn write_pre_compact(
    moment: &Moment,
    start: &CompactionStart,
    turn: usize,
    scratch: &Scratch,
) -> Value {
    let mut payload = write_head(moment, turn, scratch);
    payload["hook_event_name"] = json!("PreCompact");
    payload["trigger"] = json!(if start.is_by_hand { "manual" } else { "auto" });
    payload
}

fn write_task(task: &RunningTask) -> Value {
    json!({"id": task.id, "type": if task.is_agent { "agent" } else { "shell" }, "status": "running"})
}

fn name_tool(payload: &mut Value, call: &ToolUse, scratch: &Scratch) {
    payload["tool_name"] = json!(call.tool);
    payload["tool_use_id"] = json!(call.id);
    let mut input = call.input.clone();
    for name in ["file_path", "notebook_path", "path"] {
        if let Some(path) = input[name].as_str() {
            input[name] = json!(scratch.map_path(path));
        }
    }
    if let Some(line) = input["command"].as_str() {
        input["command"] = json!(scratch.map(line));
    }
    payload["tool_input"] = input;
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
            let bytes = write_payload(moment, 1, &scratch).to_string();
            let event = Host::ClaudeCode.read(bytes.as_bytes(), None).unwrap();
            if let Some(Ok(paths)) = event.edit_paths() {
                assert_eq!(paths, [scratch.root.join("a.rs").to_str().unwrap()]);
            }
            kinds.push(event.kind);
        }
        assert_eq!(kinds, [SessionStart, UserPromptSubmit, PreToolUse, PostToolUse, Stop]);
    }
}
