//! The exchange with the team's store.
//!
//! ```text
//! local store ─ outbox ─ deliver ─► team store ─ changes ─► pull ─► local store
//!                                       └─ search ─► hits of others' logs
//! ```
//!
//! Rows are written locally first, which puts their uids into the outbox in the same transaction. They are
//! delivered later, in that order, each in its current version, some hundred in one transaction; only then
//! do they leave the outbox. A row that refers to a later one waits for it. Of two versions the newer one
//! wins, so repeated delivery changes nothing, and an interrupted one starts over.
//!
//! A project has one name in the team but a uid per machine, so the uids of projects are translated in both
//! directions.
//!
//! All writers lock one row of counters first. So a higher change number was committed later, and
//! "everything after N" misses nothing. A sequence or a clock would not give that.
//!
//! Everyone with the team's role can write every column. So a machine does not ask the server which rows are
//! its own: it keeps a list of the rows that came from outside, each with its origin (`sqlite/pulled.rs`). A
//! pull changes, moves and deletes only these, for the same origin, while their project is shared. A row
//! that is changed here leaves the list.

mod limits;
mod deliver;
mod migrate;
mod pull;
mod search;
mod state;

pub use migrate::{Migrated, migrate};
pub use search::{TeamSearch, find_log, search_with_team};
pub use state::{TeamFailure, TeamState};

use std::collections::BTreeMap;

use tidegate_core::time::Millis;

use crate::error::{Error, ErrorKind, Result};
use crate::memory::Memory;
use crate::postgres::{Address, Patience, PostgresStore, Sender};
use crate::record::{ProjectRow, Record, Uid};
use crate::sqlite::SqliteStore;
use crate::store::Store;

/// Entries that one run of a worker delivers.
pub const MOST_PER_RUN: usize = 5000;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exchanged {
    pub delivered: usize,
    /// Rows of something the team has forgotten: they stay on this machine.
    pub forgotten: usize,
    /// Rows that wait for a row they refer to, or that the server rejects.
    pub waiting: usize,
    /// The server's reason for the last rejected row.
    pub refused: Option<String>,
    /// New or changed topics and decisions of others.
    pub pulled: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Push,
    Pull,
    /// Push, then pull.
    Both,
}

/// Exchanges rows with the team and records the outcome.
pub fn exchange(
    memory: &mut Memory,
    address: &Address,
    direction: Direction,
    most: usize,
    patience: Patience,
) -> Result<Exchanged> {
    let now = memory.now();
    let mut state = TeamState::read(memory.home());
    let done = exchange_rows(memory, address, direction, most, patience, &mut state);
    match &done {
        Ok(exchanged) => {
            state.succeeded(now);
            if direction != Direction::Pull {
                state.refused.clone_from(&exchanged.refused);
                state.forgotten += exchanged.forgotten;
            }
        }
        Err(error) => state.failed(address.shown(), error, now),
    }
    state.write(memory.home())?;
    done
}

/// For the worker: only if a project is shared or rows are queued and, after a failure, if the next try is
/// due.
pub fn exchange_if_due(memory: &mut Memory, address: &Address, at_once: bool) -> Result<Option<Exchanged>> {
    if memory.store().shared_projects()?.is_empty() && memory.store().outbox_length()? == 0 {
        return Ok(None);
    }
    if !at_once && !TeamState::read(memory.home()).is_due(address.shown(), memory.now()) {
        return Ok(None);
    }
    exchange(memory, address, Direction::Both, MOST_PER_RUN, Patience::LONG).map(Some)
}

fn exchange_rows(
    memory: &mut Memory,
    address: &Address,
    direction: Direction,
    most: usize,
    patience: Patience,
    state: &mut TeamState,
) -> Result<Exchanged> {
    let mut team = PostgresStore::connect(address.clone(), patience)?;
    let store = team.identity()?;
    if state.is_other_store(&store) {
        memory.store().queue_all_shared()?;
        state.start_over_with(store);
    }
    let mut exchanged = Exchanged::default();
    if direction != Direction::Pull {
        let origins = memory.store().origins()?;
        let sender = Sender { machine: state.machine.clone(), origins };
        deliver::deliver_outbox(memory.store(), &mut team, &sender, most, &mut exchanged)?;
    }
    if direction != Direction::Push {
        exchanged.pulled = pull::pull_changes(memory, &mut team, state)?;
    }
    Ok(exchanged)
}

fn shared_projects(store: &mut dyn Store, shared: &[(i64, String)]) -> Result<Vec<ProjectRow>> {
    let mut projects = Vec::new();
    for (id, _) in shared {
        projects.extend(store.project(*id)?.map(|found| found.row));
    }
    Ok(projects)
}

/// The shared projects, and their uids in the team.
fn adopt_projects(
    store: &mut SqliteStore,
    team: &mut PostgresStore,
) -> Result<(Vec<ProjectRow>, BTreeMap<Uid, Uid>)> {
    let ids = store.shared_projects()?;
    let projects = shared_projects(store, &ids)?;
    store.note_sent(projects.iter().map(|project| project.uid.as_str()))?;
    let names = team.adopt_projects(&projects)?;
    Ok((projects, names))
}

/// Replaces the project's uid. `None` if the project is unknown on the other side.
fn with_project_uid(record: Record, names: &BTreeMap<Uid, Uid>) -> Option<Record> {
    Some(match record {
        Record::Topic(mut row) => {
            row.project = names.get(&row.project)?.clone();
            Record::Topic(row)
        }
        Record::Session(mut row) => {
            row.project = names.get(&row.project)?.clone();
            Record::Session(row)
        }
        Record::Project(mut row) => {
            row.uid = names.get(&row.uid)?.clone();
            Record::Project(row)
        }
        other => other,
    })
}

pub fn no_team() -> Error {
    Error::new(ErrorKind::Missing, "no team store is configured")
        .hint("set `[memory.team] url` and `projects` in your own config file")
}

/// The pause before the next try: 30 s, doubled after each failure, at most an hour.
fn retry_pause_ms(failures: u32) -> u64 {
    (30_000_u64 << failures.saturating_sub(1).min(10)).min(3_600_000)
}

fn after_ms(now: Millis, ms: u64) -> Millis {
    Millis(now.0.saturating_add(ms))
}
