//! Scores how well a text fits a question (BM25 over the slots of the question, with bonuses for title, phrases and
//! coverage), and picks the passage to show.

use std::collections::HashMap;

use tidegate_core::text::cut::first_bytes;
use tidegate_core::time::Millis;

use super::question::{Edges, MOST_SLOTS, Question, Reading, ReadingOf};
use super::scan::{Atom, AtomClass, atoms_into, split_atoms};
use super::thesaurus::is_inflected_at;

/// The weight of a word in the title against one in the text.
const TITLE: f64 = 2.0;

/// The higher, the longer repetitions keep raising the score.
const SATURATION: f64 = 1.2;

/// The length, in atoms, that neither raises nor lowers a score.
const USUAL_LENGTH: f64 = 250.0;

/// The half-life of freshness: thirty days in milliseconds, and what it adds at most.
const FADES: f64 = 30.0 * 86_400_000.0;
const FRESH: f64 = 0.1;

/// What a word in another form is worth.
const OTHER_FORM: f64 = 0.9;

/// What neighbours add to the weight of both.
const PHRASE: f64 = 0.2;

/// How much the frequency of a translation counts for the word itself.
const TRANSLATED: f64 = 0.5;

/// The coverage by a reading of the thesaurus.
const COVERS: f64 = 0.75;

/// A reading that is worth less than this covers less.
const COVERED: f64 = 0.5;

/// A reading of the thesaurus in more than this share of all texts says nothing.
const TOO_COMMON: f64 = 0.12;

/// The number of texts from which on that is known.
const KNOWN: f64 = 200.0;

/// What a word of a field is worth, and each further one of the same field.
const OF_FIELD: f64 = 0.4;
const MORE_OF_FIELD: f64 = 0.3;

/// The coverage by a word of a field.
const FIELD_COVERS: f64 = 0.35;

/// A field with a word in more than this share of all texts says nothing.
const FIELD_TOO_COMMON: f64 = 0.5;

/// How much a score depends on the coverage.
const BY_COVERAGE: f64 = 0.85;

/// The coverage by a text that has every word that any text has, if at least half of the words are of that kind.
const ALL_THERE_IS: f64 = 0.43;

/// If every text covers less of a question, nothing is about it: by the number of its parts that a text has.
const LEAST_COVERAGE: [f64; 4] = [0.42, 0.375, 0.28, 0.22];

/// A text that covers far less than the best one is not shown.
const LEAST_OF_BEST: f64 = 0.4;

/// A part counts as one that the text has from this share on.
const HAS: f64 = 0.3;

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

/// A factor for the age of a text, relative to the newest one.
pub fn freshness(at: Millis, newest: Millis) -> f64 {
    1.0 + FRESH * (-(newest.since(at) as f64) / FADES).exp2()
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    pub score: f64,
    /// The share of the question that the text has, by weight.
    pub coverage: f64,
    /// A bit per slot that the text has.
    pub has: u32,
    /// The same for slots that a person would find in it: by the word, or by one that means the same.
    pub names: u32,
}

impl Fit {
    #[must_use]
    pub fn worth(self, worth: f64) -> Fit {
        Fit { score: self.score * worth, ..self }
    }
}

/// Removes what covers too little of the question. Nothing relevant gives nothing. `fulfilled` wishes count as parts.
pub fn keep_relevant<T>(found: &mut Vec<T>, fulfilled: usize, fit: impl Fn(&T) -> Fit) {
    let best = found.iter().map(|one| fit(one).coverage).fold(0.0, f64::max);
    let is_relevant = found.iter().any(|one| {
        let Fit { coverage, has, .. } = fit(one);
        let parts = has.count_ones() as usize + fulfilled;
        coverage >= LEAST_COVERAGE[parts.clamp(1, LEAST_COVERAGE.len()) - 1]
    });
    found.retain(|one| is_relevant && fit(one).coverage >= best * LEAST_OF_BEST);
}

