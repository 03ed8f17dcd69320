//! The meter's numbers as people read them.

use crate::meter::{Reading, short_tokens};
use crate::text::lang::Lang;

/// In the status line: how much of the window is used.
pub fn used(lang: Lang, percent: u64) -> String {
    match lang {
        Lang::En => format!("{percent}% used"),
        Lang::Ja => format!("{percent}% 使用"),
    }
}

/// In the status line: tokens left before compaction or, with `false`, before the window is full.
pub fn left(lang: Lang, tokens: &str, compacts: bool) -> String {
    match (lang, compacts) {
        (Lang::En, true) => format!("{tokens} to compaction"),
        (Lang::En, false) => format!("{tokens} left"),
        (Lang::Ja, true) => format!("圧縮まで {tokens}"),
        (Lang::Ja, false) => format!("残り {tokens}"),
    }
}

/// In the status line: turns left.
pub fn turns(lang: Lang, turns: u32) -> String {
    match lang {
        Lang::En if turns == 1 => "~1 turn".to_owned(),
        Lang::En => format!("~{turns} turns"),
        Lang::Ja => format!("約{turns}ターン"),
    }
}

/// In the status line, before the first reading.
pub fn no_reading(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "no reading yet",
        Lang::Ja => "まだ計測なし",
    }
}

/// `78% in use, 7k tokens left`, as far as known; part of a sentence.
pub(crate) fn in_use(lang: Lang, reading: Option<&Reading>) -> String {
    let percent = reading.and_then(Reading::used_pct).map(|percent| percent.round() as u64);
    let left = reading.and_then(Reading::left).map(short_tokens);
    let (percent, left, comma, neither) = match lang {
        Lang::En => (
            percent.map(|percent| format!("{percent}% in use")),
            left.map(|left| format!("{left} tokens left")),
            ", ",
            "by tokens in use",
        ),
        Lang::Ja => (
            percent.map(|percent| format!("使用 {percent}%")),
            left.map(|left| format!("残り {left} トークン")),
            "、",
            "使用トークン数による",
        ),
    };
    let parts: Vec<String> = percent.into_iter().chain(left).collect();
    if parts.is_empty() { neither.to_owned() } else { parts.join(comma) }
}
