//! The state of a session's workflow, from its manifest and from Tidegate's own state.

use serde::{Deserialize, Serialize};

use crate::feature::facts::Steps;
use crate::feature::workflow::check;
use crate::feature::workflow::check::{GateMoment, GateReport, NamedFile};
use crate::feature::workflow::closed::PendingGate;
use crate::feature::workflow::manifest::is_finished;
use crate::feature::workflow::{AttachedWorkflow, Gate, Manifest, ManifestDamage, PhaseBegan, WorkflowPhase};
use crate::time::Millis;

/// After this long without a change the workflow is only reported.
pub const UNTOUCHED_MS: u64 = 24 * 3_600_000;

/// A manifest and its context.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkflowStanding {
    /// Root of the project.
    pub root: String,
    /// The manifest's path as in the marks.
    pub path: String,
    pub manifest: Result<Manifest, ManifestDamage>,
    pub written: Option<Millis>,
    /// Files named in sections, by the numbers of the examined phases.
    pub files: Vec<(usize, Vec<NamedFile>)>,
    /// From Tidegate's own state, not from the manifest.
    pub cleared_gates: Vec<ClearedGate>,
    pub owner: Option<String>,
    /// As the session's marks know it, if the session uses this manifest.
    pub attached: Option<AttachedWorkflow>,
    /// Set when the written manifest is not that of the session's workflow: the gate of the latter that blocks
    /// agents.
    pub held_elsewhere: Option<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManifestOwner {
    pub manifest: String,
    /// Empty once the last session stopped using it.
    pub owner: String,
    pub at: Millis,
}

/// A session heard of a workflow that was left unfinished.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManifestTold {
    pub manifest: String,
    pub told: String,
    pub at: Millis,
}

/// A session saw gates closed. Its marks have them, too, but could be lost.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenClosed {
    pub manifest: String,
    pub workflow: String,
    pub closed: Vec<PendingGate>,
    /// The session.
    pub by: String,
}

/// A gate that was passed, or skipped with a person's consent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClearedGate {
    pub manifest: String,
    pub gate: usize,
    /// Skipped with a person's consent.
    pub skipped: bool,
    pub at: Millis,
    /// `created_at` of the manifest at that time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created: Option<Millis>,
}

impl WorkflowStanding {
    /// Ignores clearances of another manifest of this name, and of an earlier run of the phase before the gate.
    pub fn clearance(&self, gate: usize) -> Option<&ClearedGate> {
        let manifest = self.manifest.as_ref().ok()?;
        let after = manifest.workflow.gate(gate)?.after;
        let attached = self.attached.as_ref();
        let gone = attached.and_then(|attached| attached.gone);
        let is_this_manifest = |known: &ClearedGate| match (known.created, manifest.created) {
            (Some(then), now) => now == Some(then),
            // The time was added later. A handwritten one may be a little late.
            (None, Some(now)) => known.at.0 + 1000 > now.0,
            (None, None) => gone.is_none_or(|gone| gone <= known.at),
        };
        let began = self.run_began(after);
        let is_this_run = |known: &ClearedGate| began.is_none_or(|began| began <= known.at);
        let is_valid =
            |known: &&ClearedGate| known.gate == gate && is_this_manifest(known) && is_this_run(known);
        self.cleared_gates.iter().rev().find(is_valid)
    }

    /// When the last run of a phase began, by the manifest or by what the session saw.
    fn run_began(&self, phase: usize) -> Option<Millis> {
        let section = self.manifest.as_ref().ok().and_then(|manifest| manifest.section(phase));
        // A time after the manifest's last write is a mistake.
        let is_past = |began: &Millis| self.written.is_none_or(|written| began.0 <= written.0 + 1000);
        let told = section.and_then(|section| section.began).filter(is_past);
        let seen = self.attached.as_ref().and_then(|attached| attached.seen(phase));
        told.max(seen.and_then(|seen| seen.began))
    }

    pub fn belongs_to_other_than(&self, session: &str) -> bool {
        self.owner.as_deref().is_some_and(|owner| owner != session)
    }

