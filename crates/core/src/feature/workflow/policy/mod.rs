//! Workflow gate: blocks agents behind a gate that was not cleared, and in a context that is nearly full.
//!
//! The rules, case by case, are in `workflow.md` of this room. The model is never asked for a compaction:
//! only a person can have the client compact.

mod agent_spawn;
mod failed_agent;
mod manifest_write;
mod second_client;
mod session_start;

use std::fmt::Write as _;

use super::settings::WorkflowMode;
use crate::event::{AgentWork, Event, EventKind};
use crate::feature::config::Config;
use crate::feature::facts::{Facts, Known, Needs};
use crate::feature::marks::{Marks, UNTIL_BOUNDARY};
use crate::feature::verdict::{Audience, Effect, Say, Verdict};
use crate::feature::workflow::check::{COMPACTS_FROM, GateReport, PROGRESS_SKILL};
use crate::feature::workflow::closed::{ClosedGate, Loss, PendingGate};
use crate::feature::workflow::effect;
use crate::feature::workflow::manifest::{MANIFEST_FILE, is_manifest};
use crate::feature::workflow::marks::Mark;
use crate::feature::workflow::standing::{GateContext, WorkflowStanding};
use crate::feature::workflow::{AttachedWorkflow, Gate, Manifest, PhaseBegan};
use crate::feature::{Mode, Policy};
use crate::meter::{Reading, short_tokens};
use crate::text::lang::Lang;

pub use super::settings::Settings;

pub const ID: &str = "workflow";

/// Levels of the ladder.
const PLAN: u8 = 60;
const SOON: u8 = 75;
const NOW: u8 = COMPACTS_FROM;
const BLOCKED: u8 = 85;
const LAST: u8 = 95;

/// Missing items listed.
const MAX_LISTED: usize = 6;

/// A gate that is still pending is noted again after this long.
const NOTED_MS: u64 = 3_600_000;

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
                let work = event.agent_work()?;
                // Without marks, too: they could be lost.
                let needs = Needs { workflow: true, ..Needs::default() };
                let fills_context = work == AgentWork::Spawn && event.is_main_thread();
                Some(if fills_context {
                    Needs { meter: true, current: attached.is_some(), ..needs }
                } else {
                    needs
                })
            }
            EventKind::PostToolUse if writes_manifest(event, attached) => {
                let shell = event.command_line().is_some();
                let meter = event.is_main_thread();
                let current = meter && attached.is_some();
                let mut needs = Needs { meter, current, workflow: true, ..Needs::default() };
                needs.verification.files = shell;
                Some(needs)
            }
            EventKind::PostToolUse | EventKind::PostToolUseFailure | EventKind::UserPromptSubmit => {
                let reminds =
                    attached.is_some() && marks.is_some_and(|marks| marks.session.may_remind(event));
                if reminds || is_prompt_below(event, attached) {
                    return Some(Needs { workflow: true, ..Needs::default() });
                }
                let failed =
                    attached.is_some() && event.is_main_thread() && failed_agent::find(event).is_some();
                failed.then(Needs::default)
            }
            EventKind::SessionStart if event.is_main_thread() => {
                let concerns = attached.is_some() || !event.follows_compaction();
                concerns.then(|| Needs { workflow: true, ..Needs::default() })
            }
            _ => None,
        }
    }

    fn skills<'c>(&self, config: &'c Config) -> Vec<&'c str> {
        let asks = config.policies.workflow_gate.mode == WorkflowMode::Strict;
        asks.then_some(PROGRESS_SKILL).into_iter().collect()
    }

    fn decide(&self, facts: &Facts<'_>, config: &Config) -> Verdict {
        let recovered = facts.workflow.recovered.as_deref();
        let attached = match &facts.marks {
            Known::Value(marks) => marks.workflow.attached.as_ref().or(recovered),
            Known::Absent => recovered,
            Known::Broken(_) if recovered.is_some() => recovered,
            Known::Broken(_) => return Verdict::silent("the session's state cannot be read"),
        };
        let verdict = match (facts.event.kind, attached) {
            (EventKind::PreToolUse, _) => agent_spawn::decide_spawn(facts, config, attached),
            (EventKind::SessionStart, Some(attached)) if facts.event.follows_compaction() => {
                remind_after_boundary(facts, attached)
            }
            (EventKind::SessionStart, _) => session_start::decide_start(facts, attached),
            (EventKind::UserPromptSubmit, Some(below)) if is_prompt_below(facts.event, attached) => {
                let refused = second_client::refuse_prompt(facts, config, below);
                refused.unwrap_or_else(|| failed_agent::advise_on_failure(facts))
            }
            (EventKind::UserPromptSubmit | EventKind::PostToolUseFailure, Some(_)) => {
                failed_agent::advise_on_failure(facts)
            }
            (EventKind::PostToolUse, Some(_)) if facts.event.spawned_agent().is_some() => {
                failed_agent::advise_on_failure(facts)
            }
            (EventKind::PostToolUse, _) => manifest_write::decide_manifest_write(facts, config, attached),
            _ => Verdict::silent("no workflow is under way here"),
        };
        match attached {
            Some(attached) if facts.event.start.is_none() && may_remind(facts) => {
                remind_also(verdict, remind_after_boundary(facts, attached))
            }
            _ => verdict,
        }
    }
}

