//! Reads views: rows with the names of what they refer to.

use tidegate_core::time::Millis;
use tokio_postgres::{Row, Transaction};

use super::link::TransactionError;
use super::row::{self, get_column};
use super::statement::{SqlValue, Statement};
use crate::error::{Error, ErrorKind};
use crate::record::Uid;
use crate::view::{Decision, Filter, Log, MemoryProject, NamedRow, Page, Paged, Topic};

/// A decision is in force unless it was retracted, or replaced by one that was not retracted.
const IN_FORCE: &str = "d.retracted IS NULL AND NOT EXISTS \
                      (SELECT 1 FROM decision s WHERE s.supersedes = d.uid AND s.retracted IS NULL)";

/// Rows per page.
const MOST: usize = 1000;

pub(super) fn time_value(time: Millis) -> SqlValue {
    SqlValue::Number(row::to_number(time))
}

fn select_projects() -> Statement {
    Statement::new(format!(
        "SELECT p.*, \
         (SELECT count(*) FROM topic t WHERE t.project = p.uid AND t.automatic IS NULL) AS topics, \
         (SELECT count(*) FROM log l JOIN topic t ON l.topic = t.uid WHERE t.project = p.uid) AS logs, \
         (SELECT count(*) FROM decision d JOIN topic t ON d.topic = t.uid WHERE t.project = p.uid AND {IN_FORCE}) AS decisions \
         FROM project p WHERE true"
    ))
}

fn select_topics() -> Statement {
    Statement::new(format!(
        "SELECT t.*, p.id AS project_id, p.name AS project_name, q.id AS parent_id, q.title AS parent_title, \
         (SELECT count(*) FROM log l WHERE l.topic = t.uid) AS logs, \
         (SELECT count(*) FROM decision d WHERE d.topic = t.uid AND {IN_FORCE}) AS decisions, \
         greatest((SELECT max(l.at) FROM log l WHERE l.topic = t.uid AND l.source = 'hand'), \
                  (SELECT max(d.created) FROM decision d WHERE d.topic = t.uid)) AS recorded \
         FROM topic t JOIN project p ON t.project = p.uid LEFT JOIN topic q ON t.parent = q.uid WHERE true"
    ))
}

fn select_logs() -> Statement {
    Statement::new(
        "SELECT l.*, t.id AS topic_id, t.title AS topic_title, p.id AS project_id, p.name AS project_name, \
         nullif(nullif(l.owner, session_user), '') AS author FROM log l JOIN topic t ON l.topic = t.uid JOIN project p ON t.project = p.uid WHERE true",
    )
}

fn select_decisions() -> Statement {
    Statement::new(
        "SELECT d.*, t.id AS topic_id, t.title AS topic_title, p.id AS project_id, p.name AS project_name, \
         (SELECT min(s.id) FROM decision s WHERE s.supersedes = d.uid AND s.retracted IS NULL) AS superseded_by, \
         ARRAY(SELECT o.id FROM decision o WHERE o.supersedes = d.supersedes AND o.uid <> d.uid AND o.retracted IS NULL \
               AND NOT EXISTS (SELECT 1 FROM decision s WHERE s.supersedes = o.uid AND s.retracted IS NULL) ORDER BY o.id) \
         AS conflicts \
         FROM decision d JOIN topic t ON d.topic = t.uid JOIN project p ON t.project = p.uid WHERE true",
    )
}

fn read_named(row: &Row, id: &str, name: &str) -> Result<NamedRow, TransactionError> {
    Ok(NamedRow { id: get_column(row, id)?, name: get_column(row, name)? })
}

fn read_count(row: &Row, column: &str) -> Result<u64, TransactionError> {
    Ok(u64::try_from(get_column::<i64>(row, column)?).unwrap_or(0))
}

fn project_view(row: &Row) -> Result<MemoryProject, TransactionError> {
    Ok(MemoryProject {
        id: get_column(row, "id")?,
        row: row::read_project(row)?,
        topics: read_count(row, "topics")?,
        logs: read_count(row, "logs")?,
        decisions: read_count(row, "decisions")?,
    })
}

