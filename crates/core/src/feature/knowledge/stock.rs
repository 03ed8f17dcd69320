//! `learnings-*.md`: learnings, and how often each was confirmed.
//!
//! Every change is a splice: the rest of the file stays byte for byte.

use std::fmt::{self, Write as _};
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::feature::knowledge::document;
use crate::feature::knowledge::document::{Newline, Section, closing};
use crate::feature::knowledge::entry_id::EntryId;
use crate::text::fold::narrow;
use crate::text::one_line::single_spaced;
use crate::time::Millis;

/// The files of a project's stock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StockFile {
    /// About requirements.
    FeatureSpec,
    Design,
    /// About code.
    Coding,
    /// The one file of older projects.
    General,
}

impl StockFile {
    /// In the order in which they are listed.
    pub const ALL: [StockFile; 4] =
        [StockFile::FeatureSpec, StockFile::Design, StockFile::Coding, StockFile::General];

    /// In `.claude/context`.
    pub fn file_name(self) -> &'static str {
        match self {
            StockFile::FeatureSpec => "learnings-feature-spec.md",
            StockFile::Design => "learnings-design.md",
            StockFile::Coding => "learnings-coding.md",
            StockFile::General => "learnings.md",
        }
    }

    /// The name on a command line.
    pub fn name(self) -> &'static str {
        match self {
            StockFile::FeatureSpec => "feature-spec",
            StockFile::Design => "design",
            StockFile::Coding => "coding",
            StockFile::General => "general",
        }
    }

    /// By its name on a command line.
    pub fn named(name: &str) -> Option<StockFile> {
        StockFile::ALL.into_iter().find(|file| file.name() == name)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stock<'a> {
    /// In the order of the file.
    pub entries: Vec<Learning<'a>>,
    /// Parts that are not in the right form.
    pub problems: Vec<Problem>,
}

/// An entry of stock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Learning<'a> {
    /// From the text without the `Confirmed` line, so that confirming does not change it.
    pub id: EntryId,
    /// The heading.
    pub title: &'a str,
    pub learning: Option<&'a str>,
    pub context: Option<&'a str>,
    pub implication: Option<&'a str>,
    /// `None` if it is missing or unreadable.
    pub confirmed: Option<Confirmed>,
    /// The heading's line, counted from 1.
    pub line: usize,
    /// From the heading to the next one, in bytes.
    pub range: Range<usize>,
}

impl Learning<'_> {
    pub fn count(&self) -> u32 {
        self.confirmed.as_ref().map_or(0, |confirmed| confirmed.count)
    }

    /// Never confirmed.
    pub fn is_unverified(&self) -> bool {
        self.count() == 0
    }
}

/// The content of a `Confirmed` line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Confirmed {
    pub count: u32,
    /// The last day: `2026-02-18`, a real one.
    pub date: String,
    /// May be empty.
    pub phases: Vec<String>,
}

/// Something that is not in the right form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Counted from 1.
    pub line: usize,
    pub what: Fault,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// No `Learning` line, or an empty one.
    NoLearning,
    /// A second `Confirmed` line; only the first counts.
    SecondConfirmed,
    /// No colon after `Confirmed`.
    NoColon,
    /// The line does not begin with a number.
    NoCount,
    CountTooLarge,
    /// Neither `回` nor `times` after the number.
    NoUnit,
    NoDate,
    /// Not a real day, or not written as `2026-02-18`.
    NotADay,
    /// More than count, date and phases.
    TooManyParts,
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Fault::NoLearning => "no `Learning` line",
            Fault::SecondConfirmed => "a second `Confirmed` line",
            Fault::NoColon => "no colon after `Confirmed`",
            Fault::NoCount => "no count",
            Fault::CountTooLarge => "the count is too large",
            Fault::NoUnit => "neither `回` nor `times` after the count",
            Fault::NoDate => "no date",
            Fault::NotADay => "the date is not a day written as `2026-02-18`",
            Fault::TooManyParts => "more than count, date and phases",
        })
    }
}

