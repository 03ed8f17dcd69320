//! Stores records: reads all affected rows at once, decides here, and writes each table at once.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use tidegate_core::time::Millis;
use tokio_postgres::Transaction;

use super::counters::Counters;
use super::link::TransactionError;
use super::row::{self, Table, get_column};
use super::search;
use super::statement::Statement;
use crate::error::{Error, ErrorKind};
use crate::record::{Record, Uid};
use crate::store::Put;

/// Larger ids are not accepted.
const LARGEST_ID: i64 = i64::MAX / 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PutMode<'a> {
    /// All or none. Referenced rows are stored or come earlier in the list.
    Strict,
    /// From a machine, in the order of changes there and each in its current version: a referenced row can
    /// come later, or not at all yet.
    From(&'a Sender),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sender {
    /// Its id in the team.
    pub machine: Uid,
    /// Rows that it received from others, with their machine: on another server they remain theirs.
    pub origins: BTreeMap<Uid, Uid>,
}

impl Sender {
    fn origin(&self, uid: &str) -> &str {
        self.origins.get(uid).unwrap_or(&self.machine)
    }
}

/// The stored state of the records and of everything they refer to.
struct KnownRows {
    rows: BTreeMap<(Table, Uid), (Option<i64>, Millis)>,
    /// The parent of a topic, or the decision that a decision replaced.
    above: BTreeMap<(Table, Uid), Uid>,
    forgotten: BTreeSet<Uid>,
    taken: BTreeSet<(Table, i64)>,
    keys: BTreeMap<String, Uid>,
}

struct References<'a> {
    /// Required; if one is forgotten, so is the record.
    needed: Vec<(Table, &'a Uid)>,
    /// Can be dropped.
    loose: Option<(Table, &'a Uid)>,
}

impl References<'_> {
    fn of(record: &Record) -> References<'_> {
        match record {
            Record::Project(_) => References { needed: Vec::new(), loose: None },
            Record::Session(row) => References { needed: vec![(Table::Project, &row.project)], loose: None },
            Record::Topic(row) => References {
                needed: vec![(Table::Project, &row.project)],
                loose: row.parent.as_ref().map(|uid| (Table::Topic, uid)),
            },
            Record::Log(row) => {
                let session = row.session.as_ref().map(|uid| (Table::Session, uid));
                References {
                    needed: [(Table::Topic, &row.topic)].into_iter().chain(session).collect(),
                    loose: None,
                }
            }
            Record::Decision(row) => {
                let session = row.session.as_ref().map(|uid| (Table::Session, uid));
                References {
                    needed: [(Table::Topic, &row.topic)].into_iter().chain(session).collect(),
                    loose: row.supersedes.as_ref().map(|uid| (Table::Decision, uid)),
                }
            }
        }
    }

    fn iter(&self) -> impl Iterator<Item = (Table, &Uid)> {
        self.needed.iter().copied().chain(self.loose)
    }
}

impl KnownRows {
    async fn of(transaction: &Transaction<'_>, records: &[Record]) -> Result<KnownRows, TransactionError> {
        let (mut uids, mut ids, mut keys) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        for record in records {
            uids.insert(record.uid().to_owned());
            uids.extend(References::of(record).iter().map(|(_, uid)| uid.clone()));
            ids.extend(wanted_id(record));
            match record {
                Record::Project(row) => keys.extend(row.key.clone()),
                Record::Topic(row) => uids.extend(row.automatic.clone()),
                _ => {}
            }
        }
        let (uids, ids) = (Vec::from_iter(uids), Vec::from_iter(ids));
        let mut statement = Statement::default();
        for table in Table::ALL {
            let (name, above) = (table.name(), above_column(table).unwrap_or("NULL::text"));
            let id = if table.has_ids() { "id" } else { "NULL::bigint" };
            let key = if table == Table::Project { "key" } else { "NULL::text" };
            statement.add(
                &format!("SELECT '{name}' AS kind, uid, {id} AS id, updated, {above} AS above, {key} AS key FROM {name} WHERE uid = ANY(?)"),
                [uids.clone().into()],
            );
            if table.has_ids() && !ids.is_empty() {
                statement.add(" OR id = ANY(?)", [ids.clone().into()]);
            }
            if table == Table::Project && !keys.is_empty() {
                statement.add(" OR key = ANY(?)", [Vec::from_iter(keys.clone()).into()]);
            }
            statement.add(" UNION ALL ", []);
        }
        statement.add(
            "SELECT 'forgotten', uid, NULL::bigint, change, NULL::text, NULL::text FROM forgotten WHERE uid = ANY(?)",
            [uids.into()],
        );
        let mut there = KnownRows {
            rows: BTreeMap::new(),
            above: BTreeMap::new(),
            forgotten: BTreeSet::new(),
            taken: BTreeSet::new(),
            keys: BTreeMap::new(),
        };
        for row in statement.rows(transaction).await? {
            let (kind, uid): (&str, String) = (get_column(&row, "kind")?, get_column(&row, "uid")?);
            let Some(table) = Table::ALL.into_iter().find(|table| table.name() == kind) else {
                there.forgotten.insert(uid);
                continue;
            };
            let id: Option<i64> = get_column(&row, "id")?;
            there.taken.extend(id.map(|id| (table, id)));
            there.keys.extend(get_column::<Option<String>>(&row, "key")?.map(|key| (key, uid.clone())));
            there.above.extend(
                get_column::<Option<String>>(&row, "above")?.map(|above| ((table, uid.clone()), above)),
            );
            there.rows.insert((table, uid), (id, row::get_time(&row, "updated")?));
        }
        Ok(there)
    }

