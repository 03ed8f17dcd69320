//! What a starting session and its person hear of a cycle that stopped, or that was left in the middle of a stage.

use std::fmt::Write as _;

use crate::feature::cycle::damage::{report_unusable, set_aside_damaged};
use crate::feature::cycle::effect;
use crate::feature::cycle::policy::stage_project;
use crate::feature::cycle::standing::{CycleOrigin, CycleStanding, LeftUnverified};
use crate::feature::cycle::state::{MAX_SESSIONS_TOLD, OUT_OF_CONTEXT, STATE_FILE};
use crate::feature::cycle::waits::{is_noticed, shorten_reason};
use crate::feature::cycle::{Cycle, CycleDamage, CycleState, CycleStatus, words};
use crate::feature::facts::{Facts, Known};
use crate::feature::marks::SessionMark;
use crate::feature::verdict::{Audience, Effect, Say, Verdict};
use crate::meter::short_tokens;

/// A notice that is given once per session.
pub(super) const RESUME_OFFERED: &str = "cycle waits";

const FROM_ELSEWHERE: &str = "the cycle comes from elsewhere";

/// A session begins in a project whose cycle stopped, or was left in the middle of a stage.
pub(super) fn offer_resume(facts: &Facts<'_>) -> Verdict {
    let standing = match &facts.cycle {
        Known::Value(standing) => standing,
        Known::Absent => return Verdict::pass(),
        Known::Broken(_) => return Verdict::silent("the state file cannot be read"),
    };
    if !standing.of_project {
        return Verdict::silent("the cycle belongs to another project");
    }
    let state = match &standing.state {
        Ok(state) => state,
        Err(damage @ CycleDamage::UnknownCycle(_)) => {
            return report_unusable(facts, damage, Vec::new(), "the cycle is not known");
        }
        Err(damage) => return set_aside_damaged(facts, standing, damage, Vec::new()),
    };
    let session = facts.event.session.as_str();
    let is_failed_elsewhere = standing.origin == CycleOrigin::Here
        && state.session_id.as_ref().is_some_and(|owner| owner != session);
    let because = match state.status {
        CycleStatus::Stopped => "a cycle has stopped here",
        CycleStatus::Running if standing.owner_gone => "a cycle was left in the middle of a stage",
        CycleStatus::Running if standing.other_owner(session).is_some() => {
            return Verdict::silent("the cycle belongs to another session");
        }
        CycleStatus::Running => return Verdict::silent("the cycle belongs to this session, or to none"),
        CycleStatus::Failed if is_failed_elsewhere => "a cycle has failed here",
        CycleStatus::Failed if state.session_id.as_deref() != Some(session) => {
            // The person knows of it, and may let it continue here.
            let note = (!is_noticed(facts, RESUME_OFFERED))
                .then(|| Effect::mark(SessionMark::Notice(RESUME_OFFERED.to_owned())));
            return Verdict { effects: note.into_iter().collect(), ..Verdict::silent("the cycle has ended") };
        }
        CycleStatus::Failed | CycleStatus::Complete => return Verdict::silent("the cycle has ended"),
    };
    if !facts.person.may_be_there() {
        return Verdict::silent("the session is unattended");
    }
    match standing.origin {
        CycleOrigin::Here => {}
        CycleOrigin::Elsewhere => return report_foreign(facts, standing, state),
        CycleOrigin::ElsewhereTold => return Verdict::silent(FROM_ELSEWHERE),
    }
    if is_noticed(facts, RESUME_OFFERED) || state.resume_told.iter().any(|told| told == session) {
        return Verdict::silent("it was said in this session");
    }
    if state.resume_told.len() >= MAX_SESSIONS_TOLD {
        return Verdict::silent("it was said in three sessions");
    }
    let Some(cycle) = &standing.cycle else { return Verdict::silent("the cycle is not known") };
    let (mut to_model, to_user) = match state.status {
        CycleStatus::Stopped => stopped_texts(facts, cycle, state),
        CycleStatus::Failed => failed_texts(facts, cycle, state),
        _ => left_behind_texts(facts, cycle, state, standing.unverified.as_ref()),
    };
    if let Some(left) = &standing.unverified {
        let _ = write!(to_model, " Not verified there: {}.", left.en);
    }
    let when_said = vec![
        Effect::mark(SessionMark::Notice(RESUME_OFFERED.to_owned())),
        Effect::Cycle(effect::Effect::ResumeTold { project: stage_project(facts) }),
    ];
    Verdict {
        says: vec![
            Say { to: Audience::Model, text: to_model, weight: 90, explains: false, when_said: Vec::new() },
            Say { to: Audience::User, text: to_user, weight: 60, explains: false, when_said },
        ],
        ..Verdict::silent(because)
    }
}

