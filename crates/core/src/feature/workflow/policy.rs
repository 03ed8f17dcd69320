//! Workflow gate: blocks agents behind a gate that was not cleared, and in a context that is nearly full.
//!
//! The rules, case by case, are in `workflow_gate.md` next to this file. The model is never asked for a compaction:
//! only a person can have the client compact.

use std::fmt::Write as _;

use super::settings::WorkflowMode;
use crate::event::{Event, EventKind};
use crate::feature::config::Config;
use crate::feature::facts::{Facts, Known, Needs};
use crate::feature::marks::{Marks, SessionMark, UNTIL_BOUNDARY};
use crate::feature::verdict::{Asks, Audience, Call, Effect, Say, Verdict};
use crate::feature::workflow::check::{COMPACTS_FROM, GateReport, PROGRESS_SKILL};
use crate::feature::workflow::effect;
use crate::feature::workflow::manifest::{MANIFEST_FILE, is_feature_manifest, is_manifest};
use crate::feature::workflow::marks::Mark;
use crate::feature::workflow::standing::{GateContext, WorkflowStanding};
use crate::feature::workflow::{AttachedWorkflow, Gate, Manifest, PhaseBegan, words, work_id};
use crate::feature::{CONTEXT_FOLDER, HANDOFF_FILE, Mode, Policy};
use crate::meter::short_tokens;

pub use super::settings::Settings;

pub const ID: &str = "workflow-gate";

/// Levels of the ladder.
const PLAN: u8 = 60;
const SOON: u8 = 75;
const NOW: u8 = COMPACTS_FROM;
const BLOCKED: u8 = 85;
const LAST: u8 = 95;

/// Missing items listed.
const MAX_LISTED: usize = 6;

pub struct WorkflowGate;

impl Policy for WorkflowGate {
    fn id(&self) -> &'static str {
        ID
    }

    fn mode(&self, config: &Config) -> Mode {
        match config.policies.workflow_gate.mode {
            WorkflowMode::On | WorkflowMode::Strict => Mode::Live,
            WorkflowMode::Shadow => Mode::Shadow,
            WorkflowMode::Off => Mode::Off,
        }
    }

    fn needs(&self, event: &Event<'_>, marks: Option<&Marks>) -> Option<Needs> {
        let attached = marks.and_then(|marks| marks.workflow.attached.as_ref());
        match event.kind {
            EventKind::PreToolUse => {
                event.spawned_agent().filter(|_| event.is_main_thread())?;
                let workflow = attached.is_some();
                Some(Needs { meter: true, current: workflow, workflow, ..Needs::default() })
            }
            EventKind::PostToolUse if writes_manifest(event, attached) => {
                let shell = event.command_line().is_some();
                let meter = event.is_main_thread();
                let current = meter && attached.is_some();
                let mut needs = Needs { meter, current, workflow: true, ..Needs::default() };
                needs.verification.files = shell;
                Some(needs)
            }
            EventKind::PostToolUse | EventKind::PostToolUseFailure => {
                (attached.is_some() && event.is_main_thread() && event.spawn_failed()).then(Needs::default)
            }
            EventKind::UserPromptSubmit => {
                attached.filter(|_| event.failed_agent().is_some()).map(|_| Needs::default())
            }
            EventKind::SessionStart if event.follows_compaction() && event.is_main_thread() => {
                attached.map(|_| Needs { workflow: true, ..Needs::default() })
            }
            _ => None,
        }
    }

    fn skills<'c>(&self, config: &'c Config) -> Vec<&'c str> {
        let asks = config.policies.workflow_gate.mode == WorkflowMode::Strict;
        asks.then_some(PROGRESS_SKILL).into_iter().collect()
    }

    fn decide(&self, facts: &Facts<'_>, config: &Config) -> Verdict {
        let attached = match &facts.marks {
            Known::Value(marks) => marks.workflow.attached.as_ref(),
            Known::Absent => None,
            Known::Broken(_) => return Verdict::silent("the marks cannot be read"),
        };
        match (facts.event.kind, attached) {
            (EventKind::PreToolUse, _) => decide_spawn(facts, config, attached),
            (EventKind::SessionStart, Some(attached)) => remind_after_boundary(facts, attached),
            (EventKind::UserPromptSubmit, Some(_)) => {
                note_failed_agent(facts.event.failed_agent().map(|what| work_id(what, "")))
            }
            (EventKind::PostToolUse | EventKind::PostToolUseFailure, _)
                if facts.event.spawned_agent().is_some() =>
            {
                note_failed_agent(facts.event.spawned_agent().map(|(what, kind)| work_id(what, kind)))
            }
            (EventKind::PostToolUse, _) => decide_manifest_write(facts, config, attached),
            _ => Verdict::silent("no workflow is under way here"),
        }
    }
}