    /// Gates that were not cleared: those before the phase under way, those that the session saw pending, and in a manifest that
    /// calls itself complete those whose phase the session has reached. Going back, `status: complete` and `status: skipped` of the
    /// phase before a gate do not open it.
    pub fn pending_gates(&self) -> Vec<Gate> {
        let Ok(manifest) = &self.manifest else { return Vec::new() };
        let attached = self.attached.as_ref();
        let was_pending = |gate: &Gate| attached.is_some_and(|attached| attached.saw_pending(gate.number));
        let is_pending = |gate: &Gate| {
            let is_over = manifest.is_past(gate.after) || manifest.complete && self.has_reached(gate.after);
            (was_pending(gate) || is_over) && self.clearance(gate.number).is_none()
        };
        manifest.workflow.gates().into_iter().filter(is_pending).collect()
    }

    fn has_reached(&self, phase: usize) -> bool {
        self.attached.as_ref().is_some_and(|attached| attached.seen(phase).is_some())
    }

    /// Gates that were not cleared, and whose phase the session has reached.
    pub fn due_gates(&self) -> Vec<Gate> {
        let Ok(manifest) = &self.manifest else { return Vec::new() };
        let is_due = |gate: &Gate| {
            let is_reached = manifest.current == Some(gate.after) || self.has_reached(gate.after);
            is_reached && self.clearance(gate.number).is_none()
        };
        manifest.workflow.gates().into_iter().filter(is_due).collect()
    }

    /// Pending gates for the marks, with the moment at which their phase was first seen to be over. A gate that only a manifest's
    /// early end makes pending is due, no more: the end may be a mistake.
    pub fn closed_gates(&self, now: Millis) -> Vec<PendingGate> {
        let attached = self.attached.as_ref();
        let note = |gate: Gate| {
            let known = attached.and_then(|attached| attached.seen_over(gate.after));
            let is_past = || self.manifest.as_ref().is_ok_and(|manifest| manifest.is_past(gate.after));
            let since = known.or_else(|| is_past().then_some(now));
            let is_closed =
                since.is_some() || attached.is_some_and(|attached| attached.saw_pending(gate.number));
            is_closed.then(|| PendingGate { since, ..PendingGate::due(gate, now) })
        };
        self.pending_gates().into_iter().filter_map(note).collect()
    }

    /// The marks of a session that enters this workflow. `began` is the start of its phase, if observed.
    pub fn attach(&self, manifest: &Manifest, began: Option<Millis>, now: Millis) -> AttachedWorkflow {
        let before = self.attached.as_ref().filter(|before| before.workflow == manifest.name);
        let mut new = AttachedWorkflow {
            project: self.root.clone(),
            manifest: self.path.clone(),
            workflow: manifest.name.clone(),
            of: manifest.workflow.phases.len(),
            gone: self.attached.as_ref().and_then(|attached| attached.gone),
            below: self.attached.as_ref().is_some_and(|attached| attached.below),
            seen: before.map(|before| before.seen.clone()).unwrap_or_default(),
            ..AttachedWorkflow::default()
        };
        if let Some(number) = manifest.current {
            let name = manifest.workflow.phase(number).map(|phase| phase.name.clone()).unwrap_or_default();
            new.begin(&PhaseBegan { number, name, at: began, level: None, asked: false });
        }
        for gate in self.closed_gates(now) {
            new.close(gate);
        }
        for gate in self.due_gates() {
            if !new.saw_pending(gate.number) {
                new.expect(PendingGate::due(gate, now));
            }
        }
        new
    }

    /// Phases whose files must be examined: those before pending gates and, with `left`, the one before the current.
    pub fn phases_to_examine(&self, left: bool) -> Vec<usize> {
        let mut phases: Vec<usize> = self.pending_gates().iter().map(|gate| gate.after).collect();
        let current = self.manifest.as_ref().ok().and_then(|manifest| manifest.current);
        phases.extend(current.and_then(|current| current.checked_sub(1)).filter(|phase| left && *phase > 0));
        phases.sort_unstable();
        phases.dedup();
        phases
    }

    /// Checks a gate, or the end of a phase as if it had a gate.
    pub fn check_gate(&self, gate: Gate, moment: &GateMoment) -> GateReport {
        match &self.manifest {
            Ok(manifest) => {
                let files = self.files.iter().find(|(phase, _)| *phase == gate.after);
                check::check_gate(
                    manifest,
                    gate,
                    files.map(|(_, files)| files.clone()).unwrap_or_default(),
                    moment,
                )
            }
            Err(damage) => check::report_unreadable(gate, damage, self.written),
        }
    }

