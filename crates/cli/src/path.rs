//! Questions about paths that the standard library leaves open.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use tidegate_core::time::Millis;

pub(crate) fn is_same_place(one: &Path, other: &Path) -> bool {
    one == other
        || fs::canonicalize(one).is_ok_and(|one| fs::canonicalize(other).is_ok_and(|other| one == other))
}

/// Behind all links; as it is given where nothing is there.
pub(crate) fn real_path(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// Behind all links, also of a file that is not there yet.
pub(crate) fn future_real_path(path: &Path) -> io::Result<PathBuf> {
    match (fs::canonicalize(path), path.parent(), path.file_name()) {
        (Err(error), Some(parent), Some(name)) if error.kind() == io::ErrorKind::NotFound => {
            Ok(future_real_path(parent)?.join(name))
        }
        (found, _, _) => found,
    }
}

pub(crate) fn modified_at(path: &Path) -> Option<Millis> {
    let modified = fs::metadata(path).and_then(|found| found.modified()).ok()?;
    Some(Millis(modified.duration_since(UNIX_EPOCH).ok()?.as_millis() as u64))
}

/// Belongs to this user; without a file there, the folder in which it would be.
#[cfg(unix)]
pub(crate) fn is_own(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let found = path.ancestors().find_map(|path| fs::symlink_metadata(path).ok());
    found.is_some_and(|found| found.uid() == rustix::process::geteuid().as_raw())
}

#[cfg(not(unix))]
pub(crate) fn is_own(_: &Path) -> bool {
    true
}
