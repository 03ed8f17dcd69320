//! The persistence files of a project, by names and numbers.

use std::fmt::Write as _;

use crate::feature::knowledge::stock::Confidence;
use crate::feature::knowledge::{flow, plan};
use crate::text::lang::Lang;
use crate::time::{Millis, describe_age};

/// Files in `.claude/context`, in the order of the listing.
pub const TRACKED: [&str; 7] = [
    plan::FILE,
    flow::FILE,
    "learnings-feature-spec.md",
    "learnings-design.md",
    "learnings-coding.md",
    "learnings.md",
    flow::ARCHIVE,
];

/// Public copies there, for other tools. They hold nothing that a model should read.
pub const COPIES: [&str; 3] = ["compound-last-run.json", "context-pressure.json", "last-compact.json"];

pub fn is_flow(name: &str) -> bool {
    matches!(name, flow::FILE | flow::ARCHIVE)
}

pub fn is_stock(name: &str) -> bool {
    name.starts_with("learnings")
}

/// Numbers about a file that do not reveal its content.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FileNumbers {
    Flow { entries: usize },
    Stock(Confidence),
    Other,
}

/// A persistence file that exists.
#[derive(Clone, Debug, PartialEq)]
pub struct TrackedFile {
    /// One of [`TRACKED`].
    pub name: &'static str,
    pub what: FileNumbers,
    pub modified: Millis,
}

/// The files with their numbers and ages, never their content.
pub fn list_files(first_line: &str, files: &[TrackedFile], now: Millis) -> String {
    let mut text = first_line.to_owned();
    for name in TRACKED {
        for file in files.iter().filter(|file| file.name == name) {
            let _ = write!(
                text,
                "\n- {name} ({}changed {})",
                numbers_text(&file.what),
                describe_age(Lang::En, now.since(file.modified))
            );
        }
    }
    text
}

fn numbers_text(what: &FileNumbers) -> String {
    match what {
        FileNumbers::Flow { entries } => format!("{}, ", count_of(*entries, "note")),
        FileNumbers::Stock(Confidence { total: 0, .. }) => "no learnings, ".to_owned(),
        FileNumbers::Stock(Confidence { total, average, unverified }) => {
            format!(
                "{}, confirmed {average:.1} times on average, {unverified} never confirmed, ",
                count_of(*total, "learning")
            )
        }
        FileNumbers::Other => String::new(),
    }
}

fn count_of(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_numbers_and_ages() {
        let minute = 60_000;
        let now = Millis(100 * 1440 * minute);
        let file = |name, what, minutes| TrackedFile { name, what, modified: now.before(minutes * minute) };
        let files = [
            file(flow::ARCHIVE, FileNumbers::Flow { entries: 1 }, 1),
            file("learnings.md", FileNumbers::Stock(Confidence::default()), 3 * 1440),
            file(
                "learnings-coding.md",
                FileNumbers::Stock(Confidence { total: 7, average: 2.0, unverified: 2 }),
                47 * 60,
            ),
            file("progress.md", FileNumbers::Flow { entries: 12 }, 59),
            file("task_plan.md", FileNumbers::Other, 0),
        ];
        assert_eq!(
            list_files("First:", &files, now),
            "First:\n- task_plan.md (changed just now)\n\
             - progress.md (12 notes, changed 59 minutes ago)\n\
             - learnings-coding.md (7 learnings, confirmed 2.0 times on average, 2 never confirmed, changed 1 day ago)\n\
             - learnings.md (no learnings, changed 3 days ago)\n- progress.archive.md (1 note, changed 1 minute ago)"
        );
    }
}
