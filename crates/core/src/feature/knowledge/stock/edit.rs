//! Changes of a stock file.

use std::fmt::Write as _;

use crate::feature::knowledge::document::{Newline, closing_fence};
use crate::feature::knowledge::entry_id::EntryId;
use crate::feature::knowledge::stock::confirmations::{Confirmations, CountForm, sum_confirmations};
use crate::feature::knowledge::stock::section::{form_of, is_bullet, parse_sections, written_end};
use crate::text::one_line::single_spaced;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewLearning<'a> {
    /// The heading.
    pub title: &'a str,
    pub learning: &'a str,
    /// Left out when empty.
    pub context: &'a str,
    /// Left out when empty.
    pub implication: &'a str,
    /// Today: `2026-02-18`.
    pub date: &'a str,
    /// The phase it was learned in.
    pub phase: Option<&'a str>,
    /// For a file without counts.
    pub form: CountForm,
}

/// Adds an entry that is confirmed once.
pub fn append_learning(text: &str, new: &NewLearning<'_>) -> String {
    let newline = Newline::of(text).as_str();
    let mut block = format!("## {}{newline}", single_spaced(new.title));
    for (label, words) in
        [("Learning", new.learning), ("Context", new.context), ("Implication", new.implication)]
    {
        let words = single_spaced(words);
        if !words.is_empty() {
            let _ = write!(block, "- **{label}**: {words}{newline}");
        }
    }
    let mut confirmed = Confirmations { count: 1, date: new.date.to_owned(), phases: Vec::new() };
    confirmed.add_phase(new.phase);
    let form = form_of(&parse_sections(text)).unwrap_or(new.form);
    let _ = write!(block, "- **Confirmed**: {}{newline}", confirmed.to_line(form));

    let mut whole = text.to_owned();
    if text.trim_start_matches('\u{feff}').trim().is_empty() {
        let _ = write!(whole, "# Learnings{newline}");
    }
    if !whole.ends_with('\n') {
        whole.push_str(newline);
    }
    // The entry would become part of a fence that is open to the end.
    if let Some(closing) = closing_fence(text) {
        let _ = write!(whole, "{closing}{newline}");
    }
    if whole.lines().next_back().is_some_and(|last| !last.trim().is_empty()) {
        whole.push_str(newline);
    }
    whole + &block
}

/// Adds one confirmation; `None` if there is no such entry.
pub fn confirm_learning(text: &str, id: EntryId, date: &str, phase: Option<&str>) -> Option<String> {
    let entries = parse_sections(text);
    let entry = entries.iter().find(|entry| entry.id == id)?;
    let mut confirmed = entry.confirmed().cloned().unwrap_or(Confirmations {
        count: 0,
        date: date.to_owned(),
        phases: Vec::new(),
    });
    confirmed.count = confirmed.count.saturating_add(1);
    confirmed.date = confirmed.date.max(date.to_owned());
    confirmed.add_phase(phase);
    let (at, line) = entry.with_confirmed(text, &confirmed, form_of(&entries));
    Some(format!("{}{line}{}", &text[..at.start], &text[at.end..]))
}

/// Merges the entry `away` into the entry `keep`; `None` if they are not two entries of the file.
///
/// Counts are added, phases united, the latest date kept. Text that only `away` has moves below the text of
/// `keep`.
pub fn merge_learnings(text: &str, keep: EntryId, away: EntryId) -> Option<String> {
    let entries = parse_sections(text);
    let kept = entries.iter().position(|entry| entry.id == keep)?;
    // Two entries with the same text have the same id.
    let gone = entries.iter().enumerate().position(|(index, entry)| index != kept && entry.id == away)?;
    let (kept, gone) = (&entries[kept], &entries[gone]);

    let mut section = text[kept.section.range.clone()].to_owned();
    if let Some(confirmed) = sum_confirmations(kept.confirmed(), gone.confirmed()) {
        let (at, line) = kept.with_confirmed(text, &confirmed, form_of(&entries));
        let start = kept.section.range.start;
        section.replace_range(at.start - start..at.end - start, &line);
    }
    let newline = Newline::of(text).as_str();
    let end = written_end(&section);
    let mut moved = String::new();
    if let Some(closing) = closing_fence(&section) {
        let _ = write!(moved, "{newline}{closing}");
    }
    let mut after_bullet = kept.blocks.last().is_none_or(|last| is_bullet(last.text));
    for block in gone.only_there(kept) {
        if !(after_bullet && is_bullet(&block)) {
            moved.push_str(newline);
        }
        after_bullet = is_bullet(&block);
        let _ = write!(moved, "{newline}{block}");
    }
    section.insert_str(end, &moved);

    let (keep, away) = (kept.section.range.clone(), gone.section.range.clone());
    Some(if keep.start < away.start {
        format!("{}{section}{}{}", &text[..keep.start], &text[keep.end..away.start], &text[away.end..])
    } else {
        format!("{}{}{section}{}", &text[..away.start], &text[away.end..keep.start], &text[keep.end..])
    })
}
