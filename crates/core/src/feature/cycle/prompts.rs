//! What a person's prompts and answers mean to a cycle that is under way.

use super::settings::CycleMode;
use crate::event::action::{Action, OWN_HEADER, QuestionAnswer, QuestionAnswers};
use crate::feature::config::Config;
use crate::feature::cycle::consent::{ConsentChange, Owed};
use crate::feature::cycle::marks::{Mark, Marks, Order};
use crate::feature::cycle::not_counted::{Asked, WhyNot, Yes, read_yes};
use crate::feature::cycle::order::read_order;
use crate::feature::cycle::policy::stage_project;
use crate::feature::cycle::reserved::publishes;
use crate::feature::cycle::resume_offer::RESUME_OFFERED;
use crate::feature::cycle::stop::begin_at_prompt;
use crate::feature::cycle::waits::{is_noticed, knows_how_to_continue, tell_person};
use crate::feature::cycle::{ActiveStage, Turn, effect, go_ahead, words};
use crate::feature::facts::Facts;
use crate::feature::verdict::{Audience, Effect, Say, Verdict};
use crate::redact::redact;
use crate::text::search;
use crate::text::skill_name::called_in;

/// A second prompt during an open turn means that the person interrupted: the client does not report an interrupt while
/// the model writes.
pub(super) fn note_prompt(facts: &Facts<'_>, config: &Config, stage: &ActiveStage) -> Verdict {
    let Some(said) = facts.typed_prompt() else { return Verdict::silent("the model scheduled the prompt") };
    let interrupts = matches!(stage.turn, Turn::Open | Turn::Interrupted);
    let yes = read_yes_to_stage(&said, config, stage, stage.turn != Turn::NeedsYes);
    let says_yes = yes == Yes::Counts;
    if says_yes
        && !interrupts
        && let Some(begun) = begin_at_prompt(facts, config, stage)
    {
        return begun;
    }
    let is_declined = !interrupts && declines(&said, &yes, stage);
    let (mark, because) = match stage.turn {
        Turn::Open | Turn::Interrupted => (Mark::StageTurn(Turn::Interrupted), "the person interrupted"),
        _ if is_declined => (Mark::StageTurn(Turn::Declined), "the person does not let it continue"),
        // It waits for a person: a prompt that an agent or the host wrote leaves no such mark.
        Turn::Waiting | Turn::NeedsYes | Turn::NeedsWord | Turn::Declined => {
            (Mark::GoAhead, "the person lets it continue")
        }
        Turn::Closed if says_yes => (Mark::GoAhead, "the person lets it continue"),
        Turn::Closed => (Mark::StageTurn(Turn::Open), "a turn begins"),
    };
    let change = match () {
        () if interrupts => ConsentChange::Owe(Owed::Interrupted),
        () if says_yes => ConsentChange::Given { stage_done: stage.done },
        () => ConsentChange::Owe(Owed::Said),
    };
    let order = note_order(facts, config, &said);
    let effects = [Some(Effect::mark(mark)), change_consent(facts, change), order];
    let why = why_explained(config, stage, yes, interrupts);
    let says = why.map(|why| explain_yes(facts, config, stage, &why, is_declined)).into_iter();
    let next = if says_yes && !interrupts { announce_next(config, stage) } else { None };
    let says = says.chain(next).collect();
    Verdict { says, effects: effects.into_iter().flatten().collect(), ..Verdict::silent(because) }
}

/// The person lets a cycle continue whose stage is done. Without this, Claude begins the next one in a turn that belongs to the
/// stage before.
fn announce_next(config: &Config, stage: &ActiveStage) -> Option<Say> {
    let next = next_stage(config, stage).filter(|_| stage.done && !publishes_next(config, stage))?;
    let text = format!(
        "End this turn without the work of stage {next} and without `tidegate cycle done`: stage {} of the cycle {} was declared done, and \
         {next} begins when the turn ends.",
        stage.stage, stage.cycle
    );
    Some(Say { to: Audience::Model, text, weight: 90, explains: false, when_said: Vec::new() })
}

/// Where a yes would let the cycle continue, and these words look like one.
fn why_explained(config: &Config, stage: &ActiveStage, yes: Yes, interrupts: bool) -> Option<WhyNot> {
    let why = match yes {
        Yes::Counts | Yes::NotCounted(WhyNot::Assent(_)) if interrupts => WhyNot::TurnOpen,
        Yes::NotCounted(why) if !interrupts => why,
        _ => return None,
    };
    let waits = stage.turn.waits() || stage.turn == Turn::Declined;
    let needs_yes = || stage.turn != Turn::Waiting || publishes_next(config, stage);
    // Any other words let a stage under way continue.
    let matters = matches!(why, WhyNot::OtherStage(_)) || stage.done && (interrupts || waits && needs_yes());
    matters.then_some(why)
}

