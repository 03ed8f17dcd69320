//! The end of a turn in a cycle: whether the file may be believed, who has to act, and what follows.

use crate::feature::config::Config;
use crate::feature::cycle::budget_copy::copy_budget;
use crate::feature::cycle::consent::ConsentChange;
use crate::feature::cycle::damage::{report_unusable, set_aside_damaged};
use crate::feature::cycle::marks::Mark;
use crate::feature::cycle::policy::ID;
use crate::feature::cycle::prompts::change_consent;
use crate::feature::cycle::reserved::publishes;
use crate::feature::cycle::stage_end::StageEnd;
use crate::feature::cycle::success::{is_ended_early, is_overtaken};
use crate::feature::cycle::unfinished::{block_stop, owe_findings, reopen_if_contradicted};
use crate::feature::cycle::waits::{
    leave_waiting, pause_cycle, report_declined, report_failure, report_gone, report_interruption,
    report_overtaken, report_replaced, report_unreadable, wait_for_answer, wait_on,
};
use crate::feature::cycle::{ActiveStage, CycleDamage, CycleState, CycleStatus, Turn, words};
use crate::feature::facts::{Facts, Known};
use crate::feature::verdict::{Audience, Effect, Say, Verdict};
use crate::text::question::{self, asks_person};

pub(super) fn decide_at_stop(facts: &Facts<'_>, config: &Config, known: &ActiveStage) -> Verdict {
    let mut verdict = judge_stop(facts, config, known);
    if facts.cycle.value().is_some_and(|standing| standing.of_project && standing.state.is_ok()) {
        // Last, so that the mark finds a stage that has just begun.
        verdict.effects.extend(copy_budget(facts, known));
    }
    verdict
}

fn judge_stop(facts: &Facts<'_>, config: &Config, known: &ActiveStage) -> Verdict {
    if let Some(why) = &known.failed {
        let state = facts.cycle.value().and_then(|standing| standing.state.as_ref().ok());
        let open = state.filter(|state| state.stage == known.stage).and_then(CycleState::most_findings);
        return report_failure(facts, known, &words::failure(facts.lang, why, open));
    }
    let left = || vec![Effect::mark(Mark::StageLeft)];
    let standing = match &facts.cycle {
        Known::Value(standing) => standing,
        Known::Absent => return report_gone(facts, known),
        Known::Broken(why) => return report_unreadable(facts, known, why),
    };
    if !standing.of_project {
        return Verdict { effects: left(), ..Verdict::silent("the cycle belongs to another project") };
    }
    let (state, cycle) = match (&standing.state, &standing.cycle) {
        (Ok(state), Some(cycle)) => (state, cycle),
        (Err(damage @ CycleDamage::UnknownCycle(_)), _) => {
            let Verdict { effects, .. } = pause_cycle(known, "the cycle is not known");
            return report_unusable(facts, damage, effects, "the cycle is not known");
        }
        (Err(damage), _) => return set_aside_damaged(facts, standing, damage, left()),
        (Ok(_), None) => return pause_cycle(known, "the cycle is not known"),
    };
    if state.session_id.as_deref() != Some(facts.event.session.as_str()) {
        // Another session that resumes a cycle keeps its beginning.
        if known.run.is_some() && known.run != state.started_at {
            return report_replaced(facts, known);
        }
        return Verdict { effects: left(), ..Verdict::silent("the cycle belongs to another session") };
    }
    match state.status {
        CycleStatus::Running => {}
        CycleStatus::Failed if known.stage == state.stage => {
            let why = state.stopped_reason.as_deref().unwrap_or("?");
            return report_failure(facts, known, &words::failure(facts.lang, why, state.most_findings()));
        }
        _ if is_ended_early(known, state, cycle) => return report_overtaken(facts, known, state),
        CycleStatus::Failed | CycleStatus::Stopped | CycleStatus::Complete => {
            return Verdict { effects: left(), ..Verdict::silent("the cycle has ended") };
        }
    }
    let Some(at) = cycle.position(&state.stage) else { return pause_cycle(known, "the stage is not known") };
    if is_overtaken(known, state, cycle, at) {
        return report_overtaken(facts, known, state);
    }
    // Otherwise the file has the last word if it was edited. After a change of the config the stage stays, but its skill and
    // position may differ.
    let same = known.stage == state.stage && known.cycle == state.cycle;
    let begun = ActiveStage::begin(&state.cycle, cycle, at, facts.now, known.turn).map(|begun| {
        if same {
            ActiveStage { skill: begun.skill, number: begun.number, of: begun.of, ..known.clone() }
        } else {
            let run = state.started_at.clone();
            ActiveStage { chained: known.chained, project: known.project.clone(), run, ..begun }
        }
    });
    let begun = begun.filter(|begun| begun != known);
    let stage = begun.as_ref().unwrap_or(known);
    let mut verdict = decide_in_stage(facts, config, &StageEnd { facts, standing, state, cycle, stage, at });
    if let Some(begun) = &begun {
        verdict.effects.insert(0, Effect::mark(Mark::Stage(Box::new(begun.clone()))));
    }
    verdict
}

