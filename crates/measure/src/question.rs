//! `cargo xtask eval-question`: how often verify-stop tells right whether a last message waits for the person, and a
//! cycle whether it asks them anything.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tidegate_core::text::fnv;
use tidegate_core::text::question::{asks_person, needs_answer};

use crate::goals;
use crate::phase::LANGUAGES;
use xtask::failure::{Done, Failure, While};
use xtask::print;
use xtask::workspace;

/// Per cent of the held-out messages of a language. A wrong *needs-answer* ends a turn with unverified code.
const PRECISION: f64 = 95.0;
const RECALL: f64 = 75.0;

/// The same for messages that ask anything: a missed one runs over the person's decision.
const ASKS_PRECISION: f64 = 90.0;
const ASKS_RECALL: f64 = 90.0;

type Judge = fn(&str) -> bool;

struct Example {
    waits: bool,
    message: String,
}

/// Both parts of the corpus. What is wrong in the held-out part is only counted: rules must not follow it.
pub(crate) fn evaluate() -> Done {
    let mut missed = Vec::new();
    for language in LANGUAGES {
        for part in ["train", "held-out"] {
            let examples = read_examples(&part_file(part, language), Some(language))?;
            let counts = Confusion::of(&examples, needs_answer);
            print::line(&format!("{language}, {part}: {}", counts.summary()));
            counts.table().iter().for_each(|line| print::line(line));
            if part == "train" {
                print_wrong(&examples, needs_answer);
            } else {
                let goals = counts.missed_goals(PRECISION, RECALL);
                missed.extend(goals.into_iter().map(|what| format!("{language}: {what}")));
            }
        }
        let asks = read_examples(&part_file("asks", language), Some(language))?;
        let (held_out, train): (Vec<_>, Vec<_>) = asks.into_iter().partition(|one| is_held_out(&one.message));
        let counts = Confusion::of(&train, asks_person);
        print::line(&format!("{language}, asks, train: {}", counts.summary()));
        print_wrong(&train, asks_person);
        let counts = Confusion::of(&held_out, asks_person);
        print::line(&format!("{language}, asks, held-out: {}", counts.summary()));
        let goals = counts.missed_goals(ASKS_PRECISION, ASKS_RECALL);
        missed.extend(goals.into_iter().map(|what| format!("{language}, asks: {what}")));
    }
    if missed.is_empty() {
        return Ok(());
    }
    Err(Failure::new(format!("the classifier misses its goals:\n  {}", missed.join("\n  ")))
        .next("better phrases, chosen by the training part; what is held out stays as it is"))
}

/// Messages from elsewhere, in the form of the corpus.
pub(crate) fn evaluate_file(path: &str) -> Done {
    let examples = read_examples(Path::new(path), None)?;
    let counts = Confusion::of(&examples, needs_answer);
    print::line(&counts.summary());
    counts.table().iter().for_each(|line| print::line(line));
    Ok(())
}

fn is_held_out(message: &str) -> bool {
    fnv::hash(message.bytes()) % 5 < 2
}

fn part_file(part: &str, language: &str) -> std::path::PathBuf {
    workspace::root().join(format!("corpus/question/{part}.{language}.jsonl"))
}

fn read_examples(path: &Path, language: Option<&str>) -> Done<Vec<Example>> {
    let text = fs::read_to_string(path).while_(path.display())?;
    let example = |(number, line): (usize, &str)| {
        parse_example(line, language).ok_or_else(|| {
            Failure::new(format!("{}:{}: not as the README says: {line}", path.display(), number + 1))
        })
    };
    text.lines().enumerate().map(example).collect()
}

fn parse_example(line: &str, language: Option<&str>) -> Option<Example> {
    let entry: Value = serde_json::from_str(line).ok()?;
    let known = entry.as_object()?.len() == 3 && language.is_none_or(|language| entry["lang"] == language);
    known.then_some(())?;
    let waits = match entry["label"].as_str()? {
        "needs-answer" | "asks" => true,
        "no" => false,
        _ => return None,
    };
    Some(Example { waits, message: entry["message"].as_str()?.to_owned() })
}

fn print_wrong(examples: &[Example], judge: Judge) {
    for example in examples.iter().filter(|example| judge(&example.message) != example.waits) {
        let meant = if example.waits { "yes" } else { "no" };
        print::line(&format!("    is {meant}: {:?}", example.message));
    }
}

/// By what was meant and what was answered.
#[derive(Clone, Copy, Default)]
struct Confusion {
    counts: [[u32; 2]; 2],
}

impl Confusion {
    fn of(examples: &[Example], judge: Judge) -> Confusion {
        let mut confusion = Confusion::default();
        for example in examples {
            let answer = judge(&example.message);
            confusion.counts[usize::from(example.waits)][usize::from(answer)] += 1;
        }
        confusion
    }

    fn precision(self) -> f64 {
        percent(self.counts[1][1], self.counts[0][1])
    }

    fn recall(self) -> f64 {
        percent(self.counts[1][1], self.counts[1][0])
    }

    fn summary(self) -> String {
        let all: u32 = self.counts.iter().flatten().sum();
        format!("{all} messages, precision {:.1}%, recall {:.1}%", self.precision(), self.recall())
    }

    fn table(self) -> [String; 3] {
        let row = |meant: &str, [no, waits]: [u32; 2]| format!("    {meant:<14}{waits:>14}{no:>6}");
        [
            format!("    {:<14}{:>14}{:>6}", "meant", "needs-answer", "no"),
            row("needs-answer", self.counts[1]),
            row("no", self.counts[0]),
        ]
    }

    fn missed_goals(self, precision: f64, recall: f64) -> Vec<String> {
        goals::missed([("precision", self.precision(), precision), ("recall", self.recall(), recall)])
    }
}

/// Not a number if there is nothing to divide by, which reaches no goal.
fn percent(right: u32, wrong: u32) -> f64 {
    100.0 * f64::from(right) / f64::from(right + wrong)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn expect<T>(done: Done<T>) -> T {
        done.unwrap_or_else(|failure| panic!("{}", failure.text()))
    }

    #[test]
    fn the_held_out_messages_are_judged_well_enough() {
        expect(evaluate());
    }

    #[test]
    fn the_hash_of_a_message_decides_its_part() {
        let mut seen = BTreeSet::new();
        for language in LANGUAGES {
            for part in ["train", "held-out"] {
                let mut counts = [0; 2];
                for Example { waits, message } in
                    expect(read_examples(&part_file(part, language), Some(language)))
                {
                    assert_eq!(is_held_out(&message), part == "held-out", "{message}");
                    counts[usize::from(waits)] += 1;
                    assert!(seen.insert(message.clone()), "twice: {message}");
                }
                assert!(counts.iter().all(|count| *count >= 70), "{part} {language}: {counts:?}");
            }
        }
    }
}
