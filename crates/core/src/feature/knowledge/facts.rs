//! What policies may know of flow and stock: names, numbers and the few lines that a summary must keep.

use crate::feature::HANDOFF_FILE;
use crate::feature::facts::needs;
use crate::feature::knowledge::boundary::Boundary;
use crate::feature::knowledge::flow;
use crate::feature::knowledge::flow::{Entry, Progress, Shown};
use crate::feature::knowledge::handoff::Head;
use crate::feature::knowledge::preserved::Preserved;
use crate::feature::knowledge::stock::{Confidence, Stock};
use crate::feature::knowledge::tracked::{Content, Tracked};
use crate::feature::knowledge::{plan, tracked};
use crate::time::Millis;

needs! {
    /// What this room looks for.
    Needs {
        /// Flow and stock.
        files,
        /// When flow was last changed.
        flow_changed,
        /// What was noted before the last compaction.
        boundary,
        /// What stands in the conversation next to the last summary.
        preserved,
    }
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Flow and stock, where they can be read.
    pub files: Option<Knowledge>,
    /// When `progress.md` was last changed.
    pub flow_changed: Option<Millis>,
    /// What was noted before the last compaction of this session.
    pub boundary: Option<Boundary>,
    /// What stands in the conversation next to the last summary, as far as the host has written that down.
    pub preserved: Preserved,
}

/// A persistence file that is there.
#[derive(Clone, Copy, Debug)]
pub struct Persisted<'a> {
    /// Its name.
    pub name: &'static str,
    /// When it was last changed.
    pub modified: Millis,
    /// What it says. One that cannot be read is as good as none; `doctor` says why.
    pub text: Option<&'a str>,
}

/// What a project remembers about promotions.
#[derive(Clone, Debug, Default)]
pub struct Remembered {
    /// What a person was shown.
    pub shown: Shown,
    /// Sets of entries that a person was told of.
    pub nudged: Vec<u64>,
}

/// Flow and stock of a project.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Knowledge {
    /// The persistence files that are there.
    pub tracked: Vec<Tracked>,
    /// Entries in `progress.md`.
    pub entries: usize,
    /// Its three newest headings.
    pub headings: Vec<String>,
    /// When it was last written to; `None` without an entry.
    pub written: Option<Millis>,
    /// What unpromoted entries say was done, newest first.
    pub unpromoted: Vec<String>,
    /// Names that set of entries.
    pub set: u64,
    /// A person was told of that set.
    pub nudged: bool,
    /// Decisions in the entries of this session.
    pub decisions: Vec<String>,
    /// What the newest entry says is next.
    pub next: Vec<String>,
    /// What the plan says must hold.
    pub constraints: Vec<String>,
    /// What the plan says is open.
    pub open: Vec<String>,
    /// What all stock of the project is worth.
    pub confidence: Confidence,
    /// When the handoff was written that is there.
    pub handoff: Option<Millis>,
}

/// So many headings say where the work stands.
const HEADINGS: usize = 3;

impl Knowledge {
    /// Reads the texts. `began` is when the session began, as far as that is known.
    pub fn of(files: &[Persisted<'_>], remembered: &Remembered, began: Option<Millis>) -> Knowledge {
        let text_of = |name: &str| {
            let file = files.iter().find(|file| file.name == name)?;
            Some((file.text?, file.modified))
        };
        let owned = |list: Vec<&str>| list.into_iter().map(str::to_owned).collect::<Vec<String>>();
        let mut knowledge = Knowledge::default();
        let archive = text_of(flow::ARCHIVE).map(|(text, _)| Progress::parse(text));
        let progress = text_of(flow::FILE).map(|(text, modified)| (Progress::parse(text), modified));
        let none = Progress::parse("");
        let (flow, modified) = progress.as_ref().map_or((&none, None), |(flow, at)| (flow, Some(*at)));
        let newest = flow.newest_first();
        knowledge.entries = newest.len();
        knowledge.headings = newest.iter().take(HEADINGS).map(|entry| entry.heading.to_owned()).collect();
        knowledge.written = newest.first().and_then(|entry| {
            let said = entry.until().filter(|_| entry.zoned);
            // No entry is newer than its file, whatever it says.
            said.into_iter().chain(modified).min()
        });
        knowledge.next = newest.first().map(|entry| owned(flow::nexts(entry))).unwrap_or_default();
        // An entry without a time may be of this session as well as of another: it is in the file, and it is recent.
        let ours = |entry: &&&Entry<'_>| entry.until().is_none_or(|at| began.is_none_or(|began| at >= began));
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
        knowledge.handoff = text_of(HANDOFF_FILE).and_then(|(text, _)| Head::of(text)).map(|head| head.at);
        let mut learnings = Vec::new();
        let is_tracked = |file: &&Persisted<'_>| tracked::TRACKED.contains(&file.name);
        for Persisted { name, modified, text } in files.iter().filter(is_tracked) {
            let what = match text {
                Some(_) if tracked::is_flow(name) => {
                    let parsed = if *name == flow::FILE { Some(flow) } else { archive.as_ref() };
                    Content::Flow { entries: parsed.map_or(0, |parsed| parsed.entries.len()) }
                }
                Some(text) if tracked::is_stock(name) => {
                    let stock = Stock::parse(text);
                    let confidence = Confidence::of(&stock.entries);
                    learnings.extend(stock.entries);
                    Content::Stock(confidence)
                }
                _ => Content::Other,
            };
            knowledge.tracked.push(Tracked { name, what, modified: *modified });
        }
        knowledge.confidence = Confidence::of(&learnings);
        knowledge
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feature::knowledge::timestamp;

    fn at(text: &str) -> Millis {
        timestamp::first(text).expect("a time").at
    }

    fn read(text: &str, modified: &str, began: &str) -> Knowledge {
        let time = |text: &str| Millis::from_iso(&format!("2026-11-16T{text}:00Z")).unwrap();
        let file = Persisted { name: flow::FILE, modified: time(modified), text: Some(text) };
        Knowledge::of(&[file], &Remembered::default(), Some(time(began)))
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
        assert_eq!(read("no entry\n", "15:00", "14:00").written, None);
    }

    /// The entry was written in the same second, after the edit.
    #[test]
    fn a_second_lasts_until_its_end() {
        let edited = Millis(at("2026-11-16T03:10:05Z").0 + 900);
        let text = "## [2026-11-16T03:10:05Z] — what\n";
        let file = Persisted { name: flow::FILE, modified: edited, text: Some(text) };
        let known = Knowledge::of(&[file], &Remembered::default(), None);
        assert!(known.written >= Some(edited), "{:?}", known.written);
    }
}