/// Only after a no, the person need not hear again what it takes.
fn explain_yes(
    facts: &Facts<'_>,
    config: &Config,
    stage: &ActiveStage,
    why: &WhyNot,
    is_declined: bool,
) -> Say {
    let next = next_stage(config, stage);
    let waits = stage.done && (is_declined || publishes_next(config, stage));
    let text = match why {
        WhyNot::OtherStage(named) if !waits => words::begins_later(facts.lang, stage, next.as_deref(), named),
        why => words::not_counted(facts.lang, stage, next.as_deref(), why),
    };
    let is_told = stage.done && is_declined;
    let when_said = is_told.then(|| Effect::mark(knows_how_to_continue(stage))).into_iter().collect();
    Say { when_said, ..tell_person(text, 60) }
}

/// The one that follows the stage under way.
fn next_stage(config: &Config, stage: &ActiveStage) -> Option<String> {
    let cycle = config.policies.cycle.cycle(&stage.cycle)?;
    let at = cycle.position(&stage.stage)?;
    cycle.stages.get(at + 1).map(|next| next.name.clone())
}

fn publishes_next(config: &Config, stage: &ActiveStage) -> bool {
    let cycle = config.policies.cycle.cycle(&stage.cycle);
    cycle.is_some_and(|cycle| cycle.position(&stage.stage).is_some_and(|at| publishes(&cycle, at + 1)))
}

fn read_yes_to_stage(said: &str, config: &Config, stage: &ActiveStage, by_name: bool) -> Yes {
    let next = next_stage(config, stage);
    let asked = if stage.done { next.as_deref() } else { Some(stage.stage.as_str()) };
    read_yes_to_cycle(said, config, &stage.cycle, asked, by_name)
}

fn read_yes_to_cycle(said: &str, config: &Config, cycle: &str, stage: Option<&str>, by_name: bool) -> Yes {
    let names = known_names(config, cycle);
    let known: Vec<&str> = names.iter().map(String::as_str).collect();
    let stages = &known[..known.len() - 1];
    read_yes(said, &Asked { known: &known, stages, stage, by_name })
}

/// The order mark follows the newest prompt.
fn note_order(facts: &Facts<'_>, config: &Config, said: &str) -> Option<Effect> {
    let order = find_order(config, said).map(|order| Effect::mark(Mark::Ordered(order)));
    let over = || facts.marks.value().is_some_and(|marks| marks.cycle.order.is_some());
    order.or_else(|| over().then(|| Effect::mark(Mark::GoAheadOver)))
}

/// No stage is under way here: the person may order a cycle, or let one continue that failed or that another session left. Any
/// other prompt is a word of theirs since the order.
pub(super) fn note_without_stage(facts: &Facts<'_>, config: &Config, marks: &Marks) -> Verdict {
    let Some(said) = facts.typed_prompt() else { return Verdict::pass() };
    let settings = &config.policies.cycle;
    let cycles: Vec<&str> = match &marks.last {
        Some(last) => vec![&last.cycle],
        None => settings.cycle_names().collect(),
    };
    let is_of_project = facts.cycle.value().is_some_and(|standing| standing.of_project);
    let resumes_at =
        || facts.cycle.value().and_then(|standing| Some(standing.state.as_ref().ok()?.resumes_at()));
    let yes_to = |cycle: &&str| read_yes_to_cycle(&said, config, cycle, resumes_at(), true);
    let says_yes = |cycle: &&str| yes_to(cycle) == Yes::Counts;
    let waits = settings.mode != CycleMode::Off && (is_of_project || marks.last.is_some());
    let is_bare_command = called_in(&said).is_some();
    if waits && !is_bare_command && cycles.iter().any(says_yes) {
        let effects = vec![Effect::mark(Mark::GoAhead)];
        return Verdict { effects, ..Verdict::silent("the person lets it continue") };
    }
    if let Some(order) = find_order(config, &said) {
        return Verdict {
            effects: vec![Effect::mark(Mark::Ordered(order))],
            ..Verdict::silent("the person orders a cycle")
        };
    }
    let over = (marks.ahead || marks.order.is_some()).then(|| Effect::mark(Mark::GoAheadOver));
    let owed = is_of_project.then(|| change_consent(facts, ConsentChange::Owe(Owed::Said))).flatten();
    if !is_of_project && over.is_none() {
        return Verdict::pass();
    }
    let because = "a cycle waits, and the person does not say that it may continue";
    let is_known = marks.last.is_some() || is_noticed(facts, RESUME_OFFERED);
    let why = cycles.first().filter(|_| waits && is_known && !is_bare_command).and_then(|cycle| {
        match yes_to(cycle) {
            // What is not under way here seldom gets a mere assent.
            Yes::Counts | Yes::Other | Yes::NotCounted(WhyNot::Assent(_)) => None,
            Yes::NotCounted(why) => Some(words::not_resumed(facts.lang, cycle, resumes_at(), &why)),
        }
    });
    let says = why.map(|text| tell_person(text, 60)).into_iter().collect();
    Verdict { says, effects: over.into_iter().chain(owed).collect(), ..Verdict::silent(because) }
}

