//! Fetches topics and decisions of others, so that they have ids on this machine.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::step::Step;
use super::{TeamState, adopt_projects, limits, project_key, with_project_uid};
use crate::error::{Error, ErrorKind, Result};
use crate::memory::Memory;
use crate::postgres::{PostgresStore, TeamProject};
use crate::record::{Foreign, ProjectRow, Record, Uid, new_uid};
use crate::store::{Put, Store};

/// Rows of one step.
const STEP: usize = 500;
const SMALLEST_STEP: usize = 4;

/// The worker has other work; the next run continues where this one ended.
const LONGEST_RUN: Duration = Duration::from_mins(2);

/// Looks at about `most` changes: the next run continues. Returns the number of new or changed rows.
pub(super) fn pull_changes(
    memory: &mut Memory,
    team: &mut PostgresStore,
    state: &mut TeamState,
    most: usize,
) -> Result<usize> {
    let (projects, names) = adopt_projects(memory.store(), team)?;
    // Several local projects can be one in the team; its rows go to the first of them.
    let mut back: BTreeMap<Uid, Uid> = BTreeMap::new();
    for (project, _) in projects.iter().rev() {
        back.extend(names.get(&project.uid).map(|of_team| (of_team.clone(), project.uid.clone())));
    }
    let of_team: Vec<Uid> = back.keys().cloned().collect();
    if of_team.is_empty() {
        return Ok(0);
    }
    if state.projects != of_team {
        state.projects.clone_from(&of_team);
        (state.after, state.seen) = (0, None);
    }
    state.requests = own_requests(memory, team)?;
    let (mut new, mut seen) = (0, 0_usize);
    let mut step = Step::new(STEP, SMALLEST_STEP);
    let until = Instant::now() + LONGEST_RUN;
    loop {
        step.begin();
        let changes = match team.read_changes(&of_team, state.after, step.size) {
            Err(error) if step.shrinks_after(&error) => continue,
            read => read?,
        };
        step.arrived();
        seen = seen.saturating_add(step.size);
        if changes.more && changes.next <= state.after {
            return Err(Error::new(ErrorKind::Other, "the server's list of changes does not come to an end")
                .hint("the administrator looks at the tables of the schema `tidegate`"));
        }
        let records = translate_rows(memory, changes.records, &back)?;
        let puts = memory.put_from_team(&records)?;
        new += puts.iter().filter(|put| matches!(put, Put::New | Put::Changed)).count();
        if !changes.forgotten.is_empty() {
            memory.delete_withdrawn(&changes.forgotten)?;
        }
        state.after = changes.next;
        state.seen = changes.last.or(state.seen.take());
        if !changes.more || seen >= most || Instant::now() > until {
            return Ok(new);
        }
    }
}

/// Gives projects that the config lists and that have no work here yet a place, so that their rows can be
/// read. A name that several projects of the team have is not one of them.
pub(super) fn add_listed_projects(memory: &mut Memory, team: &mut PostgresStore) -> Result<()> {
    let missing = memory.listed_without_project()?;
    if missing.is_empty() {
        return Ok(());
    }
    let all = team.team_projects()?;
    for entry in missing {
        let called: Vec<&TeamProject> =
            all.iter().filter(|one| one.key == entry || one.name == entry).collect();
        let found = called.iter().find(|one| one.key == entry).or(match called.as_slice() {
            [only] => Some(only),
            _ => None,
        });
        let Some(found) = found else { continue };
        let name = if project_key::is_remote(&entry) { limits::limit_title(&found.name) } else { entry };
        let now = memory.now();
        memory.put(&[Record::Project(ProjectRow {
            uid: new_uid(),
            id: None,
            key: Some(project_key::key_without_folder(&found.key)),
            name,
            created: now,
            updated: now,
        })])?;
    }
    Ok(())
}

/// Requests about rows that are here; the server may name any.
fn own_requests(
    memory: &mut Memory,
    team: &mut PostgresStore,
) -> Result<Vec<crate::postgres::ForgetRequest>> {
    let mut requests = team.forget_requests()?;
    for request in &mut requests {
        request.asked_by = limits::limit_author(&request.asked_by);
    }
    let mut own = Vec::new();
    for request in requests {
        if memory.store().is_own_row(&request.kind, &request.uid)? {
            own.push(request);
        }
    }
    Ok(own)
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
            new.push(Foreign { record, origin: limits::limit_author(&origin) });
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
                && (&here.topic, &here.text, &here.reason, &here.supersedes, here.retracted, here.taken_by)
                    == (
                        &there.topic,
                        &there.text,
                        &there.reason,
                        &there.supersedes,
                        there.retracted,
                        there.taken_by,
                    )
        }
        _ => false,
    }
}
