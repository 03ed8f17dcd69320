//! Reads views: rows with the names of what they refer to.

use tidegate_core::time::Millis;
use tokio_postgres::{Row, Transaction};

use super::ask::{Ask, Given};
use super::link::Failed;
use super::row::{self, get};
use crate::error::{Error, ErrorKind};
use crate::record::Uid;
use crate::view::{Decision, Filter, Log, Named, Page, Paged, Project, Topic};

/// A decision is in force unless it was retracted, or replaced by one that was not retracted.
const STANDS: &str = "d.retracted IS NULL AND NOT EXISTS \
                      (SELECT 1 FROM decision s WHERE s.supersedes = d.uid AND s.retracted IS NULL)";

/// Rows per page.
const MOST: usize = 1000;

pub(super) fn at(time: Millis) -> Given {
    Given::Number(row::number(time))
}

fn projects_of() -> Ask {
    Ask::new(format!(
        "SELECT p.*, \
         (SELECT count(*) FROM topic t WHERE t.project = p.uid AND t.automatic IS NULL) AS topics, \
         (SELECT count(*) FROM log l JOIN topic t ON l.topic = t.uid WHERE t.project = p.uid) AS logs, \
         (SELECT count(*) FROM decision d JOIN topic t ON d.topic = t.uid WHERE t.project = p.uid AND {STANDS}) AS decisions \
         FROM project p WHERE true"
    ))
}

fn topics_of() -> Ask {
    Ask::new(format!(
        "SELECT t.*, p.id AS project_id, p.name AS project_name, q.id AS parent_id, q.title AS parent_title, \
         (SELECT count(*) FROM log l WHERE l.topic = t.uid) AS logs, \
         (SELECT count(*) FROM decision d WHERE d.topic = t.uid AND {STANDS}) AS decisions, \
         greatest((SELECT max(l.at) FROM log l WHERE l.topic = t.uid AND l.source = 'hand'), \
                  (SELECT max(d.created) FROM decision d WHERE d.topic = t.uid)) AS recorded \
         FROM topic t JOIN project p ON t.project = p.uid LEFT JOIN topic q ON t.parent = q.uid WHERE true"
    ))
}

fn logs_of() -> Ask {
    Ask::new(
        "SELECT l.*, t.id AS topic_id, t.title AS topic_title, p.id AS project_id, p.name AS project_name \
         FROM log l JOIN topic t ON l.topic = t.uid JOIN project p ON t.project = p.uid WHERE true",
    )
}

fn decisions_of() -> Ask {
    Ask::new(
        "SELECT d.*, t.id AS topic_id, t.title AS topic_title, p.id AS project_id, p.name AS project_name, \
         (SELECT min(s.id) FROM decision s WHERE s.supersedes = d.uid AND s.retracted IS NULL) AS superseded_by \
         FROM decision d JOIN topic t ON d.topic = t.uid JOIN project p ON t.project = p.uid WHERE true",
    )
}

fn named(row: &Row, id: &str, name: &str) -> Result<Named, Failed> {
    Ok(Named { id: get(row, id)?, name: get(row, name)? })
}

fn count(row: &Row, column: &str) -> Result<u64, Failed> {
    Ok(u64::try_from(get::<i64>(row, column)?).unwrap_or(0))
}

fn project_view(row: &Row) -> Result<Project, Failed> {
    Ok(Project {
        id: get(row, "id")?,
        row: row::project(row)?,
        topics: count(row, "topics")?,
        logs: count(row, "logs")?,
        decisions: count(row, "decisions")?,
    })
}

fn topic_view(row: &Row) -> Result<Topic, Failed> {
    let parent: Option<i64> = get(row, "parent_id")?;
    Ok(Topic {
        id: get(row, "id")?,
        row: row::topic(row)?,
        in_project: named(row, "project_id", "project_name")?,
        part_of: parent.map(|_| named(row, "parent_id", "parent_title")).transpose()?,
        logs: count(row, "logs")?,
        decisions: count(row, "decisions")?,
        recorded: row::maybe_time(row, "recorded")?,
        active: row::time(row, "active")?,
    })
}

pub(super) fn log_view(row: &Row) -> Result<Log, Failed> {
    Ok(Log {
        row: row::log(row)?,
        in_topic: named(row, "topic_id", "topic_title")?,
        in_project: named(row, "project_id", "project_name")?,
    })
}

fn decision_view(row: &Row) -> Result<Decision, Failed> {
    Ok(Decision {
        id: get(row, "id")?,
        row: row::decision(row)?,
        in_topic: named(row, "topic_id", "topic_title")?,
        in_project: named(row, "project_id", "project_name")?,
        superseded_by: get(row, "superseded_by")?,
    })
}

async fn first<T>(
    ask: &Ask,
    transaction: &Transaction<'_>,
    view: fn(&Row) -> Result<T, Failed>,
) -> Result<Option<T>, Failed> {
    ask.row(transaction).await?.as_ref().map(view).transpose()
}

