//! Changing a person's files: under a lock, durable, archive before trim.
//!
//! The lock is between us; people and models write without it. So a file is read again when its successor is on disk and
//! only the rename is left; if it is another by then, all is done anew from what it says now.

use std::cell::Cell;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tidegate_core::knowledge::entry_id::EntryId;
use tidegate_core::knowledge::flow::{self, End, NewEntry, Progress};
use tidegate_core::knowledge::plan;
use tidegate_core::time::Millis;

use super::read::{Folder, utf8, whole};
use crate::place::StateDir;
use crate::{private, replace};

/// Many times what is worth reading: also a file that was let grow can be trimmed.
const LARGEST: u64 = 64 * 1024 * 1024;

/// A file that changes more often than this while we look at it is left alone.
const TRIES: usize = 5;

/// Who holds the lock longer than this is stopped or on a disk that hangs.
const PATIENCE: Duration = Duration::from_secs(2);

/// What a trim came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trim {
    /// So many entries were moved to the archive.
    pub moved: usize,
    /// Why the plan does not say when it was compacted.
    pub plan: Option<String>,
}

/// Adds an entry at the newest end of `progress.md`, which is made where it is missing. Returns what names the entry.
pub fn add_entry(state: &StateDir, folder: &Folder, entry: &NewEntry) -> io::Result<Option<EntryId>> {
    let added = Cell::new(None);
    change(state, folder, flow::FILE, |text| {
        let old = Progress::parse(text);
        let with = old.with(entry);
        let new = Progress::parse(&with);
        // Which of them it is: at one of the two ends.
        let end = match old.newest_end() {
            _ if old.entries.is_empty() => new.entries.last(),
            End::Top => new.entries.first(),
            End::Bottom => new.entries.last(),
        };
        added.set(end.map(|entry| entry.id));
        Some(with)
    })?;
    Ok(added.get())
}

/// Changes a file that is in no project by what it says now; a missing one says nothing. Returns whether it was changed.
pub fn change_file(
    state: &StateDir,
    path: &Path,
    change: impl Fn(&str) -> Option<String>,
) -> io::Result<bool> {
    let _lock = lock(state, path)?;
    change_path(path, &change, &mut durable)
}

/// Changes one file by what it says now; a missing one says nothing. Returns whether it was changed.
pub fn change(
    state: &StateDir,
    folder: &Folder,
    name: &str,
    change: impl Fn(&str) -> Option<String>,
) -> io::Result<bool> {
    let _lock = lock(state, folder.root())?;
    change_locked(folder, name, &change, &mut durable)
}

/// Moves all but the newest entries of `progress.md` to the archive, and notes the time in the plan.
///
/// Whenever it is killed, each entry is in one of the two files or in both; what is in both is not archived again.
pub fn trim(state: &StateDir, folder: &Folder, keep: usize, at: Millis) -> io::Result<Trim> {
    let _lock = lock(state, folder.root())?;
    let moved = trim_locked(folder, keep, &mut durable)?;
    let plan = stamp_locked(folder, at, &mut durable).err().map(|error| format!("{}: {error}", plan::FILE));
    Ok(Trim { moved, plan })
}

/// How a file is replaced: path, what it said, what it is to say. An argument, so that a test can let each step fail.
type Replace<'a> = &'a mut dyn FnMut(&Path, Option<&str>, &str) -> io::Result<()>;

fn change_locked(
    folder: &Folder,
    name: &str,
    change: &dyn Fn(&str) -> Option<String>,
    replace: Replace<'_>,
) -> io::Result<bool> {
    change_path(&folder.file(name)?, change, replace)
}

fn change_path(
    path: &Path,
    change: &dyn Fn(&str) -> Option<String>,
    replace: Replace<'_>,
) -> io::Result<bool> {
    again_if_changed(|| {
        let old = open_path(path)?;
        match change(old.as_deref().unwrap_or_default()) {
            Some(new) if old.as_ref() != Some(&new) => replace(path, old.as_deref(), &new).map(|()| true),
            _ => Ok(false),
        }
    })
}

fn trim_locked(folder: &Folder, keep: usize, replace: Replace<'_>) -> io::Result<usize> {
    again_if_changed(|| {
        let (path, old) = open(folder, flow::FILE)?;
        let old = old.unwrap_or_default();
        let Some(trimmed) = Progress::parse(&old).trimmed(keep) else { return Ok(0) };
        let (archive, known) = open(folder, flow::ARCHIVE)?;
        let archived = flow::archived(known.as_deref().unwrap_or_default(), &trimmed.moved);
        if known.as_ref() != Some(&archived) {
            replace(&archive, known.as_deref(), &archived)?;
        }
        replace(&path, Some(&old), &trimmed.kept)?;
        Ok(trimmed.moved.len())
    })
}

/// A project without a plan does not get one.
fn stamp_locked(folder: &Folder, at: Millis, replace: Replace<'_>) -> io::Result<bool> {
    if open(folder, plan::FILE)?.1.is_none() {
        return Ok(false);
    }
    change_locked(folder, plan::FILE, &|text| Some(plan::compacted(text, at)), replace)
}

/// One of us at a time in one project. Kept in private state, so that nothing is left in the project.
pub(super) fn lock(state: &StateDir, root: &Path) -> io::Result<File> {
    let file = private::to_lock(&state.project(root).join("lock"))?;
    let began = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) if began.elapsed() < PATIENCE => {
                std::thread::sleep(Duration::from_millis(2));
            }
            Err(TryLockError::WouldBlock) => {
                return Err(io::Error::new(
                    io::ErrorKind::TimedOut,
                    "another process is writing these files",
                ));
            }
        }
    }
}

/// A file that is about to be changed: where it is, and what it says. Refuses one that its owner does not want changed; a
/// rename would not ask.
fn open(folder: &Folder, name: &str) -> io::Result<(PathBuf, Option<String>)> {
    let path = folder.file(name)?;
    let text = open_path(&path)?;
    Ok((path, text))
}

fn open_path(path: &Path) -> io::Result<Option<String>> {
    let bytes = match whole(path, LARGEST) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if fs::metadata(path)?.permissions().readonly() {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is read-only"));
    }
    OpenOptions::new().write(true).open(path)?;
    utf8(bytes).map(Some)
}

/// Somebody else wrote the file in between.
#[derive(Debug)]
struct Changed;

impl std::fmt::Display for Changed {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("another program keeps writing this file")
    }
}

impl std::error::Error for Changed {}

fn again_if_changed<T>(mut attempt: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    let is_changed = |error: &io::Error| error.get_ref().is_some_and(|inner| inner.is::<Changed>());
    let mut tries = TRIES;
    loop {
        tries -= 1;
        match attempt() {
            Err(error) if tries > 0 && is_changed(&error) => {}
            done => return done,
        }
    }
}

fn durable(path: &Path, old: Option<&str>, new: &str) -> io::Result<()> {
    sweep(path);
    replace::durable_if(path, new.as_bytes(), |path| {
        let is_same = match (whole(path, LARGEST), old) {
            (Ok(bytes), Some(old)) => bytes == old.as_bytes(),
            (Err(error), None) => error.kind() == io::ErrorKind::NotFound,
            _ => false,
        };
        if is_same { Ok(()) } else { Err(io::Error::other(Changed)) }
    })
}

/// Removes what a killed process left beside a file. All that write it hold the lock, so nobody else is using it.
fn sweep(path: &Path) {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name().and_then(|name| name.to_str())) else {
        return;
    };
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().to_str().is_some_and(|file| replace::is_temporary(file, name)) {
            drop(fs::remove_file(entry.path()));
        }
    }
}