/// Judged by its input alone.
pub fn writes_manifest(event: &Event<'_>, attached: Option<&AttachedWorkflow>) -> bool {
    let paths = event.written_paths(|_| false);
    if !paths.is_empty() {
        let ours = |path: &str| attached.is_some_and(|attached| is_same_file(path, &attached.manifest));
        return paths.iter().any(|path| is_manifest(path) || ours(path));
    }
    // Tidegate's own commands also write it, without naming it.
    event
        .command_line()
        .is_some_and(|line| line.contains(MANIFEST_FILE) || attached.is_some() && line.contains(" gate "))
}

/// Compares a full path with one that may be relative to the root.
pub fn is_same_file(path: &str, manifest: &str) -> bool {
    path == manifest || path.strip_suffix(manifest).is_some_and(|before| before.ends_with('/'))
}

fn note_failed_agent(work: Option<u64>) -> Verdict {
    let effects = work.map(|work| Effect::mark(Mark::AgentFailed(work)));
    Verdict { effects: effects.into_iter().collect(), ..Verdict::silent("an agent failed") }
}

fn until_boundary(what: &str) -> String {
    format!("{UNTIL_BOUNDARY}{what}")
}

fn gate_context<'a>(
    facts: &'a Facts<'_>,
    config: &Config,
    standing: &WorkflowStanding,
    attached: Option<&'a AttachedWorkflow>,
) -> GateContext<'a> {
    let marks = facts.marks.value();
    let settings = &config.policies.workflow_gate;
    GateContext {
        strict: settings.mode == WorkflowMode::Strict,
        level: facts.meter.reading().and_then(|reading| settings.level(reading)),
        boundary: marks.and_then(|marks| marks.session.boundary),
        session: marks.and_then(|marks| marks.session.began),
        attached,
        written: standing.written,
    }
}

/// The session's workflow at this event.
enum ActiveWorkflow<'a> {
    Yes(&'a WorkflowStanding, &'a AttachedWorkflow),
    /// The manifest cannot be used, so its gates are unknown.
    Damaged(&'a AttachedWorkflow),
    /// With the reason.
    No(&'static str),
}

fn find_active<'a>(facts: &'a Facts<'_>, attached: Option<&'a AttachedWorkflow>) -> ActiveWorkflow<'a> {
    let Some(attached) = attached else { return ActiveWorkflow::No("no workflow is under way here") };
    let standing = match &facts.workflow {
        Known::Value(standing) => standing,
        Known::Absent => return ActiveWorkflow::No("the manifest is gone"),
        Known::Broken(_) => return ActiveWorkflow::Damaged(attached),
    };
    match &standing.manifest {
        _ if standing.belongs_to_other_than(facts.event.session.as_str()) => {
            ActiveWorkflow::No("another session has the workflow now")
        }
        _ if standing.is_untouched(facts.now) => ActiveWorkflow::No("the workflow was not touched for a day"),
        Ok(manifest) if manifest.complete => ActiveWorkflow::No("the workflow is complete"),
        Ok(_) => ActiveWorkflow::Yes(standing, attached),
        Err(_) => ActiveWorkflow::Damaged(attached),
    }
}

fn decide_spawn(facts: &Facts<'_>, config: &Config, attached: Option<&AttachedWorkflow>) -> Verdict {
    let settings = &config.policies.workflow_gate;
    let (standing, attached, damaged) = match find_active(facts, attached) {
        ActiveWorkflow::Yes(standing, attached) => (Some(standing), Some(attached), false),
        ActiveWorkflow::Damaged(attached) => (None, Some(attached), true),
        ActiveWorkflow::No(because) if settings.mode != WorkflowMode::Strict => {
            return Verdict::silent(because);
        }
        ActiveWorkflow::No(_) => (None, None, false),
    };
    let level = facts.meter.reading().and_then(|reading| settings.level(reading));
    let pending = standing
        .and_then(|standing| first_pending_gate(standing, &gate_context(facts, config, standing, attached)));
    let phase = standing.and_then(|standing| Some((standing.manifest.as_ref().ok()?, standing)));
    let mut verdict = AgentSpawn { facts, config, attached, level, pending, phase }.decide();
    if damaged && verdict.call == Call::Pass && verdict.says.is_empty() {
        verdict.because = "the manifest cannot be used, so nothing is known of gates";
    }
    verdict.effects.extend(
        standing.and_then(|standing| new_phase_mark(facts, config, standing, attached?)).map(Effect::mark),
    );
    verdict
}

