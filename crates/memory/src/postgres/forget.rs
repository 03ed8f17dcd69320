//! Deletes rows for good. Only their uids remain.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tidegate_core::feature::memory::automatic;
use tokio_postgres::Transaction;

use super::counters::{Writer, reserve_changes};
use super::link::TransactionError;
use super::row::{self, Table, get_column};
use super::search;
use super::statement::Statement;
use crate::error::{Error, ErrorKind};
use crate::record::{Record, TopicRow, Uid};
use crate::view::Forget;

pub(super) async fn forget_rows(
    transaction: &Transaction<'_>,
    what: &Forget,
) -> Result<Vec<Uid>, TransactionError> {
    Writer::begin(transaction).await?;
    let missing = |what: String| TransactionError::from(Error::new(ErrorKind::Missing, what));
    let named = match what {
        Forget::Log(uid) => {
            let found = select_uids(transaction, "SELECT uid FROM log WHERE uid = ?", uid).await?;
            if found.is_empty() {
                return Err(missing(format!("no log {uid}")));
            }
            found
        }
        Forget::Session(uid) => {
            let mut found = select_uids(transaction, "SELECT uid FROM session WHERE uid = ?", uid).await?;
            found.append(
                &mut select_uids(transaction, "SELECT uid FROM topic WHERE automatic = ?", uid).await?,
            );
            if found.is_empty() {
                return Err(missing(format!("no session {uid}")));
            }
            found.append(&mut select_uids(transaction, "SELECT uid FROM log WHERE session = ?", uid).await?);
            found.append(
                &mut select_uids(transaction, "SELECT uid FROM decision WHERE session = ?", uid).await?,
            );
            found.insert(uid.clone());
            found
        }
        Forget::Decision(id) | Forget::Topic(id) | Forget::Project(id) => {
            let table = match what {
                Forget::Decision(_) => "decision",
                Forget::Topic(_) => "topic",
                _ => "project",
            };
            let text = format!("SELECT uid FROM {table} WHERE id = ?");
            let row = Statement::of(&text, [(*id).into()]).row(transaction).await?;
            let row = row.ok_or_else(|| missing(format!("no {table} with the id {id}")))?;
            BTreeSet::from([get_column::<Uid>(&row, "uid")?])
        }
    };
    let gone = with_contents(transaction, named).await?;
    delete_rows(transaction, &gone).await?;
    Ok(gone)
}

/// By uid, as machines request it. An administrator deletes rows of everyone, with their contents; uids that
/// are not there are remembered too. A member deletes their own rows and asks the owners of others.
pub(super) async fn forget_uids(transaction: &Transaction<'_>, told: &[Uid]) -> Result<(), TransactionError> {
    let writer = Writer::begin(transaction).await?;
    if writer.is_administrator {
        let gone = with_contents(transaction, told.iter().cloned().collect()).await?;
        return delete_rows(transaction, &gone).await;
    }
    ask_owners(transaction, told).await?;
    delete_own_rows(transaction, told).await
}

/// By their keys in the team: on another machine they have other uids. A member deletes their own rows, each by its uid.
pub(super) async fn forget_projects(
    transaction: &Transaction<'_>,
    keys: &[String],
) -> Result<(), TransactionError> {
    if !Writer::begin(transaction).await?.is_administrator {
        return Ok(());
    }
    let text = "SELECT project AS uid FROM team_name WHERE name = ANY(?)";
    let rows = Statement::of(text, [keys.to_vec().into()]).rows(transaction).await?;
    let named: Result<BTreeSet<Uid>, _> = rows.iter().map(|row| get_column(row, "uid")).collect();
    let gone = with_contents(transaction, named?).await?;
    delete_rows(transaction, &gone).await
}

