//! Multinomial logistic regression over the features of labelled prompts, reduced to the features that matter
//! and written as the table that the classifier reads.

use std::collections::{BTreeMap, HashMap};

use tidegate_core::feature::activity::classifier::Phase;
use tidegate_core::feature::activity::classifier::exponential::exp;
use tidegate_core::feature::activity::classifier::features::{Features, GROUPS};
use tidegate_core::feature::activity::classifier::lexicon::Lexicon;
use tidegate_core::feature::activity::classifier::table;
use tidegate_core::feature::activity::classifier::table::{BUCKETS, PHASES, RARITY_UNIT};

use super::corpus::Example;
use crate::learning::descent::minimise;
use crate::learning::logarithm::ln;

/// Chosen by cross-validation on the training part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    /// The L2 penalty.
    pub(crate) decay: f64,
    /// The number of features to keep.
    pub(crate) rows: usize,
    /// Scores are divided by it, so that the confidence equals the accuracy.
    pub(crate) temperature: f64,
}

/// A feature must be in this many prompts.
const LEAST: u32 = 2;

/// Iterations to select features, then to fit their weights.
const STEPS: [usize; 2] = [40, 150];

/// Where the gradient counts as zero.
const LEVEL: f64 = 1e-4;

/// The features of a prompt, with its phase.
pub(crate) struct LabelledPrompt {
    pub(crate) phase: Phase,
    pub(crate) features: Features,
    weight: f64,
}

impl LabelledPrompt {
    pub(crate) fn of(example: &Example, lexicon: Lexicon<'_>) -> LabelledPrompt {
        let features = Features::of(&example.prompt, |_| lexicon);
        LabelledPrompt { phase: example.phase, features, weight: example.weight }
    }
}

/// The classifier identifies a feature by these bits.
fn feature_key(hash: u32) -> u32 {
    let [bucket, lower] = table::split_hash(hash);
    ((bucket << 16) | lower) as u32
}

/// By ascending key.
struct Vocabulary {
    keys: Vec<u32>,
    rarity: Vec<u8>,
}

impl Vocabulary {
    fn of(documents: &[&LabelledPrompt]) -> Vocabulary {
        let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
        for document in documents {
            let mut keys: Vec<u32> =
                document.features.groups.iter().flatten().map(|hash| feature_key(*hash)).collect();
            keys.sort_unstable();
            keys.dedup();
            for key in keys {
                *counts.entry(key).or_default() += 1;
            }
        }
        let all = documents.len() as f64 + 1.0;
        let (mut keys, mut rarity) = (Vec::new(), Vec::new());
        for (key, count) in counts.into_iter().filter(|(_, count)| *count >= LEAST) {
            keys.push(key);
            let rare = 1.0 + ln(all / (f64::from(count) + 1.0));
            rarity.push((rare * RARITY_UNIT).round().clamp(1.0, 255.0) as u8);
        }
        Vocabulary { keys, rarity }
    }

    /// As pairs of row and value.
    fn rows(&self, documents: &[&LabelledPrompt]) -> Vec<Vec<(u32, f64)>> {
        let index: HashMap<u32, u32> = self.keys.iter().copied().zip(0..).collect();
        let row = |document: &&LabelledPrompt| {
            let mut row = Vec::new();
            for group in 0..GROUPS {
                let hashes = &document.features.groups[group];
                let mut found: Vec<u32> =
                    hashes.iter().filter_map(|hash| index.get(&feature_key(*hash)).copied()).collect();
                let weight = table::group_weight(document.features.language, group);
                let rarity = |row: u32| f64::from(self.rarity[row as usize]) / RARITY_UNIT;
                table::for_each_value(&mut found, weight, rarity, |feature, value| {
                    row.push((feature, value));
                });
            }
            row
        };
        documents.iter().map(row).collect()
    }

    fn keep(&self, mut rows: Vec<usize>) -> Vocabulary {
        rows.sort_unstable();
        let keys = rows.iter().map(|row| self.keys[*row]).collect();
        Vocabulary { keys, rarity: rows.iter().map(|row| self.rarity[*row]).collect() }
    }
}

pub(crate) struct Model {
    vocabulary: Vocabulary,
    bias: [f64; PHASES],
    weights: Vec<f64>,
}

/// Padded to fill whole vector registers.
const WIDTH: usize = 12;

pub(crate) fn train_model(documents: &[&LabelledPrompt], settings: &Settings) -> Model {
    let first = fit_weights(Vocabulary::of(documents), documents, settings, STEPS[0]);
    // By the largest difference between the weights of two phases.
    let mut order: Vec<(f64, usize)> = Vec::new();
    for (row, weights) in first.weights.chunks_exact(WIDTH).enumerate() {
        let rarity = f64::from(first.vocabulary.rarity[row]);
        let reach: f64 = weights.iter().map(|weight| weight * weight).sum();
        order.push((reach * rarity * rarity, row));
    }
    order.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
    let kept = order.iter().take(settings.rows).map(|(_, row)| *row).collect();
    fit_weights(first.vocabulary.keep(kept), documents, settings, STEPS[1])
}

