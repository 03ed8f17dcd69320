//! The journal: one file a day, one record a line. [`append`] is the only way in, and redacts.

pub mod friction;

use std::fs;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use tidegate_core::event::SessionId;
use tidegate_core::pipeline::record::{RECORD_FORMAT, Record};
use tidegate_core::text::search;
use tidegate_core::time::Millis;

use crate::file::bounded;
use crate::place::StateDir;

/// Redacts secrets first.
pub fn append(folder: &Path, now: Millis, record: &mut Record) -> io::Result<()> {
    record.redact();
    let mut file = crate::file::append::open(&day_file(folder, &now.day()))?;
    crate::file::append::lines(&mut file, &record.to_line())
}

/// Bytes that are read at once: days have many megabytes.
const CHUNK: usize = 128 * 1024;

const RECORD_START: &[u8] = b"{\"v\":";

/// Oldest first.
#[derive(Debug, Default)]
pub struct Entries {
    pub records: Vec<Record>,
    /// Torn lines, and records of newer versions.
    pub skipped: usize,
}

/// Reads records as they are appended, across days. A file that became shorter, or another one in its place, is read from its
/// beginning.
#[derive(Debug)]
pub struct Follower {
    folder: PathBuf,
    day: String,
    offset: u64,
    /// The file that was read up to there.
    file: u64,
}

impl Follower {
    pub fn from_here(folder: &Path, now: Millis) -> Follower {
        let (file, offset) = fs::metadata(day_file(folder, &now.day()))
            .map_or((0, 0), |found| (identity(&found), found.len()));
        Follower { folder: folder.to_owned(), day: now.day(), offset, file }
    }

    /// The day that is read.
    pub fn day(&self) -> &str {
        &self.day
    }

    /// Whole lines since the last call. At the end of a day it continues with the next one that has a file.
    pub fn next(&mut self, now: Millis) -> io::Result<Entries> {
        let mut entries = Entries::default();
        let bytes = match bounded::open_sized(&day_file(&self.folder, &self.day)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // One that is made again can get the same number.
                (self.offset, self.file) = (0, 0);
                Vec::new()
            }
            opened => {
                let (mut opened, length) = opened?;
                let file = identity(&opened.metadata()?);
                if length < self.offset || file != self.file {
                    (self.offset, self.file) = (0, file);
                }
                opened.seek(SeekFrom::Start(self.offset))?;
                let mut bytes = Vec::new();
                opened.read_to_end(&mut bytes)?;
                bytes
            }
        };
        let whole = search::last(&bytes, b'\n').map_or(0, |end| end + 1);
        entries.take_lines(&bytes[..whole]);
        self.offset += whole as u64;
        if whole == 0 && self.day < now.day() {
            let files = list_files(&self.folder)?;
            let mut days = files.iter().filter_map(|path| path.file_stem()?.to_str());
            let next = days.find(|day| **day > *self.day && **day <= *now.day());
            self.day = next.map_or_else(|| now.day(), str::to_owned);
            (self.offset, self.file) = (0, 0);
        } else if whole == 0 && self.day > now.day() {
            // The clock was set back: that day was read before.
            *self = Follower::from_here(&self.folder, now);
        }
        Ok(entries)
    }
}

/// Tells a file from another one that replaced it.
#[cfg(unix)]
fn identity(found: &fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(found)
}

/// Elsewhere an open file cannot be replaced.
#[cfg(not(unix))]
fn identity(_: &fs::Metadata) -> u64 {
    0
}

pub fn day_file(folder: &Path, day: &str) -> PathBuf {
    folder.join(format!("{day}.jsonl"))
}

/// Oldest first.
pub fn list_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|e| e == "jsonl"))
        .collect();
    files.sort();
    Ok(files)
}

pub fn read(path: &Path) -> io::Result<Entries> {
    read_end(path, u64::MAX)
}

/// Reads the last `limit` bytes of a file.
pub fn read_end(path: &Path, limit: u64) -> io::Result<Entries> {
    let (mut file, length) = bounded::open_sized(path)?;
    let start = length.saturating_sub(limit);
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(start))?;
    file.read_to_end(&mut bytes)?;
    // The first line is most likely cut by the limit: not counted as skipped.
    let whole = if start == 0 { 0 } else { search::first(&bytes, b'\n').map_or(bytes.len(), |end| end + 1) };
    let mut entries = Entries::default();
    entries.take_lines(&bytes[whole..]);
    Ok(entries)
}

