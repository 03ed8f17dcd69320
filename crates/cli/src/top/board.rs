//! What the view shows: rows of sessions, the chosen one, and a page above them while one is open.

use std::cmp::Reverse;

use ratatui::crossterm::event::KeyCode;
use tidegate_core::pipeline::record::{MeterRecord, Record};
use tidegate_core::text::lang::Lang;
use tidegate_core::time::Millis;

use crate::print::page::Page;
use crate::print::terminal::Terminal;
use crate::recent::curve::Curve;

#[derive(Debug)]
pub(super) struct SessionRow {
    pub(super) id: String,
    pub(super) root: Option<String>,
    pub(super) is_open: bool,
    pub(super) last: Option<Millis>,
    pub(super) curve: Curve,
    pub(super) meter: MeterRecord,
    /// Files that were changed and not checked since.
    pub(super) unchecked: usize,
    /// The last results, newest first.
    pub(super) events: Vec<Record>,
}

/// What covers the sessions.
#[derive(Debug)]
pub(super) enum Cover {
    None,
    /// Words to search for, as far as they are typed.
    Asking(String),
    Reading {
        text: String,
        from: u16,
    },
}

#[derive(Debug)]
pub(super) struct Board {
    pub(super) rows: Vec<SessionRow>,
    pub(super) chosen: usize,
    pub(super) cover: Cover,
    /// Of the chosen session's project.
    pub(super) decisions: Vec<String>,
    /// Jobs that wait for the worker.
    pub(super) queue: usize,
    pub(super) lang: Lang,
}

/// What a key asks for that needs files, the store or the terminal.
#[derive(Debug, PartialEq)]
pub(super) enum Wish {
    Stay,
    Leave,
    Explain(Box<Record>),
    Search(String),
    /// With the folder of the chosen session's project.
    SwitchOff(Option<String>),
}

impl Board {
    pub(super) fn new(lang: Lang) -> Board {
        Board { rows: Vec::new(), chosen: 0, cover: Cover::None, decisions: Vec::new(), queue: 0, lang }
    }

    /// Open sessions come first. The person chose a session, not a line: it stays chosen.
    pub(super) fn put_rows(&mut self, mut rows: Vec<SessionRow>) {
        rows.sort_by_key(|row| (!row.is_open, Reverse(row.last)));
        let again = self.row().and_then(|before| rows.iter().position(|row| row.id == before.id));
        self.chosen = again.unwrap_or(self.chosen.min(rows.len().saturating_sub(1)));
        self.rows = rows;
    }

    pub(super) fn row(&self) -> Option<&SessionRow> {
        self.rows.get(self.chosen)
    }

    /// Covers the sessions with a page, until it is closed. `width` is the terminal's.
    pub(super) fn put_page(&mut self, page: &Page, width: u16) {
        // Without the border: the frame must not fold the lines again.
        let width = usize::from(width.clamp(24, 120)) - 2;
        let terminal = Terminal { width, has_colors: false, breaks_words: true };
        let text = anstream::adapter::strip_str(&page.render(self.lang, terminal)).to_string();
        self.cover = Cover::Reading { text, from: 0 };
    }

    pub(super) fn press(&mut self, key: KeyCode) -> Wish {
        match std::mem::replace(&mut self.cover, Cover::None) {
            Cover::Asking(words) => self.type_words(key, words),
            Cover::Reading { text, from } => self.scroll(key, text, from),
            Cover::None => self.choose(key),
        }
    }

    /// Another session's decisions say nothing about the chosen one.
    fn go_to(&mut self, row: usize) {
        if row != self.chosen {
            self.chosen = row;
            self.decisions.clear();
        }
    }

    fn choose(&mut self, key: KeyCode) -> Wish {
        match key {
            KeyCode::Char('q') => return Wish::Leave,
            KeyCode::Down | KeyCode::Char('j') => {
                self.go_to((self.chosen + 1).min(self.rows.len().saturating_sub(1)));
            }
            KeyCode::Up | KeyCode::Char('k') => self.go_to(self.chosen.saturating_sub(1)),
            KeyCode::Char('/') => self.cover = Cover::Asking(String::new()),
            KeyCode::Char('e') | KeyCode::Enter => {
                if let Some(record) = self.row().and_then(|row| row.events.first().cloned()) {
                    return Wish::Explain(Box::new(record));
                }
            }
            KeyCode::Char('o') => return Wish::SwitchOff(self.row().and_then(|row| row.root.clone())),
            _ => {}
        }
        Wish::Stay
    }

