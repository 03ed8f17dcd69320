//! Cycle policy: when a stage is done and there is room for the next one, that one begins; otherwise the cycle stops
//! in a state that can be resumed.
//!
//! The rules, case by case, are in `cycle.md` next to this file. A state that cannot be read or trusted steers
//! nothing.

use std::fmt::Write as _;

use super::settings::CycleMode;
use crate::event::action::Action;
use crate::event::{Event, EventKind};
use crate::feature::config::Config;
use crate::feature::cycle::consent::{ConsentChange, Owed};
use crate::feature::cycle::effect::{self, CycleStep};
use crate::feature::cycle::history::StageCost;
use crate::feature::cycle::marks::Mark;
use crate::feature::cycle::order::quote_around;
use crate::feature::cycle::prompts::{change_consent, note_answer, note_prompt, note_without_stage};
use crate::feature::cycle::reserved::find_reservation;
use crate::feature::cycle::reserved::publishes;
use crate::feature::cycle::resume_offer;
use crate::feature::cycle::standing::CycleStanding;
use crate::feature::cycle::state::OUT_OF_CONTEXT;
use crate::feature::cycle::success::{Missing, is_ended_early, is_overtaken, list_missing};
use crate::feature::cycle::waits::{
    end_turn, has_declined, leave_waiting, pause_cycle, report_declined, report_failure, report_gone,
    report_interruption, report_overtaken, report_replaced, report_unreadable, tell_person, wait_for_answer,
    wait_on,
};
use crate::feature::cycle::{
    ActiveStage, Cycle, CycleDamage, CycleRun, CycleState, CycleStatus, DoneWhen, StageProgress, Turn, words,
};
use crate::feature::facts::{Facts, Known, Needs};
use crate::feature::marks::{Marks, SessionMark};
use crate::feature::verdict::{Asks, Audience, Call, Effect, Say, Verdict};
use crate::feature::{Mode, Policy};
use crate::meter::forecast::median_growth;
use crate::meter::{Meter, Reading, short_tokens};
use crate::redact::redact;
use crate::text::cut::first_chars;
use crate::text::hidden::replace_hidden;
use crate::text::question::{self, asks_person, find_prohibition, find_unfinished};

pub use super::settings::Settings;

pub const ID: &str = "cycle";

/// Minimum time between two public copies of the budget.
const MIN_COPY_INTERVAL_MS: u64 = 30_000;

/// A notice that is given once per session.
const DAMAGED: &str = "cycle damaged";

/// Longer metrics do not belong into a closing message.
const MAX_METRICS_CHARS: usize = 400;

/// JSON bytes at the end of a report in which it may forbid to ship.
const REPORT_BYTES: usize = 12_000;

/// A message to a person has room for this much of their own words.
const MAX_SAID_CHARS: usize = 60;

pub struct CyclePolicy;

