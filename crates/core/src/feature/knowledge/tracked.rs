//! The persistence files of a project, by names and numbers.

use std::fmt::Write as _;
use std::path::Path;

use crate::feature::CONTEXT_FOLDER;
use crate::feature::knowledge::stock::Confidence;
use crate::feature::knowledge::{flow, plan};
use crate::time::Millis;

/// Files in `.claude/context`, in the order of the listing.
pub const TRACKED: [&str; 10] = [
    plan::FILE,
    flow::FILE,
    "learnings-feature-spec.md",
    "learnings-design.md",
    "learnings-coding.md",
    "learnings.md",
    "compound-last-run.json",
    "context-pressure.json",
    "last-compact.json",
    flow::ARCHIVE,
];

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

impl TrackedFile {
    /// A public copy for other tools.
    pub fn is_copy(&self) -> bool {
        Path::new(self.name).extension().is_some_and(|ending| ending == "json")
    }
}

/// The files with their numbers and ages, never their content; empty without files.
pub fn list_files(files: &[TrackedFile], now: Millis) -> String {
    if files.is_empty() {
        return String::new();
    }
    let mut text = format!("Persistence files in {CONTEXT_FOLDER}:");
    for name in TRACKED {
        for file in files.iter().filter(|file| file.name == name) {
            let _ = write!(
                text,
                "\n- {name} ({}changed {})",
                numbers_text(&file.what),
                age_text(now.since(file.modified))
            );
        }
    }
    text
}

fn numbers_text(what: &FileNumbers) -> String {
    match what {
        FileNumbers::Flow { entries } => format!("{}, ", count_entries(*entries)),
        FileNumbers::Stock(Confidence { total: 0, .. }) => format!("{}, ", count_entries(0)),
        FileNumbers::Stock(Confidence { total, average, unverified }) => {
            format!(
                "{}, confirmed {average:.1} times on average, {unverified} unverified, ",
                count_entries(*total)
            )
        }
        FileNumbers::Other => String::new(),
    }
}

fn count_entries(entries: usize) -> String {
    if entries == 1 { "1 entry".into() } else { format!("{entries} entries") }
}

pub fn age_text(ms: u64) -> String {
    let minutes = ms / 60_000;
    match minutes {
        0 => "just now".into(),
        1..60 => format!("{minutes} min ago"),
        60..2880 => format!("{} h ago", minutes / 60),
        _ => format!("{} days ago", minutes / 1440),
    }
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
            list_files(&files, now),
            "Persistence files in .claude/context:\n- task_plan.md (changed just now)\n\
             - progress.md (12 entries, changed 59 min ago)\n\
             - learnings-coding.md (7 entries, confirmed 2.0 times on average, 2 unverified, changed 47 h ago)\n\
             - learnings.md (0 entries, changed 3 days ago)\n- progress.archive.md (1 entry, changed 1 min ago)"
        );
        assert_eq!(list_files(&[], now), "");
    }
}
