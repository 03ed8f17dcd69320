//! What a replay found, in numbers and with the lines that show them. The names of the members are those of `--json`.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Serialize, Serializer};
use tidegate_core::feature::knowledge::key_facts::KeyFact;
use tidegate_core::time::Millis;

use crate::context::{Ahead, CurvePoint, ForecastCheck, WarningLevel};
use crate::folder::{Replayed, SessionRecord};
use crate::outcome::StopOutcome;

/// Points of a curve in a report.
const CURVE_POINTS: usize = 120;

#[derive(Debug, Default, Serialize)]
pub struct ReplayReport {
    /// Earlier turns do not count.
    #[serde(serialize_with = "iso_or_null")]
    pub since: Option<Millis>,
    #[serde(serialize_with = "iso_or_null")]
    pub from: Option<Millis>,
    #[serde(serialize_with = "iso_or_null")]
    pub to: Option<Millis>,
    pub sessions: usize,
    pub turns: usize,
    pub stops: StopCounts,
    pub compactions: CompactionCounts,
    pub warnings: WarningCounts,
    /// The same of each agent whose sessions are among them, by its name.
    pub hosts: BTreeMap<&'static str, HostCounts>,
    /// `None` without a forecast before an automatic compaction.
    pub forecast: Option<ForecastError>,
    pub left_out: LeftOut,
    /// Those with something to see first, then the newest.
    pub session_list: Vec<SessionReport>,
}

/// The sessions of one agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct HostCounts {
    pub sessions: usize,
    pub turns: usize,
    pub stops: StopCounts,
    pub compactions: CompactionCounts,
    pub warnings: WarningCounts,
}

