//! `learnings-*.md`: learnings, and how often each was confirmed.
//!
//! Every change is a splice: the rest of the file stays byte for byte.

use std::fmt;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::feature::knowledge::entry_id::EntryId;

mod confirmations;
mod edit;
mod section;
#[cfg(test)]
mod tests;

pub use confirmations::{Confirmations, CountForm};
pub use edit::{NewLearning, append_learning, confirm_learning, merge_learnings};
use section::parse_sections;

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
    pub confirmed: Option<Confirmations>,
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

/// Something that is not in the right form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Counted from 1.
    pub line: usize,
    pub what: LearningFault,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LearningFault {
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

impl fmt::Display for LearningFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            LearningFault::NoLearning => "no `Learning` line",
            LearningFault::SecondConfirmed => "a second `Confirmed` line",
            LearningFault::NoColon => "no colon after `Confirmed`",
            LearningFault::NoCount => "no count",
            LearningFault::CountTooLarge => "the count is too large",
            LearningFault::NoUnit => "neither `回` nor `times` after the count",
            LearningFault::NoDate => "no date",
            LearningFault::NotADay => "the date is not a day written as `2026-02-18`",
            LearningFault::TooManyParts => "more than count, date and phases",
        })
    }
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
        for entry in parse_sections(text) {
            entry.report(&mut stock.problems);
            stock.entries.push(entry.learning());
        }
        stock
    }
}
