//! Workflows: phases with a manifest on disk, and gates between some of them.
//!
//! The config defines a workflow ([`definition`]), its manifest holds the progress ([`manifest`], read and
//! edited as text: [`yaml`](crate::text::yaml)). The conditions of a gate are checked ([`check`]) and
//! reported ([`report`]).
//!
//! The manifest is authoritative for phases, but not for gates: a model that writes it could claim anything.
//! Cleared gates are in private state (`projects/<project>/gates.jsonl`), and the manifest's own words about
//! them are a copy. The session's marks name its manifest, the phases that it saw begin and end, and the gates that it
//! saw pending ([`AttachedWorkflow`], [`closed`]). A session that starts continues what an
//! ended one left ([`facts::LeftWorkflow`]).
//!
//! The YAML parser runs in a hook only if an agent is spawned in a workflow or a manifest was written. The
//! registration for spawned agents is advice: an error of Tidegate must not stop the work.

pub mod check;
pub mod closed;
pub mod definition;
pub mod effect;
pub mod facts;
pub mod failed_work;
pub mod lack;
pub mod manifest;
pub mod marks;
mod must_stay;
pub mod policy;
pub mod report;
pub mod settings;
pub mod standing;
pub mod summary;
pub mod words;

pub use definition::{Gate, Workflow, WorkflowPhase};
pub use manifest::{Manifest, ManifestDamage};

use closed::PendingGate;

use serde::{Deserialize, Serialize};

use crate::event::{Event, EventKind};
use crate::feature::Feature;
use crate::feature::config::Config;
use crate::feature::facts::Needs;
use crate::feature::marks::Marks;
use crate::time::Millis;

pub struct Room;

impl Feature for Room {
    type Needs = bool;
    type Facts = facts::WorkflowFacts;
    type Effect = effect::Effect;

    /// The manifest has facts that must survive a compaction.
    fn needs(event: &Event<'_>, marks: Option<&Marks>, _: &Config) -> Needs {
        let compacts = event.kind == EventKind::PreCompact && event.is_main_thread();
        let workflow = compacts && marks.is_some_and(|marks| marks.workflow.attached.is_some());
        Needs { workflow, ..Needs::default() }
    }

    /// A gate decides whether an agent is spawned; the reading it relies on may be worth a wait.
    fn deserves_time(event: &Event<'_>, marks: &Marks) -> bool {
        event.spawned_agent().is_some() && marks.workflow.attached.is_some()
    }
}

/// Available without any config.
pub const BUILT_IN: &str = "feature";

/// Phases remembered per session; gates look back only a few.
const SEEN_KEPT: usize = 16;

/// More than a workflow has at once.
const PENDING_KEPT: usize = 8;

/// A workflow in the marks of its session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AttachedWorkflow {
    /// Root of the project in which it began: the session may have moved to another worktree.
    pub project: String,
    /// Path below the project's root, or the full path outside.
    pub manifest: String,
    pub workflow: String,
    /// Number of phases.
    pub of: usize,
    /// Name of the phase under way.
    pub name: String,
    /// The phase under way is last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub seen: Vec<SeenPhase>,
    /// As 0.1 kept failed agents; only carried along.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<u64>,
    /// Gates that were seen pending and not seen open since.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pending: Vec<PendingGate>,
    /// Gates whose phase was reached, and that were seen neither pending nor open since.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub due: Vec<PendingGate>,
    /// When the manifest was last seen missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gone: Option<Millis>,
    /// An agent of the session that has the workflow started this one, so that all of its work is an agent's.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub below: bool,
}

/// A phase as observed in a manifest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SeenPhase {
    pub number: usize,
    /// `None` if the beginning was not observed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub began: Option<Millis>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<Millis>,
    /// Level of context use at its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<u8>,
    /// The skill for persisting progress was invoked since it began.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub skill: bool,
    /// A compaction was requested at its end, without a gate there.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub asked: bool,
}

/// In the order of the phases.
fn keep_gate(gates: &mut Vec<PendingGate>, new: PendingGate) {
    gates.retain(|known| known.gate != new.gate);
    gates.push(new);
    gates.sort_by_key(|known| known.after);
    gates.truncate(PENDING_KEPT);
}

/// A manifest shows a new phase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseBegan {
    pub number: usize,
    pub name: String,
    /// `None` if it was under way before the manifest was first seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Millis>,
    /// Level of context use at that moment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<u8>,
    /// A compaction is requested, without a gate before this phase.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub asked: bool,
}

impl AttachedWorkflow {
    pub fn current(&self) -> Option<&SeenPhase> {
        self.seen.last()
    }

    pub fn seen(&self, number: usize) -> Option<&SeenPhase> {
        self.seen.iter().find(|seen| seen.number == number)
    }

    pub fn begin(&mut self, new: &PhaseBegan) {
        if let Some(last) = self.seen.last_mut().filter(|last| last.number != new.number) {
            (last.ended, last.level, last.asked) = (new.at, new.level, new.asked);
        }
        self.name.clone_from(&new.name);
        if self.seen.last().is_some_and(|last| last.number == new.number) {
            return;
        }
        self.seen.retain(|seen| seen.number != new.number);
        self.seen.push(SeenPhase { number: new.number, began: new.at, ..SeenPhase::default() });
        if self.seen.len() > SEEN_KEPT {
            self.seen.remove(0);
        }
    }

    /// And not seen open since.
    pub fn saw_pending(&self, gate: usize) -> bool {
        self.pending.iter().any(|known| known.gate == gate)
    }

    /// This session saw the gate pending, or worked on the phase before it. Then it is closed here, even if another session has
    /// the workflow now: a session can be made up for that.
    pub fn concerns(&self, gate: &Gate) -> bool {
        self.below || self.saw_pending(gate.number) || self.seen(gate.after).is_some()
    }

    pub fn close(&mut self, new: PendingGate) {
        self.due.retain(|known| known.gate != new.gate);
        keep_gate(&mut self.pending, new);
    }

    /// Its phase was reached.
    pub fn expect(&mut self, new: PendingGate) {
        keep_gate(&mut self.due, new);
    }

    pub fn open(&mut self, gate: usize) {
        self.pending.retain(|known| known.gate != gate);
        self.due.retain(|known| known.gate != gate);
    }

    /// The facts to keep across a compaction.
    pub fn key_fact(&self) -> String {
        let AttachedWorkflow { manifest, workflow, of, name, .. } = self;
        let phase = match self.current() {
            Some(current) => {
                format!("phase {} of {of} ({name}) of the workflow {workflow} is under way", current.number)
            }
            None => format!("the workflow {workflow} is under way"),
        };
        format!("{phase}; its manifest {manifest} holds what each phase came to")
    }
}
