//! The meter's numbers as people read them.

use crate::text::lang::Lang;

const CELLS: u64 = 8;

/// The way to compaction, or to a full window. A started cell counts as full, so that only an empty context has none.
pub fn bar(used: u64, reference: u64) -> String {
    let full = (used.saturating_mul(CELLS)).div_ceil(reference.max(1)).min(CELLS);
    "▰".repeat(full as usize) + &"▱".repeat((CELLS - full) as usize)
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
        Lang::En if turns == 0 => "< 1 turn".to_owned(),
        Lang::Ja if turns == 0 => "1ターン未満".to_owned(),
        Lang::En if turns == 1 => "~1 turn".to_owned(),
        Lang::En => format!("~{turns} turns"),
        Lang::Ja => format!("約{turns}ターン"),
    }
}

/// In the status line, before the first reading.
pub fn no_reading(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "context not measured yet",
        Lang::Ja => "コンテキスト未計測",
    }
}
