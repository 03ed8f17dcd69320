//! Columns next to each other, folded; below each other where they do not fit.

use tidegate_core::text::lang::Lang;

use super::fold::{fold, width};
use super::page::indented;
use super::terminal::Terminal;
use super::text::{Spoken, Text, Tone};
use crate::bilingual::Bilingual;

/// Between two columns.
const GAP: usize = 2;
/// A column that is folded stays at least this wide.
const NARROWEST: usize = 16;

#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(super) title: Text,
    pub(super) is_number: bool,
}

impl Column {
    pub(crate) fn text(title: impl Into<Text>) -> Column {
        Column { title: title.into(), is_number: false }
    }

    /// Aligned to the right, and never folded.
    pub(crate) fn number(title: impl Into<Text>) -> Column {
        Column { title: title.into(), is_number: true }
    }
}

/// Rows with one cell for each column. The first one names the row.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub(super) columns: Vec<Column>,
    pub(super) rows: Vec<Vec<Text>>,
}

impl Table {
    pub(crate) fn new(columns: impl IntoIterator<Item = Column>) -> Table {
        Table { columns: columns.into_iter().collect(), rows: Vec::new() }
    }

    /// Without titles.
    pub(crate) fn untitled(columns: usize) -> Table {
        Table::new(std::iter::repeat_n(Column::text(Bilingual::default()), columns))
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = Text>) {
        self.rows.push(cells.into_iter().collect());
    }

    pub(super) fn render(&self, lang: Lang, terminal: Terminal, indent: usize) -> Vec<String> {
        let titles: Vec<Spoken> =
            self.columns.iter().map(|column| column.title.clone().strong().spoken(lang)).collect();
        let rows: Vec<Vec<Spoken>> =
            self.rows.iter().map(|row| row.iter().map(|cell| cell.spoken(lang)).collect()).collect();
        let room = terminal.width - indent;
        let lines = match self.fit(&titles, &rows, room) {
            Some(widths) => {
                let has_titles = titles.iter().any(|title| !title.text.is_empty());
                let head = has_titles.then_some(&titles);
                let shown = head.into_iter().chain(&rows);
                shown.flat_map(|row| self.side_by_side(row, &widths, terminal)).collect()
            }
            None => stacked(&titles, &rows, room, terminal),
        };
        lines.iter().map(|line| indented(indent, line)).collect()
    }

    /// The width of each column, if they fit next to each other.
    fn fit(&self, titles: &[Spoken], rows: &[Vec<Spoken>], room: usize) -> Option<Vec<usize>> {
        let widest = |at: usize| {
            let cells = rows.iter().filter_map(|row| row.get(at)).chain(titles.get(at));
            cells.flat_map(|cell| cell.text.lines()).map(width).max().unwrap_or(0)
        };
        let mut widths: Vec<usize> = (0..self.columns.len()).map(widest).collect();
        let room = room.checked_sub(GAP * self.columns.len().saturating_sub(1))?;
        while widths.iter().sum::<usize>() > room {
            // The first column names the row: it stays whole.
            let foldable = widths.iter().enumerate().skip(1).filter(|(at, _)| !self.columns[*at].is_number);
            let (at, most) = foldable.max_by_key(|(_, width)| **width)?;
            let others: usize =
                widths.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, w)| w).sum();
            let second = widths
                .iter()
                .enumerate()
                .filter(|(other, _)| *other != at)
                .map(|(_, w)| *w)
                .max()
                .unwrap_or(0);
            let narrowed = room.saturating_sub(others).max(second.min(*most - 1)).max(NARROWEST);
            if narrowed >= *most {
                return None;
            }
            widths[at] = narrowed;
        }
        Some(widths)
    }

    fn side_by_side(&self, row: &[Spoken], widths: &[usize], terminal: Terminal) -> Vec<String> {
        let cells: Vec<Vec<String>> =
            row.iter().zip(widths).map(|(cell, width)| fold(cell, (*width).max(1), terminal)).collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or(0);
        let line = |number: usize| {
            let mut line = String::new();
            let mut owed = 0;
            for ((cell, room), column) in cells.iter().zip(widths).zip(&self.columns) {
                let part = cell.get(number).map_or("", String::as_str);
                let free = room.saturating_sub(textwrap::core::display_width(part));
                let before = if column.is_number { free } else { 0 };
                if !part.is_empty() {
                    line.push_str(&" ".repeat(owed + before));
                    line.push_str(part);
                    owed = 0;
                }
                owed += GAP + if part.is_empty() { *room } else { free - before };
            }
            line
        };
        (0..height).map(line).collect()
    }
}

fn stacked(titles: &[Spoken], rows: &[Vec<Spoken>], room: usize, terminal: Terminal) -> Vec<String> {
    let mut lines = Vec::new();
    for row in rows {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        for (at, (cell, title)) in row.iter().zip(titles).enumerate() {
            if cell.text.is_empty() {
                continue;
            }
            if at == 0 {
                lines.extend(fold(cell, room, terminal));
                continue;
            }
            let mut labelled = Spoken::default();
            if !title.text.is_empty() {
                labelled.push(Tone::Dim, &format!("{}: ", title.text));
            }
            labelled.append(cell);
            lines.extend(fold(&labelled, room - 2, terminal).into_iter().map(|line| indented(2, &line)));
        }
    }
    lines
}
