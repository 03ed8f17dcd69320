//! The classifier's training and test data: `corpus/phase`.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use tidegate_core::feature::activity::classifier::Phase;

use xtask::failure::{Done, Failure, While};
use xtask::workspace;

/// As in the file names, and in the order of the parameter file.
pub(crate) const LANGUAGES: [&str; 2] = ["en", "ja"];

/// Prompts per frame.
const FILLED: usize = 6;

/// The weight of a filled frame against a prompt written by a person.
const FRAME_WEIGHT: f64 = 0.3;

#[derive(Clone, Debug)]
pub(crate) struct Example {
    pub(crate) phase: Phase,
    pub(crate) hard: bool,
    pub(crate) prompt: String,
    /// In training.
    pub(crate) weight: f64,
}

pub(crate) fn read_file(name: &str) -> Done<(PathBuf, String)> {
    let path = workspace::root().join("corpus/phase").join(name);
    let text = fs::read_to_string(&path).while_(path.display())?;
    Ok((path, text))
}

/// `part` is the beginning of a file's name.
pub(crate) fn read_examples(part: &str, language: &str) -> Done<Vec<Example>> {
    let (path, text) = read_file(&format!("{part}.{language}.jsonl"))?;
    let example = |(number, line): (usize, &str)| {
        parse_example(line, language).ok_or_else(|| {
            Failure::new(format!("{}:{}: not as the README says: {line}", path.display(), number + 1))
        })
    };
    text.lines().enumerate().map(example).collect()
}

fn parse_example(line: &str, language: &str) -> Option<Example> {
    let entry: Value = serde_json::from_str(line).ok()?;
    let known = entry.as_object()?.len() == 4 && entry["lang"] == language;
    known.then_some(())?;
    Some(Example {
        phase: Phase::named(entry["label"].as_str()?)?,
        hard: entry["hard"].as_bool()?,
        prompt: entry["prompt"].as_str()?.to_owned(),
        weight: 1.0,
    })
}

/// For training only.
pub(crate) fn filled_frames(language: &str) -> Done<Vec<Example>> {
    let (path, text) = read_file(&format!("frames.{language}.txt"))?;
    let mut holes: [(&str, Vec<&str>); 2] = [("{x}", Vec::new()), ("{f}", Vec::new())];
    let mut examples = Vec::new();
    let mut next = 0;
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let wrong = || Failure::new(format!("{}: cannot read {line:?}", path.display()));
        let (label, frame) = line.split_once(": ").ok_or_else(wrong)?;
        if let Some((_, words)) = holes.iter_mut().find(|(hole, _)| *hole == label) {
            *words = frame.split(", ").collect();
            continue;
        }
        let phase = Phase::named(label).ok_or_else(wrong)?;
        for _ in 0..FILLED {
            let mut prompt = frame.to_owned();
            for (hole, words) in &holes {
                while let Some(at) = prompt.find(hole) {
                    // A step without a common divisor visits every word before it repeats one.
                    next += 17;
                    let word = words.get(next % words.len().max(1)).ok_or_else(wrong)?;
                    prompt.replace_range(at..at + hole.len(), word);
                }
            }
            examples.push(Example { phase, hard: true, prompt, weight: FRAME_WEIGHT });
        }
    }
    Ok(examples)
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    fn expect<T>(done: Done<T>) -> T {
        done.unwrap_or_else(|failure| panic!("{}", failure.text()))
    }

    fn plain(prompt: &str) -> String {
        let prompt = prompt.to_lowercase();
        prompt.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// A prompt in both parts would be measured after having been learned.
    #[test]
    fn every_prompt_is_whole_and_stands_once() {
        let mut seen = BTreeSet::new();
        for (part, least) in [("train", 200), ("held-out", 20), ("short", 2), ("short-2", 2)] {
            for language in LANGUAGES {
                let mut counts: BTreeMap<Phase, usize> = BTreeMap::new();
                for example in expect(read_examples(part, language)) {
                    *counts.entry(example.phase).or_default() += 1;
                    let prompt = plain(&example.prompt);
                    assert!(!prompt.is_empty() && seen.insert(prompt), "twice, or empty: {}", example.prompt);
                }
                let enough = counts.len() == Phase::ALL.len() && counts.values().all(|count| *count >= least);
                assert!(enough, "{part} {language}: {counts:?}");
            }
        }
    }

    #[test]
    fn no_frame_makes_a_prompt_that_is_measured_on() {
        for language in LANGUAGES {
            let held_out: BTreeSet<String> = expect(read_examples("held-out", language))
                .iter()
                .map(|example| plain(&example.prompt))
                .collect();
            let frames = expect(filled_frames(language));
            assert!(frames.len() > 500, "{}", frames.len());
            for example in frames {
                assert!(!example.prompt.contains('{'), "a hole is left: {}", example.prompt);
                assert!(!held_out.contains(&plain(&example.prompt)), "{}", example.prompt);
            }
        }
    }
}
