//! Times of many runs, by the clock and by processor time, which excludes the work of others.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

#[derive(Clone, Debug, Default)]
pub(crate) struct Samples {
    clock: Vec<Duration>,
    processor: Vec<Duration>,
}

fn processor() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

impl Samples {
    pub(crate) fn time<T>(&mut self, act: impl FnOnce() -> T) -> T {
        let (clock, on_processor) = (Instant::now(), processor());
        let done = act();
        self.processor.push(processor().saturating_sub(on_processor));
        self.clock.push(clock.elapsed());
        done
    }

    pub(crate) fn extend(&mut self, other: &Samples) {
        self.clock.extend(&other.clock);
        self.processor.extend(&other.processor);
    }

    /// In seconds, by the clock and by processor time.
    pub(crate) fn sums(&self) -> (f64, f64) {
        let sum = |times: &[Duration]| times.iter().sum::<Duration>().as_secs_f64();
        (sum(&self.clock), sum(&self.processor))
    }

    /// In milliseconds by the clock, by nearest rank.
    pub(crate) fn percentile(&self, percent: usize) -> f64 {
        percentile(&self.clock, percent)
    }

    /// `0.8 / 3.1 / 4.0, 2.9`: p50, p99 and maximum by the clock; p99 of processor time.
    pub(crate) fn line(&self) -> String {
        let at = |percent| percentile(&self.clock, percent);
        format!("{:.1} / {:.1} / {:.1}, {:.1}", at(50), at(99), at(100), percentile(&self.processor, 99))
    }
}

fn percentile(times: &[Duration], percent: usize) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).map_or(f64::NAN, |time| time.as_secs_f64() * 1e3)
}
