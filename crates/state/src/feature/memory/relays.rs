//! Reads the part of a transcript that a job is about: from the relay in which it begins, until the answer has
//! arrived.
//!
//! The cost depends on the relays and not on the file's size. The file may grow meanwhile, end in half a line, or be
//! shorter than when the job was queued.

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use tidegate_core::feature::memory::job::TranscriptPart;
use tidegate_core::feature::memory::relay;
use tidegate_core::feature::memory::relay::{Relay, RelayExtract, RelayStep};
use tidegate_core::host::Host;
use tidegate_core::host::transcript::{Sought, TranscriptParser};
use tidegate_core::text::search;
use tidegate_core::time::Millis;

use crate::file::bounded;
use crate::host::transcript;

/// Limits of the search for the start of a relay. Each step is twice as long as the one before.
const FURTHEST: u64 = 64 * 1024 * 1024;
const STEP: u64 = 16 * 1024;

/// Longer lines are skipped. Images in a prompt have megabytes each.
pub(super) const LONGEST_LINE: usize = 64 * 1024 * 1024;

const CHUNK: u64 = 256 * 1024;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TranscriptGone {
    Deleted,
    /// The file was cut or started over.
    Shorter {
        was: u64,
        length: u64,
    },
    /// Another file: it contains neither the turn nor its answer.
    Replaced,
    Unreadable(String),
}

impl fmt::Display for TranscriptGone {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TranscriptGone::Deleted => out.write_str("the transcript is gone"),
            TranscriptGone::Shorter { was, length } => {
                write!(out, "the transcript was cut or begun anew ({length} bytes, {was} were there)")
            }
            TranscriptGone::Replaced => {
                out.write_str("the transcript does not hold what was said, nor the answer")
            }
            TranscriptGone::Unreadable(why) => write!(out, "the transcript cannot be read ({why})"),
        }
    }
}

