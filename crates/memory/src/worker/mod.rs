//! The worker: takes jobs that hooks left, and stores what they are about.
//!
//! A job is taken away after what it is about is stored, in one transaction, and everything in it has a name of its own. So it
//! may be killed at any point: a job that is done twice changes nothing, and none is lost. What a language model is to sum up
//! is stored first with a summary of our own, and asked about afterwards ([`again`]): whatever becomes of that, the relay is
//! there.

mod again;
mod keep;
mod left;
mod order;

use std::collections::BTreeSet;
use std::io;
use std::time::Duration;

use tidegate_core::feature::memory::job::{Because, Job, Part, ProjectOf, Work};
use tidegate_core::feature::memory::relay::Relay;
use tidegate_core::feature::memory::summary::Told;
use tidegate_core::text::lang::Lang;
use tidegate_core::time::Millis;
use tidegate_state::feature::memory::relays::{Found, Gone, Next, Reader};
use tidegate_state::feature::memory::retries;
use tidegate_state::feature::memory::retries::{Retries, Retry};
use tidegate_state::feature::memory::spool;
use tidegate_state::feature::memory::spool::{Queued, Unread};
use tidegate_state::place::StateDir;

use crate::error::{Error, ErrorKind, Result};
use crate::store::{Put, Store};
use crate::view::Log;

pub use left::{Records, pick_up};

/// How long after a turn its answer is waited for. It usually comes within a tenth of a second.
const ANSWER_MS: u64 = 10_000;

/// How long after any other job the file is waited for.
const SETTLED_MS: u64 = 500;

/// How often it is looked whether something came.
const LOOK: Duration = Duration::from_millis(25);

/// How long is waited before a store is tried again that somebody else holds; then the job stays for the next worker.
const STORE_DELAYS: [Duration; 5] = [
    Duration::from_millis(50),
    Duration::from_millis(250),
    Duration::from_secs(1),
    Duration::from_secs(3),
    Duration::from_secs(6),
];

/// How long after each try a job waits whose transcript cannot be read. After the last it is given up.
const JOB_DELAYS_MS: [u64; 3] = [60_000, 600_000, 3_600_000];

/// A language model that sums up.
pub trait Summarise {
    /// As it stands in records.
    fn name(&self) -> String;
    /// Sums up. Takes as long as it takes; what it is given holds no secrets any more.
    fn sum_up(&mut self, relay: &Relay, lang: Lang) -> std::result::Result<Told, NotTold>;
}

/// Why there is no summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotTold {
    /// It was asked often enough in this hour.
    Enough,
    /// It failed, and may not fail another time.
    Failed(String),
}

/// Everything a worker works with. Time is told by whoever starts it.
pub struct Worker<'a> {
    /// Private state.
    pub state: &'a StateDir,
    /// Where everything goes.
    pub store: &'a mut dyn Store,
    /// Who sums up, if not we ourselves.
    pub summarise: Option<&'a mut dyn Summarise>,
    /// What time it is.
    pub now: &'a dyn Fn() -> Millis,
    /// Lets time pass.
    pub pause: &'a dyn Fn(Duration),
    /// Is told what happens.
    pub tell: &'a mut dyn FnMut(Progress<'_>),
    /// Nothing is begun after this time.
    pub until: Millis,
    /// What failed is tried again at once, not when its time has come.
    pub at_once: bool,
}

