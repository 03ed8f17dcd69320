//! The worker: stores the relays of the jobs that hooks left.
//!
//! ```text
//! Stop ─ job ─► spool ─ worker ─► part of the transcript ─► Relay ─ redacted, cut, summed up ─► Record… ─ one transaction ─► memory.db
//!   ▲                                                                                                       │  │      │
//!   │                                                              [memory.summary] asked afterwards ◄──────┘  │      └─ outbox ─► team
//!   └────── titles and ids ◄── catalogue ◄─────────────────────────────────────────────────────────────────────┘
//! ```
//!
//! Every arrow may be cut. A job is removed only after its rows are stored, with those of other jobs in one transaction
//! ([`batch`]), and every row has a stable uid. So the worker may be killed at any point: a repeated job changes nothing,
//! and none is lost. A relay is first stored with a local summary; a language model is asked afterwards ([`summaries`]),
//! and whatever it does, the relay is there.

mod abandoned;
mod batch;
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
use crate::store::Store;

use batch::Run;
use relay_rows::RelayPlace;

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
    /// With the batch.
    Stored,
    Lost(String),
    Retry(String),
}

/// What becomes of a file in the spool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// It is gone, or goes with the batch.
    Goes,
    Stays,
    /// Jobs of this batch have to be stored one by one.
    Again,
}

