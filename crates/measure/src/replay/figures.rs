//! Shares with their confidence intervals, and the agreement of two readers.

use std::fmt;

use serde_json::{Value, json};

/// A part of a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Share {
    pub(crate) hits: usize,
    pub(crate) of: usize,
}

/// For 95 of 100 intervals to contain the true share.
const Z: f64 = 1.959_964;

impl Share {
    /// Of the items in the whole, those that are hits.
    pub(crate) fn count(hits: impl IntoIterator<Item = bool>) -> Share {
        hits.into_iter().fold(Share::default(), |share, hit| Share {
            hits: share.hits + usize::from(hit),
            of: share.of + 1,
        })
    }

    /// `None` of nothing.
    pub(crate) fn value(self) -> Option<f64> {
        (self.of > 0).then(|| self.hits as f64 / self.of as f64)
    }

    /// Wilson's interval: it stays within 0 and 1, and is good for few items and for shares near the ends.
    pub(crate) fn interval(self) -> Option<(f64, f64)> {
        let (share, n) = (self.value()?, self.of as f64);
        let scale = 1.0 + Z * Z / n;
        let middle = (share + Z * Z / (2.0 * n)) / scale;
        let half = Z / scale * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
        Some(((middle - half).max(0.0), (middle + half).min(1.0)))
    }

    pub(crate) fn to_json(self) -> Value {
        let (low, high) = self.interval().unzip();
        json!({"hits": self.hits, "of": self.of, "share": self.value(), "low": low, "high": high})
    }
}

impl fmt::Display for Share {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.value(), self.interval()) {
            (Some(share), Some((low, high))) => write!(
                out,
                "{} of {}, {:.1}% ({:.1}–{:.1})",
                self.hits,
                self.of,
                100.0 * share,
                100.0 * low,
                100.0 * high
            ),
            _ => out.write_str("none"),
        }
    }
}

/// Cohen's kappa: the agreement beyond chance, 1 if it is perfect. `None` if chance alone would agree.
pub(crate) fn cohens_kappa<T: PartialEq + Copy>(pairs: &[(T, T)], labels: &[T]) -> Option<f64> {
    let n = pairs.len() as f64;
    let share = |is: &dyn Fn(&(T, T)) -> bool| pairs.iter().filter(|pair| is(pair)).count() as f64 / n;
    let agree = share(&|(first, second)| first == second);
    let chance: f64 =
        labels.iter().map(|label| share(&|pair| pair.0 == *label) * share(&|pair| pair.1 == *label)).sum();
    (n > 0.0 && chance < 1.0).then(|| (agree - chance) / (1.0 - chance))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_wilsons() {
        let shown = |hits, of| Share { hits, of }.to_string();
        assert_eq!(shown(93, 100), "93 of 100, 93.0% (86.3–96.6)");
        assert_eq!(shown(5, 5), "5 of 5, 100.0% (56.6–100.0)");
        assert_eq!(shown(0, 10), "0 of 10, 0.0% (0.0–27.8)");
        assert_eq!(shown(0, 0), "none");
        assert_eq!(Share::count([true, false, true]), Share { hits: 2, of: 3 });
    }

    #[test]
    fn kappa_leaves_out_what_chance_gives() {
        let kappa = |pairs: &[(char, char)]| cohens_kappa(pairs, &['a', 'b']);
        assert_eq!(kappa(&[('a', 'a'), ('b', 'b')]), Some(1.0));
        assert_eq!(kappa(&[('a', 'a'), ('a', 'b'), ('b', 'a'), ('b', 'b')]), Some(0.0));
        assert_eq!(kappa(&[('a', 'a'), ('a', 'a')]), None);
        // 20 and 15 agreements, 5 and 10 differences.
        let counts = [(('a', 'a'), 20), (('a', 'b'), 5), (('b', 'a'), 10), (('b', 'b'), 15)];
        let pairs: Vec<_> = counts.iter().flat_map(|(pair, count)| vec![*pair; *count]).collect();
        assert!((kappa(&pairs).unwrap() - 0.4).abs() < 1e-9);
    }
}
