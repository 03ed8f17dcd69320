//! Texts for people about flow, stock and handoffs.

use crate::feature::{CONTEXT_FOLDER, HANDOFF_FILE};
use crate::text::lang::Lang;

/// `doubtful`: unverified and all learnings, if many are unverified.
pub(super) fn unpromoted(lang: Lang, entries: usize, doubtful: Option<(usize, usize)>) -> String {
    match lang {
        Lang::En => {
            let entries = if entries == 1 { "1 entry".to_owned() } else { format!("{entries} entries") };
            let doubtful = doubtful.map_or_else(String::new, |(unverified, all)| {
                format!(" Of the {all} learnings there are, {unverified} were never confirmed.")
            });
            format!(
                "A good moment for /compound: {entries} of progress.md not promoted to learnings yet.{doubtful}"
            )
        }
        Lang::Ja => {
            let doubtful = doubtful.map_or_else(String::new, |(unverified, all)| {
                format!("学び{all}件のうち{unverified}件は、まだ一度も確認されていません。")
            });
            format!(
                "/compound を実行する良いタイミングです。progress.md の{entries}件がまだ学びに昇格していません。{doubtful}"
            )
        }
    }
}

pub(super) fn compaction_held(lang: Lang, entries: usize) -> String {
    match lang {
        Lang::En => {
            let (entries, them) = match entries {
                1 => ("1 entry of progress.md is".to_owned(), "it"),
                _ => (format!("{entries} entries of progress.md are"), "them"),
            };
            format!(
                "Not compacted yet: {entries} not promoted to learnings. Run /compound to go through {them}, or /compact once more to \
                 compact as it is."
            )
        }
        Lang::Ja => format!(
            "まだ圧縮していません。progress.md の{entries}件が学びに昇格していません。/compound で確認するか、このまま圧縮する場合は\
             もう一度 /compact を実行してください。"
        ),
    }
}

pub(super) fn handoff_waits(lang: Lang, minutes_old: u64) -> String {
    match lang {
        Lang::En => {
            let age = match minutes_old {
                0 => "just now".to_owned(),
                1..60 => format!("{minutes_old} min ago"),
                _ => format!("{} h ago", minutes_old / 60),
            };
            format!(
                "A handoff was written {age}: {CONTEXT_FOLDER}/{HANDOFF_FILE} says where the work stands and what comes next."
            )
        }
        Lang::Ja => {
            let age = match minutes_old {
                0 => "たった今".to_owned(),
                1..60 => format!("{minutes_old}分前に"),
                _ => format!("{}時間前に", minutes_old / 60),
            };
            format!(
                "{age}引き継ぎが書かれました。作業の状態と次の手順は {CONTEXT_FOLDER}/{HANDOFF_FILE} にあります。"
            )
        }
    }
}

/// In the status line.
pub fn unpromoted_entries(lang: Lang, entries: usize) -> String {
    match lang {
        Lang::En if entries == 1 => "1 entry unpromoted".to_owned(),
        Lang::En => format!("{entries} entries unpromoted"),
        Lang::Ja => format!("未昇格{entries}件"),
    }
}
