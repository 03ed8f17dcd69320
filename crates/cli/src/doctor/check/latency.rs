//! Duration of the last hundred hook runs.

use crate::doctor::finding::Findings;
use crate::doctor::gathered::Gathered;
use crate::doctor::history::ENOUGH;
use crate::print::format_count;

/// A person notices more than this on every call.
const SLOW_US: u64 = 50_000;

pub(crate) fn check(seen: &Gathered, found: &mut Findings) {
    if seen.state.is_err() {
        found.note(super::NO_STATE);
        return;
    }
    // Runs that kept out of the way did not measure their time.
    let timed = seen.history.records.iter().rev().map(|record| record.cost.us).filter(|us| *us > 0);
    let mut micros: Vec<u64> = timed.take(ENOUGH).collect();
    micros.sort_unstable();
    let (Some(median), Some(p95), Some(max)) =
        (percentile(&micros, 50), percentile(&micros, 95), micros.last().copied())
    else {
        found.ok("no hook run yet");
        return;
    };
    let text = format!(
        "the last {}: median {}, p95 {}, longest {}",
        format_count(micros.len(), "hook run"),
        milliseconds(median),
        milliseconds(p95),
        milliseconds(max)
    );
    if p95 > SLOW_US {
        found.warning(
            text,
            "look for a busy machine or a slow disk; TIDEGATE_STATE_DIR can move the state to a faster one",
        );
    } else {
        found.ok(text);
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