/// The first gate that blocks agents, with its report.
fn first_pending_gate(standing: &WorkflowStanding, at: &GateContext<'_>) -> Option<(Gate, GateReport)> {
    let manifest = standing.manifest.as_ref().ok()?;
    standing.pending_gates().into_iter().find_map(|gate| {
        let report = standing.check_gate(gate, &at.moment_after(gate.after));
        // The manifest claims that it was passed: believed if all conditions are met.
        let claimed =
            manifest.passed(gate.number).is_some_and(|passed| passed.status.as_deref() == Some("passed"));
        (!(claimed && report.is_met())).then_some((gate, report))
    })
}

/// `None` if the phase is the one last seen.
fn new_phase_mark(
    facts: &Facts<'_>,
    config: &Config,
    standing: &WorkflowStanding,
    attached: &AttachedWorkflow,
) -> Option<Mark> {
    let manifest = standing.manifest.as_ref().ok()?;
    let number = manifest.current?;
    let last = attached.current();
    if last.is_some_and(|last| last.number == number) {
        return None;
    }
    let level = facts.meter.reading().and_then(|reading| config.policies.workflow_gate.level(reading));
    let at = last.map(|_| standing.written.unwrap_or(facts.now));
    Some(Mark::PhaseBegan(PhaseBegan { number, name: phase_name(manifest, number), at, level, asked: false }))
}

fn phase_name(manifest: &Manifest, number: usize) -> String {
    manifest.workflow.phase(number).map(|phase| phase.name.clone()).unwrap_or_default()
}

/// Context use in a few words.
fn describe_use(facts: &Facts<'_>) -> String {
    let Some(reading) = facts.meter.reading() else { return String::new() };
    match (reading.window, reading.used_pct(), reading.left()) {
        (Some(window), Some(percent), Some(left)) => {
            let before = if window.compact_at.is_some() {
                "before the client compacts"
            } else {
                "before the window is full"
            };
            format!(
                "{}% of {} tokens are in use, {} are left {before}",
                percent.round() as u64,
                short_tokens(window.tokens),
                short_tokens(left)
            )
        }
        _ => format!("{} tokens are in use", short_tokens(reading.used)),
    }
}

fn list_missing(report: &GateReport) -> String {
    let missing = report.missing();
    let (shown, more) = missing.split_at(missing.len().min(MAX_LISTED));
    let mut text = shown.join("; ");
    if !more.is_empty() {
        let _ = write!(text, "; and {} more", more.len());
    }
    text
}

/// Explains a blocking gate to the model.
fn gate_text(gate: Gate, report: &GateReport, claimed_skipped: bool) -> String {
    let Gate { number, after } = gate;
    let mut text = format!("Gate {number}, after phase {after} ({}), was not let through.", report.phase);
    let _ = if report.is_met() {
        write!(text, " Everything that it wants is there: `tidegate gate pass {number}` records it.")
    } else {
        write!(
            text,
            " Missing: {}. `tidegate gate note {after}` writes into the section, `tidegate gate check {number}` shows what is missing, \
             `tidegate gate pass {number}` lets the next agent through.",
            list_missing(report)
        )
    };
    if claimed_skipped {
        text += " The manifest says that it was skipped, but no person said so here.";
    }
    text
}

/// An agent about to be spawned.
struct AgentSpawn<'a> {
    facts: &'a Facts<'a>,
    config: &'a Config,
    attached: Option<&'a AttachedWorkflow>,
    level: Option<u8>,
    pending: Option<(Gate, GateReport)>,
    phase: Option<(&'a Manifest, &'a WorkflowStanding)>,
}

