//! What only the store of a team does: takes what machines deliver, and tells them what others did.

use std::collections::{BTreeMap, BTreeSet};

use tidegate_core::time::Millis;
use tokio_postgres::Transaction;

use super::PostgresStore;
use super::ask::Ask;
use super::counters::Counters;
use super::each::in_order;
use super::link::{Failed, For};
use super::put::{self, Manner, Sender};
use super::row::{self, Table, get};
use super::words;
use crate::act::{LONGEST_TEXT, LONGEST_TITLE};
use crate::error::Result;
use crate::record::{Decision, Foreign, Project, Record, Topic, Uid, Withdrawn, new_uid};
use crate::store::Put;
use crate::view::{Hit, Query};

/// What became of something that was delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivered {
    /// It is there, or was, or was forgotten: it need not be sent again.
    Done(Put),
    /// What it refers to has not come yet.
    Waits,
}

/// What others did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Topics and decisions, so that what is referred to comes first. What they refer to beside each other is left out.
    pub records: Vec<Foreign>,
    /// Topics and decisions that are to be forgotten; none that this machine brought.
    pub forgotten: Vec<Withdrawn>,
    /// Where to go on.
    pub next: i64,
    /// Whether there is more.
    pub more: bool,
}

impl PostgresStore {
    /// What this store is called: another one behind the same address has another name.
    pub fn identity(&mut self) -> Result<String> {
        self.link.transaction(For::Reading, &async |at| {
            let row = Ask::new("SELECT store FROM counters WHERE one = 1").row(at).await?;
            Ok(row.as_ref().map(|row| get(row, "store")).transpose()?.unwrap_or_default())
        })
    }

    /// What the team calls these projects, as far as it knows them.
    pub fn adopted(&mut self, projects: &[Project]) -> Result<BTreeMap<Uid, Uid>> {
        self.link.transaction(For::Reading, &async |at| adopted(at, projects).await)
    }

    /// What the team calls projects of these names: the first that was shared under a name is everybody's. Those that nobody
    /// shared before become the team's.
    pub fn adopt(&mut self, projects: &[Project]) -> Result<BTreeMap<Uid, Uid>> {
        let known = self.adopted(projects)?;
        if known.len() == projects.len() {
            return Ok(known);
        }
        self.link.transaction(For::Writing, &async |at| {
            let mut counters = Counters::lock(at).await?;
            counters.change();
            counters.unlock(at).await?;
            for project in projects {
                adopt(at, project).await?;
            }
            adopted(at, projects).await
        })
    }

    /// Takes rows from a machine, which name projects as the team does.
    pub fn deliver(&mut self, sender: &Sender, records: &[Record]) -> Result<Vec<Delivered>> {
        let puts = self
            .link
            .transaction(For::Writing, &async |at| put::put_in(at, records, Manner::From(sender)).await)?;
        Ok(puts.into_iter().map(|put| put.map_or(Delivered::Waits, Delivered::Done)).collect())
    }

    /// Forgets by what rows are called everywhere, and with a project or topic what is in it.
    pub fn forget_uids(&mut self, uids: &[Uid]) -> Result<()> {
        self.link.transaction(For::Writing, &async |at| super::forget::forget_uids(at, uids).await)
    }

    /// What happened in projects of the team after a change, as far as this machine wants to know it.
    pub fn changes(&mut self, machine: &str, projects: &[Uid], after: i64, limit: usize) -> Result<Changes> {
        self.link.transaction(For::Reading, &async |at| changes(at, machine, projects, after, limit).await)
    }

    /// Searches logs of these projects.
    pub fn search_in(&mut self, projects: &[Uid], query: &Query) -> Result<Vec<Hit>> {
        self.link.transaction(For::Reading, &async |at| words::search_in(at, query, Some(projects)).await)
    }

    /// How many rows of each kind there are of these names, to compare.
    pub fn count(&mut self, uids: &[Uid]) -> Result<u64> {
        self.link.transaction(For::Reading, &async |at| {
            let mut all = 0;
            for table in Table::ALL {
                let text = format!("SELECT count(*) AS count FROM {} WHERE uid = ANY(?)", table.name());
                let row = Ask::of(&text, [uids.to_vec().into()]).row(at).await?;
                all += row.as_ref().map(|row| get::<i64>(row, "count")).transpose()?.unwrap_or_default();
            }
            Ok(u64::try_from(all).unwrap_or_default())
        })
    }
}

async fn adopted(
    transaction: &Transaction<'_>,
    projects: &[Project],
) -> std::result::Result<BTreeMap<Uid, Uid>, Failed> {
    let uids: Vec<Uid> = projects.iter().map(|project| project.uid.clone()).collect();
    let text = "SELECT a.uid, a.project, n.name FROM team_alias a JOIN team_name n ON n.project = a.project \
                WHERE a.uid = ANY(?)";
    let mut known = BTreeMap::new();
    for row in Ask::of(text, [uids.into()]).rows(transaction).await? {
        let (uid, name): (Uid, String) = (get(&row, "uid")?, get(&row, "name")?);
        // One that has another name now is another project in the team.
        if projects.iter().any(|project| project.uid == uid && project.name == name) {
            known.insert(uid, get(&row, "project")?);
        }
    }
    Ok(known)
}

