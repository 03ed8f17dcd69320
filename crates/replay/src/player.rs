//! Feeds the moments of a session to the core, as the hook does: facts, marks, policies. Marks are in memory, and a hold has no
//! consequence: each end of a turn is judged by itself.

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::error::{Error, Result};
use tidegate_core::event::action::Exit;
use tidegate_core::event::{Event, EventKind, SessionId};
use tidegate_core::feature::config::Config;
use tidegate_core::feature::facts::{Facts, Known, Needs};
use tidegate_core::feature::knowledge::boundary::Boundary;
use tidegate_core::feature::knowledge::{compaction, effect as knowledge};
use tidegate_core::feature::marks::{Mark, Marks};
use tidegate_core::feature::pressure::Pressure;
use tidegate_core::feature::verdict::{Audience, Carried, Effect};
use tidegate_core::feature::verification::checks::{LONGEST_OUTPUT, kinds_of, read_ending};
use tidegate_core::feature::verification::marks::Mark as VerificationMark;
use tidegate_core::feature::verification::verify_stop::{self, StopCourse, StopStanding, VerifyStop};
use tidegate_core::feature::{Mode, Policy as _};
use tidegate_core::host::Host;
use tidegate_core::host::window::{HostSettings, Window};
use tidegate_core::meter::forecast::Forecast;
use tidegate_core::meter::sources::MeterSources;
use tidegate_core::meter::transcript::TranscriptReading;
use tidegate_core::meter::{Meter, NoReading};
use tidegate_core::pipeline;
use tidegate_core::settings::setting::Whole;
use tidegate_core::time::Millis;
use tidegate_state::feature::{self, HookContext};
use tidegate_state::place::PlaceEnv;
use tidegate_state::project;

use crate::context::{ContextCourse, GivenWarning, WarningLevel};
use crate::entry::RequestUsage;
use crate::moment::{Happening, Moment};
use crate::outcome::{EarlierChecks, HoldCause, JudgedRun, StopOutcome, find_cause};
use crate::payload::{write_payload, write_pre_compact};
use crate::scratch::Scratch;
use crate::seen_files::ProjectFiles;
use crate::transcript::ReplaySession;
use crate::turn::TurnEnd;

/// From this version on the client assumes a million tokens for a model that it does not know, before it 200,000.
const LARGE_UNKNOWN: [u32; 3] = [2, 1, 323];

/// What a version of the client took for granted.
fn settings_of(version: Option<&str>) -> HostSettings {
    let is_old = is_before(version, LARGE_UNKNOWN);
    HostSettings { unknown_window: is_old.then_some(200_000), ..HostSettings::default() }
}

/// Up to 2.1.4 the client compacted in each window of 200,000 tokens, with 45,000 left: three transcripts of 2.0.14 to 2.1.4 did
/// at 155,400 to 160,000, with models that the newest one fills to the end.
const EARLIER_POINT: [u32; 3] = [2, 1, 5];
const EARLIER_WINDOW: Window = Window { tokens: 200_000, compact_at: Some(155_000) };

fn is_before(version: Option<&str>, limit: [u32; 3]) -> bool {
    let numbers = |version: &str| -> Option<Vec<u32>> {
        version.split('.').map(|number| number.parse().ok()).collect()
    };
    version.and_then(numbers).is_some_and(|numbers| numbers.as_slice() < limit.as_slice())
}

/// The window as the client of that time used it; a setting of the person's own counts more.
fn window_then(window: Window, version: Option<&str>) -> Window {
    let is_earlier = window.tokens == EARLIER_WINDOW.tokens && is_before(version, EARLIER_POINT);
    if is_earlier { EARLIER_WINDOW } else { window }
}