impl AgentSpawn<'_> {
    fn decide(self) -> Verdict {
        let level = self.level.unwrap_or_default();
        if level >= BLOCKED || self.pending.is_some() {
            let denial = self.deny(level);
            return if self.config.stepped_down(ID) { advise_instead(denial) } else { denial };
        }
        let mut verdict = self.advise(level);
        self.advise_on_retry(&mut verdict);
        verdict
    }

    fn noticed(&self, what: &str) -> bool {
        self.facts.marks.value().is_some_and(|marks| marks.session.noticed(&until_boundary(what)))
    }

    fn deny(&self, level: u8) -> Verdict {
        let lang = self.facts.lang;
        let (mut reason, mut says, mut effects) = (String::new(), Vec::new(), Vec::new());
        let mut once = |key: String, text: String| {
            if !self.noticed(&key) {
                let when_said = vec![Effect::mark(SessionMark::Notice(until_boundary(&key)))];
                says.push(Say { to: Audience::User, text, weight: 60, explains: true, when_said });
            }
        };
        if level >= BLOCKED {
            let _ = write!(
                reason,
                "The agent was not spawned: from {BLOCKED}% of the way to a full context on, no agents are. {}.",
                describe_use(self.facts)
            );
            reason += if self.facts.person.may_be_there() {
                " Only the person can have the conversation compacted, with /compact; they are told. What is not in a file by then \
                 survives as a summary."
            } else {
                " Nobody is there to have the conversation compacted. The work can go on without agents, in this thread and in small \
                 steps; what is written to files stays."
            };
            once(BLOCKED.to_string(), words::spawn_blocked(lang, BLOCKED, self.facts.meter.reading()));
        }
        if level >= LAST && !self.noticed(&LAST.to_string()) {
            let steps = self.phase.and_then(|(_, standing)| standing.steps());
            effects.push(Effect::Workflow(effect::Effect::WriteHandoff(steps.into_iter().collect())));
            effects.push(Effect::mark(SessionMark::Notice(until_boundary(&LAST.to_string()))));
            let _ = write!(reason, " From {LAST}% on {CONTEXT_FOLDER}/{HANDOFF_FILE} is written.");
            once(LAST.to_string(), words::handoff_written(lang, LAST, HANDOFF_FILE));
        }
        let mut asks = if level >= BLOCKED { Asks::compacted() } else { Asks::default() };
        if let Some((gate, report)) = &self.pending {
            let claimed = self
                .phase
                .and_then(|(manifest, _)| manifest.section(gate.after))
                .is_some_and(|found| found.skipped);
            let text = gate_text(*gate, report, claimed);
            let _ = if reason.is_empty() {
                write!(reason, "The agent was not spawned. {text}")
            } else {
                write!(reason, " {text}")
            };
            let key = format!("gate {}", gate.number);
            once(key, words::gate_pending(lang, gate.number, gate.after, report.missing().len()));
            asks.gate = Some(gate.number);
        }
        let because = match (level, &self.pending) {
            (LAST.., _) => "the context is full: a handoff is written",
            (BLOCKED.., None) => "the context is too full to spawn agents",
            (BLOCKED.., Some(_)) => "the context is too full to spawn agents, and a gate was not let through",
            _ => "a gate was not let through",
        };
        Verdict { call: Call::Deny, reason: Some(reason), because, says, asks, effects }
    }

    /// Number of the phase under way, and whether it spawns many agents.
    fn phase(&self) -> (usize, bool) {
        let current = self.phase.and_then(|(manifest, _)| {
            let number = manifest.current?;
            Some((number, manifest.workflow.phase(number)?.heavy))
        });
        let seen = || {
            self.attached.and_then(AttachedWorkflow::current).map_or((0, false), |seen| (seen.number, false))
        };
        current.unwrap_or_else(seen)
    }

    fn advise(&self, level: u8) -> Verdict {
        if self.level.is_none() {
            return Verdict::silent("how full the context is is not known");
        }
        let (phase, heavy) = self.phase();
        let step = match level {
            NOW.. => NOW,
            SOON.. => SOON,
            PLAN.. => return Verdict::silent("from 60% on a compaction can be planned"),
            _ => return Verdict::silent("there is room for agents"),
        };
        let key = format!("{step} {phase}");
        let told = self.noticed(&key);
        if told && !heavy {
            return Verdict::silent("this level was said in this phase");
        }
        let mark = || vec![Effect::mark(SessionMark::Notice(until_boundary(&key)))];
        let mut text = format!("{step}% of the way to a full context: {}.", describe_use(self.facts));
        text += if step == NOW {
            " From 85% on no agents are spawned. A compaction now keeps what stands in files."
        } else {
            " The next end of a phase is a good moment for a compaction."
        };
        text += &self.describe_summaries();
        let mut says =
            vec![Say { to: Audience::Model, text, weight: 70, explains: false, when_said: mark() }];
        if step == NOW && !told {
            let text = words::compact_now(self.facts.lang, self.facts.meter.reading());
            says.push(Say { to: Audience::User, text, weight: 60, explains: false, when_said: mark() });
        }
        let because = if step == NOW { "a compaction is due now" } else { "a compaction is due soon" };
        Verdict { says, asks: Asks::compacted(), ..Verdict::silent(because) }
    }

    /// Counts finished phases with a summary in the manifest.
    fn describe_summaries(&self) -> String {
        let Some((manifest, standing)) = self.phase else { return String::new() };
        let Some(current) = manifest.current else { return String::new() };
        let is_kept =
            |number: &usize| manifest.section(*number).is_some_and(|section| section.summary.is_some());
        let finished: Vec<usize> = (1..current).collect();
        let missing: Vec<String> =
            finished.iter().filter(|number| !is_kept(number)).map(ToString::to_string).collect();
        let kept = finished.len() - missing.len();
        let mut text =
            format!(" {}: {kept} of {} finished phases have a summary", standing.path, finished.len());
        if !missing.is_empty() {
            let _ = write!(text, ", not {}", missing.join(", "));
        }
        text += ".";
        text
    }

    /// Advises on repeating the work of a failed agent.
    fn advise_on_retry(&self, verdict: &mut Verdict) {
        let (Some(attached), Some((what, kind))) = (self.attached, self.facts.event.spawned_agent()) else {
            return;
        };
        let ids = [work_id(what, kind), work_id(what, "")];
        let Some(work) = ids.into_iter().find(|work| attached.failed.contains(work)) else { return };
        let text = "An agent with this task failed before. For the next one, one line on what went wrong is enough in its prompt; the output \
                    of the one that failed fills the context twice."
            .to_owned();
        let when_said = vec![Effect::mark(Mark::AgentRetried(work))];
        verdict.says.push(Say { to: Audience::Model, text, weight: 65, explains: false, when_said });
        if verdict.says.len() == 1 {
            verdict.because = "the same work is spawned again after a failure";
        }
    }
}

