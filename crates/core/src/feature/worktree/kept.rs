//! Worktrees that go away, and copies of the files that existed only there.

use serde::{Deserialize, Serialize};

/// A copy of a worktree's flow and stock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptWorktree {
    pub worktree: String,
    /// Folder of the copy.
    pub copy: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Worktrees {
    /// May be gone after this event and holds files that exist nowhere else.
    pub leaving: Option<KeptWorktree>,
    /// Copied earlier, and gone now.
    pub gone: Vec<KeptWorktree>,
}
