//! `progress.md`: finished work, entry by entry.
//!
//! People and models add at either end, with and without a timestamp. Nothing here relies on the right form.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::ops::Range;

use crate::feature::knowledge::document;
use crate::feature::knowledge::document::{Newline, closing};
use crate::feature::knowledge::entry_id::EntryId;
use crate::feature::knowledge::timestamp;
use crate::text::fnv;
use crate::text::one_line::single_spaced;
use crate::time::Millis;

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
    pub entries: Vec<Entry<'a>>,
}

/// A level-2 heading with its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
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
}

const SECOND: u64 = 1000;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;

impl Entry<'_> {
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
pub enum End {
    /// The first entry is the newest.
    Top,
    /// The last entry is the newest.
    Bottom,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewEntry {
    pub at: Millis,
    /// One line.
    pub what: String,
    pub changes: Vec<String>,
    pub decisions: Vec<String>,
    pub rationale: Option<String>,
    pub next: Vec<String>,
}

/// A file cut to its newest entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trimmed {
    /// The file without the moved entries; everything else byte for byte.
    pub kept: String,
    /// Oldest first.
    pub moved: Vec<(EntryId, String)>,
}

/// Entries that a person has been shown for promotion.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    pub ids: BTreeSet<EntryId>,
    /// The time of the last promotion, for files of tools that left no ids.
    pub last_run: Option<Millis>,
}

impl<'a> Progress<'a> {
    pub fn parse(text: &'a str) -> Progress<'a> {
        let document::Sections { preamble, sections, .. } = document::sections(text);
        let entries = sections.into_iter().map(Entry::of).collect();
        Progress { text, preamble, entries }
    }

    /// By the existing timestamps.
    pub fn newest_end(&self) -> End {
        let dated: Vec<Millis> = self.entries.iter().filter_map(|entry| entry.at).collect();
        let pairs = || dated.iter().zip(dated.iter().skip(1));
        let rising = pairs().filter(|(first, second)| first < second).count();
        let falling = pairs().filter(|(first, second)| first > second).count();
        // On a tie, the newest entry decides.
        let newest = dated.iter().max();
        let newest_is_last = dated.last() == newest && dated.first() != newest;
        if rising > falling || (rising == falling && rising > 0 && newest_is_last) {
            End::Bottom
        } else {
            End::Top
        }
    }

    /// By timestamp if there is one, else by position.
    pub fn newest_first(&self) -> Vec<&Entry<'a>> {
        let mut oldest_first: Vec<&Entry<'a>> = self.entries.iter().collect();
        if self.newest_end() == End::Top {
            oldest_first.reverse();
        }
        // An entry without a time, or without a time of day, is as old as the one written before it. So there
        // is one order, not a different one for each pair.
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

    /// Adds the entry at the end with the newest entries, with the file's own line ends and blank lines.
    pub fn with(&self, entry: &NewEntry) -> String {
        let newline = Newline::of(self.text).as_str();
        let most = |count: usize, of: usize| count * 2 > of;
        let entries = &self.entries;
        let headed = entries.iter().filter(|entry| entry.body.starts_with(['\n', '\r'])).count();
        let block = entry.written(newline, most(headed, entries.len()));
        let Some(first) = entries.first() else {
            let is_empty = self.text.trim_start_matches('\u{feff}').trim().is_empty();
            let head =
                if is_empty { format!("{}# Progress", self.text.trim_end()) } else { self.text.to_owned() };
            return appended(closed(head, newline), &block, newline, true);
        };
        let (_, others) = entries.split_last().unwrap_or((first, &[]));
        let tight = others.iter().filter(|entry| !ends_blank(entry.text(self.text))).count();
        let apart = !most(tight, others.len());
        match self.newest_end() {
            End::Top => {
                let (before, after) = self.text.split_at(first.range.start);
                let between = if apart { newline } else { "" };
                format!("{before}{block}{between}{after}")
            }
            End::Bottom => appended(closed(self.text.to_owned(), newline), &block, newline, apart),
        }
    }

    /// `None` if there are no more entries than that.
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

    /// Heading and body, from the text that it was parsed from.
    fn text<'t>(&self, text: &'t str) -> &'t str {
        &text[self.range.clone()]
    }
}

