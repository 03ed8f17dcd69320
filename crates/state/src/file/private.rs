//! Files that only the user may read.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

/// Creates the file and its folder, private to the user. Fails for anything but a regular file, without waiting: a pipe in its
/// place would hang until another process reads it.
pub(crate) fn open(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    options.create(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600).custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
    }
    let file = match options.open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if let Some(folder) = path.parent() {
                crate::place::make_private(folder)?;
            }
            options.open(path)
        }
        opened => opened,
    }?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("not a file")) }
}

/// For files that are locked, or written in place. Not for appending: Windows cannot lock a file that is open for
/// appending.
pub(crate) fn open_lock_file(path: &Path) -> io::Result<File> {
    open(path, OpenOptions::new().read(true).write(true).truncate(false))
}
