//! Which texts say the same, by their content words.

use std::collections::BTreeSet;

use super::terms::terms;

/// From here on two entries are shown to a person as possible duplicates.
pub const DUPLICATE: f64 = 0.5;

/// Below this many content words two texts are too short to be compared.
const FEWEST: usize = 3;

/// What a text is about: lower-case words without English endings and function words, names whole and in their
/// parts, numbers, Japanese runs as pairs of characters.
pub fn content_words(text: &str) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    terms(text, |term| {
        if !words.contains(term.word) {
            words.insert(term.word.to_owned());
        }
    });
    words
}

/// Which share of the words of `of` stand in `within`; 1 when there are none.
pub fn containment(of: &BTreeSet<String>, within: &BTreeSet<String>) -> f64 {
    if of.is_empty() {
        return 1.0;
    }
    of.intersection(within).count() as f64 / of.len() as f64
}

/// How much two texts are about the same, from 0 to 1; [`DUPLICATE`] is where a person should look.
pub fn similarity(a: &BTreeSet<String>, b: &BTreeSet<String>) -> f64 {
    if a.len().min(b.len()) < FEWEST {
        return if !a.is_empty() && a == b { 1.0 } else { 0.0 };
    }
    2.0 * a.intersection(b).count() as f64 / (a.len() + b.len()) as f64
}
