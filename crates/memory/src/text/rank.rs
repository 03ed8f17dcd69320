//! How well a text fits a question, and the place in it that shows so.

use tidegate_core::text::cut::first_bytes;
use tidegate_core::time::Millis;

use super::question::{MOST_PARTS, Part, Question};
use super::scan::{Atom, atoms, atoms_into};

/// A word in the title counts as many in the text.
const TITLE: f64 = 4.0;

/// How soon more of the same word stop to count.
const SATURATION: f64 = 1.2;

/// A text of so many atoms is neither long nor short.
const USUAL_LENGTH: f64 = 250.0;

/// A text loses half of what its time is worth in so many milliseconds: thirty days.
const FADES: f64 = 30.0 * 86_400_000.0;

/// How much of a text is looked at, in bytes: whoever writes more said what it is about before.
const LOOKED_AT: usize = 256 * 1024;

/// How many characters a snippet has.
const SNIPPET: usize = 160;

/// What is compared with a question.
#[derive(Clone, Copy, Debug)]
pub struct Document<'a> {
    /// One line.
    pub title: &'a str,
    /// Texts, what says most first.
    pub texts: &'a [&'a str],
}

/// How much each part of a question says: the rarer, the more.
#[derive(Clone, Debug)]
pub struct Weights(Vec<f64>);

impl Weights {
    /// From how many of all texts hold each part, about.
    pub fn of(counts: &[f64], all: f64) -> Weights {
        let weight = |count: &f64| (1.0 + (all - count + 0.5).max(0.5) / (count + 0.5)).ln().max(0.05);
        Weights(counts.iter().map(weight).collect())
    }
}

/// What the time of a text is worth beside the newest one.
pub fn freshness(at: Millis, newest: Millis) -> f64 {
    1.0 + 0.4 * (-(newest.since(at) as f64) / FADES).exp2()
}

/// What a document has of a question.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// How well it fits.
    pub score: f64,
    /// Which of the required parts stand in it, a bit for each.
    holds: u32,
}

impl Fit {
    /// Whether the required part at this place stands in it.
    pub fn holds(self, place: usize) -> bool {
        self.holds & 1 << place != 0
    }

    /// The same of a document that is worth more or less than others.
    #[must_use]
    pub fn worth(self, worth: f64) -> Fit {
        Fit { score: self.score * worth, ..self }
    }

    /// Whether it holds what is required, if all tokens of that are known to be in it: what is left to see is whether they stand
    /// together.
    pub fn holds_together(self, required: &[Part]) -> bool {
        required.iter().enumerate().all(|(place, part)| part.is_where_its_tokens_are() || self.holds(place))
    }
}

/// Compares a document with a question, with the weight of each of its parts. `room` is what the atoms of the last document were in.
pub fn fit(
    question: &Question,
    weights: &Weights,
    required: &[Part],
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
            often[place] += worth * places(part, room).count() as f64;
        }
        for (place, part) in required.iter().enumerate().take(MOST_PARTS) {
            if holds & 1 << place == 0 && places(part, room).next().is_some() {
                holds |= 1 << place;
            }
        }
        for (phrase, best) in question.phrases.iter().zip(&mut phrases) {
            if *best < of_phrase && (0..room.len()).any(|at| follows(phrase, &room[at..]).is_some()) {
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

/// How well a document fits a question; `None` if it does not hold what is required. That it holds the tokens of what is required
/// is known.
pub fn score(
    question: &Question,
    weights: &Weights,
    required: &[Part],
    document: &Document<'_>,
) -> Option<f64> {
    let fit = fit(question, weights, required, document, &mut Vec::new());
    fit.holds_together(required).then_some(fit.score)
}

/// Where a part stands in a text.
fn places<'a>(part: &'a Part, text: &'a [Atom]) -> impl Iterator<Item = usize> + 'a {
    (0..text.len()).filter(|at| stands(part, &text[*at..]).is_some())
}

/// How many atoms at the beginning of a text are this part.
fn stands(part: &Part, text: &[Atom]) -> Option<usize> {
    if part.any {
        return part.atoms.iter().find_map(|wanted| follows(&[*wanted], text));
    }
    follows(&part.atoms, text)
}

/// How many atoms at the beginning of a text are these, one after another.
fn follows(wanted: &[u64], text: &[Atom]) -> Option<usize> {
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

/// One line of the document in which most parts of the question stand, with `**` around them.
pub fn snippet(question: &Question, document: &Document<'_>) -> String {
    let best = document
        .texts
        .iter()
        .filter(|text| !text.trim().is_empty())
        .map(|text| Best::of(question, first_bytes(text, LOOKED_AT)))
        // Of equals the first: it says most.
        .reduce(|best, next| if next.covered > best.covered { next } else { best });
    best.map_or_else(|| super::one_line(document.title, SNIPPET), |best| best.line())
}

/// The best place of a text.
struct Best<'a> {
    text: &'a str,
    /// How many parts stand in it.
    covered: usize,
    /// Its bytes.
    from: usize,
    to: usize,
    /// What is to be seen in it.
    marks: Vec<(usize, usize)>,
}

impl<'a> Best<'a> {
    fn of(question: &Question, text: &'a str) -> Best<'a> {
        let atoms = atoms(text);
        // Where which part stands.
        let mut spots: Vec<(usize, usize, usize)> = Vec::new();
        for at in 0..atoms.len() {
            for (number, part) in question.parts.iter().enumerate() {
                if let Some(length) = stands(part, &atoms[at..]) {
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
        let (from, to) = around(text, best.1);
        let marks = spots
            .iter()
            .map(|(start, end, _)| (*start, *end))
            .filter(|(start, end)| *start >= from && *end <= to);
        Best { text, covered: best.0, from, to, marks: joined(marks.collect()) }
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

/// The part of a text around a place: a little before it, more after it, and no word cut in two where there are spaces.
fn around(text: &str, place: usize) -> (usize, usize) {
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

/// Places that overlap or touch are one.
fn joined(mut marks: Vec<(usize, usize)>) -> Vec<(usize, usize)> {
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
        score(&question, &weights, &question.parts, &document).filter(|score| *score > 0.0)
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
            snippet(&Question::parse(question), &Document { title: "The title", texts: &[text] })
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
        /// Any word of a text finds it, and whatever is asked of whatever text, nothing breaks.
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
            let line = snippet(&question, &Document { title: &text, texts: &[&other, &text] });
            prop_assert!(!line.chars().any(char::is_control));
        }
    }
}