fn fit_weights(
    vocabulary: Vocabulary,
    documents: &[&LabelledPrompt],
    settings: &Settings,
    steps: usize,
) -> Model {
    let rows = vocabulary.rows(documents);
    let total: f64 = documents.iter().map(|document| document.weight).sum();
    let count = vocabulary.keys.len();
    // The last row is the bias, which has no penalty.
    let mut point = vec![0.0; (count + 1) * WIDTH];
    minimise(&mut point, steps, LEVEL, |point, slope| {
        let mut loss = 0.0;
        let (weights, bias) = point.split_at(count * WIDTH);
        let (slopes, bias_slope) = slope.split_at_mut(count * WIDTH);
        bias_slope.fill(0.0);
        for (slope, weight) in slopes.iter_mut().zip(weights) {
            *slope = settings.decay * weight;
            loss += settings.decay * weight * weight / 2.0;
        }
        for (document, row) in documents.iter().zip(&rows) {
            let mut scores = *weights_of_row(bias, 0);
            for (feature, value) in row {
                let weights = weights_of_row(weights, *feature);
                for (score, weight) in scores.iter_mut().zip(weights) {
                    *score += value * weight;
                }
            }
            let highest = scores[..PHASES].iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let mut errors = [0.0; WIDTH];
            for (error, score) in errors[..PHASES].iter_mut().zip(scores) {
                *error = exp(score - highest);
            }
            let (sum, share) = (errors.iter().sum::<f64>(), document.weight / total);
            let label = document.phase as usize;
            loss -= share * ln(errors[label] / sum);
            for error in &mut errors {
                *error *= share / sum;
            }
            errors[label] -= share;
            for (feature, value) in row {
                let at = *feature as usize * WIDTH;
                for (slope, error) in slopes[at..at + WIDTH].iter_mut().zip(&errors) {
                    *slope += value * error;
                }
            }
            for (slope, error) in bias_slope.iter_mut().zip(&errors) {
                *slope += error;
            }
        }
        loss
    });
    let bias = std::array::from_fn(|class| point[count * WIDTH + class]);
    point.truncate(count * WIDTH);
    Model { vocabulary, bias, weights: point }
}

fn weights_of_row(numbers: &[f64], row: u32) -> &[f64; WIDTH] {
    numbers[row as usize * WIDTH..].first_chunk().expect("every feature has a row")
}

impl Model {
    pub(crate) fn encode(&self, temperature: f64) -> Vec<u8> {
        let largest = self.weights.iter().fold(1e-9_f64, |largest, weight| largest.max(weight.abs()));
        let unit = largest / 127.0;
        let mut bytes = Vec::new();
        bytes.extend((self.vocabulary.keys.len() as u32).to_le_bytes());
        bytes.extend((unit / temperature).to_le_bytes());
        for bias in self.bias {
            bytes.extend((bias / temperature).to_le_bytes());
        }
        let mut keys = self.vocabulary.keys.iter().peekable();
        let mut start = 0_u16;
        for bucket in 0..=BUCKETS as u32 {
            bytes.extend(start.to_le_bytes());
            while keys.next_if(|key| **key >> 16 == bucket).is_some() {
                start += 1;
            }
        }
        for key in &self.vocabulary.keys {
            bytes.extend((*key as u16).to_le_bytes());
        }
        for (rarity, weights) in self.vocabulary.rarity.iter().zip(self.weights.chunks_exact(WIDTH)) {
            bytes.push(*rarity);
            bytes.extend(
                weights[..PHASES].iter().map(|weight| ((weight / unit).round() as i8).cast_unsigned()),
            );
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use tidegate_core::feature::activity::classifier::features::Language;
    use tidegate_core::feature::activity::classifier::table::WeightTable;

    use super::*;

    /// The table contains the learned weights, up to rounding to eight bits.
    #[test]
    fn the_table_says_what_was_learned() {
        let examples = [
            ("commit this now", Phase::Ship),
            ("commit that now", Phase::Ship),
            ("why does this fail", Phase::Debug),
            ("why does that fail", Phase::Debug),
        ]
        .map(|(prompt, phase)| Example {
            phase,
            hard: false,
            prompt: prompt.to_owned(),
            weight: 1.0,
        });
        let documents = examples.each_ref().map(|example| LabelledPrompt::of(example, Lexicon::default()));
        let settings = Settings { decay: 1e-3, rows: 1000, temperature: 1.0 };
        let model = train_model(&documents.each_ref(), &settings);
        let mut file = 0_u32.to_le_bytes().to_vec();
        file.extend(model.encode(1.0));
        let table = WeightTable::read(&file, Language::English).expect("a table");
        let rows = model.vocabulary.rows(&documents.each_ref());
        for (document, row) in documents.iter().zip(rows) {
            let scores = table.scores(&document.features);
            assert_eq!(table::best_guess(&scores).phase, document.phase);
            for (class, score) in scores.iter().enumerate() {
                let exact: f64 = row
                    .iter()
                    .map(|(feature, value)| value * model.weights[*feature as usize * WIDTH + class])
                    .sum();
                assert!((exact + model.bias[class] - score).abs() < 0.2, "{exact} {score}");
            }
        }
    }
}
