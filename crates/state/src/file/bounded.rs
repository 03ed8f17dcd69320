//! Reading a small file that somebody else may have replaced by something else: never waits for a pipe's other end,
//! never reads more than its limit.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// Opens a regular file for reading.
pub fn open(path: &Path) -> io::Result<File> {
    open_sized(path).map(|(file, _)| file)
}

/// The same, and how long it is.
pub fn open_sized(path: &Path) -> io::Result<(File, u64)> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(
        &mut options,
        rustix::fs::OFlags::NONBLOCK.bits().cast_signed(),
    );
    let file = options.open(path)?;
    let found = file.metadata()?;
    if found.is_file() { Ok((file, found.len())) } else { Err(io::Error::other("not a file")) }
}

/// Reads all of it, unless that is more than `limit` bytes.
pub fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let (file, length) = open_sized(path)?;
    // With room to see its end by the second read.
    let mut bytes = Vec::with_capacity(length.min(limit) as usize + 64);
    file.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit { Err(io::Error::other("too large")) } else { Ok(bytes) }
}

/// Reads the end of a file: at most so many bytes.
pub fn read_end(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let (mut file, size) = open_sized(path)?;
    file.seek(SeekFrom::Start(size.saturating_sub(most)))?;
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}
