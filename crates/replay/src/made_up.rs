//! Made-up transcripts for tests.

use serde_json::{Value, json};

use crate::transcript::{ReplaySession, read_session};

/// Lines of a transcript, one second apart.
#[derive(Default)]
pub(super) struct MadeUp {
    lines: Vec<String>,
    calls: usize,
    cwd: &'static str,
    /// The members of a subagent's entries.
    agent: Option<Value>,
}

impl MadeUp {
    pub(super) fn new() -> MadeUp {
        MadeUp { cwd: "/w/shop", ..MadeUp::default() }
    }

    /// Any entry; time, folder and id are added.
    pub(super) fn entry(mut self, mut entry: Value) -> MadeUp {
        let number = self.lines.len();
        entry["timestamp"] = json!(format!("2026-01-01T10:{:02}:{:02}.000Z", number / 60, number % 60));
        entry["cwd"] = json!(self.cwd);
        entry["uuid"] = json!(format!("e{}", number + 1));
        if let Some(Value::Object(members)) = &self.agent {
            members.iter().for_each(|(name, value)| entry[name] = value.clone());
        }
        self.lines.push(entry.to_string());
        self
    }

    pub(super) fn prompt(self, text: &str) -> MadeUp {
        self.entry(json!({"type": "user", "message": {"content": text}}))
    }

    pub(super) fn says(self, text: &str) -> MadeUp {
        self.entry(json!({"type": "assistant", "message": {"content": [{"type": "text", "text": text}]}}))
    }

    /// An answer whose request took so many tokens.
    pub(super) fn answers(self, used: u64, text: &str) -> MadeUp {
        let usage = json!({"input_tokens": 10, "cache_read_input_tokens": used - 10, "output_tokens": 50});
        let id = format!("m{}", self.lines.len());
        let block = json!({"type": "text", "text": text});
        let message = json!({"id": id, "model": "claude-sonnet-4-5", "usage": usage, "content": [block]});
        // The client repeats the usage with each block of an answer.
        let entry = json!({"type": "assistant", "message": message});
        self.entry(entry.clone()).entry(entry)
    }

    pub(super) fn compacts(self, trigger: &str, tokens: u64, summary: &str) -> MadeUp {
        let meta = json!({"trigger": trigger, "preTokens": tokens});
        let boundary = json!({"type": "system", "subtype": "compact_boundary", "compactMetadata": meta});
        let summary = json!({"type": "user", "isCompactSummary": true, "message": {"content": summary}});
        self.entry(boundary).entry(summary)
    }

    /// A call without its result.
    pub(super) fn calls(mut self, tool: &str, input: &Value) -> MadeUp {
        self.calls += 1;
        let id = format!("c{}", self.calls);
        let block = json!({"type": "tool_use", "id": id, "name": tool, "input": input});
        self.entry(json!({"type": "assistant", "message": {"content": [block]}}))
    }

    /// The result of a call by its number.
    pub(super) fn result(self, call: usize, failed: bool, text: &str, result: &Value) -> MadeUp {
        let id = format!("c{call}");
        let block = json!({"type": "tool_result", "tool_use_id": id, "is_error": failed, "content": text});
        self.entry(json!({"type": "user", "toolUseResult": result, "message": {"content": [block]}}))
    }

    pub(super) fn edits(self, file: &str) -> MadeUp {
        let path = format!("/w/shop/{file}");
        let made = self.calls("Edit", &json!({"file_path": path, "old_string": "a", "new_string": "b"}));
        let call = made.calls;
        made.result(call, false, "updated", &json!({"filePath": path}))
    }

    pub(super) fn runs(self, line: &str, output: &str) -> MadeUp {
        let made = self.calls("Bash", &json!({"command": line}));
        let call = made.calls;
        made.result(call, false, output, &json!({"stdout": output, "stderr": "", "interrupted": false}))
    }

    pub(super) fn fails(self, line: &str, output: &str) -> MadeUp {
        let made = self.calls("Bash", &json!({"command": line}));
        let call = made.calls;
        made.result(call, true, output, &json!(format!("Error: {output}")))
    }

    pub(super) fn in_agent(mut self, id: &str) -> MadeUp {
        self.agent = Some(json!({"isSidechain": true, "agentId": id}));
        self
    }

    pub(super) fn in_main(mut self) -> MadeUp {
        self.agent = None;
        self
    }

    pub(super) fn read(self) -> ReplaySession {
        read_session("shop-1.jsonl", &self.lines.join("\n"))
    }
}
