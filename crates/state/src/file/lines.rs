//! Reads files line by line from the beginning, whatever another program wrote into them.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use tidegate_core::text::search;

/// Some callers want no more than the first line, and chunks double up to [`CHUNK`].
const FIRST_CHUNK: usize = 16 * 1024;
pub(crate) const CHUNK: usize = 256 * 1024;

/// Editors on Windows begin a file with it. It is not a part of the first line.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The lines of a file, one after the other. Memory is bounded by the longest line that is wanted.
#[derive(Debug)]
pub struct BoundedLines {
    file: File,
    longest: usize,
    /// Bytes in memory: the line at `line` is not taken yet, and up to `looked` it has no end.
    held: Vec<u8>,
    line: usize,
    looked: usize,
    /// The current line is too long, and its beginning is gone.
    is_too_long: bool,
    is_at_end: bool,
    read: u64,
}

pub enum BoundedLine<'a> {
    Whole(&'a [u8]),
    TooLong,
}

impl BoundedLines {
    /// Longer lines are passed over.
    pub fn new(file: File, longest: usize) -> BoundedLines {
        BoundedLines {
            file,
            longest,
            held: Vec::new(),
            line: 0,
            looked: 0,
            is_too_long: false,
            is_at_end: false,
            read: 0,
        }
    }

    /// Begins again.
    pub fn restart(&mut self) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(0))?;
        self.held.clear();
        (self.line, self.looked, self.read) = (0, 0, 0);
        (self.is_too_long, self.is_at_end) = (false, false);
        Ok(())
    }

    /// The last line may have no line break.
    pub fn next_line(&mut self) -> io::Result<Option<BoundedLine<'_>>> {
        loop {
            if let Some(end) = search::first(&self.held[self.looked..], b'\n').map(|end| self.looked + end) {
                return Ok(Some(self.take_line(end, end + 1)));
            }
            self.looked = self.held.len();
            if self.is_at_end {
                let is_over = self.line == self.held.len() && !self.is_too_long;
                return Ok(if is_over {
                    None
                } else {
                    Some(self.take_line(self.held.len(), self.held.len()))
                });
            }
            self.is_too_long |= self.held.len() - self.line > self.longest;
            if self.is_too_long {
                self.line = self.held.len();
            }
            self.read_chunk()?;
        }
    }

    /// Bytes so far.
    pub fn bytes_read(&self) -> u64 {
        self.read
    }

    #[cfg(test)]
    pub(crate) fn capacity(&self) -> usize {
        self.held.capacity()
    }

    fn take_line(&mut self, end: usize, next: usize) -> BoundedLine<'_> {
        let start = self.line;
        (self.line, self.looked) = (next, next);
        if std::mem::take(&mut self.is_too_long) || end - start > self.longest {
            return BoundedLine::TooLong;
        }
        BoundedLine::Whole(&self.held[start..end])
    }

    fn read_chunk(&mut self) -> io::Result<()> {
        self.held.drain(..self.line);
        (self.line, self.looked) = (0, self.looked - self.line);
        // A vector doubles by itself, which would be too much for a long line, and never shrinks.
        if self.held.len() < CHUNK {
            self.held.shrink_to(4 * CHUNK);
        }
        let chunk = (self.read as usize).clamp(FIRST_CHUNK, CHUNK);
        let room = chunk.max(self.held.len() / 8) + 64;
        if self.held.capacity() - self.held.len() < room {
            self.held.reserve_exact(room);
        }
        let read = (&mut self.file).take((room - 64) as u64).read_to_end(&mut self.held)?;
        self.is_at_end = read == 0;
        if self.read == 0 && self.held.starts_with(BYTE_ORDER_MARK) {
            (self.line, self.looked) = (BYTE_ORDER_MARK.len(), BYTE_ORDER_MARK.len());
        }
        self.read += read as u64;
        Ok(())
    }
}
