//! What a person's prompts and answers mean to a cycle that is under way.

use super::settings::CycleMode;
use crate::event::action::{Action, OWN_HEADER};
use crate::feature::config::Config;
use crate::feature::cycle::go_ahead;
use crate::feature::cycle::marks::{Mark, Marks};
use crate::feature::cycle::{ActiveStage, Turn};
use crate::feature::facts::Facts;
use crate::feature::verdict::{Effect, Verdict};

/// A second prompt during an open turn means that the person interrupted: the client does not report an interrupt while
/// the model writes.
pub(super) fn note_prompt(facts: &Facts<'_>, config: &Config, stage: &ActiveStage) -> Verdict {
    let Some(said) = facts.typed_prompt() else { return Verdict::silent("the model scheduled the prompt") };
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
    Verdict { effects: vec![Effect::mark(mark)], ..Verdict::silent(because) }
}

/// No stage is under way here, but a cycle waits: it failed here, or another session left it. Only the person's yes lets it continue.
pub(super) fn note_without_stage(facts: &Facts<'_>, config: &Config, marks: &Marks) -> Verdict {
    let Some(said) = facts.typed_prompt() else { return Verdict::silent("the model scheduled the prompt") };
    let settings = &config.policies.cycle;
    let cycles: Vec<&str> = match &marks.last {
        Some(last) => vec![&last.cycle],
        None => settings.cycle_names().collect(),
    };
    let says_yes = |cycle: &&str| lets_continue(&said, config, cycle, true);
    if settings.mode != CycleMode::Off && cycles.iter().any(says_yes) {
        let effects = vec![Effect::mark(Mark::GoAhead)];
        return Verdict { effects, ..Verdict::silent("the person lets it continue") };
    }
    let over = marks.ahead.then(|| Effect::mark(Mark::GoAheadOver));
    let effects = over.into_iter().collect();
    Verdict { effects, ..Verdict::silent("a cycle waits, and the person does not say that it may continue") }
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
    let names = config.policies.cycle.cycle(cycle).map(|cycle| cycle.names(0)).unwrap_or_default();
    let known: Vec<&str> = names.iter().map(String::as_str).chain([cycle]).collect();
    go_ahead::lets_continue(said, &known, by_name)
}

/// The person may also decline by an answer in the client's dialog.
pub(super) fn note_answer(facts: &Facts<'_>, config: &Config, stage: &ActiveStage) -> Option<Effect> {
    if !matches!(facts.event.action, Action::Question) {
        return None;
    }
    let answers = facts.event.host.question_answers(facts.tool_response)?;
    let is_own = answers.only.as_ref().is_some_and(|asked| asked.header == OWN_HEADER);
    let mut given = answers.given.iter().filter_map(|answer| answer.text.as_deref());
    let declined = !is_own && given.any(|said| declines(said, config, stage));
    declined.then(|| Effect::mark(Mark::StageTurn(Turn::Declined)))
}
