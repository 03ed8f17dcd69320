//! Backups of the store: one per day, of which the last few are kept.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tidegate_core::time::Millis;
use tidegate_state::place;

use super::{Memory, MemoryHome};
use crate::error::{Error, ErrorKind, Result};
use crate::record::Withdrawn;
use crate::sqlite::{SqliteStore, is_sound, lock_copies};

/// Of a large store, only the newest one is kept.
const KEPT: usize = 3;
const LARGE: u64 = 256 * 1024 * 1024;

/// Clocks of file servers differ.
const AHEAD: Duration = Duration::from_mins(10);

/// File name prefixes of backups, finished or not.
const OURS: [&str; 3] = ["new.", "memory-", "before-version-"];

impl MemoryHome {
    /// Newest first. One from the future was made while the clock was wrong: it comes last, or it would be the newest until then.
    pub fn copies(&self) -> Vec<PathBuf> {
        // The files' times are of the same clock.
        let latest = SystemTime::now() + AHEAD;
        let entries = fs::read_dir(self.backups()).into_iter().flatten().flatten();
        let mut copies: Vec<(Option<SystemTime>, PathBuf)> = entries
            .filter(|entry| entry.path().extension().is_some_and(|extension| extension == "db"))
            .map(|entry| {
                let made = entry.metadata().and_then(|found| found.modified()).ok();
                (made.filter(|made| *made <= latest), entry.path())
            })
            .collect();
        copies.sort_by(|one, other| other.cmp(one));
        copies.into_iter().map(|(_, path)| path).collect()
    }

    /// Deletes backups that a killed process left unfinished. Requires the lock on copies.
    fn clear_half_made(&self) -> Result<()> {
        for entry in fs::read_dir(self.backups()).map_err(|error| self.io_error(&error))?.flatten() {
            let name = entry.file_name();
            let is_ours = OURS.iter().any(|begins| name.to_string_lossy().starts_with(begins));
            let is_copy = Path::new(&name).extension().is_some_and(|extension| extension == "db");
            if is_ours && !is_copy && entry.file_type().is_ok_and(|kind| kind.is_file()) {
                fs::remove_file(entry.path())
                    .or_else(ignore_missing)
                    .map_err(|error| self.io_error(&error))?;
            }
        }
        Ok(())
    }
}

impl Memory {
    /// Creates today's backup unless it exists; returns the new file.
    pub fn backup_if_due(&mut self) -> Result<Option<PathBuf>> {
        let of_today = self.home.backups().join(format!("memory-{}.db", self.now.day()));
        if of_today.exists() { Ok(None) } else { self.backup().map(Some) }
    }

    /// Creates or replaces today's backup. It is checked before it replaces anything.
    pub fn backup(&mut self) -> Result<PathBuf> {
        let folder = self.home.backups();
        place::make_private(&folder).map_err(|error| self.home.io_error(&error))?;
        let _alone = lock_copies(&self.home.file())?;
        self.home.clear_half_made()?;
        let new = folder.join("new.tmp");
        let copy = folder.join(format!("memory-{}.db", self.now.day()));
        self.with_store(|store| store.backup(&new))?;
        if !is_sound(&new) {
            let _ = fs::remove_file(&new);
            return Err(Error::new(ErrorKind::Damaged, "a copy of the memory is not sound")
                .hint("`tidegate memory check` says what is wrong"));
        }
        fs::rename(&new, &copy).map_err(|error| self.home.io_error(&error))?;
        let large = fs::metadata(&copy).is_ok_and(|found| found.len() > LARGE);
        for old in self.home.copies().into_iter().skip(if large { 1 } else { KEPT }) {
            let _ = fs::remove_file(old);
        }
        Ok(copy)
    }

    /// Deletes rows that their author deleted, here and in each backup. Backups and damaged files stay: a server could name a
    /// row whenever it likes, and so take them away.
    pub(crate) fn delete_withdrawn(&mut self, rows: &[Withdrawn]) -> Result<()> {
        if !self.with_store(|store| store.delete_withdrawn(rows))? {
            return Ok(());
        }
        let _alone = lock_copies(&self.home.file())?;
        for copy in self.home.copies() {
            let changed = fs::metadata(&copy).and_then(|found| found.modified());
            // One that cannot be changed cannot be restored either.
            if let Ok(Some(mut store)) = SqliteStore::open_copy(&copy)
                && store.delete_withdrawn(rows).is_ok_and(|gone| gone)
                && let Ok(changed) = changed
            {
                drop(store);
                // Their order is that of these times.
                let _ =
                    fs::File::options().write(true).open(&copy).and_then(|file| file.set_modified(changed));
            }
        }
        self.publish_all()
    }

    pub fn backup_to_file(&mut self, to: &Path) -> Result<()> {
        self.with_store(|store| store.backup(to))
    }

    /// Replaces all backups with a new one, from which forgotten text is absent.
    pub(super) fn replace_backups(&mut self) -> Result<()> {
        let old = self.home.copies();
        if self.home.backups().exists() {
            let _alone = lock_copies(&self.home.file())?;
            self.home.clear_half_made()?;
        }
        if !old.is_empty() {
            let new = self.backup()?;
            for copy in old.into_iter().filter(|copy| *copy != new) {
                fs::remove_file(&copy).or_else(ignore_missing).map_err(|error| self.home.io_error(&error))?;
            }
        }
        fs::remove_dir_all(self.home.damaged())
            .or_else(ignore_missing)
            .map_err(|error| self.home.io_error(&error))
    }

    /// The current time as given to [`Memory::open`].
    pub fn now(&self) -> Millis {
        self.now
    }
}

fn ignore_missing(error: std::io::Error) -> std::io::Result<()> {
    if error.kind() == std::io::ErrorKind::NotFound { Ok(()) } else { Err(error) }
}
