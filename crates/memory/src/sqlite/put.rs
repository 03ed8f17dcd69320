//! Stores rows by uid: the newer version wins, and forgotten rows stay forgotten.

use rusqlite::{Connection, OptionalExtension, params};
use tidegate_core::time::Millis;

use super::errors::missing_row;
use super::index::{self, TextTable};
use super::outbox;
use super::pulled;
use super::row::{self, LogExtras, to_ms};
use crate::error::{Error, ErrorKind, Result};
use crate::record::{self, LogSource, Record, TopicStatus};
use crate::store::Put;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WrittenBy {
    /// Delivered to the team if the project is shared.
    ThisMachine,
    /// Not delivered back, and wins over a stored version of the same time.
    Team,
}

pub(super) fn put_records(store: &Connection, records: &[Record], by: WrittenBy) -> Result<Vec<Put>> {
    if records.len() < index::BULK {
        return put_each(store, records, by);
    }
    index::insert_in_bulk(store, || put_each(store, records, by))
}

fn put_each(store: &Connection, records: &[Record], by: WrittenBy) -> Result<Vec<Put>> {
    let mut done = Vec::with_capacity(records.len());
    for record in records {
        // This version is written here, whoever wrote the row first. Removed first, because it decides what a
        // decision can replace.
        let origin = match by {
            WrittenBy::ThisMachine => pulled::take_origin(store, record.kind(), record.uid())?,
            WrittenBy::Team => None,
        };
        let put = match record {
            Record::Project(row) => put_project(store, row)?,
            Record::Topic(row) => put_topic(store, row, by)?,
            Record::Session(row) => put_session(store, row)?,
            Record::Log(row) => put_log(store, row)?,
            Record::Decision(row) => put_decision(store, row, by)?,
        };
        if by == WrittenBy::ThisMachine && matches!(put, Put::New | Put::Changed) {
            outbox::queue_row(store, record.kind(), record.uid())?;
        } else if let Some(origin) = origin {
            pulled::set_origin(store, record.kind(), record.uid(), &origin)?;
        }
        done.push(put);
    }
    Ok(done)
}

/// Id or doc number, and version.
type StoredVersion = Option<(i64, i64)>;

fn stored_version(store: &Connection, table: &str, number: &str, uid: &str) -> Result<StoredVersion> {
    let sql = format!("SELECT {number}, updated FROM {table} WHERE uid = ?1");
    Ok(store.prepare_cached(&sql)?.query_row([uid], |row| Ok((row.get(0)?, row.get(1)?))).optional()?)
}

/// Of two versions of the same time the stored one wins, except against the team: its version has to win on
/// every machine.
fn stored_wins(there: StoredVersion, updated: Millis, by: WrittenBy) -> bool {
    there.is_some_and(|(_, there)| {
        there > to_ms(updated) || (there == to_ms(updated) && by == WrittenBy::ThisMachine)
    })
}

fn is_forgotten(store: &Connection, uid: &str) -> Result<bool> {
    Ok(store.prepare_cached("SELECT 1 FROM forgotten WHERE uid = ?1")?.exists([uid])?)
}

/// `None` if the referenced row was forgotten, and this row with it.
fn find_referenced(store: &Connection, table: &str, uid: &str) -> Result<Option<i64>> {
    let sql = format!("SELECT id FROM {table} WHERE uid = ?1");
    let mut find = store.prepare_cached(&sql)?;
    let found = find.query_row([uid], |row| row.get(0)).optional()?;
    if let Some(id) = found {
        return Ok(Some(id));
    }
    if is_forgotten(store, uid)? {
        return Ok(None);
    }
    let other = if table == "project" { original_project(store, uid)? } else { None };
    match other {
        Some(other) => Ok(find.query_row([other], |row| row.get(0)).optional()?),
        None => Err(missing_row(table, uid)),
    }
}

/// The key of a note that a project is a duplicate of another.
fn duplicate_key(uid: &str) -> String {
    format!("{DUPLICATE}{uid}")
}

const DUPLICATE: &str = "project ";

/// Duplicates of a forgotten project are forgotten with it.
pub(super) fn forget_duplicates(store: &Connection, uid: &str) -> Result<()> {
    let same = "FROM about WHERE value = ?1 AND substr(name, 1, length(?2)) = ?2";
    store.execute(
        &format!("INSERT OR IGNORE INTO forgotten (uid) SELECT substr(name, length(?2) + 1) {same}"),
        [uid, DUPLICATE],
    )?;
    store.execute(&format!("DELETE {same}"), [uid, DUPLICATE])?;
    Ok(())
}

