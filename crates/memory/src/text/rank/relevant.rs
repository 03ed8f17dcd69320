//! Whether what was found is about the question at all.

use super::{Covered, Fit};

/// If every text covers less of a question, nothing is about it: by the number of its parts that a text has.
const LEAST_COVERAGE: [f64; 4] = [0.42, 0.375, 0.28, 0.22];

/// Words of the same matter are weak evidence: with them a text has to have so much, where a part counts as one that it has by
/// such words only, and as two otherwise.
const LEAST_WITH_ASSOCIATIONS: usize = 4;

/// A text that covers far less than the best one is not shown.
const LEAST_OF_BEST: f64 = 0.4;

/// Removes what covers too little of the question. Nothing relevant gives nothing. `fulfilled` wishes count as parts.
pub fn keep_relevant<T>(found: &mut Vec<T>, fulfilled: usize, fit: impl Fn(&T) -> Fit) {
    let best = found.iter().map(|one| fit(one).coverage).fold(0.0, f64::max);
    let parts = |has: u32| has.count_ones() as usize + fulfilled;
    let is_enough =
        |coverage: f64, has: u32| coverage >= LEAST_COVERAGE[parts(has).clamp(1, LEAST_COVERAGE.len()) - 1];
    let is_relevant = found.iter().any(|one| {
        let Fit { coverage, has, firm, .. } = fit(one);
        let Covered { coverage: firmly, has: firm } = firm;
        is_enough(firmly, firm)
            || is_enough(coverage, has) && parts(has) + parts(firm) >= LEAST_WITH_ASSOCIATIONS
    });
    found.retain(|one| is_relevant && fit(one).coverage >= best * LEAST_OF_BEST);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_covers_little_is_not_shown() {
        let fit = |coverage: f64| {
            let firm = Covered { coverage, has: 0 };
            Fit { score: 1.0, coverage, has: 0, names: 0, firm }
        };
        let kept = |coverages: &[f64]| {
            let mut found: Vec<Fit> = coverages.iter().copied().map(fit).collect();
            keep_relevant(&mut found, 0, |fit| *fit);
            found.len()
        };
        assert_eq!(kept(&[0.1, 0.2]), 0);
        assert_eq!(kept(&[1.0, 0.9, 0.2]), 2);
    }

    #[test]
    fn words_of_the_same_matter_have_to_be_many() {
        let is_shown = |has: u32, firm: u32, fulfilled: usize| {
            let firm = Covered { coverage: 0.1, has: firm };
            let mut found = vec![Fit { score: 1.0, coverage: 0.4, has, names: 0, firm }];
            keep_relevant(&mut found, fulfilled, |fit| *fit);
            !found.is_empty()
        };
        assert!(is_shown(0b111, 0b011, 0));
        assert!(is_shown(0b1111, 0b0001, 0));
        assert!(is_shown(0b11, 0b01, 1), "a wish that is fulfilled is a part");
        assert!(is_shown(0b111, 0b001, 0));
        assert!(!is_shown(0b111, 0, 0));
        assert!(!is_shown(0b11, 0b01, 0));
    }
}
