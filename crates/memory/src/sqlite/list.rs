//! Lists in pages. A page ends with the position of its last row, and the next page starts after it.

use rusqlite::types::Value;
use rusqlite::{Connection, Row, params_from_iter};

use super::index;
use super::row::{self, ms};
use crate::error::{Error, ErrorKind, Result};
use crate::record::Uid;
use crate::view::{Decision, Filter, Log, Page, Paged, Project, Topic};

/// Rows per page.
const MOST: usize = 1000;

/// After this many offers without activity, a topic is not offered again.
pub(super) const OFFERS: u32 = 5;

#[derive(Default)]
struct Which {
    conditions: Vec<String>,
    values: Vec<Value>,
}

impl Which {
    /// `condition` has one `?` per value.
    fn add(&mut self, condition: impl Into<String>, values: impl IntoIterator<Item = Value>) {
        self.conditions.push(condition.into());
        self.values.extend(values);
    }

    fn sql(&self, select: &str, order: &str, limit: usize) -> String {
        let conditions = if self.conditions.is_empty() {
            String::new()
        } else {
            format!(" WHERE {}", self.conditions.join(" AND "))
        };
        format!("{select}{conditions} ORDER BY {order} LIMIT {}", limit + 1)
    }
}

fn no_such_page() -> Error {
    Error::new(ErrorKind::Refused, "there is no such page")
        .hint("give what the page before said was next, or nothing")
}

/// `1700000000000-7`.
fn two_numbers(text: &str) -> Result<(i64, i64)> {
    let (first, second) = text.split_once('-').ok_or_else(no_such_page)?;
    Ok((first.parse().map_err(|_| no_such_page())?, second.parse().map_err(|_| no_such_page())?))
}

