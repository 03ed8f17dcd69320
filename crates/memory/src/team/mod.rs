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
//! A project has one key in the team (`project_key.rs`) but a uid per machine, so the uids of projects are
//! translated in both directions.
//!
//! All writers lock one row of counters first. So a higher change number was committed later, and
//! "everything after N" misses nothing. A sequence or a clock would not give that.
//!
//! The server gives each row the login that wrote it as its owner, and lets no other member change it
//! (`postgres/rights.rs`). A machine does not rely on that for its own rows: it keeps a list of the rows that
//! came from outside, each with its owner (`sqlite/pulled.rs`). A pull changes, moves and deletes only these,
//! for the same owner, while their project is shared. A row that is changed here leaves the list. Rows in it
//! are never delivered: their owner does that.
//!
//! Over a link that breaks, steps become smaller. A server that has lost rows, because a backup was restored,
//! gets everything again.

mod deliver;
mod find_log;
mod limits;
mod migrate;
pub(crate) mod project_key;
mod pull;
mod search;
mod state;
mod step;

pub use find_log::find_log;
pub use migrate::{Migrated, migrate};
pub use project_key::has_folder;
pub use search::{TeamSearch, search_with_team};
pub use state::{TeamFailure, TeamState};

use std::collections::BTreeMap;

use tidegate_core::time::Millis;

use crate::error::{Error, ErrorKind, Result};
use crate::memory::Memory;
use crate::postgres::{Address, Patience, Position, PostgresStore, Sender};
use crate::record::{ProjectRow, Record, Uid};
use crate::sqlite::SqliteStore;
use crate::store::Store;
use crate::view::NamedRow;

/// Entries that one run of a worker delivers.
pub const MOST_PER_RUN: usize = 5000;

/// The error itself says what is wrong.
pub const KEPT: &str = "what is to be delivered is kept and sent later";

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exchanged {
    pub delivered: usize,
    /// Rows of something the team has forgotten: they stay on this machine.
    pub forgotten: usize,
    /// Rows that wait for a row they refer to, or that the server rejects.
    pub waiting: usize,
    /// The server's reason for the last rejected row.
    pub refused: Option<String>,
    /// Changes of rows of others: they stay on this machine.
    pub theirs: usize,
    /// New or changed topics and decisions of others.
    pub pulled: usize,
    /// The server had lost rows, and gets everything again.
    pub was_restored: bool,
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
                state.theirs += exchanged.theirs;
            }
        }
        Err(error) => state.failed(address.shown(), error, now),
    }
    state.write(memory.home())?;
    let is_delivery = direction != Direction::Pull;
    done.map_err(|error| if is_delivery && error.passes() { error.hint(KEPT) } else { error })
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
    let mut exchanged = Exchanged::default();
    if !state.is_other_store(&store) {
        let (seen, sent) = (state.seen.as_deref(), state.sent.as_deref());
        let (change, sent_change) = (state.change, state.sent_change);
        exchanged.was_restored =
            team.has_lost(&Position { after: state.after, seen, sent, sent_change, change })?;
    }
    if state.is_other_store(&store) || exchanged.was_restored {
        memory.store().queue_all_shared()?;
        state.start_over_with(store);
    }
    pull::add_listed_projects(memory, &mut team)?;
    if direction != Direction::Pull {
        let sender = Sender { machine: state.machine.clone() };
        let sent = &mut state.sent;
        let done = deliver::deliver_outbox(memory.store(), &mut team, &sender, most, &mut exchanged, sent);
        // Also after a break: what arrived until then would be missing after a restore.
        if exchanged.delivered > 0
            && let Ok((change, sent_change)) = team.position_of(state.sent.as_deref())
        {
            (state.change, state.sent_change) = (change, sent_change);
        }
        done?;
    }
    if direction != Direction::Push {
        exchanged.pulled = pull::pull_changes(memory, &mut team, state, most)?;
    }
    Ok(exchanged)
}

/// A project of this machine, and its key in the team.
type SharedProject = (ProjectRow, String);

fn shared_projects(store: &mut SqliteStore) -> Result<Vec<SharedProject>> {
    let mut projects = Vec::new();
    for (id, _) in store.shared_projects()? {
        if let Some(found) = store.project(id)? {
            let key = project_key::key_in_team(&found.row);
            projects.push((found.row, key));
        }
    }
    Ok(projects)
}

/// The shared projects, and their uids in the team.
fn adopt_projects(
    store: &mut SqliteStore,
    team: &mut PostgresStore,
) -> Result<(Vec<SharedProject>, BTreeMap<Uid, Uid>)> {
    let projects = shared_projects(store)?;
    store.note_sent(projects.iter().map(|(project, _)| project.uid.as_str()))?;
    let names = team.adopt_projects(&projects)?;
    Ok((projects, names))
}

/// This machine's projects by their uid in the team, as far as the team knows them.
fn adopted_projects(team: &mut PostgresStore, projects: &[SharedProject]) -> Result<BTreeMap<Uid, NamedRow>> {
    let names = team.find_adopted(projects)?;
    let mut adopted = BTreeMap::new();
    for (project, _) in projects.iter().rev() {
        let named = NamedRow { id: project.id.unwrap_or_default(), name: project.name.clone() };
        adopted.extend(names.get(&project.uid).map(|of_team| (of_team.clone(), named)));
    }
    Ok(adopted)
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
