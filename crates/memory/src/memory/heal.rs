//! Repairs a damaged store: sets it aside and rebuilds it from the newest sound backup and from what can
//! still be read.

use std::fs;
use std::path::PathBuf;

use serde::Serialize;
use tidegate_core::pipeline::record::Record as JournalRecord;
use tidegate_core::time::Millis;
use tidegate_state::file::lock::LockMode;
use tidegate_state::file::replace;
use tidegate_state::journal;
use tidegate_state::place::{self, StateDir};

use super::MemoryHome;
use crate::error::{Error, ErrorKind, Result};
use crate::sqlite::{SqliteStore, is_sound, salvage};

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Healed {
    pub why: String,
    /// The folder that holds the damaged file.
    pub aside: PathBuf,
    /// The backup it was rebuilt from.
    pub copy: Option<PathBuf>,
    /// Rows in the damaged file that the backup did not have.
    pub saved: u64,
}

impl Healed {
    pub fn line(&self) -> String {
        let from = match &self.copy {
            Some(copy) => format!("rebuilt from {}", copy.display()),
            None => "begun anew, since there is no copy of it".to_owned(),
        };
        format!(
            "the memory was damaged ({}); it was {from} and {} rows of the damaged file, which is kept in {}",
            self.why,
            self.saved,
            self.aside.display()
        )
    }
}

/// A new file is empty too, but then there are no backups.
pub(super) fn was_emptied(home: &MemoryHome) -> bool {
    fs::metadata(home.file()).is_ok_and(|found| found.len() == 0) && !home.copies().is_empty()
}

/// Rebuilds the store under an exclusive lock. Returns `None` if another process repaired it first; `surely`
/// skips that check.
pub(super) fn repair_store(
    home: &MemoryHome,
    state: &StateDir,
    now: Millis,
    error: &Error,
    surely: bool,
) -> Result<(SqliteStore, Option<Healed>)> {
    let _lock = home.lock(LockMode::Exclusive)?;
    if !surely
        && !was_emptied(home)
        && is_sound(&home.file())
        && let Ok(opened) = SqliteStore::open(&home.file())
    {
        return Ok((opened.store, None));
    }
    let aside = move_aside(home, now)?;
    let copy = home.copies().into_iter().find(|copy| is_sound(copy));
    if let Some(copy) = &copy {
        let half = home.file().with_extension("half");
        fs::copy(copy, &half)
            .and_then(|_| fs::rename(&half, home.file()))
            .map_err(|error| home.io_error(&error))?;
    }
    let mut store = SqliteStore::open(&home.file())?.store;
    // A backup made after a forget holds the mark, but no forgotten text.
    if let Some(left) = store.pending_purge()? {
        store.purged_all(&left)?;
    }
    let saved = salvage(&aside.join("memory.db"), &mut store);
    let healed = Healed { why: error.what.clone(), aside, copy, saved };
    record_repair(state, now, &healed);
    Ok((store, Some(healed)))
}

/// Moves the file and its write-ahead log into a folder of their own.
fn move_aside(home: &MemoryHome, now: Millis) -> Result<PathBuf> {
    let stamp = now.iso().replace(':', "-");
    let free = |number: u32| {
        let name = if number == 0 { stamp.clone() } else { format!("{stamp}-{number}") };
        home.damaged().join(name)
    };
    let aside = (0..1000)
        .map(free)
        .find(|folder| !folder.exists())
        .ok_or_else(|| Error::new(ErrorKind::Io, "too many damaged files are kept"))?;
    place::make_private(&aside).map_err(|error| home.io_error(&error))?;
    for name in ["memory.db", "memory.db-wal", "memory.db-shm"] {
        let file = home.folder().join(name);
        if file.exists() {
            fs::rename(&file, aside.join(name)).map_err(|error| home.io_error(&error))?;
        }
    }
    Ok(aside)
}

/// For the user and `doctor`.
fn record_repair(state: &StateDir, now: Millis, healed: &Healed) {
    if let Ok(text) = serde_json::to_vec_pretty(healed) {
        let _ = replace::copy(&healed.aside.join("what-happened.json"), &text);
    }
    let mut record = JournalRecord {
        id: JournalRecord::new_id(now, std::process::id()),
        cause: Some(healed.line()),
        ruling: "memory".to_owned(),
        ..JournalRecord::begin("tidegate memory", now)
    };
    let _ = journal::append(&state.journal(), now, &mut record);
}

impl MemoryHome {
    /// Newest first.
    pub fn damaged_files(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.damaged()).into_iter().flatten().flatten();
        let mut folders: Vec<PathBuf> =
            entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
        folders.sort_unstable_by(|one, other| other.cmp(one));
        folders
    }
}
