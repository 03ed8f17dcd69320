//! Times of many runs.

use std::time::Duration;

#[derive(Clone, Debug, Default)]
pub(crate) struct Samples(Vec<Duration>);

impl From<Vec<Duration>> for Samples {
    fn from(times: Vec<Duration>) -> Samples {
        Samples(times)
    }
}

impl Samples {
    pub(crate) fn push(&mut self, time: Duration) {
        self.0.push(time);
    }

    pub(crate) fn extend(&mut self, others: &Samples) {
        self.0.extend(&others.0);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// In microseconds, by nearest rank.
    pub(crate) fn percentile(&self, percent: usize) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let rank = (sorted.len() * percent).div_ceil(100).max(1);
        sorted.get(rank - 1).map_or(f64::NAN, |time| time.as_secs_f64() * 1e6)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_rank() {
        let mut samples = Samples::default();
        for ms in (1..=200).rev() {
            samples.push(Duration::from_millis(ms));
        }
        assert!((samples.percentile(50) - 100_000.0).abs() < 1e-6);
        assert!((samples.percentile(99) - 198_000.0).abs() < 1e-6);
    }
}
