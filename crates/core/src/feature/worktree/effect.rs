use crate::feature::verdict::Carried;
use crate::feature::worktree::kept::KeptWorktree;

#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Copy the files that exist only in the worktree.
    Keep(KeptWorktree),
}

impl Carried for Effect {
    fn is_private(&self) -> bool {
        true
    }
}
