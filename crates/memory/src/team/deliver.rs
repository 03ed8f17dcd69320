//! Delivers changes of this machine to the team, in their order.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path};

use super::step::Step;
use super::{Exchanged, adopt_projects, with_project_uid};
use crate::error::{ErrorKind, Result};
use crate::postgres::{Delivered, PostgresStore, Sender};
use crate::record::{LogRow, Record, Uid};
use crate::sqlite::{Outgoing, OutgoingContent, SqliteStore};
use crate::store::Put;

/// Rows per transaction.
const BATCH: usize = 200;

/// Bytes of rows per transaction, about.
const STEP: usize = 256 * 1024;
const SMALLEST_STEP: usize = 4 * 1024;

/// Delivers at most `most` entries. Each batch leaves the outbox before the next one is sent. `sent` becomes
/// the last delivered row.
pub(super) fn deliver_outbox(
    store: &mut SqliteStore,
    team: &mut PostgresStore,
    sender: &Sender,
    most: usize,
    exchanged: &mut Exchanged,
    sent: &mut Option<Uid>,
) -> Result<()> {
    let theirs: BTreeSet<Uid> = store.origins()?.into_keys().collect();
    let mut names: Option<BTreeMap<Uid, Uid>> = None;
    let mut batch = BATCH;
    let mut step = Step::new(STEP, SMALLEST_STEP);
    let mut deletions = Deletions::default();
    while exchanged.delivered + exchanged.forgotten < most {
        step.begin();
        // Deletions do not depend on earlier entries, so they go first.
        match deletions.deliver(store, team, exchanged, sent) {
            Err(error) if step.shrinks_after(&error) => continue,
            Ok(true) => {
                // A deleted project frees its key, so keys are looked up again.
                names = None;
                continue;
            }
            done => done?,
        };
        let line = store.outbox(batch)?;
        let whole = line.len() < batch;
        if line.is_empty() {
            return Ok(());
        }
        let known = match names.take() {
            Some(known) => known,
            None => match adopt_projects(store, team) {
                Err(error) if step.shrinks_after(&error) => continue,
                adopted => adopted?.1,
            },
        };
        // The renamed project may have another key in the team.
        let renames = line.iter().any(|one| matches!(&one.what, OutgoingContent::Row(Record::Project(_))));
        let mut sending = Sending { store, team, sender, names: &known, theirs: &theirs, bytes: step.size };
        let mut done = Vec::new();
        let sent = sending.send(line, exchanged, sent, &mut done);
        store.remove_delivered(&done)?;
        if !done.is_empty() {
            step.arrived();
        }
        names = Some(known).filter(|_| !renames);
        match sent {
            Err(error) if step.shrinks_after(&error) => continue,
            sent => sent?,
        }
        exchanged.refused = exchanged.refused.take().or_else(|| deletions.refused.clone());
        if done.is_empty() {
            if whole {
                // The rows they refer to are not in the outbox; they will be once those rows change.
                exchanged.waiting = batch.min(store.outbox_length()? as usize);
                return Ok(());
            }
            batch *= 2;
        }
    }
    Ok(())
}

/// A deletion that the server refuses must not hold up the others, nor the rows behind it.
#[derive(Default)]
struct Deletions {
    /// The last entry that was tried and refused: it waits for the next run.
    past: i64,
    refused: Option<String>,
}