impl Worker<'_> {
    /// Works until the spool is empty or time is up. An error of the store leaves its job and all later ones
    /// in the spool.
    pub fn run(&mut self) -> Result<WorkerReport> {
        let mut run = Run { retries: retries::read(self.state), ..Run::default() };
        self.drop_stale_retries(&mut run.retries)?;
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
                let path = queued.path.clone();
                match if waits { Next::Stays } else { self.process_file(queued, &mut run)? } {
                    Next::Goes => {}
                    Next::Stays => {
                        waiting.extend(session);
                        passed.push(path);
                    }
                    Next::Again => break,
                }
            }
            match self.store_batch(&mut run) {
                Err(error) if is_job_error(&error) && !run.is_one_by_one => run.is_one_by_one = true,
                done => done?,
            }
        }
        let Run { mut retries, mut report, .. } = run;
        self.schedule_missing_summaries(&mut retries)?;
        self.write_due_summaries(&mut retries, &mut report)?;
        let there = spool::list(self.state).map_err(|error| io_error("the spool", &error))?;
        let over = (self.now)() >= self.until;
        // Jobs that arrived during the summaries are not counted: no one tried them.
        report.left = there.iter().filter(|queued| over || passed.contains(&queued.path)).count();
        Ok(report)
    }

    fn process_file(&mut self, queued: Queued, run: &mut Run) -> Result<Next> {
        let job = match &queued.job {
            Ok(job) => job,
            Err(Unread::Newer(_)) => return Ok(Next::Stays),
            Err(Unread::NotNow(why)) => {
                (self.notify)(WorkerEvent::Unreadable { path: &queued.path, why });
                return Ok(Next::Stays);
            }
            Err(Unread::Damaged(why)) => {
                let path =
                    spool::set_aside(self.state, &queued).map_err(|error| io_error("the spool", &error))?;
                run.report.set_aside += 1;
                (self.notify)(WorkerEvent::SetAside { path: &path, why });
                return Ok(Next::Goes);
            }
        };
        self.check_home()?;
        let name = file_name(&queued);
        if !self.at_once && run.retries.jobs.get(&name).is_some_and(|retry| !retry.is_due((self.now)())) {
            return Ok(Next::Stays);
        }
        let done = match self.process_job(job, &name, run) {
            Err(error) if is_job_error(&error) && !run.is_one_by_one => {
                run.batch = batch::Batch::default();
                run.is_one_by_one = true;
                return Ok(Next::Again);
            }
            // Only this job is wrong; later ones need not wait.
            Err(error) if is_job_error(&error) && matches!(job.work, Work::Relays(_)) => {
                self.retry_later(&name, error.to_string(), &mut run.retries)?
            }
            done => done?,
        };
        match done {
            JobOutcome::Retry(why) => {
                (self.notify)(WorkerEvent::Retrying { job, why: &why });
                return Ok(Next::Stays);
            }
            JobOutcome::Stored => {
                run.batch.add_job(queued);
                if run.is_one_by_one {
                    self.store_batch(run)?;
                }
            }
            JobOutcome::Lost(why) => {
                run.report.lost += 1;
                (self.notify)(WorkerEvent::Lost { job, why: &why });
                self.remove_job(&queued, run)?;
            }
        }
        Ok(Next::Goes)
    }

    fn process_job(&mut self, job: &Job, name: &str, run: &mut Run) -> Result<JobOutcome> {
        let part = match &job.work {
            Work::Offered { topics } => {
                // Whether an offer counts depends on when its topic was active.
                self.store_batch(run)?;
                self.with_store(|store| store.note_offers(&job.session, topics, job.at))?;
                return Ok(JobOutcome::Stored);
            }
            Work::Relays(part) => part,
        };
        let gone = self.store_part(job, part, run)?;
        // Only a job of which nothing is missing leaves the spool with others.
        if gone.is_some() || run.is_one_by_one {
            self.store_batch(run)?;
        }
        match gone {
            None => Ok(JobOutcome::Stored),
            // It was missing at the end of the turn too: this host keeps no transcript.
            Some(TranscriptGone::Deleted) if part.to == 0 => Ok(JobOutcome::Stored),
            Some(gone @ TranscriptGone::Unreadable(_)) => {
                self.retry_later(name, gone.to_string(), &mut run.retries)
            }
            Some(gone) => Ok(JobOutcome::Lost(gone.to_string())),
        }
    }

    /// Returns why part of it is lost, if it is.
    fn store_part(
        &mut self,
        job: &Job,
        part: &TranscriptPart,
        run: &mut Run,
    ) -> Result<Option<TranscriptGone>> {
        let gone = match self.read_part(job, part, run)? {
            Ok(()) => return Ok(None),
            Err(gone) => gone,
        };
        // Stores what remains. A file that was started over may hold newer relays; their uids tell them
        // apart.
        if let TranscriptGone::Shorter { length, .. } = gone {
            let from = if length < part.from { 0 } else { part.from };
            let anew = TranscriptPart { from, to: length, answer: None, ..part.clone() };
            let read = self.read_part(job, &anew, run)?;
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
        run: &mut Run,
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
                    self.store_batch(run)?;
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
                    self.store_relay(job, part, &found, false, run)?;
                    last = Some(found);
                }
                Ok(NextRelay::End { answered }) => {
                    let settled = answered && (part.answer.is_some() || part.because == JobCause::Left);
                    if settled || looks == 0 {
                        break answered;
                    }
                    looks -= 1;
                    self.store_batch(run)?;
                    self.wait(LOOK_INTERVAL)?;
                }
            }
        };
        if let Some(found) = reader.finish() {
            self.store_relay(job, part, &found, true, run)?;
            last = Some(found);
        }
        Ok(if answered || self.is_same_transcript(part, last.as_ref(), run)? {
            Ok(())
        } else {
            Err(TranscriptGone::Replaced)
        })
    }

    /// Whether a file without the expected answer is still the one the job was about: it ends in a relay of
    /// the part, or in one that is already stored. An empty part cannot have lost anything.
    fn is_same_transcript(
        &mut self,
        part: &TranscriptPart,
        last: Option<&FoundRelay>,
        run: &mut Run,
    ) -> Result<bool> {
        if part.from == part.to {
            return Ok(true);
        }
        let Some(found) = last else { return Ok(false) };
        if found.began >= part.from {
            return Ok(true);
        }
        self.store_batch(run)?;
        self.with_store(|store| Ok(relay_rows::stored_log(store, &found.relay)?.is_some()))
    }

    /// Adds the rows of a relay to the batch.
    fn store_relay(
        &mut self,
        job: &Job,
        part: &TranscriptPart,
        found: &FoundRelay,
        last: bool,
        run: &mut Run,
    ) -> Result<()> {
        let relay = &*found.relay;
        // A part begins with the relay before it, in case that went on.
        let waiting = run.batch.pending.log_version(&relay.uid);
        if waiting.is_some_and(|version| version >= relay.ended) {
            return Ok(());
        }
        if run.batch.is_full() || waiting.is_some() {
            self.store_batch(run)?;
        }
        let again = self.summarise.is_some();
        let place = RelayPlace {
            session: &job.session,
            project: &part.project,
            topic: part.topic,
            lang: part.lang,
            pending: &run.batch.pending,
        };
        let records = self.with_store(|store| {
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
        let Some(records) = records else { return Ok(()) };
        if again && !run.retries.summaries.contains_key(&relay.uid) {
            let retry = Retry { tries: 0, next: (self.now)(), lang: part.lang };
            run.retries.summaries.insert(relay.uid.clone(), retry);
            run.has_new_summaries = true;
        }
        run.batch.add_relay(records, &part.project);
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

fn file_name(queued: &Queued) -> String {
    queued.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Whether the content of the job is to blame, not the state of the store.
fn is_job_error(error: &Error) -> bool {
    matches!(error.kind, ErrorKind::Missing | ErrorKind::Refused | ErrorKind::Other)
}

fn io_error(what: &str, error: &io::Error) -> Error {
    Error::new(ErrorKind::Io, format!("{what}: {error}"))
}
