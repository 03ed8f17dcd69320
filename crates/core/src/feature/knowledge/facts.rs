//! Facts about flow and stock: names, numbers and the few lines that a summary must keep.

use crate::feature::HANDOFF_FILE;
use crate::feature::facts::needs;
use crate::feature::knowledge::boundary::Boundary;
use crate::feature::knowledge::flow;
use crate::feature::knowledge::flow::{Progress, ProgressEntry, ShownEntries};
use crate::feature::knowledge::handoff::HandoffHead;
use crate::feature::knowledge::preserved::Preserved;
use crate::feature::knowledge::stock::{Confidence, Stock};
use crate::feature::knowledge::tracked::{FileNumbers, TrackedFile};
use crate::feature::knowledge::{conflict, plan, tracked};
use crate::time::Millis;

needs! {
    Needs {
        /// Flow and stock.
        files,
        /// The time of the flow's last change.
        flow_changed,
        /// The note before the last compaction.
        boundary,
        /// Messages that the host kept next to the last summary.
        preserved,
    }
}

#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// `None` if they cannot be read.
    pub files: Option<Knowledge>,
    /// A home directory or no folder at all: no notes are taken there. Looked for with the files.
    pub takes_no_notes: bool,
    /// When `progress.md` was last changed.
    pub flow_changed: Option<Millis>,
    /// The note before the last compaction of this session.
    pub boundary: Option<Boundary>,
    /// As far as the host has written it down.
    pub preserved: Preserved,
}

/// A persistence file that exists.
#[derive(Clone, Copy, Debug)]
pub struct Persisted<'a> {
    pub name: &'static str,
    pub modified: Millis,
    /// `None` if it cannot be read, which counts as absent; `doctor` reports why.
    pub text: Option<&'a str>,
}

/// The project's memory of promotions.
#[derive(Clone, Debug, Default)]
pub struct PromotionMemory {
    pub shown: ShownEntries,
    /// Sets of entries that a person was told of, and handoffs that a session was ([`HandoffHead::set`]).
    pub nudged: Vec<u64>,
}

/// Flow and stock of a project.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Knowledge {
    pub tracked: Vec<TrackedFile>,
    /// Number of entries in `progress.md`.
    pub entries: usize,
    /// Its three newest headings.
    pub headings: Vec<String>,
    /// When it was last written to; `None` without an entry.
    pub written: Option<Millis>,
    /// Titles of unpromoted entries, newest first.
    pub unpromoted: Vec<String>,
    /// Identifies that set of entries.
    pub set: u64,
    /// A person was told of that set.
    pub nudged: bool,
    /// Decisions in the entries of this session.
    pub decisions: Vec<String>,
    /// Next steps of the newest entry.
    pub next: Vec<String>,
    /// Constraints in the plan.
    pub constraints: Vec<String>,
    /// Open items of the plan.
    pub open: Vec<String>,
    /// Over all stock of the project.
    pub confidence: Confidence,
    /// When the existing handoff was written.
    pub handoff: Option<Millis>,
    /// A session was told of it.
    pub handoff_told: bool,
    /// Files with both sides of a merge in them.
    pub conflicts: Vec<&'static str>,
}

/// Enough headings to show where the work stands.
const HEADINGS: usize = 3;

impl Knowledge {
    /// `began`: the beginning of the session, if known.
    pub fn from_files(
        files: &[Persisted<'_>],
        remembered: &PromotionMemory,
        began: Option<Millis>,
    ) -> Knowledge {
        let text_of = |name: &str| {
            let file = files.iter().find(|file| file.name == name)?;
            Some((file.text?, file.modified))
        };
        let owned = |list: Vec<&str>| list.into_iter().map(str::to_owned).collect::<Vec<String>>();
        let mut knowledge = Knowledge::default();
        let archive = text_of(flow::ARCHIVE).map(|(text, _)| Progress::parse(text));
        let progress = text_of(flow::FILE).map(|(text, modified)| (Progress::parse_flow(text), modified));
        let none = Progress::parse("");
        let (flow, modified) = progress.as_ref().map_or((&none, None), |(flow, at)| (flow, Some(*at)));
        let newest = flow.newest_first();
        knowledge.entries = newest.len();
        knowledge.headings = newest.iter().take(HEADINGS).map(|entry| entry.heading.to_owned()).collect();
        knowledge.written = newest.first().and_then(|entry| {
            let said = entry.until().filter(|_| entry.zoned);
            // No entry is newer than its file, whatever its heading says.
            said.into_iter().chain(modified).min()
        });
        knowledge.next = newest.first().map(|entry| owned(flow::next_steps(entry))).unwrap_or_default();
        // An entry without a time may belong to this session: it is in the file, so it is recent.
        let ours = |entry: &&&ProgressEntry<'_>| {
            entry.until().is_none_or(|at| began.is_none_or(|began| at >= began))
        };
        knowledge.decisions =
            newest.iter().filter(ours).flat_map(|entry| owned(flow::decisions(entry))).collect();

        let unpromoted = flow::unpromoted(flow, archive.as_ref(), &remembered.shown);
        knowledge.set = flow::set_id(&unpromoted);
        knowledge.nudged = remembered.nudged.contains(&knowledge.set);
        knowledge.unpromoted = unpromoted.iter().map(|entry| entry.what.to_owned()).collect();

        if let Some((text, _)) = text_of(plan::FILE) {
            knowledge.constraints = owned(plan::constraints(text));
            knowledge.open = owned(plan::open_items(text));
        }
        knowledge.handoff =
            text_of(HANDOFF_FILE).and_then(|(text, _)| HandoffHead::parse(text)).map(|head| head.at);
        knowledge.handoff_told =
            knowledge.handoff.is_some_and(|at| remembered.nudged.contains(&HandoffHead::set(at)));
        let has_conflict = |file: &&Persisted<'_>| file.text.is_some_and(conflict::has_conflict);
        knowledge.conflicts = files.iter().filter(has_conflict).map(|file| file.name).collect();
        knowledge.track_files(files, flow, archive.as_ref());
        knowledge
    }