pub(super) enum ProjectBy<'a> {
    Id(i64),
    Key(&'a str),
    Name(&'a str),
}

pub(super) async fn project(
    transaction: &Transaction<'_>,
    by: &ProjectBy<'_>,
) -> Result<Option<Project>, Failed> {
    let mut ask = projects_of();
    match by {
        ProjectBy::Id(id) => ask.add(" AND p.id = ?", [(*id).into()]),
        ProjectBy::Key(key) => ask.add(" AND p.key = ?", [(*key).into()]),
        ProjectBy::Name(name) => ask.add(" AND p.name = ?", [(*name).into()]),
    };
    ask.add(" ORDER BY p.active DESC, p.id DESC LIMIT 1", []);
    first(&ask, transaction, project_view).await
}

pub(super) enum TopicBy<'a> {
    Id(i64),
    Uid(&'a str),
}

pub(super) async fn topic(transaction: &Transaction<'_>, by: &TopicBy<'_>) -> Result<Option<Topic>, Failed> {
    let mut ask = topics_of();
    match by {
        TopicBy::Id(id) => ask.add(" AND t.id = ?", [(*id).into()]),
        TopicBy::Uid(uid) => ask.add(" AND t.uid = ?", [(*uid).into()]),
    };
    first(&ask, transaction, topic_view).await
}

pub(super) async fn decision(transaction: &Transaction<'_>, id: i64) -> Result<Option<Decision>, Failed> {
    let mut ask = decisions_of();
    ask.add(" AND d.id = ?", [id.into()]);
    first(&ask, transaction, decision_view).await
}

/// By the whole uid, else by a unique prefix.
pub(super) async fn log(transaction: &Transaction<'_>, uid: &str) -> Result<Option<Log>, Failed> {
    let mut ask = logs_of();
    ask.add(" AND l.uid = ?", [uid.into()]);
    if let Some(found) = first(&ask, transaction, log_view).await? {
        return Ok(Some(found));
    }
    if uid.is_empty() {
        return Ok(None);
    }
    let mut ask = logs_of();
    // Not LIKE: a uid may contain its wildcards.
    ask.add(" AND left(l.uid, char_length(?)) = ? LIMIT 2", [uid.into(), uid.into()]);
    match ask.rows(transaction).await?.as_slice() {
        [] => Ok(None),
        [one] => log_view(one).map(Some),
        _ => {
            let what = format!("several logs begin with {uid}");
            Err(Error::new(ErrorKind::Refused, what).hint("give more of its id").into())
        }
    }
}

/// A list in pages, ordered by a time and then by a uid or id, both descending. A page ends with the position
/// of its last row, and the next page starts after it.
async fn page<T>(
    transaction: &Transaction<'_>,
    mut ask: Ask,
    wanted: &Page,
    (time, name): (&str, &str),
    view: fn(&Row) -> Result<T, Failed>,
) -> Result<Paged<T>, Failed> {
    let by_uid = name == "uid";
    let of = &time[..2];
    if let Some(after) = &wanted.after {
        let (last_time, last) = after.split_once('-').ok_or_else(no_such_page)?;
        let last_time: i64 = last_time.parse().map_err(|_| no_such_page())?;
        let last: Given =
            if by_uid { last.into() } else { last.parse::<i64>().map_err(|_| no_such_page())?.into() };
        ask.add(&format!(" AND ({time}, {of}{name}) < (?, ?)"), [last_time.into(), last]);
    }
    let limit = wanted.limit.clamp(1, MOST);
    ask.add(&format!(" ORDER BY {time} DESC, {of}{name} DESC LIMIT {}", limit + 1), []);
    let rows = ask.rows(transaction).await?;
    let next = match rows.get(limit - 1).filter(|_| rows.len() > limit) {
        None => None,
        Some(last) => {
            let at: i64 = get(last, &time[2..])?;
            let place = if by_uid { get(last, name)? } else { get::<i64>(last, name)?.to_string() };
            Some(format!("{at}-{place}"))
        }
    };
    let rows = rows.iter().take(limit).map(view).collect::<Result<_, _>>()?;
    Ok(Paged { rows, next })
}

fn no_such_page() -> Failed {
    Error::new(ErrorKind::Refused, "there is no such page")
        .hint("give what the page before said was next, or nothing")
        .into()
}

pub(super) async fn projects(transaction: &Transaction<'_>, wanted: &Page) -> Result<Paged<Project>, Failed> {
    page(transaction, projects_of(), wanted, ("p.active", "id"), project_view).await
}

pub(super) async fn topics(
    transaction: &Transaction<'_>,
    filter: &Filter,
    wanted: &Page,
) -> Result<Paged<Topic>, Failed> {
    let mut ask = topics_of();
    if let Some(project) = filter.project {
        ask.add(" AND p.id = ?", [project.into()]);
    }
    if let Some(topic) = filter.topic {
        ask.add(" AND (t.id = ? OR q.id = ?)", [topic.into(), topic.into()]);
    }
    if let Some(session) = &filter.session {
        let text = " AND EXISTS (SELECT 1 FROM log l WHERE l.topic = t.uid AND l.session = ?)";
        ask.add(text, [session.as_str().into()]);
    }
    if let Some(since) = filter.since {
        ask.add(" AND t.active >= ?", [at(since)]);
    }
    if let Some(until) = filter.until {
        ask.add(" AND t.active < ?", [at(until)]);
    }
    if let Some(open) = filter.open {
        ask.add(if open { " AND t.status = 'open'" } else { " AND t.status = 'closed'" }, []);
    }
    if !filter.all {
        ask.add(" AND t.automatic IS NULL", []);
    }
    page(transaction, ask, wanted, ("t.active", "id"), topic_view).await
}

pub(super) async fn logs(
    transaction: &Transaction<'_>,
    filter: &Filter,
    wanted: &Page,
) -> Result<Paged<Log>, Failed> {
    let mut ask = logs_of();
    if let Some(project) = filter.project {
        ask.add(" AND p.id = ?", [project.into()]);
    }
    if let Some(topic) = filter.topic {
        ask.add(" AND t.id = ?", [topic.into()]);
    }
    if let Some(session) = &filter.session {
        ask.add(" AND l.session = ?", [session.as_str().into()]);
    }
    if let Some(since) = filter.since {
        ask.add(" AND l.at >= ?", [at(since)]);
    }
    if let Some(until) = filter.until {
        ask.add(" AND l.at < ?", [at(until)]);
    }
    page(transaction, ask, wanted, ("l.at", "uid"), log_view).await
}

pub(super) async fn unsummed(transaction: &Transaction<'_>, limit: usize) -> Result<Vec<Uid>, Failed> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let ask = Ask::of(
        "SELECT l.uid FROM log l WHERE l.summary_again ORDER BY l.at DESC, l.uid DESC LIMIT ?",
        [limit.into()],
    );
    ask.rows(transaction).await?.iter().map(|row| get(row, "uid")).collect()
}

