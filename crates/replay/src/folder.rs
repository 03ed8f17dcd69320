//! Replays many transcripts at once, each read twice: whether a command is a check depends on files of the project that the
//! session may show later, so it is looked through before it is played.
//!
//! What a session says depends on its own transcript alone: a file that another session showed may never have been in this
//! checkout, and the answer must not change with the other paths of the command line. Only what is counted once looks at all
//! of them.
//!
//! Memory is bounded by the number of threads and by limits per file, not by the sizes of files. The result does not depend on
//! the number of threads.

use std::collections::{BTreeMap, HashSet};
use std::io;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use tidegate_core::feature::config::Config;
use tidegate_core::host::Host;
use tidegate_core::redact::redact;
use tidegate_core::text::cut::cut_after;
use tidegate_core::time::Millis;
use tidegate_state::feature::memory::transcript_files::TranscriptFile;
use tidegate_state::file::bounded;
use tidegate_state::file::lines::{BoundedLine, BoundedLines};

use crate::context::ContextCourse;
use crate::error::Error;
use crate::moment::Moment;
use crate::outcome::StopOutcome;
use crate::player::{ClosedRun, JudgedEnd, Player};
use crate::scratch::find_root;
use crate::seen_files::ProjectFiles;
use crate::transcript::{Reads, SessionReader};
use crate::turn::Ending;

/// Longer lines are passed over and counted. No request to a model is longer.
const LONGEST_LINE: usize = 32 * 1024 * 1024;

/// A file whose first lines no host wrote is not a transcript.
const FIRST_LINES: usize = 50;

/// Columns of a command line that is shown.
const SHOWN_COMMAND: usize = 160;

/// More threads would need more memory.
const MOST_THREADS: usize = 8;

/// One transcript, replayed.
#[derive(Debug)]
pub struct SessionRecord<S = StopRecord> {
    pub path: PathBuf,
    pub host: Host,
    /// The folder of the project, as the session knew it.
    pub project: String,
    /// Of the first and the last entry that a hook would have seen.
    pub from: Millis,
    pub to: Millis,
    pub stops: Vec<S>,
    pub context: ContextCourse,
    /// Lines that are not entries, and entries that could not be replayed.
    pub damaged_lines: usize,
    pub closed: Vec<ClosedRun>,
}

/// The end of a turn.
#[derive(Clone, Debug)]
pub struct StopRecord {
    pub line: usize,
    /// Of the last edit of code, if any is open.
    pub edit_line: Option<usize>,
    pub at: Millis,
    pub turn: usize,
    /// The id of the last answer.
    pub entry: String,
    /// Not a turn that still runs, or in which the client was killed.
    pub is_finished: bool,
    pub outcome: StopOutcome,
    /// Code was edited in this very turn.
    pub has_edited: bool,
    /// With this config Tidegate would have blocked it.
    pub is_blocked: bool,
    /// The line of the run that decided, and its command without secrets.
    pub run: Option<(usize, String)>,
}

#[derive(Debug)]
pub struct Replayed<S = StopRecord> {
    /// In the order of the files.
    pub sessions: Vec<SessionRecord<S>>,
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
    Session {
        host: Host,
        root: String,
        /// So many lines from the beginning are entries.
        sound_lines: usize,
        files: ProjectFiles,
    },
    OfAgent,
    Other,
}

/// What became of one file.
enum Found<S> {
    Session(Box<SessionRecord<S>>),
    OfAgent,
    Other,
    Unreadable(String),
}

/// Why nothing was replayed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Halt {
    /// The caller wanted no more.
    Stopped,
    /// The scratch folder cannot be used.
    Scratch(Error),
    /// This file cannot be read, which ends only its own replay.
    File(String),
}

impl From<io::Error> for Halt {
    fn from(error: io::Error) -> Halt {
        Halt::File(error.to_string())
    }
}

/// Sees the bytes that were read since the last call, and says whether to continue.
pub type Notify<'a> = &'a (dyn Fn(u64) -> ControlFlow<()> + Sync);

