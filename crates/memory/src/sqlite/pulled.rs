//! Which rows came from the team, and which machine brought them there. A pull changes and deletes these and no others.
//!
//! A row that is not in this list was written here, or came in before the list was kept. The server's own columns
//! (`origin`, `updated`, `project`) say nothing about such a row: everybody in the team can write them.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{Connection, OptionalExtension};
use tidegate_core::feature::memory::automatic;

use super::forget::Gone;
use super::outbox::is_shared;
use super::{SqliteStore, forget, put};
use crate::error::Result;
use crate::record::{Decision, Foreign, Record, Topic, Uid, Withdrawn};
use crate::store::Put;

/// The tables whose rows travel to other machines.
const KINDS: [&str; 2] = ["topic", "decision"];

/// The row was written here, or is gone.
pub(super) fn remove(store: &Connection, kind: &str, uid: &str) -> Result<()> {
    if KINDS.contains(&kind) {
        store.prepare_cached("DELETE FROM pulled WHERE kind = ?1 AND uid = ?2")?.execute([kind, uid])?;
    }
    Ok(())
}

fn add(store: &Connection, kind: &str, uid: &str, origin: &str) -> Result<()> {
    let mut new =
        store.prepare_cached("INSERT OR REPLACE INTO pulled (kind, uid, origin) VALUES (?1, ?2, ?3)")?;
    new.execute([kind, uid, origin])?;
    Ok(())
}

/// The machine that a row came from; `None` for one that was written here.
fn origin(store: &Connection, kind: &str, uid: &str) -> Result<Option<Uid>> {
    let mut found = store.prepare_cached("SELECT origin FROM pulled WHERE kind = ?1 AND uid = ?2")?;
    Ok(found.query_row([kind, uid], |row| row.get(0)).optional()?)
}

/// Whether a machine may change a row through the team: only one that it brought itself, and only while the row's project is
/// shared. From a project that is private by now nothing is moved, or others would get what was added to it since.
fn is_theirs(store: &Connection, kind: &str, uid: &str, from: &str) -> Result<bool> {
    Ok(origin(store, kind, uid)?.as_deref() == Some(from) && is_shared(store, kind, uid)?)
}

fn exists(store: &Connection, kind: &str, uid: &str) -> Result<bool> {
    Ok(store.prepare_cached(&format!("SELECT 1 FROM {kind} WHERE uid = ?1"))?.exists([uid])?)
}

/// Whether a new row would have the name of something else here. Forgetting goes by names, so a withdrawal of that row would
/// reach the other one.
fn is_name_taken(store: &Connection, uid: &str) -> Result<bool> {
    for kind in ["project", "topic", "session", "log", "decision"] {
        if exists(store, kind, uid)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Names that topics of this machine's sessions have, or will have: what the recorder finds under such a name it takes for
/// the session's own, and stores what was said there.
fn of_sessions(store: &Connection) -> Result<BTreeSet<Uid>> {
    let uids = |sql: &str| -> Result<Vec<Uid>> {
        let mut found = store.prepare_cached(sql)?;
        Ok(found.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?)
    };
    let projects = uids("SELECT uid FROM project")?;
    let mut names = BTreeSet::new();
    for session in uids("SELECT uid FROM session")? {
        names.insert(automatic::topic_uid(&session, None));
        names.extend(projects.iter().map(|project| automatic::topic_uid(&session, Some(project))));
    }
    Ok(names)
}

/// Rows of the team on their way in.
struct Pulling<'a> {
    store: &'a Connection,
    /// Looked up once it is needed.
    of_sessions: Option<BTreeSet<Uid>>,
}

impl Pulling<'_> {
    fn put(&mut self, foreign: &Foreign) -> Result<Put> {
        let (kind, uid) = (foreign.record.kind(), foreign.record.uid());
        let may = if exists(self.store, kind, uid)? {
            is_theirs(self.store, kind, uid, &foreign.origin)?
        } else {
            !is_name_taken(self.store, uid)?
        };
        let record = match &foreign.record {
            _ if !may => None,
            Record::Topic(row) => self.topic(row)?.map(Record::Topic),
            Record::Decision(row) => self.decision(row)?.map(Record::Decision),
            Record::Project(_) | Record::Session(_) | Record::Log(_) => None,
        };
        let Some(record) = record else { return Ok(Put::Kept) };
        let put = put::put(self.store, &[record], put::Outbox::No)?.pop().unwrap_or(Put::Kept);
        if put == Put::New {
            add(self.store, kind, uid, &foreign.origin)?;
        }
        Ok(put)
    }

    /// Not one that claims to be the topic of a session of this machine.
    fn topic(&mut self, row: &Topic) -> Result<Option<Topic>> {
        let store = self.store;
        if let Some(session) = &row.automatic
            && (exists(store, "session", session)? || exists(store, "forgotten", session)?)
        {
            return Ok(None);
        }
        // Hashed names have version 8, random ones 4.
        if row.uid.as_bytes().get(14) == Some(&b'8') {
            let known = match self.of_sessions.take() {
                Some(known) => known,
                None => of_sessions(store)?,
            };
            if self.of_sessions.insert(known).contains(&row.uid) {
                return Ok(None);
            }
        }
        let mut row = row.clone();
        if let Some(parent) = &row.parent
            && !is_shared(store, "topic", parent)?
        {
            row.parent = None;
        }
        Ok(Some(row))
    }

    /// Not into a topic that is private here. What it takes the place of came from outside, too: a decision that was made here
    /// stands until it is taken back here.
    fn decision(&self, row: &Decision) -> Result<Option<Decision>> {
        if !is_shared(self.store, "topic", &row.topic)? {
            return Ok(None);
        }
        let mut row = Decision { session: None, ..row.clone() };
        if let Some(older) = &row.supersedes
            && origin(self.store, "decision", older)?.is_none()
        {
            row.supersedes = None;
        }
        Ok(Some(row))
    }
}