/// Only if the timestamp is at one end of the heading.
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
    fn written(&self, newline: &str, blank_after_heading: bool) -> String {
        let mut text = format!("## [{}] — {}{newline}", self.at.iso_seconds(), single_spaced(&self.what));
        if blank_after_heading {
            text.push_str(newline);
        }
        let bullets = (self.changes.iter().map(|text| ("Key change", text)))
            .chain(self.decisions.iter().map(|text| ("Decision", text)))
            .chain(self.rationale.iter().map(|text| ("Rationale", text)))
            .chain(self.next.iter().map(|text| ("Next", text)));
        for (label, words) in bullets {
            // Writing to a String cannot fail.
            let _ = write!(text, "- {label}: {}{newline}", single_spaced(words));
        }
        text
    }
}

/// A block put below an open fence would become part of it.
fn closed(text: String, newline: &str) -> String {
    match closing(&text) {
        Some(closing) => format!("{}{newline}{closing}{newline}", text.trim_end()),
        None => text,
    }
}

fn appended(mut text: String, block: &str, newline: &str, apart: bool) -> String {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push_str(newline);
    }
    if apart && !ends_blank(&text) {
        text.push_str(newline);
    }
    text.push_str(block);
    text
}

fn ends_blank(text: &str) -> bool {
    text.ends_with('\n')
        && text.trim_end_matches([' ', '\t', '\r']).strip_suffix('\n').is_some_and(|above| {
            let above = above.trim_end_matches([' ', '\t', '\r']);
            above.is_empty() || above.ends_with('\n')
        })
}

/// Skips entries that the archive already has.
pub fn archived(archive: &str, moved: &[(EntryId, String)]) -> String {
    let style = if archive.is_empty() { moved.first().map_or("", |(_, text)| text) } else { archive };
    let newline = Newline::of(style).as_str();
    // By text and not only by id: two entries that only seem the same are both kept.
    let key = |entry: &str| closed(entry.trim_end().replace("\r\n", "\n"), "\n").trim_end().to_owned();
    let parsed = Progress::parse(archive);
    let mut known: BTreeSet<String> = parsed.entries.iter().map(|entry| key(entry.text(archive))).collect();
    let new = moved.iter().map(|(_, entry)| entry.trim_end()).filter(|entry| known.insert(key(entry)));
    let new: Vec<String> = new.map(|entry| closed(entry.to_owned(), newline)).collect();
    if new.is_empty() {
        return archive.to_owned();
    }
    let head = if archive.is_empty() { "# Progress archive".to_owned() } else { archive.to_owned() };
    new.iter().fold(closed(head, newline), |text, entry| {
        appended(text, &format!("{}{newline}", entry.trim_end()), newline, true)
    })
}

/// Entries that no person has been shown for promotion, newest first, each once.
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

/// The same in any order.
pub fn set_id(entries: &[&Entry<'_>]) -> u64 {
    let ids: BTreeSet<EntryId> = entries.iter().map(|entry| entry.id).collect();
    fnv::hash(ids.into_iter().flat_map(|id| id.number().to_le_bytes()))
}

pub fn decisions<'a>(entry: &Entry<'a>) -> Vec<&'a str> {
    labelled(entry.body, &["decision", "decisions", "決定", "決定事項", "決めたこと", "判断"])
}

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