/// Passes the records in the last `limit` bytes one by one, so that a long file is not held in memory. Returns the
/// number of skipped lines.
pub fn for_each_record(path: &Path, limit: u64, mut take: impl FnMut(Record)) -> io::Result<usize> {
    let (mut file, length) = bounded::open_sized(path)?;
    let start = length.saturating_sub(limit);
    file.seek(SeekFrom::Start(start))?;
    let mut reader = BufReader::with_capacity(CHUNK, file);
    let (mut line, mut entries) = (Vec::new(), Entries::default());
    // Cut by the limit, as in `read_end`.
    if start > 0 {
        reader.skip_until(b'\n')?;
    }
    while reader.read_until(b'\n', &mut line)? > 0 {
        let text = line.trim_ascii();
        if !text.is_empty() {
            entries.take(text);
        }
        entries.records.drain(..).for_each(&mut take);
        line.clear();
    }
    Ok(entries.skipped)
}

/// Passes the records of one session, oldest first. Lines without its name are not parsed. A file that cannot be read
/// leaves its day out; it is an error only if no other file has the session.
pub fn for_each_of_session(folder: &Path, session: &str, mut take: impl FnMut(Record)) -> io::Result<()> {
    let (mut failed, mut is_found) = (None, false);
    for path in list_files(folder)? {
        let read = for_each_line_with(&path, session, |record| {
            if record.session.as_deref() == Some(session) {
                is_found = true;
                take(record);
            }
        });
        failed = failed.or(read.err());
    }
    failed.filter(|_| !is_found).map_or(Ok(()), Err)
}

/// The record with this id. A file that cannot be read is an error only if no other file has it.
pub fn find_record(folder: &Path, id: &str) -> io::Result<Option<Record>> {
    let (mut failed, mut found) = (None, None);
    for path in list_files(folder)?.iter().rev() {
        let read = for_each_line_with(path, id, |record| {
            if record.id == id {
                found = Some(record);
            }
        });
        failed = failed.or(read.err());
        if found.is_some() {
            return Ok(found);
        }
    }
    failed.map_or(Ok(None), Err)
}

fn for_each_line_with(path: &Path, text: &str, mut take: impl FnMut(Record)) -> io::Result<()> {
    let mut reader = BufReader::with_capacity(CHUNK, bounded::open_sized(path)?.0);
    let (mut line, mut entries) = (Vec::new(), Entries::default());
    while reader.read_until(b'\n', &mut line)? > 0 {
        if std::str::from_utf8(&line).is_ok_and(|line| line.contains(text)) {
            entries.take(line.trim_ascii());
        }
        entries.records.drain(..).for_each(&mut take);
        line.clear();
    }
    Ok(())
}

impl Entries {
    fn take_lines(&mut self, bytes: &[u8]) {
        for line in bytes.split(|b| *b == b'\n').filter(|line| !line.is_empty()) {
            self.take(line);
        }
    }

    fn take(&mut self, line: &[u8]) {
        match serde_json::from_slice::<Record>(line) {
            Ok(record) if record.v <= RECORD_FORMAT => self.records.push(record),
            Ok(_) => self.skipped += 1,
            Err(_) => {
                self.skipped += 1;
                // The next record follows a torn line directly. Quotes inside of strings are escaped, so this can
                // only be the start of a record.
                let next = line.windows(RECORD_START.len()).rposition(|start| start == RECORD_START);
                if let Some(next) = next.filter(|at| *at > 0) {
                    self.take(&line[next..]);
                }
            }
        }
    }
}

/// Deletes files older than `days`. Returns how many.
pub fn prune(folder: &Path, now: Millis, days: u64) -> io::Result<usize> {
    let oldest = Millis(now.0.saturating_sub(days * 86_400_000)).day();
    let mut gone = 0;
    for path in list_files(folder)? {
        let day = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        if day.len() == 10 && day < oldest && fs::remove_file(&path).is_ok() {
            gone += 1;
        }
    }
    Ok(gone)
}

/// Sessions can be resumed for a long time, and their marks are small.
const SESSION_DAYS: u64 = 90;

/// After a longer pause a wrong clock is as likely as an old file: the day is marked, and the next one deletes.
const LONG_PAUSE_MS: u64 = 3 * 86_400_000;
const DOUBTED: &str = " after a long pause";

