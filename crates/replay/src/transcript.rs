//! Reads a transcript line by line, and gives the moments at which hooks would have run.
//!
//! Only a few lines are held: whether a typed command begins a turn shows in the entries after it.

use std::collections::VecDeque;

use tidegate_core::host::Host;
use tidegate_core::time::Millis;

use crate::entry::{Entry, EntryReader};
use crate::moment::Moment;
use crate::other_host::OtherReader;
use crate::seen_files::SeenFile;
use crate::walk::{NEAR, Walk};

/// One transcript, all of it.
pub struct ReplaySession {
    /// The file's name.
    pub name: String,
    /// Working folders in the order in which they appear, each once.
    pub folders: Vec<String>,
    pub moments: Vec<Moment>,
    /// What the session shows of the project's own files.
    pub seen: Vec<SeenFile>,
    /// Lines that are not JSON objects.
    pub unread_lines: usize,
}

pub fn read_session(name: &str, text: &str) -> ReplaySession {
    let mut reader = SessionReader::new(Host::ClaudeCode, Reads::Everything);
    let mut moments = Vec::new();
    for line in text.lines() {
        reader.take_line(line.as_bytes());
        moments.extend(reader.moments());
    }
    reader.finish();
    moments.extend(reader.moments());
    let SessionReader { walk, unread_lines, .. } = reader;
    let (folders, seen) = (walk.folders, walk.seen.into_files());
    ReplaySession { name: name.to_owned(), folders, moments, seen, unread_lines }
}

/// Turns lines into moments.
pub struct SessionReader {
    entries: Entries,
    /// The entry at the front is next, those behind it follow.
    waiting: VecDeque<Entry>,
    walk: Walk,
    unread_lines: usize,
}

enum Entries {
    OfClaudeCode(EntryReader),
    OfOther(Box<OtherReader>),
}

/// What a reader looks for. A file that is read twice need not be looked at twice for the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reads {
    #[default]
    Everything,
    /// Folders, and what the session shows of the project's files.
    Files,
    Moments,
}

impl SessionReader {
    pub fn new(host: Host, reads: Reads) -> SessionReader {
        let entries = match host {
            Host::ClaudeCode => Entries::OfClaudeCode(EntryReader::new(reads)),
            other => Entries::OfOther(Box::new(OtherReader::new(other))),
        };
        SessionReader {
            entries,
            waiting: VecDeque::with_capacity(NEAR + 1),
            walk: Walk::new(reads),
            unread_lines: 0,
        }
    }

    /// Later times count as this one.
    #[must_use]
    pub fn not_after(mut self, now: Millis) -> SessionReader {
        self.walk.latest = Some(now);
        self
    }

    /// Lines up to this one were read before, and are entries: they are not checked again.
    #[must_use]
    pub fn trusting(mut self, lines: usize) -> SessionReader {
        if let Entries::OfClaudeCode(entries) = &mut self.entries {
            entries.trust(lines);
        }
        self
    }

    /// Lines so far, if all of them are entries.
    pub fn sound_lines(&self) -> usize {
        match &self.entries {
            Entries::OfClaudeCode(entries) if self.unread_lines == 0 => entries.lines(),
            _ => 0,
        }
    }

    pub fn take_line(&mut self, line: &[u8]) {
        let is_read = match &mut self.entries {
            Entries::OfClaudeCode(entries) => {
                entries.read(line).map(|entry| self.waiting.extend(entry)).is_ok()
            }
            Entries::OfOther(entries) => entries.read(line, &mut self.waiting).is_ok(),
        };
        self.unread_lines += usize::from(!is_read);
        while self.waiting.len() > NEAR {
            self.enter_next();
        }
    }

    /// A line that was too long to be read.
    pub fn skip_line(&mut self) {
        match &mut self.entries {
            Entries::OfClaudeCode(entries) => entries.skip(),
            Entries::OfOther(entries) => entries.skip(),
        }
        self.unread_lines += 1;
    }

    /// After the last line.
    pub fn finish(&mut self) {
        while !self.waiting.is_empty() {
            self.enter_next();
        }
        self.walk.close_file();
    }

    fn enter_next(&mut self) {
        if let Some(entry) = self.waiting.pop_front() {
            self.walk.enter(entry, &self.waiting);
        }
    }

    /// Those that are complete and were not taken yet.
    pub fn moments(&mut self) -> std::vec::Drain<'_, Moment> {
        self.walk.moments.drain(..)
    }

    /// Working folders so far, in the order in which they appear, each once.
    pub fn folders(&self) -> &[String] {
        &self.walk.folders
    }

    /// An answer or a prompt that is not a subagent's.
    pub fn has_main_thread(&self) -> bool {
        self.walk.has_main_thread
    }

    /// Sights of the project's files that were not taken yet.
    pub fn take_seen(&mut self) -> Vec<SeenFile> {
        std::mem::take(&mut self.walk.seen).into_files()
    }

    /// Lines so far that are not JSON objects.
    pub fn unread_lines(&self) -> usize {
        self.unread_lines
    }
}
