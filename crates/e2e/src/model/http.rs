//! The wire format of the scripted model's answers.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{Answer, Block, Shared, USUAL_PROMPT, Usage, message_id};
use crate::server::{Incoming, answer};

pub(super) fn respond(request: &Incoming, shared: &Shared) -> String {
    let path = request.path();
    if request.method != "POST" || !path.starts_with("/v1/messages") {
        shared.lock().unexpected.push(format!("{} {}", request.method, request.target));
        return answer(404, "application/json", &error_body("not_found_error", "no such resource"));
    }
    let Ok(body) = serde_json::from_slice::<Value>(&request.body) else {
        shared.lock().unexpected.push(format!("{} with a body that is not JSON", request.target));
        return answer(400, "application/json", &error_body("invalid_request_error", "not JSON"));
    };
    if path == "/v1/messages/count_tokens" {
        return answer(200, "application/json", &json!({ "input_tokens": USUAL_PROMPT }).to_string());
    }
    let session = request.header("x-claude-code-session-id");
    let requested = body["model"].as_str().unwrap_or_default().to_owned();
    // When the user switches models, the client tries the new one with a request that does not stream.
    let streams = body["stream"] == true;
    shared.await_transcript(session);
    let (reply, id) = shared.lock().answer(session, body);
    match reply.0 {
        Answer::Message { blocks, usage } if streams => {
            answer(200, "text/event-stream", &streamed_answer(id, &requested, &blocks, usage))
        }
        Answer::Message { blocks, usage } => {
            answer(200, "application/json", &whole_answer(id, &requested, &blocks, usage))
        }
        Answer::Error { status, kind, message } => {
            answer(status, "application/json", &error_body(&kind, &message))
        }
    }
}

fn error_body(kind: &str, message: &str) -> String {
    json!({ "type": "error", "error": { "type": kind, "message": message } }).to_string()
}

fn counters(usage: Usage, output: u64) -> Value {
    let round = |read: u64| {
        json!({
            "input_tokens": usage.input,
            "cache_creation_input_tokens": usage.cache_creation,
            "cache_read_input_tokens": read,
            "output_tokens": output,
        })
    };
    let Some(earlier) = usage.earlier_round else { return round(usage.cache_read) };
    let mut totals = round(usage.cache_read + earlier);
    let first = json!({ "type": "message", "input_tokens": earlier, "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0, "output_tokens": 1 });
    let mut last = round(usage.cache_read);
    last["type"] = json!("message");
    totals["iterations"] = json!([first, last]);
    totals
}

/// In a stream the block starts empty and its content follows.
fn block_json(block: &Block, id: usize, index: usize, empty: bool) -> Value {
    match block {
        Block::Text(text) => json!({ "type": "text", "text": if empty { "" } else { text } }),
        Block::Tool { name, input } => json!({
            "type": "tool_use",
            "id": format!("toolu_scripted_{id:04}_{index}"),
            "name": name,
            "input": if empty { json!({}) } else { input.clone() },
        }),
    }
}

fn stop_reason(blocks: &[Block]) -> &'static str {
    let uses_tools = blocks.iter().any(|block| matches!(block, Block::Tool { .. }));
    if uses_tools { "tool_use" } else { "end_turn" }
}

/// Without streaming.
fn whole_answer(id: usize, model: &str, blocks: &[Block], usage: Usage) -> String {
    let content = blocks.iter().enumerate().map(|(index, block)| block_json(block, id, index, false));
    json!({
        "id": message_id(id), "type": "message", "role": "assistant", "model": model,
        "content": content.collect::<Vec<_>>(), "stop_reason": stop_reason(blocks), "stop_sequence": null,
        "usage": counters(usage, usage.output),
    })
    .to_string()
}

/// The client takes the prompt's counters from `message_start`.
fn streamed_answer(id: usize, model: &str, blocks: &[Block], usage: Usage) -> String {
    let mut out = String::new();
    let mut event = |value: Value| {
        let name = value["type"].as_str().unwrap_or_default().to_owned();
        write!(out, "event: {name}\ndata: {value}\n\n").expect("writing to a string");
    };
    event(json!({
        "type": "message_start",
        "message": {
            "id": message_id(id), "type": "message", "role": "assistant", "model": model,
            "content": [], "stop_reason": null, "stop_sequence": null, "usage": counters(usage, 1),
        },
    }));
    for (index, block) in blocks.iter().enumerate() {
        let delta = match block {
            Block::Text(text) => json!({ "type": "text_delta", "text": text }),
            Block::Tool { input, .. } => {
                json!({ "type": "input_json_delta", "partial_json": input.to_string() })
            }
        };
        let start = block_json(block, id, index, true);
        event(json!({ "type": "content_block_start", "index": index, "content_block": start }));
        event(json!({ "type": "content_block_delta", "index": index, "delta": delta }));
        event(json!({ "type": "content_block_stop", "index": index }));
    }
    event(json!({
        "type": "message_delta",
        "delta": { "stop_reason": stop_reason(blocks), "stop_sequence": null },
        "usage": counters(usage, usage.output),
    }));
    event(json!({ "type": "message_stop" }));
    out
}
