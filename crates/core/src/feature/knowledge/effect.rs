//! Effects of this room.

use crate::feature::facts::Steps;
use crate::feature::knowledge::boundary::Boundary;
use crate::feature::verdict::Carried;

#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Store the facts before a compaction, or which of them the summary kept.
    NoteBoundary(Box<Boundary>),
    /// Update the public copy of the last compaction.
    PublishCompaction(Box<Boundary>),
    /// Move old entries of the flow to the archive, and note the compaction in the plan.
    TidyFlow,
    /// Write a handoff that includes these steps.
    WriteHandoff(Vec<Steps>),
    /// Remember in the project that a person was told of this set of entries, or a session of this handoff.
    Nudged(u64),
}

impl Carried for Effect {
    fn is_private(&self) -> bool {
        match self {
            Effect::NoteBoundary(_) | Effect::Nudged(_) => true,
            Effect::PublishCompaction(_) | Effect::TidyFlow | Effect::WriteHandoff(_) => false,
        }
    }
}
