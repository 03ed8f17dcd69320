//! Marks for copies of worktrees that the person has not been told about yet.

use serde::{Deserialize, Serialize};

use crate::feature::marks::RoomMarks;
use crate::feature::worktree::kept::KeptWorktree;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    WorktreeKept(KeptWorktree),
    /// The person was told about the copy of this worktree.
    WorktreeTold(String),
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Marks {
    /// Not told yet; oldest first.
    pub kept: Vec<KeptWorktree>,
}

/// Small, because the existence of each is checked at every event that could report it.
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
            ("[ab]", "[a-z]{1,8}")
                .prop_map(|(worktree, copy)| Mark::WorktreeKept(KeptWorktree { worktree, copy })),
            "[ab]".prop_map(Mark::WorktreeTold),
        ]
    }
}
