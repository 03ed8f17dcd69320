//! Copies of the store: one a day, the last few kept.

use std::fs;
use std::path::{Path, PathBuf};

use tidegate_core::time::Millis;
use tidegate_state::place;

use super::{Home, Memory};
use crate::error::{Error, ErrorKind, Result};
use crate::sqlite::{is_sound, lock_copies};

/// How many are kept; of a large store only the last.
const KEPT: usize = 3;
const LARGE: u64 = 256 * 1024 * 1024;

/// How the names of our files begin, half made ones included.
const OURS: [&str; 3] = ["new.", "memory-", "before-version-"];

impl Home {
    /// The copies that are there, newest first.
    pub fn copies(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.backups()).into_iter().flatten().flatten();
        let mut copies: Vec<(Option<std::time::SystemTime>, PathBuf)> = entries
            .filter(|entry| entry.path().extension().is_some_and(|extension| extension == "db"))
            .map(|entry| (entry.metadata().and_then(|found| found.modified()).ok(), entry.path()))
            .collect();
        copies.sort_by(|one, other| other.cmp(one));
        copies.into_iter().map(|(_, path)| path).collect()
    }

    /// Deletes what was left by whoever was killed while they made a copy. Only for who makes copies alone.
    fn clear_half_made(&self) -> Result<()> {
        for entry in fs::read_dir(self.backups()).map_err(|error| self.failed(&error))?.flatten() {
            let name = entry.file_name();
            let is_ours = OURS.iter().any(|begins| name.to_string_lossy().starts_with(begins));
            let is_copy = Path::new(&name).extension().is_some_and(|extension| extension == "db");
            if is_ours && !is_copy && entry.file_type().is_ok_and(|kind| kind.is_file()) {
                fs::remove_file(entry.path()).or_else(gone).map_err(|error| self.failed(&error))?;
            }
        }
        Ok(())
    }
}

impl Memory {
    /// Makes a copy if there is none of today. Gives it.
    pub fn backup_if_due(&mut self) -> Result<Option<PathBuf>> {
        let of_today = self.home.backups().join(format!("memory-{}.db", self.now.day()));
        if of_today.exists() { Ok(None) } else { self.backup().map(Some) }
    }

    /// Makes a copy now, in place of today's. It is checked before it counts.
    pub fn backup(&mut self) -> Result<PathBuf> {
        let folder = self.home.backups();
        place::make_private(&folder).map_err(|error| self.home.failed(&error))?;
        let _alone = lock_copies(&self.home.file())?;
        self.home.clear_half_made()?;
        let new = folder.join("new.tmp");
        let copy = folder.join(format!("memory-{}.db", self.now.day()));
        self.with(|store| store.backup(&new))?;
        if !is_sound(&new) {
            let _ = fs::remove_file(&new);
            return Err(Error::new(ErrorKind::Damaged, "a copy of the memory is not sound")
                .hint("`tidegate memory check` says what is wrong"));
        }
        fs::rename(&new, &copy).map_err(|error| self.home.failed(&error))?;
        let large = fs::metadata(&copy).is_ok_and(|found| found.len() > LARGE);
        for old in self.home.copies().into_iter().skip(if large { 1 } else { KEPT }) {
            let _ = fs::remove_file(old);
        }
        Ok(copy)
    }

    /// Makes a copy in a file of somebody's own.
    pub fn backup_to(&mut self, to: &Path) -> Result<()> {
        self.with(|store| store.backup(to))
    }

    /// After something was forgotten: one new copy, and no other.
    pub(super) fn copies_anew(&mut self) -> Result<()> {
        let old = self.home.copies();
        if self.home.backups().exists() {
            let _alone = lock_copies(&self.home.file())?;
            self.home.clear_half_made()?;
        }
        if !old.is_empty() {
            let new = self.backup()?;
            for copy in old.into_iter().filter(|copy| *copy != new) {
                fs::remove_file(&copy).or_else(gone).map_err(|error| self.home.failed(&error))?;
            }
        }
        fs::remove_dir_all(self.home.damaged()).or_else(gone).map_err(|error| self.home.failed(&error))
    }

    /// The time that this takes as now.
    pub fn now(&self) -> Millis {
        self.now
    }
}

fn gone(error: std::io::Error) -> std::io::Result<()> {
    if error.kind() == std::io::ErrorKind::NotFound { Ok(()) } else { Err(error) }
}
