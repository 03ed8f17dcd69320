//! Reads rows into records and views.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension, Params, Row};
use serde::{Deserialize, Serialize};
use tidegate_core::time::Millis;

use crate::error::{Error, ErrorKind, Result};
use crate::record;
use crate::view::{Decision, Log, MemoryProject, NamedRow, Topic};

pub(super) fn to_ms(at: Millis) -> i64 {
    i64::try_from(at.0).unwrap_or(i64::MAX)
}

pub(super) fn from_ms(at: i64) -> Millis {
    Millis(u64::try_from(at).unwrap_or(0))
}

/// Fields of a log that no query needs, as JSON in one column.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct LogExtras {
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) tools: BTreeMap<String, u32>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) files: Vec<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) redacted: BTreeMap<String, u32>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) notes: Vec<String>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) by: String,
}

pub(super) const SELECT_PROJECT: &str = "
    SELECT project.id, project.uid, project.key, project.name, project.created, project.updated,
        (SELECT count(*) FROM topic WHERE topic.project = project.id AND topic.automatic IS NULL),
        (SELECT coalesce(sum(topic.logs), 0) FROM topic WHERE topic.project = project.id),
        (SELECT coalesce(sum(topic.decisions), 0) FROM topic WHERE topic.project = project.id),
        project.active
    FROM project";

pub(super) fn read_project(row: &Row<'_>) -> rusqlite::Result<MemoryProject> {
    let id = row.get(0)?;
    Ok(MemoryProject {
        id,
        row: record::ProjectRow {
            uid: row.get(1)?,
            id: Some(id),
            key: row.get(2)?,
            name: row.get(3)?,
            created: from_ms(row.get(4)?),
            updated: from_ms(row.get(5)?),
        },
        topics: row.get::<_, i64>(6)? as u64,
        logs: row.get::<_, i64>(7)? as u64,
        decisions: row.get::<_, i64>(8)? as u64,
    })
}

pub(super) fn find_project(
    store: &Connection,
    which: &str,
    of: impl Params,
) -> Result<Option<MemoryProject>> {
    find_one(store, SELECT_PROJECT, which, of, read_project)
}

pub(super) const SELECT_TOPIC: &str = "
    SELECT topic.id, topic.uid, project.uid, parent.uid, topic.title, topic.closed, topic.automatic, topic.offered,
        topic.offered_at, topic.created, topic.updated, project.id, project.name, parent.id, parent.title, topic.logs,
        topic.decisions, topic.recorded, topic.active,
        (SELECT origin FROM pulled WHERE pulled.kind = 'topic' AND pulled.uid = topic.uid)
    FROM topic JOIN project ON project.id = topic.project LEFT JOIN topic AS parent ON parent.id = topic.parent";

pub(super) fn read_topic(row: &Row<'_>) -> rusqlite::Result<Topic> {
    let id = row.get(0)?;
    let parent: Option<i64> = row.get(13)?;
    let parent_title: Option<String> = row.get(14)?;
    Ok(Topic {
        id,
        row: record::TopicRow {
            uid: row.get(1)?,
            id: Some(id),
            project: row.get(2)?,
            parent: row.get(3)?,
            title: row.get(4)?,
            status: if row.get(5)? { record::TopicStatus::Closed } else { record::TopicStatus::Open },
            automatic: row.get(6)?,
            offered: row.get(7)?,
            offered_at: row.get::<_, Option<i64>>(8)?.map(from_ms),
            created: from_ms(row.get(9)?),
            updated: from_ms(row.get(10)?),
        },
        in_project: NamedRow { id: row.get(11)?, name: row.get(12)? },
        part_of: parent.zip(parent_title).map(|(id, name)| NamedRow { id, name }),
        logs: row.get::<_, i64>(15)? as u64,
        decisions: row.get::<_, i64>(16)? as u64,
        recorded: row.get::<_, Option<i64>>(17)?.map(from_ms),
        active: from_ms(row.get(18)?),
        author: row.get(19)?,
    })
}

pub(super) fn find_topic(store: &Connection, which: &str, of: impl Params) -> Result<Option<Topic>> {
    find_one(store, SELECT_TOPIC, which, of, read_topic)
}