/// A question with the weight of each of its parts.
pub struct Scorer<'a> {
    question: &'a Question,
    /// Per reading: rare ones weigh more. 0 for one that says nothing.
    weights: Vec<f64>,
    /// Per slot.
    slots: Vec<f64>,
    /// A bit per slot: those that say something, and those of them, or else any, whose own word is in some text.
    tells: u32,
    known: u32,
    /// Per field of words.
    fields: Vec<f64>,
    /// Words of fields by their first atom: the field, and its word.
    field_words: HashMap<u64, Vec<(u16, u16)>>,
    /// Readings by their first atom.
    readings: HashMap<u64, Vec<u16>>,
    phrases: HashMap<u64, Vec<u16>>,
    /// The low bits of all first atoms: most atoms of a text begin nothing.
    begins: Vec<bool>,
}

const BEGINS: usize = 1 << 12;

fn begin(hash: u64) -> usize {
    (hash ^ hash >> 17) as usize % BEGINS
}

impl<'a> Scorer<'a> {
    /// `counts` estimates how many of `all` texts have each reading.
    pub fn new(question: &'a Question, counts: &[f64], of_fields: &[f64], all: f64) -> Scorer<'a> {
        let all = all.max(1.0);
        let rarity = |count: f64| (1.0 + (all - count + 0.5).max(0.5) / (count + 0.5)).ln().max(0.05);
        let is_noise =
            |reading: &Reading, count: f64| !reading.is_own() && all > KNOWN && count > all * TOO_COMMON;
        // A word that is rare only because the texts are in the other language says no more than its translation.
        let translated = |reading: &Reading| {
            let ReadingOf::Slot(slot) = reading.of else { return 0.0 };
            let is_ascii = question.slots[slot].typed.is_ascii();
            let of_slot = question.readings.iter().zip(counts).filter(|(other, _)| {
                other.of == reading.of
                    && other.means_the_same()
                    && !other.is_own()
                    && other.is_ascii() != is_ascii
            });
            of_slot.map(|(_, count)| *count).fold(0.0, f64::max) * TRANSLATED
        };
        let weight = |(reading, count): (&Reading, &f64)| {
            if is_noise(reading, *count) {
                0.0
            } else if reading.is_own() {
                rarity(count.max(translated(reading)))
            } else {
                rarity(*count)
            }
        };
        let weights: Vec<f64> = question.readings.iter().zip(counts).map(weight).collect();
        let slots = (0..question.slots.len()).map(|slot| {
            let count_of = |own: bool| {
                let of = question.readings.iter().zip(counts);
                let of = of
                    .filter(|(reading, _)| reading.of == ReadingOf::Slot(slot) && (reading.is_own()) == own);
                of.map(|(_, count)| *count).fold(0.0, f64::max)
            };
            let (own, others) = (count_of(true), count_of(false).min(all * TOO_COMMON));
            // A word that nothing has is as rare as one that is in a single text.
            question.slots[slot].importance * rarity(if own > 0.0 { own } else { others.max(1.0) })
        });
        let (mut readings, mut phrases) = (HashMap::<u64, Vec<u16>>::new(), HashMap::<u64, Vec<u16>>::new());
        let mut begins = vec![false; BEGINS];
        let mut note = |map: &mut HashMap<u64, Vec<u16>>, atoms: &[u64], number: usize| {
            if let (Some(first), Ok(number)) = (atoms.first(), u16::try_from(number)) {
                map.entry(*first).or_default().push(number);
                begins[begin(*first)] = true;
            }
        };
        for (number, reading) in question.readings.iter().enumerate() {
            note(&mut readings, &reading.atoms, number);
        }
        for (number, (_, atoms)) in question.phrases.iter().enumerate() {
            note(&mut phrases, atoms, number);
        }
        let mut field_words = HashMap::<u64, Vec<(u16, u16)>>::new();
        let fields: Vec<f64> = of_fields
            .iter()
            .map(|count| if all > KNOWN && *count > all * FIELD_TOO_COMMON { 0.0 } else { rarity(*count) })
            .collect();
        for (number, _) in fields.iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
            for (place, word) in question.fields[number].words.iter().enumerate() {
                if let (Some(first), Ok(number), Ok(place)) =
                    (word.atoms.first(), u16::try_from(number), u16::try_from(place))
                {
                    field_words.entry(*first).or_default().push((number, place));
                    begins[begin(*first)] = true;
                }
            }
        }
        let slots = slots.collect();
        let bits = |is: &dyn Fn(usize) -> bool| {
            let places = 0..question.slots.len().min(MOST_SLOTS);
            places.filter(|slot| is(*slot)).fold(0, |bits, slot| bits | 1 << slot)
        };
        let tells = bits(&|slot| question.slots[slot].says_something());
        let is_in_text = |slot: usize| {
            let mut of = question.readings.iter().zip(counts);
            of.any(|(reading, count)| reading.of == ReadingOf::Slot(slot) && reading.is_own() && *count > 0.0)
        };
        let in_text = bits(&is_in_text);
        let known = if tells & in_text == 0 { in_text } else { tells & in_text };
        Scorer { question, weights, slots, tells, known, fields, field_words, readings, phrases, begins }
    }

