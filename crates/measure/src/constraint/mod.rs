//! `cargo xtask eval-constraints`: which sentences of a prompt are found to forbid, require or limit something,
//! and which later prompts take such a constraint back.

mod examples;
mod lift;
mod model;
mod training;

use std::path::Path;

use tidegate_core::feature::knowledge::constraint::{count_sentences, find_constraints};

use crate::goals;
use crate::phase::LANGUAGES;
use examples::{Batch, CLEAN, Example, read_examples};
use lift::Part;
use xtask::failure::{Done, Failure};
use xtask::print;

pub(crate) use training::{check, cross_validate, write};

/// Per cent of the sentences of the examinations: goals of precision and recall for the clean one, and what the others had, so
/// that it cannot get worse in silence. A wrong constraint binds Claude for the rest of the session.
const FLOORS: [[(f64, f64); 2]; LANGUAGES.len()] =
    [[(95.0, 70.0), (97.0, 83.1)], [(95.0, 70.0), (95.2, 81.0)]];

/// What is wrong in the examinations is only counted: nothing may be chosen by them.
pub(crate) fn evaluate() -> Done {
    let mut missed = Vec::new();
    for (language, [clean_floor, floor]) in LANGUAGES.into_iter().zip(FLOORS) {
        for Batch { name, examples } in examples::training(language)? {
            print::line(&format!("{language}, {name}: {}", Counts::of(&examples, true).summary()));
        }
        let (mut clean, mut others) = (Counts::default(), Counts::default());
        for Batch { name, examples } in examples::exams(language)? {
            let counts = Counts::of(&examples, false);
            print::line(&format!("{language}, {name}: {}", counts.summary()));
            let all = if name.starts_with(CLEAN) { &mut clean } else { &mut others };
            *all = all.and(counts);
        }
        for (what, counts, floor) in
            [("the clean examination", clean, clean_floor), ("the others", others, floor)]
        {
            print::line(&format!("{language}, {what}: {}", counts.summary()));
            missed
                .extend(counts.below(floor).into_iter().map(|short| format!("{language}, {what}: {short}")));
        }
        for Part { title, counts, has_goals } in lift::each_part(language)? {
            print::line(&format!("{language}, {title}, taken back: {}", counts.summary()));
            if has_goals {
                missed.extend(counts.missed_goals().into_iter().map(|what| format!("{language}: {what}")));
            }
        }
    }
    if missed.is_empty() {
        return Ok(());
    }
    Err(Failure::new(format!("the classifier misses its goals:\n  {}", missed.join("\n  ")))
        .next("more prompts for training, by other authors; the examinations stay as they are"))
}

/// Examples from elsewhere, in the form of the corpus. Only figures are printed, so that a set can be an examination.
pub(crate) fn evaluate_set(folder: &str) -> Done {
    let folder = Path::new(folder);
    for language in LANGUAGES {
        let examples = read_examples(folder, language)?;
        print::line(&format!("{language}: {}", Counts::of(&examples, false).summary()));
        let lifts = folder.join(format!("lift.{language}.jsonl"));
        if lifts.exists() {
            let counts = lift::Counts::of(&lift::read_pairs(&lifts, language)?, false);
            print::line(&format!("{language}, taken back: {}", counts.summary()));
        }
    }
    Ok(())
}

/// Of sentences.
#[derive(Clone, Copy, Default)]
struct Counts {
    all: usize,
    meant: usize,
    found: usize,
    right: usize,
}

impl Counts {
    fn of(examples: &[Example], shows_wrong: bool) -> Counts {
        let mut counts = Counts::default();
        for Example { prompt, constraints, .. } in examples {
            let found = find_constraints(prompt);
            // The label may leave out the beginning of the sentence.
            let is_right = |sentence: &&&str| {
                constraints
                    .iter()
                    .any(|meant| sentence.contains(meant.as_str()) || meant.contains(**sentence))
            };
            let is_found = |meant: &&String| {
                found.iter().any(|sentence| sentence.contains(meant.as_str()) || meant.contains(sentence))
            };
            let right = constraints.iter().filter(is_found).count();
            if shows_wrong {
                for sentence in found.iter().filter(|sentence| !is_right(sentence)) {
                    print::line(&format!("    is none: {sentence:?}"));
                }
                for meant in constraints.iter().filter(|meant| !is_found(meant)) {
                    print::line(&format!("    is one: {meant:?}"));
                }
            }
            let wrong = found.iter().filter(|sentence| !is_right(sentence)).count();
            counts.all += count_sentences(prompt);
            counts.meant += constraints.len();
            counts.found += right + wrong;
            counts.right += right;
        }
        counts
    }

    fn and(self, other: Counts) -> Counts {
        Counts {
            all: self.all + other.all,
            meant: self.meant + other.meant,
            found: self.found + other.found,
            right: self.right + other.right,
        }
    }

    fn precision(self) -> f64 {
        percent(self.right, self.found)
    }

    fn recall(self) -> f64 {
        percent(self.right, self.meant)
    }

    fn summary(self) -> String {
        let Counts { all, meant, found, right } = self;
        format!(
            "{all} sentences, {meant} constraints; precision {:.1}% ({right} of {found}), recall {:.1}% ({right} of {meant})",
            self.precision(),
            self.recall(),
        )
    }

    fn below(self, (precision, recall): (f64, f64)) -> Vec<String> {
        goals::missed([("precision", self.precision(), precision), ("recall", self.recall(), recall)])
    }
}

/// Not a number if there is nothing to divide by, which reaches no goal.
fn percent(part: usize, of: usize) -> f64 {
    100.0 * part as f64 / of as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_prompts_are_judged_well_enough() {
        evaluate().unwrap_or_else(|failure| panic!("{}", failure.text()));
    }
}