/// Turns a denial into advice.
fn advise_instead(denial: Verdict) -> Verdict {
    let text = denial
        .reason
        .unwrap_or_default()
        .replace("The agent was not spawned", "This agent would not have been spawned");
    let say = Say { to: Audience::Model, text, weight: 70, explains: false, when_said: Vec::new() };
    Verdict {
        says: vec![say],
        asks: denial.asks,
        effects: denial.effects,
        ..Verdict::silent("stepped down: a gate only advises")
    }
}

/// Decides who owns the written manifest and whether a phase ended.
fn decide_manifest_write(facts: &Facts<'_>, config: &Config, attached: Option<&AttachedWorkflow>) -> Verdict {
    let standing = match &facts.workflow {
        Known::Value(standing) => standing,
        Known::Absent => return Verdict::silent("no manifest was written"),
        Known::Broken(_) => return Verdict::silent("the manifest cannot be read"),
    };
    let is_bound = attached.is_some_and(|attached| attached.manifest == standing.path);
    let manifest = match &standing.manifest {
        Ok(manifest) if is_bound || manifest.is_workflow(&standing.path) => manifest,
        Err(damage) if is_bound || is_feature_manifest(&standing.path) => {
            return report_broken_manifest(facts, standing, &damage.to_string());
        }
        _ => return Verdict::silent("that manifest tells of no workflow"),
    };
    if manifest.complete {
        let left = is_bound.then_some(Effect::mark(Mark::WorkflowLeft));
        return Verdict {
            effects: left.into_iter().collect(),
            ..Verdict::silent("the workflow is complete")
        };
    }
    let level = facts.meter.reading().and_then(|reading| config.policies.workflow_gate.level(reading));
    let anothers = standing.belongs_to_other_than(facts.event.session.as_str());
    let Some(bound) = attached.filter(|_| is_bound && !anothers) else {
        return match standing.held_elsewhere.zip(attached) {
            // An agent may work on a task of its own in a worktree of its own.
            _ if !facts.event.is_main_thread() => Verdict::silent("an agent wrote another manifest"),
            _ if is_bound && !call_wrote(facts, &standing.path) => {
                Verdict::silent("another session has the workflow now")
            }
            Some((gate, attached)) => stay_attached(facts, attached, standing, gate),
            None => attach_session(manifest, standing),
        };
    };
    let (Some(number), Some(last)) = (manifest.current, bound.current()) else {
        let mark = new_phase_mark(facts, config, standing, bound).map(Effect::mark);
        return Verdict { effects: mark.into_iter().collect(), ..Verdict::silent("the phase is not known") };
    };
    if last.number == number {
        return Verdict::silent("the phase is the same");
    }
    let began = |asked| {
        let name = phase_name(manifest, number);
        Mark::PhaseBegan(PhaseBegan { number, name, at: Some(facts.now), level, asked })
    };
    // As if the phase had already ended, at this level.
    let mut then = bound.clone();
    if let Mark::PhaseBegan(new) = &began(false) {
        then.begin(new);
    }
    let at = gate_context(facts, config, standing, Some(&then));
    let change = PhaseChange {
        facts,
        standing,
        level: level.unwrap_or_default(),
        at,
        ended: last.number,
        begins: number,
    };
    let (mut verdict, asked) = change.decide(manifest);
    verdict.effects.insert(0, Effect::mark(began(asked)));
    verdict
}

