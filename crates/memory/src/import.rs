//! Stores the conversations in transcripts that hosts left, as if the worker had recorded them.
//!
//! The rows are the worker's, with the same uids, so every way leads to one log for each relay: a second import, a fork,
//! a session that continues, a worker at the same time. Relays are written in batches, one transaction each. An import
//! that is cut off loses at most one batch, and the next one finds the rest.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use tidegate_core::event::SessionId;
use tidegate_core::feature::memory::job::RelayProject;
use tidegate_core::feature::memory::relay::Relay;
use tidegate_core::feature::memory::{said, summary};
use tidegate_core::host::Host;
use tidegate_core::host::transcript::ConversationOrigin;
use tidegate_core::text::fnv;
use tidegate_core::time::Millis;
use tidegate_state::feature::memory::conversation::{ConversationReader, ConversationRelay};
use tidegate_state::feature::memory::transcript_files::TranscriptFile;
use tidegate_state::place::StateDir;
use tidegate_state::project;
use tidegate_state::session::marks;

use crate::error::{Error, Result};
use crate::memory::Memory;
use crate::record::{LogRow, LogSource, Record};
use crate::store::{Put, Store};
use crate::view::Log;
use crate::worker::relay_rows::{self, LOCAL, PendingRows, RelayPlace};
use crate::worker::{IsRecorded, STORE_DELAYS};

/// Relays in one transaction. More would keep a worker waiting, and cost memory.
const BATCH: usize = 150;

/// Bytes of transcript between two reports of progress.
const STEP: u64 = 4 * 1024 * 1024;

/// Entries cannot be much newer than their file. A time in the future would win over every later version.
const CLOCKS_APART_MS: u64 = 24 * 3_600_000;

/// How much later than its last entry a stored relay is: a summary and a refreshed text add a millisecond each.
const VERSIONS_APART_MS: u64 = 10;

/// Files that are named in a report.
const NAMED: usize = 10;

pub struct Importer<'a> {
    /// `None` if nothing is stored yet, and nothing is to be.
    pub memory: Option<&'a mut Memory>,
    pub state: &'a StateDir,
    pub now: Millis,
    /// Earlier relays are left out.
    pub since: Option<Millis>,
    /// Counts and stores nothing.
    pub only_counts: bool,
    pub records: &'a IsRecorded<'a>,
    /// Called every few megabytes.
    pub notify: &'a mut dyn FnMut(&ImportReport),
}

#[derive(Clone, Debug, Default)]
pub struct ImportReport {
    /// Transcripts that were read.
    pub files: usize,
    pub bytes: u64,
    pub conversations: usize,
    /// Relays that are new here.
    pub new: usize,
    /// Known relays that have grown, or whose text an older version had shortened.
    pub changed: usize,
    /// Relays that are already here.
    pub known: usize,
    /// Relays that a person deleted.
    pub forgotten: usize,
    /// Relays of which no record is wanted: recording is off there, or no person was there.
    pub unwanted: usize,
    pub damaged_lines: u64,
    /// Secrets that were removed from new and changed relays, as they were stored.
    pub secrets: u64,
    /// The first few files that could not be read, with the reason, and their number.
    pub unreadable: Vec<(PathBuf, String)>,
    pub unreadable_files: usize,
    /// Files that are not transcripts.
    pub other_files: usize,
    /// The first and the last relay.
    pub from: Option<Millis>,
    pub to: Option<Millis>,
    /// By their keys.
    pub projects: BTreeMap<String, ImportedProject>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportedProject {
    pub name: String,
    pub root: String,
    pub conversations: usize,
    pub exchanges: usize,
}

impl ImportReport {
    /// All that were found and wanted.
    pub fn exchanges(&self) -> usize {
        self.new + self.changed + self.known + self.forgotten
    }

    fn count_relay(&mut self, relay: &Relay, project: &RelayProject) {
        // Some lines have no time.
        if relay.at > Millis(0) {
            self.from = Some(self.from.map_or(relay.at, |from| from.min(relay.at)));
            self.to = Some(self.to.map_or(relay.at, |to| to.max(relay.at)));
        }
        self.project(project).exchanges += 1;
    }

