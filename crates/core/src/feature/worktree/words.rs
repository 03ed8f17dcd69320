//! Texts for people about worktrees that are gone.

use crate::text::lang::Lang;

pub(super) fn kept(lang: Lang, worktree: &str, copy: &str) -> String {
    match lang {
        Lang::En => format!(
            "The worktree {worktree} is gone. What only its progress and learnings said is kept in {copy}."
        ),
        Lang::Ja => format!(
            "ワークツリー {worktree} は削除されました。そこにしかなかった進捗と学びは {copy} に残してあります。"
        ),
    }
}