    fn has(&self, table: Table, uid: &Uid) -> bool {
        self.rows.contains_key(&(table, uid.clone()))
    }

    /// Whether a row would be its own ancestor. Reads stored ancestors one by one: chains are short.
    async fn is_circle(
        &mut self,
        transaction: &Transaction<'_>,
        table: Table,
        uid: &Uid,
        above: &Uid,
    ) -> Result<bool, TransactionError> {
        let Some(column) = above_column(table) else { return Ok(false) };
        let mut next = Some(above.clone());
        let mut seen = BTreeSet::new();
        while let Some(one) = next {
            if one == *uid || !seen.insert(one.clone()) {
                return Ok(true);
            }
            let key = (table, one.clone());
            if !self.rows.contains_key(&key) {
                let text = format!("SELECT {column} AS above FROM {} WHERE uid = ?", table.name());
                let row = Statement::of(&text, [one.as_str().into()]).row(transaction).await?;
                let found =
                    row.as_ref().map(|row| get_column::<Option<String>>(row, "above")).transpose()?.flatten();
                self.above.extend(found.map(|above| (key.clone(), above)));
            }
            next = self.above.get(&key).cloned();
        }
        Ok(false)
    }
}

fn above_column(table: Table) -> Option<&'static str> {
    match table {
        Table::Topic => Some("parent"),
        Table::Decision => Some("supersedes"),
        _ => None,
    }
}

fn wanted_id(record: &Record) -> Option<i64> {
    let id = match record {
        Record::Project(row) => row.id,
        Record::Topic(row) => row.id,
        Record::Decision(row) => row.id,
        Record::Session(_) | Record::Log(_) => None,
    };
    id.filter(|id| (1..LARGEST_ID).contains(id))
}

fn version_of(record: &Record) -> Millis {
    match record {
        Record::Project(row) => row.updated,
        Record::Topic(row) => row.updated,
        Record::Session(row) => row.updated,
        Record::Log(row) => row.updated,
        Record::Decision(row) => row.updated,
    }
}

/// Drops the reference that is not required.
fn drop_loose_reference(record: &mut Record) {
    match record {
        Record::Topic(row) => row.parent = None,
        Record::Decision(row) => row.supersedes = None,
        _ => {}
    }
}

/// Makes the machine that sent it pull this version.
fn raise_version(record: &mut Record) {
    match record {
        Record::Topic(row) => row.updated.0 += 1,
        Record::Decision(row) => row.updated.0 += 1,
        _ => {}
    }
}

#[derive(Default)]
struct PendingWrites {
    rows: BTreeMap<Table, BTreeMap<Uid, Value>>,
    latest: BTreeMap<(Table, Uid), Record>,
    /// The last activity per topic and per project.
    topics: BTreeMap<Uid, u64>,
    projects: BTreeMap<Uid, u64>,
    /// Uids to remember although no row exists.
    forgotten: Vec<Uid>,
}