    fn project(&mut self, project: &RelayProject) -> &mut ImportedProject {
        self.projects.entry(project.key.clone()).or_insert_with(|| ImportedProject {
            name: project.name.clone(),
            root: project.root.clone(),
            ..ImportedProject::default()
        })
    }
}

/// The state of one import.
struct Run<'i, 'a> {
    importer: &'i mut Importer<'a>,
    report: ImportReport,
    batch: Vec<Record>,
    /// Relays in the batch.
    waiting: usize,
    pending: PendingRows,
    sessions: BTreeSet<u64>,
    /// By the folder of the conversation.
    projects: HashMap<String, RelayProject>,
    /// By the project's root, with and without a person.
    recorded: HashMap<(String, bool), bool>,
    told: u64,
}

impl Importer<'_> {
    /// Reads the files one after the other. A file that cannot be read is counted; an error of the store ends the import.
    pub fn run(&mut self, files: &[TranscriptFile]) -> Result<ImportReport> {
        let mut run = Run {
            importer: self,
            report: ImportReport::default(),
            batch: Vec::new(),
            waiting: 0,
            pending: PendingRows::default(),
            sessions: BTreeSet::new(),
            projects: HashMap::new(),
            recorded: HashMap::new(),
            told: 0,
        };
        for file in files {
            // Nothing in it can be newer.
            if run.importer.since.is_some_and(|since| file.changed < since) {
                continue;
            }
            run.read_file(file)?;
        }
        run.write_batch()?;
        Ok(run.report)
    }
}

impl Run<'_, '_> {
    fn read_file(&mut self, file: &TranscriptFile) -> Result<()> {
        let mut reader = match ConversationReader::open(&file.path) {
            Ok(Some(reader)) => reader,
            Ok(None) => {
                self.report.other_files += 1;
                return Ok(());
            }
            Err(error) => {
                self.not_read(&file.path, &error);
                return Ok(());
            }
        };
        self.report.files += 1;
        let before = self.report.bytes;
        let mut sessions: HashMap<String, SessionPlace> = HashMap::new();
        loop {
            let next = reader.next_relay();
            self.report.bytes = before + reader.bytes_read();
            self.tell_progress();
            match next {
                Err(error) => {
                    self.not_read(&file.path, &error);
                    break;
                }
                Ok(None) => break,
                Ok(Some(found)) => {
                    self.take_relay(file, reader.host(), reader.origin(), found, &mut sessions)?;
                }
            }
        }
        self.report.damaged_lines += reader.damaged();
        Ok(())
    }

    fn not_read(&mut self, path: &Path, error: &std::io::Error) {
        self.report.unreadable_files += 1;
        if self.report.unreadable.len() < NAMED {
            self.report.unreadable.push((path.to_owned(), error.to_string()));
        }
    }

    fn tell_progress(&mut self) {
        if self.report.bytes - self.told >= STEP {
            self.told = self.report.bytes;
            (self.importer.notify)(&self.report);
        }
    }

    fn take_relay(
        &mut self,
        file: &TranscriptFile,
        host: Host,
        origin: &ConversationOrigin,
        mut found: ConversationRelay,
        sessions: &mut HashMap<String, SessionPlace>,
    ) -> Result<()> {
        let latest = Millis(file.changed.min(self.importer.now).0 + CLOCKS_APART_MS);
        let relay = &mut found.relay;
        (relay.at, relay.ended) = (relay.at.min(latest), relay.ended.min(latest));
        if self.importer.since.is_some_and(|since| relay.at < since) || is_own_call(origin) {
            return Ok(());
        }
        let relay = &*found.relay;
        let ids = [relay.session.as_deref(), origin.session.as_deref()];
        let session = name_session(&file.path, host, ids);
        if !sessions.contains_key(&session) {
            let place = SessionPlace {
                project: self.project_of(file, origin, &session)?,
                passed: self.passed(&session),
            };
            sessions.insert(session.clone(), place);
        }
        let SessionPlace { project, passed } = &sessions[&session];
        if !self.is_recorded(&project.root, !found.is_unattended) {
            self.report.unwanted += 1;
            return Ok(());
        }
        if self.pending.has_log(&relay.uid) {
            self.write_batch()?;
        }
        let Some((outcome, records)) = self.find_rows(&session, project, relay, *passed)? else {
            self.report.unwanted += 1;
            return Ok(());
        };
        self.report.count_relay(relay, project);
        if self.sessions.insert(fnv::hash(session.bytes())) {
            self.report.conversations += 1;
            self.report.project(project).conversations += 1;
        }
        if outcome == Outcome::Known {
            self.report.known += 1;
            return Ok(());
        }
        if self.importer.only_counts {
            match outcome {
                Outcome::Changed => self.report.changed += 1,
                Outcome::Forgotten => self.report.forgotten += 1,
                Outcome::New | Outcome::Known => self.report.new += 1,
            }
            return Ok(());
        }
        self.pending.add(&records);
        self.batch.extend(records);
        self.waiting += 1;
        if self.waiting >= BATCH { self.write_batch() } else { Ok(()) }
    }

