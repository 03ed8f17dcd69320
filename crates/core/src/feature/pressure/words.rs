//! Texts for people about a context that fills up.

use crate::feature::pressure::marks::PressureLevel;
use crate::meter::short_tokens;
use crate::text::lang::Lang;

/// The distance to the end of the conversation as it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Distance<'a> {
    /// Tokens left.
    pub left: u64,
    /// Turns left, if the forecast is narrow enough.
    pub turns: Option<u32>,
    /// The host that compacts then; `None` if the window just ends.
    pub compacts: Option<&'a str>,
}

/// `notes`: progress notes that no person has reviewed; `None` where none are taken.
pub(super) fn warning(
    lang: Lang,
    level: PressureLevel,
    distance: Distance<'_>,
    notes: Option<usize>,
) -> String {
    let late = level == PressureLevel::Urgent;
    match lang {
        Lang::En => {
            let rest = match (notes, late) {
                (None, _) => String::new(),
                // Claude Code asks the person about the command, unless they allowed it.
                (Some(0), _) => " Claude was asked to write down what matters with `tidegate progress add`; allow it if Claude Code \
                           asks."
                    .to_owned(),
                (Some(1), true) => {
                    " 1 progress note is not reviewed: `/compound` now keeps what it taught.".to_owned()
                }
                (Some(1), false) => {
                    " 1 progress note is not reviewed: `/compound` at a pause keeps what it taught.".to_owned()
                }
                (Some(notes), true) => {
                    format!(
                        " {notes} progress notes are not reviewed: `/compound` now keeps what they taught."
                    )
                }
                (Some(notes), false) => format!(
                    " {notes} progress notes are not reviewed: `/compound` at a pause keeps what they taught."
                ),
            };
            let last = if late { "last warning: " } else { "" };
            format!("Tidegate: {last}{}.{rest}", distance_en(distance))
        }
        Lang::Ja => {
            let rest = match (notes, late) {
                (None, _) => String::new(),
                (Some(0), _) => "大切なことを `tidegate progress add` で書き留めるよう Claude に伝えました。Claude Code に確認されたら\
                           許可してください。"
                    .to_owned(),
                (Some(notes), true) => format!(
                    "未整理の作業メモが{notes}件あります。いま `/compound` を実行すると、学びとして保存できます。"
                ),
                (Some(notes), false) => format!(
                    "未整理の作業メモが{notes}件あります。区切りで `/compound` を実行すると、学びとして保存できます。"
                ),
            };
            let last = if late { "最後の警告: " } else { "" };
            format!("Tidegate: {last}{}。{rest}", distance_ja(distance))
        }
    }
}

fn distance_en(distance: Distance<'_>) -> String {
    let end = distance
        .compacts
        .map_or_else(|| "the context window is full".to_owned(), |host| format!("{host} compacts"));
    let left = short_tokens(distance.left);
    match (distance.left, distance.turns) {
        (0, _) => match distance.compacts {
            Some(host) => format!("{host} is about to compact"),
            None => end,
        },
        (_, None) => format!("{left} tokens left until {end}"),
        (_, Some(0)) => format!("less than a turn until {end} ({left} tokens left)"),
        (_, Some(1)) => format!("about 1 turn until {end} ({left} tokens left)"),
        (_, Some(turns)) => format!("about {turns} turns until {end} ({left} tokens left)"),
    }
}

fn distance_ja(distance: Distance<'_>) -> String {
    let end =
        distance.compacts.map_or_else(|| "コンテキストの上限".to_owned(), |host| format!("{host} の圧縮"));
    let left = short_tokens(distance.left);
    match (distance.left, distance.turns) {
        (0, _) => match distance.compacts {
            Some(host) => format!("まもなく {host} が会話を圧縮します"),
            None => "コンテキストが上限に達しました".to_owned(),
        },
        (_, None) => format!("{end}まで残り {left} トークンです"),
        (_, Some(0)) => format!("{end}まで1ターン未満です（残り {left} トークン）"),
        (_, Some(turns)) => format!("{end}まで約{turns}ターンです（残り {left} トークン）"),
    }
}
