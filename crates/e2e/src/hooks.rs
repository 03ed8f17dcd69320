//! Hooks of a test: they record what the client sends, or answer with fixed bytes.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tidegate_core::host::answer::Reply;

use crate::home::Home;

/// Settings for the client's command line, in addition to those of the project.
#[derive(Default)]
pub struct Hooks {
    events: serde_json::Map<String, Value>,
}

impl Hooks {
    pub fn new() -> Self {
        Self::default()
    }

    /// In exec form.
    #[must_use]
    pub fn program(mut self, event: &str, matcher: Option<&str>, command: &[&str], closed: bool) -> Self {
        let mut handler = json!({ "type": "command", "command": command[0], "args": command[1..] });
        if closed {
            handler["onFailure"] = json!("block");
        }
        let mut group = json!({ "hooks": [handler] });
        if let Some(matcher) = matcher {
            group["matcher"] = json!(matcher);
        }
        let groups = self.events.entry(event.to_owned()).or_insert_with(|| json!([]));
        groups.as_array_mut().expect("groups are a list").push(group);
        self
    }

    /// Reads its payload and gives this answer.
    #[must_use]
    pub fn answering(self, home: &Home, event: &str, matcher: Option<&str>, answer: &Reply) -> Self {
        let base = home.scratch(&format!("answer-{event}-{}", self.events.len()));
        let (out, err) = (base.with_extension("out"), base.with_extension("err"));
        fs::write(&out, &answer.stdout).expect("a scratch file");
        fs::write(&err, &answer.stderr).expect("a scratch file");
        let script = r#"cat >/dev/null; cat "$1"; cat "$2" >&2; exit "$3""#;
        let exit = answer.exit.to_string();
        let (out, err) = (out.display().to_string(), err.display().to_string());
        self.program(event, matcher, &["/bin/sh", "-c", script, "answer", &out, &err, &exit], false)
    }

    /// Only records its payload.
    #[must_use]
    pub fn recording(mut self, recorder: &Recorder, events: &[&str]) -> Self {
        let script = r#"payload=$(cat); printf '%s\n' "$payload" >> "$1""#;
        let file = recorder.file.display().to_string();
        for event in events {
            self = self.program(event, None, &["/bin/sh", "-c", script, "record", &file], false);
        }
        self
    }

    pub fn settings(self) -> Value {
        json!({ "hooks": self.events })
    }
}

/// The payloads that recording hooks have written.
pub struct Recorder {
    file: PathBuf,
}

impl Recorder {
    /// In the home's scratch space.
    pub fn new(home: &Home) -> Self {
        Self { file: home.scratch("payloads.jsonl") }
    }

    /// In the order of writing.
    pub fn payloads(&self) -> Vec<Value> {
        read_lines(&self.file)
    }
}

/// One JSON value per line; empty if the file is missing.
pub(crate) fn read_lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).expect("one JSON value on each line")).collect()
}
