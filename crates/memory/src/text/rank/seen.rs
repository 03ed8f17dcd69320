//! What of a question is in a text, and how many texts have each word of its fields.

use std::collections::HashMap;

use tidegate_core::text::cut::first_bytes;

use super::{Document, LOOKED_AT, Scorer, begin};
use crate::text::matching::{Likeness, likeness, match_reading, match_sequence};
use crate::text::question::{Reading, ReadingOf};
use crate::text::scan::{Atom, atoms_into};

/// The weight of a word in the title against one in the text.
const TITLE: f64 = 2.0;

/// What of a question is in a text.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Per reading and per phrase.
    pub(super) often: Vec<f64>,
    /// Whether a word stands there as it was typed.
    pub(super) exact: Vec<bool>,
    pub(super) phrases: Vec<f64>,
    /// Per field, its words.
    pub(super) fields: Vec<Vec<(u64, f64)>>,
    pub(super) length: usize,
}

/// How many of some texts have each word of a field.
#[derive(Clone, Debug, Default)]
pub struct WordCounts {
    pub(super) counts: HashMap<u64, f64>,
    pub(super) texts: f64,
}

impl WordCounts {
    pub fn of<'a>(texts: impl Iterator<Item = &'a Seen>) -> WordCounts {
        let mut all = WordCounts::default();
        for seen in texts {
            all.texts += 1.0;
            let mut words: Vec<u64> = seen.fields.iter().flatten().map(|(word, _)| *word).collect();
            words.sort_unstable();
            words.dedup();
            for word in words {
                *all.counts.entry(word).or_default() += 1.0;
            }
        }
        all
    }

    pub(super) fn rarity(&self, word: u64) -> f64 {
        let count = self.counts.get(&word).copied().unwrap_or_default();
        (1.0 + (self.texts - count + 0.5).max(0.5) / (count + 0.5)).ln()
    }
}

/// The same for one word in two fields.
pub(super) fn word_of(reading: &Reading) -> u64 {
    reading.atoms.iter().fold(0, |word, atom| word.rotate_left(7) ^ atom)
}

impl Scorer<'_> {
    /// What of the question is in a text. `room` is a buffer that the calls share.
    pub fn look(&self, document: &Document<'_>, room: &mut Vec<Atom>) -> Seen {
        let mut seen = Seen {
            often: vec![0.0_f64; self.question.readings.len()],
            exact: vec![false; self.question.readings.len()],
            phrases: vec![0.0_f64; self.question.phrases.len()],
            fields: vec![Vec::new(); self.fields.len()],
            length: 0,
        };
        let texts = document.texts.iter().map(|text| (first_bytes(text, LOOKED_AT), 1.0));
        for (text, worth) in std::iter::once((document.title, TITLE)).chain(texts) {
            atoms_into(text, room);
            seen.length += room.len();
            self.count(text, room, worth, &mut seen);
        }
        seen
    }

    fn count(&self, text: &str, atoms: &[Atom], worth: f64, seen: &mut Seen) {
        for (at, atom) in atoms.iter().enumerate() {
            for (place, hash) in [atom.what, atom.whole, atom.also].into_iter().enumerate() {
                let is_new = place == 0 || hash != atom.what;
                if !is_new || !self.begins[begin(hash)] {
                    continue;
                }
                for number in self.readings.get(&hash).into_iter().flatten() {
                    let reading = &self.question.readings[usize::from(*number)];
                    let Some(length) = match_reading(reading, atoms, at) else { continue };
                    let likeness = self.likeness(reading, &text[atom.start..atoms[at + length - 1].end]);
                    if likeness != Likeness::OtherWord {
                        seen.often[usize::from(*number)] += worth;
                        seen.exact[usize::from(*number)] |= likeness == Likeness::Exact;
                    }
                }
                for (number, word) in self.field_words.get(&hash).into_iter().flatten() {
                    let field = usize::from(*number);
                    let reading = &self.question.fields[field].words[usize::from(*word)];
                    if match_reading(reading, atoms, at).is_some() {
                        let what = word_of(reading);
                        match seen.fields[field].iter_mut().find(|(word, _)| *word == what) {
                            Some((_, often)) => *often += worth,
                            None => seen.fields[field].push((what, worth)),
                        }
                    }
                }
                for number in self.phrases.get(&hash).into_iter().flatten() {
                    let (_, sequence) = &self.question.phrases[usize::from(*number)];
                    if match_sequence(sequence, &atoms[at..]).is_some() {
                        seen.phrases[usize::from(*number)] = 1.0;
                    }
                }
            }
        }
    }

    fn likeness(&self, reading: &Reading, text: &str) -> Likeness {
        let ReadingOf::Slot(slot) = reading.of else { return Likeness::Exact };
        let typed = &self.question.slots[slot].typed;
        let is_one_word = reading.atoms.len() == 1 && typed.is_ascii() && text.is_ascii();
        if !reading.is_own() || !is_one_word { Likeness::Exact } else { likeness(typed, text) }
    }
}
