//! Duration of the last hundred hook runs.

use crate::bilingual::{Bilingual, both, count_en};
use crate::doctor::finding::Findings;
use crate::doctor::gathered::Gathered;
use crate::doctor::history::ENOUGH;

/// A person notices more than this on every call.
const SLOW_US: u64 = 50_000;

pub(crate) fn check(seen: &Gathered, found: &mut Findings) {
    if seen.state.is_err() {
        found.unchecked(super::without_state());
        return;
    }
    // Runs that kept out of the way did not measure their time.
    let timed = seen.history.records.iter().rev().map(|record| record.cost.us).filter(|us| *us > 0);
    let mut micros: Vec<u64> = timed.take(ENOUGH).collect();
    micros.sort_unstable();
    let (Some(median), Some(p95), Some(max)) =
        (percentile(&micros, 50), percentile(&micros, 95), micros.last().copied())
    else {
        found.ok(both!("No hook has run yet.", "フックはまだ実行されていません。"));
        return;
    };
    let (runs, number) = (count_en(micros.len(), "hook run"), micros.len());
    let (median, max, most) = (milliseconds(median), milliseconds(max), milliseconds(p95));
    let numbers = both!(
        "Half of the last {runs} took at most {median}, 95% at most {most}, the longest {max}.",
        "直近{number}回のフックは、半数が{median}以内、95%が{most}以内、最長{max}でした。"
    );
    if p95 > SLOW_US {
        let Bilingual { en, ja } = numbers;
        found.warning(
            both!("Tidegate's hooks are slow. {en}", "フックが遅くなっています。{ja}"),
            both!(
                "Look for a busy machine or a slow disk. TIDEGATE_STATE_DIR can move Tidegate's state to a faster disk.",
                "マシンの負荷やディスクの遅さを調べてください。TIDEGATE_STATE_DIR で状態を速いディスクに移せます。"
            ),
        );
    } else {
        found.ok(numbers);
    }
}

/// The smallest value with this share of values at or below it.
fn percentile(sorted: &[u64], percent: usize) -> Option<u64> {
    sorted.get((sorted.len() * percent).div_ceil(100).checked_sub(1)?).copied()
}

fn milliseconds(micros: u64) -> String {
    format!("{}.{} ms", micros / 1000, micros % 1000 / 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_were_measured() {
        assert_eq!(percentile(&[], 50), None);
        assert_eq!(percentile(&[7], 95), Some(7));
        let hundred: Vec<u64> = (1..=100).collect();
        assert_eq!([50, 95, 100].map(|percent| percentile(&hundred, percent).unwrap()), [50, 95, 100]);
        assert_eq!(milliseconds(1_250), "1.2 ms");
    }
}
