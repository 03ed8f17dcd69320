//! The weights of a language's features, as `cargo xtask train-constraints` writes them.
//!
//! A row is found by the upper bits of its hash (the bucket) and identified by the lower ones. A feature that was not
//! learned has none.
//!
//! ```text
//! section   rows: u32, unit: f64, bias: f64, starts: u16 × (BUCKETS + 1), lower bits: u16 × rows, weights: i8 × rows
//! file      section of English, section of Japanese; all little-endian
//! ```

use super::features::{Features, Language};

/// A power of two; about as many as there are rows.
pub const BUCKETS: usize = 1 << 14;

const BEFORE_STARTS: usize = 4 + 8 + 8;

/// One language's weights.
#[derive(Clone, Copy, Debug)]
pub struct WeightTable<'a> {
    unit: f64,
    bias: f64,
    starts: &'a [u8],
    lower: &'a [u8],
    weights: &'a [u8],
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

    pub fn section(bytes: &'a [u8]) -> Option<(WeightTable<'a>, &'a [u8])> {
        let (head, rest) = bytes.split_at_checked(BEFORE_STARTS)?;
        let count = u32::from_le_bytes(*head.first_chunk()?) as usize;
        let unit = f64::from_le_bytes(*head[4..].first_chunk()?);
        let bias = f64::from_le_bytes(*head[12..].first_chunk()?);
        let (starts, rest) = rest.split_at_checked(2 * (BUCKETS + 1))?;
        let (lower, rest) = rest.split_at_checked(2 * count)?;
        let (weights, rest) = rest.split_at_checked(count)?;
        Some((WeightTable { unit, bias, starts, lower, weights }, rest))
    }

    /// `None` if the feature was not learned.
    fn find(&self, hash: u32) -> Option<usize> {
        let (bucket, low) = split_hash(hash);
        let number = |bytes: &[u8], at: usize| {
            bytes.get(2 * at..2 * at + 2).map(|two| u16::from_le_bytes([two[0], two[1]]))
        };
        let rows = usize::from(number(self.starts, bucket)?)..usize::from(number(self.starts, bucket + 1)?);
        rows.into_iter().find(|row| number(self.lower, *row) == Some(low))
    }

    /// Above 0 for a constraint.
    pub fn score(&self, features: &Features) -> f64 {
        let (mut sum, mut known) = (0_i32, 0_u32);
        for row in features.hashes.iter().filter_map(|hash| self.find(*hash)) {
            sum += i32::from(self.weights.get(row).copied().unwrap_or_default().cast_signed());
            known += 1;
        }
        self.bias + self.unit * f64::from(sum) * scale(known)
    }
}

/// A long sentence has no more say than a short one.
pub fn scale(known: u32) -> f64 {
    1.0 / f64::from(known.max(1)).sqrt()
}

/// Bucket and lower bits, the only bits that count.
pub fn split_hash(hash: u32) -> (usize, u16) {
    ((hash >> 18) as usize, hash as u16)
}

#[cfg(test)]
mod tests {
    use super::super::features::LANGUAGES;
    use super::*;

    #[test]
    fn bytes_that_are_no_table() {
        for bytes in [&[] as &[u8], &[0; 4], &[255; 400], &[0; 200]] {
            for language in LANGUAGES {
                assert!(WeightTable::read(bytes, language).is_none());
            }
        }
    }
}
