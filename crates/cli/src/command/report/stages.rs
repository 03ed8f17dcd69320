//! Tokens that the stages of cycles took, from the history of each project.

use serde::Serialize;
use tidegate_core::feature::cycle::CycleRun;
use tidegate_core::meter::short_tokens;

use crate::bilingual::both;
use crate::print::table::{Column, Table};
use crate::print::text::{data, name};

/// One stage, in all cycles that ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct StageSum {
    cycle: String,
    stage: String,
    /// How often it ended.
    times: usize,
    /// Of them, those whose cost is known: a compaction in between hides it.
    known: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    median_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    most_tokens: Option<u64>,
    /// Of those that are known.
    all_tokens: u64,
}

/// In the order in which cycles and stages first appear.
pub(super) fn sum_up<'a>(runs: impl Iterator<Item = &'a CycleRun>) -> Vec<StageSum> {
    let mut found: Vec<(&str, &str, usize, Vec<u64>)> = Vec::new();
    for run in runs {
        for stage in &run.stages {
            let is_same =
                |known: &&mut (&str, &str, usize, Vec<u64>)| known.0 == run.cycle && known.1 == stage.name;
            if let Some((.., times, tokens)) = found.iter_mut().find(is_same) {
                *times += 1;
                tokens.extend(stage.tokens);
            } else {
                found.push((&run.cycle, &stage.name, 1, stage.tokens.into_iter().collect()));
            }
        }
    }
    let sum = |(cycle, stage, times, mut tokens): (&str, &str, usize, Vec<u64>)| {
        tokens.sort_unstable();
        StageSum {
            cycle: cycle.to_owned(),
            stage: stage.to_owned(),
            times,
            known: tokens.len(),
            median_tokens: tokens.len().checked_sub(1).map(|last| tokens[last / 2]),
            most_tokens: tokens.last().copied(),
            all_tokens: tokens.iter().sum(),
        }
    };
    found.into_iter().map(sum).collect()
}

pub(super) fn draw_table(stages: &[StageSum]) -> Table {
    let mut table = Table::new([
        Column::text(both!("cycle", "サイクル")),
        Column::text(both!("stage", "ステージ")),
        Column::number(both!("times", "回数")),
        Column::number(both!("median", "中央値")),
        Column::number(both!("most", "最大")),
        Column::number(both!("all", "合計")),
    ]);
    let tokens = |tokens: Option<u64>| data(tokens.map_or_else(|| "-".to_owned(), short_tokens));
    for stage in stages {
        table.row([
            name(&stage.cycle),
            name(&stage.stage).strong(),
            data(stage.times),
            tokens(stage.median_tokens),
            tokens(stage.most_tokens),
            tokens((stage.known > 0).then_some(stage.all_tokens)),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::feature::cycle::history::StageCost;

    #[test]
    fn each_stage_is_summed_over_its_cycles() {
        let run = |cycle: &str, stages: &[(&str, Option<u64>)]| CycleRun {
            cycle: cycle.to_owned(),
            stages: stages
                .iter()
                .map(|(name, tokens)| StageCost { name: (*name).to_owned(), tokens: *tokens })
                .collect(),
            ..CycleRun::default()
        };
        let runs = [
            run("dev-cycle", &[("sprint", Some(40_000)), ("audit", None)]),
            run("release", &[("sprint", Some(1_000))]),
            run("dev-cycle", &[("sprint", Some(20_000)), ("audit", None), ("ship", Some(9_000))]),
            run("dev-cycle", &[("sprint", None)]),
        ];
        let seen: Vec<_> = sum_up(runs.iter())
            .into_iter()
            .map(|sum| {
                (
                    sum.cycle + " " + &sum.stage,
                    sum.times,
                    sum.known,
                    sum.median_tokens,
                    sum.most_tokens,
                    sum.all_tokens,
                )
            })
            .collect();
        let row =
            |name: &str, times, known, median, most, all| (name.to_owned(), times, known, median, most, all);
        assert_eq!(
            seen,
            [
                row("dev-cycle sprint", 3, 2, Some(20_000), Some(40_000), 60_000),
                row("dev-cycle audit", 2, 0, None, None, 0),
                row("release sprint", 1, 1, Some(1_000), Some(1_000), 1_000),
                row("dev-cycle ship", 1, 1, Some(9_000), Some(9_000), 9_000),
            ]
        );
    }
}
