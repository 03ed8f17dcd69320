//! The journal's last days, read from their ends.

use std::path::PathBuf;

use tidegate_core::pipeline::record::Record;
use tidegate_core::time::Millis;
use tidegate_state::journal;
use tidegate_state::place::StateDir;

/// Days of journal that are read.
pub(crate) const DAYS: u64 = 7;

/// Bytes per day: several thousand hook runs.
const OF_A_DAY: u64 = 4 * 1024 * 1024;

/// Hook runs that are enough to judge their speed; older days are read until there are enough.
pub(crate) const ENOUGH: usize = 100;

/// Limit for files, whatever they are called.
const FILES: usize = 40;

#[derive(Debug, Default)]
pub(crate) struct History {
    /// Oldest first.
    pub(crate) records: Vec<Record>,
    /// Unreadable lines.
    pub(crate) skipped: usize,
    /// Unreadable files, with the reason.
    pub(crate) problems: Vec<(PathBuf, String)>,
}

pub(crate) fn read_history(state: &StateDir, now: Millis) -> History {
    let mut history = History::default();
    let files = match journal::list_files(&state.journal()) {
        Ok(files) => files,
        Err(error) => {
            history.problems.push((state.journal(), error.to_string()));
            return history;
        }
    };
    let oldest = Millis(now.0.saturating_sub(DAYS * 86_400_000)).day();
    for path in files.iter().rev().take(FILES) {
        let day = path.file_stem().map(|stem| stem.to_string_lossy()).unwrap_or_default();
        if *day < *oldest && history.records.len() >= ENOUGH {
            break;
        }
        match journal::read_end(path, OF_A_DAY) {
            Ok(entries) => {
                history.skipped += entries.skipped;
                history.records.splice(0..0, entries.records);
            }
            Err(error) => history.problems.push((path.clone(), error.to_string())),
        }
    }
    history
}

pub(crate) fn record_time(record: &Record) -> Millis {
    Millis::from_iso(&record.at).unwrap_or_default()
}
