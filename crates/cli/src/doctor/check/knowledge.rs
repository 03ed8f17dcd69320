//! Flow and stock that hooks cannot read: they skip such files silently.

use std::fs;
use std::path::Path;

use serde_json::{Map, Value};
use tidegate_core::feature::facts::Known;
use tidegate_core::feature::knowledge::flow;
use tidegate_core::feature::knowledge::flow::{Progress, ProgressEntry};
use tidegate_core::feature::knowledge::stock::{LearningFault, Stock};
use tidegate_core::feature::knowledge::tracked;
use tidegate_core::feature::knowledge::tracked::{COPIES, TRACKED};
use tidegate_core::time::Millis;
use tidegate_state::feature::knowledge::folder::{ContextFolder, LARGEST};
use tidegate_state::file::bounded;

use crate::doctor::finding::Findings;
use crate::doctor::gathered::Gathered;
use crate::print::format_count;
use crate::shell::quote_path;

/// Lines named per file.
const NAMED: usize = 3;

/// Clocks differ a little; a time without a zone may be of any zone.
const HOUR: u64 = 3_600_000;
const WIDEST_ZONE: u64 = 14 * HOUR;

pub(crate) fn check(seen: &Gathered, found: &mut Findings) {
    match &seen.project {
        Some(root) => check_files(root, seen.now, found),
        None => found.ok("no project, no files"),
    }
}

#[derive(Default)]
struct Numbers {
    entries: usize,
    archived: usize,
    learnings: usize,
    unverified: usize,
}

fn check_files(root: &Path, now: Millis, found: &mut Findings) {
    let path = root.join(".claude/context");
    let Some(folder) = ContextFolder::find(root) else {
        return without_folder(&path, found);
    };
    let mut numbers = Numbers::default();
    for name in TRACKED.into_iter().chain(COPIES) {
        let file = path.join(name);
        match folder.text(name) {
            Known::Absent => {}
            Known::Broken(why) => report_broken(&file, &why, found),
            Known::Value(text) if tracked::is_flow(name) => {
                let entries = Progress::parse(&text).entries;
                if name == flow::ARCHIVE {
                    numbers.archived = entries.len();
                    of_archive(&file, found);
                } else {
                    numbers.entries = entries.len();
                    of_flow(&file, &entries, now, found);
                }
            }
            Known::Value(text) if tracked::is_stock(name) => {
                let stock = Stock::parse(&text);
                numbers.learnings += stock.entries.len();
                numbers.unverified += stock.entries.iter().filter(|entry| entry.is_unverified()).count();
                of_stock(&file, &stock, found);
            }
            Known::Value(text) if has_extension(&file, "json") => of_copy(&file, &text, found),
            Known::Value(_) => {}
        }
        if !has_extension(&file, "json") && is_locked(&file) {
            found.note_with(
                format!("{} is read-only: what should be added to it is not", file.display()),
                format!("`chmod u+w {}`, unless that is meant", quote_path(&file)),
            );
        }
    }
    if found.is_empty() {
        found.ok(describe_numbers(&numbers));
    }
}

fn without_folder(path: &Path, found: &mut Findings) {
    let shown = path.display();
    match fs::metadata(path) {
        Ok(there) if there.is_dir() => found.warning(
            format!("{shown} leads out of the project: nothing in it is read or written"),
            "make it a folder of the project, or a link to one inside it",
        ),
        Ok(_) => found.warning(
            format!("{shown} is not a folder: no progress is kept"),
            format!("move {} away, then `mkdir -p {}`", quote_path(path), quote_path(path)),
        ),
        Err(_) if fs::symlink_metadata(path).is_ok() => found.warning(
            format!("{shown} is a link that leads nowhere: no progress is kept"),
            format!("remove {}, then `mkdir -p {}`", quote_path(path), quote_path(path)),
        ),
        Err(_) => found.ok("not used here: there is no .claude/context"),
    }
}

