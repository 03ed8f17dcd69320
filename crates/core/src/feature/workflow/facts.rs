//! What is known of a session's workflow, and of workflows that other sessions left unfinished.

use crate::feature::facts::{Known, Steps};
use crate::feature::workflow::AttachedWorkflow;
use crate::feature::workflow::standing::WorkflowStanding;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorkflowFacts {
    /// The session's workflow or, if a manifest was written, that one.
    pub standing: Known<WorkflowStanding>,
    /// Read only when a session starts.
    pub left: Vec<LeftWorkflow>,
    /// The session's marks have no workflow, although it saw gates closed that did not open since: as it knew them.
    pub recovered: Option<Box<AttachedWorkflow>>,
    /// The skill that is about to be invoked runs in an agent of its own.
    pub forks: bool,
}

impl WorkflowFacts {
    /// For a handoff; `None` without a workflow under way.
    pub fn steps(&self) -> Option<Steps> {
        self.standing.value().and_then(WorkflowStanding::steps)
    }

    /// Facts to keep across a compaction, in addition to the phase.
    pub fn key_facts(&self) -> Vec<String> {
        let manifest = self.standing.value().and_then(|standing| standing.manifest.as_ref().ok());
        manifest
            .filter(|manifest| !manifest.complete)
            .map(|manifest| manifest.keep.lines())
            .unwrap_or_default()
    }
}

/// An unfinished workflow of this project that another session of this machine attached.
#[derive(Clone, Debug, PartialEq)]
pub struct LeftWorkflow {
    /// As that session's marks had it.
    pub attached: AttachedWorkflow,
    pub standing: Known<WorkflowStanding>,
    /// That session has ended, or its client is gone. `false` if it runs or if that is not known.
    pub is_over: bool,
    /// An agent of that session started the client of this one.
    pub is_above: bool,
    /// Sessions that heard of it since it was left.
    pub told: usize,
}