/// The texts of bullets with one of these labels; for an empty bullet, those of the bullets below it.
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn headings(entries: &[&Entry<'_>]) -> String {
        entries.iter().map(|entry| entry.what).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_heading_is_a_time_and_what_was_done() {
        for (heading, at, zoned, what) in [
            (
                "[2026-02-18 14:30] — 認証を実装した",
                Some("2026-02-18T14:30:00.000Z"),
                false,
                "認証を実装した",
            ),
            ("[2026-02-18T14:30:00Z] - wired it", Some("2026-02-18T14:30:00.000Z"), true, "wired it"),
            ("2026-02-18T14:30:00+09:00: a: b", Some("2026-02-18T05:30:00.000Z"), true, "a: b"),
            ("2026/02/18 – x - y", Some("2026-02-18T00:00:00.000Z"), false, "x - y"),
            ("【2026年2月18日】設計", Some("2026-02-18T00:00:00.000Z"), false, "設計"),
            ("**[2026-02-18]** x", Some("2026-02-18T00:00:00.000Z"), false, "x"),
            ("Session 3 — 2026-02-18", Some("2026-02-18T00:00:00.000Z"), false, "Session 3"),
            ("Session 3 (2026-02-18)", Some("2026-02-18T00:00:00.000Z"), false, "Session 3"),
            (
                "Session 3 (2026-02-18): x",
                Some("2026-02-18T00:00:00.000Z"),
                false,
                "Session 3 (2026-02-18): x",
            ),
            ("[2026-02-18]", Some("2026-02-18T00:00:00.000Z"), false, ""),
            ("[timestamp] — x", None, false, "[timestamp] — x"),
            ("2026-02-30 — x", None, false, "2026-02-30 — x"),
            ("次の段階", None, false, "次の段階"),
            ("", None, false, ""),
        ] {
            let text = format!("# Progress\n\n## {heading}\n- x\n");
            let progress = Progress::parse(&text);
            let entry = &progress.entries[0];
            let read = (entry.at.map(Millis::iso), entry.zoned, entry.what);
            assert_eq!(read, (at.map(str::to_owned), zoned, what), "{heading}");
            assert_eq!((entry.heading, entry.line, entry.body), (heading, 3, "- x\n"));
        }
    }

    /// Days of one month, `-` for an entry without a time; then the newest end and the entries by age,
    /// numbered from the top.
    #[test]
    fn which_end_is_new_and_what_is_newest() {
        for (days, end, newest_first) in [
            ("", End::Top, ""),
            ("10", End::Top, "0"),
            ("-", End::Top, "0"),
            ("- - -", End::Top, "0 1 2"),
            ("12 11 10", End::Top, "0 1 2"),
            ("10 11 12", End::Bottom, "2 1 0"),
            ("10 10 10", End::Top, "0 1 2"),
            ("10 10 11", End::Bottom, "2 1 0"),
            ("- 12 - 11", End::Top, "0 1 2 3"),
            ("- 11 - 12", End::Bottom, "3 2 1 0"),
            // Mostly at the top, once at the bottom.
            ("12 11 10 13", End::Top, "3 0 1 2"),
            ("- 12 11 10 13", End::Top, "4 0 1 2 3"),
            // Mostly at the bottom, once at the top.
            ("13 10 11 12", End::Bottom, "0 3 2 1"),
            ("11 10 12", End::Bottom, "2 0 1"),
            ("11 12 10", End::Top, "1 0 2"),
            // An entry of the year 9999 does not reverse the order.
            ("12 99 11 10", End::Top, "1 0 2 3"),
        ] {
            let day = |day: &str| match day {
                "-" => "x".to_owned(),
                "99" => "9999-12-31 x".to_owned(),
                day => format!("2026-03-{day} x"),
            };
            let text =
                days.split_whitespace().map(|at| format!("## {}", day(at))).collect::<Vec<_>>().join("\n");
            let progress = Progress::parse(&text);
            let order: Vec<String> =
                progress.newest_first().iter().map(|entry| (entry.line - 1).to_string()).collect();
            assert_eq!((progress.newest_end(), order.join(" ").as_str()), (end, newest_first), "{days}");
        }
    }

    #[test]
    fn a_day_without_a_time_is_ordered_by_position() {
        let text = "## 2026-03-01 x\n## 2026-03-01 09:00 a\n## 2026-03-01 b\n## 2026-03-02 10:00 c\n";
        assert_eq!(headings(&Progress::parse(text).newest_first()), "c b a x");
    }

    #[test]
    fn decisions_and_next_steps() {
        let text = "## x\n- Decision: use `fsync`\n- **Decision**: **two** files\n* **決定：** 一つにする\n\
            - Decisions:\n  - a\n    more of a\n  - b\n- Key change: c\n```\n- Decision: not this\n```\n\
            - Decision\n- decisional: no\n- Next: test it\n- 次：実装する\n- Next steps:\n    - d\n- 次:\n";
        let progress = Progress::parse(text);
        let entry = &progress.entries[0];
        assert_eq!(decisions(entry), ["use `fsync`", "**two** files", "一つにする", "a", "b"]);
        assert_eq!(nexts(entry), ["test it", "実装する", "d"]);
    }

    fn new(what: &str) -> NewEntry {
        NewEntry { at: Millis(1_794_795_005_000), what: what.into(), ..NewEntry::default() }
    }

    #[test]
    fn an_entry_is_written_where_and_how_the_file_has_them() {
        let full = NewEntry {
            changes: vec!["a\nb".into()],
            decisions: vec!["決めた".into()],
            rationale: Some("why".into()),
            next: vec!["c".into(), "d".into()],
            ..new("何かを\nした")
        };
        let written = "# Progress\n\n## [2026-11-16T02:10:05Z] — 何かを した\n- Key change: a b\n\
            - Decision: 決めた\n- Rationale: why\n- Next: c\n- Next: d\n";
        for empty in ["", "\n \n"] {
            assert_eq!(Progress::parse(empty).with(&full), written);
        }
        let entry = "## [2026-11-16T02:10:05Z] — x";
        for (text, expected) in [
            ("\u{feff}", format!("\u{feff}# Progress\n\n{entry}\n")),
            ("# 進捗", format!("# 進捗\n\n{entry}\n")),
            ("# 進捗\r\n", format!("# 進捗\r\n\r\n{entry}\r\n")),
            ("# P\n\n## a\n- x", format!("# P\n\n{entry}\n\n## a\n- x")),
            ("\u{feff}## a\n", format!("\u{feff}{entry}\n\n## a\n")),
            ("## a\n\n- x\n", format!("{entry}\n\n\n## a\n\n- x\n")),
            ("## a\n## b\n", format!("{entry}\n## a\n## b\n")),
            (
                "## 2026-01-01\n\n## 2026-01-02\n- x",
                format!("## 2026-01-01\n\n## 2026-01-02\n- x\n\n{entry}\n"),
            ),
            ("## 2026-01-01\n## 2026-01-02\n", format!("## 2026-01-01\n## 2026-01-02\n{entry}\n")),
            (
                "## 2026-01-01\n\n## 2026-01-02\n```\nx\n\n",
                format!("## 2026-01-01\n\n## 2026-01-02\n```\nx\n```\n\n{entry}\n"),
            ),
            ("~~~\n## a", format!("~~~\n## a\n~~~\n\n{entry}\n")),
        ] {
            assert_eq!(Progress::parse(text).with(&new("x")), expected, "{text:?}");
        }
    }

    #[test]
    fn the_newest_stay_byte_for_byte_and_the_others_move() {
        let text =
            "# P\r\n\n## 2026-01-03\n- c  \n\n## 2026-01-01\r\n- a\n## 2026-01-02\n- b\n\n## 2026-01-04\n- d";
        let progress = Progress::parse(text);
        assert_eq!(progress.trimmed(4), None);
        assert_eq!(progress.trimmed(9), None);
        let trimmed = progress.trimmed(2).unwrap();
        assert_eq!(trimmed.kept, "# P\r\n\n## 2026-01-03\n- c  \n\n## 2026-01-04\n- d");
        let moved: Vec<&str> = trimmed.moved.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(moved, ["## 2026-01-01\r\n- a\n", "## 2026-01-02\n- b\n\n"]);
        assert_eq!(progress.trimmed(0).unwrap().kept, "# P\r\n\n");

        let archive = archived("", &trimmed.moved);
        assert_eq!(archive, "# Progress archive\n\n## 2026-01-01\r\n- a\n\n## 2026-01-02\n- b\n");
        assert_eq!(archived(&archive, &trimmed.moved), archive, "what is there is not put there again");
        let again = archived("古い\r\n", &trimmed.moved[1..]);
        assert_eq!(again, "古い\r\n\r\n## 2026-01-02\n- b\r\n");
    }

    #[test]
    fn an_open_fence_swallows_nothing_that_follows_it() {
        let progress = Progress::parse("## 2026-01-02\n## 2026-01-01\n~~~\nx\n\n");
        let moved = progress.trimmed(0).unwrap().moved;
        let archive = archived("", &moved);
        assert_eq!(archive, "# Progress archive\n\n## 2026-01-01\n~~~\nx\n~~~\n\n## 2026-01-02\n");
        let ids: Vec<EntryId> = Progress::parse(&archive).entries.iter().map(|entry| entry.id).collect();
        assert_eq!(ids, [moved[0].0, moved[1].0]);
        assert_eq!(archived(&archive, &moved), archive);
    }

    #[test]
    fn what_nobody_was_shown() {
        let progress = Progress::parse("## 2026-01-03 c\n## 2026-01-03 c\n## 2026-01-02 b\n## x\n");
        let archive = Progress::parse("## 2026-01-01 a\n## 2026-01-02 b\n");
        let ask = |archive, shown: &Shown| headings(&unpromoted(&progress, archive, shown));
        assert_eq!(ask(None, &Shown::default()), "c b x");
        assert_eq!(ask(Some(&archive), &Shown::default()), "c b x a");
        let run = Shown { last_run: Millis::of_day(2026, 1, 2), ..Shown::default() };
        assert_eq!(ask(Some(&archive), &run), "c x");
        let ids = [progress.entries[0].id].into();
        assert_eq!(ask(Some(&archive), &Shown { ids, ..run }), "b x a", "ids decide");
    }

    #[test]
    fn a_set_is_the_same_in_any_order() {
        let progress = Progress::parse("## a\n## b\n## a\n");
        let [a, b, again] = &progress.entries[..] else { panic!() };
        assert_eq!(set_id(&[a, b]), set_id(&[b, again, a]));
        assert_ne!(set_id(&[a]), set_id(&[a, b]));
        assert_ne!(set_id(&[a]), set_id(&[]));
    }

    /// Files in any order, with and without times, with fences, blanks and line ends of both kinds.
    fn file() -> impl Strategy<Value = String> {
        let line = prop_oneof![
            4 => (1_u32..29, 0_u32..24).prop_map(|(day, hour)| format!("## [2026-02-{day:02} {hour:02}:00] — 作業")),
            2 => (1_u32..29).prop_map(|day| format!("## 2026/02/{day}: x")),
            2 => Just("## 見出し".to_owned()),
            3 => "- [a-z決定:： ]{0,8}",
            1 => Just("```".to_owned()),
            1 => Just("~~~~ md".to_owned()),
            1 => Just("# 題".to_owned()),
            2 => Just(String::new()),
        ];
        let line = (line, prop_oneof![5 => Just("\n"), 2 => Just("\r\n"), 1 => Just(" \n")])
            .prop_map(|(line, end)| line + end);
        (any::<bool>(), proptest::collection::vec(line, 0..40), any::<bool>()).prop_map(
            |(bom, lines, cut)| {
                let text = lines.concat();
                let text = if cut { text.trim_end() } else { &text };
                format!("{}{text}", if bom { "\u{feff}" } else { "" })
            },
        )
    }

    fn sorted(mut ids: Vec<EntryId>) -> Vec<EntryId> {
        ids.sort_unstable();
        ids
    }

    fn ids(text: &str) -> Vec<EntryId> {
        sorted(Progress::parse(text).entries.iter().map(|entry| entry.id).collect())
    }

    proptest! {
        #[test]
        fn the_order_is_a_permutation_and_keeps_to_the_clock(text in file()) {
            let progress = Progress::parse(&text);
            let newest = progress.newest_first();
            let mut lines: Vec<usize> = newest.iter().map(|entry| entry.line).collect();
            lines.sort_unstable();
            prop_assert_eq!(lines, progress.entries.iter().map(|entry| entry.line).collect::<Vec<_>>());
            let timed: Vec<_> = newest.iter().filter(|entry| entry.timed).filter_map(|entry| entry.at).collect();
            prop_assert!(timed.is_sorted_by(|newer, older| newer >= older));
        }

        #[test]
        fn a_new_entry_changes_no_other(text in file(), what in "[a-z#`決定 \n]{0,12}") {
            let new = NewEntry { next: vec![what.clone()], ..new(&what) };
            let written = Progress::parse(&text).with(&new);
            let mut before = ids(&text);
            let alone = Progress::parse("").with(&new);
            // A blank line below the heading, as in other entries, changes its text.
            let spaced = EntryId::of(
                Progress::parse(&alone).entries[0].heading,
                &format!("\n{}", Progress::parse(&alone).entries[0].body),
            );
            let after = ids(&written);
            let id = if after.contains(&spaced) { spaced } else { Progress::parse(&alone).entries[0].id };
            before.push(id);
            prop_assert_eq!(sorted(before), after);
            // Every byte of before, in its order, except blanks at the end of a file with an open fence.
            let mut rest = written.as_str();
            for line in text.trim_start_matches('\u{feff}').trim_end().split('\n') {
                let at = rest.find(line);
                prop_assert!(at.is_some(), "{:?} is lost", line);
                rest = &rest[at.unwrap() + line.len()..];
            }
        }

        #[test]
        fn trimming_keeps_each_entry_in_one_place(text in file(), keep in 0_usize..6) {
            let progress = Progress::parse(&text);
            let Some(trimmed) = progress.trimmed(keep) else {
                prop_assert!(progress.entries.len() <= keep);
                return Ok(());
            };
            let mut all = ids(&trimmed.kept);
            prop_assert_eq!(all.len(), keep);
            all.extend(trimmed.moved.iter().map(|(id, _)| *id));
            prop_assert_eq!(sorted(all), ids(&text));
            prop_assert_eq!(Progress::parse(&trimmed.kept).trimmed(keep), None);
            let bytes = trimmed.kept.len() + trimmed.moved.iter().map(|(_, text)| text.len()).sum::<usize>();
            prop_assert_eq!(bytes, text.len());

            let archive = archived("", &trimmed.moved);
            let mut unique: Vec<EntryId> = trimmed.moved.iter().map(|(id, _)| *id).collect();
            unique.sort_unstable();
            unique.dedup();
            let mut there = ids(&archive);
            there.dedup();
            prop_assert_eq!(there, unique);
            prop_assert_eq!(archived(&archive, &trimmed.moved), archive);
        }

        #[test]
        fn ids_survive_other_line_ends(text in file()) {
            let unix = text.replace("\r\n", "\n");
            prop_assert_eq!(ids(&unix), ids(&text));
            prop_assert_eq!(ids(&unix.replace('\n', "\r\n")), ids(&text));
            prop_assert_eq!(ids(&unix.replace('\n', "  \n")), ids(&text));
        }
    }
}