async fn ask_owners(transaction: &Transaction<'_>, told: &[Uid]) -> Result<(), TransactionError> {
    let uids = || told.to_vec().into();
    let theirs = "uid = ANY(?) AND owner <> session_user AND owner <> ''";
    let ask = format!(
        "INSERT INTO request (uid) SELECT uid FROM log WHERE {theirs} UNION SELECT uid FROM decision WHERE {theirs} \
         UNION SELECT uid FROM topic WHERE {theirs} ON CONFLICT DO NOTHING"
    );
    Statement::of(&ask, [uids(), uids(), uids()]).run(transaction).await?;
    Ok(())
}

/// Row security leaves out the rows of others; triggers remember the uids. A topic or project with rows of
/// others stays, without its title.
async fn delete_own_rows(transaction: &Transaction<'_>, told: &[Uid]) -> Result<(), TransactionError> {
    let uids = || told.to_vec().into();
    remove_prompts_from_titles(transaction, told).await?;
    for text in [
        "DELETE FROM decision WHERE uid = ANY(?)",
        "DELETE FROM decision WHERE strpos(uid, ':') > 0 AND split_part(uid, ':', 1) = ANY(?)",
        "DELETE FROM decision WHERE strpos(uid, '~') > 0 AND split_part(uid, '~', 1) = ANY(?)",
        "DELETE FROM log WHERE uid = ANY(?)",
        "DELETE FROM session WHERE uid = ANY(?)",
        "DELETE FROM topic WHERE uid = ANY(?) AND NOT EXISTS (SELECT 1 FROM log WHERE log.topic = topic.uid) \
         AND NOT EXISTS (SELECT 1 FROM decision WHERE decision.topic = topic.uid)",
        "DELETE FROM project WHERE uid = ANY(?) AND NOT EXISTS (SELECT 1 FROM topic WHERE topic.project = project.uid) \
         AND NOT EXISTS (SELECT 1 FROM session WHERE session.project = project.uid)",
    ] {
        Statement::of(text, [uids()]).run(transaction).await?;
    }
    let left = format!("SELECT * FROM topic WHERE uid = ANY(?) AND {MAY_CHANGE}");
    let rows = Statement::of(&left, [uids()]).rows(transaction).await?;
    clear_titles(transaction, rows.iter().map(row::read_topic).collect::<Result<_, _>>()?).await
}

/// Of a topic, by this login.
const MAY_CHANGE: &str = "(tidegate.is_administrator() OR topic.owner = session_user OR topic.owner = '')";

async fn select_uids(
    transaction: &Transaction<'_>,
    text: &str,
    of: &str,
) -> Result<BTreeSet<Uid>, TransactionError> {
    let rows = Statement::of(text, [of.into()]).rows(transaction).await?;
    rows.iter().map(|row| get_column(row, "uid")).collect()
}

/// Adds the topics and sessions of projects, the logs and decisions of topics, decisions found in relays, and earlier wordings.
async fn with_contents(
    transaction: &Transaction<'_>,
    named: BTreeSet<Uid>,
) -> Result<Vec<Uid>, TransactionError> {
    let mut gone = named;
    for text in [
        "SELECT uid FROM topic WHERE project = ANY(?) UNION SELECT uid FROM session WHERE project = ANY(?)",
        "SELECT uid FROM log WHERE topic = ANY(?) UNION SELECT uid FROM decision WHERE topic = ANY(?)",
    ] {
        let known: Vec<Uid> = gone.iter().cloned().collect();
        let rows = Statement::of(text, [known.clone().into(), known.into()]).rows(transaction).await?;
        for row in &rows {
            gone.insert(get_column(row, "uid")?);
        }
    }
    let known: Vec<Uid> = gone.iter().cloned().collect();
    let found = "SELECT uid FROM decision WHERE strpos(uid, ':') > 0 AND split_part(uid, ':', 1) = ANY(?)";
    for row in &Statement::of(found, [known.into()]).rows(transaction).await? {
        gone.insert(get_column(row, "uid")?);
    }
    let known: Vec<Uid> = gone.iter().cloned().collect();
    let earlier = "SELECT uid FROM decision WHERE strpos(uid, '~') > 0 AND split_part(uid, '~', 1) = ANY(?)";
    for row in &Statement::of(earlier, [known.into()]).rows(transaction).await? {
        gone.insert(get_column(row, "uid")?);
    }
    Ok(gone.into_iter().collect())
}

