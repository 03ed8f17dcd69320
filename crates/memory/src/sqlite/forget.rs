//! Forgetting: deletes rows and overwrites their bytes. Only their uids remain, so that they cannot come
//! back.
//!
//! Rows go with `secure_delete`, tokens with FTS5's `secure-delete`: its usual deletion, and
//! `contentless_delete` too, leaves words in old segments. Then the write-ahead log is emptied and the
//! backups are made anew. A mark in the store tells which of that is left to do after a crash.

use std::collections::BTreeSet;
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, params};
use tidegate_core::feature::memory::automatic;

use super::row::from_ms;
use super::{SqliteStore, index, outbox, pulled, put};
use crate::error::{Error, ErrorKind, Result};
use crate::record::Uid;
use crate::view::Forget;

/// With more texts than this, the index is rewritten instead of cleaned text by text.
const MANY: i64 = 500;

/// Marks that copies and unused bytes of the file still contain forgotten text.
const LEFT: &str = "forgotten";

/// The suffix of the mark once all copies are clean.
const BUT_LOG: &str = " log";

/// The clean-up that is left after a forget.
#[derive(Debug)]
pub(crate) struct PendingPurge {
    mark: String,
    /// Backups still contain forgotten text.
    pub(crate) copies: bool,
}

pub(super) fn delete_and_mark(store: &Connection, what: &Forget) -> Result<Vec<Uid>> {
    let many = match what {
        Forget::Log(_) | Forget::Decision(_) => 0,
        Forget::Topic(id) => {
            read_count(store, "SELECT coalesce(sum(logs + decisions), 0) FROM topic WHERE id = ?1", id)?
        }
        Forget::Session(uid) => read_count(
            store,
            "SELECT count(*) FROM log WHERE session = (SELECT id FROM session WHERE uid = ?1)",
            uid,
        )?,
        Forget::Project(id) => read_count(
            store,
            "SELECT coalesce(sum(logs + decisions + 1), 0) FROM topic WHERE project = ?1",
            id,
        )?,
    };
    let gone = if many > MANY {
        index::remove_in_bulk(store, || delete_named(store, what))?
    } else {
        delete_named(store, what)?
    };
    mark_pending(store)?;
    Ok(gone)
}

/// The value changes with each forget: finishing an earlier clean-up removes only its own mark.
pub(super) fn mark_pending(store: &Connection) -> Result<()> {
    store.execute("INSERT OR REPLACE INTO about SELECT ?1, count(*) FROM forgotten", [LEFT])?;
    Ok(())
}

fn read_count(store: &Connection, sql: &str, of: impl rusqlite::ToSql) -> Result<i64> {
    Ok(store.query_row(sql, [of], |row| row.get(0))?)
}