pub(super) async fn decisions(
    transaction: &Transaction<'_>,
    filter: &Filter,
    wanted: &Page,
) -> Result<Paged<Decision>, Failed> {
    let mut ask = decisions_of();
    if let Some(project) = filter.project {
        ask.add(" AND p.id = ?", [project.into()]);
    }
    if let Some(topic) = filter.topic {
        ask.add(" AND t.id = ?", [topic.into()]);
    }
    if let Some(session) = &filter.session {
        ask.add(" AND d.session = ?", [session.as_str().into()]);
    }
    if let Some(since) = filter.since {
        ask.add(" AND d.created >= ?", [at(since)]);
    }
    if let Some(until) = filter.until {
        ask.add(" AND d.created < ?", [at(until)]);
    }
    if let Some(open) = filter.open {
        ask.add(if open { " AND t.status = 'open'" } else { " AND t.status = 'closed'" }, []);
    }
    if !filter.all {
        ask.add(&format!(" AND {STANDS}"), []);
    }
    page(transaction, ask, wanted, ("d.created", "id"), decision_view).await
}

/// After this many offers without activity, a topic is not offered again.
const OFFERS: i64 = 5;

pub(super) async fn undecided(
    transaction: &Transaction<'_>,
    project: Option<i64>,
    limit: usize,
) -> Result<Vec<Topic>, Failed> {
    let mut ask = topics_of();
    ask.add(
        &format!(
            " AND t.status = 'open' AND t.automatic IS NULL AND t.offered < {OFFERS} \
             AND NOT EXISTS (SELECT 1 FROM decision d WHERE d.topic = t.uid AND {STANDS})"
        ),
        [],
    );
    if let Some(project) = project {
        ask.add(" AND p.id = ?", [project.into()]);
    }
    ask.add(&format!(" ORDER BY t.active DESC, t.id DESC LIMIT {}", limit.min(MOST)), []);
    ask.rows(transaction).await?.iter().map(topic_view).collect()
}

/// Each session counts once. A topic with activity since the session began does not count.
pub(super) async fn offered(
    transaction: &Transaction<'_>,
    session: &str,
    topics: &[i64],
    time: Millis,
) -> Result<(), Failed> {
    let remember = "INSERT INTO offer (topic, session) SELECT uid, ? FROM topic WHERE id = ANY(?) AND active <= ? \
                    ON CONFLICT DO NOTHING RETURNING topic";
    let rows =
        Ask::of(remember, [session.into(), topics.to_vec().into(), at(time)]).rows(transaction).await?;
    let new: Vec<String> = rows.iter().map(|row| get(row, "topic")).collect::<Result<_, _>>()?;
    let count = "UPDATE topic SET offered = offered + 1, offered_at = greatest(coalesce(offered_at, 0), ?) \
                 WHERE uid = ANY(?)";
    Ask::of(count, [at(time), new.into()]).run(transaction).await?;
    Ok(())
}