impl SqliteStore {
    /// Puts in what comes from the team, as far as it may: it does not go back there.
    pub fn put_from_team(&mut self, rows: &[Foreign]) -> Result<Vec<Put>> {
        self.write(|store| {
            let mut pulling = Pulling { store, of_sessions: None };
            rows.iter().map(|row| pulling.put(row)).collect()
        })
    }

    /// What its origin took back goes from here, too: decisions, and topics in which nothing is left and that no topic of this
    /// machine is a part of. Other names are not noted as forgotten: the server could keep a session from being stored.
    pub fn withdraw(&mut self, rows: &[Withdrawn]) -> Result<()> {
        let is_gone = self.write(|store| {
            let mut gone = Gone::told_by_the_team(store);
            // What is in topics first.
            for kind in KINDS.iter().rev() {
                for row in rows.iter().filter(|row| row.kind == *kind) {
                    if is_theirs(store, kind, &row.uid, &row.origin)? {
                        withdraw(store, kind, &row.uid, &mut gone)?;
                    }
                }
            }
            let is_gone = !gone.finish()?.is_empty();
            if is_gone {
                forget::mark(store)?;
            }
            Ok(is_gone)
        })?;
        if is_gone {
            self.clear_log()?;
        }
        Ok(())
    }

    /// Rows that came from outside, by their names, with the machine that each came from.
    pub fn origins(&mut self) -> Result<BTreeMap<Uid, Uid>> {
        let mut found = self.connection.prepare_cached("SELECT uid, origin FROM pulled")?;
        Ok(found.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<rusqlite::Result<_>>()?)
    }

    /// Takes over what another file knew of rows that are here.
    pub(super) fn came_from(&mut self, rows: &[(String, Uid, Uid)]) -> Result<()> {
        self.write(|store| {
            for (kind, uid, from) in rows {
                if KINDS.contains(&kind.as_str()) && exists(store, kind, uid)? {
                    add(store, kind, uid, from)?;
                }
            }
            Ok(())
        })
    }
}

fn withdraw(store: &Connection, kind: &str, uid: &str, gone: &mut Gone<'_>) -> Result<()> {
    let mut find = store.prepare_cached(&format!("SELECT id FROM {kind} WHERE uid = ?1"))?;
    let id: i64 = find.query_row([uid], |row| row.get(0))?;
    if kind == "decision" {
        return gone.decisions(&[id]);
    }
    let used = "SELECT 1 FROM log WHERE topic = ?1 UNION ALL SELECT 1 FROM decision WHERE topic = ?1
        UNION ALL SELECT 1 FROM topic WHERE parent = ?1
            AND NOT EXISTS (SELECT 1 FROM pulled WHERE pulled.kind = 'topic' AND pulled.uid = topic.uid)";
    if store.prepare_cached(used)?.exists([id])? {
        return Ok(());
    }
    gone.whole_topic(id)
}
