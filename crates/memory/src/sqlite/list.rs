//! Lists in pages. A page ends with the position of its last row, and the next page starts after it.

use rusqlite::types::Value;
use rusqlite::{Connection, Row, params_from_iter};

use super::index::{self, LOG_INDEX};
use super::row::{self, to_ms};
use crate::error::{Error, ErrorKind, Result};
use crate::record::Uid;
use crate::view::{Decision, Filter, Log, MemoryProject, Page, Paged, Topic};

/// Rows per page.
const MOST: usize = 1000;

/// After this many offers without activity, a topic is not offered again.
pub(super) const OFFERS: u32 = 5;

#[derive(Default)]
struct Conditions {
    conditions: Vec<String>,
    values: Vec<Value>,
}

impl Conditions {
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
fn parse_position(text: &str) -> Result<(i64, i64)> {
    let (first, second) = text.split_once('-').ok_or_else(no_such_page)?;
    Ok((first.parse().map_err(|_| no_such_page())?, second.parse().map_err(|_| no_such_page())?))
}

fn read_page<T>(
    store: &Connection,
    conditions: &Conditions,
    (select, order): (&str, &str),
    limit: usize,
    read: impl Fn(&Row<'_>) -> rusqlite::Result<(T, String)>,
) -> Result<Paged<T>> {
    let limit = limit.clamp(1, MOST);
    let mut found = store.prepare_cached(&conditions.sql(select, order, limit))?;
    let mut rows = found
        .query_map(params_from_iter(&conditions.values), |row| read(row))?
        .collect::<rusqlite::Result<Vec<(T, String)>>>()?;
    let more = rows.len() > limit;
    rows.truncate(limit);
    let next = rows.last().filter(|_| more).map(|(_, place)| place.clone());
    Ok(Paged { rows: rows.into_iter().map(|(row, _)| row).collect(), next })
}

pub(super) fn projects(store: &Connection, at: &Page) -> Result<Paged<MemoryProject>> {
    let mut conditions = Conditions::default();
    if let Some(after) = &at.after {
        let (active, id) = parse_position(after)?;
        conditions.add("(project.active, project.id) < (?, ?)", [active.into(), id.into()]);
    }
    read_page(
        store,
        &conditions,
        (row::SELECT_PROJECT, "project.active DESC, project.id DESC"),
        at.limit,
        |row| {
            let project = row::read_project(row)?;
            let place = format!("{}-{}", row.get::<_, i64>(9)?, project.id);
            Ok((project, place))
        },
    )
}

pub(super) fn topics(store: &Connection, filter: &Filter, at: &Page) -> Result<Paged<Topic>> {
    let mut conditions = Conditions::default();
    if let Some(project) = filter.project {
        conditions.add("topic.project = ?", [project.into()]);
    }
    if let Some(topic) = filter.topic {
        conditions.add("(topic.id = ? OR topic.parent = ?)", [topic.into(), topic.into()]);
    }
    if let Some(session) = &filter.session {
        let of = "topic.id IN (SELECT log.topic FROM log JOIN session ON session.id = log.session WHERE session.uid = ?)";
        conditions.add(of, [session.clone().into()]);
    }
    if let Some(since) = filter.since {
        conditions.add("topic.active >= ?", [to_ms(since).into()]);
    }
    if let Some(until) = filter.until {
        conditions.add("topic.active < ?", [to_ms(until).into()]);
    }
    if let Some(open) = filter.open {
        conditions.add("topic.closed = ?", [i64::from(!open).into()]);
    }
    if !filter.all {
        conditions.add("topic.automatic IS NULL", []);
    }
    if let Some(after) = &at.after {
        let (active, id) = parse_position(after)?;
        conditions.add("(topic.active, topic.id) < (?, ?)", [active.into(), id.into()]);
    }
    read_page(store, &conditions, (row::SELECT_TOPIC, "topic.active DESC, topic.id DESC"), at.limit, |row| {
        let topic = row::read_topic(row)?;
        let place = format!("{}-{}", to_ms(topic.active), topic.id);
        Ok((topic, place))
    })
}

pub(super) fn undecided_topics(store: &Connection, project: Option<i64>, limit: usize) -> Result<Vec<Topic>> {
    let mut conditions = Conditions::default();
    conditions.add("topic.closed = 0 AND topic.automatic IS NULL AND topic.decisions = 0", []);
    conditions.add("topic.offered < ?", [i64::from(OFFERS).into()]);
    if let Some(project) = project {
        conditions.add("topic.project = ?", [project.into()]);
    }
    if limit == 0 {
        return Ok(Vec::new());
    }
    let read = |row: &Row<'_>| Ok((row::read_topic(row)?, String::new()));
    Ok(read_page(store, &conditions, (row::SELECT_TOPIC, "topic.active DESC, topic.id DESC"), limit, read)?
        .rows)
}

pub(super) fn logs(store: &Connection, filter: &Filter, at: &Page) -> Result<Paged<Log>> {
    let mut conditions = Conditions::default();
    let narrow = filter.topic.is_some() || filter.session.is_some();
    // Logs have no project column; the index lists the logs of a project in order.
    let (select, doc) = match filter.project {
        Some(project) if !narrow => {
            let token = format!("\"{}\"", index::project_token(project));
            conditions.add(format!("{LOG_INDEX} MATCH ?"), [token.into()]);
            let doc = format!("{LOG_INDEX}.rowid");
            let source = format!("FROM {LOG_INDEX} CROSS JOIN log ON log.doc = {doc} JOIN");
            (row::SELECT_LOG.replace("FROM log JOIN", &source), doc)
        }
        _ => (row::SELECT_LOG.to_owned(), "log.doc".to_owned()),
    };
    if let Some(project) = filter.project {
        conditions.add("topic.project = ?", [project.into()]);
    }
    if let Some(topic) = filter.topic {
        conditions.add("log.topic = ?", [topic.into()]);
    }
    if let Some(session) = &filter.session {
        conditions.add("log.session = (SELECT id FROM session WHERE uid = ?)", [session.clone().into()]);
    }
    // The range of numbers spares reading rows outside the time span.
    if let Some(since) = filter.since {
        conditions.add(
            format!("{doc} >= ? AND log.at >= ?"),
            [index::first_doc_at(since).into(), to_ms(since).into()],
        );
    }
    if let Some(until) = filter.until {
        conditions.add("log.at < ?", [to_ms(until).into()]);
    }
    if let Some(after) = &at.after {
        conditions.add(format!("{doc} < ?"), [after.parse::<i64>().map_err(|_| no_such_page())?.into()]);
    } else if let Some(until) = filter.until {
        conditions
            .add(format!("{doc} < ?"), [index::first_doc_at(until).saturating_add(index::SLACK).into()]);
    }
    read_page(store, &conditions, (&select, &format!("{doc} DESC")), at.limit, |row| {
        Ok((row::read_log(row)?, row.get::<_, i64>(0)?.to_string()))
    })
}

pub(super) fn logs_to_summarise(store: &Connection, limit: usize) -> Result<Vec<Uid>> {
    let mut found = store.prepare_cached("SELECT uid FROM log WHERE again = 1 ORDER BY doc DESC LIMIT ?1")?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    Ok(found.query_map([limit], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?)
}

pub(super) fn decisions(store: &Connection, filter: &Filter, at: &Page) -> Result<Paged<Decision>> {
    let mut conditions = Conditions::default();
    if let Some(project) = filter.project {
        conditions.add("topic.project = ?", [project.into()]);
    }
    if let Some(topic) = filter.topic {
        conditions.add("decision.topic = ?", [topic.into()]);
    }
    if let Some(session) = &filter.session {
        conditions.add("session.uid = ?", [session.clone().into()]);
    }
    if let Some(since) = filter.since {
        conditions.add("decision.created >= ?", [to_ms(since).into()]);
    }
    if let Some(until) = filter.until {
        conditions.add("decision.created < ?", [to_ms(until).into()]);
    }
    if let Some(open) = filter.open {
        conditions.add("topic.closed = ?", [i64::from(!open).into()]);
    }
    if !filter.all {
        conditions.add(row::IN_FORCE, []);
    }
    if let Some(after) = &at.after {
        conditions.add("decision.doc < ?", [after.parse::<i64>().map_err(|_| no_such_page())?.into()]);
    }
    read_page(store, &conditions, (row::SELECT_DECISION, "decision.doc DESC"), at.limit, |row| {
        Ok((row::read_decision(row)?, row.get::<_, i64>(15)?.to_string()))
    })
}