    /// What a reading adds to the score of a text that has it once.
    pub fn weight(&self, reading: usize) -> f64 {
        let importance = match self.question.readings[reading].of {
            ReadingOf::Slot(slot) => self.question.slots[slot].importance,
            ReadingOf::Span(_) => 1.0,
        };
        self.weights[reading] * self.question.readings[reading].worth * importance
    }

    /// The score to expect of a text with these readings.
    pub fn promise(&self, readings: &[u16]) -> f64 {
        let mut best = [0.0_f64; MOST_SLOTS];
        let mut spans = 0.0_f64;
        for reading in readings {
            let number = usize::from(*reading);
            if let Some(field) = number.checked_sub(self.question.readings.len()) {
                let free = self.question.fields[field].slots.iter().find(|slot| best[**slot] == 0.0);
                if let Some(slot) = free {
                    best[*slot] = self.field_weight(field, *slot);
                }
                continue;
            }
            match self.question.readings[number].of {
                ReadingOf::Slot(slot) if slot < MOST_SLOTS => {
                    best[slot] = best[slot].max(self.weight(number));
                }
                ReadingOf::Slot(_) => {}
                ReadingOf::Span(_) => spans += self.weight(number),
            }
        }
        best.iter().sum::<f64>() + spans
    }

    fn field_weight(&self, field: usize, slot: usize) -> f64 {
        self.fields[field] * OF_FIELD * self.question.slots[slot].importance
    }

    /// Whether the order of words decides what fits.
    pub fn has_phrase(&self) -> bool {
        self.question.slots.iter().any(|slot| slot.required)
    }

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

