//! Context use from the end of a transcript, entry by entry from the newest to the oldest.
//!
//! The caller reads the file backwards and stops when [`MeterScan::take_line`] breaks; usually the first step
//! holds the answer.

use std::borrow::Cow;
use std::ops::ControlFlow;

use crate::event::{Event, EventKind};
use crate::host::transcript::{
    AnswerEntry, ContentPart, ContextCount, Counted, EntryKind, Sought, TranscriptEntry,
};
use crate::time::Millis;

/// A longer last message is not compared; the reading then counts as stale.
const LONGEST_MESSAGE: usize = 1024 * 1024;

/// Shows that the transcript has caught up with an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventTrace<'a> {
    /// The id of the event's call.
    ToolUse(&'a str),
    /// The text at the end of the turn.
    LastMessage(Cow<'a, str>),
    /// An entry of the event's time or later.
    Time(Millis),
    /// The event leaves no trace to look for, so a reading is never known to be current.
    None,
}

impl<'a> EventTrace<'a> {
    pub fn of_event(event: &'a Event<'_>) -> EventTrace<'a> {
        if let Some(id) = event.call.as_deref().filter(|id| !id.is_empty()) {
            return EventTrace::ToolUse(id);
        }
        let message = event.last_message.filter(|_| event.kind == EventKind::Stop);
        match message.and_then(|message| message.whole(LONGEST_MESSAGE)) {
            Some(text) if !text.trim().is_empty() => EventTrace::LastMessage(text),
            _ => event.at.map_or(EventTrace::None, EventTrace::Time),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct TranscriptReading {
    /// Tokens of the last usable request, or a boundary's estimate.
    pub used: u64,
    /// Tokens of its answer.
    pub answer: u64,
    /// It is a boundary's estimate.
    pub boundary: bool,
    /// According to the host.
    pub window: Option<u64>,
    /// As the host was asked for it, with `[1m]` if there was one. A boundary names no model.
    pub model: Option<String>,
    /// The time of the entry.
    pub at: Millis,
    /// The transcript holds the event's own trace.
    pub current: bool,
}

#[derive(Debug)]
pub struct MeterScan<'a> {
    evidence: EventTrace<'a>,
    seen: bool,
    found: Option<(TranscriptReading, String)>,
    lines_after: usize,
    /// Where the host counts apart from its answers: what the reading was found in.
    counted: Option<Counted>,
    window: Option<u64>,
    /// Only the window is still missing.
    is_over: bool,
    seeks_window: bool,
}

/// An answer takes one line per content block: the event's trace is searched this many lines further back.
const BLOCKS: usize = 64;

impl<'a> MeterScan<'a> {
    /// The kinds of entries that matter.
    pub const SOUGHT: [Sought; 4] = [Sought::Answers, Sought::Boundaries, Sought::Results, Sought::Counts];

    pub fn new(evidence: EventTrace<'a>) -> Self {
        MeterScan {
            evidence,
            seen: false,
            found: None,
            lines_after: 0,
            counted: None,
            window: None,
            is_over: false,
            seeks_window: false,
        }
    }

    /// For a host that writes its window into the transcript.
    #[must_use]
    pub fn seeking_window(mut self, seeks: bool) -> Self {
        self.seeks_window = seeks;
        self
    }

    /// Takes the next older line, with its entry if that may matter; breaks when nothing older can change the
    /// result.
    pub fn take_line(&mut self, entry: Option<&TranscriptEntry<'_>>) -> ControlFlow<()> {
        let entry = entry.filter(|entry| !entry.is_of_agent);
        if self.seeks_window {
            if let Some(TranscriptEntry { kind: EntryKind::Count(count), .. }) = entry {
                self.window = self.window.or(count.window);
            }
            self.is_over = self.is_over || self.take(entry).is_break();
            let is_all = self.is_over && (self.window.is_some() || self.found.is_none());
            return if is_all { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
        }
        self.take(entry)
    }

    fn take(&mut self, entry: Option<&TranscriptEntry<'_>>) -> ControlFlow<()> {
        if let Some(entry) = entry {
            if let EventTrace::Time(event) = self.evidence {
                self.seen |= entry.at.is_some_and(|at| at >= event);
            }
            self.entry(entry)?;
        }
        if self.found.is_some() {
            self.lines_after += 1;
            if self.seen || self.evidence == EventTrace::None || self.lines_after > BLOCKS {
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    }

    fn entry(&mut self, entry: &TranscriptEntry<'_>) -> ControlFlow<()> {
        match &entry.kind {
            EntryKind::Answer(answer) => self.answer(entry, answer),
            // A call's result cannot be there before the call.
            EntryKind::Prompt(_) | EntryKind::Result(_) if self.found.is_none() => {
                self.look_for_call(entry);
                ControlFlow::Continue(())
            }
            EntryKind::Count(count) => self.count(entry, count),
            EntryKind::Boundary(boundary) => {
                if self.found.is_none()
                    && let Some(used) = boundary.left.filter(|used| *used > 0)
                {
                    let at = entry.at.unwrap_or_default();
                    let found = TranscriptReading {
                        used,
                        answer: 0,
                        boundary: true,
                        window: None,
                        model: None,
                        at,
                        current: false,
                    };
                    self.found = Some((found, String::new()));
                }
                ControlFlow::Break(())
            }
            _ => ControlFlow::Continue(()),
        }
    }

    fn answer(&mut self, entry: &TranscriptEntry<'_>, answer: &AnswerEntry<'_>) -> ControlFlow<()> {
        if self.counted.is_some() {
            self.look_for_trace(entry);
            return ControlFlow::Continue(());
        }
        if let Some((_, newest)) = &self.found {
            if answer.message.is_empty() || *newest != answer.message {
                return ControlFlow::Break(());
            }
            self.look_for_trace(entry);
            return ControlFlow::Continue(());
        }
        let tokens = answer.tokens.filter(|tokens| tokens.used > 0);
        let (false, false, Some(tokens)) = (answer.is_of_host, entry.is_error, tokens) else {
            return ControlFlow::Continue(());
        };
        let found = TranscriptReading {
            used: tokens.used,
            answer: tokens.answer,
            boundary: false,
            window: answer.window,
            model: answer.model.as_ref().map(ToString::to_string),
            at: entry.at.unwrap_or_default(),
            current: false,
        };
        self.found = Some((found, answer.message.to_string()));
        self.look_for_trace(entry);
        ControlFlow::Continue(())
    }

    fn count(&mut self, entry: &TranscriptEntry<'_>, count: &ContextCount) -> ControlFlow<()> {
        match (self.counted, count.of) {
            // An older answer.
            (Some(Counted::Request), Counted::Request) => return ControlFlow::Break(()),
            (Some(Counted::Earlier), Counted::Request) => self.counted = Some(Counted::Request),
            (Some(_), _) => {}
            (None, of) => {
                if let Some(tokens) = count.tokens.filter(|_| self.found.is_none()) {
                    let found = TranscriptReading {
                        used: tokens.used,
                        answer: tokens.answer,
                        boundary: of == Counted::Estimate,
                        window: None,
                        model: None,
                        at: entry.at.unwrap_or_default(),
                        current: false,
                    };
                    self.found = Some((found, String::new()));
                    self.counted = Some(of);
                }
            }
        }
        ControlFlow::Continue(())
    }

    fn look_for_call(&mut self, entry: &TranscriptEntry<'_>) {
        if let EventTrace::ToolUse(id) = &self.evidence {
            self.seen |= entry.mentions(id);
        }
    }

    fn look_for_trace(&mut self, entry: &TranscriptEntry<'_>) {
        match &self.evidence {
            EventTrace::ToolUse(_) => self.look_for_call(entry),
            EventTrace::LastMessage(text) => {
                let parts = entry.parts();
                let mut texts = parts.iter().filter_map(ContentPart::text);
                self.seen |= texts.any(|block| {
                    block
                        .whole(LONGEST_MESSAGE)
                        .is_some_and(|block| !block.trim().is_empty() && is_end_of(block.trim(), text.trim()))
                });
            }
            EventTrace::Time(_) | EventTrace::None => {}
        }
    }

    pub fn finish(self) -> Option<TranscriptReading> {
        let (found, _) = self.found?;
        Some(TranscriptReading {
            current: self.seen && !found.boundary,
            window: self.window.or(found.window),
            ..found
        })
    }
}

/// The block is the message or its last paragraph. An answer that only ends with the same word does not
/// match.
fn is_end_of(block: &str, message: &str) -> bool {
    message.strip_suffix(block).is_some_and(|before| before.is_empty() || before.ends_with('\n'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Host;

    fn scan(lines: &[&str], evidence: EventTrace<'_>) -> Option<TranscriptReading> {
        let parser = Host::ClaudeCode.parser(&MeterScan::SOUGHT);
        let mut scan = MeterScan::new(evidence);
        let _ =
            lines.iter().rev().try_for_each(|line| scan.take_line(parser.entry(line.as_bytes()).as_ref()));
        scan.finish()
    }

    fn answer(id: &str, used: u64, extra: &str) -> String {
        format!(
            r#"{{"type":"assistant","timestamp":"2026-11-15T11:51:30.000Z","requestedModel":"claude-opus-4-6[1m]","message":{{"id":"{id}","model":"claude-opus-4-6","usage":{{"input_tokens":10,"cache_creation_input_tokens":0,"cache_read_input_tokens":{},"output_tokens":500}},"content":[{{"type":"text","text":"done\n"}}]}}{extra}}}"#,
            used - 10
        )
    }

    #[test]
    fn the_last_usable_answer_counts() {
        let one = answer("m1", 50_000, "");
        let two = answer("m2", 60_000, "");
        let found = scan(&[&one, &two], EventTrace::None).unwrap();
        assert_eq!((found.used, found.model.as_deref()), (60_000, Some("claude-opus-4-6[1m]")));
        assert_eq!(found.at, Millis::from_iso("2026-11-15T11:51:30.000Z").unwrap());
        assert!(!found.current);
    }

    #[test]
    fn sidechains_errors_and_synthetic_answers_are_passed_over() {
        let good = answer("m1", 50_000, "");
        let side = answer("m2", 99_000, r#","isSidechain":true"#);
        let error = answer("m3", 99_000, r#","isApiErrorMessage":true"#);
        let synthetic = answer("m4", 99_000, "").replace("\"claude-opus-4-6\"", "\"<synthetic>\"");
        let zero = answer("m5", 10, "").replace("10,", "0,");
        let torn = &answer("m6", 99_000, "")[..80];
        let found =
            scan(&[&good, &side, &error, &synthetic, &zero, "not json", "", torn], EventTrace::None).unwrap();
        assert_eq!(found.used, 50_000);
    }

    #[test]
    fn a_boundary_voids_what_was_before() {
        let before = answer("m1", 150_000, "");
        let boundary = r#"{"type":"system","subtype":"compact_boundary","timestamp":"2026-11-15T11:52:00.000Z","compactMetadata":{"trigger":"auto","preTokens":150000,"postTokens":2608}}"#;
        let found = scan(&[&before, boundary], EventTrace::None).unwrap();
        assert_eq!((found.used, found.boundary), (2608, true));
        let silent = boundary.replace(",\"postTokens\":2608", "");
        assert_eq!(scan(&[&before, &silent], EventTrace::None), None);
        let after = answer("m2", 9100, "");
        assert_eq!(scan(&[&before, boundary, &after], EventTrace::None).unwrap().used, 9100);
    }

    #[test]
    fn a_text_that_is_no_text_costs_only_itself() {
        let odd = answer("m1", 50_000, "").replace("done", "\\ud800");
        assert_eq!(
            scan(&[&odd], EventTrace::LastMessage("done".into())).map(|found| found.used),
            Some(50_000)
        );
    }

    #[test]
    fn iterations_of_server_tools_count_once() {
        let looped = answer("m1", 50_000, "").replace(
            "\"output_tokens\":500",
            r#""output_tokens":500,"iterations":[{"input_tokens":1000},{"input_tokens":5,"cache_read_input_tokens":21000}]"#,
        );
        assert_eq!(scan(&[&looped], EventTrace::None).unwrap().used, 21_005);
        let none = answer("m1", 50_000, "")
            .replace("\"output_tokens\":500", r#""output_tokens":500,"iterations":[]"#);
        assert_eq!(scan(&[&none], EventTrace::None).unwrap().used, 50_000);
    }

    #[test]
    fn a_reading_is_current_only_with_the_events_own_trace() {
        let call = answer("m1", 50_000, "").replace("done", "toolu_1");
        let other_block = answer("m1", 50_000, "");
        assert!(scan(&[&call], EventTrace::ToolUse("toolu_1")).unwrap().current);
        assert!(scan(&[&call, &other_block], EventTrace::ToolUse("toolu_1")).unwrap().current);
        assert!(!scan(&[&call], EventTrace::ToolUse("toolu_2")).unwrap().current);
        let newer = answer("m2", 60_000, "");
        assert!(!scan(&[&call, &newer], EventTrace::ToolUse("toolu_1")).unwrap().current);
        assert!(scan(&[&other_block], EventTrace::LastMessage("done".into())).unwrap().current);
        assert!(scan(&[&other_block], EventTrace::LastMessage("first\n\ndone".into())).unwrap().current);
        for other in ["something else", "not done", "done\nand more"] {
            assert!(
                !scan(&[&other_block], EventTrace::LastMessage(other.into())).unwrap().current,
                "{other}"
            );
        }
    }
}
