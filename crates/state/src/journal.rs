//! The journal: one file a day, one record a line.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use tidegate_core::record::{FORMAT, Record};
use tidegate_core::time::Millis;

use crate::place::StateDir;

/// Appends a record.
pub fn append(folder: &Path, now: Millis, record: &Record) -> io::Result<()> {
    let mut file = crate::append::open(&folder.join(format!("{}.jsonl", now.day())))?;
    crate::append::lines(&mut file, &record.line())
}

/// How every record begins.
const RECORD_START: &[u8] = b"{\"v\":";

/// Records of a journal, oldest first, and how many lines could not be read.
#[derive(Debug, Default)]
pub struct Entries {
    /// What could be read.
    pub records: Vec<Record>,
    /// Torn lines, and records of a newer version.
    pub skipped: usize,
}

/// The files of a journal, oldest first.
pub fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|e| e == "jsonl"))
        .collect();
    files.sort();
    Ok(files)
}

/// Reads the records of one file.
pub fn read(path: &Path) -> io::Result<Entries> {
    let mut entries = Entries::default();
    let bytes = fs::read(path)?;
    for line in bytes.split(|b| *b == b'\n').filter(|line| !line.is_empty()) {
        entries.take(line);
    }
    Ok(entries)
}

impl Entries {
    fn take(&mut self, line: &[u8]) {
        match serde_json::from_slice::<Record>(line) {
            Ok(record) if record.v <= FORMAT => self.records.push(record),
            Ok(_) => self.skipped += 1,
            Err(_) => {
                self.skipped += 1;
                // A line that was torn has the next one behind it. Inside a string the quotes are escaped, so
                // this can only be the start of a record.
                if let Some(next) = memchr::memmem::rfind(line, RECORD_START).filter(|at| *at > 0) {
                    self.take(&line[next..]);
                }
            }
        }
    }
}

/// Deletes files of days before the last `days`. Returns how many.
pub fn prune(folder: &Path, now: Millis, days: u64) -> io::Result<usize> {
    let oldest = Millis(now.0.saturating_sub(days * 86_400_000)).day();
    let mut gone = 0;
    for path in files(folder)? {
        let day = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        if day.len() == 10 && day < oldest && fs::remove_file(&path).is_ok() {
            gone += 1;
        }
    }
    Ok(gone)
}

/// Once a day, at the first session's start: old journal files and the folders of sessions that have not been
/// heard of for as long. Best effort; the next day tries again.
pub fn keep_house(state: &StateDir, now: Millis, days: u64) {
    if state.journal().join(format!("{}.jsonl", now.day())).exists() {
        return;
    }
    let _ = prune(&state.journal(), now, days);
    let limit = UNIX_EPOCH + Duration::from_millis(now.0.saturating_sub(days * 86_400_000));
    for folder in fs::read_dir(state.sessions()).into_iter().flatten().flatten().map(|entry| entry.path()) {
        let heard = fs::metadata(folder.join("marks")).and_then(|marks| marks.modified());
        if heard.is_ok_and(|heard| heard < limit) {
            let _ = fs::remove_dir_all(folder);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_line_costs_only_itself() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("2026-11-15.jsonl");
        let line = Record { id: "a".into(), v: 1, ..Record::default() }.line();
        let newer = line.replace("\"v\":1", "\"v\":99");
        fs::write(&path, format!("{line}{}{line}{newer}not json\n{line}", &line[..20])).unwrap();
        let entries = read(&path).unwrap();
        assert_eq!((entries.records.len(), entries.skipped), (3, 3));
    }

    #[test]
    fn old_days_go() {
        let folder = tempfile::tempdir().unwrap();
        let now = Millis::from_iso("2026-11-15T12:00:00Z").unwrap();
        for day in ["2026-10-15", "2026-10-16", "2026-11-15", "notes"] {
            fs::write(folder.path().join(format!("{day}.jsonl")), b"").unwrap();
        }
        assert_eq!(prune(folder.path(), now, 30).unwrap(), 1);
        assert_eq!(files(folder.path()).unwrap().len(), 3);
    }
}