/// The end of a turn, judged.
pub struct JudgedEnd {
    pub end: TurnEnd,
    pub line: usize,
    pub at: Millis,
    pub outcome: StopOutcome,
    /// Code was edited in this very turn.
    pub has_edited: bool,
    /// With this config Tidegate would have blocked the stop.
    pub is_blocked: bool,
    /// The run that decided.
    pub run: Option<JudgedRun>,
    /// The line of the last edit of code.
    pub edit_line: Option<usize>,
}

/// A check whose status shows, and whose closing lines say that it passed.
#[derive(Clone, Debug)]
pub struct ClosedRun {
    pub line: usize,
    pub command: String,
    pub succeeded: bool,
}

#[derive(Default)]
pub struct PlayedSession {
    pub ends: Vec<JudgedEnd>,
    pub context: ContextCourse,
}

/// Times of a replay are in the future: a file that no call of the session changed is older than all of them.
const AHEAD: Duration = Duration::from_hours(24);

pub fn play_session(
    session: &ReplaySession,
    root: &str,
    files: &ProjectFiles,
    config: &Config,
) -> Result<PlayedSession> {
    let mut player = Player::new(root, files, config)?;
    let mut ends = Vec::new();
    for moment in &session.moments {
        ends.extend(player.play(moment)?);
    }
    Ok(PlayedSession { ends, context: player.context })
}

/// One session.
pub struct Player<'a> {
    files: &'a ProjectFiles,
    /// The version of them that was written last.
    version: Option<usize>,
    config: &'a Config,
    host: Host,
    place: PlaceEnv,
    session: SessionId,
    scratch: Scratch,
    /// Of the replay, and of the session's first moment.
    start: Millis,
    began: Option<Millis>,
    marks: Option<Marks>,
    /// By the last answer of the main thread.
    meter: Meter,
    /// Facts to keep, from before the last compaction.
    boundary: Option<Boundary>,
    /// Runs after the last edit.
    since_edit: Vec<JudgedRun>,
    /// Code was edited in the turn that is under way.
    has_edited: bool,
    /// Before the last edit, in the same turn or change set.
    earlier: EarlierChecks,
    edit_line: Option<usize>,
    /// The run that verified the last change set.
    verified_by: Option<JudgedRun>,
    /// `None` if they are not wanted.
    closed: Option<Vec<ClosedRun>>,
    /// Moments without a payload that the core could read.
    unread: usize,
    turn: usize,
    pub context: ContextCourse,
}

