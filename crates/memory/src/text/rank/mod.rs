//! Scores how well a text fits a question: BM25 over the slots of the question, with bonuses for title, phrases and
//! coverage.

mod relevant;
mod seen;

use std::collections::HashMap;

use tidegate_core::time::Millis;

use super::question::{MOST_SLOTS, Question, Reading, ReadingOf, Slot};
pub use relevant::keep_relevant;
pub use seen::Seen;
use seen::word_of;

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

/// What a word of the same matter is worth, and the second one.
const ASSOCIATED: f64 = 0.8;
const SECOND_ASSOCIATED: f64 = 0.3;

/// The coverage by a word of the same matter.
const ASSOCIATION_COVERS: f64 = 0.42;

/// How much a score depends on the coverage.
const BY_COVERAGE: f64 = 0.85;

/// The coverage by a text that has every word that any text has, if at least half of the words are of that kind.
const ALL_THERE_IS: f64 = 0.43;

/// A part counts as one that the text has from this share on.
const HAS: f64 = 0.3;

/// In bytes; the subject of a longer text shows before that.
pub(super) const LOOKED_AT: usize = 256 * 1024;

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
    /// The same as `coverage` and `has` without words of the same matter.
    pub firm: Covered,
}

/// How much of a question a text has, and a bit per slot.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Covered {
    pub coverage: f64,
    pub has: u32,
}

