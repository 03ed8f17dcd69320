//! Texts for people about worktrees that are gone.

use crate::text::lang::Lang;

pub(super) fn kept(lang: Lang, worktree: &str, copy: &str) -> String {
    match lang {
        Lang::En => format!(
            "Tidegate: the worktree {worktree} was removed. Its own progress notes and learnings are kept in {copy}."
        ),
        Lang::Ja => format!(
            "Tidegate: ワークツリー {worktree} が削除されました。そこにしかなかった作業メモと学びは {copy} に残してあります。"
        ),
    }
}
