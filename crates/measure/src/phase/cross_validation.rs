//! `cargo xtask train-phase --cross-validate`: accuracy on prompts by another author.
//!
//! The training files were written in batches. Each fold is a stretch of a file, so that most prompts of
//! similar style are left out with it; folds drawn at random would look far better.

use std::fmt::Write as _;

use tidegate_core::feature::activity::classifier::features::Language;
use tidegate_core::feature::activity::classifier::table;
use tidegate_core::feature::activity::classifier::table::{PHASES, WeightTable};

use super::model::{self, LabelledPrompt};
use super::{Examples, SETTINGS, each_language};
use xtask::failure::{Done, Failure};
use xtask::print;

const PARTS: usize = 8;

pub(crate) fn run() -> Done {
    for report in each_language(judge_language) {
        print::line(&report?);
    }
    Ok(())
}

fn judge_language(number: usize, language: &str) -> Done<String> {
    let examples = Examples::read(language)?;
    let count = examples.written.len();
    let mut judged: Vec<([f64; PHASES], usize)> = Vec::new();
    let mut parts = String::new();
    for part in 0..PARTS {
        let left_out = part * count / PARTS..(part + 1) * count / PARTS;
        let rest = examples.written.iter().enumerate().filter(|(at, _)| !left_out.contains(at));
        let documents: Vec<&LabelledPrompt> =
            rest.map(|(_, document)| document).chain(&examples.framed).collect();
        let mut file = examples.lexicon.clone();
        file.extend(model::train_model(&documents, &SETTINGS[number]).encode(1.0));
        // Sections do not depend on the language of the file.
        let table = WeightTable::read(&file, Language::English).ok_or_else(|| Failure::new("no table"))?;
        let before = judged.len();
        for document in &examples.written[left_out] {
            judged.push((table.scores(&document.features), document.phase as usize));
        }
        let _ = write!(parts, " {:.1}", accuracy(judged[before..].iter()));
    }
    let hard = judged.iter().zip(&examples.hard).filter(|(_, hard)| **hard).map(|(judged, _)| judged);
    let best = (20..=200).map(|step| f64::from(step) / 100.0).min_by(|one, other| {
        let (one, other) = (cross_entropy(&judged, *one), cross_entropy(&judged, *other));
        one.total_cmp(&other)
    });
    let temperature = best.unwrap_or(1.0);
    Ok(format!(
        "{language}: {:.2}% of {count}, hard {:.2}%; by part{parts}; best temperature {temperature:.2} \
         (mean surprise {:.4}, {:.4} at {})",
        accuracy(judged.iter()),
        accuracy(hard),
        cross_entropy(&judged, temperature),
        cross_entropy(&judged, SETTINGS[number].temperature),
        SETTINGS[number].temperature,
    ))
}

fn accuracy<'a>(judged: impl Iterator<Item = &'a ([f64; PHASES], usize)>) -> f64 {
    let (mut right, mut all) = (0_u32, 0_u32);
    for (scores, label) in judged {
        right += u32::from(table::best_guess(scores).phase as usize == *label);
        all += 1;
    }
    100.0 * f64::from(right) / f64::from(all.max(1))
}

/// Cross-entropy of the right phases at this temperature.
fn cross_entropy(judged: &[([f64; PHASES], usize)], temperature: f64) -> f64 {
    let one = |(scores, label): &([f64; PHASES], usize)| {
        let sum: f64 = scores.iter().map(|score| ((score - scores[*label]) / temperature).exp()).sum();
        sum.ln()
    };
    judged.iter().map(one).sum::<f64>() / judged.len() as f64
}
