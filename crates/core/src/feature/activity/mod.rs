//! Activity: when a prompt, or a skill, begins another activity, the model is told once which skills and files help:
//! names only, each of them once per session. Advice that is ignored ends.
//!
//! The rules, case by case, are in `activity.md`; [`crate::feature::activity::classifier`] classifies prompts.
//!
//! A language model can be asked about prompts that the classifier is unsure about, but its answer takes
//! seconds and a hook has milliseconds. So the prompt leaves a mark (`PhaseAsked`), and after its answer the
//! hook starts a process (`tidegate activity ask`) without waiting for it. The model's answer becomes another
//! mark (`LatePhase`). Whether it still counts is decided where marks are folded: not if it is about another
//! prompt, or if a newer `Phase` came before it. The next event that can carry advice uses it up under the
//! session's lock.

use crate::event::Event;
use crate::event::EventKind;
use crate::feature::CONTEXT_FOLDER;
use crate::feature::activity::begun_phase::{event_phase, phase_skills, wanted_confidence};
use crate::feature::activity::classifier::Phase;
use crate::feature::activity::marks::{GivenAdvice, Mark};
use crate::feature::config::Config;
use crate::feature::facts::{Facts, Known, Needs};
use crate::feature::marks::{Mark as AnyMark, Marks};
use crate::feature::verdict::{Asks, Audience, Effect, Say, Verdict};
use crate::feature::{Feature, Mode, Policy};
use crate::language_model::backend::BackendKind;
use crate::text::list::name_a_few;
use crate::text::skill_name::satisfies;
use settings::{PhaseMode, PhaseSettings};

pub mod classifier;
pub mod effect;
pub mod facts;
pub mod marks;
pub mod question;
pub mod settings;
pub mod begun_phase;

pub use settings::Settings;

pub struct Room;

impl Feature for Room {
    type Needs = facts::Needs;
    type Facts = facts::Facts;
    type Effect = effect::Effect;

    fn observe(facts: &Facts<'_>, config: &Config) -> Vec<AnyMark> {
        if !facts.event.is_main_thread() {
            return Vec::new();
        }
        let heeded = reads_named_file(facts).then_some(Mark::AdviceHeeded);
        begun_phase::mark(facts, config).into_iter().chain(heeded).map(AnyMark::from).collect()
    }
}

fn reads_named_file(facts: &Facts<'_>) -> bool {
    let Some(advice) = facts.marks.value().map(|marks| &marks.activity.advice).filter(|advice| advice.open)
    else {
        return false;
    };
    let is_named = |path: &str| path.rsplit(['/', '\\']).next().is_some_and(|name| advice.has_named(name));
    facts.event.read_path().is_some_and(is_named)
}

pub struct PhaseAdvice;

impl Policy for PhaseAdvice {
    fn id(&self) -> &'static str {
        "activity"
    }

    fn mode(&self, config: &Config) -> Mode {
        match config.policies.phase.mode {
            PhaseMode::Advise => Mode::Live,
            PhaseMode::Shadow => Mode::Shadow,
            PhaseMode::Off => Mode::Off,
        }
    }

    fn needs(&self, event: &Event<'_>, marks: Option<&Marks>) -> Option<Needs> {
        let told = || event.is_free_prompt() || event.invoked_skill().is_some();
        let begins = event.is_main_thread() && (late_phase(event, marks).is_some() || told());
        let guess = facts::Needs { guess: true, ..facts::Needs::default() };
        begins.then_some(Needs { activity: guess, ..Needs::default() })
    }

    fn needs_more(&self, facts: &Facts<'_>, _: &Config) -> Needs {
        // Most prompts continue the current phase, for which nothing is named.
        let now = facts.marks.value().and_then(|marks| marks.activity.phase);
        let speaks = facts.marks.value().is_none_or(|marks| marks.activity.advice.may_go_on());
        let looks = speaks && facts.activity.guess.is_none_or(|guess| Some(guess.phase) != now);
        let more = facts::Needs { stock: looks, installed: looks, ..facts::Needs::default() };
        Needs { activity: more, ..Needs::default() }
    }

    fn skills<'c>(&self, config: &'c Config) -> Vec<&'c str> {
        config.policies.phase.labels().into_iter().flat_map(PhaseSettings::names).collect()
    }

    fn decide(&self, facts: &Facts<'_>, config: &Config) -> Verdict {
        let mut verdict = advise_phase(facts, config);
        if asks_backend(facts, config) {
            let prompt = facts.event.free_prompt().unwrap_or_default().into_owned();
            verdict.effects.push(Effect::Activity(effect::Effect::Ask { prompt, at: facts.now }));
        }
        verdict
    }
}

