//! The outbox: what a team has yet to be told of projects that are shared with it. Written together with what it is about.
//!
//! It holds names only; what is sent is the row as it is then. What of a row leads to a project that is not shared is
//! not sent.

use rusqlite::{Connection, OptionalExtension, params};

use super::SqliteStore;
use super::row;
use crate::error::Result;
use crate::record::{Record, Uid};

/// One thing to be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// Its place in line.
    pub seq: i64,
    /// What it is.
    pub what: Sent,
}

/// What a team is told.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "nearly all of them are rows")]
pub enum Sent {
    /// A row as it is now.
    Row(Record),
    /// It is to be forgotten.
    Forgotten(Uid),
    /// Nothing any more: the row is gone, or its project is shared no longer.
    Nothing,
}

/// The mark of what is forgotten, where others have their kind.
const FORGOTTEN: &str = "forgotten";

/// Puts a row in line, if its project is shared.
pub(super) fn add(store: &Connection, kind: &str, uid: &str) -> Result<()> {
    if is_shared(store, kind, uid)? {
        line_up(store, kind, uid)?;
    }
    Ok(())
}

fn line_up(store: &Connection, kind: &str, uid: &str) -> Result<()> {
    store.prepare_cached("INSERT INTO outbox (kind, uid) VALUES (?1, ?2)")?.execute([kind, uid])?;
    Ok(())
}

/// Whether the project that a row belongs to is shared.
pub(super) fn is_shared(store: &Connection, kind: &str, uid: &str) -> Result<bool> {
    let sql = match kind {
        "project" => "SELECT shared FROM project WHERE uid = ?1",
        "topic" => "SELECT shared FROM project JOIN topic ON topic.project = project.id WHERE topic.uid = ?1",
        "session" => "SELECT shared FROM project JOIN session ON session.project = project.id WHERE session.uid = ?1",
        "log" => {
            "SELECT shared FROM project JOIN topic ON topic.project = project.id JOIN log ON log.topic = topic.id
            WHERE log.uid = ?1"
        }
        _ => {
            "SELECT shared FROM project JOIN topic ON topic.project = project.id
            JOIN decision ON decision.topic = topic.id WHERE decision.uid = ?1"
        }
    };
    Ok(store.prepare_cached(sql)?.query_row([uid], |row| row.get(0)).optional()?.unwrap_or(false))
}

/// What was forgotten is forgotten there, too: what may have been told, and what may be on its way. As long as the row is
/// still here.
pub(super) fn forget(store: &Connection, kind: &str, uid: &str) -> Result<()> {
    let was_told = store.prepare_cached("DELETE FROM told WHERE uid = ?1")?.execute([uid])? == 1;
    if was_told || is_shared(store, kind, uid)? {
        line_up(store, FORGOTTEN, uid)?;
    }
    Ok(())
}

/// A topic went into another project: what belongs to it has not been told there.
pub(super) fn moved(store: &Connection, topic: i64) -> Result<()> {
    let mut all = store.prepare_cached(
        "INSERT INTO outbox (kind, uid)
        SELECT kind, uid FROM (
            SELECT 1 AS part, 'topic' AS kind, uid, id AS place FROM topic WHERE id = ?1
            UNION ALL SELECT 2, 'log', uid, doc FROM log WHERE topic = ?1
            UNION ALL SELECT 3, 'decision', uid, id FROM decision WHERE topic = ?1)
        WHERE (SELECT shared FROM project JOIN topic ON topic.project = project.id WHERE topic.id = ?1)
        ORDER BY part, place",
    )?;
    all.execute([topic])?;
    Ok(())
}

/// Puts all in line that a project has.
fn whole(store: &Connection, project: i64) -> Result<()> {
    let mut all = store.prepare_cached(
        "WITH RECURSIVE depth (id, deep) AS (
            SELECT id, 0 FROM topic WHERE project = ?1 AND parent IS NULL
            UNION ALL SELECT topic.id, deep + 1 FROM topic JOIN depth ON topic.parent = depth.id)
        INSERT INTO outbox (kind, uid)
        SELECT kind, uid FROM (
            SELECT 0 AS part, 'project' AS kind, uid, 0 AS deep, id AS place FROM project WHERE id = ?1
            UNION ALL SELECT 1, 'topic', uid, coalesce(deep, 0), topic.id FROM topic
                LEFT JOIN depth ON depth.id = topic.id WHERE project = ?1
            UNION ALL SELECT 2, 'session', uid, 0, id FROM session WHERE project = ?1
            UNION ALL SELECT 3, 'log', log.uid, 0, log.doc FROM log JOIN topic ON topic.id = log.topic
                WHERE topic.project = ?1
            UNION ALL SELECT 4, 'decision', decision.uid, 0, decision.id FROM decision
                JOIN topic ON topic.id = decision.topic WHERE topic.project = ?1)
        ORDER BY part, deep, place",
    )?;
    all.execute([project])?;
    Ok(())
}

impl SqliteStore {
    /// Says whether a project is shared. When it begins to be, all that it has is put in line.
    pub fn set_shared(&mut self, project: i64, shared: bool) -> Result<()> {
        let is: Option<bool> = self
            .connection
            .prepare_cached("SELECT shared FROM project WHERE id = ?1")?
            .query_row([project], |row| row.get(0))
            .optional()?;
        if is.is_none_or(|is| is == shared) {
            return Ok(());
        }
        self.write(|store| {
            let mut set =
                store.prepare_cached("UPDATE project SET shared = ?2 WHERE id = ?1 AND shared <> ?2")?;
            if set.execute(params![project, shared])? == 0 || !shared {
                return Ok(());
            }
            whole(store, project)
        })
    }