    /// Numbers of each persistence file, and the confidence of all stock.
    fn track_files(&mut self, files: &[Persisted<'_>], flow: &Progress<'_>, archive: Option<&Progress<'_>>) {
        let mut learnings = Vec::new();
        let is_tracked = |file: &&Persisted<'_>| tracked::TRACKED.contains(&file.name);
        for Persisted { name, modified, text } in files.iter().filter(is_tracked) {
            let what = match text {
                Some(_) if tracked::is_flow(name) => {
                    let parsed = if *name == flow::FILE { Some(flow) } else { archive };
                    match parsed.map_or(0, |parsed| parsed.entries.len()) {
                        // A status page of a person.
                        0 if text.is_some_and(|text| !Progress::parse(text).entries.is_empty()) => {
                            FileNumbers::Other
                        }
                        entries => FileNumbers::Flow { entries },
                    }
                }
                Some(text) if tracked::is_stock(name) => {
                    let stock = Stock::parse(text);
                    let confidence = Confidence::of(&stock.entries);
                    learnings.extend(stock.entries);
                    FileNumbers::Stock(confidence)
                }
                _ => FileNumbers::Other,
            };
            self.tracked.push(TrackedFile { name, what, modified: *modified });
        }
        self.confidence = Confidence::of(&learnings);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feature::knowledge::timestamp;

    fn at(text: &str) -> Millis {
        timestamp::find_first(text).expect("a time").at
    }

    fn read(text: &str, modified: &str, began: &str) -> Knowledge {
        let time = |text: &str| Millis::from_iso(&format!("2026-11-16T{text}:00Z")).unwrap();
        // A section without a date is an entry only above older ones.
        let text = format!("{text}## [2026-01-02] — b\n## [2026-01-01] — a\n");
        let file = Persisted { name: flow::FILE, modified: time(modified), text: Some(&text) };
        Knowledge::from_files(&[file], &PromotionMemory::default(), Some(time(began)))
    }

    /// The session began at 14:00 UTC.
    #[test]
    fn decisions_of_this_session_count_however_their_entry_is_dated() {
        for (heading, counts) in [
            ("[2026-11-16T14:30:00Z] — x", true),
            ("[2026-11-16T14:00Z] — in the minute of the beginning", true),
            ("[2026-11-16T13:30:00Z] — before", false),
            ("[2026-11-16T09:30:00-05:00] — x", true),
            ("[2026-11-16T08:30:00-05:00] — before", false),
            ("[2026-11-16 09:30] — by a clock in New York", true),
            ("[2026-11-16 23:30] — by a clock in Tokyo", true),
            ("[2026-11-15 23:30] — yesterday", false),
            ("[2026-11-16] — today", true),
            ("[2026-11-14] — the day before yesterday", false),
            ("no date", true),
        ] {
            let knowledge = read(&format!("## {heading}\n- Decision: d\n"), "15:00", "14:00");
            assert_eq!(knowledge.decisions.len(), usize::from(counts), "{heading}");
        }
    }

    #[test]
    fn an_entry_is_as_new_as_its_heading_says_and_no_newer_than_its_file() {
        let written = |heading: &str| read(&format!("## {heading}\n"), "15:00", "14:00").written;
        let iso = |heading: &str| written(heading).map(Millis::iso_seconds);
        assert_eq!(iso("[2026-11-16T14:30:00Z] — x").as_deref(), Some("2026-11-16T14:30:59Z"));
        for heading in ["[2026-11-16T15:00Z] — x", "[2026-11-16T23:00Z] — x", "[2026-11-16 09:00] — x", "x"]
        {
            assert_eq!(iso(heading).as_deref(), Some("2026-11-16T15:00:00Z"), "{heading}");
        }
    }

    #[test]
    fn a_status_page_is_named_and_has_no_entries() {
        let page = "# Status\n\n## Done\n- Decision: d\n- Next: n\n\n## To do\n- x\n";
        let file = Persisted { name: flow::FILE, modified: at("2026-11-16T03:10:05Z"), text: Some(page) };
        let known = Knowledge::from_files(&[file], &PromotionMemory::default(), None);
        let tracked: Vec<_> = known.tracked.iter().map(|file| (file.name, file.what)).collect();
        assert_eq!(tracked, [(flow::FILE, FileNumbers::Other)]);
        let nothing = Knowledge { tracked: known.tracked.clone(), set: known.set, ..Knowledge::default() };
        assert_eq!(known, nothing);
    }

    /// The entry was written in the same second, after the edit.
    #[test]
    fn a_second_lasts_until_its_end() {
        let edited = Millis(at("2026-11-16T03:10:05Z").0 + 900);
        let text = "## [2026-11-16T03:10:05Z] — what\n";
        let file = Persisted { name: flow::FILE, modified: edited, text: Some(text) };
        let known = Knowledge::from_files(&[file], &PromotionMemory::default(), None);
        assert!(known.written >= Some(edited), "{:?}", known.written);
    }
}
