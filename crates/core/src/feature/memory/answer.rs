//! The last answer of a turn, from the transcript, for a host that does not send it.

use std::borrow::Cow;
use std::ops::ControlFlow;

use crate::host::transcript::{EntryKind, Sought, TranscriptEntry};

/// A scan of a transcript, line by line from the newest to the oldest.
#[derive(Debug, Default)]
pub struct AnswerScan {
    found: Option<LastAnswer>,
    lines: usize,
    /// A tool's result was found: an answer before it may not be the last one.
    results: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastAnswer {
    pub text: String,
    /// Nothing came after it. Otherwise the last answer may not be in the file yet.
    pub last: bool,
}

/// An answer further back than this is not the last one.
const FURTHEST: usize = 200;

impl AnswerScan {
    /// The entries that matter.
    pub const SOUGHT: [Sought; 2] = [Sought::Prompts, Sought::Answers];

    /// Takes the next older line, with its entry if that may matter; breaks when nothing older can change the
    /// result.
    pub fn take_line(&mut self, entry: Option<&TranscriptEntry<'_>>) -> ControlFlow<()> {
        self.lines += 1;
        if self.lines > FURTHEST {
            return ControlFlow::Break(());
        }
        let Some(entry) = entry.filter(|entry| !entry.is_of_agent) else { return ControlFlow::Continue(()) };
        match &entry.kind {
            // A tool's result is part of the turn.
            EntryKind::Result(_) => {
                self.results = true;
                ControlFlow::Continue(())
            }
            EntryKind::Prompt(prompt) if !prompt.is_hidden => ControlFlow::Break(()),
            EntryKind::Answer(_) => self.answer(entry),
            _ => ControlFlow::Continue(()),
        }
    }

    /// One answer is several entries: thoughts, calls, text.
    fn answer(&mut self, entry: &TranscriptEntry<'_>) -> ControlFlow<()> {
        let parts = entry.parts();
        let texts: Vec<Cow<'_, str>> = parts.iter().filter_map(|part| Some(part.text()?.lossy())).collect();
        let text = texts.join("\n");
        if text.is_empty() {
            return ControlFlow::Continue(());
        }
        self.found = Some(LastAnswer { text, last: !self.results });
        ControlFlow::Break(())
    }

    pub fn finish(self) -> Option<LastAnswer> {
        self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Host;

    fn last(lines: &[&str]) -> Option<LastAnswer> {
        let parser = Host::ClaudeCode.parser(&AnswerScan::SOUGHT);
        let mut scan = AnswerScan::default();
        let _ =
            lines.iter().rev().try_for_each(|line| scan.take_line(parser.entry(line.as_bytes()).as_ref()));
        scan.finish()
    }

    #[test]
    fn the_last_text_since_a_person_spoke() {
        let prompt = r#"{"type": "user", "message": {"content": "go on"}}"#;
        let text = r#"{"type": "assistant", "message": {"content": [{"type": "text", "text": "done"}, {"type": "text", "text": "<!-- -->"}]}}"#;
        let call = r#"{"type": "assistant", "message": {"content": [{"type": "tool_use", "name": "Read"}]}}"#;
        let result = r#"{"type": "user", "toolUseResult": {"x": 1}, "message": {"content": [{"type": "tool_result"}]}}"#;
        let failed = r#"{"type": "user", "toolUseResult": "Error: no", "message": {"content": []}}"#;
        let aside = r#"{"type": "assistant", "isSidechain": true, "message": {"content": "of an agent"}}"#;
        let meta = r#"{"type": "user", "isMeta": true, "message": {"content": "a skill"}}"#;
        let done = |last| Some(LastAnswer { text: "done\n<!-- -->".to_owned(), last });
        assert_eq!(last(&[prompt, text]), done(true));
        assert_eq!(last(&[prompt, text, call, aside, meta, "{\"torn"]), done(true));
        assert_eq!(last(&[prompt, text, call, result]), done(false));
        assert_eq!(last(&[prompt, text, call, failed]), done(false));
        assert_eq!(last(&[prompt, text, prompt]), None, "of the turn before");
        assert_eq!(last(&[prompt, text, prompt, call, result]), None);
        assert_eq!(last(&[]), None);
        let far: Vec<&str> = [prompt, text].into_iter().chain(std::iter::repeat_n(result, 300)).collect();
        assert_eq!(last(&far), None);
    }
}