/// How a file writes counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `4回`.
    Kai,
    /// `4 times`.
    Times,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewLearning<'a> {
    /// The heading.
    pub title: &'a str,
    pub learning: &'a str,
    /// Left out when empty.
    pub context: &'a str,
    /// Left out when empty.
    pub implication: &'a str,
    /// Today: `2026-02-18`.
    pub date: &'a str,
    /// The phase it was learned in.
    pub phase: Option<&'a str>,
    /// For a file without counts.
    pub form: Form,
}

/// How well entries of stock are confirmed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Confidence {
    /// Number of entries.
    pub total: usize,
    /// Confirmations per entry, with one decimal; an unverified entry counts as zero.
    pub average: f64,
    /// Number of entries that were never confirmed.
    pub unverified: usize,
}

impl Confidence {
    /// For entries of one file or of several.
    pub fn of<'a, 'b: 'a>(entries: impl IntoIterator<Item = &'a Learning<'b>>) -> Confidence {
        let (mut total, mut sum, mut unverified) = (0, 0_u64, 0);
        for entry in entries {
            total += 1;
            sum += u64::from(entry.count());
            unverified += usize::from(entry.is_unverified());
        }
        let average = if total == 0 { 0.0 } else { (sum as f64 * 10.0 / total as f64).round() / 10.0 };
        Confidence { total, average, unverified }
    }
}