impl Deletions {
    /// Whether any were there.
    fn deliver(
        &mut self,
        store: &mut SqliteStore,
        team: &mut PostgresStore,
        exchanged: &mut Exchanged,
        sent: &mut Option<Uid>,
    ) -> Result<bool> {
        let projects = store.outbox_forgotten_projects()?;
        if !projects.is_empty() {
            let (entries, keys): (Vec<i64>, Vec<String>) = projects.into_iter().unzip();
            team.forget_projects(&keys)?;
            store.remove_delivered(&entries)?;
            return Ok(true);
        }
        let entries = store.outbox_forgotten(self.past, BATCH)?;
        if entries.is_empty() {
            return Ok(false);
        }
        let uids: Vec<Uid> = entries.iter().map(|(_, uid)| uid.clone()).collect();
        let mut done: Vec<i64> = Vec::with_capacity(entries.len());
        match team.forget_uids(&uids) {
            Err(error) if error.kind == ErrorKind::Other => {
                for (entry, uid) in &entries {
                    match team.forget_uids(std::slice::from_ref(uid)) {
                        Ok(()) => done.push(*entry),
                        Err(error) if error.kind == ErrorKind::Other => {
                            (self.past, self.refused) = (*entry, Some(error.what));
                        }
                        Err(error) => return Err(error),
                    }
                }
            }
            tried => {
                tried?;
                done.extend(entries.iter().map(|(entry, _)| *entry));
                *sent = uids.last().cloned().or_else(|| sent.take());
            }
        }
        store.remove_delivered(&done)?;
        exchanged.delivered += done.len();
        exchanged.refused.clone_from(&self.refused);
        Ok(true)
    }
}

struct Sending<'a> {
    store: &'a mut SqliteStore,
    team: &'a mut PostgresStore,
    sender: &'a Sender,
    names: &'a BTreeMap<Uid, Uid>,
    /// Rows of others: their owners deliver them.
    theirs: &'a BTreeSet<Uid>,
    /// At most, unless the first row is larger.
    bytes: usize,
}

impl Sending<'_> {
    /// Sends rows, several times if they are more than one step. `done` gets the entries that need not be sent
    /// again, also if the connection breaks afterwards.
    fn send(
        &mut self,
        rows: Vec<Outgoing>,
        exchanged: &mut Exchanged,
        sent: &mut Option<Uid>,
        done: &mut Vec<i64>,
    ) -> Result<()> {
        // A row that is queued several times is sent once, in its current version.
        let mut records: Vec<(Record, Vec<i64>)> = Vec::new();
        for one in rows {
            match one.what {
                OutgoingContent::Row(
                    record @ (Record::Topic(_) | Record::Session(_) | Record::Log(_) | Record::Decision(_)),
                ) => {
                    let same = |(known, _): &(Record, Vec<i64>)| {
                        known.kind() == record.kind() && known.uid() == record.uid()
                    };
                    if let Some((_, line)) = records.iter_mut().find(|known| same(known)) {
                        line.push(one.seq);
                        continue;
                    }
                    match self.prepare(record)? {
                        Some(record) => records.push((record, vec![one.seq])),
                        None => done.push(one.seq),
                    }
                }
                // Only the key and the name of a project are shared, in `adopt_projects`.
                OutgoingContent::Row(Record::Project(_)) | OutgoingContent::Nothing => done.push(one.seq),
                // Queued just now; the next round sends it first.
                OutgoingContent::Forgotten(_) => {}
            }
        }
        exchanged.delivered += done.len();
        exchanged.refused = None;
        while !records.is_empty() {
            let step = self.count_step(&records);
            let rest = records.split_off(step);
            done.extend(self.send_step(records, exchanged, sent)?);
            records = rest;
        }
        Ok(())
    }

    /// `None` for a row that is not sent.
    fn prepare(&mut self, record: Record) -> Result<Option<Record>> {
        if self.theirs.contains(record.uid()) {
            return Ok(None);
        }
        let session = match &record {
            Record::Log(LogRow { session: Some(uid), .. }) => self.store.session(uid)?,
            _ => None,
        };
        let root = session.as_ref().map(|session| session.root.as_str());
        Ok(with_project_uid(without_private_fields(record, root), self.names))
    }

    /// How many rows fit into a step: at least one.
    fn count_step(&self, records: &[(Record, Vec<i64>)]) -> usize {
        let mut bytes = 0;
        let fits = |(record, _): &&(Record, Vec<i64>)| {
            bytes += approximate_size(record);
            bytes <= self.bytes
        };
        records.iter().take_while(fits).count().max(1)
    }

    fn send_step(
        &mut self,
        records: Vec<(Record, Vec<i64>)>,
        exchanged: &mut Exchanged,
        sent: &mut Option<Uid>,
    ) -> Result<Vec<i64>> {
        let (records, lines): (Vec<Record>, Vec<Vec<i64>>) = records.into_iter().unzip();
        self.store.note_sent(records.iter().map(Record::uid))?;
        let became = deliver_rows(self.team, self.sender, &records, &mut exchanged.refused)?;
        let mut done = Vec::new();
        for ((record, line), became) in records.iter().zip(lines).zip(became) {
            match became {
                Delivered::Waits => continue,
                Delivered::Done(Put::Forgotten) => exchanged.forgotten += line.len(),
                Delivered::Theirs => exchanged.theirs += line.len(),
                Delivered::Done(_) => {
                    exchanged.delivered += line.len();
                    *sent = Some(record.uid().to_owned());
                }
            }
            done.extend(line);
        }
        Ok(done)
    }
}

