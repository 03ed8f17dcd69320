//! Prints the result and decides whether it is good enough.

use std::fmt::Write as _;

use crate::play::{Outcome, PlayMode, SummaryStyle, Trigger};
use crate::sessions::FactKind;

/// All sessions, played in one way.
pub(crate) struct PlayedRow {
    pub(crate) way: PlayMode,
    pub(crate) outcomes: Vec<Outcome>,
}

impl PlayedRow {
    /// Kept facts of these kinds, and their total.
    fn kept(&self, kinds: &[FactKind]) -> (usize, usize) {
        let facts = self.outcomes.iter().flat_map(|outcome| &outcome.facts);
        let of: Vec<bool> = facts.filter(|(kind, _)| kinds.contains(kind)).map(|(_, kept)| *kept).collect();
        (of.iter().filter(|kept| **kept).count(), of.len())
    }

    fn average(&self, of: impl Fn(&Outcome) -> usize) -> usize {
        let sum: usize = self.outcomes.iter().map(of).sum();
        sum / self.outcomes.len().max(1)
    }
}

/// Rows come in pairs: without Tidegate, then with it.
pub(crate) fn format_table(rows: &[PlayedRow]) -> String {
    let mut text = String::from("| compaction | summariser | Tidegate | all facts |");
    for kind in FactKind::ALL {
        let _ = write!(text, " {} |", kind.name());
    }
    text.push_str(" tokens to the summariser | tokens in the context |\n|");
    text.push_str(&" --- |".repeat(6 + FactKind::ALL.len()));
    text.push('\n');
    for pair in rows.chunks(2) {
        for row in pair {
            let trigger = match row.way.trigger {
                Trigger::Automatic => "automatic",
                Trigger::Manual => "manual",
            };
            let summariser = match row.way.summariser {
                SummaryStyle::Follows => "follows instructions",
                SummaryStyle::Ignores => "ignores them",
            };
            let tidegate = if row.way.tidegate { "with" } else { "without" };
            let (kept, of) = row.kept(&FactKind::ALL);
            let _ = write!(text, "| {trigger} | {summariser} | {tidegate} | {kept} of {of} |");
            for kind in FactKind::ALL {
                let (kept, of) = row.kept(&[kind]);
                let _ = write!(text, " {kept} of {of} |");
            }
            for part in [|outcome: &Outcome| outcome.asked, |outcome: &Outcome| outcome.after] {
                let (before, now) = (pair[0].average(part), row.average(part));
                if row.way.tidegate {
                    let _ = write!(text, " {:+} |", now.cast_signed() - before.cast_signed());
                } else {
                    text.push_str(" |");
                }
            }
            text.push('\n');
        }
    }
    text
}

/// Of twelve constraints that only prompts have.
const GOAL: (usize, usize) = (10, 12);

/// Rows with Tidegate in which too few constraints that only prompts have were kept.
pub(crate) fn modes_below_goal(rows: &[PlayedRow]) -> Vec<String> {
    let mut below = Vec::new();
    for row in rows.iter().filter(|row| row.way.tidegate) {
        let (kept, of) = row.kept(&[FactKind::Limit]);
        if kept * GOAL.1 < of * GOAL.0 {
            let PlayMode { trigger, summariser, .. } = row.way;
            below.push(format!(
                "{trigger:?}, {summariser:?}: {kept} of {of} only in prompts, not {} of {}",
                GOAL.0, GOAL.1
            ));
        }
    }
    below
}

/// Pairs in which Tidegate did not help: some kind kept fewer facts with it, or all kinds together not more.
pub(crate) fn modes_without_gain(rows: &[PlayedRow]) -> Vec<String> {
    let mut worse = Vec::new();
    for pair in rows.chunks(2) {
        let [without, with] = pair else { continue };
        let ((before, _), (now, of)) = (without.kept(&FactKind::ALL), with.kept(&FactKind::ALL));
        if now <= before {
            let PlayMode { trigger, summariser, .. } = with.way;
            worse.push(format!("{trigger:?}, {summariser:?}: {now} of {of} with Tidegate, {before} without"));
        }
        for kind in FactKind::ALL {
            let ((before, _), (now, of)) = (without.kept(&[kind]), with.kept(&[kind]));
            if now < before {
                let PlayMode { trigger, summariser, .. } = with.way;
                worse.push(format!(
                    "{trigger:?}, {summariser:?}, {}: {now} of {of} with Tidegate, {before} without",
                    kind.name()
                ));
            }
        }
    }
    worse
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(tidegate: bool, kept: [bool; 2]) -> PlayedRow {
        let way = PlayMode { trigger: Trigger::Manual, summariser: SummaryStyle::Ignores, tidegate };
        let facts = vec![(FactKind::Decision, kept[0]), (FactKind::Path, kept[1])];
        let (asked, after) = if tidegate { (1_200, 5_050) } else { (1_000, 5_000) };
        PlayedRow { way, outcomes: vec![Outcome { facts, asked, after, failed: 0 }] }
    }

    #[test]
    fn no_help_is_noticed() {
        let judged = |before, now| modes_without_gain(&[row(false, before), row(true, now)]);
        assert_eq!(judged([false, true], [true, true]), Vec::<String>::new());
        let same = "Manual, Ignores: 1 of 2 with Tidegate, 1 without";
        assert_eq!(judged([false, true], [false, true]), [same]);
        let other = "Manual, Ignores, paths: 0 of 1 with Tidegate, 1 without";
        assert_eq!(judged([false, true], [true, false]), [same, other]);
    }

    #[test]
    fn too_few_constraints_are_noticed() {
        let played = |kept: usize, tidegate| {
            let mut row = row(tidegate, [true, true]);
            row.outcomes[0].facts = (0..12).map(|number| (FactKind::Limit, number < kept)).collect();
            row
        };
        assert_eq!(modes_below_goal(&[played(0, false), played(10, true)]), Vec::<String>::new());
        let below = "Manual, Ignores: 9 of 12 only in prompts, not 10 of 12";
        assert_eq!(modes_below_goal(&[played(0, false), played(9, true)]), [below]);
    }

    #[test]
    fn the_table_counts_facts_and_what_they_cost() {
        let text = format_table(&[row(false, [false, true]), row(true, [true, true])]);
        let rows: Vec<&str> = text.lines().skip(2).collect();
        assert_eq!(
            rows,
            [
                "| manual | ignores them | without | 1 of 2 | 0 of 0 | 0 of 1 | 1 of 1 | 0 of 0 | 0 of 0 | 0 of 0 | | |",
                "| manual | ignores them | with | 2 of 2 | 0 of 0 | 1 of 1 | 1 of 1 | 0 of 0 | 0 of 0 | 0 of 0 | +200 | +50 |",
            ]
        );
    }
}
