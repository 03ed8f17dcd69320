//! The weights of a language's features, as `cargo xtask train-phase` writes them.
//!
//! A feature that was not learned has no row, so most of an unseen prompt adds no noise. A row is found by
//! the upper bits of its hash (the bucket) and identified by the lower ones.
//!
//! ```text
//! section   lexicon, rows: u32, unit: f64, bias: f64 × 11, starts: u16 × (BUCKETS + 1), lower bits: u16 × rows,
//!           (rarity: u8, weights: i8 × 11) × rows
//! file      section of English, section of Japanese; all little-endian
//! ```

use crate::feature::activity::classifier::exponential::exp;
use crate::feature::activity::classifier::features::{Features, GROUPS, Language};
use crate::feature::activity::classifier::lexicon::Lexicon;
use crate::feature::activity::classifier::{Guess, Phase};

pub const PHASES: usize = Phase::ALL.len();

/// A power of two; about as many as there are rows.
pub const BUCKETS: usize = 1 << 14;

/// The stored value of a rarity of 1.
pub const RARITY_UNIT: f64 = 25.0;

/// Relative weights of the groups, in English and in Japanese.
const GROUP_WEIGHTS: [[f64; GROUPS]; 2] = [[1.0, 0.5, 0.25], [1.0, 2.0, 0.3]];

const ROW: usize = 1 + PHASES;
const BEFORE_STARTS: usize = 4 + 8 + 8 * PHASES;

/// One language's weights.
#[derive(Clone, Copy, Debug)]
pub struct WeightTable<'a> {
    pub lexicon: Lexicon<'a>,
    unit: f64,
    bias: [f64; PHASES],
    starts: &'a [u8],
    lower: &'a [u8],
    rows: &'a [u8],
}

