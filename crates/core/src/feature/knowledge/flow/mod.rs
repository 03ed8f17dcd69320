//! `progress.md`: finished work, entry by entry.
//!
//! People and models add at either end, with and without a timestamp. Nothing here relies on the right form.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::feature::knowledge::document;
use crate::feature::knowledge::entry_id::EntryId;
use crate::feature::knowledge::timestamp;
use crate::text::fnv;
use crate::time::Millis;

mod bullets;
mod page_date;
#[cfg(test)]
mod tests;
mod write;

use page_date::page_date;

pub(super) use bullets::bullet_text;
pub use bullets::{decisions, next_steps};
pub use write::{NewEntry, Trimmed, add_to_archive};

pub const FILE: &str = "progress.md";

/// Holds the older entries.
pub const ARCHIVE: &str = "progress.archive.md";

/// The entries of a `progress.md` or of its archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress<'a> {
    pub text: &'a str,
    /// The text above the first entry.
    pub preamble: Range<usize>,
    /// In the order of the file.
    pub entries: Vec<ProgressEntry<'a>>,
    end: FileEnd,
}

/// A level-2 heading with its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgressEntry<'a> {
    pub id: EntryId,
    /// Without `## `.
    pub heading: &'a str,
    /// From the timestamp in the heading.
    pub at: Option<Millis>,
    /// The timestamp has a zone.
    pub zoned: bool,
    /// The timestamp has a time of day.
    pub timed: bool,
    /// The heading without the timestamp.
    pub what: &'a str,
    /// Without the heading's line.
    pub body: &'a str,
    /// The heading's line, counted from 1.
    pub line: usize,
    /// From the heading's line to the next heading.
    pub range: Range<usize>,
    /// The heading has a date, but it is the page's.
    dates_page: bool,
}

const SECOND: u64 = 1000;

const MINUTE: u64 = 60 * SECOND;

const HOUR: u64 = 60 * MINUTE;

impl ProgressEntry<'_> {
    /// The last moment that the timestamp can mean. A whole minute may lack seconds, seconds lack fractions,
    /// a day lasts until midnight, and midnight without a zone is up to twelve hours later than in UTC.
    pub fn until(&self) -> Option<Millis> {
        let day = if self.timed { 0 } else { 24 * HOUR };
        let zone = if self.zoned { 0 } else { 12 * HOUR };
        let part = |at: Millis| if at.0.is_multiple_of(MINUTE) { MINUTE } else { SECOND };
        self.at.map(|at| Millis(at.0.saturating_add(day + zone + part(at) - 1)))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileEnd {
    /// The first entry is the newest.
    Top,
    /// The last entry is the newest.
    Bottom,
}

/// Entries that a person has been shown for promotion.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShownEntries {
    pub ids: BTreeSet<EntryId>,
    /// The time of the last promotion, for files of tools that left no ids.
    pub last_run: Option<Millis>,
}