/// The turn ends in a stage of this session.
fn decide_in_stage(facts: &Facts<'_>, config: &Config, ending: &StageEnd<'_>) -> Verdict {
    let stage = ending.stage;
    if config.stepped_down(ID) {
        return pause_cycle(stage, "stepped down: stages are not chained");
    }
    let message = facts.event.last_message.map(|message| message.tail(question::BYTES));
    if let Some(message) = message.filter(|message| asks_person(message)) {
        let next = ending.cycle.stages.get(ending.at + 1).map(|next| next.name.as_str());
        return wait_for_answer(facts, stage, &message, next, publishes(ending.cycle, ending.at + 1));
    }
    match stage.turn {
        Turn::Interrupted => return report_interruption(facts, stage),
        Turn::Waiting | Turn::NeedsYes | Turn::NeedsWord => return wait_on(facts, stage),
        Turn::Declined => return report_declined(facts, stage),
        Turn::Closed | Turn::Open => {}
    }
    if facts.event.has_running_agents() {
        return pause_cycle(stage, "agents still run in the background");
    }
    if facts.marks.value().is_some_and(|marks| marks.verification.check_runs(facts.event)) {
        return pause_cycle(stage, "a check still runs in the background");
    }
    let missing = ending.list_missing();
    if missing.is_empty() {
        return ending.decide();
    }
    let mut verdict = if stage.held {
        let mut verdict = leave_waiting(facts, stage, &missing);
        verdict.effects.extend(reopen_if_contradicted(&missing));
        verdict
    } else {
        block_stop(facts, stage, &missing)
    };
    verdict.effects.extend(missing.iter().filter_map(|missing| owe_findings(facts, stage, missing)));
    verdict
}

/// A yes to a publishing stage begins it at once: what Claude then does in the same turn belongs to it.
pub(super) fn begin_at_prompt(facts: &Facts<'_>, config: &Config, stage: &ActiveStage) -> Option<Verdict> {
    let standing = facts.cycle.value().filter(|standing| standing.of_project)?;
    let (state, cycle) = (standing.state.as_ref().ok()?, standing.cycle.as_ref()?);
    let at = cycle.position(&state.stage)?;
    let is_ours = state.session_id.as_deref() == Some(facts.event.session.as_str())
        && state.status == CycleStatus::Running
        && (&state.stage, &state.cycle) == (&stage.stage, &stage.cycle);
    let next = at + 1;
    if !stage.done || !is_ours || stage.failed.is_some() || !publishes(cycle, next) || config.stepped_down(ID)
    {
        return None;
    }
    let stage = &ActiveStage { turn: Turn::Open, chained: 0, ..stage.clone() };
    let ending = StageEnd { facts, standing, state, cycle, stage, at };
    let given = ConsentChange::Given { stage_done: true };
    if !ending.list_missing().is_empty()
        || !standing.consent.after(&given).owed_before(&cycle.stages[next].name).is_empty()
    {
        return None;
    }
    let begun = ending.begin_if_room(next)?;
    let text = begun.reason?;
    let to_model = Say { to: Audience::Model, text, weight: 90, explains: false, when_said: Vec::new() };
    let says = begun.says.into_iter().map(|say| Say { explains: false, ..say });
    Some(Verdict {
        says: says.chain([to_model]).collect(),
        effects: begun.effects.into_iter().chain(change_consent(facts, given)).collect(),
        ..Verdict::silent("the person lets it continue")
    })
}