/// As far as the call shows.
fn call_wrote(facts: &Facts<'_>, manifest: &str) -> bool {
    let by_tool = facts.event.written_paths(|_| false).iter().any(|path| is_same_file(path, manifest));
    by_tool
        || facts
            .verification
            .files
            .iter()
            .filter_map(|file| file.inside.as_deref())
            .any(|path| is_same_file(path, manifest))
}

/// Beginning another workflow is not a way around a blocking gate.
fn stay_attached(
    facts: &Facts<'_>,
    attached: &AttachedWorkflow,
    standing: &WorkflowStanding,
    gate: usize,
) -> Verdict {
    let because = "a gate of this session's workflow was not let through";
    let key = format!("stays {}", standing.path);
    if facts.marks.value().is_some_and(|marks| marks.session.noticed(&until_boundary(&key))) {
        return Verdict::silent(because);
    }
    let text = format!(
        "This session stays in the workflow of {}: its gate {gate} was not let through. `tidegate gate check {gate}` shows what is \
         missing; `tidegate gate detach` lets go of it, with the person's yes.",
        attached.manifest
    );
    let when_said = vec![Effect::mark(SessionMark::Notice(until_boundary(&key)))];
    let say = Say { to: Audience::Model, text, weight: 60, explains: false, when_said };
    Verdict { says: vec![say], ..Verdict::silent(because) }
}

fn attach_session(manifest: &Manifest, standing: &WorkflowStanding) -> Verdict {
    let new = standing.attach(manifest, None);
    let (project, manifest) = (standing.root.clone(), standing.path.clone());
    let own = effect::Effect::OwnManifest { project, manifest };
    let effects = vec![Effect::mark(Mark::Workflow(Box::new(new))), Effect::Workflow(own)];
    Verdict { effects, ..Verdict::silent("the workflow is this session's now") }
}

/// An unreadable manifest blocks nothing, but no gate can be passed with it: the model should know.
fn report_broken_manifest(facts: &Facts<'_>, standing: &WorkflowStanding, why: &str) -> Verdict {
    let key = format!("broken {}", crate::text::fnv::hash(why.bytes()));
    if facts.marks.value().is_some_and(|marks| marks.session.noticed(&until_boundary(&key))) {
        return Verdict::silent("the manifest cannot be used");
    }
    let text = format!(
        "{} cannot be used as it is: {why}. Until it reads back no gate can be passed with it.",
        standing.path
    );
    let when_said = vec![Effect::mark(SessionMark::Notice(until_boundary(&key)))];
    let say = Say { to: Audience::Model, text, weight: 60, explains: false, when_said };
    Verdict { says: vec![say], ..Verdict::silent("the manifest cannot be used") }
}

/// One phase ended and another begins.
struct PhaseChange<'a> {
    facts: &'a Facts<'a>,
    standing: &'a WorkflowStanding,
    level: u8,
    at: GateContext<'a>,
    ended: usize,
    begins: usize,
}

