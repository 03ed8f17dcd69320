//! Appending: one `write` on an `O_APPEND` handle, no `fsync`.
//!
//! Safe against a killed process and against other processes that append at the same time. A power cut may
//! take the last lines; a `write` that the kernel cut short leaves a torn line, which readers skip.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

/// Opens for appending; makes the file, private to the user, and its folder.
pub fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
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

/// Appends whole lines.
pub fn lines(file: &mut File, lines: &str) -> io::Result<()> {
    file.write_all(lines.as_bytes())
}
