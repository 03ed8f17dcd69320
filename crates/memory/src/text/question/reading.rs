//! The ways in which a text may say a word of a question.

use super::MOST_SLOTS;
use crate::text::scan::{Atom, Scanned, is_worth_a_token, scan};
use crate::text::sequence::tokens_of;

/// What it is worth if only another reading leads to it.
pub(super) const WIDENED: f64 = 0.25;

#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// The index has all of them.
    pub tokens: Vec<String>,
    /// They follow each other in the text.
    pub(crate) atoms: Vec<u64>,
    /// 1 for the word itself.
    pub worth: f64,
    pub(crate) edges: Edges,
    pub of: ReadingOf,
    /// What the thesaurus has, for a reading from there.
    pub(super) term: Option<&'static str>,
}

impl Reading {
    /// Whether it is the word of the question, not one that the thesaurus has for it.
    pub fn is_own(&self) -> bool {
        self.term.is_none()
    }

    /// Not what only another reading leads to.
    pub fn means_the_same(&self) -> bool {
        self.worth > WIDENED
    }

    /// Of a reading from the thesaurus.
    pub(crate) fn is_ascii(&self) -> bool {
        self.term.is_some_and(str::is_ascii)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadingOf {
    Slot(usize),
    Span(usize),
}

/// Where a word in katakana may be a part of a longer one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Edges {
    Anywhere,
    /// It begins or ends where the longer one does.
    OneSide,
    /// It begins where the longer one does, and unless it is long, it also ends there.
    Beginning,
    /// A stem with a changing ending.
    Inflected,
}

/// The index tokens of a word as a whole.
pub(crate) fn collect_whole_word(text: &str, tokens: &mut Vec<String>) {
    scan(text, |found| {
        if let Scanned::Word { whole, .. } = found {
            tokens.push(whole.to_owned());
        }
    });
}

/// As a sequence, and a single name also as one word.
pub(super) fn readings_of(
    text: &str,
    atoms: &[Atom],
    worth: f64,
    edges: Edges,
    of: ReadingOf,
) -> Vec<Reading> {
    let mut readings = Vec::new();
    let is_one_word = atoms.len() > 1 && atoms[0].parts == atoms.len();
    if is_one_word {
        let mut tokens = Vec::new();
        collect_whole_word(&text[atoms[0].start..atoms[atoms.len() - 1].end], &mut tokens);
        tokens.truncate(1);
        readings.push(Reading { tokens, atoms: vec![atoms[0].whole], worth, edges, of, term: None });
    }
    let mut tokens = tokens_of(text, atoms);
    if tokens.len() > 1 {
        tokens.retain(|token| is_worth_a_token(token));
    }
    tokens.truncate(MOST_SLOTS);
    let sequence: Vec<u64> = atoms.iter().map(|atom| atom.what).collect();
    if !tokens.is_empty() && !sequence.is_empty() {
        readings.push(Reading { tokens, atoms: sequence, worth, edges, of, term: None });
    }
    readings
}
