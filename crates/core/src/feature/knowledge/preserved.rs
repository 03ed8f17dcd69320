//! Messages that the host kept whole across a boundary: the boundary's entry in the transcript names them.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use crate::host::transcript::{BoundaryEntry, ContentPart, EntryContent, EntryKind, Sought, TranscriptEntry};
use crate::time::Millis;

/// The conversation after a boundary, besides its summary.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preserved {
    /// Messages that were kept whole.
    pub texts: Vec<String>,
    /// The host repeated the output of hooks from before the compaction.
    pub repeated: bool,
    /// The summary, if the host writes it into the boundary.
    pub summary: Option<String>,
    /// The host has written the boundary down, which it does some 100 ms late.
    pub known: bool,
}

/// A scan of a transcript, line by line from the newest to the oldest.
#[derive(Debug)]
pub struct PreservedScan {
    /// An older boundary is a different one.
    since: Millis,
    /// Kept messages not found yet; `None` before the boundary is found.
    named: Option<BTreeSet<String>>,
    found: Preserved,
    /// Repeated output of hooks was found.
    repeated: bool,
    /// Lines since the last one that counted.
    idle: usize,
}

/// A boundary further back does not belong to the last event; kept messages are just before it, with little
/// in between.
const FURTHEST: usize = 500;
const IN_BETWEEN: usize = 64;

/// Bytes of all kept messages together: they are compared with a few dozen facts, and more is not worth the
/// time.
const LONGEST: usize = 256 * 1024;

impl PreservedScan {
    /// `since`: when the boundary's key facts were noted.
    pub fn new(since: Millis) -> PreservedScan {
        PreservedScan { since, named: None, found: Preserved::default(), repeated: false, idle: 0 }
    }

    /// The entries that matter until the boundary is found; after that, any may.
    pub const SOUGHT: [Sought; 2] = [Sought::Boundaries, Sought::RepeatedOutput];

    /// From here on the kept messages are searched.
    pub fn is_past_boundary(&self) -> bool {
        self.named.is_some()
    }

