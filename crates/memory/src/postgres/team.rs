//! Operations that only a team's store has: accepts deliveries and lists changes of others.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use tidegate_core::time::Millis;
use tokio_postgres::{Row, Transaction};

use super::PostgresStore;
use super::all_rows::parents_first;
use super::counters::Writer;
use super::link::{Purpose, TransactionError};
use super::put::{self, PutMode, Sender};
use super::row::{self, Table, get_column};
use super::search;
use super::statement::Statement;
use crate::act::{LONGEST_TEXT, LONGEST_TITLE};
use crate::error::Result;
use crate::record::{DecisionRow, Foreign, ProjectRow, Record, TopicRow, Uid, Withdrawn, new_uid};
use crate::store::Put;
use crate::view::{Found, Query};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivered {
    /// Stored, already there, or forgotten: do not send it again.
    Done(Put),
    /// A row it refers to has not arrived yet.
    Waits,
    /// The row belongs to another member: the change stays on this machine.
    Theirs,
}

/// Changes by other machines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TeamChanges {
    /// Topics and decisions, referenced rows first. Their other references are removed.
    pub records: Vec<Foreign>,
    /// Deleted topics and decisions.
    pub forgotten: Vec<Withdrawn>,
    /// The position for the next call, and the row that was changed there.
    pub next: i64,
    pub last: Option<Uid>,
    pub more: bool,
}

/// A project of the team.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TeamProject {
    pub uid: Uid,
    /// Its git remote, or a name.
    pub key: String,
    pub name: String,
    /// Without automatic ones.
    pub topics: u64,
    pub decisions: u64,
    pub logs: u64,
    /// The members who wrote them.
    pub owners: Vec<String>,
}

/// A member asks the owner of a row to forget it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForgetRequest {
    pub kind: String,
    pub uid: Uid,
    pub asked_by: String,
}

/// How far a machine has read and written, to notice that the server went back in time.
#[derive(Clone, Copy, Debug)]
pub struct Position<'a> {
    pub after: i64,
    /// The row that was changed there.
    pub seen: Option<&'a str>,
    /// The last delivered row, and its change.
    pub sent: Option<&'a str>,
    pub sent_change: i64,
    /// The last change after a delivery.
    pub change: i64,
}

/// Requests that are read at once.
const MOST_REQUESTS: i64 = 100;

impl PostgresStore {
    /// The id of the store: another store at the same address has another one.
    pub fn identity(&mut self) -> Result<String> {
        self.link.transaction(Purpose::Reading, &async |at| {
            let row = Statement::new("SELECT store FROM counters WHERE one = 1").row(at).await?;
            Ok(row.as_ref().map(|row| get_column(row, "store")).transpose()?.unwrap_or_default())
        })
    }

    /// Whether rows are missing that this machine read or delivered: a backup was restored.
    pub fn has_lost(&mut self, at: &Position<'_>) -> Result<bool> {
        self.link.transaction(Purpose::Reading, &async |transaction| {
            let text = "SELECT (SELECT change FROM counters WHERE one = 1) < ? AS behind, \
                (SELECT max(change) FROM (SELECT change FROM topic WHERE uid = ? \
                    UNION ALL SELECT change FROM decision WHERE uid = ? \
                    UNION ALL SELECT change FROM forgotten WHERE uid = ?) AS found) AS seen, \
                (SELECT max(change) FROM (SELECT change FROM topic WHERE uid = ? UNION ALL SELECT change FROM decision WHERE uid = ? \
                    UNION ALL SELECT change FROM log WHERE uid = ? UNION ALL SELECT change FROM session WHERE uid = ? \
                    UNION ALL SELECT change FROM forgotten WHERE uid = ?) AS found) AS sent";
            let (seen, sent) = (at.seen.unwrap_or_default(), at.sent.unwrap_or_default());
            let (seen, sent) = (|| seen.into(), || sent.into());
            let last = at.after.max(at.change);
            let values =
                [last.into(), seen(), seen(), seen(), sent(), sent(), sent(), sent(), sent()];
            let row = Statement::of(text, values).row(transaction).await?;
            let Some(row) = row else { return Ok(true) };
            let behind = get_column::<Option<bool>>(&row, "behind")?.unwrap_or(true);
            let is_unseen = get_column::<Option<i64>>(&row, "seen")?.is_none_or(|change| change < at.after);
            let is_unsent =
                get_column::<Option<i64>>(&row, "sent")?.is_none_or(|change| change < at.sent_change);
            Ok(behind || (at.seen.is_some() && is_unseen) || (at.sent.is_some() && is_unsent))
        })
    }