async fn adopt(transaction: &Transaction<'_>, project: &Project) -> std::result::Result<(), Failed> {
    let found = Ask::of("SELECT project FROM team_name WHERE name = ?", [project.name.as_str().into()]);
    let known: Option<Uid> =
        found.row(transaction).await?.as_ref().map(|row| get(row, "project")).transpose()?;
    let of_team = if let Some(uid) = known {
        uid
    } else {
        let used = "SELECT 1 FROM forgotten WHERE uid = ? UNION SELECT 1 FROM project WHERE uid = ?";
        let uid = || project.uid.as_str().into();
        let is_used = Ask::of(used, [uid(), uid()]).row(transaction).await?.is_some();
        let uid = if is_used { new_uid() } else { project.uid.clone() };
        let row = Project { uid: uid.clone(), id: None, key: None, ..project.clone() };
        put::put(transaction, &[Record::Project(row)]).await?;
        let name = "INSERT INTO team_name (name, project) VALUES (?, ?)";
        Ask::of(name, [project.name.as_str().into(), uid.as_str().into()]).run(transaction).await?;
        uid
    };
    let alias = "INSERT INTO team_alias (uid, project) VALUES (?, ?) ON CONFLICT (uid) DO UPDATE SET project = excluded.project";
    Ask::of(alias, [project.uid.as_str().into(), of_team.as_str().into()]).run(transaction).await?;
    Ok(())
}

async fn changes(
    transaction: &Transaction<'_>,
    machine: &str,
    projects: &[Uid],
    after: i64,
    limit: usize,
) -> std::result::Result<Changes, Failed> {
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
    let rows = Ask::of(&text, values).rows(transaction).await?;
    let mut found = Changes { more: rows.len() > limit, ..Changes::default() };
    let (mut topics, mut decisions) = (BTreeSet::new(), BTreeSet::new());
    for row in rows.iter().take(limit) {
        found.next = get(row, "change")?;
        let uid: Uid = get(row, "uid")?;
        match get(row, "kind")? {
            "topic" => drop(topics.insert(uid)),
            "decision" => drop(decisions.insert(uid)),
            kind => {
                let kind = str::strip_prefix(kind, "forgotten ").unwrap_or_default().to_owned();
                found.forgotten.push(Withdrawn { kind, uid, origin: get(row, "origin")? });
            }
        }
    }
    found.next = found.next.max(after);
    let decisions = with_above(transaction, Table::Decision, decisions).await?;
    for one in &decisions {
        if let Record::Decision(row) = &one.record {
            topics.insert(row.topic.clone());
        }
    }
    let topics = with_above(transaction, Table::Topic, topics).await?;
    found.records = topics.into_iter().chain(decisions).collect();
    Ok(found)
}

/// These rows and what they refer to among their own kind, that first.
async fn with_above(
    transaction: &Transaction<'_>,
    table: Table,
    wanted: BTreeSet<Uid>,
) -> std::result::Result<Vec<Foreign>, Failed> {
    let mut records: BTreeMap<Uid, Record> = BTreeMap::new();
    let mut origins: BTreeMap<Uid, Uid> = BTreeMap::new();
    let mut next = wanted;
    // Of a text that is too long no more comes over than is kept; of two columns of one name the first counts.
    let cut = match table {
        Table::Topic => format!("left(title, {}) AS title", LONGEST_TITLE * 4),
        _ => format!("left(text, {LONGEST_TEXT}) AS text, left(reason, {LONGEST_TEXT}) AS reason"),
    };
    while !next.is_empty() {
        let text = format!("SELECT {cut}, * FROM {} WHERE uid = ANY(?)", table.name());
        let rows =
            Ask::of(&text, [Vec::from_iter(std::mem::take(&mut next)).into()]).rows(transaction).await?;
        for row in &rows {
            let record = row::record(table, row)?;
            let above = match &record {
                Record::Topic(row) => row.parent.clone(),
                Record::Decision(row) => row.supersedes.clone(),
                _ => None,
            };
            origins
                .extend(get::<Option<Uid>>(row, "origin")?.map(|origin| (record.uid().to_owned(), origin)));
            records.insert(record.uid().to_owned(), record);
            next.extend(above.filter(|uid| !records.contains_key(uid)));
        }
    }
    let foreign = |record: Record| {
        let origin = origins.get(record.uid()).cloned().unwrap_or_default();
        Foreign { record: for_others(record), origin }
    };
    Ok(in_order(records.into_values().collect()).into_iter().map(foreign).collect())
}

/// Without what only the server and the machine that brought it know.
fn for_others(record: Record) -> Record {
    match record {
        Record::Topic(row) => {
            Record::Topic(Topic { id: None, offered: 0, offered_at: None::<Millis>, ..row })
        }
        Record::Decision(row) => Record::Decision(Decision { id: None, session: None, ..row }),
        other => other,
    }
}