impl PendingWrites {
    fn add(&mut self, record: Record, row: Value) {
        let mut happened = |topic: &Uid, at: u64| {
            let last = self.topics.entry(topic.clone()).or_default();
            *last = at.max(*last);
        };
        match &record {
            Record::Project(_) => {}
            Record::Session(row) => note_activity(&mut self.projects, &row.project, row.updated.0),
            Record::Topic(row) => note_activity(&mut self.projects, &row.project, row.updated.0),
            Record::Log(row) => happened(&row.topic, row.updated.0.max(row.at.0)),
            Record::Decision(row) => happened(&row.topic, row.updated.0),
        }
        let (table, uid) = (Table::of(&record), record.uid().to_owned());
        self.rows.entry(table).or_default().insert(uid.clone(), row);
        self.latest.insert((table, uid), record);
    }

    async fn write(
        self,
        transaction: &Transaction<'_>,
        mode: PutMode<'_>,
        counters: &mut Counters,
    ) -> Result<(), TransactionError> {
        if !self.forgotten.is_empty() {
            let before = counters.changes(self.forgotten.len());
            let remember = "INSERT INTO forgotten (uid, change) SELECT given.uid, ? + given.place \
                            FROM unnest(?) WITH ORDINALITY AS given (uid, place) ON CONFLICT DO NOTHING";
            Statement::of(remember, [before.into(), self.forgotten.into()]).run(transaction).await?;
        }
        for (table, rows) in self.rows {
            let rows = rows.into_values().collect::<Value>().to_string();
            Statement::of(&table.upsert(mode != PutMode::Strict), [rows.as_str().into()])
                .run(transaction)
                .await?;
        }
        if !self.topics.is_empty() {
            // A topic that was offered before counts as new again.
            let given = times_as_json(&self.topics);
            let happened = "UPDATE topic SET active = greatest(topic.active, given.at), \
                            offered = CASE WHEN given.at > coalesce(topic.offered_at, given.at) THEN 0 ELSE topic.offered END \
                            FROM json_to_recordset(?::json) AS given (uid text, at bigint) WHERE topic.uid = given.uid";
            Statement::of(happened, [given.as_str().into()]).run(transaction).await?;
            let uids: Vec<Uid> = self.topics.keys().cloned().collect();
            let new = "DELETE FROM offer USING topic WHERE offer.topic = topic.uid AND topic.offered = 0 AND topic.uid = ANY(?)";
            Statement::of(new, [uids.clone().into()]).run(transaction).await?;
            let projects = "UPDATE project SET active = greatest(project.active, recent.active) FROM \
                            (SELECT project, max(active) AS active FROM topic WHERE uid = ANY(?) GROUP BY project) AS recent \
                            WHERE project.uid = recent.project";
            Statement::of(projects, [uids.into()]).run(transaction).await?;
        }
        if !self.projects.is_empty() {
            let given = times_as_json(&self.projects);
            let projects = "UPDATE project SET active = greatest(project.active, given.at) \
                            FROM json_to_recordset(?::json) AS given (uid text, at bigint) WHERE project.uid = given.uid";
            Statement::of(projects, [given.as_str().into()]).run(transaction).await?;
        }
        search::index_records(transaction, self.latest.into_values()).await
    }
}

fn note_activity(projects: &mut BTreeMap<Uid, u64>, project: &Uid, at: u64) {
    let last = projects.entry(project.clone()).or_default();
    *last = at.max(*last);
}

fn times_as_json(times: &BTreeMap<Uid, u64>) -> String {
    times.iter().map(|(uid, at)| json!({ "uid": uid, "at": at })).collect::<Value>().to_string()
}

pub(super) async fn put_strictly(
    transaction: &Transaction<'_>,
    records: &[Record],
) -> Result<Vec<Put>, TransactionError> {
    let puts = put_records(transaction, records, PutMode::Strict).await?;
    Ok(puts.into_iter().flatten().collect())
}