impl PhaseChange<'_> {
    /// Also returns whether a compaction is requested without a gate.
    fn decide(&self, manifest: &Manifest) -> (Verdict, bool) {
        let PhaseChange { facts, level, ended, begins, .. } = self;
        let head = format!(
            "Phase {ended} has ended and phase {begins} ({}) begins.",
            phase_name(manifest, *begins).replace('_', " ")
        );
        let gate = first_pending_gate(self.standing, &self.at);
        let full = (*level >= SOON).then(|| {
            format!(
                " {step}% of the way to a full context: {}.",
                describe_use(facts),
                step = self.ladder_step()
            )
        });
        let (text, because, asks, asked) = match gate {
            Some((gate, report)) => {
                let claimed = manifest.section(gate.after).is_some_and(|found| found.skipped);
                let mut text =
                    format!("{head}{} {}", full.unwrap_or_default(), gate_text(gate, &report, claimed));
                text += " Until then no agents are spawned.";
                (text, "a gate lies before the phase that begins", Asks::gate(gate.number), false)
            }
            None if *level >= NOW => {
                let report = self
                    .standing
                    .check_gate(Gate { number: 0, after: *ended }, &self.at.moment_after(*ended));
                let missing = if report.is_met() { "nothing".to_owned() } else { list_missing(&report) };
                let text = format!(
                    "{head}{} From 85% on no agents are spawned. A compaction now keeps what stands in files; missing there of phase {ended}: \
                     {missing}.",
                    full.unwrap_or_default()
                );
                (text, "a phase has ended, and a compaction is due now", Asks::compacted(), true)
            }
            None if *level >= SOON => {
                let text = format!(
                    "{head}{} Before the next compaction it is enough that progress stands in {} and the phases that ended have a short \
                     `summary` there.",
                    full.unwrap_or_default(),
                    self.standing.path
                );
                (text, "a phase has ended, and a compaction is due soon", Asks::compacted(), true)
            }
            None => return (Verdict::silent("a phase has ended"), false),
        };
        // Said at the end of a phase, it is not repeated before the first agent of the next one.
        let said =
            |step| vec![Effect::mark(SessionMark::Notice(until_boundary(&format!("{step} {begins}"))))];
        let when_said = if *level >= SOON { said(SOON) } else { Vec::new() };
        let mut says = vec![Say { to: Audience::Model, text, weight: 75, explains: false, when_said }];
        if *level >= NOW {
            let when_said = said(NOW);
            let text = words::compact_now(facts.lang, facts.meter.reading());
            says.push(Say { to: Audience::User, text, weight: 60, explains: false, when_said });
        }
        (Verdict { says, asks, ..Verdict::silent(because) }, asked)
    }

    fn ladder_step(&self) -> u8 {
        [LAST, BLOCKED, NOW].into_iter().find(|step| self.level >= *step).unwrap_or(SOON)
    }
}

/// A compaction may have removed the workflow from the conversation.
fn remind_after_boundary(facts: &Facts<'_>, attached: &AttachedWorkflow) -> Verdict {
    let standing = match find_active(facts, Some(attached)) {
        ActiveWorkflow::Yes(standing, _) => Some(standing),
        ActiveWorkflow::Damaged(_) => None,
        ActiveWorkflow::No(because) => return Verdict::silent(because),
    };
    let mut text = format!("Before this compaction: {}.", attached.key_fact());
    if let Some(gate) = standing.and_then(|standing| standing.pending_gates().into_iter().next()) {
        let _ = write!(
            text,
            " Gate {0}, after phase {1}, was not let through yet: `tidegate gate check {0}` shows what is missing.",
            gate.number, gate.after
        );
    }
    let say = Say { to: Audience::Model, text, weight: 90, explains: false, when_said: Vec::new() };
    let asked = attached.seen.iter().rev().nth(1).filter(|left| left.asked);
    let noted = asked.zip(standing.and_then(|standing| standing.manifest.as_ref().ok())).and_then(
        |(left, manifest)| {
            let section = manifest.section(left.number)?.key.clone();
            let (project, manifest) = (attached.project.clone(), attached.manifest.clone());
            let note = effect::Effect::NoteCompaction { project, manifest, section };
            Some([Effect::Workflow(note), Effect::mark(Mark::CompactionNoted(left.number))])
        },
    );
    Verdict {
        says: vec![say],
        effects: noted.into_iter().flatten().collect(),
        ..Verdict::silent("a workflow outlives the compaction")
    }
}
