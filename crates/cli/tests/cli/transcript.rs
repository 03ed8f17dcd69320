//! Transcripts made for a test, and a second opinion on what they say.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

/// The client writes the time at which a line was made, and what is older than a boundary is void.
fn now() -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("a clock");
    tidegate_core::time::Millis(u64::try_from(now.as_millis()).expect("a date")).iso()
}

/// One answer of the model, as the client writes it. A 200K window that compacts at 167K.
pub(crate) fn answer(used: u64) -> String {
    json!({
        "type": "assistant",
        "isSidechain": false,
        "timestamp": now(),
        "requestedModel": "claude-opus-4-6",
        "message": {
            "id": format!("msg_{used}"),
            "model": "claude-opus-4-6",
            "content": [{ "type": "text", "text": "done" }],
            "usage": { "input_tokens": 7, "cache_creation_input_tokens": 0, "cache_read_input_tokens": used - 7, "output_tokens": 50 },
        },
    })
    .to_string()
}

/// A compaction that left this much.
pub(crate) fn boundary(left: u64) -> String {
    json!({
        "type": "system",
        "subtype": "compact_boundary",
        "timestamp": now(),
        "compactMetadata": { "trigger": "auto", "preTokens": 165_000, "postTokens": left },
    })
    .to_string()
}

/// A transcript under way.
pub(crate) struct Transcript {
    pub(crate) path: PathBuf,
    file: File,
}

impl Transcript {
    pub(crate) fn at(path: PathBuf) -> Transcript {
        let file = OpenOptions::new().append(true).create(true).open(&path).expect("a new file");
        Transcript { path, file }
    }

    /// Appends as it stands, so that a line can be torn.
    pub(crate) fn write(&mut self, text: &str) {
        self.file.write_all(text.as_bytes()).expect("the disk has room");
    }

    pub(crate) fn line(&mut self, line: &str) {
        self.write(&format!("{line}\n"));
    }
}

/// What a transcript says, read the plain way: whole, from its beginning, into trees.
pub(crate) fn plain_reading(bytes: &[u8]) -> Option<u64> {
    let mut used = None;
    for line in bytes.split(|b| *b == b'\n') {
        let Ok(entry) = serde_json::from_slice::<Value>(line) else { continue };
        let count = |usage: &Value| -> u64 {
            ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"]
                .iter()
                .filter_map(|name| usage[name].as_u64())
                .sum()
        };
        if entry["subtype"] == "compact_boundary" {
            used = entry["compactMetadata"]["postTokens"].as_u64();
        }
        let usable = entry["type"] == "assistant"
            && entry["isSidechain"] != true
            && entry["isApiErrorMessage"] != true
            && entry["message"]["model"] != "<synthetic>";
        let usage = &entry["message"]["usage"];
        let tokens =
            usage["iterations"].as_array().and_then(|all| all.last()).map_or_else(|| count(usage), count);
        if usable && tokens > 0 {
            used = Some(tokens);
        }
    }
    used
}

/// `payload` with this session and transcript, in this project.
pub(crate) fn addressed(mut payload: Value, session: &str, transcript: &Path, project: &Path) -> Value {
    payload["session_id"] = json!(session);
    payload["transcript_path"] = json!(transcript);
    payload["cwd"] = json!(project);
    payload
}