fn may_remind(facts: &Facts<'_>) -> bool {
    facts.marks.value().is_some_and(|marks| marks.session.may_remind(facts.event))
}

/// Where the start after the compaction was silent.
fn remind_also(verdict: Verdict, reminder: Verdict) -> Verdict {
    let says = [verdict.says, reminder.says].concat();
    let effects = [verdict.effects, reminder.effects].concat();
    Verdict { says, effects, because: reminder.because, ..verdict }
}

fn is_prompt_below(event: &Event<'_>, attached: Option<&AttachedWorkflow>) -> bool {
    let is_prompt = event.kind == EventKind::UserPromptSubmit && event.is_main_thread();
    is_prompt && attached.is_some_and(|attached| attached.below)
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
        .is_some_and(|line| line.contains(MANIFEST_FILE) || attached.is_some() && names_our_command(line))
}

/// `tidegate workflow`, or by its former name `tidegate gate`.
fn names_our_command(line: &str) -> bool {
    [" workflow ", " gate "].iter().any(|name| line.contains(name))
}

/// Compares a full path with one that may be relative to the root.
pub fn is_same_file(path: &str, manifest: &str) -> bool {
    path == manifest || path.strip_suffix(manifest).is_some_and(|before| before.ends_with('/'))
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
        used_pct: facts.meter.reading().and_then(Reading::used_pct).map(|percent| percent.round() as u64),
        boundary: marks.and_then(|marks| marks.session.boundary),
        session: marks.and_then(|marks| marks.session.began),
        attached,
        written: standing.written,
        now: facts.now,
    }
}

/// The session's workflow at this event.
enum ActiveWorkflow<'a> {
    Yes(&'a WorkflowStanding, &'a AttachedWorkflow),
    /// A gate was pending, and the manifest does not tell of it any more.
    Lost(&'a AttachedWorkflow, PendingGate, Loss),
    /// The manifest cannot be used, so its gates are unknown.
    Damaged(&'a AttachedWorkflow),
    /// With the reason.
    No(&'static str),
}

fn find_active<'a>(facts: &'a Facts<'_>, attached: Option<&'a AttachedWorkflow>) -> ActiveWorkflow<'a> {
    let Some(attached) = attached else { return ActiveWorkflow::No("no workflow is under way here") };
    let known = &facts.workflow.standing;
    let session = facts.event.session.as_str();
    let is_others = |standing: &WorkflowStanding| standing.belongs_to_other_than(session);
    if attached.is_untouched(known, facts.now) {
        return ActiveWorkflow::No("the workflow was not touched for a day");
    }
    match (attached.closed_gate(known, session, facts.now), known) {
        (Some(ClosedGate::Lost(gate, loss)), _) => ActiveWorkflow::Lost(attached, gate, loss),
        (Some(ClosedGate::Pending(_)), Known::Value(standing)) => ActiveWorkflow::Yes(standing, attached),
        (_, Known::Value(standing)) if is_others(standing) => {
            ActiveWorkflow::No("another session has the workflow now")
        }
        (_, Known::Absent) => ActiveWorkflow::No("the manifest is gone"),
        (_, Known::Broken(_)) => ActiveWorkflow::Damaged(attached),
        (_, Known::Value(standing)) => match &standing.manifest {
            Ok(manifest) if manifest.complete => ActiveWorkflow::No("the workflow is complete"),
            Ok(_) => ActiveWorkflow::Yes(standing, attached),
            Err(_) => ActiveWorkflow::Damaged(attached),
        },
    }
}

/// Brings the marks up to date with the gates that the manifest shows.
fn gate_marks(
    facts: &Facts<'_>,
    config: &Config,
    standing: &WorkflowStanding,
    attached: &AttachedWorkflow,
) -> Vec<Effect> {
    if attached.loss(&facts.workflow.standing).is_some() {
        return Vec::new();
    }
    let is_ours = !standing.belongs_to_other_than(facts.event.session.as_str());
    // A manifest that says *passed* may be believed.
    let blocks =
        standing.find_blocking_gate(&gate_context(facts, config, standing, Some(attached))).is_some();
    let is_fresh = |known: &PendingGate| facts.now.since(known.at) < NOTED_MS;
    let is_noted = |new: &PendingGate| {
        let is_it = |known: &PendingGate| known.gate == new.gate && known.since == new.since;
        attached.pending.iter().any(|known| is_it(known) && is_fresh(known))
    };
    let closed: Vec<PendingGate> = standing
        .closed_gates(facts.now)
        .into_iter()
        .filter(|new| blocks && (is_ours || attached.concerns(&new.gate())) && !is_noted(new))
        .collect();
    let is_closed = |gate: &Gate| {
        attached.saw_pending(gate.number) || closed.iter().any(|known| known.gate == gate.number)
    };
    let is_expected =
        |gate: &Gate| attached.due.iter().any(|known| known.gate == gate.number && is_fresh(known));
    let due: Vec<Gate> = standing
        .due_gates()
        .into_iter()
        .filter(|gate| is_ours && !is_closed(gate) && !is_expected(gate))
        .collect();
    let is_cleared = |known: &&PendingGate| standing.clearance(known.gate).is_some();
    let opened = attached.pending.iter().chain(&attached.due).filter(is_cleared);
    let opened: Vec<Mark> = opened.map(|known| Mark::GateOpen(known.gate)).collect();
    let remembered = (!closed.is_empty()).then(|| remember_closed(attached, closed.clone()));
    let closed = closed.into_iter().map(Mark::GatePending);
    let due = due.into_iter().map(|gate| Mark::GateDue(PendingGate::due(gate, facts.now)));
    closed.chain(opened).chain(due).map(Effect::mark).chain(remembered).collect()
}

