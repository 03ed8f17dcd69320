//! Texts for people about flow, stock, compactions and handoffs.

use crate::feature::knowledge::constraint::MOST_OF_PROMPT;
use crate::feature::knowledge::marks::MOST_CONSTRAINTS;
use crate::feature::{CONTEXT_FOLDER, HANDOFF_FILE};
use crate::text::cut::cut_to_word;
use crate::text::lang::Lang;
use crate::time::describe_age;

/// `doubtful`: unverified and all learnings, if many are unverified.
pub(super) fn unpromoted(lang: Lang, entries: usize, doubtful: Option<(usize, usize)>) -> String {
    match lang {
        Lang::En => {
            let notes = notes_are(entries);
            let doubtful = doubtful.map_or_else(String::new, |(unverified, all)| {
                format!(" {unverified} of {all} learnings were never confirmed.")
            });
            format!(
                "Tidegate: {notes} not reviewed. `/compound` at a pause saves what is worth keeping as learnings.{doubtful}"
            )
        }
        Lang::Ja => {
            let doubtful = doubtful.map_or_else(String::new, |(unverified, all)| {
                format!("学び{all}件のうち{unverified}件は未確認です。")
            });
            format!(
                "Tidegate: 未整理の作業メモが{entries}件あります。区切りで `/compound` を実行すると、学びとして保存できます。{doubtful}"
            )
        }
    }
}

pub(super) fn compaction_held(lang: Lang, entries: usize) -> String {
    match lang {
        Lang::En => {
            let them = if entries == 1 { "it" } else { "them" };
            format!(
                "Tidegate paused this compaction: {} not reviewed. `/compound` reviews {them}; `/compact` again compacts without.",
                notes_are(entries)
            )
        }
        Lang::Ja => format!(
            "Tidegate: 未整理の作業メモが{entries}件あるため、圧縮を保留しました。`/compound` で整理できます。このまま圧縮するには、もう一度 \
             `/compact` を実行してください。"
        ),
    }
}

/// `1 progress note is`.
pub(super) fn notes_are(count: usize) -> String {
    if count == 1 { "1 progress note is".to_owned() } else { format!("{count} progress notes are") }
}

/// The facts that a compaction left in the conversation, and those that Claude got again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kept<'a> {
    pub kept: usize,
    pub of: usize,
    /// The host repeated some of them next to the summary.
    pub repeated: bool,
    pub given_back: &'a [&'a str],
    /// Lost facts that had no room in the text for Claude.
    pub left_out: usize,
}

/// Most characters of a fact that is quoted to a person.
const LONGEST_QUOTE: usize = 80;

pub(super) fn summary_kept(lang: Lang, kept: Kept<'_>) -> String {
    let Kept { kept, of, repeated, given_back, left_out } = kept;
    let first = given_back.first().map(|first| cut_to_word(first, LONGEST_QUOTE));
    let more = given_back.len().saturating_sub(1);
    match lang {
        Lang::En => {
            let facts = if of == 1 { "fact" } else { "facts" };
            let kept = if repeated {
                format!("after the compaction Claude still has {kept} of {of} {facts}.")
            } else {
                format!("the summary kept {kept} of {of} {facts}.")
            };
            let given = match (first, more) {
                (None, _) => String::new(),
                (Some(first), 0) => format!(" Given back to Claude: \"{first}\"."),
                (Some(first), more) => format!(" Given back to Claude: \"{first}\" and {more} more."),
            };
            let rest = if left_out == 0 { String::new() } else { format!(" No room for {left_out}.") };
            format!("Tidegate: {kept}{given}{rest}")
        }
        Lang::Ja => {
            let kept = if repeated {
                format!("圧縮後も、残すべき事実{of}件中{kept}件が Claude に残っています。")
            } else {
                format!("要約に、残すべき事実{of}件中{kept}件が残りました。")
            };
            let given = match (first, more) {
                (None, _) => String::new(),
                (Some(first), 0) => format!("Claude に戻した事実: 「{first}」"),
                (Some(first), more) => format!("Claude に戻した事実: 「{first}」ほか{more}件"),
            };
            let rest = if left_out == 0 {
                String::new()
            } else {
                format!("（{left_out}件は入りきりませんでした）")
            };
            format!("Tidegate: {kept}{given}{rest}")
        }
    }
}