pub(super) const SELECT_LOG: &str = "
    SELECT log.doc, log.uid, topic.uid, session.uid, log.title, log.text, log.prompt, log.answer, log.more, log.source,
        log.again, log.at, log.updated, topic.id, topic.title, project.id, project.name
    FROM log JOIN topic ON topic.id = log.topic JOIN project ON project.id = topic.project
        LEFT JOIN session ON session.id = log.session";

pub(super) fn read_log(row: &Row<'_>) -> rusqlite::Result<Log> {
    let more: LogExtras = serde_json::from_str(row.get_ref(8)?.as_str()?).unwrap_or_default();
    Ok(Log {
        row: record::LogRow {
            uid: row.get(1)?,
            topic: row.get(2)?,
            session: row.get(3)?,
            title: row.get(4)?,
            text: row.get(5)?,
            prompt: row.get(6)?,
            answer: row.get(7)?,
            tools: more.tools,
            files: more.files,
            source: parse_source(row.get_ref(9)?.as_str()?),
            redacted: more.redacted,
            notes: more.notes,
            summary: record::LogSummary { by: more.by, again: row.get(10)? },
            at: from_ms(row.get(11)?),
            updated: from_ms(row.get(12)?),
        },
        in_topic: NamedRow { id: row.get(13)?, name: row.get(14)? },
        in_project: NamedRow { id: row.get(15)?, name: row.get(16)? },
        author: None,
    })
}

pub(super) fn find_log(store: &Connection, which: &str, of: impl Params) -> Result<Option<Log>> {
    find_one(store, SELECT_LOG, which, of, read_log)
}

/// By its uid or a unique prefix of it.
pub(super) fn find_log_by_prefix(store: &Connection, beginning: &str) -> Result<Option<Log>> {
    if let Some(exact) = find_log(store, "log.uid = ?1", [beginning])? {
        return Ok(Some(exact));
    }
    match find_uid(store, "log", beginning)? {
        Some(uid) => find_log(store, "log.uid = ?1", [uid]),
        None => Ok(None),
    }
}

/// The only uid that begins so.
fn find_uid(store: &Connection, table: &str, beginning: &str) -> Result<Option<String>> {
    if beginning.is_empty() {
        return Ok(None);
    }
    let mut found = store.prepare_cached(&format!(
        "SELECT uid FROM {table} WHERE uid >= ?1 AND uid < ?2 ORDER BY uid LIMIT 2"
    ))?;
    let after = format!("{beginning}\u{10ffff}");
    let mut uids =
        found.query_map([beginning, &after], |row| row.get(0))?.collect::<rusqlite::Result<Vec<String>>>()?;
    if uids.len() > 1 {
        return Err(Error::new(ErrorKind::Refused, format!("several {table}s begin with {beginning}"))
            .hint("give more of its id"));
    }
    Ok(uids.pop())
}

pub(super) fn parse_source(text: &str) -> record::LogSource {
    if text == "hand" { record::LogSource::Hand } else { record::LogSource::Relay }
}

pub(super) fn source_name(source: record::LogSource) -> &'static str {
    match source {
        record::LogSource::Hand => "hand",
        record::LogSource::Relay => "relay",
    }
}

/// Whether the decision `newer` replaces `decision`. One of a teammate does not replace one that was made here.
macro_rules! replaces {
    () => {
        "newer.supersedes = decision.id AND newer.retracted IS NULL
            AND (NOT EXISTS (SELECT 1 FROM pulled WHERE pulled.kind = 'decision' AND pulled.uid = newer.uid)
                OR EXISTS (SELECT 1 FROM pulled WHERE pulled.kind = 'decision' AND pulled.uid = decision.uid))"
    };
}

