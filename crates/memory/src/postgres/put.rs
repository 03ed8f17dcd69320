//! Stores records: reads all affected rows at once, decides here, and writes each table at once.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use tidegate_core::time::Millis;
use tokio_postgres::Transaction;

use super::counters::{Writer, reserve_changes};
use super::link::TransactionError;
use super::row::{self, Table, get_column};
use super::search;
use super::statement::Statement;
use super::team::Delivered;
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
    /// Its id in the team. Shows which rows without an owner, from version 1, are its own.
    pub machine: Uid,
}

/// The stored state of the records and of everything they refer to.
struct KnownRows {
    rows: BTreeMap<(Table, Uid), KnownRow>,
    /// The parent of a topic, or the decision that a decision replaced.
    above: BTreeMap<(Table, Uid), Uid>,
    forgotten: BTreeSet<Uid>,
    keys: BTreeMap<String, Uid>,
}

#[derive(Clone, Debug)]
struct KnownRow {
    updated: Millis,
    /// Empty for a row from version 1.
    owner: String,
    /// The machine that delivered a row from version 1.
    origin: Option<Uid>,
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
        let (mut uids, mut keys) = (BTreeSet::new(), BTreeSet::new());
        for record in records {
            uids.insert(record.uid().to_owned());
            uids.extend(References::of(record).iter().map(|(_, uid)| uid.clone()));
            match record {
                Record::Project(row) => keys.extend(row.key.clone()),
                Record::Topic(row) => uids.extend(row.automatic.clone()),
                _ => {}
            }
        }
        let uids = Vec::from_iter(uids);
        let mut statement = Statement::default();
        for table in Table::ALL {
            let (name, above) = (table.name(), above_column(table).unwrap_or("NULL::text"));
            let key = if table == Table::Project { "key" } else { "NULL::text" };
            let origin = if table.has_origin() { "origin" } else { "NULL::text" };
            statement.add(
                &format!(
                    "SELECT '{name}' AS kind, uid, updated, {above} AS above, {key} AS key, owner, {origin} AS origin \
                     FROM {name} WHERE uid = ANY(?)"
                ),
                [uids.clone().into()],
            );
            if table == Table::Project && !keys.is_empty() {
                statement.add(" OR key = ANY(?)", [Vec::from_iter(keys.clone()).into()]);
            }
            statement.add(" UNION ALL ", []);
        }
        statement.add(
            "SELECT 'forgotten', uid, change, NULL::text, NULL::text, owner, NULL::text FROM forgotten WHERE uid = ANY(?)",
            [uids.into()],
        );
        let mut there = KnownRows {
            rows: BTreeMap::new(),
            above: BTreeMap::new(),
            forgotten: BTreeSet::new(),
            keys: BTreeMap::new(),
        };
        for row in statement.rows(transaction).await? {
            let (kind, uid): (&str, String) = (get_column(&row, "kind")?, get_column(&row, "uid")?);
            let Some(table) = Table::ALL.into_iter().find(|table| table.name() == kind) else {
                there.forgotten.insert(uid);
                continue;
            };
            there.keys.extend(get_column::<Option<String>>(&row, "key")?.map(|key| (key, uid.clone())));
            there.above.extend(
                get_column::<Option<String>>(&row, "above")?.map(|above| ((table, uid.clone()), above)),
            );
            let known = KnownRow {
                updated: row::get_time(&row, "updated")?,
                owner: get_column(&row, "owner")?,
                origin: get_column(&row, "origin")?,
            };
            there.rows.insert((table, uid), known);
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

    async fn write(self, transaction: &Transaction<'_>, mode: PutMode<'_>) -> Result<(), TransactionError> {
        if !self.forgotten.is_empty() {
            let before = reserve_changes(transaction, self.forgotten.len()).await?;
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
        // Lists of the server are ordered by these; machines of a team do not read them, and members could
        // only change them in their own rows.
        if mode == PutMode::Strict && !self.topics.is_empty() {
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
        if mode == PutMode::Strict && !self.projects.is_empty() {
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
    let put = |delivered| match delivered {
        Delivered::Done(put) => Some(put),
        Delivered::Theirs | Delivered::Waits => None,
    };
    Ok(puts.into_iter().filter_map(put).collect())
}

pub(super) async fn put_records(
    transaction: &Transaction<'_>,
    records: &[Record],
    mode: PutMode<'_>,
) -> Result<Vec<Delivered>, TransactionError> {
    let mut puts = vec![Delivered::Waits; records.len()];
    if records.is_empty() {
        return Ok(puts);
    }
    let writer = Writer::begin(transaction).await?;
    let mut there = KnownRows::of(transaction, records).await?;
    let mut writing = PendingWrites::default();
    let mut open: Vec<usize> = (0..records.len()).collect();
    // Repeats as long as a round stored rows that others may wait for.
    loop {
        let before = open.len();
        let mut waiting = Vec::new();
        for place in open {
            puts[place] =
                put_one(transaction, &records[place], mode, &writer, &mut there, &mut writing).await?;
            if puts[place] == Delivered::Waits {
                waiting.push(place);
            }
        }
        open = waiting;
        if open.is_empty() || open.len() == before {
            break;
        }
    }
    writing.write(transaction, mode).await?;
    Ok(puts)
}

async fn put_one(
    transaction: &Transaction<'_>,
    record: &Record,
    mode: PutMode<'_>,
    writer: &Writer,
    there: &mut KnownRows,
    writing: &mut PendingWrites,
) -> Result<Delivered, TransactionError> {
    let (table, uid) = (Table::of(record), record.uid().to_owned());
    if there.forgotten.contains(&uid) {
        return Ok(Delivered::Done(Put::Forgotten));
    }
    let known = there.rows.get(&(table, uid.clone())).cloned();
    // A forgotten session takes its automatic topic along, even one that was never stored.
    if let Record::Topic(row) = record
        && known.is_none()
        && row.automatic.as_ref().is_some_and(|session| there.forgotten.contains(session))
    {
        there.forgotten.insert(uid.clone());
        if mode == PutMode::Strict {
            writing.forgotten.push(uid);
        }
        return Ok(Delivered::Done(Put::Forgotten));
    }
    let takes_over = known.as_ref().is_some_and(|known| is_taken_over(known, table, mode));
    if !takes_over && known.as_ref().is_some_and(|known| version_of(record) <= known.updated) {
        return Ok(Delivered::Done(Put::Kept));
    }
    // An administrator may change every row.
    if !takes_over
        && !writer.is_administrator
        && known.as_ref().is_some_and(|known| known.owner != writer.name)
    {
        return Ok(Delivered::Theirs);
    }
    let mut record = record.clone();
    let references = References::of(&record);
    if references.needed.iter().any(|(_, uid)| there.forgotten.contains(*uid)) {
        return Ok(Delivered::Done(Put::Forgotten));
    }
    let lost = references.loose.is_some_and(|(_, uid)| there.forgotten.contains(uid));
    let missing =
        references.iter().find(|(table, uid)| !there.has(*table, uid) && !there.forgotten.contains(*uid));
    if let Some((of, missing)) = missing {
        return match mode {
            PutMode::Strict => {
                Err(Error::new(ErrorKind::Missing, format!("no {} {missing}", of.name())).into())
            }
            PutMode::From(_) => Ok(Delivered::Waits),
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
    let put = if known.is_some() { Put::Changed } else { Put::New };
    let now_known = KnownRow { updated: version_of(&record), owner: writer.name.clone(), origin: None };
    there.rows.insert((table, uid.clone()), now_known);
    match References::of(&record).loose.map(|(_, uid)| uid.clone()) {
        Some(above) => drop(there.above.insert((table, uid), above)),
        None => drop(there.above.remove(&(table, uid))),
    }
    let row = row::to_json_row(&record, wanted_id(&record));
    writing.add(record, row);
    Ok(Delivered::Done(put))
}

/// A row from version 1 becomes the property of the machine that delivered it. Sessions and projects did not
/// say which that was.
fn is_taken_over(known: &KnownRow, table: Table, mode: PutMode<'_>) -> bool {
    let PutMode::From(sender) = mode else { return false };
    known.owner.is_empty() && (!table.has_origin() || known.origin.as_deref() == Some(&sender.machine))
}
