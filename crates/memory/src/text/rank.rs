//! Scores how well a text fits a question (BM25, with bonuses for title and phrases), and picks the passage to show.

use tidegate_core::text::cut::first_bytes;
use tidegate_core::time::Millis;

use super::question::{MOST_PARTS, Question, QuestionPart};
use super::scan::{Atom, atoms_into, split_atoms};

/// The weight of a word in the title against one in the text.
const TITLE: f64 = 4.0;

/// The higher, the longer repetitions keep raising the score.
const SATURATION: f64 = 1.2;

/// The length, in atoms, that neither raises nor lowers a score.
const USUAL_LENGTH: f64 = 250.0;

/// The half-life of freshness: thirty days in milliseconds.
const FADES: f64 = 30.0 * 86_400_000.0;

/// In bytes; the subject of a longer text shows before that.
const LOOKED_AT: usize = 256 * 1024;

/// In characters.
const SNIPPET: usize = 160;

#[derive(Clone, Copy, Debug)]
pub struct Document<'a> {
    /// One line.
    pub title: &'a str,
    /// Most important first.
    pub texts: &'a [&'a str],
}

/// The weight of each part of a question: rare parts weigh more.
#[derive(Clone, Debug)]
pub struct Weights(Vec<f64>);

impl Weights {
    /// `counts` estimates how many of `all` texts contain each part.
    pub fn of(counts: &[f64], all: f64) -> Weights {
        let weight = |count: &f64| (1.0 + (all - count + 0.5).max(0.5) / (count + 0.5)).ln().max(0.05);
        Weights(counts.iter().map(weight).collect())
    }
}

/// A factor for the age of a text, relative to the newest one.
pub fn freshness(at: Millis, newest: Millis) -> f64 {
    1.0 + 0.4 * (-(newest.since(at) as f64) / FADES).exp2()
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    pub score: f64,
    /// A bit per required part that the document contains.
    holds: u32,
}

impl Fit {
    pub fn holds(self, place: usize) -> bool {
        self.holds & 1 << place != 0
    }

    #[must_use]
    pub fn worth(self, worth: f64) -> Fit {
        Fit { score: self.score * worth, ..self }
    }

    /// Whether the required parts are there, given that all of their tokens are: checks only that the tokens
    /// follow each other.
    pub fn holds_together(self, required: &[QuestionPart]) -> bool {
        required.iter().enumerate().all(|(place, part)| part.is_where_its_tokens_are() || self.holds(place))
    }
}

/// `room` is a buffer that the calls share.
pub fn fit_document(
    question: &Question,
    weights: &Weights,
    required: &[QuestionPart],
    document: &Document<'_>,
    room: &mut Vec<Atom>,
) -> Fit {
    let parts = &question.parts[..question.parts.len().min(MOST_PARTS)];
    let (mut often, mut holds, mut length) = ([0.0; MOST_PARTS], 0_u32, 0);
    let mut phrases = vec![0.0_f64; question.phrases.len()];
    let texts = document.texts.iter().map(|text| (first_bytes(text, LOOKED_AT), 1.0, 0.4));
    for (text, worth, of_phrase) in std::iter::once((document.title, TITLE, 0.6)).chain(texts) {
        atoms_into(text, room);
        length += room.len();
        for (place, part) in parts.iter().enumerate() {
            often[place] += worth * positions(part, room).count() as f64;
        }
        for (place, part) in required.iter().enumerate().take(MOST_PARTS) {
            if holds & 1 << place == 0 && positions(part, room).next().is_some() {
                holds |= 1 << place;
            }
        }
        for (phrase, best) in question.phrases.iter().zip(&mut phrases) {
            if *best < of_phrase && (0..room.len()).any(|at| match_sequence(phrase, &room[at..]).is_some()) {
                *best = of_phrase;
            }
        }
    }
    let length = 0.7 + 0.3 * (length as f64 / USUAL_LENGTH).min(4.0);
    let (mut score, mut possible) = (0.0, 0.0);
    for (often, weight) in often[..parts.len()].iter().zip(&weights.0) {
        score += weight * often * (SATURATION + 1.0) / (often + SATURATION * length);
        possible += weight;
    }
    score += possible * phrases.iter().sum::<f64>();
    Fit { score, holds }
}