impl<'a> Stock<'a> {
    /// Never fails: unreadable parts become problems.
    pub fn parse(text: &'a str) -> Stock<'a> {
        let mut stock = Stock::default();
        for entry in entries(text) {
            entry.report(&mut stock.problems);
            stock.entries.push(entry.learning());
        }
        stock
    }
}

/// Adds an entry that is confirmed once.
pub fn appended(text: &str, new: &NewLearning<'_>) -> String {
    let newline = Newline::of(text).as_str();
    let mut block = format!("## {}{newline}", single_spaced(new.title));
    for (label, words) in
        [("Learning", new.learning), ("Context", new.context), ("Implication", new.implication)]
    {
        let words = single_spaced(words);
        if !words.is_empty() {
            let _ = write!(block, "- **{label}**: {words}{newline}");
        }
    }
    let mut confirmed = Confirmed { count: 1, date: new.date.to_owned(), phases: Vec::new() };
    confirmed.add_phase(new.phase);
    let form = form_of(&entries(text)).unwrap_or(new.form);
    let _ = write!(block, "- **Confirmed**: {}{newline}", confirmed.written(form));

    let mut whole = text.to_owned();
    if text.trim_start_matches('\u{feff}').trim().is_empty() {
        let _ = write!(whole, "# Learnings{newline}");
    }
    if !whole.ends_with('\n') {
        whole.push_str(newline);
    }
    // The entry would become part of a fence that is open to the end.
    if let Some(closing) = closing(text) {
        let _ = write!(whole, "{closing}{newline}");
    }
    if whole.lines().next_back().is_some_and(|last| !last.trim().is_empty()) {
        whole.push_str(newline);
    }
    whole + &block
}

/// Adds one confirmation; `None` if there is no such entry.
pub fn confirmed(text: &str, id: EntryId, date: &str, phase: Option<&str>) -> Option<String> {
    let entries = entries(text);
    let entry = entries.iter().find(|entry| entry.id == id)?;
    let mut confirmed = entry.confirmed().cloned().unwrap_or(Confirmed {
        count: 0,
        date: date.to_owned(),
        phases: Vec::new(),
    });
    confirmed.count = confirmed.count.saturating_add(1);
    confirmed.date = confirmed.date.max(date.to_owned());
    confirmed.add_phase(phase);
    let (at, line) = entry.with_confirmed(text, &confirmed, form_of(&entries));
    Some(format!("{}{line}{}", &text[..at.start], &text[at.end..]))
}

/// Merges the entry `away` into the entry `keep`; `None` if they are not two entries of the file.
///
/// Counts are added, phases united, the latest date kept. Text that only `away` has moves below the text of
/// `keep`.
pub fn merged(text: &str, keep: EntryId, away: EntryId) -> Option<String> {
    let entries = entries(text);
    let kept = entries.iter().position(|entry| entry.id == keep)?;
    // Two entries with the same text have the same id.
    let gone = entries.iter().enumerate().position(|(index, entry)| index != kept && entry.id == away)?;
    let (kept, gone) = (&entries[kept], &entries[gone]);

    let mut section = text[kept.section.range.clone()].to_owned();
    if let Some(confirmed) = sum(kept.confirmed(), gone.confirmed()) {
        let (at, line) = kept.with_confirmed(text, &confirmed, form_of(&entries));
        let start = kept.section.range.start;
        section.replace_range(at.start - start..at.end - start, &line);
    }
    let newline = Newline::of(text).as_str();
    let end = written_end(&section);
    let mut moved = String::new();
    if let Some(closing) = closing(&section) {
        let _ = write!(moved, "{newline}{closing}");
    }
    let mut after_bullet = kept.blocks.last().is_none_or(|last| is_bullet(last.text));
    for block in gone.only_there(kept) {
        if !(after_bullet && is_bullet(&block)) {
            moved.push_str(newline);
        }
        after_bullet = is_bullet(&block);
        let _ = write!(moved, "{newline}{block}");
    }
    section.insert_str(end, &moved);

    let (keep, away) = (kept.section.range.clone(), gone.section.range.clone());
    Some(if keep.start < away.start {
        format!("{}{section}{}{}", &text[..keep.start], &text[keep.end..away.start], &text[away.end..])
    } else {
        format!("{}{}{section}{}", &text[..away.start], &text[away.end..keep.start], &text[keep.end..])
    })
}

fn sum(a: Option<&Confirmed>, b: Option<&Confirmed>) -> Option<Confirmed> {
    let (Some(a), Some(b)) = (a, b) else { return a.or(b).cloned() };
    let mut sum = a.clone();
    sum.count = sum.count.saturating_add(b.count);
    sum.date = sum.date.max(b.date.clone());
    for phase in &b.phases {
        sum.add_phase(Some(phase));
    }
    Some(sum)
}

/// The form of most lines of a file.
fn form_of(entries: &[Entry<'_>]) -> Option<Form> {
    let forms = || entries.iter().filter_map(Entry::form);
    let kai = forms().filter(|form| *form == Form::Kai).count();
    let all = forms().count();
    match (kai * 2).cmp(&all) {
        std::cmp::Ordering::Greater => Some(Form::Kai),
        std::cmp::Ordering::Less => Some(Form::Times),
        std::cmp::Ordering::Equal => forms().next(),
    }
}

impl Confirmed {
    fn add_phase(&mut self, phase: Option<&str>) {
        // A bar or a comma would be read as its end.
        let phase = single_spaced(&phase.unwrap_or_default().replace(['|', ',', '｜', '，', '、'], " "));
        if !phase.is_empty() && !self.phases.iter().any(|known| known.to_lowercase() == phase.to_lowercase())
        {
            self.phases.push(phase);
        }
    }

    fn written(&self, form: Form) -> String {
        let count = match (form, self.count) {
            (Form::Kai, count) => format!("{count}回"),
            (Form::Times, 1) => "1 time".into(),
            (Form::Times, count) => format!("{count} times"),
        };
        let mut line = format!("{count} | {}", self.date);
        if !self.phases.is_empty() {
            let _ = write!(line, " | {}", self.phases.join(", "));
        }
        line
    }

    /// Parses the text after the colon. Full-width digits, bars and commas are accepted.
    fn read(line: &str) -> Result<(Confirmed, Form), Fault> {
        let line: String = line.chars().map(narrow).collect();
        let mut parts = line.split('|').map(str::trim);
        let count = parts.next().unwrap_or_default();
        let digits = count.bytes().take_while(u8::is_ascii_digit).count();
        if digits == 0 {
            return Err(Fault::NoCount);
        }
        let form = match count[digits..].trim().to_ascii_lowercase().as_str() {
            "回" => Form::Kai,
            "times" | "time" => Form::Times,
            _ => return Err(Fault::NoUnit),
        };
        let count = count[..digits].parse().map_err(|_| Fault::CountTooLarge)?;
        let date = parts.next().filter(|date| !date.is_empty()).ok_or(Fault::NoDate)?;
        if !is_day(date) {
            return Err(Fault::NotADay);
        }
        let mut confirmed = Confirmed { count, date: date.to_owned(), phases: Vec::new() };
        for phase in parts.next().unwrap_or_default().split([',', '、']) {
            confirmed.add_phase(Some(phase));
        }
        if parts.next().is_some() { Err(Fault::TooManyParts) } else { Ok((confirmed, form)) }
    }
}

fn is_day(date: &str) -> bool {
    let shape = date.len() == 10
        && date
            .bytes()
            .enumerate()
            .all(|(at, byte)| if at == 4 || at == 7 { byte == b'-' } else { byte.is_ascii_digit() });
    let number = |range: Range<usize>| date.get(range).and_then(|digits| digits.parse().ok()).unwrap_or(0);
    shape && Millis::of_day(number(0..4), number(5..7), number(8..10)).is_some()
}

/// A section, parsed for changes.
struct Entry<'a> {
    section: Section<'a>,
    id: EntryId,
    blocks: Vec<Block<'a>>,
    /// The parsed `Confirmed` line.
    read: Option<Result<(Confirmed, Form), Fault>>,
}

/// Lines that belong together: a bullet with the lines indented below it, a paragraph, a code block.
struct Block<'a> {
    /// In the file.
    range: Range<usize>,
    /// Of the first line, counted from 1.
    number: usize,
    /// All lines, without the last newline.
    text: &'a str,
    label: Option<Labelled<'a>>,
}