/// The project of which this one is a duplicate.
fn original_project(store: &Connection, uid: &str) -> Result<Option<String>> {
    let mut found = store.prepare_cached("SELECT value FROM about WHERE name = ?1")?;
    Ok(found.query_row([duplicate_key(uid)], |row| row.get(0)).optional()?)
}

/// `None` if either was forgotten, and the row with it.
fn find_topic_and_session(
    store: &Connection,
    topic: &str,
    session: Option<&str>,
) -> Result<Option<(i64, Option<i64>)>> {
    let Some(topic) = find_referenced(store, "topic", topic)? else { return Ok(None) };
    let Some(session) = session else { return Ok(Some((topic, None))) };
    Ok(find_referenced(store, "session", session)?.map(|session| (topic, Some(session))))
}

/// The wished id, if it is free.
fn free_id(store: &Connection, table: &str, wanted: Option<i64>) -> Result<Option<i64>> {
    let Some(id) = wanted.filter(|id| *id > 0 && *id < i64::MAX / 2) else { return Ok(None) };
    let taken = store.prepare_cached(&format!("SELECT 1 FROM {table} WHERE id = ?1"))?.exists([id])?;
    Ok((!taken).then_some(id))
}

fn put_project(store: &Connection, row: &record::ProjectRow) -> Result<Put> {
    if is_forgotten(store, &row.uid)? {
        return Ok(Put::Forgotten);
    }
    // A folder belongs to the first project that claimed it.
    let key = match &row.key {
        Some(key) => {
            let mut taken = store.prepare_cached("SELECT 1 FROM project WHERE key = ?1 AND uid <> ?2")?;
            (!taken.exists([key, &row.uid])?).then_some(key)
        }
        None => None,
    };
    match stored_version(store, "project", "id", &row.uid)? {
        // Two processes or machines that met the folder at the same time mean one project.
        None if key.is_none() && is_duplicate(store, row)? => Ok(Put::Kept),
        None => {
            let id = free_id(store, "project", row.id)?;
            let mut new = store.prepare_cached(
                "INSERT INTO project (id, uid, key, name, created, updated, active) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6)",
            )?;
            new.execute(params![id, row.uid, key, row.name, to_ms(row.created), to_ms(row.updated)])?;
            Ok(Put::New)
        }
        Some((id, updated)) if updated < to_ms(row.updated) => {
            let mut change = store.prepare_cached(
                "UPDATE project SET key = coalesce(?2, key), name = ?3, created = ?4, updated = ?5,
                active = max(active, ?5) WHERE id = ?1",
            )?;
            change.execute(params![id, key, row.name, to_ms(row.created), to_ms(row.updated)])?;
            Ok(Put::Changed)
        }
        Some(_) => Ok(Put::Kept),
    }
}

/// Whether a project of the same folder and name exists. Rows of the new one are then stored in that one.
fn is_duplicate(store: &Connection, row: &record::ProjectRow) -> Result<bool> {
    let mut same = store.prepare_cached("SELECT uid FROM project WHERE key = ?1 AND name = ?2")?;
    let same: Option<String> = same.query_row(params![row.key, row.name], |row| row.get(0)).optional()?;
    let Some(same) = same else { return Ok(false) };
    store
        .prepare_cached("INSERT OR REPLACE INTO about (name, value) VALUES (?1, ?2)")?
        .execute([duplicate_key(&row.uid), same])?;
    Ok(true)
}