    /// The last change of all, and that of a delivered row.
    pub fn position_of(&mut self, sent: Option<&str>) -> Result<(i64, i64)> {
        self.link.transaction(Purpose::Reading, &async |at| {
            let text = "SELECT (SELECT change FROM counters WHERE one = 1) AS change, \
                (SELECT max(change) FROM (SELECT change FROM topic WHERE uid = ? UNION ALL SELECT change FROM decision WHERE uid = ? \
                    UNION ALL SELECT change FROM log WHERE uid = ? UNION ALL SELECT change FROM session WHERE uid = ? \
                    UNION ALL SELECT change FROM forgotten WHERE uid = ?) AS found) AS sent";
            let sent = || sent.unwrap_or_default().into();
            let row = Statement::of(text, [sent(), sent(), sent(), sent(), sent()]).row(at).await?;
            let Some(row) = row else { return Ok((0, 0)) };
            let number = |column| get_column::<Option<i64>>(&row, column).map(Option::unwrap_or_default);
            Ok((number("change")?, number("sent")?))
        })
    }

    /// Deletes projects that were forgotten as a whole, for an administrator: they go with the rows of everyone.
    pub fn forget_projects(&mut self, keys: &[String]) -> Result<()> {
        self.link.transaction(Purpose::Writing, &async |at| super::forget::forget_projects(at, keys).await)
    }

    /// The team's uids of these projects, by their key in the team, as far as the team knows them.
    pub fn find_adopted(&mut self, projects: &[(ProjectRow, String)]) -> Result<BTreeMap<Uid, Uid>> {
        self.link.transaction(Purpose::Reading, &async |at| find_adopted(at, projects).await)
    }

    /// The team's uids of these projects. The first project shared under a key becomes the team's; new keys
    /// are added.
    pub fn adopt_projects(&mut self, projects: &[(ProjectRow, String)]) -> Result<BTreeMap<Uid, Uid>> {
        let known = self.find_adopted(projects)?;
        if known.len() == projects.len() {
            return Ok(known);
        }
        self.link.transaction(Purpose::Writing, &async |at| {
            Writer::begin(at).await?;
            for (project, key) in projects {
                adopt_project(at, project, key).await?;
            }
            find_adopted(at, projects).await
        })
    }

    /// By name.
    pub fn team_projects(&mut self) -> Result<Vec<TeamProject>> {
        self.link.transaction(Purpose::Reading, &async |at| {
            let text = "SELECT n.name AS key, p.uid, p.name, \
                (SELECT count(*) FROM topic t WHERE t.project = p.uid AND t.automatic IS NULL) AS topics, \
                (SELECT count(*) FROM decision d JOIN topic t ON d.topic = t.uid WHERE t.project = p.uid) AS decisions, \
                (SELECT count(*) FROM log l JOIN topic t ON l.topic = t.uid WHERE t.project = p.uid) AS logs, \
                ARRAY(SELECT DISTINCT t.owner FROM topic t WHERE t.project = p.uid AND t.owner <> '' ORDER BY 1) AS owners \
                FROM team_name n JOIN project p ON p.uid = n.project ORDER BY n.name";
            let count = |row: &Row, column: &str| {
                get_column::<i64>(row, column).map(|count| u64::try_from(count).unwrap_or_default())
            };
            let project = |row: &Row| {
                Ok(TeamProject {
                    uid: get_column(row, "uid")?,
                    key: get_column(row, "key")?,
                    name: get_column(row, "name")?,
                    topics: count(row, "topics")?,
                    decisions: count(row, "decisions")?,
                    logs: count(row, "logs")?,
                    owners: get_column(row, "owners")?,
                })
            };
            Statement::new(text).rows(at).await?.iter().map(project).collect()
        })
    }

    /// Requests of others to forget rows of this login.
    pub fn forget_requests(&mut self) -> Result<Vec<ForgetRequest>> {
        self.link.transaction(Purpose::Reading, &async |at| {
            let text =
                "SELECT kind, uid, asked_by FROM request WHERE owner = session_user ORDER BY at DESC LIMIT ?";
            let rows = Statement::of(text, [MOST_REQUESTS.into()]).rows(at).await?;
            let request = |row: &Row| {
                Ok(ForgetRequest {
                    kind: get_column(row, "kind")?,
                    uid: get_column(row, "uid")?,
                    asked_by: get_column(row, "asked_by")?,
                })
            };
            rows.iter().map(request).collect()
        })
    }