/// `- **Learning**: text`.
struct Labelled<'a> {
    label: Label,
    /// The rest of the first line after the colon, trimmed.
    value: &'a str,
    /// Byte offset of the value in its line.
    at: usize,
    bold: bool,
    colon: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Label {
    Learning,
    Context,
    Implication,
    Confirmed,
}

fn entries(text: &str) -> Vec<Entry<'_>> {
    document::sections(text).sections.into_iter().map(|section| Entry::of(text, section)).collect()
}

impl<'a> Entry<'a> {
    fn of(text: &'a str, section: Section<'a>) -> Entry<'a> {
        let start = section.range.end - section.body.len();
        let mut blocks: Vec<Block<'a>> = Vec::new();
        let mut goes_on = false;
        let mut body = String::with_capacity(section.body.len());
        for line in document::lines(section.body) {
            let label = if line.fenced { None } else { labelled(line.text) };
            if label.as_ref().is_none_or(|label| label.label != Label::Confirmed) {
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
                blocks.push(Block { range, number: section.line + line.number, text: "", label });
                goes_on = true;
            }
        }
        for block in &mut blocks {
            block.text = text[block.range.clone()].trim_end();
        }
        let mut entry = Entry { id: EntryId::of(section.heading, &body), section, blocks, read: None };
        entry.read = entry
            .confirmed_line()
            .map(|(_, line)| if line.colon { Confirmed::read(line.value) } else { Err(Fault::NoColon) });
        entry
    }

    fn labels(&self) -> impl Iterator<Item = (&Block<'a>, &Labelled<'a>)> {
        self.blocks.iter().filter_map(|block| block.label.as_ref().map(|label| (block, label)))
    }

    fn value(&self, of: Label) -> Option<&'a str> {
        let (block, label) = self.labels().find(|(_, label)| label.label == of)?;
        // Lines indented below the first line belong to it.
        Some(block.text[label.at..].trim()).filter(|value| !value.is_empty())
    }

    fn confirmed_line(&self) -> Option<(&Block<'a>, &Labelled<'a>)> {
        self.labels().find(|(_, label)| label.label == Label::Confirmed)
    }

    fn confirmed(&self) -> Option<&Confirmed> {
        self.read.as_ref()?.as_ref().ok().map(|(confirmed, _)| confirmed)
    }

    fn form(&self) -> Option<Form> {
        self.read.as_ref()?.as_ref().ok().map(|(_, form)| *form)
    }

    fn learning(&self) -> Learning<'a> {
        Learning {
            id: self.id,
            title: self.section.heading,
            learning: self.value(Label::Learning),
            context: self.value(Label::Context),
            implication: self.value(Label::Implication),
            confirmed: self.confirmed().cloned(),
            line: self.section.line,
            range: self.section.range.clone(),
        }
    }

    fn report(&self, problems: &mut Vec<Problem>) {
        if self.value(Label::Learning).is_none() {
            problems.push(Problem { line: self.section.line, what: Fault::NoLearning });
        }
        for (index, (block, _)) in
            self.labels().filter(|(_, label)| label.label == Label::Confirmed).enumerate()
        {
            let what = match &self.read {
                _ if index > 0 => Fault::SecondConfirmed,
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
    fn with_confirmed(
        &self,
        text: &str,
        confirmed: &Confirmed,
        form: Option<Form>,
    ) -> (Range<usize>, String) {
        let line = self.confirmed_line();
        if let (Some((block, line)), Some(form)) = (line, self.form()) {
            let at = block.range.start + line.at;
            return (at..at + line.value.len(), confirmed.written(form));
        }
        let newline = Newline::of(text).as_str();
        let bold = self.labels().next().is_none_or(|(_, label)| label.bold);
        let mark = if bold { "**" } else { "" };
        let new = format!("- {mark}Confirmed{mark}: {}", confirmed.written(form.unwrap_or(Form::Times)));
        if let Some((block, _)) = line {
            return (block.range.start..block.range.start, format!("{new}{newline}"));
        }
        let labelled = self.labels().last().map(|(block, _)| block);
        let open = closing(self.section.body).is_some();
        let heading = self.section.range.start..self.section.range.end - self.section.body.len();
        let after = match labelled.or(self.blocks.last().filter(|_| !open)) {
            Some(block) if closing(block.text).is_none() => block.range.clone(),
            _ => heading,
        };
        let end = after.start + written_end(&text[after]);
        (end..end, format!("{newline}{new}"))
    }

    /// Blocks that `other` does not have.
    fn only_there(&self, other: &Entry<'_>) -> Vec<String> {
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
                let closing = closing(text).map(|closing| format!("\n{closing}")).unwrap_or_default();
                only.push(format!("{text}{closing}"));
            }
        }
        only
    }
}

