//! `progress.md`: what was done, entry by entry.
//!
//! People and models add at either end, with and without a timestamp. Nothing here relies on their doing it right.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::ops::Range;

use super::document::{self, Newline, closing};
use super::entry_id::EntryId;
use super::timestamp;
use crate::fnv;
use crate::time::Millis;

/// The entries of a `progress.md` or of its archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress<'a> {
    /// All of it.
    pub text: &'a str,
    /// What stands above the first entry.
    pub preamble: Range<usize>,
    /// In the order of the file.
    pub entries: Vec<Entry<'a>>,
}

/// One entry: a level-2 heading and what stands below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// Names it.
    pub id: EntryId,
    /// Without `## `.
    pub heading: &'a str,
    /// The timestamp in the heading.
    pub at: Option<Millis>,
    /// The timestamp says its zone.
    pub zoned: bool,
    /// The timestamp says its time of day.
    pub timed: bool,
    /// The heading without the timestamp.
    pub what: &'a str,
    /// What follows the heading's line.
    pub body: &'a str,
    /// The heading's line, counted from 1.
    pub line: usize,
    /// From the heading's line to the next heading.
    pub range: Range<usize>,
}

/// One end of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The first entry is the newest.
    Top,
    /// The last entry is the newest.
    Bottom,
}

/// An entry to be written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewEntry {
    /// When.
    pub at: Millis,
    /// What was done, in one line.
    pub what: String,
    /// What changed.
    pub changes: Vec<String>,
    /// What was decided.
    pub decisions: Vec<String>,
    /// Why.
    pub rationale: Option<String>,
    /// What comes next.
    pub next: Vec<String>,
}

/// A file cut to its newest entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trimmed {
    /// The file without those that were moved; all else byte for byte.
    pub kept: String,
    /// Those that were moved, oldest first.
    pub moved: Vec<(EntryId, String)>,
}

/// What a person has been shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// These entries.
    pub ids: BTreeSet<EntryId>,
    /// When entries were last promoted, by whoever left no ids.
    pub last_run: Option<Millis>,
}

