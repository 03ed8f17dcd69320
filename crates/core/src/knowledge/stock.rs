//! `learnings-*.md`: what was learned and how often it was confirmed.

/// How well entries of stock are confirmed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Confidence {
    /// How many entries.
    pub total: usize,
    /// Confirmations per entry, with one decimal; an unverified entry counts as none.
    pub average: f64,
    /// How many entries nobody confirmed.
    pub unverified: usize,
}
