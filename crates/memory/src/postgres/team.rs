//! Operations that only a team's store has: accepts deliveries and lists changes of others.

use std::collections::{BTreeMap, BTreeSet};

use tidegate_core::time::Millis;
use tokio_postgres::Transaction;

use super::PostgresStore;
use super::all_rows::parents_first;
use super::counters::Counters;
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
}

/// Changes by other machines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TeamChanges {
    /// Topics and decisions, referenced rows first. Their other references are removed.
    pub records: Vec<Foreign>,
    /// Deleted topics and decisions, without those that this machine delivered.
    pub forgotten: Vec<Withdrawn>,
    /// The position for the next call.
    pub next: i64,
    pub more: bool,
}

impl PostgresStore {
    /// The id of the store: another store at the same address has another one.
    pub fn identity(&mut self) -> Result<String> {
        self.link.transaction(Purpose::Reading, &async |at| {
            let row = Statement::new("SELECT store FROM counters WHERE one = 1").row(at).await?;
            Ok(row.as_ref().map(|row| get_column(row, "store")).transpose()?.unwrap_or_default())
        })
    }

    /// The team's uids of these projects, as far as the team knows them.
    pub fn find_adopted(&mut self, projects: &[ProjectRow]) -> Result<BTreeMap<Uid, Uid>> {
        self.link.transaction(Purpose::Reading, &async |at| find_adopted(at, projects).await)
    }

    /// The team's uids of these projects. The first project shared under a name becomes the team's; new names
    /// are added.
    pub fn adopt_projects(&mut self, projects: &[ProjectRow]) -> Result<BTreeMap<Uid, Uid>> {
        let known = self.find_adopted(projects)?;
        if known.len() == projects.len() {
            return Ok(known);
        }
        self.link.transaction(Purpose::Writing, &async |at| {
            let mut counters = Counters::lock(at).await?;
            counters.change();
            counters.unlock(at).await?;
            for project in projects {
                adopt_project(at, project).await?;
            }
            find_adopted(at, projects).await
        })
    }

    /// Expects the team's uids of projects.
    pub fn deliver(&mut self, sender: &Sender, records: &[Record]) -> Result<Vec<Delivered>> {
        let puts = self.link.transaction(Purpose::Writing, &async |at| {
            put::put_records(at, records, PutMode::From(sender)).await
        })?;
        Ok(puts.into_iter().map(|put| put.map_or(Delivered::Waits, Delivered::Done)).collect())
    }

    /// Including the contents of projects and topics.
    pub fn forget_uids(&mut self, uids: &[Uid]) -> Result<()> {
        self.link.transaction(Purpose::Writing, &async |at| super::forget::forget_uids(at, uids).await)
    }

    /// Changes in these projects after a position.
    pub fn read_changes(
        &mut self,
        machine: &str,
        projects: &[Uid],
        after: i64,
        limit: usize,
    ) -> Result<TeamChanges> {
        self.link.transaction(Purpose::Reading, &async |at| {
            read_changes(at, machine, projects, after, limit).await
        })
    }

    pub fn search_in(&mut self, projects: &[Uid], query: &Query) -> Result<Found> {
        self.link
            .transaction(Purpose::Reading, &async |at| search::search_in(at, query, Some(projects)).await)
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
    projects: &[ProjectRow],
) -> std::result::Result<BTreeMap<Uid, Uid>, TransactionError> {
    let uids: Vec<Uid> = projects.iter().map(|project| project.uid.clone()).collect();
    let text = "SELECT a.uid, a.project, n.name FROM team_alias a JOIN team_name n ON n.project = a.project \
                WHERE a.uid = ANY(?)";
    let mut known = BTreeMap::new();
    for row in Statement::of(text, [uids.into()]).rows(transaction).await? {
        let (uid, name): (Uid, String) = (get_column(&row, "uid")?, get_column(&row, "name")?);
        // After a renaming it is another project in the team.
        if projects.iter().any(|project| project.uid == uid && project.name == name) {
            known.insert(uid, get_column(&row, "project")?);
        }
    }
    Ok(known)
}

async fn adopt_project(
    transaction: &Transaction<'_>,
    project: &ProjectRow,
) -> std::result::Result<(), TransactionError> {
    let found = Statement::of("SELECT project FROM team_name WHERE name = ?", [project.name.as_str().into()]);
    let known: Option<Uid> =
        found.row(transaction).await?.as_ref().map(|row| get_column(row, "project")).transpose()?;
    let of_team = if let Some(uid) = known {
        uid
    } else {
        let used = "SELECT 1 FROM forgotten WHERE uid = ? UNION SELECT 1 FROM project WHERE uid = ?";
        let uid = || project.uid.as_str().into();
        let is_used = Statement::of(used, [uid(), uid()]).row(transaction).await?.is_some();
        let uid = if is_used { new_uid() } else { project.uid.clone() };
        let row = ProjectRow { uid: uid.clone(), id: None, key: None, ..project.clone() };
        put::put_strictly(transaction, &[Record::Project(row)]).await?;
        let name = "INSERT INTO team_name (name, project) VALUES (?, ?)";
        Statement::of(name, [project.name.as_str().into(), uid.as_str().into()]).run(transaction).await?;
        uid
    };
    let alias = "INSERT INTO team_alias (uid, project) VALUES (?, ?) ON CONFLICT (uid) DO UPDATE SET project = excluded.project";
    Statement::of(alias, [project.uid.as_str().into(), of_team.as_str().into()]).run(transaction).await?;
    Ok(())
}

async fn read_changes(
    transaction: &Transaction<'_>,
    machine: &str,
    projects: &[Uid],
    after: i64,
    limit: usize,
) -> std::result::Result<TeamChanges, TransactionError> {
    let limit = limit.max(1);
    let text = format!(
        "SELECT 'topic' AS kind, t.uid, t.change, NULL AS origin FROM topic t WHERE t.change > ? AND t.project = ANY(?) AND t.automatic IS NULL \
         UNION ALL SELECT 'decision', d.uid, d.change, NULL FROM decision d JOIN topic t ON d.topic = t.uid \
         WHERE d.change > ? AND t.project = ANY(?) \
         UNION ALL SELECT 'forgotten ' || f.kind, f.uid, f.change, f.origin FROM forgotten f WHERE f.change > ? AND f.kind IN ('decision', 'topic') \
         AND f.origin <> ? \
         ORDER BY change LIMIT {}",
        limit + 1
    );
    let projects = || projects.to_vec().into();
    let values = [after.into(), projects(), after.into(), projects(), after.into(), machine.into()];
    let rows = Statement::of(&text, values).rows(transaction).await?;
    let mut found = TeamChanges { more: rows.len() > limit, ..TeamChanges::default() };
    let (mut topics, mut decisions) = (BTreeSet::new(), BTreeSet::new());
    for row in rows.iter().take(limit) {
        found.next = get_column(row, "change")?;
        let uid: Uid = get_column(row, "uid")?;
        match get_column(row, "kind")? {
            "topic" => drop(topics.insert(uid)),
            "decision" => drop(decisions.insert(uid)),
            kind => {
                let kind = str::strip_prefix(kind, "forgotten ").unwrap_or_default().to_owned();
                found.forgotten.push(Withdrawn { kind, uid, origin: get_column(row, "origin")? });
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
    let mut origins: BTreeMap<Uid, Uid> = BTreeMap::new();
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
            origins.extend(
                get_column::<Option<Uid>>(row, "origin")?.map(|origin| (record.uid().to_owned(), origin)),
            );
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