fn find_order(config: &Config, said: &str) -> Option<Order> {
    let settings = &config.policies.cycle;
    let cycles: Vec<&str> = settings.cycle_names().collect();
    let named = |name: &&str| search::holds_in_any_case(said.as_bytes(), name.as_bytes());
    if settings.mode == CycleMode::Off
        || !(cycles.iter().any(named) || named(&"cycle") || said.contains("サイクル"))
    {
        return None;
    }
    let steps = settings.publishing_steps();
    let stages: Vec<String> =
        cycles.iter().filter_map(|name| settings.cycle(name)).flat_map(|cycle| cycle.names(0)).collect();
    let known: Vec<&str> = stages.iter().map(String::as_str).chain(cycles.iter().copied()).collect();
    // All of the prompt: a secret may reach over several sentences.
    read_order(&redact(said).text, &cycles, &steps, &known)
}

/// Unless nothing changes by it.
pub(super) fn change_consent(facts: &Facts<'_>, change: ConsentChange) -> Option<Effect> {
    let known = facts.cycle.value().map(|standing| &standing.consent);
    let is_new = known.is_none_or(|known| known.after(&change) != *known);
    is_new.then(|| Effect::Cycle(effect::Effect::Consent { project: stage_project(facts), change }))
}

/// A person who was asked for a yes, or said no before, has to say it. Otherwise only a no counts. A question in a stage, or
/// instead of an answer, gets its own answer.
fn declines(said: &str, yes: &Yes, stage: &ActiveStage) -> bool {
    let needs_yes = matches!(stage.turn, Turn::NeedsYes | Turn::NeedsWord | Turn::Declined);
    if !stage.done || !needs_yes {
        let asks = !stage.done || stage.turn == Turn::Waiting;
        return go_ahead::holds_back(said) || asks && go_ahead::is_question(said);
    }
    *yes != Yes::Counts
}

/// The stages, then the cycle itself.
fn known_names(config: &Config, cycle: &str) -> Vec<String> {
    let stages = config.policies.cycle.cycle(cycle).map(|cycle| cycle.names(0)).unwrap_or_default();
    stages.into_iter().chain([cycle.to_owned()]).collect()
}

/// The person may also answer in the client's dialog. Only a plain yes to the publishing stage pays for it.
pub(super) fn note_answer(facts: &Facts<'_>, config: &Config, stage: &ActiveStage) -> Verdict {
    let answers = facts.event.host.question_answers(facts.tool_response);
    let is_own =
        |answers: &QuestionAnswers| answers.only.as_ref().is_some_and(|asked| asked.header == OWN_HEADER);
    if !matches!(facts.event.action, Action::Question) || answers.as_ref().is_some_and(is_own) {
        return Verdict::pass();
    }
    let given = answers.map(|answers| answers.given).unwrap_or_default();
    let said = |by_name: bool, said: &str| read_yes_to_stage(said, config, stage, by_name);
    let declined = given.iter().filter_map(|answer| answer.text.as_deref());
    let declined =
        declined.filter(|text| declines(text, &said(stage.turn != Turn::NeedsYes, text), stage)).count();
    let names = known_names(config, &stage.cycle);
    let known: Vec<&str> = names.iter().map(String::as_str).collect();
    let next = next_stage(config, stage);
    let read = |answer: &QuestionAnswer| {
        let by_name = !go_ahead::asks_for_step(&answer.question, &known);
        answer.text.as_deref().map_or(Yes::Other, |text| said(by_name, text))
    };
    let counts = !given.is_empty() && given.iter().all(|answer| read(answer) == Yes::Counts);
    let change = if counts {
        ConsentChange::Given { stage_done: stage.done }
    } else {
        ConsentChange::Owe(Owed::Asked)
    };
    // An answer to another question is none to this.
    let about = given.iter().filter(|answer| go_ahead::asks_to_continue(&answer.question, next.as_deref()));
    let why = about.filter(|_| stage.done).find_map(|answer| match read(answer) {
        Yes::NotCounted(why) => Some(why),
        Yes::Counts | Yes::Other => None,
    });
    // Asked for a yes, they gave none.
    let is_declined = declined > 0 || why.is_some();
    let declined = is_declined.then(|| Effect::mark(Mark::StageTurn(Turn::Declined)));
    Verdict {
        says: why.map(|why| explain_yes(facts, config, stage, &why, is_declined)).into_iter().collect(),
        effects: declined.into_iter().chain(change_consent(facts, change)).collect(),
        ..Verdict::silent("the person answered Claude's question")
    }
}
