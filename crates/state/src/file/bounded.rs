//! Reads small files that another program may have replaced by something else: never waits for a pipe's other end,
//! never reads more than the limit.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// Why something else than a regular file was not opened.
pub const NOT_A_FILE: &str = "not a file";

pub const TOO_LARGE: &str = "too large";

/// Fails for anything but a regular file.
pub fn open(path: &Path) -> io::Result<File> {
    open_sized(path).map(|(file, _)| file)
}

/// Whatever is there, without waiting. A pipe reads as an empty file.
pub(crate) fn open_anything(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(
        &mut options,
        rustix::fs::OFlags::NONBLOCK.bits().cast_signed(),
    );
    options.open(path)
}

/// Also returns the length in bytes.
pub fn open_sized(path: &Path) -> io::Result<(File, u64)> {
    let file = open_anything(path)?;
    let found = file.metadata()?;
    if found.is_file() { Ok((file, found.len())) } else { Err(io::Error::other(NOT_A_FILE)) }
}

/// Fails if the file has more than `limit` bytes.
pub fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let (file, length) = open_sized(path)?;
    // Spare room, so that the second read sees the end.
    let mut bytes = Vec::with_capacity(length.min(limit) as usize + 64);
    file.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit { Err(io::Error::other(TOO_LARGE)) } else { Ok(bytes) }
}

/// Whether a file with these first two bytes can be read.
pub fn begins_with(path: &Path, first: &[u8; 2]) -> bool {
    let mut found = [0; 2];
    open(path).and_then(|mut file| file.read_exact(&mut found)).is_ok() && found == *first
}

/// Reads at most the last `most` bytes.
pub fn read_end(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let (mut file, size) = open_sized(path)?;
    file.seek(SeekFrom::Start(size.saturating_sub(most)))?;
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}
