//! The end of a stage: whether it is done, and what follows if it is. The next stage begins if the context has room for it.

use std::fmt::Write as _;

use crate::feature::cycle::consent::{ConsentChange, Owed};
use crate::feature::cycle::effect::{self, CycleStep};
use crate::feature::cycle::history::StageCost;
use crate::feature::cycle::marks::Mark;
use crate::feature::cycle::one_line::{format_metrics, sanitize_line};
use crate::feature::cycle::order::quote_around;
use crate::feature::cycle::policy::stage_project;
use crate::feature::cycle::prompts::change_consent;
use crate::feature::cycle::report::{MAX_SAID_CHARS, find_contradiction};
use crate::feature::cycle::reserved::{find_reservation, publishes};
use crate::feature::cycle::standing::CycleStanding;
use crate::feature::cycle::state::OUT_OF_CONTEXT;
use crate::feature::cycle::success::{Missing, list_missing};
use crate::feature::cycle::unfinished::request_full_answer;
use crate::feature::cycle::waits::{end_turn, has_declined, pause_cycle, tell_person};
use crate::feature::cycle::{
    ActiveStage, Cycle, CycleRun, CycleState, CycleStatus, StageProgress, Turn, words,
};
use crate::feature::facts::Facts;
use crate::feature::verdict::{Asks, Audience, Call, Effect, Say, Verdict};
use crate::meter::forecast::median_growth;
use crate::meter::{Meter, Reading, short_tokens};

/// Tokens left, by reliability.
enum Budget {
    /// From a reading of this request.
    Current(u64),
    /// From a reading that may be one request old, reduced by the growth of a usual turn.
    Stale(u64),
    Unknown,
}

impl Budget {
    fn read(facts: &Facts<'_>) -> Budget {
        let left = facts.meter.reading().and_then(Reading::left);
        match (&facts.meter, left) {
            (Meter::Current(_), Some(left)) => Budget::Current(left),
            (Meter::StaleByOne(_), Some(left)) => {
                let relays =
                    facts.marks.value().map(|marks| marks.session.relays.as_slice()).unwrap_or_default();
                Budget::Stale(left.saturating_sub(median_growth(relays).unwrap_or_default()))
            }
            _ => Budget::Unknown,
        }
    }
}

/// Whether the context has room for the next stage: tokens left, and tokens that it needs with those after it.
enum Room {
    /// The numbers, if they are known.
    Enough(Option<(u64, u64)>),
    Missing {
        left: u64,
        needed: u64,
    },
}

/// The end of a stage.
pub(super) struct StageEnd<'a> {
    pub(super) facts: &'a Facts<'a>,
    pub(super) standing: &'a CycleStanding,
    pub(super) state: &'a CycleState,
    pub(super) cycle: &'a Cycle,
    pub(super) stage: &'a ActiveStage,
    pub(super) at: usize,
}

