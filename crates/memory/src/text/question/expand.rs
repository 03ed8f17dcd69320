//! What the thesaurus has for the words of a question.

use super::reading::{Edges, Reading, ReadingOf, WIDENED, readings_of};
use super::{Association, Question, Slot, Span};
use crate::text::scan::{Atom, AtomClass};
use crate::text::sequence::spelled;
use crate::text::small_words::is_small;
use crate::text::thesaurus::{Thesaurus, stem_of};

/// More readings from the thesaurus are ignored: in all, and for one term.
const MOST_EXPANSIONS: usize = 160;
const MOST_OF_TERM: usize = 24;

/// More words of the same matter are ignored: in all, and for one slot.
const MOST_ASSOCIATIONS: usize = 400;
const MOST_OF_SLOT: usize = 120;

/// How much stronger each further matter makes it that a word shares with a slot.
const OF_MORE_MATTERS: f64 = 0.6;

/// What a reading from the thesaurus is worth, for a word and for a term of several.
const EXPANDED: f64 = 0.55;
const EXPANDED_TERM: f64 = 0.6;

/// How much more it is worth in a question that hardly anything fits: then the words of the question are of little help.
const MORE_WHEN_WIDENED: f64 = 1.27;

impl Question {
    /// Words of the same matter, for each slot those that share most matters with it.
    fn add_associations(&mut self, atoms: &[Atom], first: usize) {
        let fields = Thesaurus::fields();
        let mut found = fields.find(atoms);
        found.sort_by_key(|term| std::cmp::Reverse(term.to - term.from));
        let mut taken: Vec<(usize, usize)> = Vec::new();
        let mut of_slots: Vec<Vec<u16>> = vec![Vec::new(); self.slots.len()];
        for term in found {
            if taken.iter().any(|(from, to)| *from <= term.from && term.to <= *to) {
                continue;
            }
            taken.push((term.from, term.to));
            let is_in = |slot: &usize| {
                let Slot { from, to, importance, .. } = self.slots[*slot];
                from < term.to && term.from < to && importance > 0.0
            };
            let Some(slot) = (first..self.slots.len()).find(is_in) else { continue };
            of_slots[slot].extend(&term.groups);
        }
        for (slot, matters) in of_slots.iter_mut().enumerate() {
            matters.sort_unstable();
            matters.dedup();
            let mut words: Vec<(&'static str, usize)> = Vec::new();
            for word in matters.iter().flat_map(|number| fields.members(*number)) {
                match words.iter_mut().find(|(known, _)| *known == word) {
                    Some((_, often)) => *often += 1,
                    None => words.push((word, 1)),
                }
            }
            words.sort_by_key(|(_, often)| std::cmp::Reverse(*often));
            for (word, often) in words.into_iter().take(MOST_OF_SLOT) {
                self.associate(word, slot, 1.0 + OF_MORE_MATTERS * (often - 1) as f64);
            }
        }
    }

    fn associate(&mut self, term: &'static str, slot: usize, strength: f64) {
        let known = self.associations.iter().position(|known| known.word.term == Some(term));
        if let Some(known) = known {
            self.associations[known].slots.push((slot, strength));
        } else if self.associations.len() < MOST_ASSOCIATIONS {
            // The last one looks for a name in its parts.
            let word = readings_of_term(term, 1.0, ReadingOf::Slot(slot)).last();
            self.associations.extend(word.map(|word| Association { word, slots: vec![(slot, strength)] }));
        }
    }

    pub(super) fn expand(&mut self, atoms: &[Atom], first: usize) {
        let thesaurus = Thesaurus::get();
        let mut left = MOST_EXPANSIONS;
        let mut found = thesaurus.find(atoms);
        found.sort_by_key(|term| std::cmp::Reverse(term.to - term.from));
        let mut terms: Vec<(usize, usize)> = Vec::new();
        for term in found {
            // What a word of a term means alone is something else: key in foreign key.
            if terms.iter().any(|(from, to)| *from <= term.from && term.to <= *to) {
                continue;
            }
            let covered: Vec<usize> = (first..self.slots.len())
                .filter(|slot| self.slots[*slot].from >= term.from && self.slots[*slot].to <= term.to)
                .collect();
            let (Some(start), Some(end)) = (covered.first(), covered.last()) else { continue };
            let (of, worth) = if covered.len() == 1 {
                (ReadingOf::Slot(*start), EXPANDED)
            } else {
                terms.push((term.from, term.to));
                self.spans.push(Span { from: *start, to: *end + 1 });
                (ReadingOf::Span(self.spans.len() - 1), EXPANDED_TERM)
            };
            let mut of_term = 0;
            for other in thesaurus.others(&term) {
                if left == 0 || of_term == MOST_OF_TERM {
                    break;
                }
                if self.add_expansion(other, worth, of) {
                    left -= 1;
                    of_term += 1;
                }
            }
        }
    }

    /// Returns whether it is new.
    fn add_expansion(&mut self, term: &'static str, worth: f64, of: ReadingOf) -> bool {
        let atoms = spelled(term);
        let (stem, _) = stem_of(term, &atoms);
        let what: Vec<u64> = stem.iter().map(|atom| atom.what).collect();
        if is_small(term) || self.readings.iter().any(|reading| reading.atoms == what) {
            return false;
        }
        self.readings.extend(readings_of_term(term, worth, of));
        true
    }

    /// Keeps only the first of what the thesaurus has, as many for each slot as for the others.
    pub fn keep_expansions(&mut self, most: usize) {
        let of_slot = most / self.slots.len().max(1);
        let mut kept: Vec<(ReadingOf, usize)> = Vec::new();
        self.readings.retain(|reading| {
            if reading.is_own() {
                return true;
            }
            let place = kept.iter().position(|(of, _)| *of == reading.of).unwrap_or_else(|| {
                kept.push((reading.of, 0));
                kept.len() - 1
            });
            kept[place].1 += 1;
            kept[place].1 <= of_slot.max(1)
        });
    }

    /// Adds what the thesaurus has for what it had, and words of the same matter: for a question that hardly anything fits.
    pub fn widen(&mut self) {
        for (first, atoms) in std::mem::take(&mut self.made_from) {
            self.add_associations(&atoms, first);
        }
        for reading in self.readings.iter_mut().filter(|reading| !reading.is_own()) {
            reading.worth *= MORE_WHEN_WIDENED;
        }
        let thesaurus = Thesaurus::get();
        let terms: Vec<(&'static str, ReadingOf)> =
            self.readings.iter().filter_map(|reading| Some((reading.term?, reading.of))).collect();
        let mut left = MOST_EXPANSIONS;
        let mut of_owner: Vec<(ReadingOf, usize)> = Vec::new();
        for (term, of) in terms {
            let Some(found) = thesaurus.term(term) else { continue };
            for other in thesaurus.others(&found) {
                let place = of_owner.iter().position(|(owner, _)| *owner == of).unwrap_or_else(|| {
                    of_owner.push((of, 0));
                    of_owner.len() - 1
                });
                if left == 0 || of_owner[place].1 == MOST_OF_TERM {
                    break;
                }
                if self.add_expansion(other, WIDENED, of) {
                    left -= 1;
                    of_owner[place].1 += 1;
                }
            }
        }
    }
}

fn readings_of_term(term: &'static str, worth: f64, of: ReadingOf) -> impl Iterator<Item = Reading> {
    let atoms = spelled(term);
    let (stem, is_inflected) = stem_of(term, &atoms);
    let edges = if is_inflected {
        Edges::Inflected
    } else if atoms.iter().any(|atom| atom.class == AtomClass::Katakana) {
        Edges::Beginning
    } else {
        Edges::Anywhere
    };
    let readings = readings_of(term, stem, worth, edges, of);
    readings.into_iter().map(move |reading| Reading { term: Some(term), ..reading })
}
