//! The client's own evidence of its sessions: the transcripts of this project, with or without a hook in them.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use tidegate_core::event::{EventKind, SessionId};
use tidegate_core::host::Host;
use tidegate_core::host::transcript;
use tidegate_core::host::transcript::{CallResult, ContentPart, EntryKind, TranscriptEntry};
use tidegate_core::time::Millis;
use tidegate_state::file::bounded;

use crate::path::{modified_at, real_path};

/// Bytes read at the beginning of a transcript, and again at its end.
const END: u64 = 1024 * 1024;

const SESSIONS: usize = 20;

#[derive(Clone, Debug)]
pub(crate) struct ClientSession {
    pub(crate) id: SessionId,
    pub(crate) modified: Millis,
    pub(crate) shown: TranscriptContent,
}

/// Events that a transcript proves, in the main thread and after a point in time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TranscriptContent {
    /// Readable and unreadable lines.
    pub(crate) lines: usize,
    pub(crate) unreadable: usize,
    pub(crate) events: BTreeSet<EventKind>,
    /// Of the client.
    pub(crate) version: Option<String>,
}

/// The newest first.
pub(crate) fn read_all(host: &Path, project: &Path, since: Millis) -> Vec<ClientSession> {
    let mut found: Vec<(Millis, SessionId, PathBuf)> = Vec::new();
    for entry in fs::read_dir(transcript_folder(host, project)).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        // Older clients keep transcripts of subagents next to those of sessions.
        let is_session = path.extension().is_some_and(|end| end == "jsonl") && !name.starts_with("agent-");
        if let (true, Ok(id), Some(modified)) = (is_session, SessionId::parse(&name), modified_at(&path)) {
            found.push((modified, id, path));
        }
    }
    found.sort_unstable_by(|a, b| b.0.cmp(&a.0).then_with(|| a.2.cmp(&b.2)));
    let newest = found.into_iter().take(SESSIONS);
    let read = |(modified, id, path): (Millis, SessionId, PathBuf)| {
        Some(ClientSession { id, modified, shown: read_transcript(&path, since).ok()? })
    };
    newest.filter_map(read).collect()
}

pub(crate) fn transcript_folder(host: &Path, project: &Path) -> PathBuf {
    let project = real_path(project);
    let name: String =
        project.to_string_lossy().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    host.join("projects").join(name)
}

/// Reads only the beginning and the end.
pub(crate) fn read_transcript(path: &Path, since: Millis) -> io::Result<TranscriptContent> {
    let mut file = bounded::open(path)?;
    let length = file.metadata()?.len();
    let mut shown = TranscriptContent::default();
    let mut bytes = Vec::new();
    (&mut file).take(END).read_to_end(&mut bytes)?;
    // The last line of the first part is cut off.
    let whole = if length > END { bytes.iter().rposition(|b| *b == b'\n').unwrap_or(0) } else { bytes.len() };
    shown.take_lines(&bytes[..whole], since);
    if length > END {
        bytes.clear();
        file.seek(SeekFrom::Start(END.max(length.saturating_sub(END))))?;
        file.take(END).read_to_end(&mut bytes)?;
        let start = bytes.iter().position(|b| *b == b'\n').unwrap_or(bytes.len());
        shown.take_lines(&bytes[start..], since);
    }
    Ok(shown)
}

impl TranscriptContent {
    /// The model answered.
    pub(crate) fn has_turn(&self) -> bool {
        self.events.contains(&EventKind::UserPromptSubmit)
    }

    fn take_lines(&mut self, bytes: &[u8], since: Millis) {
        let parser = Host::ClaudeCode.parser(&[]);
        for line in transcript::lines(bytes) {
            match parser.entry(line) {
                Some(entry) => {
                    self.lines += 1;
                    self.take(&entry, since);
                }
                None => self.unreadable += 1,
            }
        }
    }

