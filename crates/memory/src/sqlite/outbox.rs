//! The outbox: rows of shared projects that the team has not received yet. Written in the same transaction as
//! the rows.
//!
//! It contains only uids; a delivery sends the current row, without references into projects that are not
//! shared. A log whose session belongs to a project that is not shared stays here, whatever topic it is in.

use rusqlite::{Connection, OptionalExtension, params};

use super::SqliteStore;
use super::row;
use crate::act::WITHIN;
use crate::error::Result;
use crate::record::{Record, Uid};
use crate::team::project_key;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// The position in the outbox.
    pub seq: i64,
    pub what: OutgoingContent,
}

#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "nearly all of them are rows")]
pub enum OutgoingContent {
    /// The current version.
    Row(Record),
    /// To be deleted in the team's store.
    Forgotten(Uid),
    /// Nothing: the row is gone, its project is no longer shared, or it is a log of a session elsewhere.
    Nothing,
}

/// Used in place of a kind.
const FORGOTTEN: &str = "forgotten";

/// The same for a whole project; the entry holds its key in the team.
const FORGOTTEN_PROJECT: &str = "forgotten project";

/// Only if its project is shared.
pub(super) fn queue_row(store: &Connection, kind: &str, uid: &str) -> Result<()> {
    if is_shared(store, kind, uid)? {
        insert_entry(store, kind, uid)?;
    }
    Ok(())
}

fn insert_entry(store: &Connection, kind: &str, uid: &str) -> Result<()> {
    store.prepare_cached("INSERT INTO outbox (kind, uid) VALUES (?1, ?2)")?.execute([kind, uid])?;
    Ok(())
}

pub(super) fn is_shared(store: &Connection, kind: &str, uid: &str) -> Result<bool> {
    if kind == "log" {
        return is_log_shared(store, uid);
    }
    let sql = match kind {
        "project" => "SELECT shared FROM project WHERE uid = ?1",
        "topic" => "SELECT shared FROM project JOIN topic ON topic.project = project.id WHERE topic.uid = ?1",
        "session" => {
            "SELECT shared FROM project JOIN session ON session.project = project.id WHERE session.uid = ?1"
        }
        _ => {
            "SELECT shared FROM project JOIN topic ON topic.project = project.id
            JOIN decision ON decision.topic = topic.id WHERE decision.uid = ?1"
        }
    };
    Ok(store.prepare_cached(sql)?.query_row([uid], |row| row.get(0)).optional()?.unwrap_or(false))
}

/// The project of its topic is shared, and its session may speak there: the session's project is shared too,
/// or the topic's project is that one or within it.
fn is_log_shared(store: &Connection, uid: &str) -> Result<bool> {
    let mut found = store.prepare_cached(
        "SELECT project.shared AND (log.session IS NULL OR origin.shared
            OR coalesce(substr(project.key, 1, length(origin.key) + length(?2)) = origin.key || ?2, 0))
        FROM log JOIN topic ON topic.id = log.topic JOIN project ON project.id = topic.project
        LEFT JOIN session ON session.id = log.session LEFT JOIN project AS origin ON origin.id = session.project
        WHERE log.uid = ?1",
    )?;
    Ok(found.query_row([uid, WITHIN], |row| row.get(0)).optional()?.unwrap_or(false))
}

/// Queues the deletion of a row that the team has, or may be about to receive. Requires that the row is still
/// here.
pub(super) fn queue_deletion(store: &Connection, kind: &str, uid: &str) -> Result<()> {
    if was_told(store, uid)? || is_shared(store, kind, uid)? {
        insert_entry(store, FORGOTTEN, uid)?;
        // The list of what was sent keeps it: a server that was restored from a backup is told again.
        store.prepare_cached("INSERT OR IGNORE INTO told (uid) VALUES (?1)")?.execute([uid])?;
        if kind == "project"
            && let Some(found) = row::find_project(store, "project.uid = ?1", [uid])?
        {
            insert_entry(store, FORGOTTEN_PROJECT, &project_key::key_in_team(&found.row))?;
        }
    }
    Ok(())
}

fn was_told(store: &Connection, uid: &str) -> Result<bool> {
    Ok(store.prepare_cached("SELECT 1 FROM told WHERE uid = ?1")?.exists([uid])?)
}

/// For a row that is not here.
pub(super) fn insert_deletion(store: &Connection, uid: &str) -> Result<()> {
    insert_entry(store, FORGOTTEN, uid)
}

/// A topic that moved to another project takes its rows along; that project's team does not have them yet.
pub(super) fn queue_moved_topic(store: &Connection, topic: i64) -> Result<()> {
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

fn queue_project(store: &Connection, project: i64) -> Result<()> {
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
            -- Left out so far, because of this project.
            UNION ALL SELECT 3, 'log', log.uid, 0, log.doc FROM session JOIN log ON log.session = session.id
                JOIN topic ON topic.id = log.topic JOIN project ON project.id = topic.project
                WHERE session.project = ?1 AND project.id <> ?1 AND project.shared
            UNION ALL SELECT 4, 'decision', decision.uid, 0, decision.id FROM decision
                JOIN topic ON topic.id = decision.topic WHERE topic.project = ?1)
        ORDER BY part, deep, place",
    )?;
    all.execute([project])?;
    Ok(())
}

