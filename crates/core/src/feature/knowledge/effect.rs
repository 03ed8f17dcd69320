//! What this room has done.

use crate::feature::knowledge::boundary::Boundary;
use crate::feature::verdict::Carried;

/// An effect of this room.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Remember what is true just before a compaction, or what the summary kept of it.
    NoteBoundary(Box<Boundary>),
    /// Bring the public copy of the last compaction up to date.
    PublishCompaction(Box<Boundary>),
    /// Move old entries of the flow to the archive, and note the compaction in the plan.
    TidyFlow,
    /// Remember for the project that a person was told of this set of entries.
    Nudged(u64),
}

impl Carried for Effect {
    fn is_private(&self) -> bool {
        match self {
            Effect::NoteBoundary(_) | Effect::Nudged(_) => true,
            Effect::PublishCompaction(_) | Effect::TidyFlow => false,
        }
    }
}