    fn type_words(&mut self, key: KeyCode, mut words: String) -> Wish {
        match key {
            KeyCode::Esc => return Wish::Stay,
            KeyCode::Enter if words.trim().is_empty() => return Wish::Stay,
            KeyCode::Enter => return Wish::Search(words),
            KeyCode::Backspace => _ = words.pop(),
            KeyCode::Char(letter) => words.push(letter),
            _ => {}
        }
        self.cover = Cover::Asking(words);
        Wish::Stay
    }

    fn scroll(&mut self, key: KeyCode, text: String, from: u16) -> Wish {
        let last = u16::try_from(text.lines().count()).unwrap_or(u16::MAX).saturating_sub(1);
        let from = match key {
            KeyCode::Down | KeyCode::Char('j') => from.saturating_add(1).min(last),
            KeyCode::Up | KeyCode::Char('k') => from.saturating_sub(1),
            KeyCode::PageDown | KeyCode::Char(' ') => from.saturating_add(10).min(last),
            KeyCode::PageUp => from.saturating_sub(10),
            KeyCode::Char('q') | KeyCode::Esc | KeyCode::Enter => return Wish::Stay,
            _ => from,
        };
        self.cover = Cover::Reading { text, from };
        Wish::Stay
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::bilingual::both;
    use crate::recent::curve::CurvePoint;

    pub(in crate::top) fn row(id: &str, is_open: bool, last: u64, used: u64) -> SessionRow {
        let point = |used| CurvePoint { at: Millis(last), used, end: Some(160_000) };
        SessionRow {
            id: id.to_owned(),
            root: Some(format!("/home/someone/code/{id}")),
            is_open,
            last: Some(Millis(last)),
            curve: Curve { points: vec![point(used / 3), point(used)], signs: Vec::new() },
            meter: MeterRecord {
                used: Some(used),
                window: Some(200_000),
                used_pct: Some(used as f64 / 2_000.0),
                compact_at: Some(160_000),
                left: Some(160_000 - used),
                level: Some((used / 2_000) as u8),
                ..MeterRecord::default()
            },
            unchecked: 0,
            events: Vec::new(),
        }
    }

    #[test]
    fn a_chosen_session_stays_chosen() {
        let mut board = Board::new(Lang::En);
        board.put_rows(vec![row("old", true, 1, 10), row("new", true, 9, 10), row("ended", false, 20, 10)]);
        let ids = |board: &Board| board.rows.iter().map(|row| row.id.clone()).collect::<Vec<_>>();
        assert_eq!(ids(&board), ["new", "old", "ended"]);
        board.press(KeyCode::Down);
        assert_eq!(board.row().map(|row| row.id.as_str()), Some("old"));
        board.put_rows(vec![row("old", true, 30, 10), row("new", true, 9, 10)]);
        assert_eq!((board.chosen, board.row().map(|row| row.id.as_str())), (0, Some("old")));
        board.put_rows(Vec::new());
        assert!(board.row().is_none());
        for key in [KeyCode::Up, KeyCode::Down, KeyCode::Enter] {
            assert_eq!(board.press(key), Wish::Stay);
        }
    }

    #[test]
    fn keys_say_what_is_wished() {
        let mut board = Board::new(Lang::En);
        board.put_rows(vec![SessionRow { events: vec![Record::default()], ..row("shop", true, 1, 10) }]);
        assert_eq!(board.press(KeyCode::Char('e')), Wish::Explain(Box::default()));
        assert_eq!(
            board.press(KeyCode::Char('o')),
            Wish::SwitchOff(Some("/home/someone/code/shop".to_owned()))
        );
        let typed: Vec<Wish> = "/auq".chars().map(|letter| board.press(KeyCode::Char(letter))).collect();
        assert!(typed.iter().all(|wish| *wish == Wish::Stay), "`q` is a letter while words are typed");
        board.press(KeyCode::Backspace);
        assert_eq!(board.press(KeyCode::Enter), Wish::Search("au".to_owned()));
        board.put_page(&Page::of(both!("one", "一")), 80);
        board.press(KeyCode::PageDown);
        assert!(matches!(board.cover, Cover::Reading { from: 0, .. }), "a page of one line does not move");
        assert_eq!(board.press(KeyCode::Esc), Wish::Stay);
        assert_eq!(board.press(KeyCode::Esc), Wish::Stay, "one too many does not end the view");
        assert_eq!(board.press(KeyCode::Char('q')), Wish::Leave);
    }
}
