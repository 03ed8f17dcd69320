//! Worktrees that go, and what only they held.

use serde::{Deserialize, Serialize};

/// A worktree's flow and stock, and where a copy of them is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// The worktree.
    pub worktree: String,
    /// The folder of the copy.
    pub copy: String,
}

/// Worktrees of the session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Worktrees {
    /// The one that may be gone after this event, if it holds what stands nowhere else; and where that is to go.
    pub leaving: Option<Kept>,
    /// Those of which there is a copy and that are gone.
    pub gone: Vec<Kept>,
}