/// The end of the text without trailing blanks. A heading without words keeps the blank that makes it a
/// heading.
fn written_end(text: &str) -> usize {
    let heading = text.lines().next().map_or(0, str::len);
    text.trim_end().len().max(heading)
}

/// Ignores line ends.
fn same_lines(a: &str, b: &str) -> bool {
    a.lines().map(str::trim_end).eq(b.lines().map(str::trim_end))
}

fn is_bullet(line: &str) -> bool {
    let mut chars = line.chars();
    matches!(chars.next(), Some('-' | '*' | '+')) && matches!(chars.next(), Some(' ' | '\t' | '\u{3000}'))
}

/// Also without the stars, with the colon inside of them or of full width.
fn labelled(line: &str) -> Option<Labelled<'_>> {
    let line = line.trim_end();
    if !is_bullet(line) {
        return None;
    }
    let text = line[1..].trim_start();
    let mark = ["**", "__"].into_iter().find(|mark| text.starts_with(mark)).unwrap_or_default();
    let text = &text[mark.len()..];
    let end = text.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(text.len());
    let label = match text[..end].to_ascii_lowercase().as_str() {
        "learning" => Label::Learning,
        "context" => Label::Context,
        "implication" => Label::Implication,
        "confirmed" => Label::Confirmed,
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
    (has_colon || bold).then_some(Labelled { label, value, at, bold, colon: has_colon })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FILE: &str = "# 学び\n\n## Locks\n- **Learning**: one lock per file\n  and per process\n- **Context**: state\n\
                        - **Implication**: no deadlock\n- **Confirmed**: 4回 | 2026-02-18 | implement, design\n\n\
                        ## Clocks\n- **Learning**: clocks go backwards\n\n```\n## no entry\n- **Confirmed**: 9回 | 2026-02-18 | x\n```\n";

    fn ids(text: &str) -> Vec<EntryId> {
        Stock::parse(text).entries.iter().map(|entry| entry.id).collect()
    }

    #[test]
    fn what_an_entry_says() {
        let stock = Stock::parse(FILE);
        assert_eq!(stock.problems, []);
        let [locks, clocks] = &stock.entries[..] else { panic!("{stock:?}") };
        assert_eq!((locks.title, locks.line, locks.count()), ("Locks", 3, 4));
        assert_eq!(locks.learning, Some("one lock per file\n  and per process"));
        assert_eq!((locks.context, locks.implication), (Some("state"), Some("no deadlock")));
        assert_eq!(locks.confirmed.as_ref().unwrap().phases, ["implement", "design"]);
        assert_eq!((clocks.title, clocks.line, clocks.context), ("Clocks", 10, None));
        assert!(clocks.is_unverified());
        let confidence = Confidence::of(&stock.entries);
        assert_eq!(confidence, Confidence { total: 2, average: 2.0, unverified: 1 });
        assert_eq!(Confidence::of([]), Confidence::default());
    }

    #[test]
    fn what_is_no_learning() {
        let stock = Stock::parse("## a\nwords\n\n## b\n- **Learning**:\n- **Confirmed**: many\n");
        let problems: Vec<_> = stock.problems.iter().map(|problem| (problem.line, problem.what)).collect();
        assert_eq!(problems, [(1, Fault::NoLearning), (4, Fault::NoLearning), (6, Fault::NoCount)]);
    }

    #[test]
    fn an_average_has_one_decimal() {
        let line = |count| format!("## {count}\n- **Confirmed**: {count}回 | 2026-02-18 | x\n");
        let text = [line(1), line(2), line(2)].concat();
        let confidence = Confidence::of(&Stock::parse(&text).entries);
        assert!((confidence.average - 1.7).abs() < 1e-9, "{confidence:?}");
    }

    const NEW: NewLearning<'_> = NewLearning {
        title: "Pipes\n## x",
        learning: "pipes  block",
        context: "",
        implication: "poll first",
        date: "2026-11-16",
        phase: Some("debug"),
        form: Form::Times,
    };

    #[test]
    fn a_new_entry() {
        let entry =
            "## Pipes ## x\n- **Learning**: pipes block\n- **Implication**: poll first\n- **Confirmed**: ";
        assert_eq!(appended("", &NEW), format!("# Learnings\n\n{entry}1 time | 2026-11-16 | debug\n"));
        assert_eq!(appended(FILE, &NEW), format!("{FILE}\n{entry}1回 | 2026-11-16 | debug\n"));
        assert_eq!(
            appended("# Mine\r\n\r\n## a\r\n~~~", &NEW),
            format!("# Mine\n\n## a\n~~~\n~~~\n\n{entry}1 time | 2026-11-16 | debug\n").replace('\n', "\r\n")
        );
    }

    #[test]
    fn confirming() {
        let [locks, clocks] = ids(FILE)[..] else { panic!() };
        let once = confirmed(FILE, locks, "2026-11-16", Some("Design")).unwrap();
        assert_eq!(once, FILE.replace("4回 | 2026-02-18", "5回 | 2026-11-16"));
        let twice = confirmed(&once, locks, "2026-11-17", Some("debug")).unwrap();
        assert_eq!(
            twice,
            FILE.replace(
                "4回 | 2026-02-18 | implement, design",
                "6回 | 2026-11-17 | implement, design, debug"
            )
        );
        let first = confirmed(FILE, clocks, "2026-11-16", None).unwrap();
        let line = "- **Learning**: clocks go backwards\n";
        assert_eq!(first, FILE.replace(line, &format!("{line}- **Confirmed**: 1回 | 2026-11-16\n")));
        assert_eq!(confirmed(FILE, EntryId::of("none", ""), "2026-11-16", None), None);
    }

    #[test]
    fn confirming_what_could_not_be_read() {
        let text = "## a\n- Learning: x\n- Confirmed: often\n";
        let now = confirmed(text, ids(text)[0], "2026-11-16", None).unwrap();
        assert_eq!(now, "## a\n- Learning: x\n- Confirmed: 1 time | 2026-11-16\n- Confirmed: often\n");
        let text = "## a\n- **Confirmed**: 0 times | 2026-02-18 | x\n";
        let now = confirmed(text, ids(text)[0], "2026-11-16", None).unwrap();
        assert_eq!(now, "## a\n- **Confirmed**: 1 time | 2026-11-16 | x\n");
        for (text, now) in [
            ("## a", "## a\n- **Confirmed**: 1 time | 2026-11-16"),
            ("## a\n```\nx", "## a\n- **Confirmed**: 1 time | 2026-11-16\n```\nx"),
            ("## a\nwords\n\n## b\n", "## a\nwords\n- **Confirmed**: 1 time | 2026-11-16\n\n## b\n"),
        ] {
            assert_eq!(confirmed(text, ids(text)[0], "2026-11-16", None).unwrap(), now);
        }
    }

    #[test]
    fn merging() {
        let text = "## a\n- **Learning**: x\n- **Confirmed**: 2 times | 2026-02-18 | design\n\n## b\n- **Learning**: y\n\n\
                    ## c\n- **Learning**: z\n- **Context**: here\n- **Confirmed**: 3 times | 2026-03-18 | Design, debug\n\nwords";
        let [a, b, c] = ids(text)[..] else { panic!() };
        assert_eq!(
            merged(text, a, c).unwrap(),
            "## a\n- **Learning**: x\n- **Confirmed**: 5 times | 2026-03-18 | design, debug\n- **Also**: c\n\
             - **Learning**: z\n- **Context**: here\n\nwords\n\n## b\n- **Learning**: y\n\n"
        );
        assert_eq!(
            merged(text, b, a).unwrap(),
            "## b\n- **Learning**: y\n- **Confirmed**: 2 times | 2026-02-18 | design\n- **Also**: a\n- **Learning**: x\n\n\
             ## c\n- **Learning**: z\n- **Context**: here\n- **Confirmed**: 3 times | 2026-03-18 | Design, debug\n\nwords"
        );
        assert_eq!(merged(text, a, a), None);
        assert_eq!(merged(text, a, EntryId::of("none", "")), None);
    }

    #[test]
    fn two_of_the_same() {
        let one = "## a\n- **Learning**: x\n- **Confirmed**: 2回 | 2026-02-18 | design\n";
        let text = format!("{one}{one}");
        let id = ids(&text)[0];
        assert_eq!(merged(&text, id, id).unwrap(), one.replace("2回", "4回"));
    }

    /// Entries as people write them, in any order and partly broken.
    fn file() -> impl Strategy<Value = String> {
        let line = prop_oneof![
            4 => "- \\*\\*(Learning|Context|Implication)\\*\\*: [a-z学び ]{0,6}\n",
            2 => "- \\*\\*Confirmed\\*\\*: [0-4](回| times) \\| 2026-0[1-9]-1[0-9]( \\| [a-c](, [a-c])?)?\n",
            1 => "- \\*\\*Confirmed\\*\\*[: ][0-4回| ]{0,6}\n",
            1 => Just("```\n".to_owned()),
            1 => Just("\n".to_owned()),
            1 => "( {2})?[a-z設計 -]{1,6}\n",
        ];
        let entry = ("[a-c設 ]{0,3}", proptest::collection::vec(line, 0..7))
            .prop_map(|(title, lines)| format!("## {title}\n{}", lines.concat()));
        let preamble = prop_oneof![Just(""), Just("\u{feff}"), Just("# 学び\n\n"), Just("words\n")];
        (preamble, proptest::collection::vec(entry, 1..6), any::<bool>(), any::<bool>()).prop_map(
            |(preamble, entries, windows, cut)| {
                let mut text = format!("{preamble}{}", entries.concat());
                if cut {
                    text.pop();
                }
                if windows { text.replace('\n', "\r\n") } else { text }
            },
        )
    }

    /// The texts of all entries except those at these indices.
    fn others<'a>(text: &'a str, but: &[usize]) -> Vec<&'a str> {
        let entries = Stock::parse(text).entries;
        let ranges = entries.into_iter().enumerate().filter(|(index, _)| !but.contains(index));
        ranges.map(|(_, entry)| &text[entry.range]).collect()
    }

    fn counts(text: &str) -> Vec<u32> {
        Stock::parse(text).entries.iter().map(Learning::count).collect()
    }

    proptest! {
        #[test]
        fn appending_changes_nothing_else(text in file()) {
            let now = appended(&text, &NEW);
            prop_assert!(now.starts_with(&text));
            let stock = Stock::parse(&now);
            prop_assert_eq!(stock.entries.len(), Stock::parse(&text).entries.len() + 1);
            let new = stock.entries.last().unwrap();
            prop_assert_eq!((new.learning, new.count()), (Some("pipes block"), 1));
            prop_assert_eq!(Newline::of(&now), Newline::of(&text));
        }

        #[test]
        fn confirming_raises_one_count(text in file(), which in any::<prop::sample::Index>()) {
            let before = Stock::parse(&text);
            let id = before.entries[which.index(before.entries.len())].id;
            let at = before.entries.iter().position(|entry| entry.id == id).unwrap();
            let now = confirmed(&text, id, "2026-11-16", Some("debug")).unwrap();
            let mut expected = counts(&text);
            expected[at] += 1;
            prop_assert_eq!(counts(&now), expected);
            prop_assert_eq!(ids(&now), ids(&text));
            prop_assert_eq!(others(&now, &[at]), others(&text, &[at]));
            let after = Stock::parse(&now).entries[at].confirmed.clone().unwrap();
            prop_assert_eq!(&after.date, "2026-11-16");
            prop_assert!(after.phases.contains(&"debug".to_owned()));
            // Every line is there, except the `Confirmed` line.
            let entry = &text[before.entries[at].range.clone()];
            let lines = entry.lines().filter(|line| labelled(line).is_none_or(|found| found.label != Label::Confirmed));
            for line in lines {
                prop_assert!(now.contains(line.trim_end()), "{line:?}");
            }
            let preamble = before.entries[0].range.start;
            prop_assert_eq!(&now[..preamble], &text[..preamble]);
        }

        #[test]
        fn merging_loses_nothing(text in file(), keep in any::<prop::sample::Index>(), away in any::<prop::sample::Index>()) {
            let before = Stock::parse(&text).entries;
            let (keep, away) = (before[keep.index(before.len())].id, before[away.index(before.len())].id);
            let kept = before.iter().position(|entry| entry.id == keep).unwrap();
            let gone = before.iter().enumerate().position(|(at, entry)| at != kept && entry.id == away);
            let Some(gone) = gone else {
                prop_assert_eq!(merged(&text, keep, away), None);
                return Ok(());
            };
            let now = merged(&text, keep, away).unwrap();
            let after = Stock::parse(&now).entries;
            prop_assert_eq!(after.len(), before.len() - 1);
            let place = kept - usize::from(gone < kept);
            prop_assert_eq!(others(&now, &[place]), others(&text, &[kept, gone]));
            let (a, b, both) = (&before[kept], &before[gone], &after[place]);
            prop_assert_eq!(both.count(), a.count() + b.count());
            prop_assert_eq!(both.title, a.title);
            let all = |of: fn(&Confirmed) -> Vec<String>| -> Vec<String> {
                let mut all: Vec<String> = [a, b].iter().filter_map(|entry| entry.confirmed.as_ref()).flat_map(of).collect();
                all.sort();
                all.dedup();
                all
            };
            if let Some(confirmed) = &both.confirmed {
                let mut phases = confirmed.phases.clone();
                phases.sort();
                prop_assert_eq!(phases, all(|confirmed| confirmed.phases.clone()));
                let dates = all(|confirmed| vec![confirmed.date.clone()]);
                prop_assert_eq!(Some(&confirmed.date), dates.last());
            }
            let section = &now[both.range.clone()];
            for entry in [a, b] {
                for line in text[entry.range.clone()].lines() {
                    let read = labelled(line).filter(|found| found.label == Label::Confirmed);
                    let words = line.strip_prefix("## ").unwrap_or(line).trim();
                    if read.is_none_or(|read| Confirmed::read(read.value).is_err()) {
                        prop_assert!(section.contains(words), "{words:?} is not in {section:?}");
                    }
                }
            }
        }

        #[test]
        fn any_text_is_survived(text in "[#*: 0-9a-zA-Z回|`~\\-\n設]{0,80}") {
            let stock = Stock::parse(&text);
            for entry in &stock.entries {
                let _ = confirmed(&text, entry.id, "2026-11-16", None);
                let _ = merged(&text, stock.entries[0].id, entry.id);
            }
            let _ = appended(&text, &NEW);
        }
    }
}
