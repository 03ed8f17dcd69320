//! Rows that came from the team, with the login that wrote each. A pull changes and deletes only these.
//!
//! A row outside this list was written here, or came before the list existed. For such a row the server's
//! columns (`owner`, `updated`, `project`) prove nothing: the server may lie.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{Connection, OptionalExtension};
use tidegate_core::feature::memory::automatic;

use super::forget::Deletion;
use super::outbox::is_shared;
use super::{SqliteStore, put};
use crate::error::Result;
use crate::record::{DecisionRow, Foreign, Record, TopicRow, Uid, Withdrawn};
use crate::store::Put;

/// Tables whose rows are pulled.
const KINDS: [&str; 2] = ["topic", "decision"];

/// Called when the row was rewritten here or deleted.
pub(super) fn remove_origin(store: &Connection, kind: &str, uid: &str) -> Result<()> {
    if KINDS.contains(&kind) {
        store.prepare_cached("DELETE FROM pulled WHERE kind = ?1 AND uid = ?2")?.execute([kind, uid])?;
    }
    Ok(())
}

pub(super) fn set_origin(store: &Connection, kind: &str, uid: &str, origin: &str) -> Result<()> {
    let mut new =
        store.prepare_cached("INSERT OR REPLACE INTO pulled (kind, uid, origin) VALUES (?1, ?2, ?3)")?;
    new.execute([kind, uid, origin])?;
    Ok(())
}

/// For a row that is about to be rewritten here.
pub(super) fn take_origin(store: &Connection, kind: &str, uid: &str) -> Result<Option<String>> {
    if !KINDS.contains(&kind) {
        return Ok(None);
    }
    let origin = find_origin(store, kind, uid)?;
    if origin.is_some() {
        remove_origin(store, kind, uid)?;
    }
    Ok(origin)
}

/// `None` for a row that was written here.
pub(super) fn find_origin(store: &Connection, kind: &str, uid: &str) -> Result<Option<Uid>> {
    let mut found = store.prepare_cached("SELECT origin FROM pulled WHERE kind = ?1 AND uid = ?2")?;
    Ok(found.query_row([kind, uid], |row| row.get(0)).optional()?)
}

/// A machine may change only rows that it delivered itself, and only while their project is shared here. A
/// row of a project that is private now must not move, or others would receive what was added to it since.
fn may_change(store: &Connection, kind: &str, uid: &str, from: &str) -> Result<bool> {
    Ok(find_origin(store, kind, uid)?.as_deref() == Some(from) && is_shared(store, kind, uid)?)
}

fn row_exists(store: &Connection, kind: &str, uid: &str) -> Result<bool> {
    Ok(store.prepare_cached(&format!("SELECT 1 FROM {kind} WHERE uid = ?1"))?.exists([uid])?)
}