impl<'a> Progress<'a> {
    pub fn parse(text: &'a str) -> Progress<'a> {
        let document::MarkdownSections { preamble, sections, .. } = document::sections(text);
        // A page has one date. Several headings with one each are a log, however they say it.
        let mut page_dates = sections.iter().filter_map(|section| page_date(section.heading));
        let is_page = page_dates.next().is_some_and(|first| page_dates.all(|other| other == first));
        let entries: Vec<ProgressEntry<'a>> =
            sections.into_iter().map(|section| ProgressEntry::of(section, is_page)).collect();
        let end = newest_end(&entries);
        Progress { text, preamble, entries, end }
    }

    /// The entries of `progress.md`.
    ///
    /// A section without a date counts only if it was written after one with a date. The others are a person's status page
    /// or its rest: they have no entries, and nothing moves or changes them. Below a status page, where the dates do not show
    /// which end is new, only the sections with a date count. The date of `Last updated: 2026-02-18` is the page's.
    pub fn parse_flow(text: &'a str) -> Progress<'a> {
        let mut progress = Progress::parse(text);
        let is_dated = |entry: &ProgressEntry<'_>| entry.at.is_some();
        let is_below_page = progress.entries.first().is_some_and(|first| !is_dated(first));
        match progress.end {
            _ if is_below_page && !is_ordered(&progress.entries) => progress.entries.retain(is_dated),
            FileEnd::Top => {
                let oldest = progress.entries.iter().rposition(is_dated).map_or(0, |at| at + 1);
                progress.entries.truncate(oldest);
                // One may be the newest entry; several are a page.
                let above = progress.entries.iter().take_while(|entry| !is_dated(entry)).count();
                progress.entries.drain(..if above > 1 { above } else { 0 });
            }
            FileEnd::Bottom => {
                let oldest = progress.entries.iter().position(is_dated).unwrap_or(progress.entries.len());
                progress.entries.drain(..oldest);
            }
        }
        progress.entries.retain(|entry| !entry.dates_page);
        progress
    }

    /// By the existing timestamps.
    pub fn newest_end(&self) -> FileEnd {
        self.end
    }

    /// By timestamp if there is one, else by position.
    pub fn newest_first(&self) -> Vec<&ProgressEntry<'a>> {
        let mut oldest_first: Vec<&ProgressEntry<'a>> = self.entries.iter().collect();
        if self.newest_end() == FileEnd::Top {
            oldest_first.reverse();
        }
        // An entry without a time, or without a time of day, is as old as the one written before it. So there
        // is one order, not a different one for each pair.
        let mut before: Option<Millis> = None;
        let mut keyed: Vec<(Option<Millis>, &ProgressEntry<'a>)> = Vec::with_capacity(oldest_first.len());
        for entry in oldest_first {
            let day = |at: Millis| at.0 / 86_400_000;
            let at = match (entry.at, before) {
                (None, before) => before,
                (Some(at), Some(before)) if !entry.timed && day(at) == day(before) => Some(before),
                (at, _) => at,
            };
            keyed.push((at, entry));
            before = at;
        }
        keyed.sort_by_key(|(at, _)| *at);
        keyed.into_iter().rev().map(|(_, entry)| entry).collect()
    }
}

fn newest_end(entries: &[ProgressEntry<'_>]) -> FileEnd {
    let dated: Vec<Millis> = entries.iter().filter_map(|entry| entry.at).collect();
    // New entries go below a status page: above it, its sections would become entries.
    if !dated.is_empty() && !is_ordered(entries) && entries[0].at.is_none() {
        return FileEnd::Bottom;
    }
    let pairs = || dated.iter().zip(dated.iter().skip(1));
    let rising = pairs().filter(|(first, second)| first < second).count();
    let falling = pairs().filter(|(first, second)| first > second).count();
    // On a tie, the newest entry decides.
    let newest = dated.iter().max();
    let newest_is_last = dated.last() == newest && dated.first() != newest;
    if rising > falling || (rising == falling && rising > 0 && newest_is_last) {
        FileEnd::Bottom
    } else {
        FileEnd::Top
    }
}

/// Whether there are two dates, and not the same.
fn is_ordered(entries: &[ProgressEntry<'_>]) -> bool {
    let mut dates = entries.iter().filter_map(|entry| entry.at);
    let first = dates.next();
    dates.any(|date| Some(date) != first)
}

impl<'a> ProgressEntry<'a> {
    fn of(section: document::MarkdownSection<'a>, is_of_page: bool) -> ProgressEntry<'a> {
        let document::MarkdownSection { heading, line, range, body } = section;
        let found = timestamp::find_first(heading);
        let dates_page = is_of_page && page_date(heading).is_some();
        let found = found.filter(|_| !dates_page);
        let what = found.as_ref().map_or(heading, |found| strip_timestamp(heading, &found.range));
        ProgressEntry {
            id: EntryId::of(heading, body),
            heading,
            at: found.as_ref().map(|found| found.at),
            zoned: found.as_ref().is_some_and(|found| found.zoned),
            timed: found.is_some_and(|found| found.timed),
            what,
            body,
            line,
            range,
            dates_page,
        }
    }

    /// Heading and body, from the text that it was parsed from.
    fn text<'t>(&self, text: &'t str) -> &'t str {
        &text[self.range.clone()]
    }
}

/// Only if the timestamp is at one end of the heading.
fn strip_timestamp<'a>(heading: &'a str, timestamp: &Range<usize>) -> &'a str {
    let brackets: &[char] = &['[', ']', '(', ')', '（', '）', '【', '】', '*', '`'];
    let separators: &[char] = &['—', '–', '―', '-', ':', '：', '|', '・'];
    let before = heading[..timestamp.start].trim_end_matches(brackets).trim_end();
    let after = heading[timestamp.end..].trim_start_matches(brackets).trim_start();
    if before.is_empty() {
        after.trim_start_matches(separators).trim_start()
    } else if after.is_empty() {
        before.trim_end_matches(separators).trim_end()
    } else {
        heading
    }
}

/// Entries that no person has been shown for promotion, newest first, each once.
pub fn unpromoted<'p, 'a>(
    progress: &'p Progress<'a>,
    archive: Option<&'p Progress<'a>>,
    shown: &ShownEntries,
) -> Vec<&'p ProgressEntry<'a>> {
    let is_promoted = |entry: &ProgressEntry<'_>| {
        if shown.ids.is_empty() {
            matches!((entry.at, shown.last_run), (Some(at), Some(last)) if at <= last)
        } else {
            shown.ids.contains(&entry.id)
        }
    };
    let mut seen = BTreeSet::new();
    let archived = archive.into_iter().flat_map(Progress::newest_first);
    (progress.newest_first().into_iter().chain(archived))
        .filter(|entry| !is_promoted(entry) && seen.insert(entry.id))
        .collect()
}

/// The same in any order.
pub fn set_id(entries: &[&ProgressEntry<'_>]) -> u64 {
    let ids: BTreeSet<EntryId> = entries.iter().map(|entry| entry.id).collect();
    fnv::hash(ids.into_iter().flat_map(|id| id.number().to_le_bytes()))
}