/// `superseded_by` is the first replacement that was not retracted. In conflict are decisions in force that
/// replace the same one, and a teammate's with the decision of this machine that it would replace.
pub(super) const SELECT_DECISION: &str = concat!("
    SELECT decision.id, decision.uid, topic.uid, decision.text, decision.reason, older.uid, decision.retracted,
        session.uid, decision.created, decision.updated, topic.id, topic.title, project.id, project.name,
        (SELECT min(newer.id) FROM decision AS newer WHERE ", replaces!(), "),
        decision.doc, decision.taken_by,
        (SELECT origin FROM pulled WHERE pulled.kind = 'decision' AND pulled.uid = decision.uid),
        (SELECT group_concat(other.id) FROM decision AS other
            WHERE other.id <> decision.id AND other.retracted IS NULL AND decision.retracted IS NULL
                AND (other.supersedes = decision.supersedes OR other.id = decision.supersedes
                    OR other.supersedes = decision.id)
                AND NOT EXISTS (SELECT 1 FROM decision AS newer WHERE newer.supersedes = other.id AND newer.retracted IS NULL
                    AND (NOT EXISTS (SELECT 1 FROM pulled WHERE pulled.kind = 'decision' AND pulled.uid = newer.uid)
                        OR EXISTS (SELECT 1 FROM pulled WHERE pulled.kind = 'decision' AND pulled.uid = other.uid))))
    FROM decision JOIN topic ON topic.id = decision.topic JOIN project ON project.id = topic.project
        LEFT JOIN decision AS older ON older.id = decision.supersedes
        LEFT JOIN session ON session.id = decision.session");

/// The condition that a decision is in force.
pub(super) const IN_FORCE: &str = concat!(
    "decision.retracted IS NULL AND NOT EXISTS (SELECT 1 FROM decision AS newer WHERE ",
    replaces!(),
    ")"
);

pub(super) fn read_decision(row: &Row<'_>) -> rusqlite::Result<Decision> {
    let id = row.get(0)?;
    Ok(Decision {
        id,
        row: record::DecisionRow {
            uid: row.get(1)?,
            id: Some(id),
            topic: row.get(2)?,
            text: row.get(3)?,
            reason: row.get(4)?,
            supersedes: row.get(5)?,
            retracted: row.get::<_, Option<i64>>(6)?.map(from_ms),
            session: row.get(7)?,
            taken_by: row.get::<_, Option<String>>(16)?.as_deref().and_then(record::TakenBy::from_name),
            created: from_ms(row.get(8)?),
            updated: from_ms(row.get(9)?),
        },
        in_topic: NamedRow { id: row.get(10)?, name: row.get(11)? },
        in_project: NamedRow { id: row.get(12)?, name: row.get(13)? },
        superseded_by: row.get(14)?,
        conflicts: match (row.get::<_, Option<i64>>(14)?, row.get::<_, Option<String>>(18)?) {
            // Without force, it contradicts nothing.
            (None, Some(ids)) => ids.split(',').filter_map(|id| id.parse().ok()).collect(),
            _ => Vec::new(),
        },
        author: row.get(17)?,
    })
}

pub(super) fn find_decision(store: &Connection, which: &str, of: impl Params) -> Result<Option<Decision>> {
    find_one(store, SELECT_DECISION, which, of, read_decision)
}

pub(super) const SELECT_SESSION: &str = "
    SELECT session.uid, project.uid, session.root, session.branch, session.created, session.updated
    FROM session JOIN project ON project.id = session.project";

pub(super) fn read_session(row: &Row<'_>) -> rusqlite::Result<record::SessionRow> {
    Ok(record::SessionRow {
        uid: row.get(0)?,
        project: row.get(1)?,
        root: row.get(2)?,
        branch: row.get(3)?,
        created: from_ms(row.get(4)?),
        updated: from_ms(row.get(5)?),
    })
}

pub(super) fn find_session(
    store: &Connection,
    which: &str,
    of: impl Params,
) -> Result<Option<record::SessionRow>> {
    find_one(store, SELECT_SESSION, which, of, read_session)
}

/// By its uid or a unique prefix of it.
pub(super) fn find_session_by_prefix(
    store: &Connection,
    beginning: &str,
) -> Result<Option<record::SessionRow>> {
    if let Some(exact) = find_session(store, "session.uid = ?1", [beginning])? {
        return Ok(Some(exact));
    }
    match find_uid(store, "session", beginning)? {
        Some(uid) => find_session(store, "session.uid = ?1", [uid]),
        None => Ok(None),
    }
}

pub(super) fn select_sessions(which: &str) -> String {
    format!("{SELECT_SESSION} {which}")
}

fn find_one<T>(
    store: &Connection,
    select: &str,
    which: &str,
    of: impl Params,
    read: fn(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Option<T>> {
    Ok(store.prepare_cached(&format!("{select} WHERE {which}"))?.query_row(of, read).optional()?)
}