/// Ends of turns at which the client would have asked its hooks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StopCounts {
    pub all: usize,
    pub verified: usize,
    /// Code was edited, and no check passed since.
    pub untested: usize,
    /// Of these, the ones that Tidegate would have blocked with this config.
    pub blocked: usize,
    pub waiting: usize,
    pub asking: usize,
    /// No code was edited in the turn, or it is gone.
    pub nothing_to_check: usize,
    pub untested_by_cause: BTreeMap<String, usize>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CompactionCounts {
    pub all: usize,
    pub by_hand: usize,
    /// Automatic ones before which Tidegate would not have warned, or only after the last answer.
    pub without_warning: usize,
    /// Facts to keep, before all compactions that have a summary.
    pub facts: usize,
    pub facts_lost: usize,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct WarningCounts {
    pub early: usize,
    pub late: usize,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ForecastError {
    pub forecasts: usize,
    /// Median of the differences between predicted and real turns, whichever was more.
    pub median_turns: u32,
    /// Nine of ten forecasts were at most this many turns off.
    pub p90_turns: u32,
    /// Forecasts of at least half and at most twice the real number.
    pub within_double: usize,
}

/// Files and lines without a place in the numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    pub subagent_files: usize,
    pub other_files: usize,
    pub unreadable_files: usize,
    pub damaged_lines: usize,
    /// Ends of turns that a continued session copied from another transcript.
    pub repeated_turns: usize,
    /// Turns that still run, or in which Claude Code was killed.
    pub unfinished_turns: usize,
}

#[derive(Debug, Serialize)]
pub struct SessionReport {
    pub file: String,
    /// The name of the agent.
    pub host: &'static str,
    pub project: String,
    #[serde(serialize_with = "iso")]
    pub from: Millis,
    #[serde(serialize_with = "iso")]
    pub to: Millis,
    pub turns: usize,
    pub answers: usize,
    /// Tokens of the window, if the model is known.
    pub window: Option<u64>,
    pub peak_tokens: u32,
    /// Tokens in use, at up to 120 answers, the highest of each part of the session.
    pub curve: Vec<u32>,
    pub untested: Vec<UntestedStop>,
    pub compactions: Vec<CompactionReport>,
    pub warnings: Vec<WarningReport>,
}

#[derive(Debug, Serialize)]
pub struct UntestedStop {
    /// The end of the turn.
    pub line: usize,
    /// The last edit of code.
    pub edit_line: Option<usize>,
    pub turn: usize,
    #[serde(serialize_with = "iso")]
    pub at: Millis,
    pub cause: String,
    pub blocked: bool,
    /// The run that decided, with its line.
    pub run_line: Option<usize>,
    pub command: Option<String>,
}

#[derive(Debug, Serialize)]
pub struct CompactionReport {
    pub line: usize,
    pub turn: usize,
    #[serde(serialize_with = "iso")]
    pub at: Millis,
    /// `auto` or `manual`.
    pub trigger: &'static str,
    pub tokens_before: Option<u64>,
    /// With an answer or a turn left.
    pub warned: bool,
    /// From the first warning on, early or late.
    pub first_warning: Option<Ahead>,
    pub late_warning: Option<Ahead>,
    /// `None` without a summary in the transcript.
    pub facts: Option<usize>,
    pub lost: Vec<KeyFact>,
}

#[derive(Debug, Serialize)]
pub struct WarningReport {
    pub level: WarningLevel,
    pub line: usize,
    pub turn: usize,
    #[serde(serialize_with = "iso")]
    pub at: Millis,
    pub tokens_used: u64,
    pub tokens_left: Option<u64>,
    pub turns_left: Option<u32>,
    pub to_person: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
fn iso<S: Serializer>(at: &Millis, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&at.iso())
}

#[expect(clippy::ref_option, reason = "serde asks with a reference")]
fn iso_or_null<S: Serializer>(at: &Option<Millis>, serializer: S) -> Result<S::Ok, S::Error> {
    at.map(Millis::iso).serialize(serializer)
}

impl ReplayReport {
    /// `since`: only what happened from then on.
    pub fn of(replayed: &Replayed, since: Option<Millis>) -> ReplayReport {
        let mut report = ReplayReport { since, ..ReplayReport::default() };
        report.left_out = LeftOut {
            subagent_files: replayed.of_agents,
            other_files: replayed.other_files,
            unreadable_files: replayed.unreadable.len(),
            ..LeftOut::default()
        };
        let mut known = BTreeSet::new();
        let mut forecasts = Vec::new();
        for session in &replayed.sessions {
            report.left_out.damaged_lines += session.damaged_lines;
            if session.to < since.unwrap_or_default() {
                continue;
            }
            report.add(session, since.unwrap_or_default(), &mut known, &mut forecasts);
        }
        report.forecast = ForecastError::of(forecasts.iter().map(|check| (check.predicted, check.real)));
        let is_seen = |session: &SessionReport| session.untested.is_empty() && session.compactions.is_empty();
        report.session_list.sort_by(|one, other| {
            is_seen(one).cmp(&is_seen(other)).then(other.to.cmp(&one.to)).then(one.file.cmp(&other.file))
        });
        report
    }

    fn add<'r>(
        &mut self,
        session: &'r SessionRecord,
        since: Millis,
        known: &mut BTreeSet<&'r str>,
        forecasts: &mut Vec<ForecastCheck>,
    ) {
        let context = &session.context;
        let mut shown = SessionReport::new(session);
        let mut counts = HostCounts { sessions: 1, ..HostCounts::default() };
        for stop in session.stops.iter().filter(|stop| stop.at >= since) {
            if !stop.entry.is_empty() && !known.insert(&stop.entry) {
                self.left_out.repeated_turns += 1;
                continue;
            }
            if !stop.is_finished {
                self.left_out.unfinished_turns += 1;
                continue;
            }
            shown.turns += 1;
            if !stop.has_edited {
                // Older code may still be unchecked. The hooks said so when it was edited, and only then.
                counts.stops.count(&StopOutcome::NothingToCheck, false);
                continue;
            }
            counts.stops.count(&stop.outcome, stop.is_blocked);
            if let StopOutcome::Held(cause) = &stop.outcome {
                shown.untested.push(UntestedStop {
                    line: stop.line,
                    edit_line: stop.edit_line,
                    turn: stop.turn,
                    at: stop.at,
                    cause: cause.to_string(),
                    blocked: stop.is_blocked,
                    run_line: stop.run.as_ref().map(|(line, _)| *line),
                    command: stop.run.as_ref().map(|(_, command)| command.clone()),
                });
            }
        }
        for compaction in context.compactions.iter().filter(|compaction| compaction.at >= since) {
            if compaction.is_copy {
                continue;
            }
            let survival = compaction.survival.as_ref();
            let compactions = &mut counts.compactions;
            compactions.all += 1;
            compactions.by_hand += usize::from(compaction.is_by_hand);
            compactions.without_warning += usize::from(!compaction.is_by_hand && !compaction.was_warned());
            compactions.facts += survival.map_or(0, |survival| survival.of);
            compactions.facts_lost += survival.map_or(0, |survival| survival.lost.len());
            shown.compactions.push(CompactionReport {
                line: compaction.line,
                turn: compaction.turn,
                at: compaction.at,
                trigger: if compaction.is_by_hand { "manual" } else { "auto" },
                tokens_before: compaction.tokens_before,
                warned: compaction.was_warned(),
                first_warning: compaction.early,
                late_warning: compaction.late,
                facts: survival.map(|survival| survival.of),
                lost: survival.map(|survival| survival.lost.clone()).unwrap_or_default(),
            });
        }
        for warning in context.warnings.iter().filter(|warning| warning.at >= since && !warning.is_copy) {
            match warning.level {
                WarningLevel::Early => counts.warnings.early += 1,
                WarningLevel::Late => counts.warnings.late += 1,
            }
            shown.warnings.push(WarningReport {
                level: warning.level,
                line: warning.line,
                turn: warning.turn,
                at: warning.at,
                tokens_used: warning.used,
                tokens_left: warning.left,
                turns_left: warning.turns_left,
                to_person: warning.is_for_person,
            });
        }
        forecasts.extend(context.forecasts.iter().filter(|check| check.at >= since && !check.is_copy));
        counts.turns = shown.turns;
        self.sessions += counts.sessions;
        self.turns += counts.turns;
        self.stops.add(&counts.stops);
        self.compactions.add(&counts.compactions);
        self.warnings.add(&counts.warnings);
        self.hosts.entry(shown.host).or_default().add(&counts);
        self.from = [self.from, Some(session.from.max(since))].into_iter().flatten().min();
        self.to = self.to.max(Some(session.to));
        self.session_list.push(shown);
    }
}

