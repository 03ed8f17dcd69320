//! What a person's prompts and answers mean to a cycle that is under way.

use super::settings::CycleMode;
use crate::event::action::{Action, OWN_HEADER, QuestionAnswer, QuestionAnswers};
use crate::feature::config::Config;
use crate::feature::cycle::consent::{ConsentChange, Owed};
use crate::feature::cycle::marks::{Mark, Marks, Order};
use crate::feature::cycle::order::read_order;
use crate::feature::cycle::policy::{begin_at_prompt, stage_project};
use crate::feature::cycle::{ActiveStage, Turn, effect, go_ahead};
use crate::feature::facts::Facts;
use crate::feature::verdict::{Effect, Verdict};
use crate::redact::redact;
use crate::text::search;

/// A second prompt during an open turn means that the person interrupted: the client does not report an interrupt while
/// the model writes.
pub(super) fn note_prompt(facts: &Facts<'_>, config: &Config, stage: &ActiveStage) -> Verdict {
    let Some(said) = facts.typed_prompt() else { return Verdict::silent("the model scheduled the prompt") };
    let interrupts = matches!(stage.turn, Turn::Open | Turn::Interrupted);
    let says_yes = lets_continue(&said, config, &stage.cycle, stage.turn != Turn::NeedsYes);
    if says_yes
        && !interrupts
        && let Some(begun) = begin_at_prompt(facts, config, stage)
    {
        return begun;
    }
    let (mark, because) = match stage.turn {
        Turn::Open | Turn::Interrupted => (Mark::StageTurn(Turn::Interrupted), "the person interrupted"),
        _ if declines(&said, config, stage) => {
            (Mark::StageTurn(Turn::Declined), "the person does not let it continue")
        }
        // It waits for a person: a prompt that an agent or the host wrote leaves no such mark.
        Turn::Waiting | Turn::NeedsYes | Turn::NeedsWord | Turn::Declined => {
            (Mark::GoAhead, "the person lets it continue")
        }
        Turn::Closed => (Mark::StageTurn(Turn::Open), "a turn begins"),
    };
    let change = match () {
        () if interrupts => ConsentChange::Owe(Owed::Interrupted),
        () if says_yes => ConsentChange::Given { stage_done: stage.done },
        () => ConsentChange::Owe(Owed::Said),
    };
    let order = note_order(facts, config, &said);
    let effects = [Some(Effect::mark(mark)), change_consent(facts, change), order];
    Verdict { effects: effects.into_iter().flatten().collect(), ..Verdict::silent(because) }
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
    let Some(said) = facts.typed_prompt() else { return Verdict::silent("the model scheduled the prompt") };
    let settings = &config.policies.cycle;
    let cycles: Vec<&str> = match &marks.last {
        Some(last) => vec![&last.cycle],
        None => settings.cycle_names().collect(),
    };
    let is_of_project = facts.cycle.value().is_some_and(|standing| standing.of_project);
    let says_yes = |cycle: &&str| lets_continue(&said, config, cycle, true);
    let waits = settings.mode != CycleMode::Off && (is_of_project || marks.last.is_some());
    let is_bare_command = said.trim_start().starts_with('/');
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
    let because = if is_of_project || over.is_some() {
        "a cycle waits, and the person does not say that it may continue"
    } else {
        "no cycle is under way here"
    };
    Verdict { effects: over.into_iter().chain(owed).collect(), ..Verdict::silent(because) }
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
pub(super) fn declines(said: &str, config: &Config, stage: &ActiveStage) -> bool {
    let needs_yes = matches!(stage.turn, Turn::NeedsYes | Turn::NeedsWord | Turn::Declined);
    if !stage.done || !needs_yes {
        let asks = !stage.done || stage.turn == Turn::Waiting;
        return go_ahead::holds_back(said) || asks && go_ahead::is_question(said);
    }
    !lets_continue(said, config, &stage.cycle, stage.turn != Turn::NeedsYes)
}

/// `by_name`: a mere assent is not enough.
fn lets_continue(said: &str, config: &Config, cycle: &str, by_name: bool) -> bool {
    let names = known_names(config, cycle);
    let known: Vec<&str> = names.iter().map(String::as_str).collect();
    go_ahead::lets_continue(said, &known, by_name)
}

fn known_names(config: &Config, cycle: &str) -> Vec<String> {
    let stages = config.policies.cycle.cycle(cycle).map(|cycle| cycle.names(0)).unwrap_or_default();
    stages.into_iter().chain([cycle.to_owned()]).collect()
}

/// The person may also answer in the client's dialog. Only a plain yes to the publishing stage pays for it.
pub(super) fn note_answer(facts: &Facts<'_>, config: &Config, stage: &ActiveStage) -> Vec<Effect> {
    if !matches!(facts.event.action, Action::Question) {
        return Vec::new();
    }
    let answers = facts.event.host.question_answers(facts.tool_response);
    let is_own =
        |answers: &QuestionAnswers| answers.only.as_ref().is_some_and(|asked| asked.header == OWN_HEADER);
    if answers.as_ref().is_some_and(is_own) {
        return Vec::new();
    }
    let given = answers.map(|answers| answers.given).unwrap_or_default();
    let declined =
        given.iter().filter_map(|answer| answer.text.as_deref()).any(|said| declines(said, config, stage));
    let names = known_names(config, &stage.cycle);
    let known: Vec<&str> = names.iter().map(String::as_str).collect();
    let says_yes = |answer: &QuestionAnswer| {
        let by_name = !go_ahead::asks_for_step(&answer.question, &known);
        answer.text.as_deref().is_some_and(|said| go_ahead::lets_continue(said, &known, by_name))
    };
    let change = if !given.is_empty() && given.iter().all(says_yes) {
        ConsentChange::Given { stage_done: stage.done }
    } else {
        ConsentChange::Owe(Owed::Asked)
    };
    let declined = declined.then(|| Effect::mark(Mark::StageTurn(Turn::Declined)));
    declined.into_iter().chain(change_consent(facts, change)).collect()
}
