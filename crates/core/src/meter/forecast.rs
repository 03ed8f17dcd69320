//! Turns left, from how much the context grew per turn since the last boundary.
//!
//! The median of the last growths: one huge tool result moves it by a rank, not by its size.

/// Turns left before the reference point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forecast {
    /// At the median growth.
    pub turns: u32,
    /// If turns grow as the upper quartile did.
    pub fewest: u32,
    /// If turns grow as the lower quartile did.
    pub most: u32,
}

impl Forecast {
    /// The turns to show to a reader: none if growth varies too much or the end is far away.
    pub fn shown_turns(&self) -> Option<u32> {
        // Less than a turn counts as one.
        let is_narrow = self.most <= WIDEST * self.fewest.max(1);
        (is_narrow && self.turns <= MOST_SHOWN).then_some(self.turns)
    }
}

/// A session seldom keeps its pace for longer.
const MOST_SHOWN: u32 = 30;

/// With a wider spread the number of turns says nothing.
const WIDEST: u32 = 3;

/// Older growths say little about the work at hand.
pub const SAMPLES: usize = 16;

/// Below three growths a median is a guess.
const ENOUGH: usize = 3;

/// Growth per turn, in order of size; `None` while there are too few turns.
fn growths(used: &[u64]) -> Option<Vec<u64>> {
    let recent = &used[used.len().saturating_sub(SAMPLES + 1)..];
    // No growth means no answer in between: an interrupted prompt, not a turn.
    let grown = |pair: &[u64]| pair[1].checked_sub(pair[0]).filter(|growth| *growth > 0);
    let mut growths: Vec<u64> = recent.windows(2).filter_map(grown).collect();
    if growths.len() < ENOUGH {
        return None;
    }
    growths.sort_unstable();
    Some(growths)
}

/// Tokens that one more turn is likely to add.
pub fn median_growth(used: &[u64]) -> Option<u64> {
    let growths = growths(used)?;
    growths.get((growths.len() - 1) / 2).copied()
}

/// `used`: at the start of each turn since the last boundary, oldest first. `left`: now.
pub fn forecast(used: &[u64], left: u64) -> Option<Forecast> {
    let growths = growths(used)?;
    let turns = |growth: u64| u32::try_from(left / growth).unwrap_or(u32::MAX);
    let last = growths.len() - 1;
    // Rounded outwards: with few growths the quartiles are the smallest and the largest.
    let (lower, median, upper) = (last / 4, last / 2, (last * 3).div_ceil(4));
    Some(Forecast {
        turns: turns(growths[median]),
        fewest: turns(growths[upper]),
        most: turns(growths[lower]),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_steady_session() {
        let steady: Vec<u64> = (0..6).map(|turn| 20_000 + turn * 7000).collect();
        assert_eq!(forecast(&steady, 42_000), Some(Forecast { turns: 6, fewest: 6, most: 6 }));
    }

    #[test]
    fn one_huge_result_does_not_swing_it() {
        let jump = [20_000, 27_000, 34_000, 114_000, 121_000, 128_000];
        assert_eq!(forecast(&jump, 39_000).map(|f| f.turns), Some(5));
        assert_eq!(median_growth(&jump), Some(7000));
    }

    #[test]
    fn turns_are_shown_only_if_they_mean_something() {
        let shown = |used: &[u64], left| forecast(used, left).expect("a forecast").shown_turns();
        let steady = [20_000, 27_000, 34_000, 41_000];
        assert_eq!(shown(&steady, 14_000), Some(2));
        assert_eq!(shown(&steady, 7_000 * 30), Some(30));
        assert_eq!(shown(&steady, 7_000 * 31), None, "too far away");
        assert_eq!(shown(&[0, 3_000, 8_000, 17_000], 18_000), Some(3), "2 to 6");
        assert_eq!(shown(&[0, 2_000, 7_000, 16_000], 18_000), None, "2 to 9");
        assert_eq!(shown(&[0, 3_000, 8_000, 28_000], 4_000), Some(0), "0 to 1");
        assert_eq!(shown(&[0, 1_000, 6_000, 26_000], 4_000), None, "0 to 4");
    }

    #[test]
    fn too_little_is_unknown() {
        assert_eq!(forecast(&[], 1000), None);
        assert_eq!(forecast(&[1, 2, 3], 1000), None);
        assert_eq!(forecast(&[5, 5, 5, 5, 5], 1000), None);
    }

    #[test]
    fn interrupted_prompts_do_not_stretch_it() {
        let interrupted = [10_000, 10_000, 20_000, 20_000, 30_000, 50_000];
        assert_eq!(forecast(&interrupted, 40_000), Some(Forecast { turns: 4, fewest: 2, most: 4 }));
    }

    proptest! {
        #[test]
        fn the_spread_holds_the_middle(used in proptest::collection::vec(0u64..1_000_000, 0..40), left in 0u64..1_000_000) {
            if let Some(forecast) = forecast(&used, left) {
                prop_assert!(forecast.fewest <= forecast.turns && forecast.turns <= forecast.most);
            }
        }
    }
}
