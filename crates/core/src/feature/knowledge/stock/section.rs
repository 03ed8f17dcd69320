//! A section of a stock file, parsed so that parts of it can be replaced.

use std::ops::Range;

use crate::feature::knowledge::document;
use crate::feature::knowledge::document::{MarkdownSection, Newline, closing_fence};
use crate::feature::knowledge::entry_id::EntryId;
use crate::feature::knowledge::stock::confirmations::{Confirmations, CountForm};
use crate::feature::knowledge::stock::{Learning, LearningFault, Problem};

/// The form of most lines of a file.
pub(super) fn form_of(entries: &[StockSection<'_>]) -> Option<CountForm> {
    let forms = || entries.iter().filter_map(StockSection::form);
    let kai = forms().filter(|form| *form == CountForm::Kai).count();
    let all = forms().count();
    match (kai * 2).cmp(&all) {
        std::cmp::Ordering::Greater => Some(CountForm::Kai),
        std::cmp::Ordering::Less => Some(CountForm::Times),
        std::cmp::Ordering::Equal => forms().next(),
    }
}

/// A section, parsed for changes.
pub(super) struct StockSection<'a> {
    pub(super) section: MarkdownSection<'a>,
    pub(super) id: EntryId,
    pub(super) blocks: Vec<TextBlock<'a>>,
    /// The parsed `Confirmed` line.
    pub(super) read: Option<Result<(Confirmations, CountForm), LearningFault>>,
}

/// Lines that belong together: a bullet with the lines indented below it, a paragraph, a code block.
pub(super) struct TextBlock<'a> {
    /// In the file.
    pub(super) range: Range<usize>,
    /// Of the first line, counted from 1.
    pub(super) number: usize,
    /// All lines, without the last newline.
    pub(super) text: &'a str,
    pub(super) label: Option<LabelledBullet<'a>>,
}

/// `- **Learning**: text`.
pub(super) struct LabelledBullet<'a> {
    pub(super) label: BulletLabel,
    /// The rest of the first line after the colon, trimmed.
    pub(super) value: &'a str,
    /// Byte offset of the value in its line.
    pub(super) at: usize,
    pub(super) bold: bool,
    pub(super) colon: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum BulletLabel {
    Learning,
    Context,
    Implication,
    Confirmed,
}

pub(super) fn parse_sections(text: &str) -> Vec<StockSection<'_>> {
    document::sections(text).sections.into_iter().map(|section| StockSection::of(text, section)).collect()
}

