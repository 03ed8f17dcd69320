//! Whether what was found is about the question at all.

use super::Fit;

/// If every text covers less of a question, nothing is about it: by the number of its parts that a text has.
const LEAST_COVERAGE: [f64; 4] = [0.42, 0.375, 0.28, 0.22];

/// A text that covers far less than the best one is not shown.
const LEAST_OF_BEST: f64 = 0.4;

/// Removes what covers too little of the question. Nothing relevant gives nothing. `fulfilled` wishes count as parts.
pub fn keep_relevant<T>(found: &mut Vec<T>, fulfilled: usize, fit: impl Fn(&T) -> Fit) {
    let best = found.iter().map(|one| fit(one).coverage).fold(0.0, f64::max);
    let is_relevant = found.iter().any(|one| {
        let Fit { coverage, has, .. } = fit(one);
        let parts = has.count_ones() as usize + fulfilled;
        coverage >= LEAST_COVERAGE[parts.clamp(1, LEAST_COVERAGE.len()) - 1]
    });
    found.retain(|one| is_relevant && fit(one).coverage >= best * LEAST_OF_BEST);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_covers_little_is_not_shown() {
        let fit = |coverage: f64| Fit { score: 1.0, coverage, has: 0, names: 0 };
        let kept = |coverages: &[f64]| {
            let mut found: Vec<Fit> = coverages.iter().copied().map(fit).collect();
            keep_relevant(&mut found, 0, |fit| *fit);
            found.len()
        };
        assert_eq!(kept(&[0.1, 0.2]), 0);
        assert_eq!(kept(&[1.0, 0.9, 0.2]), 2);
    }
}
