//! Tells the team what happened here, in that order.

use std::collections::BTreeMap;
use std::path::{Component, Path};

use super::{Told, adopt, renamed};
use crate::error::{ErrorKind, Result};
use crate::postgres::{Delivered, PostgresStore, Sender};
use crate::record::{Log, Record, Uid};
use crate::sqlite::{Outgoing, Sent, SqliteStore};
use crate::store::Put;

/// How many things go in one transaction.
const BATCH: usize = 200;

/// Tells at most so many things. What the team knows is out of the line before the next is sent.
pub(super) fn deliver(
    store: &mut SqliteStore,
    team: &mut PostgresStore,
    sender: &Sender,
    most: usize,
    told: &mut Told,
) -> Result<()> {
    let mut names: Option<BTreeMap<Uid, Uid>> = None;
    let mut batch = BATCH;
    while told.delivered + told.forgotten < most {
        // What is to be forgotten needs nothing that is before it in line, and waits for nothing there.
        let (forgotten, uids): (Vec<i64>, Vec<Uid>) = store.outbox_forgotten(BATCH)?.into_iter().unzip();
        if !uids.is_empty() {
            // With a project its name may have gone; whoever shares one of that name again is asked anew.
            names = None;
            team.forget_uids(&uids)?;
            store.delivered(&forgotten)?;
            told.delivered += forgotten.len();
            continue;
        }
        let line = store.outbox(batch)?;
        let whole = line.len() < batch;
        if line.is_empty() {
            return Ok(());
        }
        let known = if let Some(known) = names.take() { known } else { adopt(store, team)?.1 };
        // A project may have got another name.
        let renames = line.iter().any(|one| matches!(&one.what, Sent::Row(Record::Project(_))));
        let done = send(store, team, sender, &known, line, told)?;
        names = Some(known).filter(|_| !renames);
        if done.is_empty() {
            if whole {
                // What they refer to is not in line: it will be once somebody changes it.
                told.waiting = batch.min(store.outbox_length()? as usize);
                return Ok(());
            }
            batch *= 2;
            continue;
        }
        store.delivered(&done)?;
    }
    Ok(())
}

fn send(
    store: &mut SqliteStore,
    team: &mut PostgresStore,
    sender: &Sender,
    names: &BTreeMap<Uid, Uid>,
    rows: Vec<Outgoing>,
    told: &mut Told,
) -> Result<Vec<i64>> {
    let mut done = Vec::new();
    // A row that is in line several times is the same each time: as it is now.
    let mut records: Vec<(Record, Vec<i64>)> = Vec::new();
    for one in rows {
        match one.what {
            Sent::Row(
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
                    Record::Log(Log { session: Some(uid), .. }) => store.session(uid)?,
                    _ => None,
                };
                let root = session.as_ref().map(|session| session.root.as_str());
                match renamed(for_team(record, root), names) {
                    Some(record) => records.push((record, vec![one.seq])),
                    None => done.push(one.seq),
                }
            }
            // A project is told by its name, and nothing else of it.
            Sent::Row(Record::Project(_)) | Sent::Nothing => done.push(one.seq),
            // It came into line a moment ago, and goes first the next time.
            Sent::Forgotten(_) => {}
        }
    }
    let (records, lines): (Vec<Record>, Vec<Vec<i64>>) = records.into_iter().unzip();
    store.will_tell(records.iter().map(Record::uid))?;
    told.refused = None;
    let became = take(team, sender, &records, &mut told.refused)?;
    told.delivered += done.len();
    for (line, became) in lines.into_iter().zip(became) {
        match became {
            Delivered::Waits => continue,
            Delivered::Done(Put::Forgotten) => told.forgotten += line.len(),
            Delivered::Done(_) => told.delivered += line.len(),
        }
        done.extend(line);
    }
    Ok(done)
}

/// Where the server cannot take a row, whatever it is about it, the others must not wait for it.
fn take(
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

/// Without what is this machine's own business: its numbers, what it offered to its sessions, where its folders are, and which
/// servers of other tools it has. `root` is the folder of a log's session.
pub(super) fn for_team(mut record: Record, root: Option<&str>) -> Record {
    match &mut record {
        Record::Project(row) => (row.id, row.key) = (None, None),
        Record::Topic(row) => (row.id, row.offered, row.offered_at) = (None, 0, None),
        Record::Decision(row) => row.id = None,
        Record::Session(row) => row.root.clear(),
        Record::Log(row) => {
            row.files = row.files.iter().filter_map(|path| in_project(path, root)).collect();
            let tools = std::mem::take(&mut row.tools);
            for (name, times) in tools {
                *row.tools.entry(tool(name)).or_default() += times;
            }
        }
    }
    record
}

/// A path from the project's folder on; `None` where it leads elsewhere.
fn in_project(path: &str, root: Option<&str>) -> Option<String> {
    let path = Path::new(path);
    let below = match root.filter(|root| !root.is_empty()) {
        Some(root) if path.is_absolute() => path.strip_prefix(root).ok()?,
        _ => path,
    };
    let inside = below.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    inside.then(|| below.to_string_lossy().into_owned())
}

/// What a tool is called; of another server's only that it is one.
fn tool(name: String) -> String {
    let ours = ["mcp__tidegate__", "mcp__plugin_tidegate_tidegate__"];
    if name.starts_with("mcp__") && !ours.iter().any(|ours| name.starts_with(ours)) {
        return "mcp".to_owned();
    }
    name
}