impl<'a> Player<'a> {
    pub fn new(root: &str, files: &'a ProjectFiles, config: &'a Config) -> Result<Player<'a>> {
        let scratch = Scratch::new(root)?;
        let start = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default() + AHEAD;
        Ok(Player {
            files,
            version: None,
            config,
            host: Host::ClaudeCode,
            place: PlaceEnv { home: Some(scratch.home.clone()), ..PlaceEnv::default() },
            session: SessionId::parse("replayed").map_err(|step| Error::new(step.to_string()))?,
            start: Millis(start.as_millis() as u64),
            began: None,
            scratch,
            marks: None,
            meter: Meter::Unknown(NoReading::NothingYet),
            boundary: None,
            since_edit: Vec::new(),
            has_edited: false,
            earlier: EarlierChecks::default(),
            edit_line: None,
            verified_by: None,
            closed: None,
            unread: 0,
            turn: 1,
            context: ContextCourse::default(),
        })
    }

    /// The host that wrote the transcript. Its moments have the names of Claude Code.
    #[must_use]
    pub fn of_host(self, host: Host) -> Player<'a> {
        Player { host, ..self }
    }

    /// Also keeps the runs whose closing lines say that they passed.
    #[must_use]
    pub fn with_closed_runs(mut self) -> Player<'a> {
        self.closed = Some(Vec::new());
        self
    }

    /// Moments so far that could not be replayed, or not wholly.
    pub fn left_out(&self) -> usize {
        self.unread + self.scratch.odd_names()
    }

    pub fn finish(self) -> (ContextCourse, Vec<ClosedRun>) {
        (self.context, self.closed.unwrap_or_default())
    }

    pub fn play(&mut self, moment: &Moment) -> Result<Option<JudgedEnd>> {
        let began = *self.began.get_or_insert(moment.at);
        let now = Millis(self.start.0 + moment.at.since(began));
        match &moment.what {
            Happening::Answer(usage) => {
                self.read_meter(usage, moment, now);
                return Ok(None);
            }
            Happening::Compaction(start) => {
                self.context.compact(start, moment.line, self.turn, moment.at);
                let payload = write_pre_compact(moment, start, self.turn, &self.scratch);
                self.play_event(moment, &payload, now)?;
                self.meter = Meter::Unknown(NoReading::NothingYet);
            }
            Happening::TurnEnd(end) => {
                self.turn = end.turn + 1;
                if !self.has_open_edits() {
                    self.earlier = EarlierChecks::default();
                }
                if !end.ending.asks_hooks() {
                    self.has_edited = false;
                    return Ok(None);
                }
            }
            _ => {}
        }
        let payload = write_payload(moment, self.turn, &self.scratch);
        self.play_event(moment, &payload, now)
    }

    fn has_open_edits(&self) -> bool {
        self.marks.as_ref().is_some_and(|marks| marks.verification.changes.is_some())
    }

    fn play_event(&mut self, moment: &Moment, payload: &[u8], now: Millis) -> Result<Option<JudgedEnd>> {
        let Ok(event) = Host::ClaudeCode.read(payload, None) else {
            self.unread += 1;
            return Ok(None);
        };
        if matches!(moment.what, Happening::Result(_) | Happening::TurnEnd(_)) {
            let version = Some(self.files.version_at(moment.at));
            if self.version != version {
                self.scratch.write_project(self.files.at(moment.at))?;
                self.version = version;
            }
        }
        self.change_files(&event, now)?;
        let mut facts = self.facts(&event, now);
        let mut marks = self.warn(&facts, moment);
        marks.extend(self.advise(&facts));
        self.note_facts(&facts);
        marks.extend(pipeline::observe(&facts, self.config));
        if let Some(closed) = &mut self.closed {
            closed.extend(closed_run(&event, &facts, moment));
        }
        let judged = match &moment.what {
            Happening::TurnEnd(end) => Some(self.judge(end, &facts, moment)),
            _ => None,
        };
        let has_ended = judged.is_some();
        if has_ended {
            self.has_edited = false;
        }
        let (judged, passed) = judged.unzip();
        let run = judged_run(&event, &mut facts, moment);
        self.marks = match facts.marks {
            Known::Value(marks) => Some(marks),
            Known::Absent | Known::Broken(_) => None,
        };
        for mark in passed.unwrap_or_default() {
            self.marks.get_or_insert_default().apply(mark);
        }
        self.keep(marks, run, moment.line);
        // What was edited and checked in this turn is not the next one's.
        if has_ended && !self.has_open_edits() {
            self.edit_line = None;
        }
        Ok(judged)
    }

    /// As the hook reads it at the next event of the main thread: the answer that led there is in the transcript.
    fn read_meter(&mut self, usage: &RequestUsage, moment: &Moment, now: Millis) {
        let marks = self.marks.as_ref().map(|marks| &marks.session);
        let found = TranscriptReading {
            used: usage.used,
            answer: usage.answer,
            window: usage.window,
            boundary: false,
            model: usage.model.clone(),
            at: now,
            current: true,
        };
        self.meter = MeterSources {
            now,
            payload: None,
            bridge: None,
            transcript: Ok(Some(found)),
            boundary: marks.and_then(|marks| marks.boundary),
            model: None,
            outgrown: marks.and_then(|marks| marks.outgrown_window()),
            window: self.config.meter.window.map(Whole::get),
            host: self.host,
            settings: &settings_of(usage.client.as_deref()),
        }
        .meter();
        let is_set = self.config.meter.window.is_some() || self.host != Host::ClaudeCode;
        if let Meter::Current(reading) | Meter::StaleByOne(reading) = &mut self.meter
            && !is_set
        {
            reading.window = reading.window.map(|window| window_then(window, usage.client.as_deref()));
        }
        if let Some(reading) = self.meter.reading() {
            self.context.answer(moment.line, self.turn, (&usage.message, moment.at), reading);
        }
    }

    /// Does to the scratch folder what the call did to the project.
    fn change_files(&self, event: &Event<'_>, now: Millis) -> Result {
        for path in event.written_paths(|_| false) {
            self.scratch.note_edit(path)?;
        }
        if let (Some(command), Some(line)) = (event.finished_command(), event.command_line()) {
            let end = event.cwd.as_deref().unwrap_or_default();
            let before = self.marks.as_ref().and_then(|marks| marks.session.cwd.as_deref());
            let start = before.filter(|_| event.is_main_thread()).unwrap_or(end);
            self.scratch.note_run(line, start, end, command.exit == Exit::Known(0), now)?;
        }
        Ok(())
    }

    /// Takes the marks with it.
    fn facts<'e>(&mut self, event: &'e Event<'e>, now: Millis) -> Facts<'e> {
        let root = project::root(Some(&self.scratch.root), event.cwd.as_deref().map(Path::new));
        let here = HookContext {
            now,
            config: self.config,
            place: &self.place,
            state: None,
            session: &self.session,
            folder: Path::new("/nonexistent"),
            root: root.as_deref(),
            started_in: Some(&self.scratch.root),
            plugin: None,
            ignored: &[],
            in_time: &|| true,
            is_running: |_| None,
            is_started_by: |_, _| false,
        };
        // Facts of other rooms would come from this machine.
        let needs = pipeline::needs(event, self.marks.as_ref(), self.config);
        let needs = Needs { verification: needs.verification, ..Needs::default() };
        let marks = self.marks.take().map_or(Known::Absent, Known::Value);
        let name = root.as_deref().map(|root| root.to_string_lossy().into_owned().into());
        let mut facts = Facts { marks, root: name, ..Facts::of(event, now) };
        feature::read_facts(&mut facts, needs, &here);
        if event.is_main_thread() {
            facts.meter = self.meter.clone();
        }
        facts
    }

    /// The marks of a warning, which is written down.
    fn warn(&mut self, facts: &Facts<'_>, moment: &Moment) -> Vec<Mark> {
        let (event, config) = (facts.event, self.config);
        let is_off = Pressure.mode(config) == Mode::Off || config.switched_off(Pressure.id());
        let listens = matches!(event.kind, EventKind::UserPromptSubmit | EventKind::PostToolUse)
            && event.is_main_thread();
        let Some(reading) = facts.meter.reading().filter(|_| listens) else { return Vec::new() };
        self.context.seen(self.turn);
        let turns_left = facts.forecast().as_ref().and_then(Forecast::shown_turns);
        if let Some(turns) = turns_left.filter(|_| event.is_human_prompt()) {
            self.context.forecast(self.turn, turns);
        }
        if is_off {
            return Vec::new();
        }
        let verdict = Pressure.decide(facts, config);
        let is_said = Pressure.mode(config) == Mode::Live && !verdict.says.is_empty();
        let given = config.policies.pressure.level(reading, facts.forecast().as_ref());
        if let Some(level) = WarningLevel::of(given).filter(|_| is_said) {
            let is_for_person = verdict.says.iter().any(|say| say.to == Audience::User);
            let place = (moment.line, self.turn, moment.at);
            self.context.warn(GivenWarning::new(level, reading, turns_left, is_for_person, place));
        }
        let said = verdict.says.into_iter().flat_map(|say| say.when_said);
        verdict.effects.into_iter().chain(said).filter_map(|effect| effect.leaves()).collect()
    }

    /// The mark of the advice after the first edit: from then on no edit asks for the project's checks.
    fn advise(&self, facts: &Facts<'_>) -> Vec<Mark> {
        let is_advised = facts.marks.value().is_some_and(|marks| marks.verification.advised);
        let may_say = facts.event.kind == EventKind::PostToolUse && facts.verification.checks.is_some();
        if is_advised || !may_say || self.config.switched_off(verify_stop::ID) {
            return Vec::new();
        }
        let said = VerifyStop.decide(facts, self.config).says.into_iter().flat_map(|say| say.when_said);
        said.filter_map(|effect| effect.leaves()).collect()
    }

    /// Facts to keep before a compaction, and those that its summary lost.
    fn note_facts(&mut self, facts: &Facts<'_>) {
        let kind = facts.event.kind;
        if !facts.event.is_main_thread() || !matches!(kind, EventKind::PreCompact | EventKind::PostCompact) {
            return;
        }
        let mut facts = facts.clone();
        facts.knowledge.boundary = self.boundary.take();
        let verdict = compaction::Compaction.decide(&facts, self.config);
        let noted = verdict.effects.into_iter().find_map(|effect| match effect {
            Effect::Knowledge(knowledge::Effect::NoteBoundary(boundary)) => Some(*boundary),
            _ => None,
        });
        let Some(mut boundary) = noted else { return };
        if let Some(survival) = boundary.survival.take() {
            self.context.measure(&survival);
            return;
        }
        for fact in &mut boundary.facts {
            fact.text = self.scratch.unmap(&fact.text);
        }
        self.context.keep_facts(&boundary.facts);
        self.boundary = Some(boundary);
    }

    /// Also the marks of a stop that passes.
    fn judge(&self, end: &TurnEnd, facts: &Facts<'_>, moment: &Moment) -> (JudgedEnd, Vec<Mark>) {
        // Only this policy is replayed at the end of a turn.
        let mode = VerifyStop.mode(self.config);
        let is_off = mode == Mode::Off || self.config.switched_off(verify_stop::ID);
        let is_live = !is_off && mode == Mode::Live;
        let (standing, course) = verify_stop::weigh_stop(facts, self.config);
        let (outcome, run) = match standing {
            StopStanding::Unverified => {
                let (cause, run) = find_cause(&self.since_edit, &self.earlier);
                let work = facts.marks.value().map(|marks| &marks.verification);
                let has_failed =
                    work.and_then(|work| work.changes.as_ref()).is_some_and(|set| !set.failed.is_empty());
                let failed = self.since_edit.iter().rev().find(|run| run.failed);
                let failed = || failed.or(self.earlier.failed.as_ref());
                let (cause, run) = if has_failed { (HoldCause::Failed, failed()) } else { (cause, run) };
                (StopOutcome::Held(cause), run.cloned())
            }
            StopStanding::Verified => (StopOutcome::Verified, self.verified_by.clone()),
            StopStanding::Waiting => (StopOutcome::Waiting, None),
            StopStanding::Asks => (StopOutcome::Asking, None),
            StopStanding::NothingToCheck => (StopOutcome::NothingToCheck, None),
        };
        let marks = match &course {
            StopCourse::Settled(verdict) if !is_off => {
                verdict.effects.iter().filter_map(Carried::leaves).collect()
            }
            _ => Vec::new(),
        };
        let is_blocked = is_live && matches!(course, StopCourse::Block(_));
        let (line, at) = (moment.line, moment.at);
        let has_edited = self.has_edited;
        let edit_line = self.edit_line;
        (JudgedEnd { end: end.clone(), line, at, outcome, has_edited, is_blocked, run, edit_line }, marks)
    }

    fn keep(&mut self, new: Vec<Mark>, mut run: Option<JudgedRun>, line: usize) {
        let has = |is_it: fn(&VerificationMark) -> bool| {
            new.iter().any(|mark| matches!(mark, Mark::Verification(mark) if is_it(mark)))
        };
        let has_passed = has(|mark| matches!(mark, VerificationMark::Checked(_)));
        if let Some(run) = &mut run {
            run.passed = has_passed;
            run.failed = has(|mark| matches!(mark, VerificationMark::Failed(_)));
        }
        let has_edit = has(|mark| matches!(mark, VerificationMark::Edit(_)));
        if has_edit {
            self.earlier.add(&self.since_edit);
            self.since_edit.clear();
            self.has_edited = true;
            self.edit_line = Some(line);
        }
        let marks = self.marks.get_or_insert_default();
        let was_open = marks.verification.changes.is_some() || has_edit;
        for mark in new {
            marks.apply(mark);
        }
        let is_open = marks.verification.changes.is_some();
        self.since_edit.extend(run);
        if self.since_edit.len() > 2 * MOST_RUNS {
            self.since_edit.drain(..MOST_RUNS);
        }
        if was_open && !is_open {
            self.verified_by = self.since_edit.pop();
            self.since_edit.clear();
            // Edits are also gone when git took them back, or a skill was enough.
            let passed = self.verified_by.clone().filter(|_| has_passed);
            self.earlier = EarlierChecks { passed, ..EarlierChecks::default() };
        }
    }
}