impl<'a> StockSection<'a> {
    pub(super) fn of(text: &'a str, section: MarkdownSection<'a>) -> StockSection<'a> {
        let start = section.range.end - section.body.len();
        let mut blocks: Vec<TextBlock<'a>> = Vec::new();
        let mut goes_on = false;
        let mut body = String::with_capacity(section.body.len());
        for line in document::lines(section.body) {
            let label = if line.fenced { None } else { parse_bullet(line.text) };
            if label.as_ref().is_none_or(|label| label.label != BulletLabel::Confirmed) {
                body.push_str(&section.body[line.range.clone()]);
            }
            let range = start + line.range.start..start + line.range.end;
            if !line.fenced && line.text.trim().is_empty() {
                goes_on = false;
            } else if goes_on && (line.fenced || !(is_bullet(line.text) || label.is_some())) {
                if let Some(last) = blocks.last_mut() {
                    last.range.end = range.end;
                }
            } else {
                blocks.push(TextBlock { range, number: section.line + line.number, text: "", label });
                goes_on = true;
            }
        }
        for block in &mut blocks {
            block.text = text[block.range.clone()].trim_end();
        }
        let mut entry = StockSection { id: EntryId::of(section.heading, &body), section, blocks, read: None };
        entry.read = entry.confirmed_line().map(|(_, line)| {
            if line.colon { Confirmations::parse(line.value) } else { Err(LearningFault::NoColon) }
        });
        entry
    }

    pub(super) fn labels(&self) -> impl Iterator<Item = (&TextBlock<'a>, &LabelledBullet<'a>)> {
        self.blocks.iter().filter_map(|block| block.label.as_ref().map(|label| (block, label)))
    }

    pub(super) fn value(&self, of: BulletLabel) -> Option<&'a str> {
        let (block, label) = self.labels().find(|(_, label)| label.label == of)?;
        // Lines indented below the first line belong to it.
        Some(block.text[label.at..].trim()).filter(|value| !value.is_empty())
    }

    pub(super) fn confirmed_line(&self) -> Option<(&TextBlock<'a>, &LabelledBullet<'a>)> {
        self.labels().find(|(_, label)| label.label == BulletLabel::Confirmed)
    }

    pub(super) fn confirmed(&self) -> Option<&Confirmations> {
        self.read.as_ref()?.as_ref().ok().map(|(confirmed, _)| confirmed)
    }

    pub(super) fn form(&self) -> Option<CountForm> {
        self.read.as_ref()?.as_ref().ok().map(|(_, form)| *form)
    }

    pub(super) fn learning(&self) -> Learning<'a> {
        Learning {
            id: self.id,
            title: self.section.heading,
            learning: self.value(BulletLabel::Learning),
            context: self.value(BulletLabel::Context),
            implication: self.value(BulletLabel::Implication),
            confirmed: self.confirmed().cloned(),
            line: self.section.line,
            range: self.section.range.clone(),
        }
    }

    pub(super) fn report(&self, problems: &mut Vec<Problem>) {
        if self.value(BulletLabel::Learning).is_none() {
            problems.push(Problem { line: self.section.line, what: LearningFault::NoLearning });
        }
        for (index, (block, _)) in
            self.labels().filter(|(_, label)| label.label == BulletLabel::Confirmed).enumerate()
        {
            let what = match &self.read {
                _ if index > 0 => LearningFault::SecondConfirmed,
                Some(Err(fault)) => *fault,
                _ => continue,
            };
            problems.push(Problem { line: block.number, what });
        }
    }

    /// The range to replace in the file, and its new text, so that the entry has these confirmations.
    ///
    /// A readable line is changed. An unreadable one stays, below a new one, because it may mean something to
    /// its author.
    pub(super) fn with_confirmed(
        &self,
        text: &str,
        confirmed: &Confirmations,
        form: Option<CountForm>,
    ) -> (Range<usize>, String) {
        let line = self.confirmed_line();
        if let (Some((block, line)), Some(form)) = (line, self.form()) {
            let at = block.range.start + line.at;
            return (at..at + line.value.len(), confirmed.to_line(form));
        }
        let newline = Newline::of(text).as_str();
        let bold = self.labels().next().is_none_or(|(_, label)| label.bold);
        let mark = if bold { "**" } else { "" };
        let new = format!("- {mark}Confirmed{mark}: {}", confirmed.to_line(form.unwrap_or(CountForm::Times)));
        if let Some((block, _)) = line {
            return (block.range.start..block.range.start, format!("{new}{newline}"));
        }
        let labelled = self.labels().last().map(|(block, _)| block);
        let open = closing_fence(self.section.body).is_some();
        let heading = self.section.range.start..self.section.range.end - self.section.body.len();
        let after = match labelled.or(self.blocks.last().filter(|_| !open)) {
            Some(block) if closing_fence(block.text).is_none() => block.range.clone(),
            _ => heading,
        };
        let end = after.start + written_end(&text[after]);
        (end..end, format!("{newline}{new}"))
    }

    /// Blocks that `other` does not have.
    pub(super) fn only_there(&self, other: &StockSection<'_>) -> Vec<String> {
        let mut only = Vec::new();
        if self.section.heading != other.section.heading && !self.section.heading.is_empty() {
            only.push(format!("- **Also**: {}", self.section.heading));
        }
        let absorbed = self.confirmed_line().filter(|_| self.form().is_some()).map(|(block, _)| block.number);
        for block in &self.blocks {
            let mut text = block.text;
            if absorbed == Some(block.number) {
                text = text.split_once('\n').map_or("", |(_, rest)| rest);
            }
            let known = other.blocks.iter().any(|known| same_lines(known.text, text));
            if !known && !text.is_empty() {
                let closing = closing_fence(text).map(|closing| format!("\n{closing}")).unwrap_or_default();
                only.push(format!("{text}{closing}"));
            }
        }
        only
    }
}

/// The end of the text without trailing blanks. A heading without words keeps the blank that makes it a
/// heading.
pub(super) fn written_end(text: &str) -> usize {
    let heading = text.lines().next().map_or(0, str::len);
    text.trim_end().len().max(heading)
}

/// Ignores line ends.
pub(super) fn same_lines(a: &str, b: &str) -> bool {
    a.lines().map(str::trim_end).eq(b.lines().map(str::trim_end))
}

pub(super) fn is_bullet(line: &str) -> bool {
    let mut chars = line.chars();
    matches!(chars.next(), Some('-' | '*' | '+')) && matches!(chars.next(), Some(' ' | '\t' | '\u{3000}'))
}

/// Also without the stars, with the colon inside of them or of full width.
pub(super) fn parse_bullet(line: &str) -> Option<LabelledBullet<'_>> {
    let line = line.trim_end();
    if !is_bullet(line) {
        return None;
    }
    let text = line[1..].trim_start();
    let mark = ["**", "__"].into_iter().find(|mark| text.starts_with(mark)).unwrap_or_default();
    let text = &text[mark.len()..];
    let end = text.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(text.len());
    let label = match text[..end].to_ascii_lowercase().as_str() {
        "learning" => BulletLabel::Learning,
        "context" => BulletLabel::Context,
        "implication" => BulletLabel::Implication,
        "confirmed" => BulletLabel::Confirmed,
        _ => return None,
    };
    let colon = |text: &mut &str| {
        let rest = text.trim_start().strip_prefix([':', '：']);
        *text = rest.unwrap_or(text);
        rest.is_some()
    };
    let mut text = &text[end..];
    let mut has_colon = colon(&mut text);
    text = text.trim_start().strip_prefix(mark)?;
    has_colon = has_colon || colon(&mut text);
    let (value, bold) = (text.trim_start(), !mark.is_empty());
    // `Confirmed` alone may begin any sentence.
    let at = line.len() - value.len();
    (has_colon || bold).then_some(LabelledBullet { label, value, at, bold, colon: has_colon })
}