fn put_topic(store: &Connection, row: &record::TopicRow, by: WrittenBy) -> Result<Put> {
    if is_forgotten(store, &row.uid)? {
        return Ok(Put::Forgotten);
    }
    // A forgotten session takes its automatic topic along, even one that was never stored.
    if let Some(session) = &row.automatic
        && is_forgotten(store, session)?
    {
        store.prepare_cached("INSERT OR IGNORE INTO forgotten (uid) VALUES (?1)")?.execute([&row.uid])?;
        return Ok(Put::Forgotten);
    }
    let known = stored_version(store, "topic", "id", &row.uid)?;
    if stored_wins(known, row.updated, by) {
        return Ok(Put::Kept);
    }
    let Some(project) = find_referenced(store, "project", &row.project)? else { return Ok(Put::Forgotten) };
    // A topic whose parent was forgotten stands alone.
    let mut parent = match &row.parent {
        Some(parent) => find_referenced(store, "topic", parent)?,
        None => None,
    };
    let closed = row.status == TopicStatus::Closed;
    let offered_at = row.offered_at.map(to_ms);
    let Some((id, _)) = known else {
        let id = free_id(store, "topic", row.id)?;
        let doc = index::free_doc(store, TextTable::Topic, row.created)?;
        let mut new = store.prepare_cached(
            "INSERT INTO topic (id, uid, doc, project, parent, title, closed, automatic, offered, offered_at, created,
            updated, active) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?12)",
        )?;
        new.execute(params![
            id,
            row.uid,
            doc,
            project,
            parent,
            row.title,
            closed,
            row.automatic,
            row.offered,
            offered_at,
            to_ms(row.created),
            to_ms(row.updated)
        ])?;
        index::add_text(store, doc)?;
        note_project_activity(store, project, row.updated)?;
        return Ok(Put::New);
    };
    if is_circle(store, id, parent)? {
        if by == WrittenBy::ThisMachine {
            return Err(Error::new(ErrorKind::Refused, "a topic cannot be a part of itself")
                .hint("name another topic that it is a part of"));
        }
        // The local hierarchy wins over the team's.
        parent = None;
    }
    let (was_in, doc): (i64, i64) = store
        .prepare_cached("SELECT project, doc FROM topic WHERE id = ?1")?
        .query_row([id], |row| Ok((row.get(0)?, row.get(1)?)))?;
    // In another project, the project token of all its texts changes.
    let docs = if was_in == project { vec![doc] } else { index::docs_of_topic(store, id)? };
    index::update_texts(store, &docs, || {
        let mut change = store.prepare_cached(
            "UPDATE topic SET project = ?2, parent = ?3, title = ?4, closed = ?5, automatic = ?6, offered = ?7,
            offered_at = ?8, created = ?9, updated = ?10, active = max(active, ?10) WHERE id = ?1",
        )?;
        change.execute(params![
            id,
            project,
            parent,
            row.title,
            closed,
            row.automatic,
            row.offered,
            offered_at,
            to_ms(row.created),
            to_ms(row.updated)
        ])?;
        Ok(())
    })?;
    note_project_activity(store, project, row.updated)?;
    if was_in != project {
        outbox::queue_moved_topic(store, id)?;
    }
    Ok(Put::Changed)
}

fn is_circle(store: &Connection, topic: i64, parent: Option<i64>) -> Result<bool> {
    let mut above = parent;
    while let Some(one) = above {
        if one == topic {
            return Ok(true);
        }
        above = store
            .prepare_cached("SELECT parent FROM topic WHERE id = ?1")?
            .query_row([one], |row| row.get(0))?;
    }
    Ok(false)
}