impl<'a> Progress<'a> {
    /// Reads a file.
    pub fn parse(text: &'a str) -> Progress<'a> {
        let document::Sections { preamble, sections, .. } = document::sections(text);
        let entries = sections.into_iter().map(Entry::of).collect();
        Progress { text, preamble, entries }
    }

    /// At which end the newest entry stands, by the timestamps that are there.
    pub fn newest_end(&self) -> End {
        let dated: Vec<Millis> = self.entries.iter().filter_map(|entry| entry.at).collect();
        let pairs = || dated.iter().zip(dated.iter().skip(1));
        let rising = pairs().filter(|(first, second)| first < second).count();
        let falling = pairs().filter(|(first, second)| first > second).count();
        // Between equals the last word has who wrote last.
        let newest_is_last = dated.iter().max().is_some_and(|newest| dated.last() == Some(newest));
        if rising > falling || (rising == falling && rising > 0 && newest_is_last) {
            End::Bottom
        } else {
            End::Top
        }
    }

    /// All entries, newest first: by timestamp where there is one, else by position.
    pub fn newest_first(&self) -> Vec<&Entry<'a>> {
        let mut oldest_first: Vec<&Entry<'a>> = self.entries.iter().collect();
        if self.newest_end() == End::Top {
            oldest_first.reverse();
        }
        // An entry without a time, or without a time of day, is as old as the one that was written before it; so there
        // is one order and not a different one for each pair.
        let mut before: Option<Millis> = None;
        let mut keyed: Vec<(Option<Millis>, &Entry<'a>)> = Vec::with_capacity(oldest_first.len());
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

    /// The file with one more entry, at the end where the newest stand.
    pub fn with(&self, entry: &NewEntry) -> String {
        let newline = Newline::of(self.text);
        let blank_after_heading = {
            let has = |entry: &&Entry<'_>| entry.body.starts_with(['\n', '\r']);
            let count = self.entries.iter().filter(has).count();
            count * 2 > self.entries.len()
        };
        let block = entry.written(newline, blank_after_heading);
        let newline = newline.as_str();
        let Some(first) = self.entries.first() else {
            let title =
                if self.text.trim_start_matches('\u{feff}').trim().is_empty() { "# Progress" } else { "" };
            let head = if title.is_empty() {
                self.text.to_owned()
            } else {
                format!("{}{title}", self.text.trim_end())
            };
            return appended(head, &block, newline);
        };
        match self.newest_end() {
            End::Top => {
                let (before, after) = self.text.split_at(first.range.start);
                format!("{before}{block}{newline}{after}")
            }
            End::Bottom => appended(self.text.to_owned(), &block, newline),
        }
    }

    /// The file cut to its newest entries; `None` where there are no more than that.
    pub fn trimmed(&self, keep: usize) -> Option<Trimmed> {
        let newest = self.newest_first();
        let mut away: Vec<&Entry<'a>> = newest.get(keep..)?.to_vec();
        if away.is_empty() {
            return None;
        }
        let moved = away.iter().rev().map(|entry| (entry.id, entry.text(self.text).to_owned())).collect();
        away.sort_by_key(|entry| entry.range.start);
        let (mut kept, mut at) = (String::with_capacity(self.text.len()), 0);
        for entry in away {
            kept.push_str(&self.text[at..entry.range.start]);
            at = entry.range.end;
        }
        kept.push_str(&self.text[at..]);
        Some(Trimmed { kept, moved })
    }
}

impl<'a> Entry<'a> {
    fn of(section: document::Section<'a>) -> Entry<'a> {
        let document::Section { heading, line, range, body } = section;
        let found = timestamp::first(heading);
        let what = found.as_ref().map_or(heading, |found| without(heading, &found.range));
        Entry {
            id: EntryId::of(heading, body),
            heading,
            at: found.as_ref().map(|found| found.at),
            zoned: found.as_ref().is_some_and(|found| found.zoned),
            timed: found.is_some_and(|found| found.timed),
            what,
            body,
            line,
            range,
        }
    }

    /// Heading and body as they stand in the file that it was read from.
    fn text<'t>(&self, text: &'t str) -> &'t str {
        &text[self.range.clone()]
    }
}

/// A heading without its timestamp, if that stands at one of its ends.
fn without<'a>(heading: &'a str, timestamp: &Range<usize>) -> &'a str {
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