fn delete_named(store: &Connection, what: &Forget) -> Result<Vec<Uid>> {
    let mut gone = Deletion::new(store);
    gone.asks = !matches!(what, Forget::Session(_) | Forget::Project(_));
    match what {
        Forget::Log(uid) => {
            let docs = read_numbers(store, "SELECT doc FROM log WHERE uid = ?1", uid)?;
            if docs.is_empty() {
                return Err(Error::new(ErrorKind::Missing, format!("no log {uid}")));
            }
            gone.delete_logs(&docs)?;
        }
        Forget::Decision(id) => {
            if read_numbers(store, "SELECT id FROM decision WHERE id = ?1", id)?.is_empty() {
                return Err(Error::new(ErrorKind::Missing, format!("no decision with the id {id}")));
            }
            gone.delete_decisions(&[*id])?;
        }
        Forget::Topic(id) => {
            if read_numbers(store, "SELECT id FROM topic WHERE id = ?1", id)?.is_empty() {
                return Err(Error::new(ErrorKind::Missing, format!("no topic with the id {id}")));
            }
            gone.delete_topic(*id)?;
        }
        Forget::Session(uid) => {
            let sessions = read_numbers(store, "SELECT id FROM session WHERE uid = ?1", uid)?;
            let topics = read_numbers(store, "SELECT id FROM topic WHERE automatic = ?1", uid)?;
            if sessions.is_empty() && topics.is_empty() {
                return Err(Error::new(ErrorKind::Missing, format!("no session {uid}")));
            }
            for session in sessions {
                gone.delete_logs(&read_numbers(store, "SELECT doc FROM log WHERE session = ?1", session)?)?;
                gone.delete_decisions(&read_numbers(
                    store,
                    "SELECT id FROM decision WHERE session = ?1",
                    session,
                )?)?;
            }
            for topic in topics {
                gone.delete_topic(topic)?;
            }
            gone.delete_row("session", uid)?;
        }
        Forget::Project(id) => {
            let Some(uid) = read_text(store, "SELECT uid FROM project WHERE id = ?1", *id)? else {
                return Err(Error::new(ErrorKind::Missing, format!("no project with the id {id}")));
            };
            for topic in read_numbers(store, "SELECT id FROM topic WHERE project = ?1", id)? {
                gone.delete_topic(topic)?;
            }
            for doc in read_numbers(store, "SELECT doc FROM note WHERE project = ?1", id)? {
                index::remove_text(store, doc)?;
                store.prepare_cached("DELETE FROM note WHERE doc = ?1")?.execute([doc])?;
            }
            // Rows that its sessions recorded for other projects stay.
            let sessions = read_numbers(store, "SELECT id FROM session WHERE project = ?1", id)?;
            for session in sessions {
                for doc in read_numbers(store, "SELECT doc FROM log WHERE session = ?1", session)? {
                    index::update_texts(store, &[doc], || {
                        store
                            .prepare_cached("UPDATE log SET session = NULL WHERE doc = ?1")?
                            .execute([doc])?;
                        Ok(())
                    })?;
                }
                for doc in read_numbers(store, "SELECT doc FROM decision WHERE session = ?1", session)? {
                    index::update_texts(store, &[doc], || {
                        store
                            .prepare_cached("UPDATE decision SET session = NULL WHERE doc = ?1")?
                            .execute([doc])?;
                        Ok(())
                    })?;
                }
                if let Some(uid) = read_text(store, "SELECT uid FROM session WHERE id = ?1", session)? {
                    gone.delete_row("session", &uid)?;
                }
            }
            gone.delete_row("project", &uid)?;
            put::forget_duplicates(store, &uid)?;
        }
    }
    gone.finish()
}

fn read_numbers(store: &Connection, sql: &str, of: impl rusqlite::ToSql) -> Result<Vec<i64>> {
    let mut found = store.prepare_cached(sql)?;
    Ok(found.query_map([of], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?)
}

fn read_text(store: &Connection, sql: &str, of: i64) -> Result<Option<String>> {
    Ok(store.prepare_cached(sql)?.query_row([of], |row| row.get(0)).optional()?)
}

pub(super) struct Deletion<'a> {
    store: &'a Connection,
    /// Whether the team has to be told.
    tells: bool,
    /// Whether teammates are asked to forget rows of theirs. Not for whole projects and sessions.
    asks: bool,
    uids: Vec<Uid>,
    /// Topics whose counts have to be updated.
    topics: Vec<i64>,
    logs: Vec<DeletedLog>,
}

/// Identifies the automatic topic that has its title from this log.
struct DeletedLog {
    topic: i64,
    at: i64,
    title: String,
    session: Option<String>,
}

impl DeletedLog {
    /// The log may have moved to another topic since.
    fn gave_title(&self, topic: &AutomaticTopic) -> bool {
        (self.topic == topic.id || self.session.as_deref() == Some(&topic.session))
            && (self.at == topic.created || (!self.title.is_empty() && topic.title.starts_with(&self.title)))
    }
}

struct AutomaticTopic {
    id: i64,
    uid: Uid,
    doc: i64,
    session: String,
    title: String,
    created: i64,
}