impl Fit {
    #[must_use]
    pub fn worth(self, worth: f64) -> Fit {
        Fit { score: self.score * worth, ..self }
    }
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
    /// The same for slots that no text has, nor anything that the thesaurus has for them.
    nowhere: u32,
    /// Per association: rare ones weigh more.
    associations: Vec<f64>,
    /// Associations by their first atom.
    associated: HashMap<u64, Vec<u16>>,
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
    /// `counts` estimates how many of `all` texts have each reading, `of_associations` the same for what is known of those.
    pub fn new(question: &'a Question, counts: &[f64], of_associations: &[f64], all: f64) -> Scorer<'a> {
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
        // A rare word that means the same says no more than the word that was asked for.
        let own = |reading: &Reading| {
            let of = question.readings.iter().zip(counts);
            let of = of.filter(|(other, _)| other.of == reading.of && other.is_own());
            of.map(|(_, count)| *count).fold(0.0, f64::max)
        };
        let weight = |(reading, count): (&Reading, &f64)| {
            if is_noise(reading, *count) {
                0.0
            } else if reading.is_own() {
                rarity(count.max(translated(reading)))
            } else {
                rarity(count.max(own(reading)))
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
        let associations: Vec<f64> = of_associations.iter().map(|count| rarity(*count)).collect();
        let mut associated = HashMap::new();
        for (number, association) in question.associations.iter().enumerate().take(associations.len()) {
            note(&mut associated, &association.word.atoms, number);
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
        let is_of = |reading: &Reading, slot: usize| match reading.of {
            ReadingOf::Slot(of) => of == slot,
            ReadingOf::Span(span) => (question.spans[span].from..question.spans[span].to).contains(&slot),
        };
        let is_nowhere = |slot: usize| {
            let mut of = question.readings.iter().zip(counts);
            !of.any(|(reading, count)| *count > 0.0 && is_of(reading, slot))
        };
        let nowhere = tells & bits(&is_nowhere);
        let known = if tells & in_text == 0 { in_text } else { tells & in_text };
        Scorer {
            question,
            weights,
            slots,
            tells,
            known,
            nowhere,
            associations,
            associated,
            readings,
            phrases,
            begins,
        }
    }

    /// A bit per slot that says something and that no text has in any way.
    pub fn nowhere(&self) -> u32 {
        self.nowhere
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
            if let Some(association) = number.checked_sub(self.question.readings.len()) {
                for (slot, strength) in &self.question.associations[association].slots {
                    let value = self.association_weight(association, *slot) * strength;
                    best[*slot] = best[*slot].max(value);
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

    fn association_weight(&self, association: usize, slot: usize) -> f64 {
        self.associations[association] * ASSOCIATED * self.question.slots[slot].importance
    }

    /// Whether the order of words decides what fits.
    pub fn has_phrase(&self) -> bool {
        self.question.slots.iter().any(|slot| slot.required)
    }

    /// `None` if the text lacks a quoted part.
    pub fn fit(&self, seen: &Seen) -> Option<Fit> {
        Some(self.sum_up(seen)).filter(|fit| {
            let required = self.question.slots.iter().enumerate().filter(|(_, slot)| slot.required);
            required.into_iter().all(|(place, _)| fit.has & 1 << place != 0)
        })
    }

    /// A word that no text has must not hide those with all the others: it is named instead.
    fn all_there_is(&self, covers: &[f64; MOST_SLOTS]) -> f64 {
        let has_it = |slot: usize| self.known & 1 << slot == 0 || covers[slot] >= 1.0;
        let unknown = (self.tells & !self.known).count_ones();
        let is_all = (1..=self.known.count_ones()).contains(&unknown) && (0..MOST_SLOTS).all(has_it);
        if is_all { ALL_THERE_IS } else { 0.0 }
    }

    /// What words of the same matter add to the score. A text has to have two different things of the question, and a word counts
    /// for one of them.
    fn add_associations(
        &self,
        seen: &Seen,
        values: &[f64; MOST_SLOTS],
        covers: &mut [f64; MOST_SLOTS],
    ) -> f64 {
        let there = self.question.readings.iter().zip(&seen.often).filter(|(_, often)| **often > 0.0);
        let mut used: Vec<u64> = there.map(|(reading, _)| word_of(reading)).collect();
        // Those that say most first.
        let mut words: Vec<(f64, u64, usize)> = Vec::new();
        let present = seen.associated.iter().enumerate().filter(|(_, is_there)| **is_there);
        for (number, _) in present {
            let association = &self.question.associations[number];
            let word = word_of(&association.word);
            words.extend(
                association
                    .slots
                    .iter()
                    .map(|(slot, strength)| (self.associations[number] * strength, word, *slot)),
            );
        }
        words.sort_by(|one, other| other.0.total_cmp(&one.0));
        let mut parts = covers.iter().filter(|cover| **cover >= HAS).count();
        let mut found = [(0.0_f64, 0.0_f64, 0_usize); MOST_SLOTS];
        for (weight, word, slot) in words {
            let (value, best, count) = &mut found[slot];
            if used.contains(&word) || *count == 2 || covers[slot] >= ASSOCIATION_COVERS {
                continue;
            }
            *value += if *count == 0 { weight } else { SECOND_ASSOCIATED * weight };
            if *count == 0 {
                *best = weight;
                parts += 1;
                used.push(word);
            }
            *count += 1;
        }
        if parts < 2 {
            return 0.0;
        }
        let mut sum = 0.0;
        for (slot, (value, best, count)) in found.into_iter().enumerate() {
            if count == 0 {
                continue;
            }
            let Slot { importance, .. } = self.question.slots[slot];
            sum += (ASSOCIATED * value * importance - values[slot]).max(0.0);
            let asked = self.slots[slot] / importance.max(0.01);
            covers[slot] = covers[slot].max(ASSOCIATION_COVERS * (best / asked.max(0.05)).min(1.0));
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

    fn sum_up(&self, seen: &Seen) -> Fit {
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
        let firm = self.coverage(&covers);
        score += self.add_associations(seen, &values, &mut covers);
        for ((slot, _), there) in self.question.phrases.iter().zip(phrases) {
            if let [one, next, ..] = self.slots[*slot..] {
                score += PHRASE * there * (one + next);
            }
        }
        let names = named.iter().enumerate().fold(0, |names, (place, is)| names | u32::from(*is) << place);
        let Covered { coverage, has } = self.coverage(&covers);
        let score = score * (1.0 - BY_COVERAGE + BY_COVERAGE * coverage);
        let least = self.all_there_is(&covers);
        let firm = Covered { coverage: firm.coverage.max(least), ..firm };
        Fit { score, coverage: coverage.max(least), has, names, firm }
    }

    fn coverage(&self, covers: &[f64; MOST_SLOTS]) -> Covered {
        let (mut covered, mut all, mut has) = (0.0, 0.0, 0);
        for (place, weight) in self.slots.iter().enumerate().take(MOST_SLOTS) {
            covered += weight * covers[place];
            all += weight;
            has |= u32::from(covers[place] >= HAS) << place;
        }
        Covered { coverage: if all > 0.0 { covered / all } else { 1.0 }, has }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Surroundings, make_snippet};
    use proptest::prelude::*;

    fn parsed(text: &str) -> Question {
        Question::parse(text, Surroundings::default())
    }

    fn scored(question: &str, title: &str, text: &str) -> Option<f64> {
        let question = parsed(question);
        let counts = vec![10.0; question.readings.len()];
        let scorer = Scorer::new(&question, &counts, &[], 1000.0);
        let document = Document { title, texts: &[text] };
        scorer.fit(&scorer.look(&document, &mut Vec::new())).map(|fit| fit.score).filter(|score| *score > 0.0)
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
    fn a_rare_word_that_means_the_same_is_worth_less_than_the_word() {
        let question = parsed("harbour lantern");
        let count = |reading: &Reading| if reading.is_own() { 250.0 } else { 1.0 };
        let counts: Vec<f64> = question.readings.iter().map(count).collect();
        let scorer = Scorer::new(&question, &counts, &[], 1000.0);
        let score = |text: &str| {
            let seen = scorer.look(&Document { title: "", texts: &[text] }, &mut Vec::new());
            scorer.fit(&seen).unwrap().score
        };
        assert!(score("at the berth, a lantern") > score("a lantern"));
        assert!(score("at the harbour, a lantern") > score("at the berth, a lantern berth"));
    }

    #[test]
    fn words_of_one_matter_count_only_with_another_matter() {
        let scored = |text: &str| {
            let mut question = parsed("everyone came while the app was sluggish");
            question.widen();
            question.readings.retain(Reading::is_own);
            let counts = vec![10.0; question.readings.len()];
            let scorer = Scorer::new(&question, &counts, &vec![10.0; question.associations.len()], 1000.0);
            let seen = scorer.look(&Document { title: "", texts: &[text] }, &mut Vec::new());
            scorer.fit(&seen).map_or(0.0, |fit| fit.score)
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
            let mut found = vec![scorer.fit(&seen).unwrap()];
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
    }
}