#[derive(Debug)]
pub struct RelayReader {
    file: File,
    host: Host,
    parser: TranscriptParser,
    extract: RelayExtract,
    /// The end of the part when the job was queued, and that time.
    to: u64,
    left: Millis,
    expects: bool,
    /// Bytes in memory: the line at `line` is not processed yet, and up to `looked` it has no end.
    held: Vec<u8>,
    line: usize,
    looked: usize,
    /// The offset of that line in the file, and the next offset to read.
    at: u64,
    next: u64,
    skipping: bool,
    /// The start of the current relay.
    began: Option<u64>,
    /// A relay of a later job has begun.
    over: bool,
    read: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundRelay {
    pub relay: Box<Relay>,
    /// The offset of its prompt's line.
    pub began: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NextRelay {
    /// A complete relay; more may follow.
    Relay(FoundRelay),
    /// Nothing more belongs to the part.
    End {
        /// The expected answer has arrived, or none was expected.
        answered: bool,
    },
}

impl RelayReader {
    /// Starts at the last prompt before the part, since that relay may continue in it. `left`: the time at which the
    /// job was queued.
    pub fn open(part: &TranscriptPart, left: Millis) -> Result<RelayReader, TranscriptGone> {
        let (file, length) = match bounded::open_sized(Path::new(&part.transcript)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(TranscriptGone::Deleted),
            Err(error) => return Err(TranscriptGone::Unreadable(error.to_string())),
            Ok(opened) => opened,
        };
        let was = part.to.max(part.from);
        if length < was {
            return Err(TranscriptGone::Shorter { was, length });
        }
        let host = transcript::find_writer(Path::new(&part.transcript)).unwrap_or_default();
        let mut reader = RelayReader {
            file,
            host,
            parser: host.parser(&RelayExtract::SOUGHT),
            extract: RelayExtract::new(part.answer),
            to: part.to,
            left,
            expects: part.answer.is_some(),
            held: Vec::new(),
            line: 0,
            looked: 0,
            at: 0,
            next: 0,
            skipping: false,
            began: None,
            over: false,
            read: 0,
        };
        let start = reader
            .find_beginning(part.from)
            .map_err(|error| TranscriptGone::Unreadable(error.to_string()))?;
        (reader.at, reader.next) = (start, start);
        Ok(reader)
    }

    /// Can be called again after [`NextRelay::End`]: more may have been written.
    pub fn read_next(&mut self) -> Result<NextRelay, TranscriptGone> {
        loop {
            if self.over || self.expects && self.extract.answered() && self.at >= self.to {
                return Ok(NextRelay::End { answered: self.extract.answered() || !self.expects });
            }
            if let Some(end) = search::first(&self.held[self.looked..], b'\n').map(|end| self.looked + end) {
                if let Some(relay) = self.take_line(end) {
                    return Ok(NextRelay::Relay(relay));
                }
                continue;
            }
            self.looked = self.held.len();
            if self.held.len() - self.line > LONGEST_LINE {
                self.skipping = true;
                self.at += (self.held.len() - self.line) as u64;
                self.held = Vec::new();
                (self.line, self.looked) = (0, 0);
            }
            if !self.read_chunk()? {
                return Ok(NextRelay::End { answered: self.extract.answered() || !self.expects });
            }
        }
    }

    /// The current relay, as far as it is written.
    pub fn finish(mut self) -> Option<FoundRelay> {
        // A last line without a line break may be complete.
        let last = self.parser.entry(&self.held[self.line..]).filter(|_| !self.over && !self.skipping);
        if let Some(entry) = last.filter(|entry| !relay::begins_relay(entry)) {
            self.extract.entry(&entry);
        }
        let began = self.began.unwrap_or_default();
        self.extract.finish().map(|relay| FoundRelay { relay: Box::new(relay), began })
    }

    pub fn bytes_read(&self) -> u64 {
        self.read
    }

    /// Processes the current line, which ends at `end`.
    fn take_line(&mut self, end: usize) -> Option<FoundRelay> {
        let entry = self.parser.entry(&self.held[self.line..end]).filter(|_| !self.skipping);
        self.skipping = false;
        let mut whole = None;
        if let Some(entry) = entry {
            if self.at >= self.to && relay::relay_start(&entry).is_some_and(|given| given > self.left) {
                // The host writes later than its hooks run: prompts from before the job may come after its part, and
                // in a fork everything that was copied.
                self.over = true;
                return None;
            }
            if let RelayStep::Begins(before) = self.extract.entry(&entry) {
                whole = before.map(|relay| FoundRelay { relay, began: self.began.unwrap_or_default() });
                self.began = Some(self.at);
            }
        }
        self.at += (end + 1 - self.line) as u64;
        (self.line, self.looked) = (end + 1, end + 1);
        whole
    }

    /// `false` at the end of the file.
    fn read_chunk(&mut self) -> Result<bool, TranscriptGone> {
        let unreadable = |error: io::Error| TranscriptGone::Unreadable(error.to_string());
        let length = self.file.metadata().map_err(unreadable)?.len();
        if length < self.next {
            return Err(TranscriptGone::Shorter { was: self.next, length });
        }
        self.held.drain(..self.line);
        (self.line, self.looked) = (0, self.looked - self.line);
        self.file.seek(SeekFrom::Start(self.next)).map_err(unreadable)?;
        let read = (&mut self.file).take(CHUNK).read_to_end(&mut self.held).map_err(unreadable)?;
        self.next += read as u64;
        self.read += read as u64;
        Ok(read > 0)
    }

    /// The start of the last prompt before `from`; without one, the start of the line at `from`.
    fn find_beginning(&mut self, from: u64) -> io::Result<u64> {
        let prompts = self.host.parser(&[Sought::Prompts]);
        let begins = |line: &[u8]| prompts.entry(line).is_some_and(|entry| relay::begins_relay(&entry));
        let stop = from.saturating_sub(FURTHEST);
        let mut start = from;
        let mut step = STEP;
        // The bytes from `start` up to the last line that was checked.
        let mut held: Vec<u8> = Vec::new();
        let mut line_of_from = None;
        while start > stop {
            let length = step.min(start - stop);
            step = step.saturating_mul(2);
            start -= length;
            let mut bytes = Vec::with_capacity(length as usize + held.len());
            self.file.seek(SeekFrom::Start(start))?;
            (&mut self.file).take(length).read_to_end(&mut bytes)?;
            self.read += bytes.len() as u64;
            if (bytes.len() as u64) < length {
                return Err(io::Error::other("it became shorter"));
            }
            bytes.extend_from_slice(&held);
            held = bytes;
            while let Some(end) = search::last(&held, b'\n') {
                let line = start + end as u64 + 1;
                // The line at `from` is cut: whether it is a prompt shows when it is read.
                if line_of_from.is_none() {
                    line_of_from = Some(line);
                } else if begins(&held[end + 1..]) {
                    return Ok(line);
                }
                held.truncate(end);
            }
        }
        let first_is_prompt = start == 0 && line_of_from.is_some() && begins(&held);
        Ok(if start == 0 && (first_is_prompt || line_of_from.is_none()) {
            0
        } else {
            line_of_from.unwrap_or(from)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, OpenOptions};
    use std::io::Write;
    use std::path::PathBuf;
    use tidegate_core::feature::memory::job::{AnswerDigest, JobCause, RelayProject};
    use tidegate_core::text::fnv;

    const LEFT: Millis = Millis(1_000_000);

    struct Transcript {
        _folder: tempfile::TempDir,
        path: PathBuf,
    }

    fn transcript() -> Transcript {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        fs::write(&path, "").unwrap();
        Transcript { _folder: folder, path }
    }

    impl Transcript {
        /// Returns the new length.
        fn add(&self, text: &str) -> u64 {
            let mut file = OpenOptions::new().append(true).open(&self.path).unwrap();
            file.write_all(text.as_bytes()).unwrap();
            file.metadata().unwrap().len()
        }

        fn part(&self, from: u64, to: u64, answer: Option<&str>) -> TranscriptPart {
            let hash = |text: &str| AnswerDigest { bytes: text.len() as u64, hash: fnv::hash(text.bytes()) };
            let project = RelayProject { key: "k".into(), name: "n".into(), root: "/".into(), branch: None };
            let transcript = self.path.to_string_lossy().into_owned();
            TranscriptPart {
                transcript,
                from,
                to,
                because: JobCause::Stop,
                answer: answer.map(hash),
                topic: None,
                passed: None,
                project,
                lang: None,
            }
        }
    }

    fn user(uuid: &str) -> String {
        format!("{{\"type\":\"user\",\"uuid\":\"{uuid}\",\"message\":{{\"content\":\"{uuid}?\"}}}}\n")
    }

    fn user_at(uuid: &str, at: u64) -> String {
        user(uuid).replace("\"uuid\"", &format!("\"timestamp\":\"{}\",\"uuid\"", Millis(at).iso()))
    }

    fn said(text: &str) -> String {
        format!(
            "{{\"type\":\"assistant\",\"message\":{{\"id\":\"{text}\",\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}]}}}}\n"
        )
    }

    fn padding(bytes: usize) -> String {
        format!("{{\"type\":\"api-request-blob\",\"message\":\"{}\"}}\n", "x".repeat(bytes))
    }

    /// All relays as `prompt answer`, and whether the expected answer was found.
    fn read(part: &TranscriptPart) -> (Vec<String>, bool) {
        let mut reader = RelayReader::open(part, LEFT).unwrap();
        let mut relays = Vec::new();
        loop {
            match reader.read_next().unwrap() {
                NextRelay::Relay(found) => relays.push(found),
                NextRelay::End { answered } => {
                    relays.extend(reader.finish());
                    let line = |found: &FoundRelay| {
                        assert_eq!(
                            &fs::read(&part.transcript).unwrap()[found.began as usize..][..14],
                            b"{\"type\":\"user\""
                        );
                        format!("{} {}", found.relay.prompt, found.relay.answer)
                    };
                    return (relays.iter().map(line).collect(), answered);
                }
            }
        }
    }

    #[test]
    fn a_part_begins_with_the_relay_before_it_and_ends_with_its_answer() {
        let file = transcript();
        file.add(&(user("a") + &said("one")));
        let from = file.add(&user("b"));
        let middle = file.add(&said("two"));
        let to = file.add(&user("c"));
        file.add(&(said("three") + &padding(10) + &user("d") + &said("four")));
        let relays = |from, to, answer| read(&file.part(from, to, answer));
        assert_eq!(relays(from, to, Some("three")), (vec!["b? two".into(), "c? three".into()], true));
        assert_eq!(relays(middle, to, Some("three")).0, ["b? two", "c? three"]);
        assert_eq!(
            relays(from - 3, to, Some("three")).0,
            ["a? one", "b? two", "c? three"],
            "in the middle of a line"
        );
        assert_eq!(relays(to, to, Some("three")).0, ["c? three"]);
        assert_eq!(relays(0, to, None).0, ["a? one", "b? two", "c? three"]);
        assert_eq!(relays(from, middle, Some("two")), (vec!["b? two".into()], true));
        assert_eq!(
            relays(from, to, Some("never")),
            (vec!["b? two".into(), "c? three".into()], false),
            "the next relay is another job's"
        );
        assert_eq!(relays(1, to, None).0, ["a? one", "b? two", "c? three"]);
    }

    #[test]
    fn an_answer_that_comes_late_is_read_on_to() {
        let file = transcript();
        let to = file.add(&user("a"));
        let mut reader = RelayReader::open(&file.part(0, to, Some("done")), LEFT).unwrap();
        assert_eq!(reader.read_next(), Ok(NextRelay::End { answered: false }));
        let answer = said("done");
        let (half, rest) = answer.split_at(30);
        file.add(half);
        assert_eq!(reader.read_next(), Ok(NextRelay::End { answered: false }));
        file.add(rest);
        assert_eq!(reader.read_next(), Ok(NextRelay::End { answered: true }));
        assert_eq!(reader.finish().unwrap().relay.answer, "done");
    }

    #[test]
    fn what_was_asked_before_the_job_was_left_may_come_after_its_part() {
        let file = transcript();
        let part = file.part(0, 0, Some("one"));
        assert_eq!(read(&part), (vec![], false), "a turn may end before anything is written");
        file.add(&user_at("a", LEFT.0));
        assert_eq!(read(&part), (vec!["a? ".into()], false));
        let to = file.add(&said("one"));
        assert_eq!(read(&part), (vec!["a? one".into()], true));
        file.add(&(user_at("b", LEFT.0 + 1) + &said("one") + &user("c") + &said("three")));
        assert_eq!(read(&part), (vec!["a? one".into()], true));
        assert_eq!(
            read(&file.part(0, 0, Some("never"))),
            (vec!["a? one".into()], false),
            "b was asked later"
        );
        assert_eq!(read(&file.part(to, to, None)).0, ["a? one"]);
    }

    #[test]
    fn a_fork_brings_all_that_was_said_before_it() {
        let file = transcript();
        let to = file.add(&padding(10));
        for (asked, answer) in [("a", "one"), ("b", "two"), ("c", "three")] {
            file.add(&(user_at(asked, 5) + &said(answer)));
        }
        file.add(&(user_at("d", LEFT.0 + 1) + &said("four")));
        let all = vec!["a? one".to_owned(), "b? two".to_owned(), "c? three".to_owned()];
        for (part, answered) in [
            (file.part(0, to, Some("three")), true),
            (file.part(0, 0, Some("three")), true),
            (file.part(0, to, None), true),
            (file.part(0, to, Some("never")), false),
        ] {
            assert_eq!(read(&part), (all.clone(), answered), "{part:?}");
        }
    }

    #[test]
    fn wherever_the_beginning_lies() {
        for gap in [0, 10, STEP as usize - 200, STEP as usize, 5 * STEP as usize, 2_000_000] {
            let file = transcript();
            file.add(&(user("a") + &padding(gap)));
            let from = file.add(&said("so"));
            let to = file.add(&padding(gap));
            file.add(&said("done"));
            assert_eq!(read(&file.part(from, to, Some("done"))).0, ["a? done"], "{gap}");
        }
    }

    #[test]
    fn a_last_line_without_its_end_counts_where_it_is_whole() {
        let file = transcript();
        file.add(&user("a"));
        let to = file.add(said("done").trim_end());
        assert_eq!(read(&file.part(0, to, None)).0, ["a? done"]);
        let to = file.add(&("\n".to_owned() + &said("half")[..40]));
        assert_eq!(read(&file.part(0, to, None)).0, ["a? done"]);
    }

    #[test]
    fn what_is_gone_is_named() {
        let file = transcript();
        let length = file.add(&user("a"));
        let open = |from, to| RelayReader::open(&file.part(from, to, None), LEFT).map(|_| ());
        let shorter = Err(TranscriptGone::Shorter { was: length + 1, length });
        assert_eq!((open(0, length), open(0, length + 1)), (Ok(()), shorter.clone()));
        assert_eq!(open(length + 1, length + 1), shorter);
        let mut reader = RelayReader::open(&file.part(0, length, Some("x")), LEFT).unwrap();
        reader.read_next().unwrap();
        fs::write(&file.path, "").unwrap();
        assert_eq!(reader.read_next(), Err(TranscriptGone::Shorter { was: length, length: 0 }));
        fs::remove_file(&file.path).unwrap();
        assert_eq!(open(0, 0), Err(TranscriptGone::Deleted));
        fs::create_dir(&file.path).unwrap();
        assert!(matches!(open(0, 0), Err(TranscriptGone::Unreadable(_))));
    }

    #[test]
    fn a_long_line_is_not_held() {
        let file = transcript();
        file.add(&user("a"));
        let mut sparse = OpenOptions::new().append(true).open(&file.path).unwrap();
        let length = sparse.metadata().unwrap().len() + LONGEST_LINE as u64 + 3 * CHUNK;
        sparse.set_len(length).unwrap();
        sparse.write_all(b"\n").unwrap();
        let to = file.add(&said("done"));
        let mut reader = RelayReader::open(&file.part(0, to, Some("done")), LEFT).unwrap();
        assert_eq!(reader.read_next(), Ok(NextRelay::End { answered: true }));
        assert!(reader.held.capacity() < LONGEST_LINE / 2, "{}", reader.held.capacity());
        assert_eq!(reader.finish().unwrap().relay.answer, "done");
    }

    #[test]
    fn a_huge_file_costs_only_its_part() {
        let file = transcript();
        // Sparse: half a gigabyte of zeros.
        let sparse = OpenOptions::new().append(true).open(&file.path).unwrap();
        sparse.set_len(500 << 20).unwrap();
        file.add(&("\n".to_owned() + &user("a") + &said("one")));
        let from = file.add(&user("b"));
        let to = file.add(&said("two"));
        let mut reader = RelayReader::open(&file.part(from, to, Some("two")), LEFT).unwrap();
        assert_eq!(reader.read_next(), Ok(NextRelay::End { answered: true }));
        assert!(reader.bytes_read() < 100_000, "{}", reader.bytes_read());
        assert_eq!(reader.finish().unwrap().relay.prompt, "b?");
        // Only zeros before it: the search gives up.
        let empty = transcript();
        OpenOptions::new().append(true).open(&empty.path).unwrap().set_len(500 << 20).unwrap();
        let reader = RelayReader::open(&empty.part(400 << 20, 400 << 20, None), LEFT).unwrap();
        assert!(reader.bytes_read() <= FURTHEST, "{}", reader.bytes_read());
    }
}