/// For the case that the session's marks are lost.
fn remember_closed(attached: &AttachedWorkflow, closed: Vec<PendingGate>) -> Effect {
    let AttachedWorkflow { project, manifest, workflow, .. } = attached.clone();
    Effect::Workflow(effect::Effect::RememberClosed { project, manifest, workflow, closed })
}

/// Of a session that enters the workflow.
fn remember_pending(attached: &AttachedWorkflow) -> Option<Effect> {
    (!attached.pending.is_empty()).then(|| remember_closed(attached, attached.pending.clone()))
}

/// Hooks that see the same absence note it once.
const GONE_NOTED_MS: u64 = 1000;

/// The manifest was there before; a new one of its name inherits nothing.
fn gone_mark(facts: &Facts<'_>, attached: &AttachedWorkflow) -> Option<Effect> {
    let is_new = attached.gone.is_none_or(|gone| facts.now.since(gone) > GONE_NOTED_MS);
    is_new.then(|| Effect::mark(Mark::ManifestGone(facts.now)))
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
    // Not the file's own time, which can be set to anything.
    let at = last.map(|_| facts.now);
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
            let before =
                if window.compact_at.is_some() { "before compaction" } else { "before the window is full" };
            format!(
                "{}% of {} tokens are used, {} are left {before}",
                percent.round() as u64,
                short_tokens(window.tokens),
                short_tokens(left)
            )
        }
        _ => format!("{} tokens are used", short_tokens(reading.used)),
    }
}

fn list_missing(report: &GateReport) -> String {
    let missing: Vec<String> = report.missing().iter().map(|lack| lack.text(Lang::En)).collect();
    let (shown, more) = missing.split_at(missing.len().min(MAX_LISTED));
    let mut text = shown.join("; ");
    if !more.is_empty() {
        let _ = write!(text, "; and {} more", more.len());
    }
    text
}

/// Explains to the model what must be restored before anything can be checked.
fn loss_text(attached: &AttachedWorkflow, gate: &PendingGate, loss: &Loss) -> String {
    format!(
        "{}. Checkpoint {} after phase {} was not passed, and stays closed until the manifest tells of it again. The person \
         can leave this workflow: `tidegate workflow detach`.",
        loss.restore(&attached.manifest, &attached.workflow),
        gate.gate,
        gate.after
    )
}

/// Explains a blocking gate to the model.
fn gate_text(gate: Gate, report: &GateReport, claimed_skipped: bool) -> String {
    let Gate { number, after } = gate;
    let place = format!("checkpoint {number}, after phase {after} ({})", report.phase);
    let mut text = if report.is_met() {
        format!("Run `tidegate workflow pass {number}`: {place} has all it needs and is not recorded yet.")
    } else {
        format!(
            "Complete {place}. Missing: {}. Write it with `tidegate workflow note {after}`, then run `tidegate workflow pass \
             {number}`; `tidegate workflow check {number}` shows what is missing.",
            list_missing(report)
        )
    };
    if claimed_skipped {
        text += " The manifest says that it was skipped, but the person did not say so here.";
    }
    text
}

/// A compaction may have removed the workflow from the conversation.
fn remind_after_boundary(facts: &Facts<'_>, attached: &AttachedWorkflow) -> Verdict {
    let standing = match find_active(facts, Some(attached)) {
        ActiveWorkflow::Yes(standing, _) => Some(standing),
        ActiveWorkflow::Damaged(_) | ActiveWorkflow::Lost(..) => None,
        ActiveWorkflow::No(because) => return Verdict::silent(because),
    };
    let mut text = format!("Before this compaction: {}.", attached.key_fact());
    if let Some(gate) = attached.kept_gate().filter(|_| standing.is_none()) {
        let _ = write!(text, " Checkpoint {} after phase {} was not passed.", gate.gate, gate.after);
    }
    if let Some(gate) = standing.and_then(|standing| standing.pending_gates().into_iter().next()) {
        let _ = write!(
            text,
            " Checkpoint {0}, after phase {1}, is not passed yet: `tidegate workflow check {0}` shows what is missing.",
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
