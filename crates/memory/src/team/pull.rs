//! Fetches topics and decisions of others, so that they have ids on this machine.

use std::collections::BTreeMap;

use super::{TeamState, adopt_projects, limits, with_project_uid};
use crate::error::Result;
use crate::memory::Memory;
use crate::postgres::PostgresStore;
use crate::record::{Foreign, Record, Uid};
use crate::store::Put;

const BATCH: usize = 500;

/// Returns the number of new or changed rows.
pub(super) fn pull_changes(
    memory: &mut Memory,
    team: &mut PostgresStore,
    state: &mut TeamState,
) -> Result<usize> {
    let (projects, names) = adopt_projects(memory.store(), team)?;
    // Several local projects can be one in the team; its rows go to the first of them.
    let mut back: BTreeMap<Uid, Uid> = BTreeMap::new();
    for project in projects.iter().rev() {
        back.extend(names.get(&project.uid).map(|of_team| (of_team.clone(), project.uid.clone())));
    }
    let of_team: Vec<Uid> = back.keys().cloned().collect();
    if of_team.is_empty() {
        return Ok(0);
    }
    if state.projects != of_team {
        state.projects.clone_from(&of_team);
        state.after = 0;
    }
    let mut new = 0;
    loop {
        let changes = team.read_changes(&state.machine, &of_team, state.after, BATCH)?;
        let records = translate_rows(memory, changes.records, &back)?;
        let puts = memory.put_from_team(&records)?;
        new += puts.iter().filter(|put| matches!(put, Put::New | Put::Changed)).count();
        if !changes.forgotten.is_empty() {
            memory.store().delete_withdrawn(&changes.forgotten)?;
            memory.publish_all()?;
        }
        state.after = changes.next;
        if !changes.more {
            return Ok(new);
        }
    }
}

/// Translates rows to this machine's uids. Drops those of projects not shared here, and those already known.
fn translate_rows(
    memory: &mut Memory,
    rows: Vec<Foreign>,
    names: &BTreeMap<Uid, Uid>,
) -> Result<Vec<Foreign>> {
    let now = memory.now();
    let mut new = Vec::new();
    for Foreign { record, origin } in rows {
        let Some(mut record) = with_project_uid(limits::limit_record(record, now), names) else { continue };
        if let Record::Topic(row) = &mut record {
            row.parent.take_if(|parent| *parent == row.uid);
        }
        let known = memory.store().as_delivered(record.kind(), record.uid())?;
        if !known.is_some_and(|known| is_same_content(&limits::limit_record(known, now), &record)) {
            new.push(Foreign { record, origin });
        }
    }
    Ok(new)
}

/// Compares time and content, except for fields that are not delivered.
fn is_same_content(here: &Record, there: &Record) -> bool {
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