fn report_broken(file: &Path, why: &str, found: &mut Findings) {
    // The reason begins with the file's name.
    let why = why.split_once(": ").map_or(why, |(_, why)| why);
    let path = quote_path(file);
    let cure = match fs::metadata(file) {
        Err(_) => format!("remove {path}, or mend the link"),
        Ok(there) if !there.is_file() => format!("move {path} away: it has to be a file"),
        Ok(there) if there.len() > LARGEST => {
            format!("move what is old out of {path}: at most 1 MiB of it is read")
        }
        Ok(_) => match bounded::read(file, LARGEST).map(String::from_utf8) {
            Ok(Err(error)) => {
                let line =
                    error.as_bytes()[..error.utf8_error().valid_up_to()].split(|byte| *byte == b'\n').count();
                format!("save {path} as UTF-8; line {line} is the first that is not")
            }
            Ok(Ok(_)) => format!("put the file itself in the place of {path}"),
            Err(_) => format!("`chmod u+rw {path}`, or have its owner let you read it"),
        },
    };
    found.warning(format!("{} is passed over: {why}", file.display()), cure);
}

fn of_archive(file: &Path, found: &mut Findings) {
    if fs::metadata(file).is_ok_and(|there| there.len() > LARGEST) {
        found.note_with(
            format!("of {} only the last 1 MiB is read", file.display()),
            "move its older entries elsewhere, if they are not to be promoted any more",
        );
    }
}

/// An entry from the future counts as the newest until it is removed.
fn of_flow(file: &Path, entries: &[ProgressEntry<'_>], now: Millis, found: &mut Findings) {
    let is_ahead = |entry: &&ProgressEntry<'_>| {
        let slack = if entry.zoned { HOUR } else { WIDEST_ZONE + HOUR };
        entry.at.is_some_and(|at| at.since(now) > slack)
    };
    let ahead: Vec<usize> = entries.iter().filter(is_ahead).map(|entry| entry.line).collect();
    if let Some(first) = ahead.first() {
        let others = if ahead.len() > 1 { format!(", and {} more", ahead.len() - 1) } else { String::new() };
        found.warning(
            format!("{}:{first}: an entry with a time in the future{others}", file.display()),
            "mend the time in its heading: until then it counts as the newest, and is kept before newer ones",
        );
    }
}

fn of_stock(file: &Path, stock: &Stock<'_>, found: &mut Findings) {
    // Free text is fine; a broken count is a mistake.
    let lines = || stock.problems.iter().filter(|problem| problem.what != LearningFault::NoLearning);
    for problem in lines().take(NAMED) {
        found.warning(
            format!("{}:{}: {}", file.display(), problem.line, problem.what),
            "write the line as `- **Confirmed**: 2 times | 2026-02-18 | implement`; a count that cannot be read is none",
        );
    }
    let more = lines().count().saturating_sub(NAMED);
    if more > 0 {
        found.note_with(
            format!("{}: {} like these", file.display(), format_count(more, "more line")),
            "`tidegate learnings check` names them all",
        );
    }
}

/// Copies for other tools: nothing depends on them.
fn of_copy(file: &Path, text: &str, found: &mut Findings) {
    let members: Result<Map<String, Value>, _> = serde_json::from_str(text.trim_start_matches('\u{feff}'));
    let why = match members {
        Err(error) if error.is_eof() => "is only half there".to_owned(),
        Err(error) => format!("cannot be read: {error}"),
        Ok(members) if members.get("timestamp").is_none_or(|at| !at.is_string() && !at.is_number()) => {
            "is not in our form: it has no `timestamp`".to_owned()
        }
        Ok(_) => return,
    };
    found.note_with(
        format!("{} {why}", file.display()),
        format!(
            "remove {}, unless another tool keeps it: it is a copy, and is written anew",
            quote_path(file)
        ),
    );
}

fn describe_numbers(numbers: &Numbers) -> String {
    let entries = match numbers.entries {
        1 => "1 progress entry".to_owned(),
        entries => format!("{entries} progress entries"),
    };
    let archived =
        if numbers.archived > 0 { format!(", {} in the archive", numbers.archived) } else { String::new() };
    let unverified =
        if numbers.unverified > 0 { format!(", {} unverified", numbers.unverified) } else { String::new() };
    format!("{entries}{archived}; {}{unverified}", format_count(numbers.learnings, "learning"))
}

fn is_locked(file: &Path) -> bool {
    fs::metadata(file).is_ok_and(|there| there.is_file() && there.permissions().readonly())
}

fn has_extension(file: &Path, extension: &str) -> bool {
    file.extension().is_some_and(|own| own == extension)
}
