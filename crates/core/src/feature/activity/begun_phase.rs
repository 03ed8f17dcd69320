//! The phase that an event begins.

use crate::feature::activity::classifier::Phase;
use crate::feature::activity::marks::Mark;
use crate::feature::activity::settings::{PhaseMode, PhaseSettings};
use crate::feature::config::Config;
use crate::feature::facts::{Facts, Known};
use crate::text::skill_name::satisfies;

/// The phase of the event itself, which may be the current one, or the reason why it has none.
pub fn event_phase(facts: &Facts<'_>, config: &Config) -> Result<Phase, &'static str> {
    let now = match &facts.marks {
        Known::Value(marks) => marks.activity.phase,
        Known::Absent => None,
        Known::Broken(_) => return Err("the session's state cannot be read"),
    };
    match (facts.event.invoked_skill(), facts.activity.guess) {
        (Some(name), _) => phase_of_skill(config, name, now).ok_or("the skill belongs to no activity"),
        (None, None) => Err("not a prompt of a person"),
        (None, Some(guess)) if guess.phase == Phase::Other => Err("the prompt asks for nothing new"),
        (None, Some(guess)) if guess.confidence < wanted_confidence(config) => {
            Err("the prompt fits several activities")
        }
        (None, Some(guess)) => Ok(guess.phase),
    }
}

pub fn mark(facts: &Facts<'_>, config: &Config) -> Option<Mark> {
    let looks = config.policies.phase.mode != PhaseMode::Off;
    if !looks || facts.activity.guess.is_none() && facts.event.invoked_skill().is_none() {
        return None;
    }
    let phase = event_phase(facts, config).ok()?;
    let known = facts.marks.value().map(|marks| &marks.activity);
    // Confirming the current phase cancels an answer that is still to come.
    let news = known.is_none_or(|known| known.phase != Some(phase) || known.late.is_some());
    news.then_some(Mark::Phase(phase))
}

/// From 0 to 1.
pub fn wanted_confidence(config: &Config) -> f64 {
    config.policies.phase.confidence.get() as f64 / 100.0
}

/// Several phases may list a skill; the current one comes first.
fn phase_of_skill(config: &Config, name: &str, now: Option<Phase>) -> Option<Phase> {
    let lists = |phase: &Phase| phase_skills(config, *phase).any(|skill| satisfies(name, skill));
    now.filter(lists).or_else(|| Phase::ALL.into_iter().find(lists))
}

pub fn phase_skills(config: &Config, phase: Phase) -> impl Iterator<Item = &str> {
    config.policies.phase.label(phase.name()).into_iter().flat_map(PhaseSettings::names)
}
