//! Is told what others did: topics and decisions of projects that are shared, so that they have numbers here.

use std::collections::{BTreeMap, BTreeSet};

use super::{Standing, adopt, bounds, renamed};
use crate::error::Result;
use crate::memory::Memory;
use crate::postgres::PostgresStore;
use crate::record::{Record, Uid};
use crate::store::{Put, Store};

/// How much comes at once.
const BATCH: usize = 500;

/// Gives how many are new or changed.
pub(super) fn pull(memory: &mut Memory, team: &mut PostgresStore, standing: &mut Standing) -> Result<usize> {
    let (projects, names) = adopt(memory.store(), team)?;
    // Several projects here can be one there; then what comes belongs to the first.
    let mut back: BTreeMap<Uid, Uid> = BTreeMap::new();
    for project in projects.iter().rev() {
        back.extend(names.get(&project.uid).map(|of_team| (of_team.clone(), project.uid.clone())));
    }
    let of_team: Vec<Uid> = back.keys().cloned().collect();
    if of_team.is_empty() {
        return Ok(0);
    }
    if standing.projects != of_team {
        standing.projects.clone_from(&of_team);
        standing.after = 0;
    }
    let mut new = 0;
    loop {
        let changes = team.changes(&standing.machine, &of_team, standing.after, BATCH)?;
        let records = for_here(memory, changes.records, &back)?;
        let puts = memory.put_from_team(&records)?;
        new += puts.iter().filter(|put| matches!(put, Put::New | Put::Changed)).count();
        if !changes.forgotten.is_empty() {
            memory.store().withdraw(&changes.forgotten)?;
            memory.publish_all()?;
        }
        standing.after = changes.next;
        if !changes.more {
            return Ok(new);
        }
    }
}

/// As this machine knows them. What belongs to a project that is not shared here is left out, and so are ways to it.
fn for_here(memory: &mut Memory, records: Vec<Record>, names: &BTreeMap<Uid, Uid>) -> Result<Vec<Record>> {
    let mut kept = Vec::new();
    let mut topics: BTreeSet<Uid> = BTreeSet::new();
    let mut decisions: BTreeSet<Uid> = BTreeSet::new();
    for record in records {
        match renamed(bounds::record(record), names) {
            Some(Record::Topic(mut row)) => {
                if let Some(parent) = &row.parent
                    && (*parent == row.uid
                        || (!topics.contains(parent) && memory.topic_by_uid(parent)?.is_none()))
                {
                    row.parent = None;
                }
                topics.insert(row.uid.clone());
                kept.push(Record::Topic(row));
            }
            Some(Record::Decision(mut row)) => {
                if !topics.contains(&row.topic) {
                    continue;
                }
                row.supersedes = row.supersedes.filter(|older| decisions.contains(older));
                decisions.insert(row.uid.clone());
                kept.push(Record::Decision(row));
            }
            _ => {}
        }
    }
    let mut new = Vec::new();
    for record in kept {
        let known = memory.store().as_told(record.kind(), record.uid())?;
        if !known.is_some_and(|known| says_the_same(&bounds::record(known), &record)) {
            new.push(record);
        }
    }
    Ok(new)
}

/// Whether two versions have the same time and the same content. Only what both sides know counts.
fn says_the_same(here: &Record, there: &Record) -> bool {
    match (here, there) {
        (Record::Topic(here), Record::Topic(there)) => {
            here.updated == there.updated
                && (&here.title, here.status, &here.parent, &here.automatic)
                    == (&there.title, there.status, &there.parent, &there.automatic)
        }
        (Record::Decision(here), Record::Decision(there)) => {
            here.updated == there.updated
                && (&here.topic, &here.text, &here.reason, &here.supersedes, here.retracted)
                    == (&there.topic, &there.text, &there.reason, &there.supersedes, there.retracted)
        }
        _ => false,
    }
}