/// Deletes the rows, removes references to them from other rows, and remembers their uids.
async fn delete_rows(transaction: &Transaction<'_>, gone: &[Uid]) -> Result<(), TransactionError> {
    if gone.is_empty() {
        return Ok(());
    }
    remove_prompts_from_titles(transaction, gone).await?;
    let uids = || gone.to_vec().into();
    for text in [
        "UPDATE topic SET parent = NULL WHERE parent = ANY(?) AND NOT uid = ANY(?)",
        "UPDATE decision SET supersedes = NULL WHERE supersedes = ANY(?) AND NOT uid = ANY(?)",
        "UPDATE decision SET session = NULL WHERE session = ANY(?) AND NOT uid = ANY(?)",
        "UPDATE log SET session = NULL WHERE session = ANY(?) AND NOT uid = ANY(?)",
        "UPDATE document SET session = NULL WHERE session = ANY(?) AND NOT uid = ANY(?)",
    ] {
        Statement::of(text, [uids(), uids()]).run(transaction).await?;
    }
    for text in ["DELETE FROM offer WHERE topic = ANY(?)", "DELETE FROM document WHERE uid = ANY(?)"] {
        Statement::of(text, [uids()]).run(transaction).await?;
    }
    for table in Table::ALL.into_iter().rev() {
        let text = format!("DELETE FROM {} WHERE uid = ANY(?)", table.name());
        Statement::of(&text, [uids()]).run(transaction).await?;
    }
    // Triggers remembered the rows that were there.
    let remember = "INSERT INTO forgotten (uid, change) SELECT given.uid, ? + given.place \
                    FROM unnest(?) WITH ORDINALITY AS given (uid, place) ON CONFLICT DO NOTHING";
    let before = reserve_changes(transaction, gone.len()).await?;
    Statement::of(remember, [before.into(), uids()]).run(transaction).await?;
    Ok(())
}

/// Removes the prompts of deleted logs from the titles of automatic topics that stay; a log may have moved to
/// another topic since it gave one its title. Stored as newer versions, which win wherever the old ones still
/// are.
async fn remove_prompts_from_titles(
    transaction: &Transaction<'_>,
    gone: &[Uid],
) -> Result<(), TransactionError> {
    let called = "log.uid = ANY(?) AND topic.automatic IS NOT NULL AND (log.at = topic.created \
                  OR log.title <> '' AND left(topic.title, length(log.title)) = log.title)";
    let text = format!(
        "SELECT * FROM topic WHERE NOT uid = ANY(?) AND {MAY_CHANGE} AND uid IN \
         (SELECT topic.uid FROM log JOIN topic ON topic.uid = log.topic WHERE {called} \
          UNION SELECT topic.uid FROM log JOIN topic ON topic.automatic = log.session WHERE {called})"
    );
    let uids = || gone.to_vec().into();
    let rows = Statement::of(&text, [uids(), uids(), uids()]).rows(transaction).await?;
    clear_titles(transaction, rows.iter().map(row::read_topic).collect::<Result<_, _>>()?).await
}

async fn clear_titles(
    transaction: &Transaction<'_>,
    mut topics: Vec<TopicRow>,
) -> Result<(), TransactionError> {
    if topics.is_empty() {
        return Ok(());
    }
    let mut titles = Vec::new();
    for topic in &mut topics {
        topic.title = automatic::title_without_question(topic.created);
        titles.push(json!({ "uid": topic.uid, "title": topic.title }));
    }
    let change = format!(
        "UPDATE topic SET title = given.title, updated = least(topic.updated, {}) + 1 \
         FROM json_to_recordset(?::json) AS given (uid text, title text) WHERE topic.uid = given.uid",
        i64::MAX - 1
    );
    Statement::of(&change, [Value::from(titles).to_string().as_str().into()]).run(transaction).await?;
    search::index_records(transaction, topics.into_iter().map(Record::Topic)).await
}
