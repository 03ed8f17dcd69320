//! Past cycles and the cost of their stages: one JSON object per line.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::feature::cycle::definition::{Cycle, MinLeft};
use crate::feature::cycle::state::{CycleState, CycleStatus};
use crate::time::Millis;

/// Fewer runs predict nothing.
const MIN_SAMPLES: usize = 5;

/// Older runs say little about the work at hand.
const MAX_SAMPLES: usize = 40;

/// A cycle that ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CycleRun {
    /// Unique: of two lines with the same id the later counts.
    pub id: String,
    pub cycle: String,
    /// `complete`, `failed`, `stopped` or `abandoned`.
    pub ended: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    pub at: String,
    /// The session in which it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Ended stages in their order.
    pub stages: Vec<StageCost>,
    /// Reported by the stages themselves.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub metrics: Map<String, Value>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StageCost {
    pub name: String,
    /// `None` if either end is unknown or a compaction lay between them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
}

impl CycleRun {
    pub fn from_state(state: &CycleState, cycle: Option<&Cycle>, ended: &str, now: Millis) -> CycleRun {
        let place = |name: &str| cycle.and_then(|cycle| cycle.position(name)).unwrap_or(usize::MAX);
        let over = state.stages.iter().filter(|(_, spent)| spent.end.is_some() || spent.ended);
        let mut stages: Vec<StageCost> =
            over.map(|(name, spent)| StageCost { name: name.clone(), tokens: spent.tokens() }).collect();
        stages.sort_by_key(|took| place(&took.name));
        let reason = state.stopped_reason.clone().filter(|_| state.status != CycleStatus::Running);
        // A cycle that another tool started has no id of its own.
        let id = if state.started_at.is_some() {
            state.run_id()
        } else {
            format!("{}-{}", state.cycle, now.iso())
        };
        CycleRun {
            id,
            cycle: state.cycle.clone(),
            ended: ended.to_owned(),
            reason,
            at: now.iso(),
            session: state.session_id.clone(),
            stages,
            metrics: state.metrics.clone(),
        }
    }

    /// Oldest first. Skips unreadable lines; of two runs with the same id the later counts.
    pub fn parse_history(bytes: &[u8]) -> Vec<CycleRun> {
        let mut runs: Vec<CycleRun> = Vec::new();
        for line in bytes.split(|byte| *byte == b'\n') {
            let Ok(run) = serde_json::from_slice::<CycleRun>(line) else { continue };
            if run.id.is_empty() {
                continue;
            }
            runs.retain(|known| known.id != run.id);
            runs.push(run);
        }
        runs
    }

    fn cost_of(&self, stage: &str) -> Option<u64> {
        self.stages.iter().find(|took| took.name == stage)?.tokens
    }
}

/// Sorted samples.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Distribution(Vec<u64>);

impl Distribution {
    fn of(mut numbers: Vec<u64>) -> Distribution {
        let old = numbers.len().saturating_sub(MAX_SAMPLES);
        numbers.drain(..old);
        numbers.sort_unstable();
        Distribution(numbers)
    }

    pub fn count(&self) -> usize {
        self.0.len()
    }

    pub fn percentile(&self, percent: usize) -> Option<u64> {
        let rank = (self.0.len() * percent).div_ceil(100).max(1);
        self.0.get(rank - 1).copied()
    }
}

pub fn stage_costs(runs: &[CycleRun], name: &str, stage: &str) -> Distribution {
    Distribution::of(
        runs.iter().filter(|run| run.cycle == name).filter_map(|run| run.cost_of(stage)).collect(),
    )
}

/// Cost of the stages from `at` on, in runs that completed all of them.
pub fn remaining_costs(runs: &[CycleRun], name: &str, cycle: &Cycle, at: usize) -> Distribution {
    let rest = cycle.stages.get(at..).unwrap_or_default();
    let sum = |run: &CycleRun| rest.iter().map(|stage| run.cost_of(&stage.name)).sum::<Option<u64>>();
    Distribution::of(runs.iter().filter(|run| run.cycle == name).filter_map(sum).collect())
}