/// Deletions go by uid alone, so withdrawing a row with the uid of another one would delete both.
fn is_uid_taken(store: &Connection, uid: &str) -> Result<bool> {
    for kind in ["project", "topic", "session", "log", "decision"] {
        if row_exists(store, kind, uid)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Uids of topics that sessions of this machine have or will have. A foreign topic under such a uid would
/// receive the logs of the session.
fn session_topic_uids(store: &Connection) -> Result<BTreeSet<Uid>> {
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

struct PullWriter<'a> {
    store: &'a Connection,
    /// Loaded on first use.
    session_topics: Option<BTreeSet<Uid>>,
}

impl PullWriter<'_> {
    fn put(&mut self, foreign: &Foreign) -> Result<Put> {
        let (kind, uid) = (foreign.record.kind(), foreign.record.uid());
        let exists = row_exists(self.store, kind, uid)?;
        let may = if exists {
            may_change(self.store, kind, uid, &foreign.origin)?
        } else {
            !is_uid_taken(self.store, uid)?
        };
        let record = match &foreign.record {
            _ if !may => None,
            Record::Topic(row) => self.accept_topic(row)?.map(Record::Topic),
            Record::Decision(row) => self.accept_decision(row)?.map(Record::Decision),
            Record::Project(_) | Record::Session(_) | Record::Log(_) => None,
        };
        let Some(record) = record else { return Ok(Put::Kept) };
        // First, because it decides what a decision can replace.
        if !exists {
            set_origin(self.store, kind, uid, &foreign.origin)?;
        }
        let put = put::put_records(self.store, &[record], put::WrittenBy::Team)?.pop().unwrap_or(Put::Kept);
        if !exists && put != Put::New {
            remove_origin(self.store, kind, uid)?;
        }
        Ok(put)
    }

    /// Refuses a topic that claims to belong to a session of this machine.
    fn accept_topic(&mut self, row: &TopicRow) -> Result<Option<TopicRow>> {
        let store = self.store;
        if let Some(session) = &row.automatic
            && (row_exists(store, "session", session)? || row_exists(store, "forgotten", session)?)
        {
            return Ok(None);
        }
        // Derived uids have version 8, random ones 4.
        if row.uid.as_bytes().get(14) == Some(&b'8') {
            let known = match self.session_topics.take() {
                Some(known) => known,
                None => session_topic_uids(store)?,
            };
            if self.session_topics.insert(known).contains(&row.uid) {
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

    /// Refuses a decision in a topic that is private here. It may name one of a shared topic that it replaces;
    /// one made here stays in force all the same (`row::IN_FORCE`).
    fn accept_decision(&self, row: &DecisionRow) -> Result<Option<DecisionRow>> {
        if !is_shared(self.store, "topic", &row.topic)? {
            return Ok(None);
        }
        let mut row = DecisionRow { session: None, ..row.clone() };
        if let Some(older) = &row.supersedes
            && !is_shared(self.store, "decision", older)?
        {
            row.supersedes = None;
        }
        Ok(Some(row))
    }
}

impl SqliteStore {
    /// Stores rows from the team as far as allowed. They are not delivered back.
    pub fn put_from_team(&mut self, rows: &[Foreign]) -> Result<Vec<Put>> {
        self.write(|store| {
            let mut pulling = PullWriter { store, session_topics: None };
            rows.iter().map(|row| pulling.put(row)).collect()
        })
    }

    /// Deletes rows that their origin deleted: decisions, and topics that are empty and not the parent of a
    /// local topic. Other uids are not remembered as forgotten: the server could keep a session from being
    /// stored. Returns whether anything was deleted.
    pub fn delete_withdrawn(&mut self, rows: &[Withdrawn]) -> Result<bool> {
        let is_gone = self.write(|store| {
            let mut gone = Deletion::from_team(store);
            // Decisions before topics.
            for kind in KINDS.iter().rev() {
                for row in rows.iter().filter(|row| row.kind == *kind) {
                    if may_change(store, kind, &row.uid, &row.origin)? {
                        delete_withdrawn(store, kind, &row.uid, &mut gone)?;
                    }
                }
            }
            Ok(!gone.finish()?.is_empty())
        })?;
        if is_gone {
            self.clear_log()?;
        }
        Ok(is_gone)
    }

    /// Whether a row of this kind is here and was written here.
    pub fn is_own_row(&mut self, kind: &str, uid: &str) -> Result<bool> {
        let store = &self.connection;
        Ok(["topic", "log", "decision"].contains(&kind)
            && row_exists(store, kind, uid)?
            && find_origin(store, kind, uid)?.is_none())
    }

    /// The number of a topic or decision that is here.
    pub fn number_of(&mut self, kind: &str, uid: &str) -> Result<Option<i64>> {
        if !KINDS.contains(&kind) {
            return Ok(None);
        }
        let mut found = self.connection.prepare_cached(&format!("SELECT id FROM {kind} WHERE uid = ?1"))?;
        Ok(found.query_row([uid], |row| row.get(0)).optional()?)
    }

    /// Row uid to the login that wrote it.
    pub fn origins(&mut self) -> Result<BTreeMap<Uid, String>> {
        let mut found = self.connection.prepare_cached("SELECT uid, origin FROM pulled")?;
        Ok(found.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<rusqlite::Result<_>>()?)
    }

    /// Takes over the origins that another file has for rows that are here.
    pub(super) fn take_over_origins(&mut self, rows: &[(String, Uid, Uid)]) -> Result<()> {
        self.write(|store| {
            for (kind, uid, from) in rows {
                if KINDS.contains(&kind.as_str()) && row_exists(store, kind, uid)? {
                    set_origin(store, kind, uid, from)?;
                }
            }
            Ok(())
        })
    }
}

fn delete_withdrawn(store: &Connection, kind: &str, uid: &str, gone: &mut Deletion<'_>) -> Result<()> {
    let mut find = store.prepare_cached(&format!("SELECT id FROM {kind} WHERE uid = ?1"))?;
    let id: i64 = find.query_row([uid], |row| row.get(0))?;
    if kind == "decision" {
        return gone.delete_decisions(&[id]);
    }
    let used = "SELECT 1 FROM log WHERE topic = ?1 UNION ALL SELECT 1 FROM decision WHERE topic = ?1
        UNION ALL SELECT 1 FROM topic WHERE parent = ?1
            AND NOT EXISTS (SELECT 1 FROM pulled WHERE pulled.kind = 'topic' AND pulled.uid = topic.uid)";
    if store.prepare_cached(used)?.exists([id])? {
        return Ok(());
    }
    gone.delete_topic(id)
}
