//! The labelled prompts: one folder an author, in `corpus/constraint`.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::phase;
use xtask::failure::{Done, Failure, While};
use xtask::workspace;

/// Nothing is learned from folders whose name begins with it.
pub(super) const EXAM: &str = "exam-";

/// The examination that nothing was chosen by: it has goals of its own.
pub(super) const CLEAN: &str = "exam-5";

pub(super) struct Example {
    pub(super) prompt: String,
    pub(super) constraints: Vec<String>,
    /// Sentences about which people would disagree: nothing is learned from them.
    pub(super) doubtful: Vec<String>,
}

/// Prompts of usual days.
pub(super) const DAILY: &str = "daily";

const STRETCHES: usize = 4;

/// The prompts of one author.
pub(super) struct Batch {
    pub(super) name: String,
    pub(super) examples: Vec<Example>,
}

pub(super) fn training(language: &str) -> Done<Vec<Batch>> {
    let mut batches = batches(language, |name| !name.starts_with(EXAM))?;
    batches.extend(daily(language)?);
    Ok(batches)
}

/// The prompts from which the phases are learned: most of a day's prompts have no constraint. Those that have one, or are
/// doubtful (`? `), are listed.
fn daily(language: &str) -> Done<Vec<Batch>> {
    let path = folder().join(format!("daily.{language}.txt"));
    let text = fs::read_to_string(&path).while_(path.display())?;
    let prompts = phase::prompts(language)?;
    for listed in text.lines() {
        let sentence = listed.strip_prefix("? ").unwrap_or(listed);
        if sentence.is_empty() || !prompts.iter().any(|prompt| prompt.contains(sentence)) {
            return Err(Failure::new(format!("{}: in no prompt: {listed}", path.display())));
        }
    }
    let among = |prompt: &str, sentences: &[&str]| -> Vec<String> {
        sentences
            .iter()
            .filter(|sentence| prompt.contains(**sentence))
            .map(|&sentence| sentence.to_owned())
            .collect()
    };
    let doubtful: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("? ")).collect();
    let meant: Vec<&str> = text.lines().filter(|line| !line.starts_with("? ")).collect();
    let mut examples: Vec<Example> = prompts
        .into_iter()
        .map(|prompt| Example {
            constraints: among(&prompt, &meant),
            doubtful: among(&prompt, &doubtful),
            prompt,
        })
        .collect();
    // Several hands wrote them, one after the other.
    let share = examples.len() / STRETCHES + 1;
    let mut batches = Vec::new();
    while !examples.is_empty() {
        let rest = examples.split_off(share.min(examples.len()));
        batches.push(Batch { name: format!("{DAILY}, {}", batches.len() + 1), examples });
        examples = rest;
    }
    Ok(batches)
}

pub(super) fn exams(language: &str) -> Done<Vec<Batch>> {
    batches(language, |name| name.starts_with(EXAM))
}

fn batches(language: &str, is_wanted: impl Fn(&str) -> bool) -> Done<Vec<Batch>> {
    let mut batches = Vec::new();
    for name in authors()?.into_iter().filter(|name| is_wanted(name)) {
        let examples = read_examples(&folder().join(&name), language)?;
        batches.push(Batch { name, examples });
    }
    Ok(batches)
}

pub(super) fn folder() -> PathBuf {
    workspace::root().join("corpus/constraint")
}

/// In the order of their names, so that training does not depend on the file system.
pub(super) fn authors() -> Done<Vec<String>> {
    let folder = folder();
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder).while_(folder.display())? {
        let entry = entry.while_(folder.display())?;
        if entry.path().is_dir() {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort_unstable();
    Ok(names)
}

pub(super) fn read_examples(folder: &Path, language: &str) -> Done<Vec<Example>> {
    let path = folder.join(format!("constraints.{language}.jsonl"));
    read_lines(&path, |line| parse_example(line, language))
}

pub(super) fn read_lines<T>(path: &Path, parse: impl Fn(&str) -> Option<T>) -> Done<Vec<T>> {
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
    constraints.iter().all(|text| prompt.contains(text)).then_some(Example {
        prompt,
        constraints,
        doubtful: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::phase::LANGUAGES;

    fn expect<T>(done: Done<T>) -> T {
        done.unwrap_or_else(|failure| panic!("{}", failure.text()))
    }

    /// "ok, next" may be: nothing can be learned from it that an examination asks for.
    #[test]
    fn no_prompt_with_a_constraint_is_in_training_and_in_the_clean_examination() {
        for language in LANGUAGES {
            let learned: BTreeSet<String> = expect(training(language))
                .into_iter()
                .flat_map(|batch| batch.examples)
                .map(|example| example.prompt)
                .collect();
            let clean = expect(batches(language, |name| name.starts_with(CLEAN)));
            assert!(!clean.is_empty(), "{language}");
            for example in clean.into_iter().flat_map(|batch| batch.examples) {
                let is_new = example.constraints.is_empty() || !learned.contains(&example.prompt);
                assert!(is_new, "{}", example.prompt);
            }
        }
    }
}