    /// The owners of these logs.
    pub fn owners_of(&mut self, logs: &[Uid]) -> Result<BTreeMap<Uid, String>> {
        self.link.transaction(Purpose::Reading, &async |at| {
            let text = "SELECT uid, owner FROM log WHERE uid = ANY(?) AND owner <> ''";
            let rows = Statement::of(text, [logs.to_vec().into()]).rows(at).await?;
            rows.iter().map(|row| Ok((get_column(row, "uid")?, get_column(row, "owner")?))).collect()
        })
    }

    /// Expects the team's uids of projects.
    pub fn deliver(&mut self, sender: &Sender, records: &[Record]) -> Result<Vec<Delivered>> {
        self.link.transaction(Purpose::Writing, &async |at| {
            put::put_records(at, records, PutMode::From(sender)).await
        })
    }

    /// See [`forget::forget_uids`](super::forget::forget_uids).
    pub fn forget_uids(&mut self, uids: &[Uid]) -> Result<()> {
        self.link.transaction(Purpose::Writing, &async |at| super::forget::forget_uids(at, uids).await)
    }

    /// Changes in these projects after a position.
    pub fn read_changes(&mut self, projects: &[Uid], after: i64, limit: usize) -> Result<TeamChanges> {
        self.link.transaction(Purpose::Reading, &async |at| read_changes(at, projects, after, limit).await)
    }

    pub fn search_in(&mut self, projects: &[Uid], query: &Query) -> Result<Found> {
        self.link
            .transaction(Purpose::Reading, &async |at| search::search_in(at, query, Some(projects)).await)
    }

    /// The project of a topic.
    pub fn project_of(&mut self, topic: &str) -> Result<Option<Uid>> {
        self.link.transaction(Purpose::Reading, &async |at| {
            let row =
                Statement::of("SELECT project FROM topic WHERE uid = ?", [topic.into()]).row(at).await?;
            row.as_ref().map(|row| get_column(row, "project")).transpose()
        })
    }

    /// How many of these rows exist, to verify a migration.
    pub fn count(&mut self, uids: &[Uid]) -> Result<u64> {
        self.link.transaction(Purpose::Reading, &async |at| {
            let mut all = 0;
            for table in Table::ALL {
                let text = format!("SELECT count(*) AS count FROM {} WHERE uid = ANY(?)", table.name());
                let row = Statement::of(&text, [uids.to_vec().into()]).row(at).await?;
                all +=
                    row.as_ref().map(|row| get_column::<i64>(row, "count")).transpose()?.unwrap_or_default();
            }
            Ok(u64::try_from(all).unwrap_or_default())
        })
    }
}

async fn find_adopted(
    transaction: &Transaction<'_>,
    projects: &[(ProjectRow, String)],
) -> std::result::Result<BTreeMap<Uid, Uid>, TransactionError> {
    let keys: Vec<String> = projects.iter().map(|(_, key)| key.clone()).collect();
    let text = "SELECT name, project FROM team_name WHERE name = ANY(?)";
    let mut known: BTreeMap<String, Uid> = BTreeMap::new();
    for row in Statement::of(text, [keys.into()]).rows(transaction).await? {
        known.insert(get_column(&row, "name")?, get_column(&row, "project")?);
    }
    let of_team =
        |(project, key): &(ProjectRow, String)| Some((project.uid.clone(), known.get(key)?.clone()));
    Ok(projects.iter().filter_map(of_team).collect())
}

async fn adopt_project(
    transaction: &Transaction<'_>,
    project: &ProjectRow,
    key: &str,
) -> std::result::Result<(), TransactionError> {
    let known = Statement::of("SELECT 1 FROM team_name WHERE name = ?", [key.into()]);
    if known.row(transaction).await?.is_some() {
        return Ok(());
    }
    // Version 1 knew projects by their name alone: the first remote with that name takes such a one over.
    let old = "SELECT n.project FROM team_name n JOIN project p ON p.uid = n.project \
               WHERE n.name = ? AND n.name <> ? AND p.owner = '' \
               AND NOT EXISTS (SELECT 1 FROM team_name o WHERE o.project = n.project AND strpos(o.name, '/') > 0)";
    let old = Statement::of(old, [project.name.as_str().into(), key.into()]).row(transaction).await?;
    let uid: Uid = if let Some(row) = old {
        get_column(&row, "project")?
    } else {
        let used = "SELECT 1 FROM forgotten WHERE uid = ? UNION SELECT 1 FROM project WHERE uid = ?";
        let uid = || project.uid.as_str().into();
        let is_used = Statement::of(used, [uid(), uid()]).row(transaction).await?.is_some();
        let uid = if is_used { new_uid() } else { project.uid.clone() };
        let row = ProjectRow { uid: uid.clone(), id: None, key: None, ..project.clone() };
        put::put_strictly(transaction, &[Record::Project(row)]).await?;
        uid
    };
    let name = "INSERT INTO team_name (name, project) VALUES (?, ?) ON CONFLICT DO NOTHING";
    Statement::of(name, [key.into(), uid.as_str().into()]).run(transaction).await?;
    Ok(())
}

