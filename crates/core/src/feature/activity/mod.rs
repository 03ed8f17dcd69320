//! Phase: when a prompt, or a skill, begins another phase of work, the model is told once what belongs to it: names only.
//!
//! The rules, case by case, are in `phase.md` beside this file; what a prompt asks for is told by [`crate::feature::activity::classifier`].

use crate::event::Event;
use crate::event::EventKind;
use crate::feature::CONTEXT_FOLDER;
use crate::feature::activity::classifier::Phase;
use crate::feature::activity::told::{skills, told, wanted};
use crate::feature::config::Config;
use crate::feature::facts::{Facts, Known, Needs};
use crate::feature::marks::{Mark, Marks};
use crate::feature::verdict::{Asks, Audience, Effect, Say, Verdict};
use crate::feature::{Mode, Policy, listed};
use crate::language_model::backend::Kind;
use settings::{Label, PhaseMode};

pub mod classifier;
pub mod question;
pub mod settings;
pub mod told;

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

    fn needs(&self, event: &Event<'_>, marks: Option<&Marks>) -> Option<Needs> {
        let told = || event.is_free_prompt() || event.skill().is_some();
        let begins = event.main_thread() && (late(event, marks).is_some() || told());
        begins.then_some(Needs { phase: true, ..Needs::default() })
    }

    fn skills<'c>(&self, config: &'c Config) -> Vec<&'c str> {
        config.policies.phase.labels().into_iter().flat_map(Label::names).collect()
    }

    fn decide(&self, facts: &Facts<'_>, config: &Config) -> Verdict {
        let mut verdict = advice(facts, config);
        if asks_backend(facts, config) {
            verdict.effects.push(Effect::Mark(Mark::PhaseAsked(facts.now)));
        }
        verdict
    }
}

/// What is said about the phase that begins, if one does.
fn advice(facts: &Facts<'_>, config: &Config) -> Verdict {
    let marks = facts.marks.value();
    let (phase, entry) = match (told(facts, config), late(facts.event, marks)) {
        (Ok(phase), _) if marks.is_some_and(|marks| marks.phase == Some(phase)) => {
            return Verdict::silent("the same phase");
        }
        (Ok(phase), _) => (phase, &BY_ITSELF),
        (Err(_), Some(phase)) => (phase, &LATE),
        (Err(because), None) => return Verdict::silent(because),
    };
    // What an event tells by itself is marked whatever this policy thinks (`facts::session`). An answer that came late is
    // there for every call of a turn, so it is used up where it is said.
    let effects = if entry.late { vec![Effect::Mark(Mark::Phase(phase))] } else { Vec::new() };
    let silent = |because| Verdict { effects: effects.clone(), ..Verdict::silent(because) };
    if !facts.person.may_be_there() {
        return silent(entry.unattended);
    }
    let work = marks.map(|marks| &marks.work);
    let invoked = |skill: &str| {
        let now = facts
            .event
            .skill()
            .is_some_and(|name| crate::feature::verification::work::satisfies(name, skill));
        now || work.is_some_and(|work| work.invoked(skill, None))
    };
    let skills: Vec<&str> = skills(config, phase).filter(|skill| !invoked(skill)).collect();
    let stock: Vec<&str> =
        stock(phase).iter().copied().filter(|file| facts.stock.iter().any(|found| found == file)).collect();
    if skills.is_empty() && stock.is_empty() {
        return silent(entry.nothing);
    }
    let named = |what: &str, names: &[&str]| match names {
        [] => String::new(),
        names => format!(" {what}: {}.", listed(names)),
    };
    let text = format!(
        "This session enters the phase `{}`.{}{}",
        phase.name(),
        named("Skills for it", &skills),
        named(&format!("Worth reading first, in {CONTEXT_FOLDER}/"), &stock)
    );
    let owned = |names: &[&str]| names.iter().map(ToString::to_string).collect();
    let asks = Asks::any(owned(&skills), owned(&stock));
    Verdict {
        because: entry.because,
        says: vec![Say { to: Audience::Model, text, weight: 20, explains: false, when_said: Vec::new() }],
        asks,
        effects,
        ..Verdict::pass()
    }
}

/// How a phase came to be known, in the words of a record.
struct Entry {
    late: bool,
    because: &'static str,
    unattended: &'static str,
    nothing: &'static str,
}

const BY_ITSELF: Entry = Entry {
    late: false,
    because: "another phase",
    unattended: "another phase; nobody is there",
    nothing: "another phase; nothing to name",
};

const LATE: Entry = Entry {
    late: true,
    because: "another phase, by a late answer",
    unattended: "another phase, by a late answer; nobody is there",
    nothing: "another phase, by a late answer; nothing to name",
};

/// Another phase that a backend named since, for an earlier prompt, at an event that can carry the advice.
fn late(event: &Event<'_>, marks: Option<&Marks>) -> Option<Phase> {
    let marks = marks?;
    let phase = marks.late?.phase.filter(|phase| marks.phase != Some(*phase))?;
    matches!(event.kind, EventKind::PostToolUse | EventKind::UserPromptSubmit).then_some(phase)
}

/// Whether a backend is to be asked about this prompt. It is a person's, and they wait for an agent, not for us.
fn asks_backend(facts: &Facts<'_>, config: &Config) -> bool {
    config.policies.phase.llm.backend != Kind::Off
        && facts.person.may_be_there()
        && !matches!(facts.marks, Known::Broken(_))
        && facts.guess.is_some_and(|guess| guess.confidence < wanted(config))
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