    /// `None` if the relay is not wanted here.
    fn find_rows(
        &mut self,
        session: &str,
        project: &RelayProject,
        relay: &Relay,
        passed: Option<Millis>,
    ) -> Result<Option<(Outcome, Vec<Record>)>> {
        let pending = &self.pending;
        let place = RelayPlace { session, project, topic: None, lang: None, pending };
        let only_counts = self.importer.only_counts;
        let Some(memory) = self.importer.memory.as_deref_mut() else {
            let is_wanted = passed.is_none_or(|until| relay.at > until);
            return Ok(is_wanted.then(|| (Outcome::New, Vec::new())));
        };
        retry(|| {
            let known = relay_rows::stored_log(memory, relay)?;
            if !relay_rows::may_store(memory, &place, relay, known.as_ref(), passed)? {
                // A copy in a fork, or one with a forged uid: it is here, and stays as it is.
                return Ok(known.map(|_| (Outcome::Known, Vec::new())));
            }
            if let Some(log) = known.as_ref().filter(|log| log.row.updated >= relay.ended) {
                let rows = refreshed_rows(log, relay);
                return Ok(Some(rows.map_or((Outcome::Known, Vec::new()), |rows| (Outcome::Changed, rows))));
            }
            let outcome = if known.is_some() { Outcome::Changed } else { Outcome::New };
            if only_counts {
                let is_forgotten = outcome == Outcome::New
                    && (memory.store().is_forgotten(&relay.uid)? || memory.store().is_forgotten(session)?);
                let outcome = if is_forgotten { Outcome::Forgotten } else { outcome };
                return Ok(Some((outcome, Vec::new())));
            }
            let before = known.map(|log| log.row.topic);
            Ok(Some((outcome, relay_rows::rows_of_relay(memory, &place, relay, false, before)?)))
        })
    }

    fn write_batch(&mut self) -> Result<()> {
        let records = std::mem::take(&mut self.batch);
        (self.pending, self.waiting) = (PendingRows::default(), 0);
        let Some(memory) = self.importer.memory.as_deref_mut().filter(|_| !records.is_empty()) else {
            return Ok(());
        };
        let puts = retry(|| memory.put(&records))?;
        for (record, put) in records.iter().zip(puts) {
            let Record::Log(log) = record else { continue };
            if matches!(put, Put::New | Put::Changed) {
                self.report.secrets += log.redacted.values().map(|count| u64::from(*count)).sum::<u64>();
            }
            match put {
                Put::New => self.report.new += 1,
                Put::Changed => self.report.changed += 1,
                Put::Kept => self.report.known += 1,
                Put::Forgotten => self.report.forgotten += 1,
            }
        }
        Ok(())
    }

    /// That of the session if it is known, else that of the folder in which it began.
    fn project_of(
        &mut self,
        file: &TranscriptFile,
        origin: &ConversationOrigin,
        session: &str,
    ) -> Result<RelayProject> {
        let stored = match self.importer.memory.as_deref_mut() {
            Some(memory) => retry(|| memory.session(session))?,
            None => None,
        };
        let said = origin.folder.as_deref().filter(|folder| Path::new(folder).is_absolute());
        // Without a folder, conversations that lie together belong together.
        let nearby = || file.path.parent().unwrap_or(&file.path).to_string_lossy().into_owned();
        let root = stored
            .map(|row| row.root)
            .filter(|root| Path::new(root).is_absolute())
            .or_else(|| said.map(str::to_owned))
            .unwrap_or_else(nearby);
        let known = self.projects.entry(root).or_insert_with_key(|root| {
            let top = project::root(None, Some(Path::new(root)));
            project::memory_project(top.as_deref().unwrap_or(Path::new(root)))
        });
        // The branch of today says nothing about that time.
        Ok(RelayProject { branch: origin.branch.clone(), ..known.clone() })
    }