/// What happens while a worker works.
#[derive(Debug)]
pub enum Progress<'a> {
    /// So many jobs lie there.
    Jobs(usize),
    /// One more is done.
    Done(&'a Job),
    /// What a job is about is gone; the job is given up.
    Lost {
        /// The job.
        job: &'a Job,
        /// What happened.
        why: &'a str,
    },
    /// A job could not be done, and will be tried again.
    Later {
        /// The job.
        job: &'a Job,
        /// What happened.
        why: &'a str,
    },
    /// A file could not be read, and stays where it is.
    NotRead {
        /// Where it is.
        path: &'a std::path::Path,
        /// What happened.
        why: &'a str,
    },
    /// A file is no job. It was put aside.
    SetAside {
        /// Where it is now.
        path: &'a std::path::Path,
        /// What is wrong with it.
        why: &'a str,
    },
    /// Nobody summed a relay up.
    NotToldYet(&'a str),
}

/// What a worker did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Jobs that are done.
    pub jobs: usize,
    /// Relays that were new.
    pub new: usize,
    /// Relays of which there was more than before.
    pub changed: usize,
    /// Relays that a language model summed up.
    pub summed_up: usize,
    /// Jobs that were given up.
    pub lost: usize,
    /// Files that were no jobs.
    pub set_aside: usize,
    /// Jobs that lie there still: a newer program left them, they are to be tried later, or time was up.
    pub left: usize,
    /// The projects in which something was added.
    pub projects: Vec<ProjectOf>,
}

/// What became of a job.
enum Done {
    Stored,
    Lost(String),
    Later(String),
}