fn tell(notify: Notify<'_>, bytes: u64) -> Result<(), Halt> {
    if notify(bytes).is_break() { Err(Halt::Stopped) } else { Ok(()) }
}

/// Each file is read twice.
pub fn replay_files(
    files: &[TranscriptFile],
    config: &Config,
    threads: Option<usize>,
    notify: Notify<'_>,
) -> Result<Replayed, Halt> {
    replay_with(files, config, threads, notify, &Keep { stop: StopRecord::of, closed_runs: false })
}

/// What a replay keeps of each end of a turn, and whether it keeps checks whose closing lines say that they passed.
pub struct Keep<S> {
    pub stop: fn(JudgedEnd) -> S,
    pub closed_runs: bool,
}

/// As [`replay_files`], with all that was judged.
pub fn replay_with<S: Send>(
    files: &[TranscriptFile],
    config: &Config,
    threads: Option<usize>,
    notify: Notify<'_>,
    keep: &Keep<S>,
) -> Result<Replayed<S>, Halt> {
    let available = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let threads = threads.unwrap_or(available).clamp(1, MOST_THREADS);
    let found = Mutex::new(BTreeMap::new());
    each(files, threads, |at, file| {
        let one = match replay_file(file, config, notify, keep) {
            Err(Halt::File(why)) => Found::Unreadable(why),
            one => one?,
        };
        lock(&found).insert(at, one);
        Ok(())
    })?;
    let mut replayed = Replayed {
        sessions: Vec::new(),
        of_agents: 0,
        other_files: 0,
        unreadable: Vec::new(),
        bytes: files.iter().map(|file| file.bytes).sum(),
    };
    let mut known = HashSet::new();
    for (at, found) in found.into_inner().unwrap_or_else(PoisonError::into_inner) {
        match found {
            Found::Session(mut session) => {
                session.context.mark_copies(&mut known);
                replayed.sessions.push(*session);
            }
            Found::OfAgent => replayed.of_agents += 1,
            Found::Other => replayed.other_files += 1,
            Found::Unreadable(why) => replayed.unreadable.push((files[at].path.clone(), why)),
        }
    }
    Ok(replayed)
}

fn replay_file<S>(
    file: &TranscriptFile,
    config: &Config,
    notify: Notify<'_>,
    keep: &Keep<S>,
) -> Result<Found<S>, Halt> {
    let glanced = glance(file, notify)?;
    let Glanced::Session { host, root, sound_lines, files } = glanced else {
        // It is not read a second time.
        tell(notify, file.bytes)?;
        return Ok(if matches!(glanced, Glanced::OfAgent) { Found::OfAgent } else { Found::Other });
    };
    let reader = SessionReader::new(host, Reads::Moments).trusting(sound_lines).not_after(now());
    let mut player = Player::new(&root, &files, config).map_err(Halt::Scratch)?.of_host(host);
    if keep.closed_runs {
        player = player.with_closed_runs();
    }
    play(file, host, &root, reader, player, notify, keep).map(|session| Found::Session(Box::new(session)))
}