impl<'a> Deletion<'a> {
    fn new(store: &'a Connection) -> Deletion<'a> {
        Deletion { store, tells: true, asks: true, uids: Vec::new(), topics: Vec::new(), logs: Vec::new() }
    }

    /// For deletions that come from the team. They are not reported back: this machine's role may delete more
    /// there than the sender's.
    pub(super) fn from_team(store: &'a Connection) -> Deletion<'a> {
        Deletion { tells: false, ..Deletion::new(store) }
    }

    fn delete_logs(&mut self, docs: &[i64]) -> Result<()> {
        for doc in docs {
            let mut found = self.store.prepare_cached(
                "SELECT log.uid, topic, at, title, session.uid FROM log LEFT JOIN session ON session.id = log.session
                WHERE doc = ?1",
            )?;
            let (uid, log): (String, DeletedLog) = found.query_row([doc], |row| {
                let log = DeletedLog {
                    topic: row.get(1)?,
                    at: row.get(2)?,
                    title: row.get(3)?,
                    session: row.get(4)?,
                };
                Ok((row.get(0)?, log))
            })?;
            index::remove_text(self.store, *doc)?;
            self.topics.push(log.topic);
            self.logs.push(log);
            self.delete_row("log", &uid)?;
            // `;` comes after `:`.
            let found = "SELECT id FROM decision WHERE uid > ?1 || ':' AND uid < ?1 || ';'";
            self.delete_decisions(&read_numbers(self.store, found, &uid)?)?;
        }
        Ok(())
    }

    pub(super) fn delete_decisions(&mut self, ids: &[i64]) -> Result<()> {
        let mut left = ids.to_vec();
        while let Some(id) = left.pop() {
            let mut found =
                self.store.prepare_cached("SELECT uid, topic, doc FROM decision WHERE id = ?1")?;
            let found: Option<(String, i64, i64)> =
                found.query_row([id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).optional()?;
            // An earlier wording may be gone with its decision.
            let Some((uid, topic, doc)) = found else { continue };
            let wordings = "SELECT id FROM decision WHERE uid > ?1 || '~' AND uid < ?1 || '~a'";
            left.extend(read_numbers(self.store, wordings, &uid)?);
            // The decision it replaced is in force again, possibly in another topic.
            let older =
                "SELECT older.topic FROM decision JOIN decision AS older ON older.id = decision.supersedes
                WHERE decision.id = ?1";
            self.topics.extend(read_numbers(self.store, older, id)?);
            index::remove_text(self.store, doc)?;
            self.topics.push(topic);
            self.delete_row("decision", &uid)?;
        }
        Ok(())
    }

    pub(super) fn delete_topic(&mut self, id: i64) -> Result<()> {
        self.delete_logs(&read_numbers(self.store, "SELECT doc FROM log WHERE topic = ?1", id)?)?;
        self.delete_decisions(&read_numbers(self.store, "SELECT id FROM decision WHERE topic = ?1", id)?)?;
        let mut found = self.store.prepare_cached("SELECT uid, doc FROM topic WHERE id = ?1")?;
        let (uid, doc): (String, i64) = found.query_row([id], |row| Ok((row.get(0)?, row.get(1)?)))?;
        index::remove_text(self.store, doc)?;
        self.delete_row("topic", &uid)
    }

    /// Requires that nothing refers to the row any more.
    fn delete_row(&mut self, table: &str, uid: &str) -> Result<()> {
        if self.tells && (self.asks || pulled::find_origin(self.store, table, uid)?.is_none()) {
            outbox::queue_deletion(self.store, table, uid)?;
        }
        pulled::remove_origin(self.store, table, uid)?;
        self.store
            .prepare_cached(
                "DELETE FROM outbox WHERE uid = ?1 AND kind NOT IN ('forgotten', 'forgotten project')",
            )?
            .execute([uid])?;
        self.store.prepare_cached(&format!("DELETE FROM {table} WHERE uid = ?1"))?.execute([uid])?;
        self.store.prepare_cached("INSERT OR IGNORE INTO forgotten (uid) VALUES (?1)")?.execute([uid])?;
        self.uids.push(uid.to_owned());
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<Vec<Uid>> {
        self.topics.sort_unstable();
        self.topics.dedup();
        for topic in &self.topics {
            put::recount(self.store, *topic)?;
        }
        if !self.logs.is_empty() {
            for topic in self.automatic_topics()? {
                if self.logs.iter().any(|log| log.gave_title(&topic)) {
                    self.remove_prompt_from_title(&topic)?;
                }
            }
        }
        Ok(self.uids)
    }

    /// AutomaticTopic topics of the affected sessions and topics.
    fn automatic_topics(&self) -> Result<Vec<AutomaticTopic>> {
        let sessions: BTreeSet<&str> = self.logs.iter().filter_map(|log| log.session.as_deref()).collect();
        let mut found = self.store.prepare_cached(
            "SELECT id, doc, automatic, title, created, uid FROM topic WHERE automatic IS NOT NULL",
        )?;
        let mut rows = found.query([])?;
        let mut topics = Vec::new();
        while let Some(row) = rows.next()? {
            let (id, session): (i64, String) = (row.get(0)?, row.get(2)?);
            if self.topics.binary_search(&id).is_ok() || sessions.contains(session.as_str()) {
                topics.push(AutomaticTopic {
                    id,
                    doc: row.get(1)?,
                    session,
                    title: row.get(3)?,
                    created: row.get(4)?,
                    uid: row.get(5)?,
                });
            }
        }
        Ok(topics)
    }

    /// Removes the prompt from a topic's title. Stored as a newer version, which wins wherever the old one
    /// still is.
    fn remove_prompt_from_title(&self, topic: &AutomaticTopic) -> Result<()> {
        let (id, title) = (topic.id, automatic::title_without_question(from_ms(topic.created)));
        index::update_texts(self.store, &[topic.doc], || {
            let mut change = self.store.prepare_cached(
                "UPDATE topic SET title = ?2, updated = min(updated, ?3 - 1) + 1 WHERE id = ?1",
            )?;
            change.execute(params![id, title, i64::MAX])?;
            Ok(())
        })?;
        outbox::queue_row(self.store, "topic", &topic.uid)
    }
}

impl SqliteStore {
    /// Keeps these rows from ever being stored again, and deletes those that are there.
    pub fn forget_uids(&mut self, uids: &[Uid]) -> Result<()> {
        self.write(|store| {
            let mut gone = Deletion::new(store);
            for uid in uids {
                gone.delete_logs(&read_numbers(store, "SELECT doc FROM log WHERE uid = ?1", uid)?)?;
                gone.delete_decisions(&read_numbers(store, "SELECT id FROM decision WHERE uid = ?1", uid)?)?;
                store.prepare_cached("INSERT OR IGNORE INTO forgotten (uid) VALUES (?1)")?.execute([uid])?;
            }
            if gone.finish()?.is_empty() { Ok(()) } else { mark_pending(store) }
        })?;
        self.clear_log().map(|_| ())
    }

    /// Hides a row that only the team's store has, and queues its deletion there.
    pub fn forget_in_team(&mut self, uid: &str) -> Result<()> {
        self.write(|store| {
            store.prepare_cached("INSERT OR IGNORE INTO forgotten (uid) VALUES (?1)")?.execute([uid])?;
            outbox::insert_deletion(store, uid)
        })
    }

    pub fn is_forgotten(&mut self, uid: &str) -> Result<bool> {
        Ok(self.forgotten_of([uid])?.contains(uid))
    }

    /// Those of these uids that were forgotten here.
    pub fn forgotten_of<'a>(&mut self, uids: impl IntoIterator<Item = &'a str>) -> Result<BTreeSet<Uid>> {
        let mut found = self.connection.prepare_cached("SELECT 1 FROM forgotten WHERE uid = ?1")?;
        let mut forgotten = BTreeSet::new();
        for uid in uids {
            if found.exists([uid])? {
                forgotten.insert(uid.to_owned());
            }
        }
        Ok(forgotten)
    }

    /// The bytes may remain in the write-ahead log and in copies.
    pub(crate) fn forget_rows(&mut self, what: &Forget) -> Result<Vec<Uid>> {
        self.write(|store| delete_and_mark(store, what))
    }

    /// Moves the write-ahead log into the file and empties it: it may contain bytes of deleted rows. Returns
    /// `false` while another process reads.
    pub(crate) fn clear_log(&mut self) -> Result<bool> {
        let busy: bool =
            self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
        Ok(!busy)
    }

    /// Does not wait for other processes.
    pub(crate) fn clear_log_now(&mut self) -> Result<bool> {
        let patience = self.patience;
        self.set_patience(Duration::ZERO)?;
        let cleared = self.clear_log();
        self.set_patience(patience)?;
        cleared
    }

    /// `None` if nothing is left to clean.
    pub(crate) fn pending_purge(&mut self) -> Result<Option<PendingPurge>> {
        let mut found = self.connection.prepare_cached("SELECT value FROM about WHERE name = ?1")?;
        let mark: Option<String> = found.query_row([LEFT], |row| row.get(0)).optional()?;
        Ok(mark.map(|mark| PendingPurge { copies: !mark.ends_with(BUT_LOG), mark }))
    }

    /// Notes that copies are clean, unless something else was forgotten since.
    pub(crate) fn purged_copies(&mut self, left: &PendingPurge) -> Result<PendingPurge> {
        let mark = format!("{}{BUT_LOG}", left.mark);
        self.connection.execute(
            "UPDATE about SET value = ?3 WHERE name = ?1 AND value = ?2",
            [LEFT, &left.mark, &mark],
        )?;
        Ok(PendingPurge { mark, copies: false })
    }

    /// Removes the mark, unless something else was forgotten since.
    pub(crate) fn purged_all(&mut self, left: &PendingPurge) -> Result<()> {
        self.connection.execute("DELETE FROM about WHERE name = ?1 AND value = ?2", [LEFT, &left.mark])?;
        Ok(())
    }
}