/// On the way, with the words for the search index.
fn approximate_size(record: &Record) -> usize {
    let texts = match record {
        Record::Log(row) => row.text.len() + row.prompt.len() + row.answer.len(),
        Record::Decision(row) => row.text.len() + row.reason.len(),
        Record::Project(_) | Record::Topic(_) | Record::Session(_) => 0,
    };
    500 + 2 * texts
}

/// A row that the server rejects must not hold up the others.
fn deliver_rows(
    team: &mut PostgresStore,
    sender: &Sender,
    records: &[Record],
    refused: &mut Option<String>,
) -> Result<Vec<Delivered>> {
    match team.deliver(sender, records) {
        Err(error) if error.kind == ErrorKind::Other => {}
        done => return done,
    }
    let mut became = Vec::with_capacity(records.len());
    for record in records {
        match team.deliver(sender, std::slice::from_ref(record)) {
            Ok(done) => became.extend(done),
            Err(error) if error.kind == ErrorKind::Other => {
                *refused = Some(error.what);
                became.push(Delivered::Waits);
            }
            Err(error) => return Err(error),
        }
    }
    Ok(became)
}

/// Removes what is private to this machine: numbers, offers, folders and the names of other MCP servers.
/// `root` is the folder of a log's session.
pub(super) fn without_private_fields(mut record: Record, root: Option<&str>) -> Record {
    match &mut record {
        Record::Project(row) => (row.id, row.key) = (None, None),
        Record::Topic(row) => (row.id, row.offered, row.offered_at) = (None, 0, None),
        Record::Decision(row) => row.id = None,
        Record::Session(row) => row.root.clear(),
        Record::Log(row) => {
            row.files = row.files.iter().filter_map(|path| path_in_project(path, root)).collect();
            let tools = std::mem::take(&mut row.tools);
            for (name, times) in tools {
                *row.tools.entry(public_tool_name(name)).or_default() += times;
            }
        }
    }
    record
}

/// A path relative to the project's folder; `None` if it is outside.
fn path_in_project(path: &str, root: Option<&str>) -> Option<String> {
    let path = Path::new(path);
    let below = match root.filter(|root| !root.is_empty()) {
        Some(root) if path.is_absolute() => path.strip_prefix(root).ok()?,
        _ => path,
    };
    let inside = below.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    inside.then(|| below.to_string_lossy().into_owned())
}

/// Hides the names of other MCP servers.
fn public_tool_name(name: String) -> String {
    let ours = ["mcp__tidegate__", "mcp__plugin_tidegate_tidegate__"];
    if name.starts_with("mcp__") && !ours.iter().any(|ours| name.starts_with(ours)) {
        return "mcp".to_owned();
    }
    name
}
