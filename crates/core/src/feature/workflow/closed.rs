//! Gates that were seen pending. A session's marks keep them, so that they stay closed when the manifest is deleted,
//! emptied, broken or changed: whoever writes the manifest must not be able to open a gate with it.

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
    /// Last seen pending.
    pub at: Millis,
}

impl PendingGate {
    pub fn new(gate: Gate, at: Millis) -> PendingGate {
        PendingGate { gate: gate.number, after: gate.after, at }
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
            (loss, _) => Some(ClosedGate::Lost(self.pending.first()?.clone(), loss?)),
        }
    }

    /// Neither the manifest nor a phase or a pending gate was seen to change for a day.
    pub fn is_untouched(&self, known: &Known<WorkflowStanding>, now: Millis) -> bool {
        let written = known.value().and_then(|standing| standing.written);
        // The time of a file can be set to anything.
        let began = self.seen.iter().filter_map(|seen| seen.began).max();
        let seen = self.pending.iter().map(|pending| pending.at).max();
        written.max(seen).max(began).is_some_and(|last| now.since(last) > UNTOUCHED_MS)
    }
}
