//! `cargo xtask eval-constraints`: which sentences of a prompt are found to forbid, require or limit something,
//! and which later prompts take such a constraint back.

mod lift;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tidegate_core::feature::knowledge::constraint::{count_sentences, find_constraints};

use crate::goals;
use crate::phase::LANGUAGES;
use xtask::failure::{Done, Failure, While};
use xtask::print;
use xtask::workspace;

/// Per cent of the held-out sentences of a language. A wrong constraint binds Claude for the rest of the session.
const PRECISION: f64 = 95.0;
const RECALL: f64 = 70.0;

/// Each with whether it is held out.
const PARTS: [(&str, bool); 14] = [
    ("train", false),
    ("held-out", true),
    ("fresh-train", false),
    ("fresh-held-out", true),
    ("readers-train", false),
    ("readers-held-out", true),
    ("strangers-train", false),
    ("strangers-held-out", true),
    ("week-train", false),
    ("week-held-out", true),
    ("users-train", false),
    ("users-held-out", true),
    ("elsewhere", false),
    ("elsewhere-2", false),
];

/// Too small for a goal: one sentence is several per cent.
fn is_small(part: &str) -> bool {
    ["readers", "week", "users"].iter().any(|batch| part.starts_with(batch))
}

/// Folders that were examinations: all of them is training now.
fn was_examination(part: &str) -> bool {
    part.starts_with("elsewhere")
}

struct Example {
    prompt: String,
    constraints: Vec<String>,
}

/// Both parts of the corpus. What is wrong in the held-out part is only counted: rules must not follow it.
pub(crate) fn evaluate() -> Done {
    let mut missed = Vec::new();
    for language in LANGUAGES {
        for (part, is_held_out) in PARTS {
            let examples = read_examples(&part_file(part, language), language)?;
            let counts = Counts::of(&examples, !is_held_out);
            print::line(&format!("{language}, {part}: {}", counts.summary()));
            if is_held_out && !is_small(part) {
                missed.extend(
                    counts.missed_goals().into_iter().map(|what| format!("{language}, {part}: {what}")),
                );
            }
        }
        for part in lift::PARTS {
            let lifts = lift::Counts::of_part(part, language)?;
            print::line(&format!("{language}, {part}, taken back: {}", lifts.summary()));
            if part == "held-out" {
                missed.extend(lifts.missed_goals().into_iter().map(|what| format!("{language}: {what}")));
            }
        }
    }
    if missed.is_empty() {
        return Ok(());
    }
    Err(Failure::new(format!("the classifier misses its goals:\n  {}", missed.join("\n  ")))
        .next("better rules, chosen by the training part; what is held out stays as it is"))
}

/// Examples from elsewhere, in the form of the corpus: `constraints.LANGUAGE.jsonl` and `lift.LANGUAGE.jsonl`. Only figures
/// are printed, so that a set can be an examination.
pub(crate) fn evaluate_set(folder: &str) -> Done {
    for language in LANGUAGES {
        let file = |kind: &str| Path::new(folder).join(format!("{kind}.{language}.jsonl"));
        let examples = read_examples(&file("constraints"), language)?;
        print::line(&format!("{language}: {}", Counts::of(&examples, false).summary()));
        let lifts = file("lift");
        if lifts.exists() {
            let counts = lift::Counts::of(&lift::read_pairs(&lifts, language)?, false);
            print::line(&format!("{language}, taken back: {}", counts.summary()));
        }
    }
    Ok(())
}

fn part_file(part: &str, language: &str) -> PathBuf {
    let file = if was_examination(part) { format!("{part}/constraints") } else { part.to_owned() };
    workspace::root().join(format!("corpus/constraint/{file}.{language}.jsonl"))
}

fn read_examples(path: &Path, language: &str) -> Done<Vec<Example>> {
    read_lines(path, |line| parse_example(line, language))
}

fn read_lines<T>(path: &Path, parse: impl Fn(&str) -> Option<T>) -> Done<Vec<T>> {
    let text = fs::read_to_string(path).while_(path.display())?;
    let example = |(number, line): (usize, &str)| {
        parse(line).ok_or_else(|| {
            Failure::new(format!("{}:{}: not as the README says: {line}", path.display(), number + 1))
        })
    };
    text.lines().enumerate().map(example).collect()
}

fn parse_example(line: &str, language: &str) -> Option<Example> {
    let entry: Value = serde_json::from_str(line).ok()?;
    let known = entry.as_object()?.len() == 3 && entry["lang"] == language;
    known.then_some(())?;
    let prompt = entry["prompt"].as_str()?.to_owned();
    let constraints = entry["constraints"].as_array()?.iter().map(|text| text.as_str().map(str::to_owned));
    let constraints: Vec<String> = constraints.collect::<Option<_>>()?;
    constraints.iter().all(|text| prompt.contains(text)).then_some(Example { prompt, constraints })
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
        for Example { prompt, constraints } in examples {
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

    fn missed_goals(self) -> Vec<String> {
        goals::missed([("precision", self.precision(), PRECISION), ("recall", self.recall(), RECALL)])
    }
}

/// Not a number if there is nothing to divide by, which reaches no goal.
fn percent(part: usize, of: usize) -> f64 {
    100.0 * part as f64 / of as f64
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use tidegate_core::text::fnv;

    use super::*;

    fn expect<T>(done: Done<T>) -> T {
        done.unwrap_or_else(|failure| panic!("{}", failure.text()))
    }

    #[test]
    fn the_held_out_sentences_are_judged_well_enough() {
        expect(evaluate());
    }

    #[test]
    fn the_hash_of_a_prompt_decides_its_part() {
        let mut seen = BTreeSet::new();
        for language in LANGUAGES {
            for (part, is_held_out) in PARTS {
                let mut meant = 0;
                for Example { prompt, constraints } in
                    expect(read_examples(&part_file(part, language), language))
                {
                    let hash = fnv::hash(prompt.bytes());
                    let is_first = matches!(part, "train" | "held-out");
                    let held_out = if is_first { hash % 5 < 2 } else { hash % 2 == 0 };
                    assert_eq!(held_out && !was_examination(part), is_held_out, "{prompt}");
                    meant += constraints.len();
                    assert!(seen.insert(prompt.clone()), "twice: {prompt}");
                }
                assert!(meant >= if is_small(part) { 5 } else { 30 }, "{part} {language}: {meant}");
            }
        }
    }
}
