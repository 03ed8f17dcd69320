//! Words of the person that concern a stage: "do not ship before I looked at it". The cycle asks before it begins that
//! stage.

use crate::feature::cycle::{Cycle, DoneWhen};
use crate::text::reserved::{Step, reserves};

/// The newest sentence that concerns the stage at `at`.
pub(super) fn find_reservation<'c>(
    said: impl DoubleEndedIterator<Item = &'c str>,
    cycle: &Cycle,
    at: usize,
) -> Option<&'c str> {
    let step = step_of(cycle, at)?;
    said.rev().find(|sentence| reserves(sentence, &step))
}

/// The stage at `at` makes work public.
pub fn publishes(cycle: &Cycle, at: usize) -> bool {
    step_of(cycle, at).is_some_and(|step| step.publishes)
}

/// A stage as people speak of it.
pub(super) fn step_of(cycle: &Cycle, at: usize) -> Option<Step> {
    let stage = cycle.stages.get(at)?;
    let names = |at: usize| {
        let stage = &cycle.stages[at];
        let skill = stage.skill.rsplit(':').next().unwrap_or_default();
        let mut names = vec![stage.name.to_lowercase(), skill.to_lowercase()];
        names.dedup();
        names
    };
    let own = names(at);
    let publishes = stage.done_when.contains(&DoneWhen::Commit)
        || ["ship", "releas", "push", "commit", "merg", "deploy", "publish"]
            .iter()
            .any(|step| own.iter().any(|name| name.starts_with(step)));
    Some(Step { names: own, earlier: (0..at).flat_map(names).collect(), publishes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_sentence_about_a_stage_counts() {
        let cycle = Cycle::default();
        let said = ["never commit secrets", "do not ship before I looked at it", "use tabs"];
        let found = |at| find_reservation(said.into_iter(), &cycle, at);
        assert_eq!(found(2), Some(said[1]));
        assert_eq!((found(1), found(9)), (None, None));
    }
}