    /// Puts everything in line that is shared, as if nothing had been told yet.
    pub fn line_up_anew(&mut self) -> Result<()> {
        let shared = self.shared()?;
        self.write(|store| {
            store.execute("DELETE FROM outbox WHERE kind <> 'forgotten'", [])?;
            shared.iter().try_for_each(|(project, _)| whole(store, *project))
        })
    }

    /// Projects that are shared: ids and names.
    pub fn shared(&mut self) -> Result<Vec<(i64, String)>> {
        let mut found =
            self.connection.prepare_cached("SELECT id, name FROM project WHERE shared ORDER BY id")?;
        Ok(found.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<rusqlite::Result<_>>()?)
    }

    /// Every project: its id, its name, what this machine knows it by. Without counting anything, since it is asked at every start.
    pub(crate) fn names(&mut self) -> Result<Vec<(i64, String, Option<String>)>> {
        let mut found = self.connection.prepare_cached("SELECT id, name, key FROM project ORDER BY id")?;
        let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
        Ok(found.query_map([], read)?.collect::<rusqlite::Result<_>>()?)
    }

    /// The first things in line.
    pub fn outbox(&mut self, limit: usize) -> Result<Vec<Outgoing>> {
        self.read(|store| {
            let mut found =
                store.prepare_cached("SELECT seq, kind, uid FROM outbox ORDER BY seq LIMIT ?1")?;
            let line = found
                .query_map([i64::try_from(limit).unwrap_or(i64::MAX)], |row| {
                    Ok((row.get(0)?, row.get(1)?, row.get(2)?))
                })?
                .collect::<rusqlite::Result<Vec<(i64, String, String)>>>()?;
            line.into_iter()
                .map(|(seq, kind, uid)| Ok(Outgoing { seq, what: sent(store, &kind, &uid)? }))
                .collect()
        })
    }

    /// The first that are to be forgotten, wherever they are in line.
    pub fn outbox_forgotten(&mut self, limit: usize) -> Result<Vec<(i64, Uid)>> {
        let mut found = self
            .connection
            .prepare_cached("SELECT seq, uid FROM outbox WHERE kind = 'forgotten' ORDER BY seq LIMIT ?1")?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        Ok(found
            .query_map([limit], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<rusqlite::Result<_>>()?)
    }

    /// A team is about to be told of these. Written down before it is: who is stopped in between does not know how far it got.
    pub fn will_tell<'a>(&mut self, uids: impl IntoIterator<Item = &'a str>) -> Result<()> {
        self.write(|store| {
            let mut told = store.prepare_cached("INSERT OR IGNORE INTO told (uid) VALUES (?1)")?;
            for uid in uids {
                told.execute([uid])?;
            }
            Ok(())
        })
    }

    /// The same of all there is.
    pub fn will_tell_all(&mut self) -> Result<()> {
        self.write(|store| {
            store.execute(
                "INSERT OR IGNORE INTO told SELECT uid FROM project UNION ALL SELECT uid FROM session
                UNION ALL SELECT uid FROM topic UNION ALL SELECT uid FROM log UNION ALL SELECT uid FROM decision",
                [],
            )?;
            Ok(())
        })
    }

    /// How much is in line.
    pub fn outbox_length(&mut self) -> Result<u64> {
        let count: i64 = self.connection.query_row("SELECT count(*) FROM outbox", [], |row| row.get(0))?;
        Ok(count as u64)
    }

    /// These have been told.
    pub fn delivered(&mut self, told: &[i64]) -> Result<()> {
        self.write(|store| {
            let mut done = store.prepare_cached("DELETE FROM outbox WHERE seq = ?1")?;
            for seq in told {
                done.execute([seq])?;
            }
            Ok(())
        })
    }

    /// A row as the team is told of it; `None` where it is not.
    pub fn as_told(&mut self, kind: &str, uid: &str) -> Result<Option<Record>> {
        self.read(|store| {
            Ok(match sent(store, kind, uid)? {
                Sent::Row(record) => Some(record),
                Sent::Forgotten(_) | Sent::Nothing => None,
            })
        })
    }
}

fn sent(store: &Connection, kind: &str, uid: &str) -> Result<Sent> {
    if kind == FORGOTTEN {
        return Ok(Sent::Forgotten(uid.to_owned()));
    }
    if !is_shared(store, kind, uid)? {
        return Ok(Sent::Nothing);
    }
    let shared = |kind: &str, uid: &Option<Uid>| -> Result<Option<Uid>> {
        match uid {
            Some(uid) if is_shared(store, kind, uid)? => Ok(Some(uid.clone())),
            _ => Ok(None),
        }
    };
    let record = match kind {
        "project" => row::project(store, "project.uid = ?1", [uid])?.map(|mut found| {
            found.row.key = None;
            Record::Project(found.row)
        }),
        "topic" => match row::topic(store, "topic.uid = ?1", [uid])? {
            None => None,
            Some(mut found) => {
                found.row.parent = shared("topic", &found.row.parent)?;
                Some(Record::Topic(found.row))
            }
        },
        "session" => row::session(store, "session.uid = ?1", [uid])?.map(Record::Session),
        "log" => match row::log(store, "log.uid = ?1", [uid])? {
            None => None,
            Some(mut found) => {
                found.row.session = shared("session", &found.row.session)?;
                Some(Record::Log(found.row))
            }
        },
        _ => match row::decision(store, "decision.uid = ?1", [uid])? {
            None => None,
            Some(mut found) => {
                found.row.session = shared("session", &found.row.session)?;
                found.row.supersedes = shared("decision", &found.row.supersedes)?;
                Some(Record::Decision(found.row))
            }
        },
    };
    Ok(record.map_or(Sent::Nothing, Sent::Row))
}
