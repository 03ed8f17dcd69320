//! The worker: stores the relays of the jobs that hooks left.
//!
//! ```text
//! Stop ─ job ─► spool ─ worker ─► part of the transcript ─► Relay ─ redacted, cut, summed up ─► Record… ─ one transaction ─► memory.db
//!   ▲                                                                                                       │  │      │
//!   │                                                              [memory.summary] asked afterwards ◄──────┘  │      └─ outbox ─► team
//!   └────── titles and ids ◄── catalogue ◄─────────────────────────────────────────────────────────────────────┘
//! ```
//!
//! Every arrow may be cut. A job is removed only after its rows are stored in one transaction, and every row
//! has a stable uid. So the worker may be killed at any point: a repeated job changes nothing, and none is
//! lost. A relay is first stored with a local summary; a language model is asked afterwards ([`summaries`]),
//! and whatever it does, the relay is there.

mod abandoned;
mod job_order;
pub(crate) mod relay_rows;
mod summaries;

use std::collections::BTreeSet;
use std::io;
use std::time::Duration;

use tidegate_core::feature::memory::job::{Job, JobCause, RelayProject, TranscriptPart, Work};
use tidegate_core::feature::memory::summary::RelaySummary;
use tidegate_core::text::lang::Lang;
use tidegate_core::time::Millis;
use tidegate_state::feature::memory::relays::{FoundRelay, NextRelay, RelayReader, TranscriptGone};
use tidegate_state::feature::memory::retries;
use tidegate_state::feature::memory::retries::{Retries, Retry};
use tidegate_state::feature::memory::spool;
use tidegate_state::feature::memory::spool::{Queued, Unread};
use tidegate_state::place::StateDir;

use crate::error::{Error, ErrorKind, Result};
use crate::store::{Put, Store};

use relay_rows::{PendingRows, RelayPlace};

pub use abandoned::{IsRecorded, queue_abandoned_sessions};

/// Generous: an answer usually reaches the transcript within a tenth of a second.
const ANSWER_WAIT_MS: u64 = 10_000;

/// The wait for a transcript in jobs that expect no answer.
const FILE_WAIT_MS: u64 = 500;

const LOOK_INTERVAL: Duration = Duration::from_millis(25);

/// Pauses between tries while another process holds the store. After the last one the job stays for the next
/// worker.
pub(crate) const STORE_DELAYS: [Duration; 5] = [
    Duration::from_millis(50),
    Duration::from_millis(250),
    Duration::from_secs(1),
    Duration::from_secs(3),
    Duration::from_secs(6),
];

/// Pauses between tries of a job whose transcript cannot be read. After the last one the job is given up.
const JOB_DELAYS_MS: [u64; 3] = [60_000, 600_000, 3_600_000];

/// A language model that summarises relays.
pub trait Summarise {
    /// As shown in records.
    fn name(&self) -> String;
    /// Blocks until the summary is there. `message` holds the relay, without its secrets ([`summary::message`]).
    ///
    /// [`summary::message`]: tidegate_core::feature::memory::summary::message
    fn sum_up(&mut self, message: String, lang: Lang) -> std::result::Result<RelaySummary, NoSummary>;
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoSummary {
    /// The hourly limit of requests is reached.
    LimitReached,
    /// May succeed another time.
    Failed(String),
}

/// Time is an argument: tests set it.
pub struct Worker<'a> {
    pub state: &'a StateDir,
    pub store: &'a mut dyn Store,
    /// `None` if only local summaries are wanted.
    pub summarise: Option<&'a mut dyn Summarise>,
    pub now: &'a dyn Fn() -> Millis,
    pub pause: &'a dyn Fn(Duration),
    pub notify: &'a mut dyn FnMut(WorkerEvent<'_>),
    /// No new job is started after this time.
    pub until: Millis,
    /// Retries failed jobs and summaries now instead of when they are due.
    pub at_once: bool,
}

