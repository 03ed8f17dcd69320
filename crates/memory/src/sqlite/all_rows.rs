//! Visits every row, referenced rows first.

use rusqlite::{Connection, Row};

use super::row;
use crate::error::Result;
use crate::record::Record;

pub(super) fn visit_rows(store: &Connection, take: &mut dyn FnMut(Record) -> Result<()>) -> Result<()> {
    visit_query(store, &format!("{} ORDER BY project.id", row::SELECT_PROJECT), take, |row| {
        Ok(Record::Project(row::read_project(row)?.row))
    })?;
    let topics = format!(
        "WITH RECURSIVE depth (id, deep) AS (
            SELECT id, 0 FROM topic WHERE parent IS NULL
            UNION ALL SELECT topic.id, deep + 1 FROM topic JOIN depth ON topic.parent = depth.id)
        {} JOIN depth ON depth.id = topic.id ORDER BY deep, topic.id",
        row::SELECT_TOPIC
    );
    visit_query(store, &topics, take, |row| Ok(Record::Topic(row::read_topic(row)?.row)))?;
    visit_query(store, &row::select_sessions("ORDER BY session.created, session.uid"), take, |row| {
        Ok(Record::Session(row::read_session(row)?))
    })?;
    visit_query(store, &format!("{} ORDER BY log.doc", row::SELECT_LOG), take, |row| {
        Ok(Record::Log(row::read_log(row)?.row))
    })?;
    let decisions = format!(
        "WITH RECURSIVE depth (id, deep) AS (
            SELECT id, 0 FROM decision WHERE supersedes IS NULL
            UNION ALL SELECT decision.id, deep + 1 FROM decision JOIN depth ON decision.supersedes = depth.id)
        {} JOIN depth ON depth.id = decision.id ORDER BY deep, decision.id",
        row::SELECT_DECISION
    );
    visit_query(store, &decisions, take, |row| Ok(Record::Decision(row::read_decision(row)?.row)))
}

fn visit_query(
    store: &Connection,
    sql: &str,
    take: &mut dyn FnMut(Record) -> Result<()>,
    read: impl Fn(&Row<'_>) -> rusqlite::Result<Record>,
) -> Result<()> {
    let mut found = store.prepare(sql)?;
    let mut rows = found.query([])?;
    while let Some(row) = rows.next()? {
        take(read(row)?)?;
    }
    Ok(())
}
