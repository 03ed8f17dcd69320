//! Phase: when a prompt, or a skill, begins another phase of work, the model is told once what belongs to it: names only.
//!
//! The rules, case by case, are in `phase.md` beside this file; what a prompt asks for is told by [`crate::phase`].

use super::{Mode, Policy, listed};
use crate::config::Config;
use crate::event::Event;
use crate::facts::marks::Marks;
use crate::facts::{Facts, Known, Needs};
use crate::phase::Phase;
use crate::verdict::{Asks, Audience, Say, Verdict};
use settings::PhaseMode;

pub mod settings;

pub use settings::Settings;

/// The policy.
pub struct PhaseAdvice;

impl Policy for PhaseAdvice {
    fn id(&self) -> &'static str {
        "phase"
    }

    fn mode(&self, config: &Config) -> Mode {
        match config.policies.phase.mode {
            PhaseMode::Advise => Mode::Live,
            PhaseMode::Shadow => Mode::Shadow,
            PhaseMode::Off => Mode::Off,
        }
    }

    fn needs(&self, event: &Event<'_>, _: Option<&Marks>) -> Option<Needs> {
        let begins = event.main_thread() && (event.free_prompt().is_some() || event.skill().is_some());
        begins.then_some(Needs { phase: true, ..Needs::default() })
    }

    fn decide(&self, facts: &Facts<'_>, config: &Config) -> Verdict {
        let phase = match change(facts, config) {
            Ok(phase) => phase,
            Err(because) => return Verdict::silent(because),
        };
        if !facts.attended {
            return Verdict::silent("another phase; nobody is there");
        }
        let work = facts.marks.value().map(|marks| &marks.work);
        let invoked = |skill: &str| {
            let now = facts.event.skill().is_some_and(|name| crate::facts::work::satisfies(name, skill));
            now || work.is_some_and(|work| work.invoked(skill, None))
        };
        let skills: Vec<&str> = skills(config, phase).filter(|skill| !invoked(skill)).collect();
        let stock: Vec<&str> = stock(phase).iter().copied().filter(|file| facts.stock.iter().any(|found| found == file)).collect();
        if skills.is_empty() && stock.is_empty() {
            return Verdict::silent("another phase; nothing to name");
        }
        let named = |what: &str, names: &[&str]| match names {
            [] => String::new(),
            names => format!(" {what}: {}.", listed(names)),
        };
        let text = format!(
            "This session enters the phase `{}`.{}{}",
            phase.name(),
            named("Skills for it", &skills),
            named("Worth reading first, in .claude/context/", &stock)
        );
        let owned = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        let asks = Asks::any(owned(&skills), owned(&stock));
        Verdict {
            because: "another phase",
            says: vec![Say { to: Audience::Model, text, weight: 20, explains: false, when_said: Vec::new() }],
            asks,
            ..Verdict::pass()
        }
    }
}

/// The phase that this event begins, or why it begins none.
pub fn change(facts: &Facts<'_>, config: &Config) -> Result<Phase, &'static str> {
    let now = match &facts.marks {
        Known::Value(marks) => marks.phase,
        Known::Absent => None,
        Known::Broken(_) => return Err("the marks cannot be read"),
    };
    let phase = match (facts.event.skill(), facts.guess) {
        (Some(name), _) => of_skill(config, name, now).ok_or("a skill of no phase")?,
        (None, None) => return Err("no prompt of a person"),
        (None, Some(guess)) if guess.phase == Phase::Other => return Err("the prompt asks for nothing new"),
        (None, Some(guess)) => {
            let wanted = config.policies.phase.confidence.get() as f64 / 100.0;
            if guess.confidence < wanted {
                return Err("the prompt could be of several phases");
            }
            guess.phase
        }
    };
    if Some(phase) == now { Err("the same phase") } else { Ok(phase) }
}

/// The phase that lists a skill; the present one counts first, since several may.
fn of_skill(config: &Config, name: &str, now: Option<Phase>) -> Option<Phase> {
    let lists = |phase: &Phase| skills(config, *phase).any(|skill| crate::facts::work::satisfies(name, skill));
    now.filter(lists).or_else(|| Phase::ALL.into_iter().find(lists))
}

fn skills(config: &Config, phase: Phase) -> impl Iterator<Item = &str> {
    config.policies.phase.label(phase.name()).into_iter().flat_map(settings::Label::names)
}

/// The stock that helps before a phase.
pub fn stock(phase: Phase) -> &'static [&'static str] {
    const FEATURE: &str = "learnings-feature-spec.md";
    const DESIGN: &str = "learnings-design.md";
    const CODING: &str = "learnings-coding.md";
    match phase {
        Phase::Research => &[FEATURE, DESIGN, CODING, "learnings.md"],
        Phase::Spec => &[FEATURE],
        Phase::Design => &[FEATURE, DESIGN],
        Phase::Plan | Phase::Implement | Phase::Review => &[DESIGN, CODING],
        Phase::Debug => &[CODING],
        Phase::Brainstorm | Phase::Ship | Phase::Reflect | Phase::Other => &[],
    }
}