impl SqliteStore {
    /// A project that becomes shared is queued as a whole.
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
            queue_project(store, project)
        })
    }

    /// Queues everything shared and every deletion, as if nothing had been delivered.
    pub fn queue_all_shared(&mut self) -> Result<()> {
        let shared = self.shared_projects()?;
        self.write(|store| {
            store.execute("DELETE FROM outbox WHERE kind NOT IN ('forgotten', 'forgotten project')", [])?;
            store.execute(
                "INSERT INTO outbox (kind, uid) SELECT 'forgotten', uid FROM told
                WHERE uid IN (SELECT uid FROM forgotten) AND uid NOT IN (SELECT uid FROM outbox WHERE kind = 'forgotten')",
                [],
            )?;
            shared.iter().try_for_each(|(project, _)| queue_project(store, *project))
        })
    }

    /// Gives a project that has no folder yet one, and its name.
    pub fn set_folder(&mut self, project: i64, key: &str, name: &str) -> Result<()> {
        self.write(|store| {
            store.execute(
                "UPDATE project SET key = ?2, name = ?3 WHERE id = ?1",
                params![project, key, name],
            )?;
            Ok(())
        })
    }

    /// Ids and names.
    pub fn shared_projects(&mut self) -> Result<Vec<(i64, String)>> {
        let mut found =
            self.connection.prepare_cached("SELECT id, name FROM project WHERE shared ORDER BY id")?;
        Ok(found.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<rusqlite::Result<_>>()?)
    }

    /// Id, name and key. Without counts, because every start reads it.
    pub(crate) fn project_names(&mut self) -> Result<Vec<(i64, String, Option<String>)>> {
        let mut found = self.connection.prepare_cached("SELECT id, name, key FROM project ORDER BY id")?;
        let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
        Ok(found.query_map([], read)?.collect::<rusqlite::Result<_>>()?)
    }

    /// The oldest entries.
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
                .map(|(seq, kind, uid)| Ok(Outgoing { seq, what: outgoing_content(store, &kind, &uid)? }))
                .collect()
        })
    }

    /// Keys in the team of projects that were forgotten.
    pub fn outbox_forgotten_projects(&mut self) -> Result<Vec<(i64, String)>> {
        let mut found =
            self.connection.prepare_cached("SELECT seq, uid FROM outbox WHERE kind = ?1 ORDER BY seq")?;
        Ok(found
            .query_map([FORGOTTEN_PROJECT], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<rusqlite::Result<_>>()?)
    }

    /// The oldest deletions behind an entry, wherever they are in the outbox.
    pub fn outbox_forgotten(&mut self, past: i64, limit: usize) -> Result<Vec<(i64, Uid)>> {
        let mut found = self.connection.prepare_cached(
            "SELECT seq, uid FROM outbox WHERE kind = 'forgotten' AND seq > ?1 ORDER BY seq LIMIT ?2",
        )?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        Ok(found
            .query_map([past, limit], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<rusqlite::Result<_>>()?)
    }

    /// Notes that these rows are about to be sent. Stored before sending: after a crash it is unknown how
    /// many arrived.
    pub fn note_sent<'a>(&mut self, uids: impl IntoIterator<Item = &'a str>) -> Result<()> {
        self.write(|store| {
            let mut told = store.prepare_cached("INSERT OR IGNORE INTO told (uid) VALUES (?1)")?;
            for uid in uids {
                told.execute([uid])?;
            }
            Ok(())
        })
    }

    pub fn note_all_sent(&mut self) -> Result<()> {
        self.write(|store| {
            store.execute(
                "INSERT OR IGNORE INTO told SELECT uid FROM project UNION ALL SELECT uid FROM session
                UNION ALL SELECT uid FROM topic UNION ALL SELECT uid FROM log UNION ALL SELECT uid FROM decision",
                [],
            )?;
            Ok(())
        })
    }

    pub fn outbox_length(&mut self) -> Result<u64> {
        let count: i64 = self.connection.query_row("SELECT count(*) FROM outbox", [], |row| row.get(0))?;
        Ok(count as u64)
    }

    pub fn remove_delivered(&mut self, told: &[i64]) -> Result<()> {
        self.write(|store| {
            let mut done = store.prepare_cached("DELETE FROM outbox WHERE seq = ?1")?;
            for seq in told {
                done.execute([seq])?;
            }
            Ok(())
        })
    }

    /// The version of a row that the team receives; `None` if it is not shared.
    pub fn as_delivered(&mut self, kind: &str, uid: &str) -> Result<Option<Record>> {
        self.read(|store| {
            Ok(match outgoing_content(store, kind, uid)? {
                OutgoingContent::Row(record) => Some(record),
                OutgoingContent::Forgotten(_) | OutgoingContent::Nothing => None,
            })
        })
    }
}