async fn read_changes(
    transaction: &Transaction<'_>,
    projects: &[Uid],
    after: i64,
    limit: usize,
) -> std::result::Result<TeamChanges, TransactionError> {
    let limit = limit.max(1);
    let text = format!(
        "SELECT 'topic' AS kind, t.uid, t.change, NULL AS owner FROM topic t WHERE t.change > ? AND t.project = ANY(?) AND t.automatic IS NULL \
         UNION ALL SELECT 'decision', d.uid, d.change, NULL FROM decision d JOIN topic t ON d.topic = t.uid \
         WHERE d.change > ? AND t.project = ANY(?) \
         UNION ALL SELECT 'forgotten ' || f.kind, f.uid, f.change, f.owner FROM forgotten f WHERE f.change > ? AND f.kind IN ('decision', 'topic') \
         ORDER BY change LIMIT {}",
        limit + 1
    );
    let projects = || projects.to_vec().into();
    let values = [after.into(), projects(), after.into(), projects(), after.into()];
    let rows = Statement::of(&text, values).rows(transaction).await?;
    let mut found = TeamChanges { more: rows.len() > limit, ..TeamChanges::default() };
    let (mut topics, mut decisions) = (BTreeSet::new(), BTreeSet::new());
    for row in rows.iter().take(limit) {
        found.next = get_column(row, "change")?;
        let uid: Uid = get_column(row, "uid")?;
        found.last = Some(uid.clone());
        match get_column(row, "kind")? {
            "topic" => drop(topics.insert(uid)),
            "decision" => drop(decisions.insert(uid)),
            kind => {
                let kind = str::strip_prefix(kind, "forgotten ").unwrap_or_default().to_owned();
                found.forgotten.push(Withdrawn { kind, uid, origin: get_column(row, "owner")? });
            }
        }
    }
    found.next = found.next.max(after);
    let decisions = with_referenced(transaction, Table::Decision, decisions).await?;
    for one in &decisions {
        if let Record::Decision(row) = &one.record {
            topics.insert(row.topic.clone());
        }
    }
    let topics = with_referenced(transaction, Table::Topic, topics).await?;
    found.records = topics.into_iter().chain(decisions).collect();
    Ok(found)
}

/// Adds the rows of the same kind that they refer to, referenced rows first.
async fn with_referenced(
    transaction: &Transaction<'_>,
    table: Table,
    wanted: BTreeSet<Uid>,
) -> std::result::Result<Vec<Foreign>, TransactionError> {
    let mut records: BTreeMap<Uid, Record> = BTreeMap::new();
    let mut origins: BTreeMap<Uid, String> = BTreeMap::new();
    let mut next = wanted;
    // Transfers no more of a text than is kept. Of two columns with the same name the first one counts.
    let cut = match table {
        Table::Topic => format!("left(title, {}) AS title", LONGEST_TITLE * 4),
        _ => format!("left(text, {LONGEST_TEXT}) AS text, left(reason, {LONGEST_TEXT}) AS reason"),
    };
    while !next.is_empty() {
        let text = format!("SELECT {cut}, * FROM {} WHERE uid = ANY(?)", table.name());
        let rows = Statement::of(&text, [Vec::from_iter(std::mem::take(&mut next)).into()])
            .rows(transaction)
            .await?;
        for row in &rows {
            let record = row::read_record(table, row)?;
            let above = match &record {
                Record::Topic(row) => row.parent.clone(),
                Record::Decision(row) => row.supersedes.clone(),
                _ => None,
            };
            origins.insert(record.uid().to_owned(), get_column(row, "owner")?);
            records.insert(record.uid().to_owned(), record);
            next.extend(above.filter(|uid| !records.contains_key(uid)));
        }
    }
    let foreign = |record: Record| {
        let origin = origins.get(record.uid()).cloned().unwrap_or_default();
        Foreign { record: without_local_fields(record), origin }
    };
    Ok(parents_first(records.into_values().collect()).into_iter().map(foreign).collect())
}

/// Removes fields that only the server and the delivering machine know.
fn without_local_fields(record: Record) -> Record {
    match record {
        Record::Topic(row) => {
            Record::Topic(TopicRow { id: None, offered: 0, offered_at: None::<Millis>, ..row })
        }
        Record::Decision(row) => Record::Decision(DecisionRow { id: None, session: None, ..row }),
        other => other,
    }
}