    fn take(&mut self, entry: &TranscriptEntry<'_>, since: Millis) {
        if let Some(version) = &entry.version {
            self.version = Some(version.to_string());
        }
        if entry.is_of_agent || entry.is_error || entry.at.unwrap_or_default() < since {
            return;
        }
        match &entry.kind {
            EntryKind::Answer(answer) if !answer.is_of_host => {
                self.events.extend([EventKind::SessionStart, EventKind::UserPromptSubmit]);
                let is_edit =
                    |part: &ContentPart<'_>| matches!(part, ContentPart::Call(call) if call.is_edit);
                let edits = entry.parts().iter().any(is_edit);
                self.events.extend(answer.ends_turn.then_some(EventKind::Stop));
                self.events.extend(edits.then_some(EventKind::PreToolUse));
            }
            EntryKind::Prompt(_) | EntryKind::Result(_) => {
                let succeeded = entry
                    .parts()
                    .iter()
                    .any(|part| matches!(part, ContentPart::Result(CallResult { failed: false, .. })));
                self.events.extend(succeeded.then_some(EventKind::PostToolUse));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn shown(lines: &[Value], since: u64) -> TranscriptContent {
        let text: Vec<String> = lines.iter().map(Value::to_string).collect();
        let mut shown = TranscriptContent::default();
        shown.take_lines(text.join("\n").as_bytes(), Millis(since));
        shown
    }

    #[test]
    fn only_the_main_thread_after_the_install_counts() {
        let at = Millis(5_000).iso();
        let edit = json!({
            "type": "assistant", "timestamp": at, "version": "2.1.325",
            "message": { "model": "m", "stop_reason": "end_turn", "content": [{ "type": "tool_use", "name": "Edit" }] },
        });
        let result = json!({
            "type": "user", "timestamp": at,
            "message": { "content": [{ "type": "tool_result", "content": "x" }] },
        });
        let all = shown(&[edit.clone(), result.clone()], 5_000);
        assert!(all.has_turn() && all.events.len() == 5, "{all:?}");
        assert_eq!((all.lines, all.version.as_deref()), (2, Some("2.1.325")));
        let with = |name: &str, value: Value| {
            [edit.clone(), result.clone()].map(|mut entry| {
                entry[name] = value.clone();
                entry
            })
        };
        for lines in [
            with("isSidechain", json!(true)),
            with("isApiErrorMessage", json!(true)),
            with("timestamp", json!(Millis(4_999).iso())),
            with("message", json!(7)),
            with("type", json!("system")),
        ] {
            let none = shown(&lines, 5_000);
            let tools = [EventKind::PreToolUse, EventKind::PostToolUse, EventKind::Stop];
            assert!(tools.iter().all(|event| !none.events.contains(event)), "{lines:?}");
        }
    }

    #[test]
    fn what_the_real_client_wrote() {
        use EventKind::{PostToolUse, SessionStart, Stop, UserPromptSubmit};
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/claude-code-2.1.325/transcript");
        let read = |name: &str| read_transcript(&Path::new(folder).join(name), Millis(0)).unwrap();
        let with_tools = BTreeSet::from([SessionStart, UserPromptSubmit, PostToolUse, Stop]);
        for (name, events) in [
            ("parallel-tools.jsonl", with_tools.clone()),
            ("interactive-manual-compact.jsonl", with_tools),
            ("headless-auto-compact.jsonl", BTreeSet::from([SessionStart, UserPromptSubmit, Stop])),
            // A turn that ended on an error has no Stop, and a subagent is no session.
            ("api-error.jsonl", BTreeSet::new()),
            ("subagent.jsonl", BTreeSet::new()),
        ] {
            let shown = read(name);
            assert_eq!((&shown.events, shown.unreadable), (&events, 0), "{name}");
            assert_eq!(shown.version.as_deref(), Some("2.1.325"), "{name}");
        }
    }

    #[test]
    fn both_ends_of_a_long_one_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        let line = |version: usize| format!("{{\"version\":\"{version}\",\"x\":\"{}\"}}\n", "x".repeat(1000));
        let text: String = (0..4000).map(line).collect();
        fs::write(&path, &text).unwrap();
        let shown = read_transcript(&path, Millis(0)).unwrap();
        assert_eq!((shown.version.as_deref(), shown.unreadable), (Some("3999"), 0));
        assert!((2000..2200).contains(&shown.lines), "{}", shown.lines);
        fs::write(&path, &text[..1_500_000]).unwrap();
        assert_eq!(read_transcript(&path, Millis(0)).unwrap().unreadable, 1, "only the torn end");
    }
}
