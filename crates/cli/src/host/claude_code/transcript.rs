//! Lines of a transcript as Claude Code writes them, for a session that is only played.

use serde_json::{Value, json};
use tidegate_core::time::Millis;

/// A prompt that a person typed.
pub(crate) fn prompt_entry(number: u32, prompt: &str, at: Millis) -> Value {
    json!({
        "type": "user",
        "uuid": format!("prompt-{number}"),
        "isSidechain": false,
        "timestamp": at.iso(),
        "turnOrigin": "human",
        "message": { "role": "user", "content": prompt },
    })
}

/// The answer to the request with this number: a text or a call of a tool, with its token counts.
pub(crate) fn answer_entry(number: u32, model: &str, content: &Value, used: u64, at: Millis) -> Value {
    json!({
        "type": "assistant",
        "isSidechain": false,
        "timestamp": at.iso(),
        "requestedModel": model,
        "message": {
            "id": format!("msg_{number}"),
            "model": model,
            "content": [content],
            "usage": { "input_tokens": 10, "cache_read_input_tokens": used - 10, "output_tokens": 400 },
        },
    })
}

/// An automatic compaction with the tokens before and after it.
pub(crate) fn boundary_entry(before: u64, after: u64, at: Millis) -> Value {
    json!({
        "type": "system",
        "subtype": "compact_boundary",
        "timestamp": at.iso(),
        "compactMetadata": { "trigger": "auto", "preTokens": before, "postTokens": after },
    })
}