fn advise_phase(facts: &Facts<'_>, config: &Config) -> Verdict {
    let marks = facts.marks.value();
    let (phase, entry) = match (event_phase(facts, config), late_phase(facts.event, marks)) {
        (Ok(phase), _) if marks.is_some_and(|marks| marks.activity.phase == Some(phase)) => {
            return Verdict::silent("the same activity");
        }
        (Ok(phase), _) => (phase, &BY_ITSELF),
        (Err(_), Some(phase)) => (phase, &LATE),
        (Err(because), None) => return Verdict::silent(because),
    };
    // The phase of an event itself is marked in any case (`Room::observe`). A late answer is there for every
    // call of a turn, so delivering it uses it up.
    let effects = if entry.late { vec![Effect::mark(Mark::Phase(phase))] } else { Vec::new() };
    let silent = |because| Verdict { effects: effects.clone(), ..Verdict::silent(because) };
    if !facts.person.may_be_there() {
        return silent(entry.unattended);
    }
    let none = GivenAdvice::default();
    let given = marks.map_or(&none, |marks| &marks.activity.advice);
    if !given.may_go_on() {
        return silent(entry.ignored);
    }
    let session = marks.map(|marks| &marks.session);
    let invoked = |skill: &str| {
        let now = facts.event.invoked_skill().is_some_and(|name| satisfies(name, skill));
        now || session.is_some_and(|session| session.invoked(skill, None))
    };
    let is_news = |name: &str| !given.has_named(name);
    let is_installed = |name: &str| facts.activity.installed.iter().any(|found| found == name);
    let mut skills: Vec<&str> = Vec::new();
    for skill in skills_before(config, phase) {
        if !skills.contains(&skill) && is_news(skill) && is_installed(skill) && !invoked(skill) {
            skills.push(skill);
        }
    }
    let stock: Vec<&str> = helpful_stock(phase)
        .iter()
        .copied()
        .filter(|file| is_news(file) && facts.activity.stock.iter().any(|found| found == file))
        .collect();
    if skills.is_empty() && stock.is_empty() {
        return silent(entry.nothing);
    }
    let owned = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
    let advised = Mark::Advised(given.and(owned(&skills).into_iter().chain(owned(&stock))));
    let when_said = vec![Effect::mark(advised)];
    let text = advice_text(phase, &skills, &stock);
    Verdict {
        because: entry.because,
        says: vec![Say { to: Audience::Model, text, weight: 20, explains: false, when_said }],
        asks: Asks::any(owned(&skills), owned(&stock)),
        effects,
        ..Verdict::pass()
    }
}

fn advice_text(phase: Phase, skills: &[&str], stock: &[&str]) -> String {
    let noun = if skills.len() == 1 { "skill" } else { "skills" };
    let invoke = format!("Invoke the {noun} {}", name_a_few(skills));
    let files = format!("{} in {CONTEXT_FOLDER}", name_a_few(stock));
    let ask = match (skills, stock) {
        ([], _) => format!("Read {files}"),
        (_, []) => invoke,
        _ => format!("{invoke} and read {files}"),
    };
    format!("{ask} first: the activity is now `{}`.", phase.name())
}

/// Skills of the phase, and those without which the skill gate would stop its edits.
fn skills_before(config: &Config, phase: Phase) -> impl Iterator<Item = &str> {
    let edits = matches!(phase, Phase::Implement | Phase::Debug);
    let required = config.policies.skill_gate.before_code().filter(move |_| edits);
    phase_skills(config, phase).chain(required).chain(usual_skills(phase).iter().copied())
}

/// Names under which people keep a skill of their own for a phase. Installed ones are named without any setting.
pub fn usual_skills(phase: Phase) -> &'static [&'static str] {
    match phase {
        Phase::Research => &["research"],
        Phase::Brainstorm => &["brainstorm", "brainstorming"],
        Phase::Spec => &["spec", "requirements"],
        Phase::Design => &["design", "architecture"],
        Phase::Plan => &["plan", "planning", "writing-plans"],
        Phase::Implement => &["implement", "tdd", "test-driven-development"],
        Phase::Debug => &["debug", "debugging", "systematic-debugging"],
        Phase::Review => &["review", "code-review"],
        // Tidegate's own skill `ship` is for a stage of a cycle.
        Phase::Ship => &["release", "commit"],
        Phase::Reflect => &["retro", "retrospective"],
        Phase::Other => &[],
    }
}

/// Skills that advice may name, in any phase; some come twice.
pub fn nameable_skills(config: &Config) -> impl Iterator<Item = &str> {
    let of_phases = config.policies.phase.labels().into_iter().flat_map(PhaseSettings::names);
    of_phases.chain(config.policies.skill_gate.before_code())
}

/// How a phase became known, in the words of a record.
struct PhaseCause {
    late: bool,
    because: &'static str,
    unattended: &'static str,
    nothing: &'static str,
    ignored: &'static str,
}

const BY_ITSELF: PhaseCause = PhaseCause {
    late: false,
    because: "another activity",
    unattended: "another activity; the session is unattended",
    nothing: "another activity; nothing new to name",
    ignored: "another activity; enough was said",
};

const LATE: PhaseCause = PhaseCause {
    late: true,
    because: "another activity, by a late answer",
    unattended: "another activity, by a late answer; the session is unattended",
    nothing: "another activity, by a late answer; nothing new to name",
    ignored: "another activity, by a late answer; enough was said",
};

/// The phase that an event begins, by itself or by the late answer of a language model.
pub fn begun_or_late_phase(facts: &Facts<'_>, config: &Config) -> Option<Phase> {
    event_phase(facts, config).ok().or_else(|| late_phase(facts.event, facts.marks.value()))
}

/// Another phase that a language model named for an earlier prompt, at an event that can carry the advice.
fn late_phase(event: &Event<'_>, marks: Option<&Marks>) -> Option<Phase> {
    let marks = marks?;
    let phase = marks.activity.late?.phase.filter(|phase| marks.activity.phase != Some(*phase))?;
    matches!(event.kind, EventKind::PostToolUse | EventKind::UserPromptSubmit).then_some(phase)
}

/// Never for an unattended run.
fn asks_backend(facts: &Facts<'_>, config: &Config) -> bool {
    config.policies.phase.llm.backend != BackendKind::Off
        && facts.person.may_be_there()
        && !matches!(facts.marks, Known::Broken(_))
        && facts.activity.guess.is_some_and(|guess| guess.confidence < wanted_confidence(config))
}

pub fn helpful_stock(phase: Phase) -> &'static [&'static str] {
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