impl NewEntry {
    fn written(&self, newline: Newline, blank_after_heading: bool) -> String {
        let newline = newline.as_str();
        let mut text = format!("## [{}] — {}{newline}", self.at.iso_seconds(), one_line(&self.what));
        if blank_after_heading {
            text.push_str(newline);
        }
        let bullets = (self.changes.iter().map(|text| ("Key change", text)))
            .chain(self.decisions.iter().map(|text| ("Decision", text)))
            .chain(self.rationale.iter().map(|text| ("Rationale", text)))
            .chain(self.next.iter().map(|text| ("Next", text)));
        for (label, words) in bullets {
            // A String takes everything.
            let _ = write!(text, "- {label}: {}{newline}", one_line(words));
        }
        text
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A text with a block below it, a blank line between them. All that is there stays, except that a fence which is open at
/// the end is closed: the block would be part of it.
fn appended(text: String, block: &str, newline: &str) -> String {
    let mut text = match closing(&text) {
        Some(closing) => format!("{}{newline}{closing}{newline}", text.trim_end()),
        None => text,
    };
    if !text.is_empty() && !text.ends_with('\n') {
        text.push_str(newline);
    }
    let ends_blank = text.lines().last().is_none_or(|last| last.trim().is_empty());
    if !ends_blank {
        text.push_str(newline);
    }
    text.push_str(block);
    text
}

/// An archive with the entries that are not in it yet.
pub fn archived(archive: &str, moved: &[(EntryId, String)]) -> String {
    let known = Progress::parse(archive);
    // The text decides and not only the id: two entries that only seem the same are both kept.
    let mut known: BTreeSet<&str> =
        known.entries.iter().map(|entry| entry.text(archive).trim_end()).collect();
    let style = if archive.is_empty() { moved.first().map_or("", |(_, text)| text) } else { archive };
    let newline = Newline::of(style).as_str();
    let mut text =
        if archive.is_empty() { format!("# Progress archive{newline}") } else { archive.to_owned() };
    for (_, entry) in moved {
        let entry = entry.trim_end();
        if known.insert(entry) {
            text = appended(text, &format!("{entry}{newline}"), newline);
        }
    }
    text
}

/// The entries that nobody has been shown for promotion, newest first, each once.
pub fn unpromoted<'p, 'a>(
    progress: &'p Progress<'a>,
    archive: Option<&'p Progress<'a>>,
    shown: &Shown,
) -> Vec<&'p Entry<'a>> {
    let is_promoted = |entry: &Entry<'_>| {
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

/// Names a set of entries, in whatever order.
pub fn set_id(entries: &[&Entry<'_>]) -> u64 {
    let ids: BTreeSet<EntryId> = entries.iter().map(|entry| entry.id).collect();
    fnv::hash(ids.into_iter().flat_map(|id| id.number().to_le_bytes()))
}

/// What an entry says was decided.
pub fn decisions<'a>(entry: &Entry<'a>) -> Vec<&'a str> {
    labelled(entry.body, &["decision", "decisions", "決定", "決定事項", "決めたこと", "判断"])
}

/// What an entry says comes next.
pub fn nexts<'a>(entry: &Entry<'a>) -> Vec<&'a str> {
    labelled(
        entry.body,
        &[
            "next",
            "next step",
            "next steps",
            "次",
            "次の手順",
            "次のステップ",
            "次の作業",
            "次にやること",
            "次回",
        ],
    )
}

/// The texts of the bullets with one of these labels; where such a bullet says nothing itself, of those below it.
fn labelled<'a>(body: &'a str, labels: &[&str]) -> Vec<&'a str> {
    let mut found = Vec::new();
    let mut below: Option<usize> = None;
    for line in document::lines(body).filter(|line| !line.fenced && !line.text.trim().is_empty()) {
        let bullet = bullet(line.text);
        let indent = line.text.len() - line.text.trim_start().len();
        match (below, bullet) {
            (Some(deep), Some(text)) if indent > deep => {
                found.push(text);
                continue;
            }
            (Some(deep), None) if indent > deep => continue,
            _ => below = None,
        }
        if let Some(text) = bullet.and_then(|bullet| after_label(bullet, labels)) {
            if text.is_empty() {
                below = Some(indent);
            } else {
                found.push(text);
            }
        }
    }
    found
}

/// The text of a bullet.
pub(super) fn bullet(line: &str) -> Option<&str> {
    let text = line.trim_start();
    ["- ", "* ", "+ ", "・"].iter().find_map(|mark| text.strip_prefix(mark)).map(str::trim)
}

/// `Decision: text`, `**Decision**: text`, `**Decision:** text`.
fn after_label<'a>(bullet: &'a str, labels: &[&str]) -> Option<&'a str> {
    let (label, text) = bullet.split_once([':', '：'])?;
    let bold = label.strip_prefix("**");
    let label = bold.unwrap_or(label);
    let (label, text) = match (bold, label.strip_suffix("**")) {
        (Some(_), Some(label)) => (label, text),
        (Some(_), None) => (label, text.strip_prefix("**").unwrap_or(text)),
        (None, _) => (label, text),
    };
    labels.contains(&label.trim().to_lowercase().as_str()).then(|| text.trim())
}
