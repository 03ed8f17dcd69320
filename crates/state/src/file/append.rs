//! Appending: one `write` on an `O_APPEND` handle, no `fsync`.
//!
//! Safe if the process is killed, and with other processes that append at the same time. A power cut may lose the
//! last lines; a `write` that the kernel cut short leaves a torn line, which readers skip.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use crate::file::private;

/// Creates the file, private to the user, and its folder.
pub fn open(path: &Path) -> io::Result<File> {
    private::open(path, OpenOptions::new().append(true))
}

pub fn lines(file: &mut File, lines: &str) -> io::Result<()> {
    file.write_all(lines.as_bytes())
}
