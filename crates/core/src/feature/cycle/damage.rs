//! A state file that cannot be used: kept aside, and told once.

use crate::feature::cycle::policy::stage_project;
use crate::feature::cycle::standing::CycleStanding;
use crate::feature::cycle::{CycleDamage, effect, words};
use crate::feature::facts::Facts;
use crate::feature::marks::SessionMark;
use crate::feature::verdict::{Audience, Effect, Say, Verdict};

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
    if !facts.marks.value().is_some_and(|marks| marks.session.noticed(DAMAGED)) {
        verdict.says.push(Say {
            to: Audience::User,
            text: words::damaged(facts.lang, damage),
            weight: 60,
            explains: false,
            when_said: vec![Effect::mark(SessionMark::Notice(DAMAGED.to_owned()))],
        });
    }
    verdict
}