/// `None` for a record that waits for a row it refers to.
pub(super) async fn put_records(
    transaction: &Transaction<'_>,
    records: &[Record],
    mode: PutMode<'_>,
) -> Result<Vec<Option<Put>>, TransactionError> {
    let mut puts: Vec<Option<Put>> = vec![None; records.len()];
    if records.is_empty() {
        return Ok(puts);
    }
    let mut counters = Counters::lock(transaction).await?;
    let mut there = KnownRows::of(transaction, records).await?;
    let mut writing = PendingWrites::default();
    let mut open: Vec<usize> = (0..records.len()).collect();
    // Repeats as long as a round stored rows that others may wait for.
    loop {
        let before = open.len();
        let mut waiting = Vec::new();
        for place in open {
            match put_one(transaction, &records[place], mode, &mut there, &mut counters, &mut writing).await?
            {
                Some(put) => puts[place] = Some(put),
                None => waiting.push(place),
            }
        }
        open = waiting;
        if open.is_empty() || open.len() == before {
            break;
        }
    }
    writing.write(transaction, mode, &mut counters).await?;
    counters.unlock(transaction).await?;
    Ok(puts)
}

async fn put_one(
    transaction: &Transaction<'_>,
    record: &Record,
    mode: PutMode<'_>,
    there: &mut KnownRows,
    counters: &mut Counters,
    writing: &mut PendingWrites,
) -> Result<Option<Put>, TransactionError> {
    let (table, uid) = (Table::of(record), record.uid().to_owned());
    if there.forgotten.contains(&uid) {
        return Ok(Some(Put::Forgotten));
    }
    let known = there.rows.get(&(table, uid.clone())).copied();
    // A forgotten session takes its automatic topic along, even one that was never stored.
    if let Record::Topic(row) = record
        && known.is_none()
        && row.automatic.as_ref().is_some_and(|session| there.forgotten.contains(session))
    {
        there.forgotten.insert(uid.clone());
        writing.forgotten.push(uid);
        return Ok(Some(Put::Forgotten));
    }
    if known.is_some_and(|(_, before)| version_of(record) <= before) {
        return Ok(Some(Put::Kept));
    }
    let mut record = record.clone();
    let references = References::of(&record);
    if references.needed.iter().any(|(_, uid)| there.forgotten.contains(*uid)) {
        return Ok(Some(Put::Forgotten));
    }
    let lost = references.loose.is_some_and(|(_, uid)| there.forgotten.contains(uid));
    let missing =
        references.iter().find(|(table, uid)| !there.has(*table, uid) && !there.forgotten.contains(*uid));
    if let Some((of, missing)) = missing {
        return match mode {
            PutMode::Strict => {
                Err(Error::new(ErrorKind::Missing, format!("no {} {missing}", of.name())).into())
            }
            PutMode::From(_) => Ok(None),
        };
    }
    if lost {
        drop_loose_reference(&mut record);
    }
    let above = References::of(&record).loose.map(|(_, uid)| uid.clone());
    if let Some(above) = &above
        && known.is_some()
        && there.is_circle(transaction, table, &uid, above).await?
    {
        if mode != PutMode::Strict {
            // Two machines each reversed the relation. The later version loses its reference, and its sender
            // has to learn of that.
            drop_loose_reference(&mut record);
            raise_version(&mut record);
        } else if table == Table::Topic {
            return Err(Error::new(ErrorKind::Refused, "a topic cannot be a part of itself")
                .hint("name another topic that it is a part of")
                .into());
        } else {
            return Err(Error::new(ErrorKind::Refused, "a decision cannot take its own place").into());
        }
    }
    if let Record::Project(row) = &mut record {
        // A folder belongs to the first project that claimed it.
        if row.key.as_ref().and_then(|key| there.keys.get(key)).is_some_and(|of| *of != uid) {
            row.key = None;
        }
        there.keys.extend(row.key.clone().map(|key| (key, uid.clone())));
    }
    let (id, put) = if let Some((id, _)) = known {
        (id, Put::Changed)
    } else {
        let id = table.has_ids().then(|| counters.id(table, wanted_id(&record), &mut there.taken));
        (id, Put::New)
    };
    there.rows.insert((table, uid.clone()), (id, version_of(&record)));
    match References::of(&record).loose.map(|(_, uid)| uid.clone()) {
        Some(above) => drop(there.above.insert((table, uid), above)),
        None => drop(there.above.remove(&(table, uid))),
    }
    let origin = match mode {
        PutMode::Strict => None,
        PutMode::From(sender) => Some(sender.origin(record.uid())),
    };
    let row = row::to_json_row(&record, id, counters.change(), origin);
    writing.add(record, row);
    Ok(Some(put))
}
