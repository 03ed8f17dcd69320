//! The wire format of OpenAI's APIs: responses as a stream, chat completions as a stream or in one piece.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{Call, Shared, Step, USUAL_PROMPT};
use crate::server::{Incoming, answer};

const JSON: &str = "application/json";
const STREAM: &str = "text/event-stream";

pub(super) fn respond(request: &Incoming, shared: &Shared) -> String {
    let path = request.path();
    if request.method == "GET" && path.ends_with("/models") {
        let list = json!({ "object": "list", "data": [{ "id": "scripted", "object": "model" }] });
        return answer(200, JSON, &list.to_string());
    }
    let form = match request.method.as_str() {
        "POST" if path.ends_with("/responses") => responses,
        "POST" if path.ends_with("/chat/completions") => completions,
        _ => {
            shared.lock().refused.push(format!("{} {}", request.method, request.target));
            return answer(404, JSON, &json!({ "error": { "message": "no such resource" } }).to_string());
        }
    };
    let Ok(body) = serde_json::from_slice::<Value>(&request.body) else {
        shared.lock().refused.push(format!("{} with a body that is not JSON", request.target));
        return answer(400, JSON, &json!({ "error": { "message": "not JSON" } }).to_string());
    };
    let streams = body["stream"] == true;
    let model = body["model"].clone();
    let (step, id) = shared.lock().answer(body);
    let (content_type, text) = form(&step, id, &model, streams);
    answer(200, content_type, &text)
}

fn call_id(id: usize, index: usize) -> String {
    format!("call_{id:04}_{index}")
}

fn responses(step: &Step, id: usize, model: &Value, _streams: bool) -> (&'static str, String) {
    let response = format!("resp_{id:04}");
    let message = (!step.text.is_empty()).then(|| {
        json!({ "type": "message", "role": "assistant", "id": format!("msg_{id:04}"),
            "content": [{ "type": "output_text", "text": step.text }] })
    });
    let calls = step.calls.iter().enumerate().map(|(index, call)| match call {
        Call::Function { namespace, name, arguments } => {
            let mut call = json!({ "type": "function_call", "call_id": call_id(id, index), "name": name,
                "arguments": arguments.to_string() });
            if let Some(namespace) = namespace {
                call["namespace"] = json!(namespace);
            }
            call
        }
        Call::Freeform { name, input } => json!({ "type": "custom_tool_call",
            "call_id": call_id(id, index), "name": name, "input": input }),
    });
    let items: Vec<Value> = message.into_iter().chain(calls).collect();
    let used = step.used.unwrap_or(USUAL_PROMPT);
    let mut events = vec![json!({ "type": "response.created", "response": { "id": response } })];
    for (index, item) in items.iter().enumerate() {
        for kind in ["response.output_item.added", "response.output_item.done"] {
            events.push(json!({ "type": kind, "output_index": index, "item": item }));
        }
    }
    events.push(json!({ "type": "response.completed", "response": {
        "id": response, "model": model, "output": items,
        "usage": { "input_tokens": used, "input_tokens_details": { "cached_tokens": 0 }, "output_tokens": 10,
            "output_tokens_details": { "reasoning_tokens": 0 }, "total_tokens": used + 10 },
    } }));
    let mut text = String::new();
    for event in events {
        let name = event["type"].as_str().unwrap_or_default();
        write!(text, "event: {name}\ndata: {event}\n\n").expect("writing to a string");
    }
    (STREAM, text)
}

fn completions(step: &Step, id: usize, model: &Value, streams: bool) -> (&'static str, String) {
    let calls = step.calls.iter().enumerate().map(|(index, call)| match call {
        Call::Function { name, arguments, .. } => json!({ "index": index, "id": call_id(id, index),
            "type": "function", "function": { "name": name, "arguments": arguments.to_string() } }),
        Call::Freeform { name, input } => json!({ "index": index, "id": call_id(id, index),
            "type": "custom", "custom": { "name": name, "input": input } }),
    });
    let calls: Vec<Value> = calls.collect();
    let reason = if calls.is_empty() { "stop" } else { "tool_calls" };
    let used = step.used.unwrap_or(USUAL_PROMPT);
    let usage = json!({ "prompt_tokens": used, "completion_tokens": 10, "total_tokens": used + 10 });
    let object = |kind: &str, choices: Value| {
        json!({ "id": format!("chat_{id:04}"), "object": kind, "created": 1, "model": model,
            "choices": choices })
    };
    if !streams {
        let mut message = json!({ "role": "assistant", "content": step.text });
        if !calls.is_empty() {
            message["tool_calls"] = json!(calls);
        }
        let choice = json!([{ "index": 0, "message": message, "finish_reason": reason }]);
        let mut whole = object("chat.completion", choice);
        whole["usage"] = usage;
        return (JSON, whole.to_string());
    }
    let chunk = |delta: Value, reason: Option<&str>| {
        object("chat.completion.chunk", json!([{ "index": 0, "delta": delta, "finish_reason": reason }]))
    };
    let mut chunks = vec![chunk(json!({ "role": "assistant", "content": step.text }), None)];
    chunks.extend(calls.into_iter().map(|call| chunk(json!({ "tool_calls": [call] }), None)));
    chunks.push(chunk(json!({}), Some(reason)));
    let mut last = object("chat.completion.chunk", json!([]));
    last["usage"] = usage;
    chunks.push(last);
    let mut text = String::new();
    for chunk in chunks {
        write!(text, "data: {chunk}\n\n").expect("writing to a string");
    }
    text.push_str("data: [DONE]\n\n");
    (STREAM, text)
}