/// Once a day, at a session's start: deletes old journal files and the folders of sessions that have been silent for
/// long, never that of the `current` one. Best effort; the next day tries again. A clock that is a year ahead, and is
/// corrected within a day, deletes nothing.
pub fn keep_house(state: &StateDir, current: &SessionId, now: Millis, days: u64) {
    let stamp = state.root().join("kept");
    let (last, today) = (fs::read_to_string(&stamp).unwrap_or_default(), now.day());
    if last.strip_suffix(DOUBTED).unwrap_or(&last) == today {
        return;
    }
    let kept = Millis::from_iso(&format!("{last}T00:00:00Z"));
    let is_long = kept.is_some_and(|kept| now.since(kept).max(kept.since(now)) > LONG_PAUSE_MS);
    let doubt = if is_long { DOUBTED } else { "" };
    let _ = crate::file::replace::copy(&stamp, format!("{today}{doubt}").as_bytes());
    if is_long {
        return;
    }
    let _ = prune(&state.journal(), now, days);
    let limit = UNIX_EPOCH + Duration::from_millis(now.0.saturating_sub(days.max(SESSION_DAYS) * 86_400_000));
    for folder in fs::read_dir(state.sessions()).into_iter().flatten().flatten().map(|entry| entry.path()) {
        let heard = fs::metadata(folder.join("marks"))
            .or_else(|_| fs::metadata(&folder))
            .and_then(|found| found.modified());
        if folder != state.session(current) && heard.is_ok_and(|heard| heard < limit) {
            let _ = fs::remove_dir_all(folder);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_line_costs_only_itself() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("2026-11-15.jsonl");
        let line = Record { id: "a".into(), v: 1, ..Record::default() }.to_line();
        let newer = line.replace("\"v\":1", "\"v\":99");
        fs::write(&path, format!("{line}{}{line}{newer}not json\n{line}", &line[..20])).unwrap();
        let entries = read(&path).unwrap();
        assert_eq!((entries.records.len(), entries.skipped), (3, 3));
    }

    #[test]
    fn a_file_that_cannot_be_read_leaves_its_day_out() {
        let folder = tempfile::tempdir().unwrap();
        let of =
            |id: &str| Record { session: Some(format!("s-{id}")), id: id.into(), v: 1, ..Record::default() };
        for (day, id) in [("2026-11-14", "a"), ("2026-11-16", "b")] {
            fs::write(folder.path().join(format!("{day}.jsonl")), of(id).to_line()).unwrap();
        }
        fs::create_dir(folder.path().join("2026-11-15.jsonl")).unwrap();
        for id in ["a", "b"] {
            assert_eq!(find_record(folder.path(), id).unwrap().map(|record| record.id).as_deref(), Some(id));
            let mut seen = 0;
            for_each_of_session(folder.path(), &format!("s-{id}"), |_| seen += 1).unwrap();
            assert_eq!(seen, 1);
        }
        assert!(find_record(folder.path(), "c").is_err());
        assert!(for_each_of_session(folder.path(), "s-c", |_| {}).is_err());
    }

    #[test]
    fn the_end_of_a_long_file_is_read_in_whole_records() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("2026-11-15.jsonl");
        let line = |id: &str| Record { id: id.into(), v: 1, ..Record::default() }.to_line();
        fs::write(&path, ["a", "b", "c"].map(line).concat()).unwrap();
        let ids = |limit: usize| -> Vec<String> {
            let entries = read_end(&path, limit as u64).unwrap();
            assert_eq!(entries.skipped, 0);
            entries.records.into_iter().map(|record| record.id).collect()
        };
        let length = line("a").len();
        assert_eq!(ids(3 * length), ["a", "b", "c"]);
        assert_eq!(ids(2 * length + 5), ["b", "c"]);
        assert_eq!(ids(length + 1), ["c"]);
        assert_eq!(ids(5), [""; 0]);
        assert!(read(folder.path()).is_err());
        for limit in [3 * length, 2 * length + 5, length + 1, 5] {
            let mut one_by_one = Vec::new();
            assert_eq!(for_each_record(&path, limit as u64, |record| one_by_one.push(record.id)).unwrap(), 0);
            assert_eq!(one_by_one, ids(limit));
        }
    }

    #[test]
    fn following_goes_on_where_it_stopped() {
        let folder = tempfile::tempdir().unwrap();
        let (today, tomorrow) = (Millis(0), Millis(86_400_000));
        let record = |id: &str| Record { v: 1, id: id.into(), ..Record::default() };
        append(folder.path(), today, &mut record("before")).unwrap();
        let mut follow = Follower::from_here(folder.path(), today);
        let mut ids = |now| -> Vec<String> {
            follow.next(now).unwrap().records.into_iter().map(|record| record.id).collect()
        };
        assert!(ids(today).is_empty());
        append(folder.path(), today, &mut record("a")).unwrap();
        append(folder.path(), today, &mut record("b")).unwrap();
        crate::file::append::lines(
            &mut crate::file::append::open(&day_file(folder.path(), &today.day())).unwrap(),
            "{\"v\":1,",
        )
        .unwrap();
        assert_eq!(ids(today), ["a", "b"]);
        append(folder.path(), tomorrow, &mut record("c")).unwrap();
        assert!(ids(tomorrow).is_empty());
        assert_eq!(ids(tomorrow), ["c"]);
    }

    #[test]
    fn following_continues_in_a_file_that_was_cut_or_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let now = Millis(0);
        let path = day_file(folder.path(), &now.day());
        let lines = |ids: &[&str]| -> String {
            ids.iter().map(|id| Record { v: 1, id: (*id).into(), ..Record::default() }.to_line()).collect()
        };
        fs::write(&path, lines(&["a", "b"])).unwrap();
        let mut follow = Follower::from_here(folder.path(), now);
        let mut ids = |now| -> Vec<String> {
            follow.next(now).unwrap().records.into_iter().map(|record| record.id).collect()
        };
        assert!(ids(now).is_empty());
        fs::write(&path, lines(&["c"])).unwrap();
        assert_eq!(ids(now), ["c"], "cut");
        let other = folder.path().join("other");
        fs::write(&other, lines(&["d", "e", "f"])).unwrap();
        fs::rename(&other, &path).unwrap();
        assert_eq!(ids(now), ["d", "e", "f"], "replaced by a longer one");
        fs::remove_file(&path).unwrap();
        assert!(ids(now).is_empty());
        fs::write(&path, lines(&["g", "h", "i", "j"])).unwrap();
        assert_eq!(ids(now), ["g", "h", "i", "j"], "made again");
        let tomorrow = Millis(86_400_000);
        assert!(ids(tomorrow).is_empty());
        assert!(ids(now).is_empty(), "the clock was set back: nothing is shown twice");
        fs::write(&path, lines(&["g", "h", "i", "j", "k"])).unwrap();
        assert_eq!(ids(now), ["k"]);
    }

    #[test]
    fn house_is_kept_once_a_day_and_never_the_current_session() {
        let folder = tempfile::tempdir().unwrap();
        let env = crate::place::PlaceEnv { state_dir: Some(folder.path().join("s")), ..Default::default() };
        let state = StateDir::open(&env).unwrap();
        let now = Millis::from_iso("2026-11-15T12:00:00Z").unwrap();
        let ids = ["current", "old", "young"].map(|id| SessionId::parse(id).unwrap());
        for id in &ids {
            let marks = state.session(id).join("marks");
            crate::file::append::open(&marks).unwrap();
            let days_ago = if id.as_str() == "young" { 80 } else { 100 };
            let heard = UNIX_EPOCH + Duration::from_millis(now.0 - days_ago * 86_400_000);
            fs::File::options().append(true).open(&marks).unwrap().set_modified(heard).unwrap();
        }
        crate::file::append::open(&state.journal().join("2026-01-01.jsonl")).unwrap();
        keep_house(&state, &ids[0], now, 30);
        assert_eq!(ids.each_ref().map(|id| state.session(id).exists()), [true, false, true]);
        assert_eq!(list_files(&state.journal()).unwrap().len(), 0);
        crate::file::append::open(&state.journal().join("2026-01-01.jsonl")).unwrap();
        keep_house(&state, &ids[0], now, 30);
        assert_eq!(list_files(&state.journal()).unwrap().len(), 1, "not twice a day");
    }

    #[test]
    fn a_clock_that_jumps_deletes_nothing_before_the_next_day() {
        let folder = tempfile::tempdir().unwrap();
        let env = crate::place::PlaceEnv { state_dir: Some(folder.path().join("s")), ..Default::default() };
        let state = StateDir::open(&env).unwrap();
        let current = SessionId::parse("current").unwrap();
        let at = |text: &str| Millis::from_iso(&format!("{text}T12:00:00Z")).unwrap();
        let old = state.journal().join("2026-11-01.jsonl");
        crate::file::append::open(&old).unwrap();
        for (day, stays) in [
            ("2026-11-15", true),
            // A year ahead, twice on that day, and back.
            ("2027-11-15", true),
            ("2027-11-15", true),
            ("2026-11-15", true),
            // A person who was away.
            ("2026-12-15", true),
            ("2026-12-16", false),
        ] {
            keep_house(&state, &current, at(day), 30);
            assert_eq!(old.exists(), stays, "{day}");
        }
    }

    #[test]
    fn old_days_go() {
        let folder = tempfile::tempdir().unwrap();
        let now = Millis::from_iso("2026-11-15T12:00:00Z").unwrap();
        for day in ["2026-10-15", "2026-10-16", "2026-11-15", "notes"] {
            fs::write(folder.path().join(format!("{day}.jsonl")), b"").unwrap();
        }
        assert_eq!(prune(folder.path(), now, 30).unwrap(), 1);
        assert_eq!(list_files(folder.path()).unwrap().len(), 3);
    }
}
