//! Whether a sentence is a constraint: a linear classifier over hashed features, trained from `corpus/constraint`.
//!
//! ```text
//! sentence and its neighbours ─ tokens ─► features ─ table ─► score ─► is it one?
//! ```
//!
//! Paths, numbers, code and quotations become classes. English and Japanese have a table of weights each, both in
//! `parameters.bin`. Nothing here depends on the platform, so that `cargo xtask train-constraints` gives the same bytes
//! everywhere, which `cargo xtask test` checks.

pub mod clauses;
pub mod features;
pub mod table;
mod classes;
mod english;
mod japanese;

use std::ops::Range;

use features::Features;
use table::WeightTable;

/// Written by `cargo xtask train-constraints --write`.
static PARAMETERS: &[u8] = include_bytes!("parameters.bin");

/// How much surer than a sentence a clause has to be.
pub const CLAUSE_MARGIN: f64 = 0.25;

/// A sentence of a prompt, and the sentences around it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Place<'p> {
    pub before: Option<&'p str>,
    pub sentence: &'p str,
    pub after: Option<&'p str>,
}

impl<'p> Place<'p> {
    pub fn alone(sentence: &'p str) -> Place<'p> {
        Place { sentence, ..Place::default() }
    }

    /// A clause of the sentence, with the rest around it.
    #[must_use]
    pub fn clause(self, clause: Range<usize>) -> Place<'p> {
        let part = |range: Range<usize>| Some(&self.sentence[range]).filter(|text| !text.trim().is_empty());
        Place {
            before: part(0..clause.start).or(self.before),
            after: part(clause.end..self.sentence.len()).or(self.after),
            sentence: &self.sentence[clause],
        }
    }
}

/// The part of a sentence that is one: all of it, or some of its clauses. The threshold is part of the weights.
pub fn constraint_in(place: Place<'_>) -> Option<Range<usize>> {
    let features = Features::of(place);
    let language = features.language;
    let table = WeightTable::read(PARAMETERS, language)?;
    if table.score(&features) > 0.0 {
        return Some(0..place.sentence.len());
    }
    let is_rule = |clause: &Range<usize>| {
        let features = Features::of(place.clause(clause.clone()));
        features.language == language && table.score(&features) > CLAUSE_MARGIN
    };
    let rules: Vec<Range<usize>> = clauses::clauses(place.sentence).into_iter().filter(is_rule).collect();
    Some(rules.first()?.start..rules.last()?.end)
}

pub fn is_constraint(place: Place<'_>) -> bool {
    constraint_in(place).is_some()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_parameters_can_be_read() {
        for language in features::LANGUAGES {
            assert!(WeightTable::read(PARAMETERS, language).is_some(), "{language:?}");
        }
        assert!(PARAMETERS.len() < 256 * 1024, "{} bytes in every hook's file", PARAMETERS.len());
    }

    #[test]
    fn cut_parameters_are_none_or_harmless() {
        let features = Features::of(Place::alone("Don't touch the fixtures."));
        let mut whole = 0;
        for length in (0..PARAMETERS.len()).step_by(997) {
            if let Some(table) = WeightTable::read(&PARAMETERS[..length], features.language) {
                assert!(table.score(&features) > 0.0, "the section is whole with {length} bytes");
                whole += 1;
            }
        }
        assert!(
            whole > 0
                && WeightTable::read(&PARAMETERS[..PARAMETERS.len() - 1], features::Language::Japanese)
                    .is_none()
        );
    }

    #[test]
    fn a_long_row_of_open_quotations_is_judged() {
        let text = "「“'".repeat(20_000);
        assert!(!is_constraint(Place::alone(&text)));
        assert!(!is_constraint(Place::alone(&format!("触らない{text}"))));
    }

    #[test]
    fn spelling_does_not_matter() {
        for (one, other) in [
            ("Don't touch the fixtures.", "don’t  TOUCH the fixtures."),
            ("テストは３件まで。", "テストは3件まで。"),
            ("ＡＰＩは触らないで", "APIは触らないで"),
            ("テストは消さないでｗｗ", "テストは消さないで"),
        ] {
            assert_eq!(Features::of(Place::alone(one)), Features::of(Place::alone(other)), "{one}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_judged(text in "(?s).{0,300}") {
            let place = Place { before: Some(&text), sentence: &text, after: Some(&text) };
            prop_assert_eq!(is_constraint(place), is_constraint(place));
        }

        #[test]
        fn words_and_signs_are_judged(text in "([a-zA-Z`'\"#/._-]{0,12}|[ぁ-んァ-ヶ一-龠、。！？「」]{1,6}|```|\n| |:|\u{3000}){0,60}") {
            let place = Place::alone(&text);
            prop_assert_eq!(is_constraint(place), is_constraint(place));
        }
    }
}
