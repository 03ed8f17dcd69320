//! Looks at the store and changes nothing: no file is made, repaired, brought up to date or given another mode.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use tidegate_state::file::bounded;
use tidegate_state::file::lock;
use tidegate_state::file::lock::LockMode;
use tidegate_state::place::PlaceEnv;

use super::{MemoryHome, heal};
use crate::error::{Error, ErrorKind, Result};
use crate::sqlite::SqliteStore;

/// Of a reader who can come back.
const PATIENCE: Duration = Duration::from_millis(500);

/// `None` before anything was stored. A writer may come between: then `read` is called a second time.
pub fn look<T, E: From<Error>>(
    place: &PlaceEnv,
    mut read: impl FnMut(&mut SqliteStore) -> std::result::Result<T, E>,
) -> std::result::Result<Option<T>, E> {
    let home = MemoryHome::of(place)?;
    if !home.is_there()? {
        return Ok(None);
    }
    let _lock = wait_for_rebuild(&home)?;
    if heal::was_emptied(&home) {
        return Err(Error::new(ErrorKind::Damaged, format!("{} is empty", home.file().display())).into());
    }
    let mut read_as = |is_shared: bool| match SqliteStore::open_to_read(&home.file(), PATIENCE, is_shared)? {
        Some(mut store) => read(&mut store).map(Some),
        None => Ok(None),
    };
    let before = Stillness::of(&home.file());
    if before.is_still() {
        let found = read_as(false);
        if Stillness::of(&home.file()) == before {
            return found;
        }
    }
    read_as(true)
}

/// A rebuild keeps it exclusively. Without the file none has ever been needed.
fn wait_for_rebuild(home: &MemoryHome) -> Result<Option<fs::File>> {
    let path = home.folder().join("lock");
    let Ok(file) = bounded::open(&path) else { return Ok(None) };
    lock::wait_for(&file, &path, LockMode::Shared, PATIENCE)
        .map_err(|error| Error::of_lock(&path, &error))?;
    Ok(Some(file))
}

/// What tells whether another process has the store open, or changed it.
#[derive(Debug, PartialEq)]
struct Stillness {
    file: Option<(u64, SystemTime)>,
    has_log: bool,
}

impl Stillness {
    fn of(file: &Path) -> Stillness {
        let found = fs::metadata(file).ok();
        Stillness {
            file: found.and_then(|found| Some((found.len(), found.modified().ok()?))),
            has_log: file.with_extension("db-wal").exists(),
        }
    }

    fn is_still(&self) -> bool {
        self.file.is_some() && !self.has_log
    }
}