impl StageEnd<'_> {
    pub(super) fn list_missing(&self) -> Vec<Missing> {
        let (stage, marks) = (&self.cycle.stages[self.at], self.facts.marks.value());
        let evidence = &self.standing.evidence;
        let mut missing = marks
            .map(|marks| list_missing(stage, self.stage, self.state, evidence, marks))
            .unwrap_or_default();
        if missing.is_empty() {
            missing.extend(find_contradiction(self.facts.event, stage));
        }
        missing
    }

    pub(super) fn decide(&self) -> Verdict {
        let next = self.at + 1;
        if next >= self.cycle.stages.len() {
            return self.complete_cycle();
        }
        if self.stage.chained >= self.cycle.stages.len() {
            return pause_cycle(self.stage, "as many stages in one turn as the cycle has");
        }
        let said = self.find_reservation(next).map(str::to_owned);
        if publishes(self.cycle, next) {
            let mut consent = self.standing.consent.clone();
            let reserved =
                said.map(|said| ConsentChange::Owe(Owed::Reserved(quote_around(&said, MAX_SAID_CHARS))));
            consent = reserved.iter().fold(consent, |known, change| known.after(change));
            let owed = consent.owed_before(&self.cycle.stages[next].name);
            if !owed.is_empty() {
                return self.wait_for_consent(next, &owed, reserved);
            }
        } else if let Some(said) = said {
            return self.ask_for_stage(next, &quote_around(&said, MAX_SAID_CHARS));
        }
        let (room, because) = self.find_room(next);
        match room {
            Room::Enough(budget) => self.begin_stage(next, budget, because),
            Room::Missing { left, needed } => self.stop_cycle(next, left, needed, because),
        }
    }

    /// `None` without room for it.
    pub(super) fn begin_if_room(&self, next: usize) -> Option<Verdict> {
        match self.find_room(next) {
            (Room::Enough(budget), because) => Some(self.begin_stage(next, budget, because)),
            (Room::Missing { .. }, _) => None,
        }
    }

    fn find_room(&self, next: usize) -> (Room, &'static str) {
        let needed =
            self.standing.min_left.get(next).copied().unwrap_or_else(|| self.cycle.default_min_left(next));
        match Budget::read(self.facts) {
            Budget::Current(left) if left >= needed => {
                (Room::Enough(Some((left, needed))), "there is room for the next stage")
            }
            Budget::Stale(left) if left >= needed => (
                Room::Enough(Some((left, needed))),
                "there is room for the next stage, by a stale reading and a turn's growth",
            ),
            Budget::Unknown => {
                (Room::Enough(None), "the tokens left are not known: continues as if there were room")
            }
            Budget::Current(left) => (Room::Missing { left, needed }, "there is no room for the next stage"),
            Budget::Stale(left) => (
                Room::Missing { left, needed },
                "there is no room for the next stage, by a stale reading and a turn's growth",
            ),
        }
    }

    /// The person's own words, unless they were asked in this stage, or told after a no that it needs their yes.
    fn find_reservation(&self, next: usize) -> Option<&str> {
        let marks = self.facts.marks.value().filter(|_| !self.stage.asked)?;
        if has_declined(self.facts, self.stage) {
            return None;
        }
        let stated = marks.knowledge.constraints.iter().map(|known| known.text.as_str());
        let reserved = marks.knowledge.reserved.iter().map(|known| known.text.as_str());
        find_reservation(stated.chain(reserved), self.cycle, next)
    }

    /// Before a stage that publishes. `reserved` is noted for the project, where it outlives the session.
    fn wait_for_consent(&self, next: usize, owed: &[&Owed], reserved: Option<ConsentChange>) -> Verdict {
        let mut verdict = end_turn(self.stage, Turn::NeedsWord, "a go-ahead of the person is owed");
        verdict.effects.push(Effect::mark(Mark::NextStageAsked));
        verdict.effects.extend(reserved.and_then(|change| change_consent(self.facts, change)));
        let text = words::waits_for_consent(self.facts.lang, self.stage, &self.cycle.stages[next].name, owed);
        verdict.says.push(tell_person(text, 60));
        verdict
    }

    fn ask_for_stage(&self, next: usize, said: &str) -> Verdict {
        let mut verdict =
            end_turn(self.stage, Turn::NeedsWord, "the person wants to be asked before the next stage");
        verdict.effects.push(Effect::mark(Mark::NextStageAsked));
        let said = sanitize_line(said);
        let text = words::reserved(self.facts.lang, self.stage, &self.cycle.stages[next].name, said.trim());
        verdict.says.push(tell_person(text, 60));
        verdict
    }

    fn ended_state(&self) -> CycleState {
        let used = self.facts.meter.reading().map(|reading| reading.used);
        let boundary = self.facts.marks.value().and_then(|marks| marks.session.boundary);
        let mut state = self.state.clone().updated_at(self.facts.now);
        state.end_stage(self.stage.used, used, boundary.is_some_and(|at| at >= self.stage.began));
        state
    }

    fn step_effect(&self, new: Option<CycleState>, ended: Option<CycleRun>, mark: Mark) -> Effect {
        let (project, old) = (stage_project(self.facts), self.standing.text.clone());
        Effect::Cycle(effect::Effect::Step(Box::new(CycleStep { project, old, new, ended, mark })))
    }

    fn begin_stage(&self, next: usize, budget: Option<(u64, u64)>, because: &'static str) -> Verdict {
        let turn = self.stage.turn;
        let begun = ActiveStage::begin(&self.state.cycle, self.cycle, next, self.facts.now, turn);
        let Some(begun) = begun else { return pause_cycle(self.stage, "the stage is not known") };
        let ActiveStage { chained, copied, ref project, .. } = *self.stage;
        let run = self.state.started_at.clone();
        let used = self.facts.meter.reading().map(|reading| reading.used);
        let begun =
            ActiveStage { chained: chained + 1, copied, project: project.clone(), used, run, ..begun };
        let mut state = self.ended_state();
        state.begin_stage(&begun.stage, self.facts.now, used, self.standing.evidence.next.clone());
        let mut reason = format!(
            "Invoke the skill `{}` for stage {}: stage {} of {} ({}) of the cycle {} is done. The state file is up to date.",
            begun.skill, begun.stage, self.stage.number, self.stage.of, self.stage.stage, self.state.cycle
        );
        let _ = match budget {
            Some((left, needed)) => write!(
                reason,
                " {} tokens are left; this stage and those after it need about {}.",
                short_tokens(left),
                short_tokens(needed)
            ),
            None => write!(reason, " The number of tokens left is not known."),
        };
        if self.standing.evidence.made_since > 0 {
            let _ = write!(reason, " A commit that was made after {} counts for it.", self.stage.stage);
        }
        reason.push_str(" When its goal is reached, run `tidegate cycle done`.");
        request_full_answer(self.facts, &mut reason);
        let asks = Asks::stage(begun.stage.as_str(), begun.skill.as_str());
        let is_committed = self.standing.evidence.made_since > 0;
        let text = words::stage_begins(self.facts.lang, self.stage, &begun.stage, is_committed);
        Verdict {
            call: Call::Deny,
            reason: Some(reason),
            because,
            says: vec![Say { to: Audience::User, text, weight: 50, explains: true, when_said: Vec::new() }],
            effects: vec![self.step_effect(Some(state), None, Mark::Stage(Box::new(begun)))],
            asks,
        }
    }

    fn stop_cycle(&self, next: usize, left: u64, needed: u64, because: &'static str) -> Verdict {
        let mut state = self.ended_state();
        let used = self.facts.meter.reading().and_then(Reading::used_pct);
        state.status = CycleStatus::Stopped;
        state.stopped_reason = Some(OUT_OF_CONTEXT.to_owned());
        state.skipped_stages = self.cycle.names(next);
        state.remaining_pct = used.map(|used| ((100.0 - used).max(0.0) * 10.0).round() / 10.0);
        (state.left_tokens, state.needed_tokens) = (Some(left), Some(needed));
        state.resume_told.clear();
        let text = words::stopped(self.facts.lang, self.stage, &state.skipped_stages, left, needed);
        Verdict {
            says: vec![tell_person(text, 60)],
            effects: vec![self.step_effect(Some(state), None, Mark::StageLeft)],
            ..Verdict::silent(because)
        }
    }

    fn complete_cycle(&self) -> Verdict {
        let mut state = self.ended_state();
        state.status = CycleStatus::Complete;
        let run =
            CycleRun::from_state(&state, Some(self.cycle), CycleStatus::Complete.name(), self.facts.now);
        // The file may contain any names; those in the config are fit to be shown.
        let cost = |name: String| {
            let tokens = state.progress(&name).and_then(StageProgress::tokens);
            StageCost { name, tokens }
        };
        let known: Vec<StageCost> = self.cycle.names(0).into_iter().map(cost).collect();
        let text = words::complete(self.facts.lang, &run.cycle, &known, &format_metrics(&state));
        Verdict {
            says: vec![tell_person(text, 60)],
            effects: vec![self.step_effect(None, Some(run), Mark::StageLeft)],
            ..Verdict::silent("the last stage is done")
        }
    }
}