impl Policy for CyclePolicy {
    fn id(&self) -> &'static str {
        ID
    }

    fn mode(&self, config: &Config) -> Mode {
        match config.policies.cycle.mode {
            CycleMode::On => Mode::Live,
            CycleMode::Shadow => Mode::Shadow,
            CycleMode::Off => Mode::Off,
        }
    }

    fn needs(&self, event: &Event<'_>, marks: Option<&Marks>) -> Option<Needs> {
        if !event.is_main_thread() {
            return None;
        }
        let stage = marks.and_then(|marks| marks.cycle.stage.as_ref());
        match (event.kind, stage) {
            (EventKind::Stop, Some(stage)) => {
                Some(Needs { meter: true, cycle: true, current: stage.done, ..Needs::default() })
            }
            (EventKind::Stop, None) => {
                marks.is_some_and(|marks| marks.cycle.dropped.is_some()).then(Needs::default)
            }
            (EventKind::PostToolUse, Some(_)) => {
                let tool = matches!(event.action, Action::Question);
                // A person's answer may change what is owed.
                Some(Needs { meter: true, tool, cycle: tool, ..Needs::default() })
            }
            (EventKind::UserPromptSubmit, stage) => {
                let is_said = event.is_human_prompt();
                let meter = is_said && stage.is_some_and(|stage| stage.done);
                let reminds = stage.is_some() && marks.is_some_and(|marks| marks.session.may_remind(event));
                (is_said || reminds).then(|| Needs { meter, cycle: is_said, ..Needs::default() })
            }
            (EventKind::SessionStart, Some(_)) if event.follows_compaction() => Some(Needs::default()),
            (EventKind::SessionStart, _) if !event.follows_compaction() => {
                Some(Needs { cycle: true, ..Needs::default() })
            }
            _ => None,
        }
    }

    fn yields(&self) -> bool {
        true
    }

    fn decide(&self, facts: &Facts<'_>, config: &Config) -> Verdict {
        let none = Marks::default();
        let marks = match &facts.marks {
            Known::Value(marks) => marks,
            Known::Absent => &none,
            Known::Broken(_) => return Verdict::silent("the session's state cannot be read"),
        };
        match (facts.event.kind, marks.cycle.stage.as_ref()) {
            (EventKind::SessionStart, Some(stage)) if facts.event.follows_compaction() => {
                remind_of_stage(stage)
            }
            (EventKind::SessionStart, _) => resume_offer::offer_resume(facts),
            (EventKind::PostToolUse, Some(stage)) => {
                let (used, answer) = (note_use(facts, stage), note_answer(facts, config, stage));
                let because = if used.because.is_empty() { answer.because } else { used.because };
                let effects = [used.effects, answer.effects].concat();
                remind_also(marks, facts, stage, Verdict { effects, because, ..answer })
            }
            (EventKind::UserPromptSubmit, Some(stage)) => {
                remind_also(marks, facts, stage, note_prompt(facts, config, stage))
            }
            (EventKind::UserPromptSubmit, None) => note_without_stage(facts, config, &marks.cycle),
            (EventKind::Stop, Some(stage)) => report_dropped(facts, decide_at_stop(facts, config, stage)),
            (EventKind::Stop, None) => report_dropped(facts, Verdict::pass()),
            _ => Verdict::pass(),
        }
    }
}

/// After a tool call: the first reading of the stage, and the public copy of the budget.
fn note_use(facts: &Facts<'_>, stage: &ActiveStage) -> Verdict {
    let reading = facts.meter.reading().filter(|_| stage.used.is_none());
    let used = reading.map(|reading| Effect::mark(Mark::StageUsed(reading.used)));
    let copy = copy_budget(facts, stage);
    let because = match (&used, copy.is_empty()) {
        (_, false) => "the copy of the budget is old",
        (Some(_), true) => "the first reading of the stage",
        (None, true) => return Verdict::pass(),
    };
    Verdict { effects: used.into_iter().chain(copy).collect(), ..Verdict::silent(because) }
}

fn copy_budget(facts: &Facts<'_>, stage: &ActiveStage) -> Vec<Effect> {
    if facts.now.since(stage.copied) < MIN_COPY_INTERVAL_MS && stage.copied <= facts.now {
        return Vec::new();
    }
    let Some(used_pct) = facts.meter.reading().and_then(Reading::used_pct) else { return Vec::new() };
    let copied = Effect::mark(Mark::BudgetCopied(facts.now));
    let project = stage.project.clone();
    let publish = Effect::Cycle(effect::Effect::PublishBudget { project, used_pct });
    vec![copied, publish]
}

/// A compaction may have removed the stage from the conversation.
fn remind_of_stage(stage: &ActiveStage) -> Verdict {
    let text = format!("Before this compaction: {}. `tidegate cycle status` shows it.", stage.key_fact());
    let say = Say { to: Audience::Model, text, weight: 90, explains: false, when_said: Vec::new() };
    Verdict { says: vec![say], ..Verdict::silent("a stage outlives the compaction") }
}

/// Where the start after the compaction was silent.
fn remind_also(marks: &Marks, facts: &Facts<'_>, stage: &ActiveStage, verdict: Verdict) -> Verdict {
    if !marks.session.may_remind(facts.event) {
        return verdict;
    }
    let reminder = remind_of_stage(stage);
    let says = [verdict.says, reminder.says].concat();
    Verdict { says, because: reminder.because, ..verdict }
}

