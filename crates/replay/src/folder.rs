//! Replays many transcripts at once, each read twice: whether a command is a check depends on files of the project that any
//! of its sessions may have shown, so all are looked through before the first is played.
//!
//! Memory is bounded by the number of threads, not by the files. The result does not depend on the number of threads.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use tidegate_core::feature::config::Config;
use tidegate_core::host::Host;
use tidegate_core::redact::redact;
use tidegate_core::text::cut::cut_after;
use tidegate_core::time::Millis;
use tidegate_state::feature::memory::transcript_files::TranscriptFile;
use tidegate_state::file::bounded;
use tidegate_state::file::lines::{BoundedLine, BoundedLines};

use crate::context::ContextCourse;
use crate::outcome::StopOutcome;
use crate::player::{JudgedEnd, Player};
use crate::scratch::{find_root, project_key};
use crate::seen_files::{ProjectFiles, SeenFile, SharedTexts};
use crate::transcript::{Moment, Reads, SessionReader};

/// Longer lines are passed over and counted.
const LONGEST_LINE: usize = 64 * 1024 * 1024;

/// A file whose first lines no host wrote is not a transcript.
const FIRST_LINES: usize = 50;

/// Columns of a command line that is shown.
const SHOWN_COMMAND: usize = 160;

/// More threads would need more memory.
const MOST_THREADS: usize = 8;

/// One transcript, replayed.
#[derive(Debug)]
pub struct SessionRecord {
    pub path: PathBuf,
    /// The folder of the project, as the session knew it.
    pub project: String,
    /// Of the first and the last entry that a hook would have seen.
    pub from: Millis,
    pub to: Millis,
    pub stops: Vec<StopRecord>,
    pub context: ContextCourse,
    pub damaged_lines: usize,
}

/// The end of a turn.
#[derive(Clone, Debug)]
pub struct StopRecord {
    pub line: usize,
    pub at: Millis,
    pub turn: usize,
    /// The id of the last answer.
    pub entry: String,
    pub outcome: StopOutcome,
    /// With this config Tidegate would have blocked it.
    pub is_blocked: bool,
    /// The line of the run that decided, and its command without secrets.
    pub run: Option<(usize, String)>,
}

#[derive(Debug, Default)]
pub struct Replayed {
    /// In the order of the files.
    pub sessions: Vec<SessionRecord>,
    /// Sessions of hosts that cannot be replayed yet.
    pub other_hosts: BTreeMap<&'static str, usize>,
    /// Transcripts of subagents.
    pub of_agents: usize,
    /// Files that are not transcripts.
    pub other_files: usize,
    /// With the reason.
    pub unreadable: Vec<(PathBuf, String)>,
    pub bytes: u64,
}

/// What the first look at a file found.
enum Glanced {
    Session { root: String, key: (String, String) },
    Host(Host),
    OfAgent,
    Other,
    Unreadable(String),
}

/// `notify` gets the bytes that were read since the last call; each file is read twice.
pub fn replay_files(
    files: &[TranscriptFile],
    config: &Config,
    threads: Option<usize>,
    notify: &(dyn Fn(u64) + Sync),
) -> Replayed {
    let available = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let threads = threads.unwrap_or(available).clamp(1, MOST_THREADS);
    let merged = Mutex::new(Merged::default());
    each(files, threads, |at, file| {
        let glanced =
            glance(file, notify).unwrap_or_else(|error| (Glanced::Unreadable(error.to_string()), Vec::new()));
        lock(&merged).add(at, glanced);
    });
    let Merged { mut projects, glanced, .. } = merged.into_inner().unwrap_or_else(PoisonError::into_inner);
    projects.values_mut().for_each(ProjectFiles::sort);
    let played = Mutex::new(BTreeMap::new());
    each(files, threads, |at, file| {
        if let Some(Glanced::Session { root, key }) = glanced.get(at) {
            let session = play(file, root, &projects[key], config, notify);
            lock(&played).insert(at, session);
        }
    });
    let mut played = played.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut replayed = Replayed { bytes: files.iter().map(|file| file.bytes).sum(), ..Replayed::default() };
    for (at, (file, glanced)) in files.iter().zip(glanced).enumerate() {
        match glanced {
            Glanced::Session { .. } => match played.remove(&at) {
                Some(Ok(session)) => replayed.sessions.push(session),
                Some(Err(why)) => replayed.unreadable.push((file.path.clone(), why)),
                None => {}
            },
            Glanced::Host(host) => *replayed.other_hosts.entry(host.name()).or_default() += 1,
            Glanced::OfAgent => replayed.of_agents += 1,
            Glanced::Other => replayed.other_files += 1,
            Glanced::Unreadable(why) => replayed.unreadable.push((file.path.clone(), why)),
        }
    }
    replayed
}

fn lock<T>(shared: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// In parallel, the next free thread takes the next item.
fn each<T: Sync>(items: &[T], threads: usize, work: impl Fn(usize, &T) + Sync) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..threads.min(items.len()) {
            scope.spawn(|| {
                while let Some((at, item)) = {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    items.get(at).map(|item| (at, item))
                } {
                    work(at, item);
                }
            });
        }
    });
}