/// Runs after an edit that are kept: the cause is among the last ones.
const MOST_RUNS: usize = 200;

/// Lines that `tail` would have left: the fewest that people ask for.
const LAST_LINES: usize = 5;

fn closed_run(event: &Event<'_>, facts: &Facts<'_>, moment: &Moment) -> Option<ClosedRun> {
    let command = event.finished_command()?;
    let Exit::Known(status) = command.exit else { return None };
    let checks = &facts.verification.proof.checks;
    let is_shown = checks.hidden.is_empty() && checks.visible.iter().any(|found| !found.by_output);
    if !is_shown || command.background.is_some() {
        return None;
    }
    let output = command.last_output(LONGEST_OUTPUT);
    let mut last: Vec<&str> = output.trim_end().lines().rev().take(LAST_LINES).collect();
    last.reverse();
    let ending = read_ending(&last.join("\n"));
    let says_passed = !ending.passed.is_empty() && ending.failed.is_empty();
    let line = event.command_line()?.to_owned();
    says_passed.then_some(ClosedRun { line: moment.line, command: line, succeeded: status == 0 })
}

fn judged_run(event: &Event<'_>, facts: &mut Facts<'_>, moment: &Moment) -> Option<JudgedRun> {
    let command = event.finished_command()?;
    let Happening::Result(end) = &moment.what else { return None };
    let work = &mut facts.verification;
    Some(JudgedRun {
        line: moment.line,
        command: end.call.input["command"].as_str().unwrap_or_default().to_owned(),
        succeeded: command.exit == Exit::Known(0),
        proves: kinds_of(&work.proof.checks.visible),
        hides: !work.proof.checks.hidden.is_empty(),
        passed: false,
        failed: false,
        checks: work.checks.take(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_up::MadeUp;
    use crate::outcome::HoldCause;
    use serde_json::json;

    /// The outcomes at the ends of all turns, in a project of Rust.
    fn play(made: MadeUp) -> Vec<StopOutcome> {
        let session = made.says("Done.").read();
        let files = ProjectFiles::of("/w/shop", &session.seen);
        let played = play_session(&session, "/w/shop", &files, &Config::default()).unwrap();
        played.ends.into_iter().map(|judged| judged.outcome).collect()
    }

    fn held(cause: HoldCause) -> StopOutcome {
        StopOutcome::Held(cause)
    }

    #[test]
    fn old_clients_gave_unknown_models_a_small_window() {
        let window = |version: Option<&str>| settings_of(version).unknown_window;
        assert_eq!((window(Some("1.0.128")), window(Some("2.1.322"))), (Some(200_000), Some(200_000)));
        for version in [Some("2.1.323"), Some("2.2.0"), Some("10.0"), Some("next"), None] {
            assert_eq!(window(version), None, "{version:?}");
        }
    }

    #[test]
    fn old_clients_compacted_short_windows_earlier() {
        let short = Window { tokens: 200_000, compact_at: None };
        let point = |version: &str| window_then(short, Some(version)).compact_at;
        assert_eq!((point("1.0.128"), point("2.1.4"), point("2.1.5")), (Some(155_000), Some(155_000), None));
        let long = Window { tokens: 1_000_000, compact_at: None };
        assert_eq!((window_then(long, Some("2.0.14")), window_then(short, None)), (long, short));
    }

    fn edited() -> MadeUp {
        MadeUp::new().prompt("fix it").edits("src/a.rs")
    }

    #[test]
    fn an_edit_wants_a_check_that_passed_after_it() {
        assert_eq!(play(MadeUp::new().prompt("why?").runs("ls", "")), [StopOutcome::NothingToCheck]);
        assert_eq!(play(MadeUp::new().prompt("a").edits("README.md")), [StopOutcome::NothingToCheck]);
        assert_eq!(play(edited()), [held(HoldCause::NothingRun)]);
        assert_eq!(play(edited().runs("cargo test", "ok")), [StopOutcome::Verified]);
        assert_eq!(play(edited().fails("cargo test", "Exit code 101")), [held(HoldCause::Failed)]);
        let piped = |output| edited().runs("cargo test 2>&1 | tail -5", output);
        assert_eq!(play(piped("ok")), [held(HoldCause::Hidden("| tail".into()))]);
        assert_eq!(play(piped("test result: ok. 3 passed; 0 failed")), [StopOutcome::Verified]);
        assert_eq!(play(piped("test result: FAILED. 3 passed; 1 failed")), [held(HoldCause::Failed)]);
        assert_eq!(play(edited().runs("frob run test", "ok")), [held(HoldCause::Unknown)]);
        let before =
            MadeUp::new().prompt("a").edits("src/b.rs").runs("cargo clippy; cargo fmt", "").edits("src/a.rs");
        assert_eq!(play(before), [held(HoldCause::HiddenBefore("; …".into()))]);
    }

    #[test]
    fn a_check_before_the_last_edit_is_named() {
        let made = edited().runs("cargo test", "ok").edits("src/b.rs");
        assert_eq!(play(made), [held(HoldCause::OnlyBefore)]);
        let made = edited().runs("cargo test", "ok").says("Done.").prompt("more").edits("src/b.rs");
        assert_eq!(play(made), [StopOutcome::Verified, held(HoldCause::NothingRun)]);
        let made = edited().runs("cargo test | tail -5", "ok").edits("src/b.rs").runs("ls", "");
        assert_eq!(play(made), [held(HoldCause::HiddenBefore("| tail".into()))]);
        let failed = "test result: FAILED. 3 passed; 1 failed";
        for made in
            [edited().fails("cargo test", "Exit code 101"), edited().runs("cargo test | tail", failed)]
        {
            assert_eq!(play(made.edits("src/b.rs")), [held(HoldCause::Failed)]);
        }
        // Neither a commit nor git that takes an edit back is a check.
        let commit = edited().runs("git commit -am x", "[main 1a2b] x").edits("src/b.rs");
        assert_eq!(play(commit), [held(HoldCause::NothingRun)]);
        let back = edited().runs("git checkout src/a.rs", "Updated 1 path from the index").edits("src/b.rs");
        assert_eq!(play(back), [held(HoldCause::NothingRun)]);
    }

    #[test]
    fn a_check_before_the_last_edit_is_shown() {
        let made = edited().runs("cargo test", "ok").edits("src/b.rs").says("Done.").prompt("more");
        let session = made.says("Yes.").read();
        let files = ProjectFiles::of("/w/shop", &session.seen);
        let played = play_session(&session, "/w/shop", &files, &Config::default()).unwrap();
        let run = played.ends[0].run.as_ref().unwrap();
        assert_eq!((run.line, run.command.as_str()), (5, "cargo test"));
    }

    #[test]
    fn a_finding_is_at_the_last_edit() {
        let made = edited().runs("ls", "").edits("src/b.rs").runs("ls", "").says("Done.").prompt("more");
        let session = made.says("Yes.").read();
        let files = ProjectFiles::of("/w/shop", &session.seen);
        let played = play_session(&session, "/w/shop", &files, &Config::default()).unwrap();
        assert_eq!((played.ends[0].edit_line, played.ends[0].line), (Some(7), 11));
        assert!(played.ends[0].run.is_none());
    }

    #[test]
    fn a_question_to_the_person_is_not_the_end() {
        let made = edited().says("Which of the two formats should I keep?").prompt("the old one");
        assert_eq!(play(made), [StopOutcome::Asking, held(HoldCause::NothingRun)]);
    }

    #[test]
    fn an_edit_that_git_took_back_is_none() {
        let made = edited().runs("git checkout src/a.rs", "Updated 1 path from the index");
        assert_eq!(play(made), [StopOutcome::NothingToCheck]);
    }

    #[test]
    fn a_check_of_a_later_turn_counts() {
        let made = edited().says("Done?").prompt("test it").runs("cargo test", "ok");
        assert_eq!(play(made), [held(HoldCause::NothingRun), StopOutcome::Verified]);
    }

    #[test]
    fn subagents_and_compactions_change_nothing() {
        let made = edited().in_agent("a1").runs("cargo test", "ok").in_main();
        assert_eq!(play(made), [StopOutcome::Verified]);
        let made = MadeUp::new().prompt("a").in_agent("a1").edits("src/a.rs").in_main();
        let made = made.entry(json!({"type": "system", "subtype": "compact_boundary"}));
        assert_eq!(play(made), [held(HoldCause::NothingRun)]);
    }

    #[test]
    fn command_lines_edit() {
        let written = MadeUp::new().prompt("a").runs("sed -i s/a/b/ src/a.rs", "");
        assert_eq!(play(written), [held(HoldCause::NothingRun)]);
        let checked = MadeUp::new().prompt("a").runs("sed -i s/a/b/ src/a.rs && cargo test", "ok");
        assert_eq!(play(checked), [StopOutcome::Verified]);
        let formatted = edited().runs("cargo test", "ok").runs("rustfmt src/a.rs", "");
        assert_eq!(play(formatted), [StopOutcome::Verified]);
        let gone = MadeUp::new().prompt("a").runs("echo x > src/new.rs", "").runs("rm src/new.rs", "");
        assert_eq!(play(gone), [StopOutcome::NothingToCheck]);
    }

    #[test]
    fn a_check_in_the_background_is_waited_for() {
        let started = json!({"stdout": "", "stderr": "", "interrupted": false, "backgroundTaskId": "b1"});
        let notice = "<task-notification><task-id>b1</task-id><status>completed</status>\
            <summary>Background command \"cargo test\" completed (exit code 0)</summary></task-notification>";
        let made = edited()
            .calls("Bash", &json!({"command": "cargo test", "run_in_background": true}))
            .result(2, false, "", &started)
            .says("started")
            .prompt(notice);
        assert_eq!(play(made), [StopOutcome::Waiting, StopOutcome::Verified]);
    }

    #[test]
    fn the_skill_counts() {
        let skill = json!({"skill": "verification-before-completion"});
        let made = edited().calls("Skill", &skill).result(2, false, "Launching", &json!({"success": true}));
        assert_eq!(play(made), [StopOutcome::Verified]);
        let typed = "<command-name>/verification-before-completion</command-name>";
        let made = edited().says("Done?").prompt(typed);
        let made = made.entry(json!({"type": "user", "isMeta": true, "message": {"content": "Verify now"}}));
        assert_eq!(play(made), [held(HoldCause::NothingRun), StopOutcome::Verified]);
    }
}
