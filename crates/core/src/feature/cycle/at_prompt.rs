//! A person lets a cycle continue whose stage is done: the next stage begins with that prompt, so that the work of this turn
//! counts for it. If the person did that stage themselves, by a commit, the one after it begins.

use crate::feature::config::Config;
use crate::feature::cycle::marks::Mark;
use crate::feature::cycle::policy::{Budget, ID, StageEnd};
use crate::feature::cycle::prompts::lets_continue;
use crate::feature::cycle::waits::tell_person;
use crate::feature::cycle::{ActiveStage, CycleStatus, DoneWhen, Turn, words};
use crate::feature::facts::Facts;
use crate::feature::verdict::{Asks, Audience, Effect, Say, Verdict};

/// `None` if the end of the turn decides.
pub(super) fn begin_at_prompt(
    facts: &Facts<'_>,
    config: &Config,
    stage: &ActiveStage,
    said: &str,
) -> Option<Verdict> {
    let was_asked = stage.turn == Turn::NeedsYes;
    if config.stepped_down(ID) || !stage.done || !lets_continue(said, config, &stage.cycle, !was_asked) {
        return None;
    }
    let ending = find_end(facts, stage)?;
    if !ending.list_missing().is_empty() {
        return None;
    }
    let next = ending.at + 1;
    if next >= ending.cycle.stages.len() || !was_asked && ending.find_reservation(next).is_some() {
        return None;
    }
    let after = next + 1;
    let is_skipped = is_done_by_person(&ending, next)
        && after < ending.cycle.stages.len()
        && ending.find_reservation(after).is_none();
    let begins = if is_skipped { after } else { next };
    let needed = ending.needed_room(begins);
    let left = match Budget::read(facts) {
        Budget::Current(left) | Budget::Stale(left) if left < needed => return None,
        Budget::Current(left) | Budget::Stale(left) => Some((left, needed)),
        Budget::Unknown => None,
    };
    let (begun, state) = ending.advance(begins, Turn::Open, 0)?;
    let ActiveStage { cycle, stage: name, number, of, .. } = stage;
    let reserved = &ending.cycle.stages[next].name;
    let because = if is_skipped {
        format!("the person committed the work, which is stage {reserved} of the cycle {cycle}")
    } else {
        format!("the person lets the cycle {cycle} continue after stage {number} of {of} ({name})")
    };
    let text = ending.instruct(&begun, &because, left);
    let to_person = if is_skipped {
        words::committed_by_person(facts.lang, stage, reserved, &begun.stage)
    } else {
        words::stage_begins(facts.lang, stage, &begun.stage)
    };
    let asks = Asks::stage(begun.stage.as_str(), begun.skill.as_str());
    let step = ending.step_effect(Some(state), None, Mark::Stage(Box::new(begun)));
    Some(Verdict {
        says: vec![
            Say { to: Audience::Model, text, weight: 90, explains: false, when_said: Vec::new() },
            tell_person(to_person, 50),
        ],
        effects: vec![Effect::mark(Mark::GoAhead), step],
        asks,
        ..Verdict::silent("the person lets the next stage begin")
    })
}

/// The stage as the file and the session know it.
fn find_end<'a>(facts: &'a Facts<'a>, stage: &'a ActiveStage) -> Option<StageEnd<'a>> {
    let standing = facts.cycle.value().filter(|standing| standing.of_project)?;
    let (Ok(state), Some(cycle)) = (&standing.state, &standing.cycle) else { return None };
    let is_own = state.session_id.as_deref() == Some(facts.event.session.as_str());
    let is_same = state.stage == stage.stage && state.cycle == stage.cycle;
    let runs = state.status == CycleStatus::Running && stage.failed.is_none();
    let at = cycle.position(&state.stage).filter(|_| is_own && is_same && runs)?;
    Some(StageEnd { facts, standing, state, cycle, stage, at })
}

/// While the cycle waited, the work was committed, and the stage at `next` promises nothing else.
fn is_done_by_person(ending: &StageEnd<'_>, next: usize) -> bool {
    let evidence = &ending.standing.evidence;
    let before = ending.stage.wait.as_ref().and_then(|wait| wait.head.as_deref());
    let now = evidence.next.head.as_ref().map(|head| head.commit.as_str());
    let promised = &ending.cycle.stages[next].done_when;
    let promises_commit = promised.contains(&DoneWhen::Commit)
        && promised
            .iter()
            .all(|sign| matches!(sign, DoneWhen::Commit | DoneWhen::Skill | DoneWhen::Verified));
    promises_commit && evidence.committed && before.zip(now).is_some_and(|(before, now)| before != now)
}
