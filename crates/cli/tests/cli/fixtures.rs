//! What the real client sent and wrote: payloads, status lines, transcripts.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

pub(crate) struct Capture {
    pub(crate) name: String,
    /// The event, by the file's name: the payload itself may be what is under test.
    pub(crate) event: String,
    pub(crate) text: String,
}

impl Capture {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }
}

fn folder(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/claude-code-2.1.325").join(name)
}

fn files(name: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder(name)).expect("the fixtures are there");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("a folder entry").path()).collect();
    paths.sort();
    assert!(!paths.is_empty(), "{name}");
    paths
}

fn captures(kind: &str) -> Vec<Capture> {
    let read = |path: PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let event = name.split('.').next().unwrap_or_default().to_owned();
        let text = fs::read_to_string(&path).expect("a fixture is text");
        Capture { name, event, text }
    };
    files(kind).into_iter().map(read).collect()
}

/// Every hook payload that was captured.
pub(crate) fn hooks() -> Vec<Capture> {
    captures("hooks")
}

/// One of them, by its file name without the end.
pub(crate) fn hook(name: &str) -> Value {
    let path = folder("hooks").join(format!("{name}.json"));
    serde_json::from_str(&fs::read_to_string(path).expect(name)).expect(name)
}

/// Every status-line payload, in the order in which they came.
pub(crate) fn status_lines() -> Vec<Capture> {
    captures("statusline")
}

/// The transcripts.
pub(crate) fn transcripts() -> Vec<PathBuf> {
    files("transcript")
}
