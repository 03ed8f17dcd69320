//! Delivers changes of this machine to the team, in their order.

use std::collections::BTreeMap;
use std::path::{Component, Path};

use super::{Exchanged, adopt_projects, with_project_uid};
use crate::error::{ErrorKind, Result};
use crate::postgres::{Delivered, PostgresStore, Sender};
use crate::record::{LogRow, Record, Uid};
use crate::sqlite::{Outgoing, OutgoingContent, SqliteStore};
use crate::store::Put;

/// Rows per transaction.
const BATCH: usize = 200;

/// Delivers at most `most` entries. Each batch leaves the outbox before the next one is sent.
pub(super) fn deliver_outbox(
    store: &mut SqliteStore,
    team: &mut PostgresStore,
    sender: &Sender,
    most: usize,
    exchanged: &mut Exchanged,
) -> Result<()> {
    let mut names: Option<BTreeMap<Uid, Uid>> = None;
    let mut batch = BATCH;
    while exchanged.delivered + exchanged.forgotten < most {
        // Deletions do not depend on earlier entries, so they go first.
        let (forgotten, uids): (Vec<i64>, Vec<Uid>) = store.outbox_forgotten(BATCH)?.into_iter().unzip();
        if !uids.is_empty() {
            // A deleted project frees its name, so names are looked up again.
            names = None;
            team.forget_uids(&uids)?;
            store.remove_delivered(&forgotten)?;
            exchanged.delivered += forgotten.len();
            continue;
        }
        let line = store.outbox(batch)?;
        let whole = line.len() < batch;
        if line.is_empty() {
            return Ok(());
        }
        let known = if let Some(known) = names.take() { known } else { adopt_projects(store, team)?.1 };
        // The renamed project may have another name in the team.
        let renames = line.iter().any(|one| matches!(&one.what, OutgoingContent::Row(Record::Project(_))));
        let done = send_rows(store, team, sender, &known, line, exchanged)?;
        names = Some(known).filter(|_| !renames);
        if done.is_empty() {
            if whole {
                // The rows they refer to are not in the outbox; they will be once those rows change.
                exchanged.waiting = batch.min(store.outbox_length()? as usize);
                return Ok(());
            }
            batch *= 2;
            continue;
        }
        store.remove_delivered(&done)?;
    }
    Ok(())
}

fn send_rows(
    store: &mut SqliteStore,
    team: &mut PostgresStore,
    sender: &Sender,
    names: &BTreeMap<Uid, Uid>,
    rows: Vec<Outgoing>,
    exchanged: &mut Exchanged,
) -> Result<Vec<i64>> {
    let mut done = Vec::new();
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
                let session = match &record {
                    Record::Log(LogRow { session: Some(uid), .. }) => store.session(uid)?,
                    _ => None,
                };
                let root = session.as_ref().map(|session| session.root.as_str());
                match with_project_uid(without_private_fields(record, root), names) {
                    Some(record) => records.push((record, vec![one.seq])),
                    None => done.push(one.seq),
                }
            }
            // Only the name of a project is shared, in `adopt_projects`.
            OutgoingContent::Row(Record::Project(_)) | OutgoingContent::Nothing => done.push(one.seq),
            // Queued just now; the next round sends it first.
            OutgoingContent::Forgotten(_) => {}
        }
    }
    let (records, lines): (Vec<Record>, Vec<Vec<i64>>) = records.into_iter().unzip();
    store.note_sent(records.iter().map(Record::uid))?;
    exchanged.refused = None;
    let became = deliver_rows(team, sender, &records, &mut exchanged.refused)?;
    exchanged.delivered += done.len();
    for (line, became) in lines.into_iter().zip(became) {
        match became {
            Delivered::Waits => continue,
            Delivered::Done(Put::Forgotten) => exchanged.forgotten += line.len(),
            Delivered::Done(_) => exchanged.delivered += line.len(),
        }
        done.extend(line);
    }
    Ok(done)
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