/// `None` if a required part is missing. Assumes that all tokens of the required parts are there.
pub fn score_document(
    question: &Question,
    weights: &Weights,
    required: &[QuestionPart],
    document: &Document<'_>,
) -> Option<f64> {
    let fit = fit_document(question, weights, required, document, &mut Vec::new());
    fit.holds_together(required).then_some(fit.score)
}

fn positions<'a>(part: &'a QuestionPart, text: &'a [Atom]) -> impl Iterator<Item = usize> + 'a {
    (0..text.len()).filter(|at| match_part(part, &text[*at..]).is_some())
}

/// The number of atoms that `part` covers at the start of `text`.
fn match_part(part: &QuestionPart, text: &[Atom]) -> Option<usize> {
    if part.any {
        return part.atoms.iter().find_map(|wanted| match_sequence(&[*wanted], text));
    }
    match_sequence(&part.atoms, text)
}

/// The number of atoms that this sequence covers at the start of `text`.
fn match_sequence(wanted: &[u64], text: &[Atom]) -> Option<usize> {
    let mut length = 0;
    for wanted in wanted {
        let atom = text.get(length)?;
        length += if atom.whole == *wanted {
            atom.parts
        } else if atom.what == *wanted {
            1
        } else {
            return None;
        };
    }
    (length > 0).then_some(length)
}

/// One line from the passage with most parts of the question, with `**` around them.
pub fn make_snippet(question: &Question, document: &Document<'_>) -> String {
    let best = document
        .texts
        .iter()
        .filter(|text| !text.trim().is_empty())
        .map(|text| BestPassage::of(question, first_bytes(text, LOOKED_AT)))
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
    fn of(question: &Question, text: &'a str) -> BestPassage<'a> {
        let atoms = split_atoms(text);
        // Start, end and part.
        let mut spots: Vec<(usize, usize, usize)> = Vec::new();
        for at in 0..atoms.len() {
            for (number, part) in question.parts.iter().enumerate() {
                if let Some(length) = match_part(part, &atoms[at..]) {
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
        text[before..place].find(char::is_whitespace).map_or(before, |space| before + space + 1)
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
    (text.floor_char_boundary(from), text.floor_char_boundary(to))
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
    use proptest::prelude::*;

    fn scored(question: &str, title: &str, text: &str) -> Option<f64> {
        let question = Question::parse(question);
        let weights = Weights::of(&vec![10.0; question.parts.len()], 1000.0);
        let document = Document { title, texts: &[text] };
        score_document(&question, &weights, &question.parts, &document).filter(|score| *score > 0.0)
    }

    #[test]
    fn what_fits_better_comes_first() {
        let better = |question: &str, one: (&str, &str), other: (&str, &str)| {
            let (one, other) = (scored(question, one.0, one.1), scored(question, other.0, other.1));
            assert!(one > other, "{question}: {one:?} {other:?}");
        };
        better("parser", ("The parser", "x"), ("x", "The parser"));
        better("parser", ("x", "parser, the parser"), ("x", "a parser"));
        better("busy timeout", ("x", "the busy timeout"), ("x", "timeout when busy"));
        better("設計を変更", ("x", "設計を変更した"), ("x", "変更は設計に"));
        better("設計", ("x", "設計"), ("x", "計設"));
        assert_eq!(scored("設計書", "x", "設計 計書"), None, "not one after the other");
        assert_eq!(scored("\"busy timeout\"", "x", "timeout busy"), None);
        assert!(scored("foobar", "x", "call fooBar()").is_some());
        assert!(scored("SQLite", "x", "the sqlite store").is_some());
        assert!(scored("\"sqlite store\"", "x", "the SQLite store").is_some());
    }

    #[test]
    fn a_snippet_shows_where() {
        let shown = |question: &str, text: &str| {
            make_snippet(&Question::parse(question), &Document { title: "The title", texts: &[text] })
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
        /// Every word of a text finds it, and no combination of question and text panics.
        #[test]
        fn a_word_finds_its_text(text in "[a-zA-Z_ 設計のデータ変更ｶﾞ\u{301}.,é0-9]{0,80}", other in "\\PC{0,40}") {
            for word in text.split_whitespace() {
                let question = Question::parse(word);
                if !question.is_empty() {
                    prop_assert!(scored(word, "", &text).is_some(), "{word:?} in {text:?}");
                }
            }
            let question = Question::parse(&other);
            let _ = scored(&other, &text, &other);
            let line = make_snippet(&question, &Document { title: &text, texts: &[&other, &text] });
            prop_assert!(!line.chars().any(char::is_control));
        }
    }
}