/// What the first look found, joined in the order of the files: which texts are kept must not depend on a race.
#[derive(Default)]
struct Merged {
    projects: BTreeMap<(String, String), ProjectFiles>,
    shared: SharedTexts,
    glanced: Vec<Glanced>,
    early: BTreeMap<usize, (Glanced, Vec<SeenFile>)>,
}

impl Merged {
    fn add(&mut self, at: usize, found: (Glanced, Vec<SeenFile>)) {
        self.early.insert(at, found);
        while let Some((glanced, seen)) = self.early.remove(&self.glanced.len()) {
            if let Glanced::Session { root, key } = &glanced {
                self.projects.entry(key.clone()).or_default().add(root, &seen, &mut self.shared);
            }
            self.glanced.push(glanced);
        }
    }
}

/// Reads all lines; `take` sees the reader after each.
fn read_lines(
    file: &TranscriptFile,
    reader: &mut SessionReader,
    notify: &(dyn Fn(u64) + Sync),
    mut take: impl FnMut(&mut SessionReader) -> Result<(), String>,
) -> Result<(), String> {
    let open =
        || -> io::Result<BoundedLines> { Ok(BoundedLines::new(bounded::open(&file.path)?, LONGEST_LINE)) };
    let mut lines = open().map_err(|error| error.to_string())?;
    let mut told = 0;
    while let Some(line) = lines.next_line().map_err(|error| error.to_string())? {
        match line {
            BoundedLine::Whole(line) => reader.take_line(line),
            BoundedLine::TooLong => reader.skip_line(),
        }
        take(reader)?;
        let read = lines.bytes_read();
        if read > told {
            notify(read - told);
            told = read;
        }
    }
    reader.finish();
    take(reader)
}

fn find_host(file: &TranscriptFile) -> io::Result<Option<Host>> {
    let mut lines = BoundedLines::new(bounded::open(&file.path)?, LONGEST_LINE);
    for _ in 0..FIRST_LINES {
        match lines.next_line()? {
            None => return Ok(None),
            Some(BoundedLine::TooLong) => {}
            Some(BoundedLine::Whole(line)) => {
                if let Some(host) = Host::ALL.iter().find(|host| host.wrote(line)) {
                    return Ok(Some(*host));
                }
            }
        }
    }
    Ok(None)
}

fn glance(file: &TranscriptFile, notify: &(dyn Fn(u64) + Sync)) -> io::Result<(Glanced, Vec<SeenFile>)> {
    match find_host(file)? {
        Some(Host::ClaudeCode) => {}
        Some(other) => return Ok((Glanced::Host(other), Vec::new())),
        None => return Ok((Glanced::Other, Vec::new())),
    }
    let mut reader = SessionReader::new(Reads::Files);
    read_lines(file, &mut reader, notify, |_| Ok(())).map_err(io::Error::other)?;
    let Some(root) = find_root(reader.folders()) else { return Ok((Glanced::Other, Vec::new())) };
    if !reader.has_main_thread() {
        return Ok((Glanced::OfAgent, Vec::new()));
    }
    let name = file.path.file_stem().unwrap_or_default().to_string_lossy();
    let key = project_key(&name, &root);
    Ok((Glanced::Session { root, key }, reader.take_seen()))
}

fn play(
    file: &TranscriptFile,
    root: &str,
    files: &ProjectFiles,
    config: &Config,
    notify: &(dyn Fn(u64) + Sync),
) -> Result<SessionRecord, String> {
    let mut player = Player::new(root, files, config).map_err(|error| error.to_string())?;
    let mut reader = SessionReader::new(Reads::Moments);
    let mut record = SessionRecord {
        path: file.path.clone(),
        project: root.to_owned(),
        from: Millis(0),
        to: Millis(0),
        stops: Vec::new(),
        context: ContextCourse::default(),
        damaged_lines: 0,
    };
    read_lines(file, &mut reader, notify, |reader| {
        for moment in reader.moments() {
            record.see(&moment);
            let judged = player.play(&moment).map_err(|error| error.to_string())?;
            record.stops.extend(judged.map(StopRecord::of));
        }
        Ok(())
    })?;
    record.context = player.context;
    record.damaged_lines = reader.unread_lines();
    Ok(record)
}

impl SessionRecord {
    fn see(&mut self, moment: &Moment) {
        // Some lines have no time.
        if moment.at > Millis(0) {
            self.from = if self.from == Millis(0) { moment.at } else { self.from.min(moment.at) };
            self.to = self.to.max(moment.at);
        }
    }
}

impl StopRecord {
    fn of(judged: JudgedEnd) -> StopRecord {
        let command = |command: &str| cut_after(&redact(command).text, SHOWN_COMMAND).into_owned();
        StopRecord {
            line: judged.line,
            at: judged.at,
            turn: judged.end.turn,
            entry: judged.end.entry,
            outcome: judged.outcome,
            is_blocked: judged.is_blocked,
            run: judged.run.map(|run| (run.line, command(&run.command))),
        }
    }
}
