//! Picks the passage to show of a text that was found.

use tidegate_core::text::cut::first_bytes;

use super::matching::{ByFirstAtom, match_reading};
use super::question::{Question, ReadingOf};
use super::rank::{Document, LOOKED_AT};
use super::scan::split_atoms;

/// In characters.
const SNIPPET: usize = 160;

/// One line from the passage with most parts of the question, with `**` around them.
pub fn make_snippet(question: &Question, document: &Document<'_>) -> String {
    let by_first_atom = ByFirstAtom::of(&question.readings);
    let best = document
        .texts
        .iter()
        .filter(|text| !text.trim().is_empty())
        .map(|text| BestPassage::of(question, &by_first_atom, first_bytes(text, LOOKED_AT)))
        // The first of equals: it is the most important text.
        .reduce(|best, next| if next.covered > best.covered { next } else { best });
    best.map_or_else(|| super::one_line(document.title, SNIPPET), |best| best.line())
}

struct BestPassage<'a> {
    text: &'a str,
    /// The number of different parts in it.
    covered: usize,
    /// Byte range.
    from: usize,
    to: usize,
    /// Byte ranges to emphasise.
    marks: Vec<(usize, usize)>,
}

impl<'a> BestPassage<'a> {
    fn of(question: &Question, by_first_atom: &ByFirstAtom, text: &'a str) -> BestPassage<'a> {
        let atoms = split_atoms(text);
        // Start, end and part.
        let mut spots: Vec<(usize, usize, usize)> = Vec::new();
        let mut places = Vec::new();
        for at in 0..atoms.len() {
            by_first_atom.find(&atoms[at], &mut places);
            for reading in places.iter().map(|place| &question.readings[*place]) {
                if let Some(length) = match_reading(reading, &atoms, at) {
                    let number = match reading.of {
                        ReadingOf::Slot(slot) => slot,
                        ReadingOf::Span(span) => question.spans[span].from,
                    };
                    spots.push((atoms[at].start, atoms[at + length - 1].end, number));
                }
            }
        }
        let mut best = (0, 0);
        for (first, (start, ..)) in spots.iter().enumerate() {
            let near = spots[first..].iter().take_while(|(_, end, _)| end.saturating_sub(*start) <= SNIPPET);
            let mut seen: Vec<usize> = near.map(|(_, _, number)| *number).collect();
            seen.sort_unstable();
            seen.dedup();
            if seen.len() > best.0 {
                best = (seen.len(), *start);
            }
        }
        let (from, to) = passage_around(text, best.1);
        let marks = spots
            .iter()
            .map(|(start, end, _)| (*start, *end))
            .filter(|(start, end)| *start >= from && *end <= to);
        BestPassage { text, covered: best.0, from, to, marks: merge_ranges(marks.collect()) }
    }

    fn line(&self) -> String {
        let mut shown = String::new();
        if self.from > 0 {
            shown.push('…');
        }
        let mut at = self.from;
        for (start, end) in &self.marks {
            shown.push_str(&self.text[at..*start]);
            shown.push_str("**");
            shown.push_str(&self.text[*start..*end]);
            shown.push_str("**");
            at = *end;
        }
        shown.push_str(&self.text[at..self.to]);
        if self.to < self.text.len() {
            shown.push('…');
        }
        super::one_line(&shown, usize::MAX)
    }
}

/// A little before the place and more after it, cut at spaces where there are any.
fn passage_around(text: &str, place: usize) -> (usize, usize) {
    let before = text[..place].char_indices().rev().take(SNIPPET / 4).last().map_or(place, |(at, _)| at);
    let from = if before == 0 {
        0
    } else {
        let near = text[before..place].split_once(char::is_whitespace);
        near.map_or(before, |(_, behind)| place - behind.len())
    };
    let after = text[from..].char_indices().nth(SNIPPET).map_or(text.len(), |(at, _)| from + at);
    let to = if after == text.len() {
        after
    } else {
        text[place..after]
            .rfind(char::is_whitespace)
            .filter(|space| *space > 0)
            .map_or(after, |space| place + space)
    };
    (from, to)
}

/// Merges ranges that overlap or touch.
fn merge_ranges(mut marks: Vec<(usize, usize)>) -> Vec<(usize, usize)> {
    marks.sort_unstable();
    let mut all: Vec<(usize, usize)> = Vec::new();
    for (start, end) in marks {
        match all.last_mut() {
            Some(last) if start <= last.1 => last.1 = last.1.max(end),
            _ => all.push((start, end)),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Surroundings;
    use proptest::prelude::*;

    fn parsed(text: &str) -> Question {
        Question::parse(text, Surroundings::default())
    }

    #[test]
    fn a_snippet_shows_where() {
        let shown = |question: &str, text: &str| {
            make_snippet(&parsed(question), &Document { title: "The title", texts: &[text] })
        };
        assert_eq!(shown("timeouts", "Set the busy\ntimeout to 5 s"), "Set the busy **timeout** to 5 s");
        assert_eq!(shown("設計", "新しい設計です"), "新しい**設計**です");
        assert_eq!(shown("nothing", ""), "The title");
        assert_eq!(shown("foobar", "a fooBar b"), "a **fooBar** b");
        let long = format!("{} needle {}", "before ".repeat(100), "after ".repeat(100));
        let line = shown("needle", &long);
        assert!(line.contains("**needle**") && line.starts_with('…') && line.ends_with('…'), "{line}");
        assert!(line.chars().count() <= SNIPPET + 8, "{line}");
        assert_eq!(shown("red", "\u{1b}[31m red\u{7}"), "[31m **red**");
    }

    proptest! {
        /// A hit far into a text is cut at the spaces of any script, never inside of one.
        #[test]
        fn a_long_text_is_cut_at_whole_characters(
            before in "[a設😀 \u{3000}\u{a0}\u{2003}\n]{41,200}",
            after in "[a設😀 \u{3000}\u{a0}\u{2003}\n]{0,250}",
        ) {
            let text = format!("{before} needle {after}");
            let line = make_snippet(&parsed("needle"), &Document { title: "", texts: &[&text] });
            prop_assert!(line.contains("**needle**"), "{line}");
        }
    }
}