fn topic_view(row: &Row) -> Result<Topic, TransactionError> {
    let parent: Option<i64> = get_column(row, "parent_id")?;
    Ok(Topic {
        id: get_column(row, "id")?,
        row: row::read_topic(row)?,
        in_project: read_named(row, "project_id", "project_name")?,
        part_of: parent.map(|_| read_named(row, "parent_id", "parent_title")).transpose()?,
        logs: read_count(row, "logs")?,
        decisions: read_count(row, "decisions")?,
        recorded: row::get_optional_time(row, "recorded")?,
        active: row::get_time(row, "active")?,
        author: None,
    })
}

fn log_view(row: &Row) -> Result<Log, TransactionError> {
    Ok(Log {
        row: row::read_log(row)?,
        author: get_column(row, "author")?,
        in_topic: read_named(row, "topic_id", "topic_title")?,
        in_project: read_named(row, "project_id", "project_name")?,
    })
}

fn decision_view(row: &Row) -> Result<Decision, TransactionError> {
    Ok(Decision {
        id: get_column(row, "id")?,
        row: row::read_decision(row)?,
        in_topic: read_named(row, "topic_id", "topic_title")?,
        in_project: read_named(row, "project_id", "project_name")?,
        superseded_by: get_column(row, "superseded_by")?,
        conflicts: get_column(row, "conflicts")?,
        author: None,
    })
}

async fn read_first<T>(
    statement: &Statement,
    transaction: &Transaction<'_>,
    view: fn(&Row) -> Result<T, TransactionError>,
) -> Result<Option<T>, TransactionError> {
    statement.row(transaction).await?.as_ref().map(view).transpose()
}

