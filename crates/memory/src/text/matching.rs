//! Whether a reading of a question is at a place of a text.

use std::collections::HashMap;

use super::question::{Edges, Reading};
use super::scan::{Atom, AtomClass};
use super::thesaurus::is_inflected_at;

/// Readings by their first atom: a question can have more than a hundred, and most atoms of a text begin none.
pub(super) struct ByFirstAtom(HashMap<u64, Vec<usize>>);

impl ByFirstAtom {
    pub(super) fn of(readings: &[Reading]) -> ByFirstAtom {
        let mut places = HashMap::<u64, Vec<usize>>::new();
        for (place, reading) in readings.iter().enumerate() {
            if let Some(first) = reading.atoms.first() {
                places.entry(*first).or_default().push(place);
            }
        }
        ByFirstAtom(places)
    }

    /// The places of the readings that may begin with this atom, in order.
    pub(super) fn find(&self, atom: &Atom, places: &mut Vec<usize>) {
        places.clear();
        for first in [atom.what, atom.whole, atom.also] {
            places.extend(self.0.get(&first).into_iter().flatten());
        }
        places.sort_unstable();
        places.dedup();
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Likeness {
    Exact,
    Form,
    /// It has the same stem by accident: rune and run, stripe and stripping.
    OtherWord,
}

/// Of two words with the same stem.
pub(super) fn likeness(typed: &str, text: &str) -> Likeness {
    let (typed, text) = (typed.to_ascii_lowercase(), text.to_ascii_lowercase());
    if typed == text {
        return Likeness::Exact;
    }
    let goes_on_otherwise = |with_e: &str, other: &str| {
        let Some(stem) = with_e.strip_suffix('e').filter(|stem| stem.len() >= 3) else { return false };
        let doubled = || stem.chars().next_back().is_some_and(|last| other[stem.len()..].starts_with(last));
        other.strip_prefix(stem).is_some_and(|rest| rest.is_empty() || rest == "s" || doubled())
    };
    let other = goes_on_otherwise(&typed, &text) || goes_on_otherwise(&text, &typed);
    if other { Likeness::OtherWord } else { Likeness::Form }
}

/// The number of atoms that a reading covers from `at` on.
pub(super) fn match_reading(reading: &Reading, atoms: &[Atom], at: usize) -> Option<usize> {
    let length = match_sequence(&reading.atoms, &atoms[at..])?;
    let is_katakana = |place: usize| atoms.get(place).is_some_and(|atom| atom.class == AtomClass::Katakana);
    let goes_on = |place: usize| {
        place > 0
            && is_katakana(place - 1)
            && is_katakana(place)
            && atoms[place - 1].end == atoms[place].start
    };
    let end = at + length;
    let ends = || !goes_on(end) || atoms[end].what == LONG_MARK && !goes_on(end + 1);
    let fits = match reading.edges {
        Edges::Anywhere => true,
        Edges::OneSide => !goes_on(at) || ends(),
        Edges::Inflected => is_inflected_at(atoms, at, end),
        Edges::Beginning => !goes_on(at) && (reading.atoms.len() > 3 || ends()),
    };
    fits.then_some(length)
}

/// As [`super::scan::hash_char`] has it.
const LONG_MARK: u64 = 'ー' as u64 | 1 << 63;

/// The number of atoms that this sequence covers at the start of `text`.
pub(super) fn match_sequence(wanted: &[u64], text: &[Atom]) -> Option<usize> {
    let mut length = 0;
    for wanted in wanted {
        let mut atom = text.get(length)?;
        if length > 0 && atom.class == AtomClass::Optional && atom.what != *wanted {
            length += 1;
            atom = text.get(length)?;
        }
        length += if atom.whole == *wanted {
            atom.parts
        } else if atom.what == *wanted || atom.also == *wanted {
            1
        } else {
            return None;
        };
    }
    (length > 0).then_some(length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Question, Surroundings, split_atoms};

    proptest::proptest! {
        #[test]
        fn no_reading_is_overlooked(
            asked in "[a-c_ 設計ログ切り替え1v.]{1,20}",
            text in "[a-c_ 設計ログー切り替え1v.]{0,60}",
        ) {
            let question = Question::parse(&asked, Surroundings::default());
            let by_first_atom = ByFirstAtom::of(&question.readings);
            let atoms = split_atoms(&text);
            let mut found = Vec::new();
            for at in 0..atoms.len() {
                by_first_atom.find(&atoms[at], &mut found);
                let matches = |place: &usize| match_reading(&question.readings[*place], &atoms, at).is_some();
                found.retain(matches);
                let all: Vec<usize> = (0..question.readings.len()).filter(matches).collect();
                proptest::prop_assert_eq!(&found, &all);
            }
        }
    }
}