/// The project in which the session's stage began.
pub(super) fn stage_project(facts: &Facts<'_>) -> Option<String> {
    facts.marks.value()?.cycle.stage.as_ref()?.project.clone()
}

pub(super) fn set_aside_damaged(
    facts: &Facts<'_>,
    standing: &CycleStanding,
    damage: &CycleDamage,
    mut effects: Vec<Effect>,
) -> Verdict {
    let aside = effect::Effect::SetAside { project: stage_project(facts), old: standing.text.clone() };
    effects.push(Effect::Cycle(aside));
    report_unusable(facts, damage, effects, "the state file is damaged")
}

/// Tells the person once. An unknown cycle (a typo in the config, lost trust) leaves the file in place: it is valid
/// again once the config is.
pub(super) fn report_unusable(
    facts: &Facts<'_>,
    damage: &CycleDamage,
    effects: Vec<Effect>,
    because: &'static str,
) -> Verdict {
    let mut verdict = Verdict { effects, ..Verdict::silent(because) };
    if !facts.marks.value().is_some_and(|marks| marks.session.noticed(DAMAGED)) {
        verdict.says.push(Say {
            to: Audience::User,
            text: words::damaged(facts.lang, damage),
            weight: 60,
            explains: false,
            when_said: vec![Effect::mark(SessionMark::Notice(DAMAGED.to_owned()))],
        });
    }
    verdict
}

/// `tidegate cycle abandon` only answers its caller, an agent.
fn report_dropped(facts: &Facts<'_>, mut verdict: Verdict) -> Verdict {
    let dropped = facts.marks.value().and_then(|marks| marks.cycle.dropped.as_ref());
    if let Some(dropped) = dropped {
        let text = words::dropped(facts.lang, &dropped.cycle, &dropped.stage);
        let when_said = vec![Effect::mark(Mark::DropTold)];
        verdict.says.push(Say { to: Audience::User, text, weight: 60, explains: false, when_said });
        if verdict.because.is_empty() {
            verdict.because = "Claude gave the cycle up";
        }
    }
    verdict
}

fn decide_at_stop(facts: &Facts<'_>, config: &Config, known: &ActiveStage) -> Verdict {
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
        verdict.effects.extend(reopen_if_forbidden(&missing));
        verdict
    } else {
        block_stop(facts, stage, &missing)
    };
    verdict.effects.extend(missing.iter().filter_map(|missing| owe_findings(facts, stage, missing)));
    verdict
}

