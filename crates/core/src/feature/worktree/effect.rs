//! What this room has done.

use crate::feature::verdict::Carried;
use crate::feature::worktree::kept::Kept;

/// An effect of this room.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Copy what only a worktree holds.
    Keep(Kept),
}

impl Carried for Effect {
    fn is_private(&self) -> bool {
        true
    }
}
