//! `cargo xtask train-phase` and `cargo xtask eval-phase`: trains and measures the phase classifier.
//!
//! Training gives the same bits on every machine: one thread per language, a fixed order, and only additions,
//! multiplications, divisions, square roots and an exponential function in Rust, none of which depend on the
//! platform. So the committed file is compared without tolerance.

mod corpus;
mod cross_validation;
mod evaluation;
mod lexicon;
mod model;

use std::fs;
use std::path::PathBuf;

use tidegate_core::feature::activity::classifier::lexicon::Lexicon;

use model::{LabelledPrompt, Settings};
use xtask::failure::{Done, Failure, While};
use xtask::print;
use xtask::workspace;

pub(crate) use corpus::LANGUAGES;
pub(crate) use cross_validation::run as cross_validate;
pub(crate) use evaluation::run as evaluate;

/// Chosen by `cargo xtask train-phase --cross-validate`, which does not use the held-out prompts.
const SETTINGS: [Settings; LANGUAGES.len()] = [
    Settings { decay: 8e-6, rows: 28_000, temperature: 0.65 },
    Settings { decay: 8e-6, rows: 20_000, temperature: 0.72 },
];

pub(crate) fn check() -> Done {
    let path = parameter_file();
    let (written, trained) = (fs::read(&path).while_(path.display())?, train_parameters()?);
    if written == trained {
        print::line(&format!("    {} KiB, as the corpus says", trained.len() / 1024));
        return Ok(());
    }
    let at = written.iter().zip(&trained).take_while(|(written, trained)| written == trained).count();
    let what = format!(
        "{} is not what training makes: {} bytes instead of {}, the first that differs is {at}",
        path.display(),
        written.len(),
        trained.len()
    );
    Err(Failure::new(what).next("`cargo xtask train-phase --write`, then `cargo xtask eval-phase`"))
}

pub(crate) fn write() -> Done {
    let (path, trained) = (parameter_file(), train_parameters()?);
    fs::write(&path, &trained).while_(path.display())?;
    print::line(&format!("    {} KiB written to {}", trained.len() / 1024, path.display()));
    Ok(())
}

fn parameter_file() -> PathBuf {
    workspace::root().join("crates/core/src/feature/activity/classifier/parameters.bin")
}

/// The content of the parameter file.
fn train_parameters() -> Done<Vec<u8>> {
    let mut file = Vec::new();
    for section in each_language(|number, language| {
        let examples = Examples::read(language)?;
        let documents: Vec<&LabelledPrompt> = examples.written.iter().chain(&examples.framed).collect();
        let settings = &SETTINGS[number];
        let mut section = examples.lexicon;
        section.extend(model::train_model(&documents, settings).encode(settings.temperature));
        Ok(section)
    }) {
        file.extend(section?);
    }
    Ok(file)
}

/// Those that are learned from.
pub(crate) fn prompts(language: &str) -> Done<Vec<String>> {
    let examples = corpus::read_examples("train", language)?;
    Ok(examples.into_iter().map(|example| example.prompt).collect())
}

/// For timing.
pub(crate) fn held_out() -> Done<Vec<String>> {
    let mut prompts = Vec::new();
    for language in LANGUAGES {
        prompts
            .extend(corpus::read_examples("held-out", language)?.into_iter().map(|example| example.prompt));
    }
    Ok(prompts)
}

/// In parallel.
fn each_language<T: Send>(work: impl Fn(usize, &'static str) -> T + Sync) -> Vec<T> {
    std::thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> = LANGUAGES
            .into_iter()
            .enumerate()
            .map(|(number, language)| scope.spawn(move || work(number, language)))
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("training does not panic")).collect()
    })
}

struct Examples {
    lexicon: Vec<u8>,
    /// Written by people, in the order of the file.
    written: Vec<LabelledPrompt>,
    hard: Vec<bool>,
    framed: Vec<LabelledPrompt>,
}

impl Examples {
    fn read(language: &str) -> Done<Examples> {
        let bytes = lexicon::encode(language)?;
        let (lexicon, _) =
            Lexicon::read(&bytes).ok_or_else(|| Failure::new("a lexicon that cannot be read"))?;
        let examples = corpus::read_examples("train", language)?;
        let documents = |examples: &[corpus::Example]| {
            examples.iter().map(|example| LabelledPrompt::of(example, lexicon)).collect()
        };
        Ok(Examples {
            written: documents(&examples),
            hard: examples.iter().map(|example| example.hard).collect(),
            framed: documents(&corpus::filled_frames(language)?),
            lexicon: bytes,
        })
    }
}