/// The threshold that the history implies, once there are enough runs.
pub fn learned_min_left(runs: &[CycleRun], name: &str, cycle: &Cycle, at: usize) -> Option<u64> {
    let took = remaining_costs(runs, name, cycle, at);
    took.percentile(80).filter(|_| took.count() >= MIN_SAMPLES)
}

/// Tokens that must be left before a stage begins.
pub fn min_left(runs: &[CycleRun], name: &str, cycle: &Cycle, at: usize) -> u64 {
    let written = cycle.stages.get(at).map_or(MinLeft::Auto, |stage| stage.min_left);
    written
        .tokens()
        .or_else(|| learned_min_left(runs, name, cycle, at))
        .unwrap_or_else(|| cycle.default_min_left(at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn run(id: usize, tokens: [Option<u64>; 4]) -> CycleRun {
        let names = ["sprint", "audit", "ship", "retrospective"];
        let took = |(name, tokens): (&str, Option<u64>)| StageCost { name: name.into(), tokens };
        let stages = names.into_iter().zip(tokens).map(took).collect();
        CycleRun { id: format!("r{id}"), cycle: "dev-cycle".into(), stages, ..CycleRun::default() }
    }

    fn auto() -> Cycle {
        let mut cycle = Cycle::default();
        cycle.stages.iter_mut().for_each(|stage| stage.min_left = MinLeft::Auto);
        cycle
    }

    #[test]
    fn five_samples_are_enough() {
        let all = |count| -> Vec<CycleRun> {
            (1..=count).map(|n| run(n, [Some(9), Some(n as u64 * 1000), Some(2000), Some(300)])).collect()
        };
        let left = |count, at| min_left(&all(count), "dev-cycle", &auto(), at);
        assert_eq!((left(4, 1), left(4, 2), left(4, 3)), (100_000, 60_000, 30_000));
        // The fourth of five is the 80th percentile.
        assert_eq!((left(5, 1), left(5, 2), left(5, 3)), (6300, 2300, 300));
        assert_eq!(min_left(&all(5), "dev-cycle", &Cycle::default(), 1), 100_000, "as it is written");
        assert_eq!(min_left(&all(5), "other", &auto(), 1), 100_000, "another cycle's say nothing");
    }

    #[test]
    fn a_stage_without_a_number_makes_its_cycle_no_sample() {
        let runs: Vec<CycleRun> = (0..9).map(|n| run(n, [Some(1), Some(2), None, Some(4)])).collect();
        assert_eq!(learned_min_left(&runs, "dev-cycle", &auto(), 1), None);
        assert_eq!(learned_min_left(&runs, "dev-cycle", &auto(), 3), Some(4));
        assert_eq!(stage_costs(&runs, "dev-cycle", "audit").count(), 9);
    }

    #[test]
    fn torn_lines_and_lines_that_come_twice() {
        let lines = "{\"id\":\"a\",\"cycle\":\"x\",\"ended\":\"stopped\"}\n{\"id\":\"b\",\"cyc\n\n{\"x\":1}\n{\"id\":\"a\",\"ended\":\"complete\"}";
        let runs = CycleRun::parse_history(lines.as_bytes());
        assert_eq!(runs.len(), 1);
        assert_eq!(runs[0].ended, "complete");
    }

    proptest! {
        #[test]
        fn more_was_needed_never_lowers_the_threshold(samples in proptest::collection::vec(0u64..200_000, 5..40), more in 0u64..50_000) {
            let runs = |more: u64| -> Vec<CycleRun> {
                samples.iter().enumerate().map(|(n, took)| run(n, [None, None, None, Some(took + more)])).collect()
            };
            let before = learned_min_left(&runs(0), "dev-cycle", &auto(), 3);
            prop_assert_eq!(learned_min_left(&runs(more), "dev-cycle", &auto(), 3), before.map(|before| before + more));
        }

        #[test]
        fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = CycleRun::parse_history(&bytes);
        }
    }
}