    /// `None` if the text lacks a quoted part.
    pub fn fit(&self, seen: &Seen, common: &WordCounts) -> Option<Fit> {
        Some(self.sum_up(seen, common)).filter(|fit| {
            let required = self.question.slots.iter().enumerate().filter(|(_, slot)| slot.required);
            required.into_iter().all(|(place, _)| fit.has & 1 << place != 0)
        })
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

    /// A word that no text has must not hide those with all the others: it is named instead.
    fn all_there_is(&self, covers: &[f64; MOST_SLOTS]) -> f64 {
        let has_it = |slot: usize| self.known & 1 << slot == 0 || covers[slot] >= 1.0;
        let unknown = (self.tells & !self.known).count_ones();
        let is_all = (1..=self.known.count_ones()).contains(&unknown) && (0..MOST_SLOTS).all(has_it);
        if is_all { ALL_THERE_IS } else { 0.0 }
    }

    /// What fields of words add to the score. A text has to have two different things of the question, and a word counts for
    /// one of them.
    fn add_fields(
        &self,
        seen: &Seen,
        common: &WordCounts,
        length: f64,
        values: &[f64; MOST_SLOTS],
        covers: &mut [f64; MOST_SLOTS],
    ) -> f64 {
        let there = self.question.readings.iter().zip(&seen.often).filter(|(_, often)| **often > 0.0);
        let mut used: Vec<u64> = there.map(|(reading, _)| word_of(reading)).collect();
        // By the weight of their words, those that say most first.
        let mut words: Vec<(f64, u64, usize)> = Vec::new();
        for (field, found) in seen.fields.iter().enumerate() {
            words.extend(found.iter().map(|(word, often)| {
                let saturated = often * (SATURATION + 1.0) / (often + SATURATION * length);
                (common.rarity(*word) * saturated, *word, field)
            }));
        }
        words.sort_by(|one, other| other.0.total_cmp(&one.0));
        let mut parts = covers.iter().filter(|cover| **cover >= HAS).count();
        let mut accepted: Vec<(usize, usize, f64, f64)> = Vec::new();
        for (weight, word, field) in words {
            if used.contains(&word) {
                continue;
            }
            if let Some((_, _, value, _)) = accepted.iter_mut().find(|(_, of, ..)| *of == field) {
                *value += MORE_OF_FIELD * weight;
                used.push(word);
                continue;
            }
            let is_free = |slot: &&usize| {
                covers[**slot] < FIELD_COVERS && !accepted.iter().any(|(taken, ..)| taken == *slot)
            };
            let Some(slot) = self.question.fields[field].slots.iter().find(is_free) else { continue };
            let asked = self.slots[*slot] / self.question.slots[*slot].importance.max(0.01);
            let cover = FIELD_COVERS * (common.rarity(word) / asked.max(0.05)).min(1.0);
            accepted.push((*slot, field, weight, cover));
            used.push(word);
            parts += 1;
        }
        if parts < 2 {
            return 0.0;
        }
        let mut sum = 0.0;
        for (slot, _, value, cover) in accepted {
            let value = OF_FIELD * value * self.question.slots[slot].importance;
            sum += (value - values[slot]).max(0.0);
            covers[slot] = covers[slot].max(cover);
        }
        sum
    }

    /// How much of its slot or span a reading covers: a common word says little about a rare one.
    fn cover(&self, reading: &Reading, number: usize) -> f64 {
        if reading.is_own() {
            return 1.0;
        }
        let asked = match reading.of {
            ReadingOf::Slot(slot) => self.slots[slot] / self.question.slots[slot].importance.max(0.01),
            ReadingOf::Span(span) => {
                let span = &self.question.spans[span];
                self.slots[span.from..span.to].iter().fold(0.0, |most: f64, weight| most.max(*weight))
            }
        };
        COVERS * (reading.worth / COVERED).min(1.0) * (self.weights[number] / asked.max(0.05)).min(1.0)
    }

    fn sum_up(&self, seen: &Seen, common: &WordCounts) -> Fit {
        let Seen { often, phrases, .. } = seen;
        let length = 0.7 + 0.3 * (seen.length as f64 / USUAL_LENGTH).min(4.0);
        let (mut values, mut covers) = ([0.0_f64; MOST_SLOTS], [0.0_f64; MOST_SLOTS]);
        let mut named = [false; MOST_SLOTS];
        let mut spans = vec![(0.0_f64, 0.0_f64); self.question.spans.len()];
        for (number, (reading, often)) in self.question.readings.iter().zip(often).enumerate() {
            if *often == 0.0 {
                continue;
            }
            let saturated = often * (SATURATION + 1.0) / (often + SATURATION * length);
            let form = if reading.is_own() && !seen.exact[number] { OTHER_FORM } else { 1.0 };
            let value = self.weight(number) * saturated * form;
            let cover = self.cover(reading, number);
            let (best, covered) = match reading.of {
                ReadingOf::Slot(slot) if slot < MOST_SLOTS => {
                    named[slot] |= reading.means_the_same();
                    (&mut values[slot], &mut covers[slot])
                }
                ReadingOf::Slot(_) => continue,
                ReadingOf::Span(span) => {
                    if reading.means_the_same() {
                        let places = &self.question.spans[span];
                        named[places.from..places.to.min(MOST_SLOTS)].fill(true);
                    }
                    let (best, covered) = &mut spans[span];
                    (best, covered)
                }
            };
            *best = best.max(value);
            *covered = covered.max(cover);
        }
        let mut score: f64 = values.iter().sum();
        for (span, (value, cover)) in self.question.spans.iter().zip(spans) {
            if cover == 0.0 {
                continue;
            }
            let places = span.from..span.to.min(MOST_SLOTS);
            let apart: f64 = values[places.clone()].iter().sum();
            if value > apart {
                score += value - apart;
                // Not counted again by another span.
                for place in places.clone() {
                    values[place] = values[place].max(value / places.len() as f64);
                }
            }
            covers[places].iter_mut().for_each(|covered| *covered = covered.max(cover));
        }
        score += self.add_fields(seen, common, length, &values, &mut covers);
        for ((slot, _), there) in self.question.phrases.iter().zip(phrases) {
            if let [one, next, ..] = self.slots[*slot..] {
                score += PHRASE * there * (one + next);
            }
        }
        let (mut covered, mut all, mut has, mut names) = (0.0, 0.0, 0, 0);
        for (place, weight) in self.slots.iter().enumerate().take(MOST_SLOTS) {
            covered += weight * covers[place];
            all += weight;
            if covers[place] >= HAS {
                has |= 1 << place;
            }
            names |= u32::from(named[place]) << place;
        }
        let coverage = if all > 0.0 { covered / all } else { 1.0 };
        let score = score * (1.0 - BY_COVERAGE + BY_COVERAGE * coverage);
        Fit { score, coverage: coverage.max(self.all_there_is(&covers)), has, names }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Likeness {
    Exact,
    Form,
    /// It has the same stem by accident: rune and run, stripe and stripping.
    OtherWord,
}

/// Of two words with the same stem.
fn likeness(typed: &str, text: &str) -> Likeness {
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

/// What of a question is in a text.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Per reading and per phrase.
    often: Vec<f64>,
    /// Whether a word stands there as it was typed.
    exact: Vec<bool>,
    phrases: Vec<f64>,
    /// Per field, its words.
    fields: Vec<Vec<(u64, f64)>>,
    length: usize,
}

/// How many of some texts have each word of a field.
#[derive(Clone, Debug, Default)]
pub struct WordCounts {
    counts: HashMap<u64, f64>,
    texts: f64,
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

    fn rarity(&self, word: u64) -> f64 {
        let count = self.counts.get(&word).copied().unwrap_or_default();
        (1.0 + (self.texts - count + 0.5).max(0.5) / (count + 0.5)).ln()
    }
}

/// The same for one word in two fields.
fn word_of(reading: &Reading) -> u64 {
    reading.atoms.iter().fold(0, |word, atom| word.rotate_left(7) ^ atom)
}

/// The number of atoms that a reading covers from `at` on.
fn match_reading(reading: &Reading, atoms: &[Atom], at: usize) -> Option<usize> {
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
fn match_sequence(wanted: &[u64], text: &[Atom]) -> Option<usize> {
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
            for reading in &question.readings {
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

    fn scored(question: &str, title: &str, text: &str) -> Option<f64> {
        let question = parsed(question);
        let counts = vec![10.0; question.readings.len()];
        let scorer = Scorer::new(&question, &counts, &[], 1000.0);
        let document = Document { title, texts: &[text] };
        scorer
            .fit(&scorer.look(&document, &mut Vec::new()), &WordCounts::default())
            .map(|fit| fit.score)
            .filter(|score| *score > 0.0)
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
        better("認証の失敗", ("x", "認証に失敗した"), ("x", "authentication failed"));
        better("認証の失敗", ("x", "authentication failed"), ("x", "the parser failed"));
        better("設計変更", ("x", "設計変更の件"), ("x", "変更と設計の件"));
        assert_eq!(scored("\"busy timeout\"", "x", "timeout busy"), None);
        assert!(scored("\"sqlite store\"", "x", "the SQLite store").is_some());
    }

    #[test]
    fn forms_names_and_numbers_are_found() {
        for (question, text) in [
            ("foobar", "call fooBar()"),
            ("SQLite", "the sqlite store"),
            ("API", "two APIs"),
            ("order id", "the order_ids"),
            ("order_ids", "the order id"),
            ("UUIDv7", "a UUID v7"),
            ("UUID v7", "a uuidv7"),
            ("v2.3.1", "since 2.3.1"),
            ("2.3.1", "since v2.3.1"),
            ("200ms", "after 200 ms"),
            ("200 ms", "after 200ms"),
            ("C++", "in C++17"),
            ("C#", "C# と F#"),
            ("切替", "切り替えた"),
            ("切り替え", "切替"),
            ("打合せ", "打ち合わせ"),
            ("取り消し", "取消"),
            ("サーバー", "サーバ側"),
            ("サーバ", "サーバーの"),
            ("timezone", "the timezone"),
            ("time zone", "the timezone"),
            ("migrations", "we migrated it"),
        ] {
            assert!(scored(question, "", text).is_some(), "{question}: {text}");
        }
        for (question, text) in [
            ("C++", "C and C#"),
            ("2.3.1", "2 and 3 and 1"),
            ("ログ", "カタログの表"),
            ("authentication key", "スキーマ"),
        ] {
            let found = scored(question, "", text);
            assert!(found.is_none() || question == "ログ", "{question}: {text}");
        }
    }

    #[test]
    fn words_of_one_matter_count_only_with_another_matter() {
        let scored = |text: &str| {
            let mut question = parsed("everyone came while the app was sluggish");
            question.widen();
            question.readings.retain(Reading::is_own);
            let counts = vec![10.0; question.readings.len()];
            let scorer = Scorer::new(&question, &counts, &vec![10.0; question.fields.len()], 1000.0);
            let seen = scorer.look(&Document { title: "", texts: &[text] }, &mut Vec::new());
            let common = WordCounts { counts: HashMap::new(), texts: 100.0 };
            scorer.fit(&seen, &common).map_or(0.0, |fit| fit.score)
        };
        assert!(scored("the traffic, and p99") > 0.0);
        assert!(scored("the traffic").abs() < f64::EPSILON);
        assert!(scored("the traffic, a campaign").abs() < f64::EPSILON);
    }

    #[test]
    fn a_word_that_no_text_has_hides_nothing() {
        let shown = |text: &str, question: &str, known: &[usize]| {
            let question = parsed(question);
            let is_known = |reading: &Reading| known.iter().any(|slot| reading.of == ReadingOf::Slot(*slot));
            let count = |reading: &Reading| if is_known(reading) { 500.0 } else { 0.0 };
            let counts: Vec<f64> = question.readings.iter().map(count).collect();
            let scorer = Scorer::new(&question, &counts, &[], 1000.0);
            let seen = scorer.look(&Document { title: "", texts: &[text] }, &mut Vec::new());
            let mut found = vec![scorer.fit(&seen, &WordCounts::default()).unwrap()];
            keep_relevant(&mut found, 0, |fit| *fit);
            !found.is_empty()
        };
        assert!(shown("the deploy failed", "deploy xyzzyx", &[0]));
        assert!(shown("新しい設計", "設計 鷽鷽", &[0]));
        assert!(!shown("the deploy failed", "deploy xyzzyx plugh", &[0]), "most of it is unknown");
        assert!(
            !shown("the deploy", "deploy cache xyzzyx plugh", &[0, 1]),
            "a text has half of what is known"
        );
    }

    #[test]
    fn what_covers_little_is_not_shown() {
        let fit = |coverage: f64| Fit { score: 1.0, coverage, has: 0, names: 0 };
        let kept = |coverages: &[f64]| {
            let mut found: Vec<Fit> = coverages.iter().copied().map(fit).collect();
            keep_relevant(&mut found, 0, |fit| *fit);
            found.len()
        };
        assert_eq!(kept(&[0.1, 0.2]), 0);
        assert_eq!(kept(&[1.0, 0.9, 0.2]), 2);
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
        /// Every word of a text finds it, and no combination of question and text panics.
        #[test]
        fn a_word_finds_its_text(text in "[a-zA-Z_ 設計のデータ変更ｶﾞ\u{301}.,é0-9]{0,80}", other in "\\PC{0,40}") {
            for word in text.split_whitespace() {
                let question = parsed(word);
                if !question.is_empty() {
                    prop_assert!(scored(word, "", &text).is_some(), "{word:?} in {text:?}");
                }
            }
            let question = parsed(&other);
            let _ = scored(&other, &text, &other);
            let line = make_snippet(&question, &Document { title: &text, texts: &[&other, &text] });
            prop_assert!(!line.chars().any(char::is_control));
        }

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
