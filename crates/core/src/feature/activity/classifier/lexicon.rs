//! Phrases that mean nearly the same: `corpus/phase/lexicon.*.txt` as the classifier reads it.
//!
//! ```text
//! count: u32, hash of phrase or beginning: u32 × count (ascending), class: u8 × count; all little-endian
//! ```

use crate::feature::activity::classifier::tokens::{Token, join_hashes};

/// The class of an incomplete phrase.
pub const BEGINNING: u8 = u8::MAX;

/// One language's phrases.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lexicon<'a> {
    hashes: &'a [u8],
    classes: &'a [u8],
}

impl<'a> Lexicon<'a> {
    /// Also returns the bytes after it.
    pub fn read(bytes: &'a [u8]) -> Option<(Lexicon<'a>, &'a [u8])> {
        let (count, rest) = bytes.split_first_chunk()?;
        let count = u32::from_le_bytes(*count) as usize;
        let (hashes, rest) = rest.split_at_checked(4 * count)?;
        let (classes, rest) = rest.split_at_checked(count)?;
        Some((Lexicon { hashes, classes }, rest))
    }

    fn class(&self, hash: u32) -> Option<u8> {
        let at = |place: usize| {
            self.hashes.get(4 * place..)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
        };
        let (mut from, mut to) = (0, self.classes.len());
        while from < to {
            let middle = usize::midpoint(from, to);
            match at(middle)?.cmp(&hash) {
                std::cmp::Ordering::Less => from = middle + 1,
                std::cmp::Ordering::Greater => to = middle,
                std::cmp::Ordering::Equal => return self.classes.get(middle).copied(),
            }
        }
        None
    }

    /// Number of tokens and class of the longest phrase at the beginning.
    pub(super) fn longest(&self, tokens: &[Token]) -> Option<(usize, u8)> {
        let mut joined = 0;
        let mut longest = None;
        for (place, token) in tokens.iter().enumerate() {
            joined = join_hashes(joined, token.hash);
            match self.class((joined >> 32) as u32) {
                None => break,
                Some(BEGINNING) => {}
                Some(class) => longest = Some((place + 1, class)),
            }
        }
        longest
    }
}