    fn passed(&self, session: &str) -> Option<Millis> {
        let folder = self.importer.state.session(&SessionId::parse(session).ok()?);
        marks::read(&folder).value()?.memory.spooled?.passed
    }

    fn is_recorded(&mut self, root: &str, is_attended: bool) -> bool {
        let records = self.importer.records;
        *self
            .recorded
            .entry((root.to_owned(), is_attended))
            .or_insert_with(|| records(Path::new(root), is_attended))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// Already here.
    Known,
    New,
    Changed,
    /// A person deleted it; found only where nothing is stored.
    Forgotten,
}

/// What is known of a session, apart from its transcript.
struct SessionPlace {
    project: RelayProject,
    /// The time until which it was not recorded.
    passed: Option<Millis>,
}

/// By the host's id of the session, else by one that is the same at every import.
fn name_session(path: &Path, host: Host, ids: [Option<&str>; 2]) -> String {
    let named = path.file_stem().map(|stem| stem.to_string_lossy());
    let hashed = format!("{:016x}", fnv::hash(path.as_os_str().as_encoded_bytes().iter().copied()));
    ids.into_iter()
        .chain([named.as_deref(), Some(hashed.as_str())])
        .flatten()
        .find_map(|id| SessionId::of(host, id).ok())
        .map_or_else(|| hashed.clone(), |id| id.to_string())
}

/// Tidegate itself asked for a summary, in a temporary folder of its own. Clients that do not know
/// `--no-session-persistence` keep a transcript of it.
fn is_own_call(origin: &ConversationOrigin) -> bool {
    let Some(folder) = origin.folder.as_deref().map(Path::new) else { return false };
    let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let is_temporary = name
        .strip_prefix("tidegate-")
        .is_some_and(|rest| rest.len() == 6 && rest.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    is_temporary && !folder.exists()
}

/// The rows of a relay whose stored text is only a part of what was said, as 0.1 stored it. Its topic stays, and so does
/// a summary by a language model.
fn refreshed_rows(stored: &Log, relay: &Relay) -> Option<Vec<Record>> {
    let (row, answer) = (&stored.row, said::join(&relay.said));
    let is_same_extent = row.updated.0 <= relay.ended.0 + VERSIONS_APART_MS
        || (!row.answer.is_empty() && row.answer == relay.answer);
    if row.source != LogSource::Relay || !is_same_extent || answer.len() <= row.answer.len() {
        return None;
    }
    let session = row.session.clone()?;
    let mut rows = relay_rows::found_decisions(relay, &row.topic, &session);
    let told = summary::summarise_locally(relay, None);
    let is_local = row.summary.by == LOCAL;
    rows.push(Record::Log(LogRow {
        title: if is_local { told.title } else { row.title.clone() },
        text: if is_local { told.text } else { row.text.clone() },
        prompt: relay.prompt.clone(),
        answer,
        tools: relay.tools.clone(),
        files: relay.files.clone(),
        redacted: relay_rows::count_secrets(relay),
        updated: Millis(row.updated.0 + 1),
        ..row.clone()
    }));
    Some(rows)
}

/// Tries again while another process holds the store.
fn retry<T>(mut act: impl FnMut() -> Result<T>) -> Result<T> {
    let mut delays = STORE_DELAYS.iter();
    loop {
        match act() {
            Err(error) if Error::passes(&error) => match delays.next() {
                Some(delay) => std::thread::sleep(*delay),
                None => return Err(error),
            },
            done => return done,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_has_its_host_in_its_name() {
        let path = Path::new("/t/my rollout.jsonl");
        let name = |host, ids| name_session(path, host, ids);
        assert_eq!(name(Host::Codex, [None, Some("s-1")]), "codex.s-1");
        assert_eq!(name(Host::ClaudeCode, [Some("s-1"), None]), "s-1");
        let hashed = name(Host::ClaudeCode, [Some("no id"), None]);
        assert_eq!(hashed.len(), 16);
        assert_eq!(name(Host::Codex, [None, None]), format!("codex.{hashed}"));
    }
}