fn lock<T>(shared: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// In parallel, the next free thread takes the next item. The first failure ends all of them.
fn each<T: Sync>(
    items: &[T],
    threads: usize,
    work: impl Fn(usize, &T) -> Result<(), Halt> + Sync,
) -> Result<(), Halt> {
    let next = AtomicUsize::new(0);
    let halted = Mutex::new(None);
    std::thread::scope(|scope| {
        for _ in 0..threads.min(items.len()) {
            scope.spawn(|| {
                while lock(&halted).is_none() {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(at) else { return };
                    if let Err(halt) = work(at, item) {
                        lock(&halted).get_or_insert(halt);
                    }
                }
            });
        }
    });
    halted.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}

/// Reads all lines; `take` sees the reader after each.
fn read_lines(
    file: &TranscriptFile,
    reader: &mut SessionReader,
    notify: Notify<'_>,
    mut take: impl FnMut(&mut SessionReader) -> Result<(), Halt>,
) -> Result<(), Halt> {
    let mut lines = BoundedLines::new(bounded::open(&file.path)?, LONGEST_LINE);
    let mut told = 0;
    while let Some(line) = lines.next_line()? {
        enter(reader, &line);
        take(reader)?;
        let read = lines.bytes_read();
        if read > told {
            tell(notify, read - told)?;
            told = read;
        }
    }
    reader.finish();
    take(reader)
}

fn enter(reader: &mut SessionReader, line: &BoundedLine<'_>) {
    match line {
        BoundedLine::Whole(line) => reader.take_line(line),
        BoundedLine::TooLong => reader.skip_line(),
    }
}

fn now() -> Millis {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Millis(now.as_millis() as u64)
}

fn find_host(line: &BoundedLine<'_>) -> Option<Host> {
    let BoundedLine::Whole(line) = line else { return None };
    // Qwen Code's lines have all that Claude Code's have.
    Host::ALL.iter().rev().copied().find(|host| host.wrote(line))
}

fn glance(file: &TranscriptFile, notify: Notify<'_>) -> Result<Glanced, Halt> {
    let mut lines = BoundedLines::new(bounded::open(&file.path)?, LONGEST_LINE);
    let mut reader = SessionReader::new(Host::ClaudeCode, Reads::Files).not_after(now());
    let (mut host, mut number, mut told) = (None, 0, 0);
    while let Some(line) = lines.next_line()? {
        if host.is_none() {
            host = find_host(&line);
            if let Some(other) = host.filter(|host| *host != Host::ClaudeCode) {
                // Lines before it are of no host.
                reader = SessionReader::new(other, Reads::Files).not_after(now());
                (0..number).for_each(|_| reader.skip_line());
            }
        }
        number += 1;
        if host.is_none() && number == FIRST_LINES {
            tell(notify, file.bytes.saturating_sub(told))?;
            return Ok(Glanced::Other);
        }
        enter(&mut reader, &line);
        let read = lines.bytes_read();
        if read > told {
            tell(notify, read - told)?;
            told = read;
        }
    }
    reader.finish();
    let Some((host, root)) = host.zip(find_root(reader.folders())) else {
        return Ok(Glanced::Other);
    };
    if !reader.has_main_thread() {
        return Ok(Glanced::OfAgent);
    }
    let sound_lines = reader.sound_lines();
    let files = ProjectFiles::of(&root, &reader.take_seen());
    Ok(Glanced::Session { host, root, sound_lines, files })
}

fn play<S>(
    file: &TranscriptFile,
    host: Host,
    root: &str,
    mut reader: SessionReader,
    mut player: Player<'_>,
    notify: Notify<'_>,
    keep: &Keep<S>,
) -> Result<SessionRecord<S>, Halt> {
    let mut record = SessionRecord {
        path: file.path.clone(),
        host,
        project: root.to_owned(),
        from: Millis(0),
        to: Millis(0),
        stops: Vec::new(),
        context: ContextCourse::default(),
        damaged_lines: 0,
        closed: Vec::new(),
    };
    read_lines(file, &mut reader, notify, |reader| {
        for moment in reader.moments() {
            record.see(&moment);
            let judged = player.play(&moment).map_err(Halt::Scratch)?;
            record.stops.extend(judged.map(keep.stop));
        }
        Ok(())
    })?;
    record.damaged_lines = reader.unread_lines() + player.left_out();
    (record.context, record.closed) = player.finish();
    Ok(record)
}

impl<S> SessionRecord<S> {
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
            edit_line: judged.edit_line,
            at: judged.at,
            turn: judged.end.turn,
            entry: judged.end.entry,
            is_finished: judged.end.ending != Ending::InsideTurn,
            outcome: judged.outcome,
            has_edited: judged.has_edited,
            is_blocked: judged.is_blocked,
            run: judged.run.map(|run| (run.line, command(&run.command))),
        }
    }
}
