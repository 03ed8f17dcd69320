//! Logistic regression over the features of sentences, reduced to the features that matter and written as the table that the
//! classifier reads.

use std::collections::HashMap;
use std::ops::Range;

use tidegate_core::feature::activity::classifier::exponential::exp;
use tidegate_core::feature::knowledge::constraint::OwnWords;
use tidegate_core::feature::knowledge::constraint::classifier::clauses::clauses;
use tidegate_core::feature::knowledge::constraint::classifier::features::Features;
use tidegate_core::feature::knowledge::constraint::classifier::table::{BUCKETS, scale, split_hash};

use super::examples::Example;
use crate::learning::descent::minimise;
use crate::learning::logarithm::ln;

/// Chosen by cross-validation on the training folders.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    /// The L2 penalty.
    pub(super) decay: f64,
    /// The number of features to keep.
    pub(super) rows: usize,
    /// The score from which on a sentence is a constraint.
    pub(super) threshold: f64,
}

/// A feature must be in this many sentences.
const LEAST: usize = 2;

/// Iterations to select features, then to fit their weights.
const STEPS: [usize; 2] = [20, 50];

/// Where the gradient counts as zero.
const LEVEL: f64 = 1e-5;

pub(super) struct Sentence {
    pub(super) text: String,
    pub(super) features: Features,
    pub(super) is_constraint: bool,
    pub(super) clauses: Vec<Clause>,
}

pub(super) struct Clause {
    pub(super) features: Features,
    /// Unknown where the whole sentence was labelled.
    pub(super) is_constraint: Option<bool>,
}

/// The sentences of a prompt in the person's own words.
pub(super) fn sentences_of(example: &Example) -> Vec<Sentence> {
    let start_of = |text: &str| text.as_ptr() as usize - example.prompt.as_ptr() as usize;
    let labelled = |labels: &[String], text: &str| -> Option<Range<usize>> {
        let start = start_of(text);
        let occurrences = labels.iter().flat_map(|label| {
            example.prompt.match_indices(label.as_str()).map(|(at, label)| at..at + label.len())
        });
        occurrences.into_iter().find(|label| label.start < start + text.len() && start < label.end)
    };
    let own = OwnWords::of(&example.prompt);
    own.places()
        .filter(|place| labelled(&example.doubtful, place.sentence).is_none())
        .map(|place| {
            let label = labelled(&example.constraints, place.sentence);
            let start = start_of(place.sentence);
            let parts = clauses(place.sentence);
            // A label that leaves out a clause says which ones are meant.
            let is_whole = label.as_ref().is_some_and(|label| {
                parts.iter().all(|part| start + part.start < label.end && label.start < start + part.end)
            });
            let clauses = parts.into_iter().map(|part| Clause {
                is_constraint: (!is_whole)
                    .then(|| labelled(&example.constraints, &place.sentence[part.clone()]).is_some()),
                features: Features::of(place.clause(part)),
            });
            Sentence {
                text: place.sentence.to_owned(),
                features: Features::of(place),
                is_constraint: label.is_some(),
                clauses: clauses.collect(),
            }
        })
        .collect()
}

/// The classifier identifies a feature by these bits.
fn feature_key(hash: u32) -> u32 {
    let (bucket, lower) = split_hash(hash);
    (bucket as u32) << 16 | u32::from(lower)
}

pub(super) struct Model {
    /// Ascending.
    keys: Vec<u32>,
    weights: Vec<f64>,
    bias: f64,
}

/// A sentence or a clause with its label.
type Row<'s> = (&'s Features, bool);

/// A clause is judged as if it stood alone, and learned from like that.
pub(super) fn train_model(sentences: &[&Sentence], settings: &Settings) -> Model {
    let mut rows: Vec<Row<'_>> = Vec::new();
    for sentence in sentences {
        rows.push((&sentence.features, sentence.is_constraint));
        let known = |clause: &'_ Clause| clause.is_constraint;
        rows.extend(sentence.clauses.iter().filter_map(|clause| Some((&clause.features, known(clause)?))));
    }
    let language = sentences.first().map(|sentence| sentence.features.language);
    rows.retain(|(features, _)| Some(features.language) == language);
    let rows = &rows;
    let first = fit_weights(frequent_keys(rows), rows, settings, STEPS[0]);
    let mut order: Vec<usize> = (0..first.keys.len()).collect();
    order.sort_by(|one, other| {
        first.weights[*other].abs().total_cmp(&first.weights[*one].abs()).then(one.cmp(other))
    });
    order.truncate(settings.rows);
    order.sort_unstable();
    let kept = order.into_iter().map(|row| first.keys[row]).collect();
    fit_weights(kept, rows, settings, STEPS[1])
}

