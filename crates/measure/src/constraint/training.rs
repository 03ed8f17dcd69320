//! `cargo xtask train-constraints`: the parameters of the classifier, and what they are worth by cross-validation.
//!
//! Training gives the same bits on every machine, as that of the phases does. Cross-validation leaves out whole authors, a
//! part of them at a time: sentences by one hand resemble each other, and people who will use the classifier resemble none of
//! them.

use std::fs;
use std::path::PathBuf;

use tidegate_core::feature::knowledge::constraint::classifier::CLAUSE_MARGIN;
use tidegate_core::feature::knowledge::constraint::classifier::table::WeightTable;

use super::examples::{self, Batch, DAILY};
use super::model::{Sentence, Settings, sentences_of, train_model};
use super::percent;
use crate::phase::LANGUAGES;
use xtask::failure::{Done, Failure, While};
use xtask::print;
use xtask::workspace;

/// Chosen by `cargo xtask train-constraints --cross-validate`.
const SETTINGS: [Settings; LANGUAGES.len()] = [
    Settings { decay: 4e-6, rows: 18_000, threshold: 0.50 },
    Settings { decay: 6e-6, rows: 20_000, threshold: 1.15 },
];

/// Parts of the authors in cross-validation.
const PARTS: usize = 4;

pub(crate) fn check() -> Done {
    let path = parameter_file();
    let (written, trained) = (fs::read(&path).while_(path.display())?, train_parameters()?);
    if written == trained {
        print::line(&format!("    {} KiB, as the corpus says", trained.len() / 1024));
        return Ok(());
    }
    Err(Failure::new(format!("{} is not what training makes", path.display()))
        .next("`cargo xtask train-constraints --write`, then `cargo xtask eval-constraints`"))
}

pub(crate) fn write() -> Done {
    let (path, trained) = (parameter_file(), train_parameters()?);
    fs::write(&path, &trained).while_(path.display())?;
    print::line(&format!("    {} KiB written to {}", trained.len() / 1024, path.display()));
    Ok(())
}

fn parameter_file() -> PathBuf {
    workspace::root().join("crates/core/src/feature/knowledge/constraint/classifier/parameters.bin")
}

fn train_parameters() -> Done<Vec<u8>> {
    let mut file = Vec::new();
    for (language, settings) in LANGUAGES.into_iter().zip(&SETTINGS) {
        let batches = examples::training(language)?;
        let sentences: Vec<Sentence> =
            batches.iter().flat_map(|batch| batch.examples.iter().flat_map(sentences_of)).collect();
        let model = train_model(&sentences.iter().collect::<Vec<_>>(), settings);
        file.extend(model.encode(settings.threshold));
    }
    Ok(file)
}

pub(crate) fn cross_validate(shows_wrong: bool) -> Done {
    let texts = std::thread::scope(|scope| {
        let threads: Vec<_> = LANGUAGES
            .into_iter()
            .zip(&SETTINGS)
            .map(|(language, settings)| {
                scope.spawn(move || cross_validate_language(language, settings, shows_wrong))
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("training does not panic")).collect::<Vec<_>>()
    });
    for lines in texts {
        lines?.iter().for_each(|line| print::line(line));
    }
    Ok(())
}

fn cross_validate_language(language: &str, settings: &Settings, shows_wrong: bool) -> Done<Vec<String>> {
    let batches = examples::training(language)?;
    let sentences: Vec<Vec<Sentence>> = batches
        .iter()
        .map(|Batch { examples, .. }| examples.iter().flat_map(sentences_of).collect())
        .collect();
    let mut lines = Vec::new();
    let (mut of_authors, mut of_days) = (Vec::new(), Vec::new());
    for part in 0..PARTS {
        let others = sentences.iter().enumerate().filter(|(at, _)| at % PARTS != part);
        let rest: Vec<&Sentence> = others.flat_map(|(_, sentences)| sentences).collect();
        let section = train_model(&rest, settings).encode(settings.threshold);
        let (table, _) = WeightTable::section(&section).ok_or_else(|| Failure::new("no table"))?;
        let scored = |sentence: &Sentence| {
            let clauses = sentence.clauses.iter().map(|clause| table.score(&clause.features) - CLAUSE_MARGIN);
            (clauses.fold(table.score(&sentence.features), f64::max), sentence.is_constraint)
        };
        for left_out in (0..batches.len()).filter(|at| at % PARTS == part) {
            let name = &batches[left_out].name;
            let judged: Vec<_> = sentences[left_out].iter().map(scored).collect();
            lines.push(format!("    {language}, without {name}: {}", summary(&judged, 0.0)));
            for (sentence, (score, is_one)) in sentences[left_out].iter().zip(&judged) {
                if shows_wrong && (*score > 0.0) != *is_one {
                    let what = if *is_one { "is one" } else { "is none" };
                    lines.push(format!("        {what}, {score:.2}: {:?}", sentence.text));
                }
            }
            let is_daily = name.starts_with(DAILY);
            if is_daily { &mut of_days } else { &mut of_authors }.extend(judged);
        }
    }
    for step in -8..=8 {
        let above = f64::from(step) / 4.0;
        let threshold = settings.threshold + above;
        lines.push(format!("{language}, at {threshold:.2}: {}", summary(&of_authors, above)));
        lines.push(format!("    of usual days: {}", summary(&of_days, above)));
    }
    Ok(lines)
}

/// Of scores with what each sentence is.
fn summary(judged: &[(f64, bool)], above: f64) -> String {
    let meant = judged.iter().filter(|(_, is_one)| *is_one).count();
    let found: Vec<_> = judged.iter().filter(|(score, _)| *score > above).collect();
    let right = found.iter().filter(|(_, is_one)| *is_one).count();
    format!(
        "precision {:.1}% ({right} of {}), recall {:.1}% ({right} of {meant})",
        percent(right, found.len()),
        found.len(),
        percent(right, meant)
    )
}
