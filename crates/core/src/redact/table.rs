//! Secrets in tables: below a header that names them, or behind the cell that does.

use std::ops::Range;

use crate::redact::keyword;
use crate::redact::keyword::{Keyword, Weight};
use crate::redact::kind::MARKER;
use crate::redact::looks::Style;
use crate::redact::value::{MOST_BLANKS, Scan, Value};
use crate::redact::{Finding, is_word};
use crate::text::search;

/// The longest header, and the most columns of it that are looked at.
const LONGEST_LINE: usize = 512;
const MOST_COLUMNS: usize = 24;

/// The longest name of a column.
const LONGEST_NAME: usize = 40;

/// The search ends after this many rows without a secret.
const MOST_ROWS: usize = 32;

/// The bars of a row that stands in a sentence, at least.
const BARS: usize = 3;

/// The line is a row of a table: `FLAG_AUTH | FLAG_V2` is code, and `password | base64` a command.
pub(super) fn begins_row(line: &[u8]) -> bool {
    line.iter().take(MOST_BLANKS).find(|byte| !matches!(byte, b' ' | b'\t')) == Some(&b'|')
}

/// Some line is a row; for the glance at a text with bars.
pub(super) fn has_row(bytes: &[u8]) -> bool {
    bytes
        .split(|byte| *byte == b'\n')
        .any(|line| begins_row(line) || line.iter().filter(|byte| **byte == b'|').nth(BARS - 1).is_some())
}

/// Dashes below the header of a table, next to a bar or a cross.
#[inline]
pub(super) fn is_rule(bytes: &[u8], start: usize, end: usize) -> bool {
    bytes[start..end].starts_with(b"--")
        && (start > 0 && matches!(bytes[start - 1], b'|' | b'+')
            || matches!(&bytes[end..], [b'|' | b'+' | b':', ..] | [b' ', b'|' | b'+', ..]))
        && bytes[start..end].iter().all(|byte| *byte == b'-')
}

/// All findings in their order. One that reaches into a cell that was found on its own ends before it.
pub(super) fn merge_findings(scan: Scan<'_>) -> Vec<Finding> {
    let Scan { mut findings, in_rows, .. } = scan;
    if !in_rows.is_empty() {
        findings.retain_mut(|one| {
            let next = in_rows.partition_point(|cell| cell.at.end <= one.at.start);
            if let Some(cell) = in_rows.get(next) {
                one.at.end = one.at.end.min(cell.at.start.saturating_sub(1));
            }
            one.at.start < one.at.end
        });
        findings.extend(in_rows);
        findings.sort_by_key(|finding| finding.at.start);
    }
    findings
}