fn frequent_keys(rows: &[Row<'_>]) -> Vec<u32> {
    let mut all = Vec::new();
    for (features, _) in rows {
        let mut keys: Vec<u32> = features.hashes.iter().map(|hash| feature_key(*hash)).collect();
        keys.sort_unstable();
        keys.dedup();
        all.extend(keys);
    }
    all.sort_unstable();
    let frequent = all.chunk_by(|one, other| one == other).filter(|same| same.len() >= LEAST);
    frequent.map(|same| same[0]).collect()
}

fn fit_weights(keys: Vec<u32>, labelled: &[Row<'_>], settings: &Settings, steps: usize) -> Model {
    let index: HashMap<u32, u32> = keys.iter().copied().zip(0..).collect();
    let rows: Vec<Vec<u32>> = labelled
        .iter()
        .map(|(features, _)| {
            let known = |hash: &u32| index.get(&feature_key(*hash)).copied();
            features.hashes.iter().filter_map(known).collect()
        })
        .collect();
    let share = 1.0 / labelled.len() as f64;
    let count = keys.len();
    // The last number is the bias, which has no penalty.
    let mut point = vec![0.0; count + 1];
    minimise(&mut point, steps, LEVEL, |point, slope| {
        let mut loss = 0.0;
        for (slope, weight) in slope.iter_mut().zip(&point[..count]) {
            *slope = settings.decay * weight;
            loss += settings.decay * weight * weight / 2.0;
        }
        slope[count] = 0.0;
        for ((_, is_constraint), row) in labelled.iter().zip(&rows) {
            let scale = scale(row.len() as u32);
            let score = point[count] + scale * row.iter().map(|at| point[*at as usize]).sum::<f64>();
            let likelihood = 1.0 / (1.0 + exp(if *is_constraint { -score } else { score }));
            loss -= share * ln(likelihood.max(1e-300));
            let sign = if *is_constraint { -1.0 } else { 1.0 };
            let error = share * sign * (1.0 - likelihood);
            for at in row {
                slope[*at as usize] += scale * error;
            }
            slope[count] += error;
        }
        loss
    });
    let bias = point[count];
    point.truncate(count);
    Model { keys, weights: point, bias }
}

impl Model {
    /// A section of the parameter file.
    pub(super) fn encode(&self, threshold: f64) -> Vec<u8> {
        let largest = self.weights.iter().fold(1e-9_f64, |largest, weight| largest.max(weight.abs()));
        let unit = largest / 127.0;
        let mut bytes = Vec::new();
        bytes.extend((self.keys.len() as u32).to_le_bytes());
        bytes.extend(unit.to_le_bytes());
        bytes.extend((self.bias - threshold).to_le_bytes());
        assert!(u16::try_from(self.keys.len()).is_ok(), "the table counts its rows with 16 bits");
        let mut keys = self.keys.iter().peekable();
        let mut start = 0_u16;
        for bucket in 0..=BUCKETS as u32 {
            bytes.extend(start.to_le_bytes());
            while keys.next_if(|key| **key >> 16 == bucket).is_some() {
                start += 1;
            }
        }
        for key in &self.keys {
            bytes.extend((*key as u16).to_le_bytes());
        }
        bytes.extend(self.weights.iter().map(|weight| ((weight / unit).round() as i8).cast_unsigned()));
        bytes
    }
}

#[cfg(test)]
mod tests {
    use tidegate_core::feature::knowledge::constraint::classifier::table::WeightTable;

    use super::*;

    #[test]
    fn the_table_says_what_was_learned() {
        let rows = [
            ("Don't touch the tests. Add a button.", "Don't touch the tests."),
            ("Don't touch the docs. Add a page.", "Don't touch the docs."),
        ];
        let sentences: Vec<Sentence> = rows
            .iter()
            .flat_map(|(prompt, meant)| {
                let example = Example {
                    prompt: (*prompt).to_owned(),
                    constraints: vec![(*meant).to_owned()],
                    doubtful: Vec::new(),
                };
                sentences_of(&example)
            })
            .collect();
        assert_eq!(
            sentences.iter().map(|sentence| sentence.is_constraint).collect::<Vec<_>>(),
            [true, false, true, false]
        );
        let settings = Settings { decay: 1e-4, rows: 1000, threshold: 0.0 };
        let bytes = train_model(&sentences.iter().collect::<Vec<_>>(), &settings).encode(0.0);
        let (table, rest) = WeightTable::section(&bytes).expect("a table");
        assert!(rest.is_empty());
        for sentence in &sentences {
            assert_eq!(table.score(&sentence.features) > 0.0, sentence.is_constraint);
        }
    }
}