fn put_session(store: &Connection, row: &record::SessionRow) -> Result<Put> {
    if is_forgotten(store, &row.uid)? {
        return Ok(Put::Forgotten);
    }
    let known = stored_version(store, "session", "id", &row.uid)?;
    if known.is_some_and(|(_, updated)| updated >= to_ms(row.updated)) {
        return Ok(Put::Kept);
    }
    let Some(project) = find_referenced(store, "project", &row.project)? else { return Ok(Put::Forgotten) };
    note_project_activity(store, project, row.updated)?;
    let values = params![row.uid, project, row.root, row.branch, to_ms(row.created), to_ms(row.updated)];
    if known.is_none() {
        let mut new = store.prepare_cached(
            "INSERT INTO session (uid, project, root, branch, created, updated) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?;
        new.execute(values)?;
        return Ok(Put::New);
    }
    // A later relay does not know the first branch and the start of the session.
    let mut change = store.prepare_cached(
        "UPDATE session SET project = ?2, root = ?3, branch = coalesce(branch, ?4), created = min(created, ?5), updated = ?6
        WHERE uid = ?1",
    )?;
    change.execute(values)?;
    Ok(Put::Changed)
}

fn put_log(store: &Connection, row: &record::LogRow) -> Result<Put> {
    if is_forgotten(store, &row.uid)? {
        return Ok(Put::Forgotten);
    }
    let known = stored_version(store, "log", "doc", &row.uid)?;
    if known.is_some_and(|(_, updated)| updated >= to_ms(row.updated)) {
        return Ok(Put::Kept);
    }
    let Some((topic, session)) = find_topic_and_session(store, &row.topic, row.session.as_deref())? else {
        return Ok(Put::Forgotten);
    };
    let more = LogExtras {
        tools: row.tools.clone(),
        files: row.files.clone(),
        redacted: row.redacted.clone(),
        notes: row.notes.clone(),
        by: row.summary.by.clone(),
    };
    let more =
        serde_json::to_string(&more).map_err(|error| Error::new(ErrorKind::Other, error.to_string()))?;
    let write = |sql: &str, doc: i64| -> Result<()> {
        store.prepare_cached(sql)?.execute(params![
            doc,
            row.uid,
            topic,
            session,
            to_ms(row.at),
            to_ms(row.updated),
            row::source_name(row.source),
            row.title,
            row.text,
            row.prompt,
            row.answer,
            more,
            row.summary.again
        ])?;
        Ok(())
    };
    let new = |doc: i64| {
        write(
            "INSERT INTO log (doc, uid, topic, session, at, updated, source, title, text, prompt, answer, more, again)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
            doc,
        )?;
        index::add_text(store, doc)
    };
    let mut was_in = None;
    if let Some((doc, _)) = known {
        was_in = Some(
            store
                .prepare_cached("SELECT topic FROM log WHERE doc = ?1")?
                .query_row([doc], |row| row.get::<_, i64>(0))?,
        );
        if index::doc_time(doc) == row.at {
            index::update_texts(store, &[doc], || {
                write(
                    "UPDATE log SET uid = ?2, topic = ?3, session = ?4, at = ?5, updated = ?6, source = ?7, title = ?8,
                    text = ?9, prompt = ?10, answer = ?11, more = ?12, again = ?13 WHERE doc = ?1",
                    doc,
                )
            })?;
        } else {
            // The start of a log determines its place in lists.
            index::remove_text(store, doc)?;
            store.prepare_cached("DELETE FROM log WHERE doc = ?1")?.execute([doc])?;
            new(index::free_doc(store, TextTable::Log, row.at)?)?;
        }
    } else {
        new(index::free_doc(store, TextTable::Log, row.at)?)?;
    }
    match was_in {
        None => {
            let recorded = (row.source == LogSource::Hand).then_some(to_ms(row.at));
            let mut count = store.prepare_cached(
                "UPDATE topic SET logs = logs + 1, recorded = nullif(max(coalesce(recorded, -1), coalesce(?2, -1)), -1)
                WHERE id = ?1",
            )?;
            count.execute(params![topic, recorded])?;
        }
        // An update can change the counts of both topics in any way.
        Some(was_in) => {
            recount(store, topic)?;
            if was_in != topic {
                recount(store, was_in)?;
            }
        }
    }
    note_activity(store, topic, Millis(row.updated.0.max(row.at.0)))?;
    Ok(if known.is_some() { Put::Changed } else { Put::New })
}

fn put_decision(store: &Connection, row: &record::DecisionRow, by: WrittenBy) -> Result<Put> {
    let relay = record::relay_of_decision(&row.uid).unwrap_or_default();
    if is_forgotten(store, &row.uid)? || is_forgotten(store, relay)? {
        return Ok(Put::Forgotten);
    }
    let known = stored_version(store, "decision", "id", &row.uid)?;
    if stored_wins(known, row.updated, by) {
        return Ok(Put::Kept);
    }
    let Some((topic, session)) = find_topic_and_session(store, &row.topic, row.session.as_deref())? else {
        return Ok(Put::Forgotten);
    };
    // A decision that replaced a forgotten one stands alone.
    let mut supersedes = match &row.supersedes {
        Some(older) => find_referenced(store, "decision", older)?,
        None => None,
    };
    let touched = |id: i64| -> Result<Vec<i64>> {
        let mut topics = store.prepare_cached(
            "SELECT topic FROM decision WHERE id = ?1
            UNION SELECT older.topic FROM decision JOIN decision AS older ON older.id = decision.supersedes
            WHERE decision.id = ?1",
        )?;
        Ok(topics.query_map([id], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?)
    };
    let mut topics = Vec::new();
    let id = if let Some((id, _)) = known {
        topics.extend(touched(id)?);
        if by == WrittenBy::Team
            && check_no_circle(store, id, supersedes).is_err_and(|why| why.kind == ErrorKind::Refused)
        {
            supersedes = None;
        }
        check_no_circle(store, id, supersedes)?;
        let doc: i64 = store
            .prepare_cached("SELECT doc FROM decision WHERE id = ?1")?
            .query_row([id], |row| row.get(0))?;
        index::remove_text(store, doc)?;
        // The time of a decision determines its place in lists.
        let doc = if index::doc_time(doc) == row.created {
            doc
        } else {
            index::free_doc(store, TextTable::Decision, row.created)?
        };
        let mut change = store.prepare_cached(
            "UPDATE decision SET doc = ?2, topic = ?3, text = ?4, reason = ?5, supersedes = ?6, retracted = ?7,
            session = ?8, created = ?9, updated = ?10, taken_by = ?11 WHERE id = ?1",
        )?;
        change.execute(params![
            id,
            doc,
            topic,
            row.text,
            row.reason,
            supersedes,
            row.retracted.map(to_ms),
            session,
            to_ms(row.created),
            to_ms(row.updated),
            row.taken_by.map(record::TakenBy::name)
        ])?;
        index::add_text(store, doc)?;
        id
    } else {
        let doc = index::free_doc(store, TextTable::Decision, row.created)?;
        let mut new = store.prepare_cached(
            "INSERT INTO decision
            (id, uid, doc, topic, text, reason, supersedes, retracted, session, created, updated, taken_by)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
        )?;
        new.execute(params![
            free_id(store, "decision", row.id)?,
            row.uid,
            doc,
            topic,
            row.text,
            row.reason,
            supersedes,
            row.retracted.map(to_ms),
            session,
            to_ms(row.created),
            to_ms(row.updated),
            row.taken_by.map(record::TakenBy::name)
        ])?;
        let id = store.last_insert_rowid();
        index::add_text(store, doc)?;
        id
    };
    topics.extend(touched(id)?);
    topics.sort_unstable();
    topics.dedup();
    for one in topics {
        recount_decisions(store, one)?;
    }
    note_activity(store, topic, row.updated)?;
    Ok(if known.is_some() { Put::Changed } else { Put::New })
}

/// Directly or through other decisions.
fn check_no_circle(store: &Connection, decision: i64, supersedes: Option<i64>) -> Result<()> {
    let mut older = supersedes;
    while let Some(one) = older {
        if one == decision {
            return Err(Error::new(ErrorKind::Refused, "a decision cannot take its own place"));
        }
        older = store
            .prepare_cached("SELECT supersedes FROM decision WHERE id = ?1")?
            .query_row([one], |row| row.get(0))?;
    }
    Ok(())
}

/// Activity makes a topic that was offered before new again.
fn note_activity(store: &Connection, topic: i64, at: Millis) -> Result<()> {
    let mut active = store.prepare_cached(
        "UPDATE topic SET active = max(active, ?2),
            offered = CASE WHEN ?2 > coalesce(offered_at, ?2) THEN 0 ELSE offered END
        WHERE id = ?1 RETURNING project, offered",
    )?;
    let (project, offered): (i64, i64) =
        active.query_row(params![topic, to_ms(at)], |row| Ok((row.get(0)?, row.get(1)?)))?;
    if offered == 0 {
        store.prepare_cached("DELETE FROM offered WHERE topic = ?1")?.execute([topic])?;
    }
    note_project_activity(store, project, at)
}

fn note_project_activity(store: &Connection, project: i64, at: Millis) -> Result<()> {
    let mut active = store.prepare_cached("UPDATE project SET active = ?2 WHERE id = ?1 AND active < ?2")?;
    active.execute(params![project, to_ms(at)])?;
    Ok(())
}

pub(super) fn recount(store: &Connection, topic: i64) -> Result<()> {
    let mut logs = store.prepare_cached(
        "UPDATE topic SET logs = (SELECT count(*) FROM log WHERE topic = ?1) WHERE id = ?1",
    )?;
    logs.execute([topic])?;
    recount_decisions(store, topic)
}

fn recount_decisions(store: &Connection, topic: i64) -> Result<()> {
    let sql = format!(
        "UPDATE topic SET
            decisions = (SELECT count(*) FROM decision WHERE topic = ?1 AND {}),
            recorded = nullif(max(
                coalesce((SELECT max(created) FROM decision WHERE topic = ?1), -1),
                coalesce((SELECT max(at) FROM log WHERE topic = ?1 AND source = 'hand'), -1)), -1)
        WHERE id = ?1",
        row::IN_FORCE
    );
    store.prepare_cached(&sql)?.execute([topic])?;
    Ok(())
}

/// Each session counts once.
pub(super) fn note_offers(store: &Connection, session: &str, topics: &[i64], at: Millis) -> Result<()> {
    for topic in topics {
        let mut known = store.prepare_cached(
            "INSERT OR IGNORE INTO offered (topic, session) SELECT id, ?2 FROM topic WHERE id = ?1 AND active <= ?3",
        )?;
        if known.execute(params![topic, session, to_ms(at)])? == 1 {
            let mut count = store.prepare_cached(
                "UPDATE topic SET offered = offered + 1, offered_at = max(coalesce(offered_at, 0), ?2) WHERE id = ?1",
            )?;
            count.execute(params![topic, to_ms(at)])?;
        }
    }
    Ok(())
}