impl SessionReport {
    fn new(session: &SessionRecord) -> SessionReport {
        let curve = &session.context.curve;
        SessionReport {
            file: session.path.display().to_string(),
            host: session.host.name(),
            project: session.project.clone(),
            from: session.from,
            to: session.to,
            turns: 0,
            answers: curve.len(),
            window: session.context.window,
            peak_tokens: curve.iter().map(|point| point.used).max().unwrap_or_default(),
            curve: thin_out(curve, CURVE_POINTS),
            untested: Vec::new(),
            compactions: Vec::new(),
            warnings: Vec::new(),
        }
    }
}

/// The highest use in each of at most `most` parts.
pub fn thin_out(curve: &[CurvePoint], most: usize) -> Vec<u32> {
    let parts = curve.len().min(most);
    let part = |at: usize| &curve[at * curve.len() / parts..(at + 1) * curve.len() / parts];
    (0..parts).filter_map(|at| part(at).iter().map(|point| point.used).max()).collect()
}

impl HostCounts {
    fn add(&mut self, more: &HostCounts) {
        self.sessions += more.sessions;
        self.turns += more.turns;
        self.stops.add(&more.stops);
        self.compactions.add(&more.compactions);
        self.warnings.add(&more.warnings);
    }
}

impl CompactionCounts {
    fn add(&mut self, more: &CompactionCounts) {
        self.all += more.all;
        self.by_hand += more.by_hand;
        self.without_warning += more.without_warning;
        self.facts += more.facts;
        self.facts_lost += more.facts_lost;
    }
}

impl WarningCounts {
    fn add(&mut self, more: &WarningCounts) {
        self.early += more.early;
        self.late += more.late;
    }
}

impl StopCounts {
    fn add(&mut self, more: &StopCounts) {
        self.all += more.all;
        self.verified += more.verified;
        self.untested += more.untested;
        self.blocked += more.blocked;
        self.waiting += more.waiting;
        self.asking += more.asking;
        self.nothing_to_check += more.nothing_to_check;
        for (cause, count) in &more.untested_by_cause {
            *self.untested_by_cause.entry(cause.clone()).or_default() += count;
        }
    }

    fn count(&mut self, outcome: &StopOutcome, is_blocked: bool) {
        self.all += 1;
        match outcome {
            StopOutcome::Verified => self.verified += 1,
            StopOutcome::Waiting => self.waiting += 1,
            StopOutcome::Asking => self.asking += 1,
            StopOutcome::NothingToCheck => self.nothing_to_check += 1,
            StopOutcome::Held(cause) => {
                self.untested += 1;
                self.blocked += usize::from(is_blocked);
                *self.untested_by_cause.entry(cause.name().to_owned()).or_default() += 1;
            }
        }
    }
}

impl ForecastError {
    /// From turns as predicted and as they were.
    pub fn of(checks: impl IntoIterator<Item = (u32, u32)>) -> Option<ForecastError> {
        let checks: Vec<(u32, u32)> = checks.into_iter().collect();
        let mut errors: Vec<u32> = checks.iter().map(|(predicted, real)| predicted.abs_diff(*real)).collect();
        errors.sort_unstable();
        let at = |percent: usize| errors.get((errors.len() * percent).div_ceil(100).checked_sub(1)?).copied();
        // Less than a turn counts as one, as in the texts.
        let is_near = |(predicted, real): &&(u32, u32)| {
            let (predicted, real) = (*predicted.max(&1), *real.max(&1));
            predicted <= 2 * real && real <= 2 * predicted
        };
        Some(ForecastError {
            forecasts: errors.len(),
            median_turns: at(50)?,
            p90_turns: at(90)?,
            within_double: checks.iter().filter(is_near).count(),
        })
    }
}
