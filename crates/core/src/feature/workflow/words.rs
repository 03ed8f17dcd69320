//! Texts for people about workflows, their gates, and blocked agents.

use super::policy::ID;
use crate::feature::CONTEXT_FOLDER;
use crate::meter::Reading;
use crate::meter::words::in_use;
use crate::text::lang::Lang;

pub(super) fn spawn_blocked(lang: Lang, level: u8, reading: Option<&Reading>) -> String {
    let in_use = in_use(lang, reading);
    match lang {
        Lang::En => format!(
            "No agents are spawned from {level}% of the way to a full context on ({in_use}). Run /compact to go on; `tidegate off {ID}` \
             switches this off."
        ),
        Lang::Ja => format!(
            "コンテキストの上限に対して{level}%以降はエージェントを起動しません（{in_use}）。続けるには /compact を実行してください。\
             `tidegate off {ID}` で無効にできます。"
        ),
    }
}

/// The context is nearly full.
pub(super) fn handoff_written(lang: Lang, level: u8, file: &str) -> String {
    match lang {
        Lang::En => format!(
            "From {level}% on a handoff is written: {CONTEXT_FOLDER}/{file} says where the work stands, also for a new session."
        ),
        Lang::Ja => format!(
            "{level}%に達したため引き継ぎを書き出します。作業の状態は {CONTEXT_FOLDER}/{file} にあり、新しいセッションでも使えます。"
        ),
    }
}

pub(super) fn compact_now(lang: Lang, reading: Option<&Reading>) -> String {
    let in_use = in_use(lang, reading);
    match lang {
        Lang::En => format!("A good moment for /compact: {in_use}. From 85% on no agents are spawned."),
        Lang::Ja => {
            format!("/compact の良いタイミングです（{in_use}）。85%以降はエージェントを起動しません。")
        }
    }
}

/// `missing` is the number of missing items.
pub(super) fn gate_pending(lang: Lang, gate: usize, phase: usize, missing: usize) -> String {
    match lang {
        Lang::En => {
            let missing = match missing {
                0 => "everything is there, but nobody recorded it".to_owned(),
                1 => "1 item is missing".to_owned(),
                _ => format!("{missing} items are missing"),
            };
            format!(
                "Gate {gate} after phase {phase} holds agents back: {missing}. `tidegate workflow check {gate}` shows it; `tidegate workflow skip {gate} \
                 --reason …` goes on without it, `tidegate off {ID}` switches all gates off."
            )
        }
        Lang::Ja => {
            let missing = match missing {
                0 => "条件はすべて満たされていますが、まだ記録されていません".to_owned(),
                _ => format!("{missing}件が不足しています"),
            };
            format!(
                "フェーズ{phase}の後のゲート{gate}がエージェントの起動を止めています。{missing}。内容は `tidegate workflow check {gate}` で\
                 確認できます。通さずに進むには `tidegate workflow skip {gate} --reason …`、ゲートをすべて無効にするには `tidegate off {ID}` を\
                 実行してください。"
            )
        }
    }
}

/// Status line: the phase under way.
pub fn phase(lang: Lang, name: &str, number: usize, of: usize) -> String {
    match lang {
        Lang::En => format!("phase {number}/{of} {name}"),
        Lang::Ja => format!("フェーズ {number}/{of} {name}"),
    }
}

/// Status line: the end of the phase is the moment for a compaction.
pub fn plan_compaction(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "compact at the phase's end",
        Lang::Ja => "フェーズの終わりに圧縮",
    }
}
