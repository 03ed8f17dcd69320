//! Forgetting: rows are deleted and their bytes overwritten; what is left is that these uids are not to come back.

use rusqlite::Connection;

use super::{SqliteStore, index, outbox, put};
use crate::error::{Error, ErrorKind, Result};
use crate::record::Uid;
use crate::view::Forget;

/// More texts than this are not taken out of the index one by one.
const MANY: i64 = 500;

pub(super) fn forget(store: &Connection, what: &Forget) -> Result<Vec<Uid>> {
    let many = match what {
        Forget::Log(_) => 0,
        Forget::Session(uid) => count(
            store,
            "SELECT count(*) FROM log WHERE session = (SELECT id FROM session WHERE uid = ?1)",
            uid,
        )?,
        Forget::Project(id) => {
            count(store, "SELECT coalesce(sum(logs + decisions + 1), 0) FROM topic WHERE project = ?1", id)?
        }
    };
    if many > MANY {
        index::without_many(store, || forget_each(store, what))
    } else {
        forget_each(store, what)
    }
}

fn count(store: &Connection, sql: &str, of: impl rusqlite::ToSql) -> Result<i64> {
    Ok(store.query_row(sql, [of], |row| row.get(0))?)
}

fn forget_each(store: &Connection, what: &Forget) -> Result<Vec<Uid>> {
    let mut gone = Gone { store, uids: Vec::new(), topics: Vec::new() };
    match what {
        Forget::Log(uid) => {
            let docs = numbers(store, "SELECT doc FROM log WHERE uid = ?1", uid)?;
            if docs.is_empty() {
                return Err(Error::new(ErrorKind::Missing, format!("no log {uid}")));
            }
            gone.logs(&docs)?;
        }
        Forget::Session(uid) => {
            let sessions = numbers(store, "SELECT id FROM session WHERE uid = ?1", uid)?;
            let topics = numbers(store, "SELECT id FROM topic WHERE automatic = ?1", uid)?;
            if sessions.is_empty() && topics.is_empty() {
                return Err(Error::new(ErrorKind::Missing, format!("no session {uid}")));
            }
            for session in sessions {
                gone.logs(&numbers(store, "SELECT doc FROM log WHERE session = ?1", session)?)?;
                gone.decisions(&numbers(store, "SELECT id FROM decision WHERE session = ?1", session)?)?;
            }
            for topic in topics {
                gone.whole_topic(topic)?;
            }
            gone.row("session", uid)?;
        }
        Forget::Project(id) => {
            let Some(uid) = text(store, "SELECT uid FROM project WHERE id = ?1", *id)? else {
                return Err(Error::new(ErrorKind::Missing, format!("no project with the id {id}")));
            };
            for topic in numbers(store, "SELECT id FROM topic WHERE project = ?1", id)? {
                gone.whole_topic(topic)?;
            }
            for doc in numbers(store, "SELECT doc FROM note WHERE project = ?1", id)? {
                index::remove(store, doc)?;
                store.prepare_cached("DELETE FROM note WHERE doc = ?1")?.execute([doc])?;
            }
            // What was recorded in its sessions for other projects is theirs.
            let sessions = numbers(store, "SELECT id FROM session WHERE project = ?1", id)?;
            for session in sessions {
                for doc in numbers(store, "SELECT doc FROM log WHERE session = ?1", session)? {
                    index::change(store, &[doc], || {
                        store
                            .prepare_cached("UPDATE log SET session = NULL WHERE doc = ?1")?
                            .execute([doc])?;
                        Ok(())
                    })?;
                }
                for doc in numbers(store, "SELECT doc FROM decision WHERE session = ?1", session)? {
                    index::change(store, &[doc], || {
                        store
                            .prepare_cached("UPDATE decision SET session = NULL WHERE doc = ?1")?
                            .execute([doc])?;
                        Ok(())
                    })?;
                }
                if let Some(uid) = text(store, "SELECT uid FROM session WHERE id = ?1", session)? {
                    gone.row("session", &uid)?;
                }
            }
            gone.row("project", &uid)?;
        }
    }
    gone.finish()
}