/// They are settled only by the person.
fn owe_findings(facts: &Facts<'_>, stage: &ActiveStage, missing: &Missing) -> Option<Effect> {
    let stage = stage.stage.clone();
    let owed = match missing {
        Missing::OpenFindings(most) | Missing::Severe(_, most) => {
            Owed::Findings { stage, most: *most, open: true }
        }
        Missing::Forbidden(said) => Owed::Forbidden { stage, said: Some(redact(said).text.into_owned()) },
        _ => return None,
    };
    change_consent(facts, ConsentChange::Owe(owed))
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

/// A stop before the stage is done.
fn block_stop(facts: &Facts<'_>, stage: &ActiveStage, missing: &[Missing]) -> Verdict {
    let ActiveStage { cycle, stage: name, skill, number, of, done, .. } = stage;
    let counts = |missing: &Missing| {
        matches!(
            missing,
            Missing::Report | Missing::OpenFindings(_) | Missing::Severe(..) | Missing::Forbidden(_)
        )
    };
    let mut report = String::from("run `tidegate cycle done");
    if missing.iter().any(counts) {
        report.push_str(" --metric open=N");
    }
    for missing in missing {
        if let Missing::Severe(name, _) = missing {
            let _ = write!(report, " --metric {name}=N");
        }
    }
    report.push('`');
    let mut steps: Vec<String> = missing.iter().filter_map(Missing::action).collect();
    if steps.is_empty() {
        steps.push(format!("finish the work and {report}"));
    } else if missing
        .iter()
        .any(|missing| counts(missing) || matches!(missing, Missing::Word | Missing::Unfinished(_)))
    {
        steps.push(format!("then {report}"));
    }
    let mut reason = capitalize(&steps.join("; "));
    let _ = write!(reason, ": stage {name} ({number} of {of}) of the cycle {cycle} is not done");
    if *done {
        reason.push_str(", although `tidegate cycle done` was called");
    }
    reason.push_str(". If it cannot be done, run `tidegate cycle fail REASON`.");
    request_full_answer(facts, &mut reason);
    let is_skill = |missing: &Missing| matches!(missing, Missing::Skill(_));
    let asks = if missing.iter().any(is_skill) {
        Asks::stage(name.as_str(), skill.as_str())
    } else {
        Asks { stage: Some(name.clone()), ..Asks::default() }
    };
    Verdict {
        call: Call::Deny,
        reason: Some(reason),
        because: "the stage is not done",
        effects: std::iter::once(Effect::mark(Mark::StageHeld)).chain(reopen_if_forbidden(missing)).collect(),
        asks,
        ..Verdict::pass()
    }
}

/// Other words in the next message do not settle it: the model has to report the stage as done again.
fn reopen_if_forbidden(missing: &[Missing]) -> Option<Effect> {
    let contradicts = |missing: &Missing| matches!(missing, Missing::Forbidden(_) | Missing::Unfinished(_));
    missing.iter().any(contradicts).then(|| Effect::mark(Mark::StageReopened))
}

/// Words of a report, short enough for a message.
fn quote(said: &str) -> String {
    sanitize_line(&quote_around(said, MAX_SAID_CHARS)).trim().to_owned()
}

fn capitalize(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(chars).collect()
}

/// Without a person, the last message is the result of the run.
fn request_full_answer(facts: &Facts<'_>, reason: &mut String) {
    if !facts.person.may_be_there() {
        reason.push_str(
            " At the end, give the whole final answer again: the last message of this run is its result.",
        );
    }
}

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
struct StageEnd<'a> {
    facts: &'a Facts<'a>,
    standing: &'a CycleStanding,
    state: &'a CycleState,
    cycle: &'a Cycle,
    stage: &'a ActiveStage,
    at: usize,
}

impl StageEnd<'_> {
    fn list_missing(&self) -> Vec<Missing> {
        let (stage, marks) = (&self.cycle.stages[self.at], self.facts.marks.value());
        let evidence = &self.standing.evidence;
        let mut missing = marks
            .map(|marks| list_missing(stage, self.stage, self.state, evidence, marks))
            .unwrap_or_default();
        // Only the last thing to look at: the report may be long.
        if missing.is_empty() && stage.done_when.contains(&DoneWhen::NoOpenFindings) {
            let report = self.facts.event.last_message.map(|message| message.tail(REPORT_BYTES));
            missing.extend(
                report
                    .and_then(|report| find_prohibition(&report))
                    .map(|said| Missing::Forbidden(quote(&said))),
            );
        }
        if missing.is_empty() {
            let end = self.facts.event.last_message.map(|message| message.tail(question::BYTES));
            missing.extend(
                end.and_then(|end| find_unfinished(&end)).map(|said| Missing::Unfinished(quote(&said))),
            );
        }
        missing
    }

    fn decide(&self) -> Verdict {
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
    fn begin_if_room(&self, next: usize) -> Option<Verdict> {
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

/// `sprint: tests 12, files 3; audit: score 9`.
pub fn format_metrics(state: &CycleState) -> String {
    let shown = |value: &serde_json::Value| match value {
        serde_json::Value::String(text) => text.clone(),
        value => value.to_string(),
    };
    let of_stage = |(name, value): (&String, &serde_json::Value)| match value {
        serde_json::Value::Object(members) => {
            let pairs: Vec<String> =
                members.iter().map(|(key, value)| format!("{key} {}", shown(value))).collect();
            format!("{name}: {}", pairs.join(", "))
        }
        value => format!("{name}: {}", shown(value)),
    };
    sanitize_line(&state.metrics.iter().map(of_stage).collect::<Vec<_>>().join("; "))
}

/// Untrusted text: one short line without terminal control characters.
pub fn sanitize_line(text: &str) -> String {
    replace_hidden(first_chars(text, MAX_METRICS_CHARS), ' ')
}