pub(super) enum ProjectBy<'a> {
    Id(i64),
    Key(&'a str),
    Name(&'a str),
}

pub(super) async fn project(
    transaction: &Transaction<'_>,
    by: &ProjectBy<'_>,
) -> Result<Option<MemoryProject>, TransactionError> {
    let mut statement = select_projects();
    match by {
        ProjectBy::Id(id) => statement.add(" AND p.id = ?", [(*id).into()]),
        ProjectBy::Key(key) => statement.add(" AND p.key = ?", [(*key).into()]),
        ProjectBy::Name(name) => statement.add(" AND p.name = ?", [(*name).into()]),
    };
    statement.add(" ORDER BY p.active DESC, p.id DESC LIMIT 1", []);
    read_first(&statement, transaction, project_view).await
}

pub(super) enum TopicBy<'a> {
    Id(i64),
    Uid(&'a str),
}

pub(super) async fn topic(
    transaction: &Transaction<'_>,
    by: &TopicBy<'_>,
) -> Result<Option<Topic>, TransactionError> {
    let mut statement = select_topics();
    match by {
        TopicBy::Id(id) => statement.add(" AND t.id = ?", [(*id).into()]),
        TopicBy::Uid(uid) => statement.add(" AND t.uid = ?", [(*uid).into()]),
    };
    read_first(&statement, transaction, topic_view).await
}

pub(super) async fn decision(
    transaction: &Transaction<'_>,
    id: i64,
) -> Result<Option<Decision>, TransactionError> {
    let mut statement = select_decisions();
    statement.add(" AND d.id = ?", [id.into()]);
    read_first(&statement, transaction, decision_view).await
}

pub(super) async fn decision_by_uid(
    transaction: &Transaction<'_>,
    uid: &str,
) -> Result<Option<Decision>, TransactionError> {
    let mut statement = select_decisions();
    statement.add(" AND d.uid = ?", [uid.into()]);
    read_first(&statement, transaction, decision_view).await
}

/// By the whole uid, else by a unique prefix.
pub(super) async fn log(transaction: &Transaction<'_>, uid: &str) -> Result<Option<Log>, TransactionError> {
    let mut statement = select_logs();
    statement.add(" AND l.uid = ?", [uid.into()]);
    if let Some(found) = read_first(&statement, transaction, log_view).await? {
        return Ok(Some(found));
    }
    if uid.is_empty() {
        return Ok(None);
    }
    let mut statement = select_logs();
    // Not LIKE: a uid may contain its wildcards.
    statement.add(" AND left(l.uid, char_length(?)) = ? LIMIT 2", [uid.into(), uid.into()]);
    match statement.rows(transaction).await?.as_slice() {
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
async fn read_page<T>(
    transaction: &Transaction<'_>,
    mut statement: Statement,
    wanted: &Page,
    (time, name): (&str, &str),
    view: fn(&Row) -> Result<T, TransactionError>,
) -> Result<Paged<T>, TransactionError> {
    let by_uid = name == "uid";
    let of = &time[..2];
    if let Some(after) = &wanted.after {
        let (last_time, last) = after.split_once('-').ok_or_else(no_such_page)?;
        let last_time: i64 = last_time.parse().map_err(|_| no_such_page())?;
        let last: SqlValue =
            if by_uid { last.into() } else { last.parse::<i64>().map_err(|_| no_such_page())?.into() };
        statement.add(&format!(" AND ({time}, {of}{name}) < (?, ?)"), [last_time.into(), last]);
    }
    let limit = wanted.limit.clamp(1, MOST);
    statement.add(&format!(" ORDER BY {time} DESC, {of}{name} DESC LIMIT {}", limit + 1), []);
    let rows = statement.rows(transaction).await?;
    let next = match rows.get(limit - 1).filter(|_| rows.len() > limit) {
        None => None,
        Some(last) => {
            let at: i64 = get_column(last, &time[2..])?;
            let place =
                if by_uid { get_column(last, name)? } else { get_column::<i64>(last, name)?.to_string() };
            Some(format!("{at}-{place}"))
        }
    };
    let rows = rows.iter().take(limit).map(view).collect::<Result<_, _>>()?;
    Ok(Paged { rows, next })
}

fn no_such_page() -> TransactionError {
    Error::new(ErrorKind::Refused, "there is no such page")
        .hint("give what the page before said was next, or nothing")
        .into()
}

pub(super) async fn projects(
    transaction: &Transaction<'_>,
    wanted: &Page,
) -> Result<Paged<MemoryProject>, TransactionError> {
    read_page(transaction, select_projects(), wanted, ("p.active", "id"), project_view).await
}

pub(super) async fn topics(
    transaction: &Transaction<'_>,
    filter: &Filter,
    wanted: &Page,
) -> Result<Paged<Topic>, TransactionError> {
    let mut statement = select_topics();
    if let Some(project) = filter.project {
        statement.add(" AND p.id = ?", [project.into()]);
    }
    if let Some(topic) = filter.topic {
        statement.add(" AND (t.id = ? OR q.id = ?)", [topic.into(), topic.into()]);
    }
    if let Some(session) = &filter.session {
        let text = " AND EXISTS (SELECT 1 FROM log l WHERE l.topic = t.uid AND l.session = ?)";
        statement.add(text, [session.as_str().into()]);
    }
    if let Some(since) = filter.since {
        statement.add(" AND t.active >= ?", [time_value(since)]);
    }
    if let Some(until) = filter.until {
        statement.add(" AND t.active < ?", [time_value(until)]);
    }
    if let Some(open) = filter.open {
        statement.add(if open { " AND t.status = 'open'" } else { " AND t.status = 'closed'" }, []);
    }
    if !filter.all {
        statement.add(" AND t.automatic IS NULL", []);
    }
    read_page(transaction, statement, wanted, ("t.active", "id"), topic_view).await
}

pub(super) async fn logs(
    transaction: &Transaction<'_>,
    filter: &Filter,
    wanted: &Page,
) -> Result<Paged<Log>, TransactionError> {
    let mut statement = select_logs();
    if let Some(project) = filter.project {
        statement.add(" AND p.id = ?", [project.into()]);
    }
    if let Some(topic) = filter.topic {
        statement.add(" AND t.id = ?", [topic.into()]);
    }
    if let Some(session) = &filter.session {
        statement.add(" AND l.session = ?", [session.as_str().into()]);
    }
    if let Some(since) = filter.since {
        statement.add(" AND l.at >= ?", [time_value(since)]);
    }
    if let Some(until) = filter.until {
        statement.add(" AND l.at < ?", [time_value(until)]);
    }
    read_page(transaction, statement, wanted, ("l.at", "uid"), log_view).await
}

pub(super) async fn logs_to_summarise(
    transaction: &Transaction<'_>,
    limit: usize,
) -> Result<Vec<Uid>, TransactionError> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let statement = Statement::of(
        "SELECT l.uid FROM log l WHERE l.summary_again ORDER BY l.at DESC, l.uid DESC LIMIT ?",
        [limit.into()],
    );
    statement.rows(transaction).await?.iter().map(|row| get_column(row, "uid")).collect()
}

pub(super) async fn decisions(
    transaction: &Transaction<'_>,
    filter: &Filter,
    wanted: &Page,
) -> Result<Paged<Decision>, TransactionError> {
    let mut statement = select_decisions();
    if let Some(project) = filter.project {
        statement.add(" AND p.id = ?", [project.into()]);
    }
    if let Some(topic) = filter.topic {
        statement.add(" AND t.id = ?", [topic.into()]);
    }
    if let Some(session) = &filter.session {
        statement.add(" AND d.session = ?", [session.as_str().into()]);
    }
    if let Some(since) = filter.since {
        statement.add(" AND d.created >= ?", [time_value(since)]);
    }
    if let Some(until) = filter.until {
        statement.add(" AND d.created < ?", [time_value(until)]);
    }
    if let Some(open) = filter.open {
        statement.add(if open { " AND t.status = 'open'" } else { " AND t.status = 'closed'" }, []);
    }
    if !filter.all {
        statement.add(&format!(" AND {IN_FORCE}"), []);
    }
    read_page(transaction, statement, wanted, ("d.created", "id"), decision_view).await
}

/// After this many offers without activity, a topic is not offered again.
const OFFERS: i64 = 5;

pub(super) async fn undecided_topics(
    transaction: &Transaction<'_>,
    project: Option<i64>,
    limit: usize,
) -> Result<Vec<Topic>, TransactionError> {
    let mut statement = select_topics();
    statement.add(
        &format!(
            " AND t.status = 'open' AND t.automatic IS NULL AND t.offered < {OFFERS} \
             AND NOT EXISTS (SELECT 1 FROM decision d WHERE d.topic = t.uid AND {IN_FORCE})"
        ),
        [],
    );
    if let Some(project) = project {
        statement.add(" AND p.id = ?", [project.into()]);
    }
    statement.add(&format!(" ORDER BY t.active DESC, t.id DESC LIMIT {}", limit.min(MOST)), []);
    statement.rows(transaction).await?.iter().map(topic_view).collect()
}

/// Each session counts once. A topic with activity since the session began does not count.
pub(super) async fn note_offers(
    transaction: &Transaction<'_>,
    session: &str,
    topics: &[i64],
    time: Millis,
) -> Result<(), TransactionError> {
    let remember = "INSERT INTO offer (topic, session) SELECT uid, ? FROM topic WHERE id = ANY(?) AND active <= ? \
                    ON CONFLICT DO NOTHING RETURNING topic";
    let rows = Statement::of(remember, [session.into(), topics.to_vec().into(), time_value(time)])
        .rows(transaction)
        .await?;
    let new: Vec<String> = rows.iter().map(|row| get_column(row, "topic")).collect::<Result<_, _>>()?;
    let count = "UPDATE topic SET offered = offered + 1, offered_at = greatest(coalesce(offered_at, 0), ?) \
                 WHERE uid = ANY(?)";
    Statement::of(count, [time_value(time), new.into()]).run(transaction).await?;
    Ok(())
}
