//! Copies a whole store to a server. An interrupted run can be repeated: rows that are there stay as they
//! are.

use std::collections::{BTreeMap, BTreeSet};

use super::deliver::without_private_fields;
use super::{TeamState, project_key, with_project_uid};
use crate::error::{Error, ErrorKind, Result};
use crate::memory::Memory;
use crate::postgres::{Address, Delivered, Patience, PostgresStore, Sender};
use crate::record::{ProjectRow, Record, Uid};
use crate::store::{Put, Store};

/// Rows per transaction.
const BATCH: usize = 200;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Migrated {
    /// Local rows by kind.
    pub rows: BTreeMap<&'static str, usize>,
    /// Rows that the server did not have.
    pub new: usize,
    /// Rows that the server had forgotten, and that stay so.
    pub forgotten: usize,
    pub projects: Vec<String>,
}

impl Migrated {
    pub fn all(&self) -> usize {
        self.rows.values().sum()
    }
}

/// Copies every row and verifies that the server has it. `progress` receives the number of rows so far.
pub fn migrate(memory: &mut Memory, address: &Address, progress: &mut dyn FnMut(usize)) -> Result<Migrated> {
    let mut team = PostgresStore::connect(address.clone(), Patience::LONG)?;
    let state = TeamState::read(memory.home());
    state.write(memory.home())?;
    let mut projects: Vec<ProjectRow> = Vec::new();
    memory.for_each_record(&mut |record| {
        if let Record::Project(row) = record {
            projects.push(row);
        }
        Ok(())
    })?;
    memory.store().note_all_sent()?;
    let projects: Vec<_> = projects
        .into_iter()
        .map(|row| (project_key::key_in_team(&row), row))
        .map(|(key, row)| (row, key))
        .collect();
    let names = team.adopt_projects(&projects)?;
    let theirs = memory.store().origins()?.into_keys().collect();
    let mut moving = Moving {
        team,
        names,
        roots: BTreeMap::new(),
        sender: Sender { machine: state.machine },
        theirs,
        batch: Vec::new(),
        moved: Migrated::default(),
    };
    moving.moved.projects = projects.iter().map(|(project, _)| project.name.clone()).collect();
    memory.for_each_record(&mut |record| moving.take(record, progress))?;
    moving.send(progress)?;
    Ok(moving.moved)
}

struct Moving {
    team: PostgresStore,
    names: BTreeMap<Uid, Uid>,
    /// By session.
    roots: BTreeMap<Uid, String>,
    sender: Sender,
    /// Rows of others stay theirs: their owners deliver them.
    theirs: BTreeSet<Uid>,
    batch: Vec<Record>,
    moved: Migrated,
}

impl Moving {
    fn take(&mut self, record: Record, progress: &mut dyn FnMut(usize)) -> Result<()> {
        if self.theirs.contains(record.uid()) {
            return Ok(());
        }
        *self.moved.rows.entry(record.kind()).or_default() += 1;
        let root = match &record {
            Record::Session(row) => {
                self.roots.insert(row.uid.clone(), row.root.clone());
                None
            }
            Record::Log(row) => row.session.as_ref().and_then(|session| self.roots.get(session)),
            _ => None,
        };
        if !matches!(record, Record::Project(_)) {
            self.batch.extend(with_project_uid(
                without_private_fields(record, root.map(String::as_str)),
                &self.names,
            ));
        }
        if self.batch.len() >= BATCH { self.send(progress) } else { Ok(()) }
    }

    fn send(&mut self, progress: &mut dyn FnMut(usize)) -> Result<()> {
        let batch = std::mem::take(&mut self.batch);
        let became = self.team.deliver(&self.sender, &batch)?;
        let mut there: Vec<Uid> = Vec::new();
        for (record, became) in batch.iter().zip(&became) {
            match became {
                Delivered::Done(Put::Forgotten) => self.moved.forgotten += 1,
                Delivered::Done(put) => {
                    self.moved.new += usize::from(*put == Put::New);
                    there.push(record.uid().to_owned());
                }
                // Of another member; it is there.
                Delivered::Theirs => there.push(record.uid().to_owned()),
                Delivered::Waits => {
                    let what = format!(
                        "the {} {} refers to something that is not there",
                        record.kind(),
                        record.uid()
                    );
                    return Err(Error::new(ErrorKind::Missing, what)
                        .hint("`tidegate memory check` looks at the local store"));
                }
            }
        }
        // Counts the rows on the server instead of trusting the reply.
        let count = self.team.count(&there)?;
        if count != there.len() as u64 {
            let what = format!("{} rows were sent and {count} of them are there", there.len());
            return Err(
                Error::new(ErrorKind::Other, what).hint("run the same command again: what is there stays")
            );
        }
        progress(self.moved.all());
        Ok(())
    }
}
