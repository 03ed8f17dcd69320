//! Gates that were seen pending, or whose phase was reached. A session's marks keep them, so that they stay closed when the
//! manifest is deleted, emptied, broken or changed: whoever writes the manifest must not be able to open a gate with it.

use serde::{Deserialize, Serialize};

use crate::feature::facts::Known;
use crate::feature::workflow::standing::{UNTOUCHED_MS, WorkflowStanding};
use crate::feature::workflow::{AttachedWorkflow, Gate, ManifestDamage};
use crate::text::hidden::plain_word;
use crate::time::Millis;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PendingGate {
    pub gate: usize,
    /// Number of the phase before it.
    pub after: usize,
    /// Last seen so.
    pub at: Millis,
    /// When the present run of the phase before it was first seen to be over. Marks of 0.1 do not have it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Millis>,
}

impl PendingGate {
    /// A phase that was seen to be over at this moment.
    pub fn new(gate: Gate, at: Millis) -> PendingGate {
        PendingGate { since: Some(at), ..PendingGate::due(gate, at) }
    }

    /// The phase before it is under way.
    pub fn due(gate: Gate, at: Millis) -> PendingGate {
        PendingGate { gate: gate.number, after: gate.after, at, since: None }
    }

    pub fn gate(&self) -> Gate {
        Gate { number: self.gate, after: self.after }
    }
}

/// Why a manifest no longer tells about a gate that was pending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Loss {
    Gone,
    Unreadable(String),
    /// It names another workflow now.
    OtherWorkflow(String),
    NoPhase,
}

impl Loss {
    /// To the model, the action first.
    pub fn restore(&self, path: &str, was: &str) -> String {
        match self {
            Loss::Gone => format!(
                "Restore {path}: it is gone. If it was moved, run `tidegate workflow attach` with its new path"
            ),
            Loss::Unreadable(why) => format!("Repair {path}: {why}"),
            Loss::OtherWorkflow(now) => format!(
                "Set `workflow: {}` in {path} again: it names {} now",
                plain_word(was),
                plain_word(now)
            ),
            Loss::NoPhase => format!("Restore the phases and `current_phase` in {path}: they are gone"),
        }
    }
}

/// The gate that blocks a session's agents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClosedGate {
    /// By the manifest.
    Pending(Gate),
    /// The manifest does not tell any more.
    Lost(PendingGate, Loss),
}

impl ClosedGate {
    pub fn gate(&self) -> Gate {
        match self {
            ClosedGate::Pending(gate) => *gate,
            ClosedGate::Lost(pending, _) => pending.gate(),
        }
    }
}

impl AttachedWorkflow {
    /// The manifest no longer tells of the workflow as this session knew it.
    pub fn loss(&self, known: &Known<WorkflowStanding>) -> Option<Loss> {
        let standing = match known {
            Known::Value(standing) => standing,
            Known::Absent => return Some(Loss::Gone),
            Known::Broken(why) => return Some(Loss::Unreadable(why.clone())),
        };
        if standing.path != self.manifest {
            return Some(Loss::Unreadable("it is a link to another file".to_owned()));
        }
        match &standing.manifest {
            Err(ManifestDamage::UnknownWorkflow(name)) => Some(Loss::OtherWorkflow(name.clone())),
            Err(damage) => Some(Loss::Unreadable(damage.to_string())),
            Ok(manifest) if !self.workflow.is_empty() && manifest.name != self.workflow => {
                Some(Loss::OtherWorkflow(manifest.name.clone()))
            }
            Ok(manifest) if manifest.current.is_none() => Some(Loss::NoPhase),
            Ok(_) => None,
        }
    }

    /// `None` if the workflow was not touched for a day.
    pub fn closed_gate(
        &self,
        known: &Known<WorkflowStanding>,
        session: &str,
        now: Millis,
    ) -> Option<ClosedGate> {
        if self.is_untouched(known, now) {
            return None;
        }
        match (self.loss(known), known) {
            (None, Known::Value(standing)) => {
                let blocks = |gate: &Gate| self.concerns(gate) || !standing.belongs_to_other_than(session);
                standing.pending_gates().into_iter().find(blocks).map(ClosedGate::Pending)
            }
            (loss, _) => Some(ClosedGate::Lost(self.kept_gate()?.clone(), loss?)),
        }
    }

    /// The gate that stays closed without a manifest: one that was pending, else one whose phase was reached. Whether that phase
    /// is over, only the manifest could tell.
    pub fn kept_gate(&self) -> Option<&PendingGate> {
        self.pending.first().or(self.due.first())
    }

    /// The gate that this session may not leave behind: a closed one, or one whose phase it has reached.
    pub fn gate_to_keep(&self, known: &Known<WorkflowStanding>, session: &str, now: Millis) -> Option<Gate> {
        if let Some(closed) = self.closed_gate(known, session, now) {
            return Some(closed.gate());
        }
        let standing = known.value().filter(|standing| !standing.belongs_to_other_than(session))?;
        let is_known = !self.is_untouched(known, now) && self.loss(known).is_none();
        standing.due_gates().into_iter().next().filter(|_| is_known)
    }

    /// When this session first saw that the present run of a phase is over.
    pub fn seen_over(&self, phase: usize) -> Option<Millis> {
        let seen = self.seen(phase);
        let is_of_this_run =
            |over: &Millis| seen.and_then(|seen| seen.began).is_none_or(|began| began <= *over);
        let noted = self.pending.iter().find(|known| known.after == phase);
        let noted = noted.and_then(|known| known.since).filter(is_of_this_run);
        [seen.and_then(|seen| seen.ended), noted].into_iter().flatten().min()
    }

    /// Neither the manifest nor a phase or a gate was seen to change for a day, nor the manifest to be missing.
    pub fn is_untouched(&self, known: &Known<WorkflowStanding>, now: Millis) -> bool {
        let written = known.value().and_then(|standing| standing.written);
        // The time of a file can be set to anything.
        let began = self.seen.iter().filter_map(|seen| seen.began).max();
        let seen = self.pending.iter().chain(&self.due).map(|known| known.at).max();
        written.max(seen).max(began).max(self.gone).is_some_and(|last| now.since(last) > UNTOUCHED_MS)
    }
}