pub(super) fn handoff_waits(lang: Lang, age_ms: u64) -> String {
    let age = describe_age(lang, age_ms);
    match lang {
        Lang::En => format!(
            "Tidegate told Claude to read {CONTEXT_FOLDER}/{HANDOFF_FILE}, a handoff written {age}. You don't need to do anything."
        ),
        Lang::Ja => format!(
            "Tidegate: 引き継ぎ {CONTEXT_FOLDER}/{HANDOFF_FILE}（作成: {age}）を Claude に読むよう伝えました。何もする必要はありません。"
        ),
    }
}

/// With the number of further ones.
pub(super) fn constraint_lifted(lang: Lang, first: &str, more: usize) -> String {
    let first = cut_to_word(first, LONGEST_QUOTE);
    match lang {
        Lang::En => {
            let more = if more == 0 { String::new() } else { format!(" and {more} more") };
            format!(
                "Tidegate: you took back \"{first}\"{more}, so Claude is not reminded of it any more. `tidegate constraints` lists \
                 what is kept."
            )
        }
        Lang::Ja => {
            let more = if more == 0 { String::new() } else { format!("ほか{more}件") };
            format!(
                "Tidegate: 「{first}」{more}は取り消されたものとして、Claude に思い出させるのをやめます。残りの制約: `tidegate constraints`"
            )
        }
    }
}

/// With the number of further ones.
pub(super) fn constraint_left_out(lang: Lang, first: &str, more: usize) -> String {
    let first = cut_to_word(first, LONGEST_QUOTE);
    match lang {
        Lang::En => {
            let more = if more == 0 { String::new() } else { format!(" and {more} more") };
            format!(
                "Tidegate: there was no room for \"{first}\"{more}: it keeps your newest {MOST_CONSTRAINTS} limits, {MOST_OF_PROMPT} of one \
                 prompt. Say it again to keep it, or drop others with `tidegate constraints`."
            )
        }
        Lang::Ja => {
            let more = if more == 0 { String::new() } else { format!("ほか{more}件") };
            format!(
                "Tidegate: 「{first}」{more}は覚えきれません。新しい制約{MOST_CONSTRAINTS}件（1プロンプト{MOST_OF_PROMPT}件）まで残します。もう一度伝えるか、`tidegate constraints` でほかを外してください。"
            )
        }
    }
}

/// Files with conflict markers of Git.
pub(super) fn conflicts(lang: Lang, names: &[&str]) -> String {
    match lang {
        Lang::En => format!(
            "Tidegate: {} in {CONTEXT_FOLDER} has conflict markers from a Git merge. Tidegate changes nothing there until you \
             resolve them.",
            names.join(" and ")
        ),
        Lang::Ja => format!(
            "Tidegate: {CONTEXT_FOLDER} の {} に Git のマージの競合が残っています。解消されるまで Tidegate は書き換えません。",
            names.join("、")
        ),
    }
}

/// In the status line.
pub fn unpromoted_entries(lang: Lang, entries: usize) -> String {
    match lang {
        Lang::En if entries == 1 => "1 note to review".to_owned(),
        Lang::En => format!("{entries} notes to review"),
        Lang::Ja => format!("未整理メモ{entries}件"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_without_room_are_not_said_to_be_given_back() {
        let kept = Kept { kept: 0, of: 5, repeated: false, given_back: &["a", "b"], left_out: 3 };
        assert_eq!(
            summary_kept(Lang::En, kept),
            "Tidegate: the summary kept 0 of 5 facts. Given back to Claude: \"a\" and 1 more. No room for 3."
        );
        assert!(summary_kept(Lang::Ja, kept).ends_with("「a」ほか1件（3件は入りきりませんでした）"));
    }
}
