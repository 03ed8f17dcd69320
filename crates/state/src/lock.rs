//! Files that are there to be locked.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

/// Opens one; makes it, private to the user, and its folder. Not for appending: Windows does not lock such a file.
pub fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
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