fn outgoing_content(store: &Connection, kind: &str, uid: &str) -> Result<OutgoingContent> {
    if kind == FORGOTTEN || kind == FORGOTTEN_PROJECT {
        return Ok(OutgoingContent::Forgotten(uid.to_owned()));
    }
    if !is_shared(store, kind, uid)? {
        return Ok(OutgoingContent::Nothing);
    }
    let shared = |kind: &str, uid: &Option<Uid>| -> Result<Option<Uid>> {
        match uid {
            Some(uid) if is_shared(store, kind, uid)? => Ok(Some(uid.clone())),
            _ => Ok(None),
        }
    };
    let record = match kind {
        "project" => row::find_project(store, "project.uid = ?1", [uid])?.map(|mut found| {
            found.row.key = None;
            Record::Project(found.row)
        }),
        "topic" => match row::find_topic(store, "topic.uid = ?1", [uid])? {
            None => None,
            Some(mut found) => {
                found.row.parent = shared("topic", &found.row.parent)?;
                Some(Record::Topic(found.row))
            }
        },
        "session" => row::find_session(store, "session.uid = ?1", [uid])?.map(Record::Session),
        "log" => match row::find_log(store, "log.uid = ?1", [uid])? {
            None => None,
            Some(mut found) => {
                found.row.session = shared("session", &found.row.session)?;
                Some(Record::Log(found.row))
            }
        },
        _ => match row::find_decision(store, "decision.uid = ?1", [uid])? {
            None => None,
            Some(mut found) => {
                found.row.session = shared("session", &found.row.session)?;
                found.row.supersedes = shared("decision", &found.row.supersedes)?;
                Some(Record::Decision(found.row))
            }
        },
    };
    Ok(record.map_or(OutgoingContent::Nothing, OutgoingContent::Row))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::store::Store;

    fn rows(lines: &[&str]) -> Vec<Record> {
        lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn logs(store: &mut SqliteStore) -> Vec<Uid> {
        let line = store.outbox(100).unwrap();
        let log = |one: Outgoing| match one.what {
            OutgoingContent::Row(Record::Log(row)) => Some(row.uid),
            _ => None,
        };
        line.into_iter().filter_map(log).collect()
    }

    #[test]
    fn a_log_of_a_session_in_a_project_that_is_not_shared_stays_here() {
        let folder = tempfile::tempdir().unwrap();
        let mut store =
            SqliteStore::open_with(&folder.path().join("memory.db"), Duration::ZERO).unwrap().store;
        let log = |uid: &str, topic: &str, session: &str| {
            let line = format!(
                r#"{{"kind":"log","uid":"{uid}","topic":"{topic}","session":{session},"title":"t","text":"t","source":"relay","at":2,"updated":2}}"#
            );
            rows(&[&line]).remove(0)
        };
        let mut all = rows(&[
            r#"{"kind":"project","uid":"app","key":"/app/.git","name":"app","created":1,"updated":1}"#,
            r#"{"kind":"project","uid":"team","key":"/team/.git","name":"team","created":1,"updated":1}"#,
            r#"{"kind":"project","uid":"web","key":"/app/.git//web","name":"web","created":1,"updated":1}"#,
            r#"{"kind":"project","uid":"near","key":"/app/.github","name":"near","created":1,"updated":1}"#,
            r#"{"kind":"topic","uid":"of-team","project":"team","title":"t","status":"open","created":1,"updated":1}"#,
            r#"{"kind":"topic","uid":"of-web","project":"web","title":"t","status":"open","created":1,"updated":1}"#,
            r#"{"kind":"topic","uid":"of-near","project":"near","title":"t","status":"open","created":1,"updated":1}"#,
            r#"{"kind":"session","uid":"in-app","project":"app","root":"/app","created":1,"updated":1}"#,
            r#"{"kind":"session","uid":"in-team","project":"team","root":"/team","created":1,"updated":1}"#,
        ]);
        all.extend([
            log("leak", "of-team", "\"in-app\""),
            log("near", "of-near", "\"in-app\""),
            log("own", "of-team", "\"in-team\""),
            log("by-hand", "of-team", "null"),
            log("within", "of-web", "\"in-app\""),
        ]);
        store.put(&all).unwrap();
        for project in ["team", "web", "near"] {
            let id = store.project_by_name(project).unwrap().unwrap().id;
            store.set_shared(id, true).unwrap();
        }
        assert_eq!(logs(&mut store), ["own", "by-hand", "within"]);
        assert_eq!(store.as_delivered("log", "leak").unwrap(), None);
        // Also when it comes later.
        store.put(&[log("later", "of-team", "\"in-app\"")]).unwrap();
        assert_eq!(logs(&mut store), ["own", "by-hand", "within"]);
        // Its project is shared after all.
        let app = store.project_by_name("app").unwrap().unwrap().id;
        store.set_shared(app, true).unwrap();
        let mut sent = logs(&mut store);
        sent.sort();
        sent.dedup();
        assert_eq!(sent, ["by-hand", "later", "leak", "near", "own", "within"]);
    }
}
