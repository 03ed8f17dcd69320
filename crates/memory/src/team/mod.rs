//! What a machine and its team tell each other.
//!
//! ```text
//! local store ─ outbox ─ deliver ─► team store ─ changes ─► pull ─► local store
//!                                       └─ search ─► hits of others' logs
//! ```
//!
//! Everything is written here first and delivered later, in the order in which it happened. What comes twice changes nothing
//! there, so whoever is stopped in the middle sends it again. A project has one name in a team, and machines call it what
//! they like: uids of projects are exchanged at the border.

mod bounds;
mod deliver;
mod migrate;
mod pull;
mod search;
mod standing;

pub use migrate::{Moved, migrate};
pub use search::{Found, log, search};
pub use standing::{Failure, Standing};

use std::collections::BTreeMap;

use tidegate_core::time::Millis;

use crate::error::{Error, ErrorKind, Result};
use crate::memory::Memory;
use crate::postgres::{Address, Patience, PostgresStore, Sender};
use crate::record::{Project, Record, Uid};
use crate::sqlite::SqliteStore;
use crate::store::Store;

/// How many things a worker tells in one run; the rest is for the next one.
pub const MOST: usize = 5000;

/// What was told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// How many things the team knows now.
    pub delivered: usize,
    /// How many belong to what somebody had the team forget: they stay on this machine.
    pub forgotten: usize,
    /// How many wait: for something that they refer to, or because the server does not take them.
    pub waiting: usize,
    /// What the server said about the last one that it does not take.
    pub refused: Option<String>,
    /// How many topics and decisions of others are new here.
    pub pulled: usize,
}

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Tell the team.
    Push,
    /// Be told.
    Pull,
    /// First the one, then the other.
    Both,
}

/// Talks with the team, and remembers how it went.
pub fn exchange(
    memory: &mut Memory,
    address: &Address,
    direction: Direction,
    most: usize,
    patience: Patience,
) -> Result<Told> {
    let now = memory.now();
    let mut standing = Standing::read(memory.home());
    let done = talk(memory, address, direction, most, patience, &mut standing);
    match &done {
        Ok(told) => {
            standing.succeeded(now);
            if direction != Direction::Pull {
                standing.refused.clone_from(&told.refused);
                standing.forgotten += told.forgotten;
            }
        }
        Err(error) => standing.failed(address.shown(), error, now),
    }
    standing.write(memory.home())?;
    done
}

/// The same for a worker: only if there is a reason and, after failures, not before its time, unless somebody wants it at once.
pub fn exchange_if_due(memory: &mut Memory, address: &Address, at_once: bool) -> Result<Option<Told>> {
    if memory.store().shared()?.is_empty() && memory.store().outbox_length()? == 0 {
        return Ok(None);
    }
    if !at_once && !Standing::read(memory.home()).is_due(address.shown(), memory.now()) {
        return Ok(None);
    }
    exchange(memory, address, Direction::Both, MOST, Patience::LONG).map(Some)
}

fn talk(
    memory: &mut Memory,
    address: &Address,
    direction: Direction,
    most: usize,
    patience: Patience,
    standing: &mut Standing,
) -> Result<Told> {
    let mut team = PostgresStore::connect(address.clone(), patience)?;
    let store = team.identity()?;
    if standing.is_another(&store) {
        memory.store().line_up_anew()?;
        standing.talks_to(store);
    }
    let mut told = Told::default();
    if direction != Direction::Pull {
        let origins = memory.store().origins()?;
        let sender = Sender { machine: standing.machine.clone(), origins };
        deliver::deliver(memory.store(), &mut team, &sender, most, &mut told)?;
    }
    if direction != Direction::Push {
        told.pulled = pull::pull(memory, &mut team, standing)?;
    }
    Ok(told)
}

/// The projects that are shared, as this machine knows them.
fn shared(store: &mut dyn Store, shared: &[(i64, String)]) -> Result<Vec<Project>> {
    let mut projects = Vec::new();
    for (id, _) in shared {
        projects.extend(store.project(*id)?.map(|found| found.row));
    }
    Ok(projects)
}

/// The same, and what the team calls them.
fn adopt(store: &mut SqliteStore, team: &mut PostgresStore) -> Result<(Vec<Project>, BTreeMap<Uid, Uid>)> {
    let ids = store.shared()?;
    let projects = shared(store, &ids)?;
    store.will_tell(projects.iter().map(|project| project.uid.as_str()))?;
    let names = team.adopt(&projects)?;
    Ok((projects, names))
}

/// A record with its project's other name. `None` if it has none.
fn renamed(record: Record, names: &BTreeMap<Uid, Uid>) -> Option<Record> {
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

/// What a team is said to be without.
pub fn no_team() -> Error {
    Error::new(ErrorKind::Missing, "no team store is configured")
        .hint("set `[memory.team] url` and `projects` in your own config file")
}

/// How long until the next try after so many failures: 30 s, twice as long each time, at most an hour.
fn pause(failures: u32) -> u64 {
    (30_000_u64 << failures.saturating_sub(1).min(10)).min(3_600_000)
}

/// A time as people read it.
fn later(now: Millis, ms: u64) -> Millis {
    Millis(now.0.saturating_add(ms))
}