/// The file came with a commit or from another machine, or its session's state was deleted. It is not rewritten, so a private note says that it was told.
fn report_foreign(facts: &Facts<'_>, standing: &CycleStanding, state: &CycleState) -> Verdict {
    let told = effect::Effect::ForeignTold { project: stage_project(facts), text: standing.text.clone() };
    let to_model = format!(
        "Leave .claude/{STATE_FILE} as it is: it tells of a cycle that no session that Tidegate still knows here had. The person can take it over with \
         `tidegate cycle resume`."
    );
    let to_user = words::foreign(facts.lang, &state.cycle, &state.stage);
    let say = |to, text, weight| Say { to, text, weight, explains: false, when_said: Vec::new() };
    let to_user = Say { when_said: vec![Effect::Cycle(told)], ..say(Audience::User, to_user, 60) };
    Verdict { says: vec![say(Audience::Model, to_model, 90), to_user], ..Verdict::silent(FROM_ELSEWHERE) }
}

fn ended_stages(cycle: &Cycle, state: &CycleState) -> Vec<String> {
    let done = cycle.names(0).into_iter().enumerate().filter(|(at, _)| state.was_done(cycle, *at));
    done.map(|(_, name)| name).collect()
}

fn join_or_nothing(names: &[String]) -> String {
    if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
}

/// Texts for the model and the person.
fn stopped_texts(facts: &Facts<'_>, cycle: &Cycle, state: &CycleState) -> (String, String) {
    let done = ended_stages(cycle, state);
    // Other reasons are free text in a file that a repository may bring along: fit for a person who asks, not for the
    // model.
    let why = state.stopped_reason.as_deref().filter(|why| *why == OUT_OF_CONTEXT);
    let why = why.map(|why| match state.needed_tokens.zip(state.left_tokens) {
        Some((needed, left)) => {
            format!(" ({why}: needs {} tokens, {} were left)", short_tokens(needed), short_tokens(left))
        }
        None => format!(" ({why})"),
    });
    let why = why.unwrap_or_default();
    let to_model = format!(
        "According to .claude/{STATE_FILE}, the cycle {} of this project has stopped{}. Done: {}. Open: {}. `tidegate cycle resume` \
         continues with {} in this session, if the person wants it.",
        state.cycle,
        why,
        join_or_nothing(&done),
        join_or_nothing(&state.skipped_stages),
        state.resumes_at(),
    );
    (to_model, words::waits(facts.lang, state, &done, facts.now))
}

/// Texts for the model and the person. The reason is free text: the model gets it only if it asks.
fn failed_texts(facts: &Facts<'_>, cycle: &Cycle, state: &CycleState) -> (String, String) {
    let to_model = format!(
        "According to .claude/{STATE_FILE}, the cycle {} of this project has failed at stage {}. Done: {}. `tidegate cycle resume` begins \
         that stage again in this session, if the person wants it.",
        state.cycle,
        state.stage,
        join_or_nothing(&ended_stages(cycle, state)),
    );
    let why = state.stopped_reason.as_deref().unwrap_or("?");
    let why = shorten_reason(&words::failure(facts.lang, why, state.most_findings()));
    (to_model, words::failed_before(facts.lang, state, &why, facts.now))
}

/// Texts for the model and the person.
fn left_behind_texts(
    facts: &Facts<'_>,
    cycle: &Cycle,
    state: &CycleState,
    unverified: Option<&LeftUnverified>,
) -> (String, String) {
    let (at, of) = (cycle.position(&state.stage).unwrap_or_default(), cycle.stages.len());
    let done = ended_stages(cycle, state);
    let to_model = format!(
        "According to .claude/{STATE_FILE}, the cycle {} of this project is at stage {} ({} of {of}) in another session, which ended or \
         was silent for an hour. Done: {}. `tidegate cycle resume` begins that stage again in this session, if the person wants it.",
        state.cycle,
        state.stage,
        at + 1,
        join_or_nothing(&done),
    );
    (to_model, words::left(facts.lang, state, (at + 1, of), unverified, facts.now))
}