impl Scan<'_> {
    /// The cell before this bar, and the value in the next one. Outside of a row both have to stand between bars.
    pub(super) fn read_label(&mut self, bar: usize, in_row: bool) {
        let first = self.from.max(bar.saturating_sub(LONGEST_NAME + 8));
        let before = &self.bytes[first..bar];
        let edge = before.iter().rposition(|byte| matches!(byte, b'|' | b'\n'));
        if !in_row && edge.is_none_or(|at| before[at] != b'|') {
            return;
        }
        let start = edge.map_or(first, |at| first + at + 1);
        if !self.text.is_char_boundary(start) || !matches!(self.bytes.get(bar + 1), Some(b' ' | b'`')) {
            return;
        }
        let name = &self.bytes[self.trimmed(start..bar)];
        // Most cells do not end as a name does.
        if !matches!(name.last(), Some(b'a'..=b'z' | b'A'..=b'Z' | 0x80..)) {
            return;
        }
        let Some(keyword) = read_heading(name) else { return };
        let window = &self.bytes[bar + 1..self.bytes.len().min(bar + 1 + LONGEST_LINE)];
        let Some(length) = window.iter().position(|byte| matches!(byte, b'|' | b'\n')) else { return };
        if !in_row && (window[length] != b'|' || keyword.weight != Weight::Sure) {
            return;
        }
        let cell = self.trimmed(bar + 1..bar + 1 + length);
        self.read_cell(cell, keyword, Style::Prose);
    }

    /// The table whose header is above this line of dashes. Returns the end of its last row.
    pub(super) fn below_header(&mut self, dashes: usize) -> Option<usize> {
        let line = self.line_of(dashes)?;
        let is_rule = |byte: &u8| matches!(byte, b'-' | b'|' | b'+' | b':' | b' ' | b'\t' | b'\r');
        let rule = &self.bytes[line.clone()];
        if !rule.iter().all(is_rule) || !(rule.contains(&b'|') || rule.contains(&b'+')) {
            return None;
        }
        let header = self.line_of(line.start.checked_sub(1)?)?;
        self.read_rows(header, line.end, b'|', Style::Prose)
    }

    /// The list of values, separated by commas, semicolons or tabs, whose header has this name. Returns its end.
    pub(super) fn read_list(&mut self, name: usize) -> Option<usize> {
        let header = self.line_of(name)?;
        let text = &self.bytes[header.clone()];
        let separator = text.iter().copied().find(|byte| matches!(byte, b',' | b';' | b'\t')).unwrap_or(b',');
        let is_header = |byte: &u8| {
            byte.is_ascii_alphanumeric()
                || *byte == separator
                || matches!(byte, b' ' | b'_' | b'-' | b'"' | b'\r')
        };
        // Names in code stand apart, indented, or each with a comma behind it.
        let is_name = |name: &[u8]| name.first().is_some_and(|byte| is_word(*byte) || *byte == b'"');
        let mut names = text.split(|byte| *byte == separator);
        if text.contains(&separator) && text.iter().all(is_header) && names.all(is_name) {
            return self.read_rows(header.clone(), header.end, separator, Style::Tight);
        }
        Some(header.end)
    }

    /// Takes the values of the columns that a header names, row by row.
    fn read_rows(
        &mut self,
        header: Range<usize>,
        after: usize,
        separator: u8,
        style: Style,
    ) -> Option<usize> {
        let columns: Vec<(usize, Keyword)> = self
            .cells(header.clone(), separator)
            .enumerate()
            .filter_map(|(index, cell)| Some((index, read_heading(&self.bytes[cell])?)))
            .collect();
        if columns.is_empty() {
            return None;
        }
        let count = self.cells(header, separator).count();
        let (from, before) = (self.from, self.findings.len());
        let (mut at, mut vain) = (after, 0);
        while vain < MOST_ROWS && self.bytes.get(at) == Some(&b'\n') {
            let Some(line) = self.line_of(at + 1) else { break };
            if self.cells(line.clone(), separator).count() != count {
                break;
            }
            let found = self.findings.len();
            for (index, keyword) in &columns {
                let cell = self.cells(line.clone(), separator).nth(*index);
                if let Some(cell) = cell {
                    self.read_cell(cell, *keyword, style);
                }
            }
            vain = if self.findings.len() > found { 0 } else { vain + 1 };
            at = line.end;
        }
        // The scan comes to the other cells later.
        self.in_rows.extend(self.findings.drain(before..));
        self.from = from;
        Some(at)
    }

    fn read_cell(&mut self, cell: Range<usize>, keyword: Keyword, style: Style) {
        if cell.is_empty() || cell.start < self.from {
            return;
        }
        let text = &self.text[cell.clone()];
        // `Phase2`, `Task12`: a plan.
        let letters = text.trim_end_matches(|c: char| c.is_ascii_digit());
        let counted = text.len() - letters.len() <= 2
            && letters.starts_with(|c: char| c.is_ascii_uppercase())
            && letters.bytes().skip(1).all(|byte| byte.is_ascii_lowercase());
        if style == Style::Prose && (counted || keyword.weight != Weight::Sure && is_type(text))
            || text.contains(' ')
        {
            return;
        }
        let keyword = Keyword { capitals: style == Style::Tight || keyword.capitals, ..keyword };
        let sign =
            text.bytes().any(|byte| matches!(byte, b'!' | b'#' | b'$' | b'%' | b'&' | b'^' | b'+' | b'='));
        let digit = text.bytes().any(|byte| byte.is_ascii_digit());
        let sure = keyword.weight == Weight::Sure && sign && digit;
        let style = if sure { Style::Tight } else { style };
        self.judge_value(&Value::whole(cell, style), keyword);
    }

    /// The line around a place, if it is short enough.
    fn line_of(&self, at: usize) -> Option<Range<usize>> {
        let first = at.saturating_sub(LONGEST_LINE);
        let start =
            self.bytes[first..at].iter().rposition(|byte| *byte == b'\n').map(|found| first + found + 1);
        let start = start.or_else(|| (first == 0).then_some(0))?;
        let length = self.bytes[at..].iter().take(LONGEST_LINE).position(|byte| *byte == b'\n');
        let end = length.map(|length| at + length);
        let end = end.or_else(|| (self.bytes.len() - at < LONGEST_LINE).then_some(self.bytes.len()))?;
        Some(start..end)
    }

    /// The cells of a line, trimmed.
    fn cells(&self, line: Range<usize>, separator: u8) -> impl Iterator<Item = Range<usize>> {
        let mut start = line.start;
        let ends = line.clone().filter(move |at| self.bytes[*at] == separator).chain([line.end]);
        ends.map(move |end| {
            let cell = self.trimmed(start..end);
            start = end + 1;
            cell
        })
        .take(MOST_COLUMNS)
    }

    fn trimmed(&self, cell: Range<usize>) -> Range<usize> {
        let is_edge = |byte: &&u8| byte.is_ascii_whitespace() || matches!(byte, b'*' | b'`' | b'"' | b'\'');
        let bytes = &self.bytes[cell.clone()];
        let before = bytes.iter().take_while(is_edge).count();
        let behind = bytes[before..].iter().rev().take_while(is_edge).count();
        cell.start + before..cell.end - behind
    }
}

/// The heading of a column or a row.
fn read_heading(cell: &[u8]) -> Option<Keyword> {
    if cell.is_empty() || cell.len() > LONGEST_NAME || search::find(cell, MARKER.as_bytes()).is_some() {
        return None;
    }
    keyword::read_name(cell).or_else(|| keyword::read_foreign_name(cell))
}

/// Written as types are: `Uint8Array`.
fn is_type(text: &str) -> bool {
    let letters = text.bytes().filter(u8::is_ascii_alphabetic).count();
    let small = text.bytes().filter(u8::is_ascii_lowercase).count();
    text.starts_with(|c: char| c.is_ascii_uppercase()) && text.len() - letters <= 3 && small * 2 > text.len()
}
