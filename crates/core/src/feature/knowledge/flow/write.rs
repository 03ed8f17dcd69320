//! Changes of `progress.md` and its archive.

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::feature::knowledge::document::{Newline, closing_fence};
use crate::feature::knowledge::entry_id::EntryId;
use crate::feature::knowledge::flow::{FileEnd, Progress, ProgressEntry};
use crate::text::one_line::single_spaced;
use crate::time::Millis;

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

impl<'a> Progress<'a> {
    /// Adds the entry at the end with the newest entries, with the file's own line ends and blank lines.
    pub fn with(&self, entry: &NewEntry) -> String {
        let newline = Newline::of(self.text).as_str();
        let most = |count: usize, of: usize| count * 2 > of;
        let entries = &self.entries;
        let headed = entries.iter().filter(|entry| entry.body.starts_with(['\n', '\r'])).count();
        let block = entry.to_markdown(newline, most(headed, entries.len()));
        let Some(first) = entries.first() else {
            let is_empty = self.text.trim_start_matches('\u{feff}').trim().is_empty();
            let head =
                if is_empty { format!("{}# Progress", self.text.trim_end()) } else { self.text.to_owned() };
            return append_block(close_fences(head, newline), &block, newline, true);
        };
        let (_, others) = entries.split_last().unwrap_or((first, &[]));
        let tight = others.iter().filter(|entry| !ends_blank(entry.text(self.text))).count();
        let apart = !most(tight, others.len());
        match self.newest_end() {
            FileEnd::Top => {
                let (before, after) = self.text.split_at(first.range.start);
                let between = if apart { newline } else { "" };
                format!("{before}{block}{between}{after}")
            }
            FileEnd::Bottom => {
                append_block(close_fences(self.text.to_owned(), newline), &block, newline, apart)
            }
        }
    }

    /// `None` if there are no more entries than that.
    pub fn trim_to(&self, keep: usize) -> Option<Trimmed> {
        let newest = self.newest_first();
        let mut away: Vec<&ProgressEntry<'a>> = newest.get(keep..)?.to_vec();
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

impl NewEntry {
    fn to_markdown(&self, newline: &str, blank_after_heading: bool) -> String {
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
fn close_fences(text: String, newline: &str) -> String {
    match closing_fence(&text) {
        Some(closing) => format!("{}{newline}{closing}{newline}", text.trim_end()),
        None => text,
    }
}

fn append_block(mut text: String, block: &str, newline: &str, apart: bool) -> String {
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

/// Skips entries that the archive already has: a trim that was killed left them in both files, and an editor may have changed
/// blanks and line ends since.
pub fn add_to_archive(archive: &str, moved: &[(EntryId, String)]) -> String {
    let style = if archive.is_empty() { moved.first().map_or("", |(_, text)| text) } else { archive };
    let newline = Newline::of(style).as_str();
    // By text and not only by id: two entries that only seem the same are both kept.
    let key = |entry: &str| {
        let lines: Vec<&str> = entry.trim_end().lines().map(str::trim_end).collect();
        close_fences(lines.join("\n"), "\n").trim_end().to_owned()
    };
    let parsed = Progress::parse(archive);
    let mut known: BTreeSet<String> = parsed.entries.iter().map(|entry| key(entry.text(archive))).collect();
    let new = moved.iter().map(|(_, entry)| entry.trim_end()).filter(|entry| known.insert(key(entry)));
    let new: Vec<String> = new.map(|entry| close_fences(entry.to_owned(), newline)).collect();
    if new.is_empty() {
        return archive.to_owned();
    }
    let head = if archive.is_empty() { "# Progress archive".to_owned() } else { archive.to_owned() };
    new.iter().fold(close_fences(head, newline), |text, entry| {
        append_block(text, &format!("{}{newline}", entry.trim_end()), newline, true)
    })
}