    /// Takes the next older line, with its entry if that may matter; breaks when nothing older can change the
    /// result.
    pub fn take_line(&mut self, entry: Option<&TranscriptEntry<'_>>) -> ControlFlow<()> {
        self.idle += 1;
        let most = if self.named.is_some() { IN_BETWEEN } else { FURTHEST };
        if self.idle > most {
            return ControlFlow::Break(());
        }
        let Some(entry) = entry else { return ControlFlow::Continue(()) };
        let Some(named) = &mut self.named else {
            match &entry.kind {
                EntryKind::Boundary(boundary) => return self.boundary(entry, boundary),
                EntryKind::Prompt(prompt) => self.repeated |= prompt.repeats_output,
                _ => {}
            }
            return ControlFlow::Continue(());
        };
        if entry.id.as_ref().is_none_or(|id| !named.remove(id.as_ref())) {
            return ControlFlow::Continue(());
        }
        self.idle = 0;
        let text = entry.content.map(EntryContent::words).unwrap_or_default();
        let length: usize = self.found.texts.iter().map(String::len).sum();
        if length + text.len() > LONGEST {
            return ControlFlow::Break(());
        }
        self.found.texts.push(text);
        if named.is_empty() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn boundary(&mut self, entry: &TranscriptEntry<'_>, boundary: &BoundaryEntry<'_>) -> ControlFlow<()> {
        if entry.at.is_some_and(|at| at < self.since) {
            return ControlFlow::Break(());
        }
        self.found.known = true;
        self.found.repeated = self.repeated;
        if let Some(summary) = &boundary.summary {
            self.found.summary = summary.text();
            let mut room = LONGEST;
            for text in entry.parts().iter().filter_map(ContentPart::text) {
                let text = text.lossy();
                let Some(rest) = room.checked_sub(text.len()) else { break };
                room = rest;
                self.found.texts.push(text.into_owned());
            }
            return ControlFlow::Break(());
        }
        if boundary.kept.is_empty() {
            return ControlFlow::Break(());
        }
        self.idle = 0;
        self.named = Some(boundary.kept.iter().map(ToString::to_string).collect());
        ControlFlow::Continue(())
    }

    /// Empty if there is no boundary.
    pub fn finish(self) -> Preserved {
        self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Host;

    fn scan(lines: &[&str]) -> Vec<String> {
        found(lines).texts
    }

    fn found(lines: &[&str]) -> Preserved {
        let (sought, all) = (Host::ClaudeCode.parser(&PreservedScan::SOUGHT), Host::ClaudeCode.parser(&[]));
        let mut scan = PreservedScan::new(Millis(1000));
        let _ = lines.iter().rev().try_for_each(|line| {
            let parser = if scan.is_past_boundary() { &all } else { &sought };
            scan.take_line(parser.entry(line.as_bytes()).as_ref())
        });
        scan.finish()
    }

    const OLD: &str = r#"{"type":"user","uuid":"u1","message":{"content":"an old prompt"}}"#;
    const KEPT: &str = r#"{"type":"assistant","uuid":"u2","message":{"content":[{"type":"text","text":"the \"kept\"\nanswer"}]}}"#;
    const BOUNDARY: &str = r#"{"type":"system","subtype":"compact_boundary","uuid":"b","compactMetadata":{"trigger":"auto","preservedMessages":{"anchorUuid":"s","uuids":["u2","gone"]}}}"#;
    const AFTER: &str = r#"{"type":"assistant","uuid":"u3","message":{"content":[{"type":"text","text":"compact_boundary"}]}}"#;

    #[test]
    fn only_what_the_boundary_names() {
        let texts = scan(&[OLD, KEPT, BOUNDARY, AFTER]);
        assert_eq!(texts.len(), 1);
        assert!(texts[0].contains("the \"kept\"\nanswer"), "{}", texts[0]);
    }

    #[test]
    fn without_a_boundary_or_without_names_nothing() {
        assert!(scan(&[OLD, KEPT, AFTER]).is_empty());
        let silent = BOUNDARY.replace("preservedMessages", "other");
        assert!(scan(&[OLD, KEPT, &silent]).is_empty());
        let odd = BOUNDARY.replace(r#"["u2","gone"]"#, r#""u2""#);
        assert!(scan(&[KEPT, &odd, "not json", ""]).is_empty());
    }

    #[test]
    fn what_was_printed_before_is_in_the_conversation_only_after_the_boundary() {
        let printed = r#"{"type":"user","uuid":"u4","message":{"content":"<local-command-stdout>Compacted PreCompact [tidegate hook] completed successfully: x</local-command-stdout>"}}"#;
        assert!(found(&[KEPT, BOUNDARY, printed, AFTER]).repeated);
        assert!(!found(&[printed, KEPT, BOUNDARY, AFTER]).repeated, "of the boundary before");
        assert!(!found(&[KEPT, AFTER, printed]).repeated, "no boundary");
        let silent = BOUNDARY.replace("preservedMessages", "other");
        assert!(found(&[&silent, printed]).repeated);
    }

    #[test]
    fn an_older_boundary_is_another_one() {
        let dated =
            |at: &str| BOUNDARY.replace("\"uuid\":\"b\"", &format!("\"uuid\":\"b\",\"timestamp\":\"{at}\""));
        let (before, after) = (dated("1970-01-01T00:00:00.999Z"), dated("1970-01-01T00:00:01.000Z"));
        assert_eq!(found(&[KEPT, &before, AFTER]), Preserved::default());
        let there = found(&[KEPT, &after, AFTER]);
        assert!(there.known && there.texts.len() == 1);
        assert!(!found(&[KEPT, AFTER]).known);
    }

    #[test]
    fn the_last_boundary_counts() {
        let first = BOUNDARY.replace("u2", "u1");
        let texts = scan(&[OLD, &first, KEPT, BOUNDARY]);
        assert_eq!(texts.len(), 1);
        assert!(texts[0].contains("answer") && !texts[0].contains("u2"), "{texts:?}");
    }
}
