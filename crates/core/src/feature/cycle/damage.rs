//! A state file that cannot be used: kept aside, and told once.

use crate::feature::cycle::policy::stage_project;
use crate::feature::cycle::standing::CycleStanding;
use crate::feature::cycle::waits::tell_once;
use crate::feature::cycle::{CycleDamage, effect, words};
use crate::feature::facts::Facts;
use crate::feature::verdict::{Effect, Verdict};

/// A notice that is given once per session.
const DAMAGED: &str = "cycle damaged";

pub(super) fn set_aside_damaged(
    facts: &Facts<'_>,
    standing: &CycleStanding,
    damage: &CycleDamage,
    mut effects: Vec<Effect>,
) -> Verdict {
    let aside = effect::Effect::SetAside { project: stage_project(facts), old: standing.text.clone() };
    effects.push(Effect::Cycle(aside));
    report_unusable(facts, damage, effects, "the state file is damaged")
}

/// Tells the person once. An unknown cycle (a typo in the config, lost trust) leaves the file in place: it is valid
/// again once the config is.
pub(super) fn report_unusable(
    facts: &Facts<'_>,
    damage: &CycleDamage,
    effects: Vec<Effect>,
    because: &'static str,
) -> Verdict {
    let mut verdict = Verdict { effects, ..Verdict::silent(because) };
    tell_once(facts, &mut verdict, DAMAGED.to_owned(), 60, || words::damaged(facts.lang, damage));
    verdict
}