    /// The first gate that blocks agents, with its report. A manifest that says *passed* is believed if nothing is missing.
    pub fn find_blocking_gate(&self, at: &GateContext<'_>) -> Option<(Gate, GateReport)> {
        let manifest = self.manifest.as_ref().ok()?;
        self.pending_gates().into_iter().find_map(|gate| {
            let report = self.check_gate(gate, &at.moment_after(gate.after));
            let began = self.run_began(gate.after);
            let claimed = manifest.passed(gate.number).is_some_and(|passed| {
                let of_this_run = passed.at.zip(began).is_none_or(|(at, began)| at >= began);
                passed.status.as_deref() == Some("passed") && of_this_run
            });
            (!(claimed && report.is_met())).then_some((gate, report))
        })
    }

    /// Phases for a handoff, with their gates. A status is the manifest's word, which whoever writes it can choose; that a gate was
    /// passed is Tidegate's.
    pub fn steps(&self) -> Option<Steps> {
        let pending = self.pending_gates();
        let keeps_gate = self.attached.as_ref().is_some_and(|attached| attached.kept_gate().is_some());
        let is_open = |manifest: &&Manifest| !manifest.complete || keeps_gate;
        let manifest = self.manifest.as_ref().ok().filter(is_open)?;
        let step = |(at, phase): (usize, &WorkflowPhase)| {
            let number = at + 1;
            let section = manifest.section(number);
            let status = section.and_then(|section| section.status.clone());
            let by_place = || match manifest.current {
                Some(current) if number < current => "left behind, without a status",
                Some(current) if number == current => "under way",
                _ => "not begun",
            };
            let mut told = match status {
                Some(status) if is_finished(&status) => format!("{status}, as the manifest says"),
                Some(status) => status,
                None => by_place().to_owned(),
            };
            let gate = manifest.workflow.gates().into_iter().find(|gate| gate.after == number);
            told += match gate.map(|gate| self.clearance(gate.number)) {
                Some(Some(cleared)) if cleared.skipped => "; a person skipped its checkpoint",
                Some(Some(_)) => "; its checkpoint was passed",
                Some(None) if pending.iter().any(|gate| gate.after == number) => {
                    "; its checkpoint is not passed yet"
                }
                _ => "",
            };
            (format!("{number} {}", phase.title()), told)
        };
        let steps = manifest.workflow.phases.iter().enumerate().map(step).collect();
        Some(Steps { of: format!("workflow {} ({})", manifest.name, self.path), steps })
    }

    /// Unchanged for a day.
    pub fn is_untouched(&self, now: Millis) -> bool {
        self.written.is_some_and(|written| now.since(written) > UNTOUCHED_MS)
    }
}

/// State of the session at the gate after a phase.
pub struct GateContext<'a> {
    /// Apply every condition.
    pub strict: bool,
    /// Level of context use now.
    pub level: Option<u8>,
    /// Percentage of the window in use now.
    pub used_pct: Option<u64>,
    /// The last compaction.
    pub boundary: Option<Millis>,
    /// When the session began.
    pub session: Option<Millis>,
    pub attached: Option<&'a AttachedWorkflow>,
    /// When the manifest was last written.
    pub written: Option<Millis>,
    pub now: Millis,
}

impl GateContext<'_> {
    /// Narrows it down to one phase.
    pub fn moment_after(&self, phase: usize) -> GateMoment {
        let seen = self.attached.and_then(|attached| attached.seen(phase));
        let then = seen.and_then(|seen| seen.level);
        GateMoment {
            strict: self.strict,
            level: self.level.max(then),
            used_pct: self.used_pct,
            began: seen.and_then(|seen| seen.began),
            // A phase that was not seen to be over before is seen so now.
            ended: self.attached.map(|attached| attached.seen_over(phase).unwrap_or(self.now)),
            boundary: self.boundary,
            session: self.session,
            skill: seen.is_some_and(|seen| seen.skill),
            written: self.written,
        }
    }
}