impl Worker<'_> {
    /// Does everything there is to do. An error of the store leaves its job, and those after it, where they are.
    pub fn run(&mut self) -> Result<Report> {
        let mut report = Report::default();
        let mut retries = retries::read(self.state);
        self.forget_old(&mut retries)?;
        let mut passed: Vec<std::path::PathBuf> = Vec::new();
        let mut waiting: BTreeSet<String> = BTreeSet::new();
        loop {
            // Jobs come while others are done.
            let queue = spool::list(self.state).map_err(|error| failed("the spool", &error))?;
            let queue: Vec<Queued> =
                queue.into_iter().filter(|queued| !passed.contains(&queued.path)).collect();
            if queue.is_empty() || (self.now)() >= self.until {
                break;
            }
            (self.tell)(Progress::Jobs(queue.len()));
            for queued in order::of_parts(queue) {
                if (self.now)() >= self.until {
                    break;
                }
                // A relay may go on in the next job of its session, which would not know it before this one is done.
                let session = order::part(&queued).map(|(session, _)| session.to_owned());
                let waits = session.as_ref().is_some_and(|session| waiting.contains(session));
                if waits || self.one(&queued, &mut retries, &mut report)? {
                    waiting.extend(session);
                    passed.push(queued.path);
                }
            }
        }
        self.find_unsummed(&mut retries)?;
        self.sum_up_again(&mut retries, &mut report)?;
        let there = spool::list(self.state).map_err(|error| failed("the spool", &error))?;
        let over = (self.now)() >= self.until;
        // What came while others were summed up is not left: nobody looked at it.
        report.left = there.iter().filter(|queued| over || passed.contains(&queued.path)).count();
        Ok(report)
    }

    /// One file of the spool. Tells whether it stays there.
    fn one(&mut self, queued: &Queued, retries: &mut Retries, report: &mut Report) -> Result<bool> {
        let job = match &queued.job {
            Ok(job) => job,
            Err(Unread::Newer(_)) => return Ok(true),
            Err(Unread::NotNow(why)) => {
                (self.tell)(Progress::NotRead { path: &queued.path, why });
                return Ok(true);
            }
            Err(Unread::Damaged(why)) => {
                let path =
                    spool::set_aside(self.state, queued).map_err(|error| failed("the spool", &error))?;
                report.set_aside += 1;
                (self.tell)(Progress::SetAside { path: &path, why });
                return Ok(false);
            }
        };
        let name = queued.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !self.at_once && retries.jobs.get(&name).is_some_and(|retry| retry.next > (self.now)()) {
            return Ok(true);
        }
        let done = match &job.work {
            Work::Offered { topics } => {
                self.with_store(|store| store.offered(&job.session, topics, job.at))?;
                Done::Stored
            }
            Work::Relays(part) => match self.relays(job, part, retries, report) {
                Ok(None) => Done::Stored,
                // Nor was it there when the turn ended: a host that keeps none.
                Ok(Some(Gone::Deleted)) if part.to == 0 => Done::Stored,
                Ok(Some(gone @ Gone::Unreadable(_))) => self.later(&name, gone.to_string(), retries)?,
                Ok(Some(gone)) => Done::Lost(gone.to_string()),
                // Something is wrong with this one job; those after it are not to wait for that.
                Err(error) if of_one_job(&error) => self.later(&name, error.to_string(), retries)?,
                Err(error) => return Err(error),
            },
        };
        match done {
            Done::Later(why) => {
                (self.tell)(Progress::Later { job, why: &why });
                return Ok(true);
            }
            Done::Stored => {
                report.jobs += 1;
                (self.tell)(Progress::Done(job));
            }
            Done::Lost(why) => {
                report.lost += 1;
                (self.tell)(Progress::Lost { job, why: &why });
            }
        }
        spool::remove(queued).map_err(|error| failed("the spool", &error))?;
        if retries.jobs.remove(&name).is_some() {
            self.write(retries)?;
        }
        Ok(false)
    }

    /// Stores the relays of a part; gives what is gone of it.
    fn relays(
        &mut self,
        job: &Job,
        part: &Part,
        retries: &mut Retries,
        report: &mut Report,
    ) -> Result<Option<Gone>> {
        let gone = match self.read(job, part, retries, report)? {
            Ok(()) => return Ok(None),
            Err(gone) => gone,
        };
        // What is left of the part is stored. Begun anew, the file may hold what was said since; whatever that is, it has names.
        if let Gone::Shorter { length, .. } = gone {
            let from = if length < part.from { 0 } else { part.from };
            let anew = Part { from, to: length, answer: None, ..part.clone() };
            let read = self.read(job, &anew, retries, report)?;
            return Ok(Some(read.err().unwrap_or(gone)));
        }
        Ok(Some(gone))
    }

    /// A job that could not be done waits for its next try, if there is one.
    fn later(&self, name: &str, why: String, retries: &mut Retries) -> Result<Done> {
        let new = Retry { tries: 0, next: Millis(0), lang: None };
        let retry = retries.jobs.entry(name.to_owned()).or_insert(new);
        let Some(delay) = JOB_DELAYS_MS.get(retry.tries as usize) else { return Ok(Done::Lost(why)) };
        retry.tries += 1;
        retry.next = Millis((self.now)().0 + delay);
        self.write(retries)?;
        Ok(Done::Later(why))
    }

    /// Reads a part and stores its relays.
    fn read(
        &mut self,
        job: &Job,
        part: &Part,
        retries: &mut Retries,
        report: &mut Report,
    ) -> Result<std::result::Result<(), Gone>> {
        let age = (self.now)().since(job.at);
        let wait = if part.answer.is_some() { ANSWER_MS } else { SETTLED_MS };
        // Counted, not timed: a clock that is set back does not make it wait longer.
        let mut looks = wait.saturating_sub(age) / LOOK.as_millis() as u64;
        let mut reader = loop {
            match Reader::open(part, job.at) {
                // The first lines of a session may still be on their way.
                Err(Gone::Deleted) if looks > 0 => {
                    looks -= 1;
                    (self.pause)(LOOK);
                }
                Err(gone) => return Ok(Err(gone)),
                Ok(reader) => break reader,
            }
        };
        let mut last = None;
        let answered = loop {
            match reader.read_on() {
                Err(gone) => return Ok(Err(gone)),
                Ok(Next::Relay(found)) => {
                    self.keep(job, part, &found, false, retries, report)?;
                    last = Some(found);
                }
                Ok(Next::End { answered }) => {
                    let settled = answered && (part.answer.is_some() || part.because == Because::Left);
                    if settled || looks == 0 {
                        break answered;
                    }
                    looks -= 1;
                    (self.pause)(LOOK);
                }
            }
        };
        if let Some(found) = reader.finish() {
            self.keep(job, part, &found, true, retries, report)?;
            last = Some(found);
        }
        Ok(if answered || self.holds(part, last.as_ref())? { Ok(()) } else { Err(Gone::Replaced) })
    }

    /// Whether a file in which the answer never came is still the one that the part is of: it ends in a relay of the part, or in one
    /// that is stored already. Of a part that was empty nothing can be gone.
    fn holds(&mut self, part: &Part, last: Option<&Found>) -> Result<bool> {
        if part.from == part.to {
            return Ok(true);
        }
        let Some(found) = last else { return Ok(false) };
        if found.began >= part.from {
            return Ok(true);
        }
        self.with_store(|store| match store.log(&found.relay.uid) {
            Err(error) if error.kind == ErrorKind::Refused => Ok(false),
            stored => Ok(stored?.is_some_and(|log| log.row.uid == found.relay.uid)),
        })
    }

    /// Stores one relay, which is the `last` of its part or not.
    fn keep(
        &mut self,
        job: &Job,
        part: &Part,
        found: &Found,
        last: bool,
        retries: &mut Retries,
        report: &mut Report,
    ) -> Result<()> {
        let relay = &*found.relay;
        let again = self.summarise.is_some();
        // Before it is stored: whoever is killed in between has only something too many to look at.
        let asks = again && !retries.summaries.contains_key(&relay.uid);
        let put = self.with_store(|store| {
            // Others that only begin like it say nothing about it.
            let known = match store.log(&relay.uid) {
                Err(error) if error.kind == ErrorKind::Refused => None,
                found => found?.filter(|log| log.row.uid == relay.uid),
            };
            // What was said before this part belongs to it only if it was recorded then.
            let of_part = found.began >= part.from;
            if known.as_ref().map_or(!of_part, |log| log.row.updated >= relay.ended) {
                return Ok(None);
            }
            // Nor does what was not recorded, or what another session recorded: a fork begins with that.
            let is_own = |log: &Log| log.row.session.as_ref() == Some(&job.session);
            if part.passed.is_some_and(|until| relay.at <= until) && !known.as_ref().is_some_and(is_own) {
                return Ok(None);
            }
            let before = known.filter(|_| !last).map(|log| log.row.topic);
            keep::records(store, job, part, relay, again, before).map(Some)
        })?;
        let Some(records) = put else { return Ok(()) };
        if asks {
            let retry = Retry { tries: 0, next: (self.now)(), lang: part.lang };
            retries.summaries.insert(relay.uid.clone(), retry);
            self.write(retries)?;
        }
        let done = self.with_store(|store| store.put(&records))?;
        match done.last() {
            Some(Put::New) => report.new += 1,
            Some(Put::Changed) => report.changed += 1,
            _ => {}
        }
        let same = |known: &ProjectOf| known.root == part.project.root && known.key == part.project.key;
        if !report.projects.iter().any(same) {
            report.projects.push(part.project.clone());
        }
        Ok(())
    }

    /// Does something with the store, and again after a while if somebody else holds it.
    fn with_store<T>(&mut self, mut act: impl FnMut(&mut dyn Store) -> Result<T>) -> Result<T> {
        let mut delays = STORE_DELAYS.iter();
        loop {
            match act(self.store) {
                Err(error) if error.passes() => match delays.next() {
                    Some(delay) => (self.pause)(*delay),
                    None => return Err(error),
                },
                done => return done,
            }
        }
    }

    /// Of a job that somebody else took away no try is left.
    fn forget_old(&self, retries: &mut Retries) -> Result<()> {
        if retries.jobs.is_empty() {
            return Ok(());
        }
        let queue = spool::list(self.state).map_err(|error| failed("the spool", &error))?;
        let there = |name: &String| queue.iter().any(|queued| queued.path.ends_with(name));
        let before = retries.jobs.len();
        retries.jobs.retain(|name, _| there(name));
        if retries.jobs.len() < before { self.write(retries) } else { Ok(()) }
    }

    fn write(&self, retries: &Retries) -> Result<()> {
        retries::write(self.state, retries).map_err(|error| failed("the worker's state", &error))
    }
}

/// Whether an error comes from what a job says, and not from the store's own state.
fn of_one_job(error: &Error) -> bool {
    matches!(error.kind, ErrorKind::Missing | ErrorKind::Refused | ErrorKind::Other)
}

fn failed(what: &str, error: &io::Error) -> Error {
    Error::new(ErrorKind::Io, format!("{what}: {error}"))
}
