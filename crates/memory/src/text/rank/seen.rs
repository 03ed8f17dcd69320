//! What of a question is in a text.

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
    /// Per association.
    pub(super) associated: Vec<bool>,
    pub(super) length: usize,
}

/// The same for one word in two readings.
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
            associated: vec![false; self.associations.len()],
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
                for number in self.associated.get(&hash).into_iter().flatten() {
                    let word = &self.question.associations[usize::from(*number)].word;
                    seen.associated[usize::from(*number)] |= match_reading(word, atoms, at).is_some();
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
