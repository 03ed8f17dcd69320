//! Rows of several jobs that are stored in one transaction: the transaction, the files for the hooks and the merging of
//! the index cost more than the rows of one relay, and a queue can hold thousands.
//!
//! A job leaves the spool once its rows are stored. If the store refuses a row, nothing of the batch is stored and all
//! its jobs are still in the spool. The rest of the run then stores each job by itself, so that only the refused one
//! has to wait.

use tidegate_core::feature::memory::job::RelayProject;
use tidegate_state::feature::memory::retries::Retries;
use tidegate_state::feature::memory::spool::{self, Queued};

use super::relay_rows::PendingRows;
use super::{Worker, WorkerEvent, WorkerReport, io_error};
use crate::error::Result;
use crate::record::Record;
use crate::store::Put;

/// Relays in one transaction. A hook waits for none of it, but a reader of the memory sees them this much later.
const RELAYS: usize = 100;

/// The state of one run.
#[derive(Default)]
pub(super) struct Run {
    pub(super) retries: Retries,
    /// Summaries were asked for and are not in the file yet.
    pub(super) has_new_summaries: bool,
    pub(super) report: WorkerReport,
    pub(super) batch: Batch,
    /// The store refused a batch: each job is stored by itself.
    pub(super) is_one_by_one: bool,
}

#[derive(Default)]
pub(super) struct Batch {
    records: Vec<Record>,
    pub(super) pending: PendingRows,
    relays: usize,
    projects: Vec<RelayProject>,
    /// Jobs that are done once the rows are stored.
    jobs: Vec<Queued>,
}

impl Batch {
    pub(super) fn add_relay(&mut self, records: Vec<Record>, project: &RelayProject) {
        self.pending.add(&records);
        self.records.extend(records);
        self.relays += 1;
        note_project(&mut self.projects, project);
    }

    pub(super) fn add_job(&mut self, queued: Queued) {
        self.jobs.push(queued);
    }

    pub(super) fn is_full(&self) -> bool {
        self.relays >= RELAYS
    }
}

fn note_project(projects: &mut Vec<RelayProject>, project: &RelayProject) {
    if !projects.iter().any(|known| known.root == project.root && known.key == project.key) {
        projects.push(project.clone());
    }
}

impl Worker<'_> {
    /// Stores what waits, and takes the jobs that are done with it out of the spool.
    pub(super) fn store_batch(&mut self, run: &mut Run) -> Result<()> {
        let Batch { records, projects, jobs, .. } = std::mem::take(&mut run.batch);
        // Queued before the relays are stored: a crash in between leaves only stale queue entries.
        if std::mem::take(&mut run.has_new_summaries) {
            self.write_retries(&run.retries)?;
        }
        if !records.is_empty() {
            let puts = self.with_store(|store| store.put(&records))?;
            let logs = records.iter().zip(puts).filter(|(record, _)| matches!(record, Record::Log(_)));
            for (_, put) in logs {
                match put {
                    Put::New => run.report.new += 1,
                    Put::Changed => run.report.changed += 1,
                    Put::Kept | Put::Forgotten => {}
                }
            }
        }
        for project in &projects {
            note_project(&mut run.report.projects, project);
        }
        for queued in &jobs {
            if let Ok(job) = &queued.job {
                run.report.jobs += 1;
                (self.notify)(WorkerEvent::Done(job));
            }
            self.remove_job(queued, run)?;
        }
        Ok(())
    }

    pub(super) fn remove_job(&self, queued: &Queued, run: &mut Run) -> Result<()> {
        spool::remove(queued).map_err(|error| io_error("the spool", &error))?;
        if run.retries.jobs.remove(&super::file_name(queued)).is_some() {
            self.write_retries(&run.retries)?;
        }
        Ok(())
    }
}
