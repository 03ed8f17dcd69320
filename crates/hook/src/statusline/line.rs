//! The line itself: pieces in the order of the config, as many as fit, with colours where the terminal has them.

use std::borrow::Cow;

use tidegate_core::feature::pressure::marks::PressureLevel;
use tidegate_core::meter::{Reading, short_tokens, words};
use tidegate_core::text::hidden::show_hidden;
use tidegate_core::text::lang::Lang;
use tidegate_core::text::terminal::{count_columns, cut_columns};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    Good,
    /// The early warning, and whatever waits for the person.
    Notice,
    /// The late warning, and what is wrong.
    Alarm,
}

impl Style {
    fn code(self) -> Option<&'static str> {
        match self {
            Style::Plain => None,
            Style::Good => Some("\x1b[32m"),
            Style::Notice => Some("\x1b[33m"),
            Style::Alarm => Some("\x1b[31m"),
        }
    }
}

pub(super) struct Piece {
    pub(super) text: String,
    pub(super) style: Style,
}

impl Piece {
    pub(super) fn new(text: impl Into<String>, style: Style) -> Piece {
        Piece { text: text.into(), style }
    }
}

#[derive(Clone, Copy)]
pub(super) struct Canvas {
    pub(super) columns: Option<usize>,
    pub(super) coloured: bool,
}

/// As many pieces as fit, the first ones first.
pub(super) fn draw(pieces: &[Piece], canvas: Canvas) -> String {
    let room = canvas.columns.unwrap_or(usize::MAX);
    let (mut line, mut used) = (String::new(), 0);
    for piece in pieces {
        // Measured as it is printed.
        let mut text = show_hidden(&piece.text);
        let gap = if line.is_empty() { "" } else { " · " };
        if line.is_empty() && room > 0 {
            text = Cow::Owned(cut_columns(&text, room).into_owned());
        }
        let wide = count_columns(gap) + count_columns(&text);
        if used + wide > room {
            continue;
        }
        used += wide;
        line += gap;
        match piece.style.code().filter(|_| canvas.coloured) {
            Some(code) => line.extend([code, &text, "\x1b[0m"]),
            None => line += &text,
        }
    }
    line
}

/// The use of the context on one scale: up to compaction, or to the end of a window that is not compacted.
pub(super) fn context(reading: &Reading, turns: Option<u32>, level: PressureLevel, lang: Lang) -> Vec<Piece> {
    let style = match level {
        PressureLevel::None => Style::Plain,
        PressureLevel::Info => Style::Notice,
        PressureLevel::Urgent => Style::Alarm,
    };
    let (Some(window), Some(left)) = (reading.window, reading.left()) else {
        return vec![Piece::new(short_tokens(reading.used), style)];
    };
    let left_text = words::left(lang, &short_tokens(left), window.compact_at.is_some());
    let bar = words::bar(reading.used, window.reference());
    let mut pieces = vec![Piece::new(format!("{bar} {left_text}"), style)];
    pieces.extend(turns.map(|turns| Piece::new(words::turns(lang, turns), style)));
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::host::window::Window;
    use tidegate_core::meter::Source;
    use tidegate_core::time::Millis;

    fn reading(used: u64, compact_at: Option<u64>) -> Reading {
        let window = Some(Window { tokens: 200_000, compact_at });
        Reading { used, window, source: Source::Payload, at: Millis(0), outgrown: None }
    }

    fn drawn(columns: usize, lang: Lang) -> String {
        let mut pieces = context(&reading(124_000, Some(167_000)), Some(6), PressureLevel::None, lang);
        pieces.push(Piece::new(
            tidegate_core::feature::verification::words::unverified_files(lang, 2),
            Style::Notice,
        ));
        draw(&pieces, Canvas { columns: Some(columns), coloured: false })
    }

    #[test]
    fn it_fits_the_terminal() {
        assert_eq!(drawn(80, Lang::En), "▰▰▰▰▰▰▱▱ 43k to compaction · ~6 turns · ✗ 2 unverified");
        assert_eq!(drawn(45, Lang::En), "▰▰▰▰▰▰▱▱ 43k to compaction · ~6 turns");
        assert_eq!(drawn(30, Lang::En), "▰▰▰▰▰▰▱▱ 43k to compaction");
        assert_eq!(drawn(12, Lang::En), "▰▰▰▰▰▰▱▱ 43…");
        assert_eq!(drawn(0, Lang::En), "");
        assert_eq!(drawn(80, Lang::Ja), "▰▰▰▰▰▰▱▱ 圧縮まで 43k · 約6ターン · ✗ 未検証 2");
    }

    #[test]
    fn the_bar_is_full_where_compaction_begins() {
        let bar = |used, compact_at| {
            let pieces = context(&reading(used, compact_at), None, PressureLevel::None, Lang::En);
            pieces[0].text.clone()
        };
        assert_eq!(bar(0, Some(167_000)), "▱▱▱▱▱▱▱▱ 167k to compaction");
        assert_eq!(bar(1, Some(167_000)), "▰▱▱▱▱▱▱▱ 166k to compaction");
        assert_eq!(bar(166_000, Some(167_000)), "▰▰▰▰▰▰▰▰ 1.0k to compaction");
        assert_eq!(bar(400_000, Some(167_000)), "▰▰▰▰▰▰▰▰ 0 to compaction");
        assert_eq!(bar(50_000, None), "▰▰▱▱▱▱▱▱ 150k left");
    }

    #[test]
    fn colours_take_no_room_and_say_nothing_new() {
        let pieces = |level| context(&reading(155_000, Some(167_000)), Some(2), level, Lang::En);
        let plain = draw(&pieces(PressureLevel::Urgent), Canvas { columns: Some(40), coloured: false });
        let coloured = draw(&pieces(PressureLevel::Urgent), Canvas { columns: Some(40), coloured: true });
        assert!(coloured.starts_with("\x1b[31m▰▰▰▰▰▰▰▰ 12k to compaction\x1b[0m · "), "{coloured:?}");
        assert_eq!(coloured.replace("\x1b[31m", "").replace("\x1b[0m", ""), plain);
        let calm = draw(&pieces(PressureLevel::None), Canvas { columns: None, coloured: true });
        assert_eq!(calm, plain);
    }

    /// Text of others cannot colour or hide anything.
    #[test]
    fn an_escape_in_a_piece_is_shown() {
        let pieces = [Piece::new("\x1b[2Jgone", Style::Alarm)];
        let line = draw(&pieces, Canvas { columns: None, coloured: true });
        assert!(!line.contains("\x1b[2J") && line.starts_with("\x1b[31m"), "{line:?}");
    }
}