impl<'a> WeightTable<'a> {
    /// `None` if the bytes do not have the form of a table.
    pub fn read(file: &'a [u8], language: Language) -> Option<WeightTable<'a>> {
        let (english, rest) = WeightTable::section(file)?;
        match language {
            Language::English => Some(english),
            Language::Japanese => WeightTable::section(rest).map(|(japanese, _)| japanese),
        }
    }

    fn section(bytes: &'a [u8]) -> Option<(WeightTable<'a>, &'a [u8])> {
        let (lexicon, rest) = Lexicon::read(bytes)?;
        let (head, rest) = rest.split_at_checked(BEFORE_STARTS)?;
        let count = u32::from_le_bytes(*head.first_chunk()?) as usize;
        let mut numbers = [0.0; 1 + PHASES];
        for (number, bytes) in numbers.iter_mut().zip(head[4..].chunks_exact(8)) {
            *number = f64::from_le_bytes(*bytes.first_chunk()?);
        }
        let [unit, bias @ ..] = numbers;
        let (starts, rest) = rest.split_at_checked(2 * (BUCKETS + 1))?;
        let (lower, rest) = rest.split_at_checked(2 * count)?;
        let (rows, rest) = rest.split_at_checked(ROW * count)?;
        Some((WeightTable { lexicon, unit, bias, starts, lower, rows }, rest))
    }

    /// `None` if the feature was not learned.
    fn find(&self, hash: u32) -> Option<u16> {
        let [bucket, low] = split_hash(hash);
        let start = |bucket: usize| {
            let bytes = self.starts.get(2 * bucket..2 * bucket + 2)?;
            Some(u16::from_le_bytes([bytes[0], bytes[1]]))
        };
        (start(bucket)?..start(bucket + 1)?).find(|row| {
            let at = 2 * usize::from(*row);
            self.lower
                .get(at..at + 2)
                .is_some_and(|bytes| u16::from_le_bytes([bytes[0], bytes[1]]) == low as u16)
        })
    }

    fn row(&self, row: u16) -> &[u8] {
        let at = ROW * usize::from(row);
        self.rows.get(at..at + ROW).unwrap_or(&[0; ROW])
    }

    /// One score per phase.
    pub fn scores(&self, features: &Features) -> [f64; PHASES] {
        let mut scores = self.bias;
        let mut found: Vec<u16> = Vec::with_capacity(features.groups.iter().map(Vec::len).max().unwrap_or(0));
        for (group, hashes) in features.groups.iter().enumerate() {
            found.clear();
            found.extend(hashes.iter().filter_map(|hash| self.find(*hash)));
            for_each_value(
                &mut found,
                group_weight(features.language, group),
                |row| f64::from(self.row(row)[0]) / RARITY_UNIT,
                |row, value| {
                    for (score, weight) in scores.iter_mut().zip(&self.row(row)[1..]) {
                        *score += value * self.unit * f64::from(weight.cast_signed());
                    }
                },
            );
        }
        scores
    }
}

/// Relative to the other groups.
pub fn group_weight(language: Language, group: usize) -> f64 {
    GROUP_WEIGHTS[language as usize][group]
}

/// Bucket and lower bits, the only bits that count.
pub fn split_hash(hash: u32) -> [usize; 2] {
    [(hash >> 18) as usize, (hash & 0xffff) as usize]
}

/// Rare features count more, repeated ones a little more; the group's length is always the same.
pub fn for_each_value<T: Copy + Ord>(
    found: &mut [T],
    weight: f64,
    rarity: impl Fn(T) -> f64,
    mut each: impl FnMut(T, f64),
) {
    found.sort_unstable();
    let value = |run: &[T]| rarity(run[0]) * REPEATED[run.len().min(REPEATED.len()) - 1];
    let mut length = 0.0;
    for run in found.chunk_by(|one, other| one == other) {
        let value = value(run);
        length += value * value;
    }
    if length > 0.0 {
        let unit = weight / length.sqrt();
        for run in found.chunk_by(|one, other| one == other) {
            each(run[0], value(run) * unit);
        }
    }
}

/// 1 + ln n, for n occurrences.
const REPEATED: [f64; 8] = [1.0, 1.693, 2.099, 2.386, 2.609, 2.792, 2.946, 3.079];

pub fn best_guess(scores: &[f64; PHASES]) -> Guess {
    let mut best = 0;
    for (at, score) in scores.iter().enumerate() {
        if *score > scores[best] {
            best = at;
        }
    }
    let sum: f64 = scores.iter().map(|score| exp(score - scores[best])).sum();
    Guess { phase: Phase::ALL[best], confidence: 1.0 / sum }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_one_length() {
        let mut seen = Vec::new();
        for_each_value(&mut [3, 1, 3, 2], 2.0, f64::from, |row, value| seen.push((row, value)));
        assert_eq!(seen.iter().map(|(row, _)| *row).collect::<Vec<_>>(), [1, 2, 3]);
        let length: f64 = seen.iter().map(|(_, value)| value * value).sum();
        assert!((length.sqrt() - 2.0).abs() < 1e-12, "{seen:?}");
        assert!(seen[2].1 > 3.0 * seen[0].1, "twice is more than once: {seen:?}");
        for_each_value(&mut [], 1.0, |_: u16| 1.0, |_, _| unreachable!());
    }

    #[test]
    fn the_highest_score_is_the_guess() {
        let mut scores = [0.0; PHASES];
        assert!((best_guess(&scores).confidence - 1.0 / PHASES as f64).abs() < 1e-12);
        scores[8] = 3.0;
        let guess = best_guess(&scores);
        assert!(guess.phase == Phase::Ship && guess.confidence > 0.6, "{guess:?}");
    }

    #[test]
    fn bytes_that_are_no_table() {
        for bytes in [&[] as &[u8], &[0; 4], &[255; 400], &[0; 200]] {
            for language in [Language::English, Language::Japanese] {
                assert!(WeightTable::read(bytes, language).is_none());
            }
        }
    }
}