fn numbers(store: &Connection, sql: &str, of: impl rusqlite::ToSql) -> Result<Vec<i64>> {
    let mut found = store.prepare_cached(sql)?;
    Ok(found.query_map([of], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?)
}

fn text(store: &Connection, sql: &str, of: i64) -> Result<Option<String>> {
    use rusqlite::OptionalExtension;
    Ok(store.prepare_cached(sql)?.query_row([of], |row| row.get(0)).optional()?)
}

/// What is gone so far.
struct Gone<'a> {
    store: &'a Connection,
    uids: Vec<Uid>,
    /// Topics that have less now.
    topics: Vec<i64>,
}

impl Gone<'_> {
    fn logs(&mut self, docs: &[i64]) -> Result<()> {
        for doc in docs {
            let mut found = self.store.prepare_cached("SELECT uid, topic FROM log WHERE doc = ?1")?;
            let (uid, topic): (String, i64) = found.query_row([doc], |row| Ok((row.get(0)?, row.get(1)?)))?;
            index::remove(self.store, *doc)?;
            self.topics.push(topic);
            self.row("log", &uid)?;
        }
        Ok(())
    }

    fn decisions(&mut self, ids: &[i64]) -> Result<()> {
        for id in ids {
            let mut found =
                self.store.prepare_cached("SELECT uid, topic, doc FROM decision WHERE id = ?1")?;
            let (uid, topic, doc): (String, i64, i64) =
                found.query_row([id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
            // What it took the place of stands again, maybe in another topic.
            let older =
                "SELECT older.topic FROM decision JOIN decision AS older ON older.id = decision.supersedes
                WHERE decision.id = ?1";
            self.topics.extend(numbers(self.store, older, id)?);
            index::remove(self.store, doc)?;
            self.topics.push(topic);
            self.row("decision", &uid)?;
        }
        Ok(())
    }

    fn whole_topic(&mut self, id: i64) -> Result<()> {
        self.logs(&numbers(self.store, "SELECT doc FROM log WHERE topic = ?1", id)?)?;
        self.decisions(&numbers(self.store, "SELECT id FROM decision WHERE topic = ?1", id)?)?;
        let mut found = self.store.prepare_cached("SELECT uid, doc FROM topic WHERE id = ?1")?;
        let (uid, doc): (String, i64) = found.query_row([id], |row| Ok((row.get(0)?, row.get(1)?)))?;
        index::remove(self.store, doc)?;
        self.row("topic", &uid)
    }

    /// Deletes a row that nothing refers to any more.
    fn row(&mut self, table: &str, uid: &str) -> Result<()> {
        outbox::forget(self.store, table, uid)?;
        self.store
            .prepare_cached("DELETE FROM outbox WHERE uid = ?1 AND kind <> 'forgotten'")?
            .execute([uid])?;
        self.store.prepare_cached(&format!("DELETE FROM {table} WHERE uid = ?1"))?.execute([uid])?;
        self.store.prepare_cached("INSERT OR IGNORE INTO forgotten (uid) VALUES (?1)")?.execute([uid])?;
        self.uids.push(uid.to_owned());
        Ok(())
    }

    fn finish(mut self) -> Result<Vec<Uid>> {
        self.topics.sort_unstable();
        self.topics.dedup();
        for topic in &self.topics {
            put::recount(self.store, *topic)?;
        }
        Ok(self.uids)
    }
}

impl SqliteStore {
    /// Remembers that these are not to come back, here or from elsewhere; what is there of them is deleted.
    pub fn forget_uids(&mut self, uids: &[Uid]) -> Result<()> {
        self.write(|store| {
            for uid in uids {
                let log = numbers(store, "SELECT doc FROM log WHERE uid = ?1", uid)?;
                let mut gone = Gone { store, uids: Vec::new(), topics: Vec::new() };
                gone.logs(&log)?;
                gone.decisions(&numbers(store, "SELECT id FROM decision WHERE uid = ?1", uid)?)?;
                gone.finish()?;
                store.prepare_cached("INSERT OR IGNORE INTO forgotten (uid) VALUES (?1)")?.execute([uid])?;
            }
            Ok(())
        })?;
        self.clear_log()
    }

    /// Writes what the write-ahead log holds into the file and empties it: old bytes of what was deleted may be in it. While
    /// somebody reads, that has to wait for the next time.
    pub(super) fn clear_log(&mut self) -> Result<()> {
        self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        Ok(())
    }
}