/// For the log and the terminal.
#[derive(Debug)]
pub enum WorkerEvent<'a> {
    JobsFound(usize),
    Done(&'a Job),
    /// The transcript is gone; the job is given up.
    Lost {
        job: &'a Job,
        why: &'a str,
    },
    /// The job failed and will be retried.
    Retrying {
        job: &'a Job,
        why: &'a str,
    },
    /// A spool file could not be read and stays.
    Unreadable {
        path: &'a std::path::Path,
        why: &'a str,
    },
    /// A spool file is not a job; it was moved away.
    SetAside {
        path: &'a std::path::Path,
        why: &'a str,
    },
    SummaryFailed(&'a str),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkerReport {
    pub jobs: usize,
    pub new: usize,
    /// Known relays that have grown.
    pub changed: usize,
    /// By a language model.
    pub summed_up: usize,
    /// Given up.
    pub lost: usize,
    /// Spool files that are not jobs.
    pub set_aside: usize,
    /// Jobs that remain: written by a newer version, to be retried, or out of time.
    pub left: usize,
    /// Projects with new rows.
    pub projects: Vec<RelayProject>,
}

enum JobOutcome {
    Stored,
    Lost(String),
    Retry(String),
}

impl Worker<'_> {
    /// Works until the spool is empty or time is up. An error of the store leaves its job and all later ones
    /// in the spool.
    pub fn run(&mut self) -> Result<WorkerReport> {
        let mut report = WorkerReport::default();
        let mut retries = retries::read(self.state);
        self.drop_stale_retries(&mut retries)?;
        let mut passed: Vec<std::path::PathBuf> = Vec::new();
        let mut waiting: BTreeSet<String> = BTreeSet::new();
        loop {
            // Hooks may add jobs meanwhile.
            let queue = spool::list(self.state).map_err(|error| io_error("the spool", &error))?;
            let queue: Vec<Queued> =
                queue.into_iter().filter(|queued| !passed.contains(&queued.path)).collect();
            if queue.is_empty() || (self.now)() >= self.until {
                break;
            }
            (self.notify)(WorkerEvent::JobsFound(queue.len()));
            for queued in job_order::sort_jobs(queue) {
                if (self.now)() >= self.until {
                    break;
                }
                // A relay can continue in the next job of its session, which finds it only once this job is
                // stored.
                let session = job_order::transcript_part(&queued).map(|(session, _)| session.to_owned());
                let waits = session.as_ref().is_some_and(|session| waiting.contains(session));
                if waits || self.process_file(&queued, &mut retries, &mut report)? {
                    waiting.extend(session);
                    passed.push(queued.path);
                }
            }
        }
        self.schedule_missing_summaries(&mut retries)?;
        self.write_due_summaries(&mut retries, &mut report)?;
        let there = spool::list(self.state).map_err(|error| io_error("the spool", &error))?;
        let over = (self.now)() >= self.until;
        // Jobs that arrived during the summaries are not counted: no one tried them.
        report.left = there.iter().filter(|queued| over || passed.contains(&queued.path)).count();
        Ok(report)
    }

    /// Returns whether the file stays in the spool.
    fn process_file(
        &mut self,
        queued: &Queued,
        retries: &mut Retries,
        report: &mut WorkerReport,
    ) -> Result<bool> {
        let job = match &queued.job {
            Ok(job) => job,
            Err(Unread::Newer(_)) => return Ok(true),
            Err(Unread::NotNow(why)) => {
                (self.notify)(WorkerEvent::Unreadable { path: &queued.path, why });
                return Ok(true);
            }
            Err(Unread::Damaged(why)) => {
                let path =
                    spool::set_aside(self.state, queued).map_err(|error| io_error("the spool", &error))?;
                report.set_aside += 1;
                (self.notify)(WorkerEvent::SetAside { path: &path, why });
                return Ok(false);
            }
        };
        self.check_home()?;
        let name = queued.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !self.at_once && retries.jobs.get(&name).is_some_and(|retry| retry.next > (self.now)()) {
            return Ok(true);
        }
        let done = match &job.work {
            Work::Offered { topics } => {
                self.with_store(|store| store.note_offers(&job.session, topics, job.at))?;
                JobOutcome::Stored
            }
            Work::Relays(part) => match self.store_part(job, part, retries, report) {
                Ok(None) => JobOutcome::Stored,
                // It was missing at the end of the turn too: this host keeps no transcript.
                Ok(Some(TranscriptGone::Deleted)) if part.to == 0 => JobOutcome::Stored,
                Ok(Some(gone @ TranscriptGone::Unreadable(_))) => {
                    self.retry_later(&name, gone.to_string(), retries)?
                }
                Ok(Some(gone)) => JobOutcome::Lost(gone.to_string()),
                // Only this job is wrong; later ones need not wait.
                Err(error) if is_job_error(&error) => self.retry_later(&name, error.to_string(), retries)?,
                Err(error) => return Err(error),
            },
        };
        match done {
            JobOutcome::Retry(why) => {
                (self.notify)(WorkerEvent::Retrying { job, why: &why });
                return Ok(true);
            }
            JobOutcome::Stored => {
                report.jobs += 1;
                (self.notify)(WorkerEvent::Done(job));
            }
            JobOutcome::Lost(why) => {
                report.lost += 1;
                (self.notify)(WorkerEvent::Lost { job, why: &why });
            }
        }
        spool::remove(queued).map_err(|error| io_error("the spool", &error))?;
        if retries.jobs.remove(&name).is_some() {
            self.write_retries(retries)?;
        }
        Ok(false)
    }

    /// Returns why part of it is lost, if it is.
    fn store_part(
        &mut self,
        job: &Job,
        part: &TranscriptPart,
        retries: &mut Retries,
        report: &mut WorkerReport,
    ) -> Result<Option<TranscriptGone>> {
        let gone = match self.read_part(job, part, retries, report)? {
            Ok(()) => return Ok(None),
            Err(gone) => gone,
        };
        // Stores what remains. A file that was started over may hold newer relays; their uids tell them
        // apart.
        if let TranscriptGone::Shorter { length, .. } = gone {
            let from = if length < part.from { 0 } else { part.from };
            let anew = TranscriptPart { from, to: length, answer: None, ..part.clone() };
            let read = self.read_part(job, &anew, retries, report)?;
            return Ok(Some(read.err().unwrap_or(gone)));
        }
        Ok(Some(gone))
    }

    /// Schedules the next try, or gives the job up after the last one.
    fn retry_later(&self, name: &str, why: String, retries: &mut Retries) -> Result<JobOutcome> {
        let new = Retry { tries: 0, next: Millis(0), lang: None };
        let retry = retries.jobs.entry(name.to_owned()).or_insert(new);
        let Some(delay) = JOB_DELAYS_MS.get(retry.tries as usize) else { return Ok(JobOutcome::Lost(why)) };
        retry.tries += 1;
        retry.next = Millis((self.now)().0 + delay);
        self.write_retries(retries)?;
        Ok(JobOutcome::Retry(why))
    }

    fn read_part(
        &mut self,
        job: &Job,
        part: &TranscriptPart,
        retries: &mut Retries,
        report: &mut WorkerReport,
    ) -> Result<std::result::Result<(), TranscriptGone>> {
        let age = (self.now)().since(job.at);
        let wait = if part.answer.is_some() { ANSWER_WAIT_MS } else { FILE_WAIT_MS };
        // Counts looks instead of time: a clock that moves back does not prolong the wait.
        let mut looks = wait.saturating_sub(age) / LOOK_INTERVAL.as_millis() as u64;
        let mut reader = loop {
            match RelayReader::open(part, job.at) {
                // The first lines of a session may not be written yet.
                Err(TranscriptGone::Deleted) if looks > 0 => {
                    looks -= 1;
                    self.wait(LOOK_INTERVAL)?;
                }
                Err(gone) => return Ok(Err(gone)),
                Ok(reader) => break reader,
            }
        };
        let mut last = None;
        let answered = loop {
            match reader.read_next() {
                Err(gone) => return Ok(Err(gone)),
                Ok(NextRelay::Relay(found)) => {
                    self.store_relay(job, part, &found, false, retries, report)?;
                    last = Some(found);
                }
                Ok(NextRelay::End { answered }) => {
                    let settled = answered && (part.answer.is_some() || part.because == JobCause::Left);
                    if settled || looks == 0 {
                        break answered;
                    }
                    looks -= 1;
                    self.wait(LOOK_INTERVAL)?;
                }
            }
        };
        if let Some(found) = reader.finish() {
            self.store_relay(job, part, &found, true, retries, report)?;
            last = Some(found);
        }
        Ok(if answered || self.is_same_transcript(part, last.as_ref())? {
            Ok(())
        } else {
            Err(TranscriptGone::Replaced)
        })
    }

    /// Whether a file without the expected answer is still the one the job was about: it ends in a relay of
    /// the part, or in one that is already stored. An empty part cannot have lost anything.
    fn is_same_transcript(&mut self, part: &TranscriptPart, last: Option<&FoundRelay>) -> Result<bool> {
        if part.from == part.to {
            return Ok(true);
        }
        let Some(found) = last else { return Ok(false) };
        if found.began >= part.from {
            return Ok(true);
        }
        self.with_store(|store| Ok(relay_rows::stored_log(store, &found.relay)?.is_some()))
    }

    fn store_relay(
        &mut self,
        job: &Job,
        part: &TranscriptPart,
        found: &FoundRelay,
        last: bool,
        retries: &mut Retries,
        report: &mut WorkerReport,
    ) -> Result<()> {
        let relay = &*found.relay;
        let again = self.summarise.is_some();
        // Queued before the relay is stored: a crash in between leaves only a stale queue entry.
        let asks = again && !retries.summaries.contains_key(&relay.uid);
        let pending = PendingRows::default();
        let place = RelayPlace {
            session: &job.session,
            project: &part.project,
            topic: part.topic,
            lang: part.lang,
            pending: &pending,
        };
        let put = self.with_store(|store| {
            let known = relay_rows::stored_log(store, relay)?;
            // A relay from before this part counts only if it was recorded then.
            let of_part = found.began >= part.from;
            if known.as_ref().map_or(!of_part, |log| log.row.updated >= relay.ended)
                || !relay_rows::may_store(store, &place, relay, known.as_ref(), part.passed)?
            {
                return Ok(None);
            }
            let before = known.filter(|_| !last).map(|log| log.row.topic);
            relay_rows::rows_of_relay(store, &place, relay, again, before).map(Some)
        })?;
        let Some(records) = put else { return Ok(()) };
        if asks {
            let retry = Retry { tries: 0, next: (self.now)(), lang: part.lang };
            retries.summaries.insert(relay.uid.clone(), retry);
            self.write_retries(retries)?;
        }
        let done = self.with_store(|store| store.put(&records))?;
        match done.last() {
            Some(Put::New) => report.new += 1,
            Some(Put::Changed) => report.changed += 1,
            _ => {}
        }
        let same = |known: &RelayProject| known.root == part.project.root && known.key == part.project.key;
        if !report.projects.iter().any(same) {
            report.projects.push(part.project.clone());
        }
        Ok(())
    }

    /// Ends the worker if somebody deleted the state directory meanwhile: its jobs are gone, too.
    fn wait(&self, delay: Duration) -> Result<()> {
        (self.pause)(delay);
        self.check_home()
    }

    fn check_home(&self) -> Result<()> {
        if self.state.is_there() {
            return Ok(());
        }
        Err(Error::new(ErrorKind::Io, format!("{} is gone", self.state.root().display())))
    }

    /// Retries while another process holds the store.
    fn with_store<T>(&mut self, mut act: impl FnMut(&mut dyn Store) -> Result<T>) -> Result<T> {
        let mut delays = STORE_DELAYS.iter();
        loop {
            match act(self.store) {
                Err(error) if error.passes() => match delays.next() {
                    Some(delay) => self.wait(*delay)?,
                    None => return Err(error),
                },
                done => return done,
            }
        }
    }

    /// Drops retries of jobs that another worker has finished.
    fn drop_stale_retries(&self, retries: &mut Retries) -> Result<()> {
        if retries.jobs.is_empty() {
            return Ok(());
        }
        let queue = spool::list(self.state).map_err(|error| io_error("the spool", &error))?;
        let there = |name: &String| queue.iter().any(|queued| queued.path.ends_with(name));
        let before = retries.jobs.len();
        retries.jobs.retain(|name, _| there(name));
        if retries.jobs.len() < before { self.write_retries(retries) } else { Ok(()) }
    }

    fn write_retries(&self, retries: &Retries) -> Result<()> {
        retries::write(self.state, retries).map_err(|error| io_error("the worker's state", &error))
    }
}

/// Whether the content of the job is to blame, not the state of the store.
fn is_job_error(error: &Error) -> bool {
    matches!(error.kind, ErrorKind::Missing | ErrorKind::Refused | ErrorKind::Other)
}

fn io_error(what: &str, error: &io::Error) -> Error {
    Error::new(ErrorKind::Io, format!("{what}: {error}"))
}