fn page<T>(
    store: &Connection,
    which: &Which,
    (select, order): (&str, &str),
    limit: usize,
    read: impl Fn(&Row<'_>) -> rusqlite::Result<(T, String)>,
) -> Result<Paged<T>> {
    let limit = limit.clamp(1, MOST);
    let mut found = store.prepare_cached(&which.sql(select, order, limit))?;
    let mut rows = found
        .query_map(params_from_iter(&which.values), |row| read(row))?
        .collect::<rusqlite::Result<Vec<(T, String)>>>()?;
    let more = rows.len() > limit;
    rows.truncate(limit);
    let next = rows.last().filter(|_| more).map(|(_, place)| place.clone());
    Ok(Paged { rows: rows.into_iter().map(|(row, _)| row).collect(), next })
}

pub(super) fn projects(store: &Connection, at: &Page) -> Result<Paged<Project>> {
    let mut which = Which::default();
    if let Some(after) = &at.after {
        let (active, id) = two_numbers(after)?;
        which.add("(project.active, project.id) < (?, ?)", [active.into(), id.into()]);
    }
    page(store, &which, (row::PROJECT, "project.active DESC, project.id DESC"), at.limit, |row| {
        let project = row::read_project(row)?;
        let place = format!("{}-{}", row.get::<_, i64>(9)?, project.id);
        Ok((project, place))
    })
}

pub(super) fn topics(store: &Connection, filter: &Filter, at: &Page) -> Result<Paged<Topic>> {
    let mut which = Which::default();
    if let Some(project) = filter.project {
        which.add("topic.project = ?", [project.into()]);
    }
    if let Some(topic) = filter.topic {
        which.add("(topic.id = ? OR topic.parent = ?)", [topic.into(), topic.into()]);
    }
    if let Some(session) = &filter.session {
        let of = "topic.id IN (SELECT log.topic FROM log JOIN session ON session.id = log.session WHERE session.uid = ?)";
        which.add(of, [session.clone().into()]);
    }
    if let Some(since) = filter.since {
        which.add("topic.active >= ?", [ms(since).into()]);
    }
    if let Some(until) = filter.until {
        which.add("topic.active < ?", [ms(until).into()]);
    }
    if let Some(open) = filter.open {
        which.add("topic.closed = ?", [i64::from(!open).into()]);
    }
    if !filter.all {
        which.add("topic.automatic IS NULL", []);
    }
    if let Some(after) = &at.after {
        let (active, id) = two_numbers(after)?;
        which.add("(topic.active, topic.id) < (?, ?)", [active.into(), id.into()]);
    }
    page(store, &which, (row::TOPIC, "topic.active DESC, topic.id DESC"), at.limit, |row| {
        let topic = row::read_topic(row)?;
        let place = format!("{}-{}", ms(topic.active), topic.id);
        Ok((topic, place))
    })
}

pub(super) fn undecided(store: &Connection, project: Option<i64>, limit: usize) -> Result<Vec<Topic>> {
    let mut which = Which::default();
    which.add("topic.closed = 0 AND topic.automatic IS NULL AND topic.decisions = 0", []);
    which.add("topic.offered < ?", [i64::from(OFFERS).into()]);
    if let Some(project) = project {
        which.add("topic.project = ?", [project.into()]);
    }
    if limit == 0 {
        return Ok(Vec::new());
    }
    let read = |row: &Row<'_>| Ok((row::read_topic(row)?, String::new()));
    Ok(page(store, &which, (row::TOPIC, "topic.active DESC, topic.id DESC"), limit, read)?.rows)
}

pub(super) fn logs(store: &Connection, filter: &Filter, at: &Page) -> Result<Paged<Log>> {
    let mut which = Which::default();
    let narrow = filter.topic.is_some() || filter.session.is_some();
    // Logs have no project column; the index lists the logs of a project in order.
    let (select, doc) = match filter.project {
        Some(project) if !narrow => {
            which.add("find MATCH ?", [format!("\"{}\"", index::of_project(project)).into()]);
            (
                row::LOG.replace("FROM log JOIN", "FROM find CROSS JOIN log ON log.doc = find.rowid JOIN"),
                "find.rowid",
            )
        }
        _ => (row::LOG.to_owned(), "log.doc"),
    };
    if let Some(project) = filter.project {
        which.add("topic.project = ?", [project.into()]);
    }
    if let Some(topic) = filter.topic {
        which.add("log.topic = ?", [topic.into()]);
    }
    if let Some(session) = &filter.session {
        which.add("log.session = (SELECT id FROM session WHERE uid = ?)", [session.clone().into()]);
    }
    // The range of numbers spares reading rows outside the time span.
    if let Some(since) = filter.since {
        which.add(format!("{doc} >= ? AND log.at >= ?"), [index::first(since).into(), ms(since).into()]);
    }
    if let Some(until) = filter.until {
        which.add("log.at < ?", [ms(until).into()]);
    }
    if let Some(after) = &at.after {
        which.add(format!("{doc} < ?"), [after.parse::<i64>().map_err(|_| no_such_page())?.into()]);
    } else if let Some(until) = filter.until {
        which.add(format!("{doc} < ?"), [index::first(until).saturating_add(index::SLACK).into()]);
    }
    page(store, &which, (&select, &format!("{doc} DESC")), at.limit, |row| {
        Ok((row::read_log(row)?, row.get::<_, i64>(0)?.to_string()))
    })
}

pub(super) fn unsummed(store: &Connection, limit: usize) -> Result<Vec<Uid>> {
    let mut found = store.prepare_cached("SELECT uid FROM log WHERE again = 1 ORDER BY doc DESC LIMIT ?1")?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    Ok(found.query_map([limit], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?)
}

pub(super) fn decisions(store: &Connection, filter: &Filter, at: &Page) -> Result<Paged<Decision>> {
    let mut which = Which::default();
    if let Some(project) = filter.project {
        which.add("topic.project = ?", [project.into()]);
    }
    if let Some(topic) = filter.topic {
        which.add("decision.topic = ?", [topic.into()]);
    }
    if let Some(session) = &filter.session {
        which.add("session.uid = ?", [session.clone().into()]);
    }
    if let Some(since) = filter.since {
        which.add("decision.created >= ?", [ms(since).into()]);
    }
    if let Some(until) = filter.until {
        which.add("decision.created < ?", [ms(until).into()]);
    }
    if let Some(open) = filter.open {
        which.add("topic.closed = ?", [i64::from(!open).into()]);
    }
    if !filter.all {
        which.add(row::STANDS, []);
    }
    if let Some(after) = &at.after {
        which.add("decision.doc < ?", [after.parse::<i64>().map_err(|_| no_such_page())?.into()]);
    }
    page(store, &which, (row::DECISION, "decision.doc DESC"), at.limit, |row| {
        Ok((row::read_decision(row)?, row.get::<_, i64>(15)?.to_string()))
    })
}
