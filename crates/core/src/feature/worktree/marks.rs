//! Copies of worktrees that the person is yet to be told of.

use serde::{Deserialize, Serialize};

use crate::feature::marks::RoomMarks;
use crate::feature::worktree::kept::Kept;

/// One mark, as it is written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    /// What only a worktree held was copied.
    WorktreeKept(Kept),
    /// The person was told where the copy of this worktree is.
    WorktreeTold(String),
}

/// The marks, folded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Marks {
    /// Worktrees of which there is a copy, and nobody knows it yet; oldest first.
    pub kept: Vec<Kept>,
}

/// Each is looked for at every event that could tell of it.
const WORKTREES_KEPT: usize = 8;

impl RoomMarks for Marks {
    type Mark = Mark;

    fn apply(&mut self, mark: Mark) {
        match mark {
            Mark::WorktreeKept(kept) => {
                self.kept.retain(|known| known.worktree != kept.worktree);
                self.kept.push(kept);
                if self.kept.len() > WORKTREES_KEPT {
                    self.kept.remove(0);
                }
            }
            Mark::WorktreeTold(worktree) => self.kept.retain(|known| known.worktree != worktree),
        }
    }

    fn short(&self) -> Vec<Mark> {
        self.kept.iter().cloned().map(Mark::WorktreeKept).collect()
    }
}

#[cfg(test)]
pub(in crate::feature) mod tests {
    use super::*;
    use proptest::prelude::*;

    pub(in crate::feature) fn mark() -> impl Strategy<Value = Mark> {
        prop_oneof![
            ("[ab]", "[a-z]{1,8}").prop_map(|(worktree, copy)| Mark::WorktreeKept(Kept { worktree, copy })),
            "[ab]".prop_map(Mark::WorktreeTold),
        ]
    }
}
