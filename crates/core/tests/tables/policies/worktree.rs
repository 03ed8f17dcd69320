//! `worktree`: what only a worktree holds is copied before it goes.

use tidegate_core::feature::marks::Mark;
use tidegate_core::feature::verdict::Effect;
use tidegate_core::feature::worktree::kept::KeptWorktree;
use tidegate_core::feature::worktree::marks::Mark as WorktreeMark;

use super::{Room, plain, yes};
use crate::situation::{Decided, Situation, marks, pick};

pub(super) static WORKTREE: Room = Room {
    given: &[
        ("holds", |case, cell| case.facts.worktree.leaving = (cell == "yes").then(|| kept("leaving"))),
        ("earlier", earlier),
    ],
    expected: &[("copies", copies), ("tells", tells)],
    ..plain("worktree")
};

fn kept(name: &str) -> KeptWorktree {
    KeptWorktree { worktree: format!("/w/{name}"), copy: format!("/s/{name}") }
}

/// A worktree of which a copy was made.
fn earlier(case: &mut Situation, cell: &str) {
    case.leave((cell != "-").then(|| WorktreeMark::WorktreeKept(kept(cell))));
    case.facts.worktree.gone.extend((cell == "gone").then(|| kept("gone")));
}

fn copies(decided: &Decided) -> String {
    yes(decided.outcome.effects.iter().any(|effect| matches!(effect, Effect::Worktree(_))))
}

fn tells(decided: &Decided) -> String {
    let left = marks(&decided.outcome.effects);
    let told =
        pick!(left, Mark::Worktree(WorktreeMark::WorktreeTold(path)) => path.strip_prefix("/w/")).flatten();
    assert_eq!(told.is_some(), decided.outcome.user.contains("/s/gone"), "{}", decided.outcome.user);
    told.unwrap_or("-").into()
}
