//! Files that only the user may read.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

/// Creates the file and its folder, private to the user.
pub(crate) fn open(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    options.create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    match options.open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if let Some(folder) = path.parent() {
                crate::place::make_private(folder)?;
            }
            options.open(path)
        }
        opened => opened,
    }
}

/// For files that are locked, or written in place. Not for appending: Windows cannot lock a file that is open for
/// appending.
pub(crate) fn open_lock_file(path: &Path) -> io::Result<File> {
    open(path, OpenOptions::new().read(true).write(true).truncate(false))
}
