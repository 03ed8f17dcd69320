//! `tidegate memory import`: all of it, or none.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::process::ExitCode;

use serde::Serialize;
use tidegate_core::redact::redact_in_place;
use tidegate_core::time::Millis;
use tidegate_memory::record::Record;
use tidegate_memory::store::{Put, Store};

use super::arguments::Import;
use super::{Opened, line};
use crate::approval;
use crate::command::Outcome;
use crate::error::CliError;
use crate::print;

/// How many bad lines are named.
const NAMED: usize = 10;

#[derive(Serialize)]
struct Imported {
    new: usize,
    changed: usize,
    kept: usize,
    forgotten: usize,
    /// Rows here that the import would replace, and that stay as they are: no person agreed.
    left: usize,
}

pub(super) fn run(args: &Import) -> Outcome {
    let (records, bad) = match args.file.as_deref().filter(|file| *file != Path::new("-")) {
        None => read(&mut io::stdin().lock())?,
        Some(file) => {
            let opened =
                File::open(file).map_err(|error| CliError::new(format!("{}: {error}", file.display())))?;
            read(&mut BufReader::new(opened))?
        }
    };
    if !bad.is_empty() {
        let named: Vec<String> =
            bad.iter().take(NAMED).map(|(number, why)| format!("line {number}: {why}")).collect();
        let more = bad.len().saturating_sub(NAMED);
        let more = if more > 0 { format!("\n  and {more} more") } else { String::new() };
        return Err(CliError::new(format!("nothing was imported\n  {}{more}", named.join("\n  ")))
            .hint("mend these lines, or take them out, and import it again: what is there already stays"));
    }
    let mut opened = Opened::open()?;
    let (records, left) = agreed(&mut opened, records)?;
    let puts = opened
        .memory
        .put(&in_order(records))
        .map_err(|error| CliError::from(error).prefixed("nothing was imported"))?;
    let count = |wanted: Put| puts.iter().filter(|put| **put == wanted).count();
    let imported = Imported {
        new: count(Put::New),
        changed: count(Put::Changed),
        kept: count(Put::Kept),
        forgotten: count(Put::Forgotten),
        left,
    };
    if args.json {
        print::json(&imported);
    } else {
        let Imported { new, changed, kept, forgotten, left } = imported;
        print::line(&format!(
            "{new} rows are new, {changed} changed, {kept} were there, {forgotten} stay forgotten"
        ));
        if left > 0 {
            print::line(&format!(
                "{left} rows here differ and stay as they are. To be asked about them, run `tidegate memory import FILE` \
                 yourself at a terminal."
            ));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Without the rows that would replace one here, unless a person agrees; and how many those are. Whoever can write a file could
/// otherwise change what was decided.
fn agreed(opened: &mut Opened, records: Vec<Record>) -> Result<(Vec<Record>, usize), CliError> {
    let name = |record: &Record| (record.kind(), record.uid().to_owned());
    let named: BTreeMap<(&str, String), &Record> =
        records.iter().map(|record| (name(record), record)).collect();
    let mut replacing: BTreeSet<(&str, String)> = BTreeSet::new();
    opened.memory.each(&mut |here| {
        let newer = named.get(&name(&here));
        if newer.is_some_and(|newer| **newer != here && times(newer)[1] > times(&here)[1]) {
            replacing.insert(name(&here));
        }
        Ok(())
    })?;
    if replacing.is_empty() {
        return Ok((records, 0));
    }
    let mut would = vec![format!("The import would replace {} rows that are here already:", replacing.len())];
    would.extend(replacing.iter().take(NAMED).map(|(kind, uid)| format!("  {kind} {uid}")));
    would.extend((replacing.len() > NAMED).then(|| format!("  and {} more", replacing.len() - NAMED)));
    if approval::is_agreed(&opened.here, "memory import", &would)? {
        return Ok((records, 0));
    }
    let kept = records.into_iter().filter(|record| !replacing.contains(&name(record)));
    Ok((kept.collect(), replacing.len()))
}

/// A line that is no row: its number, and why.
type Bad = (usize, String);

/// Rows, and lines that are none.
fn read(from: &mut impl BufRead) -> Result<(Vec<Record>, Vec<Bad>), CliError> {
    let mut records = Vec::new();
    let mut bad = Vec::new();
    let mut bytes = Vec::new();
    for number in 1.. {
        bytes.clear();
        if from
            .read_until(b'\n', &mut bytes)
            .map_err(|error| CliError::new(format!("line {number}: {error}")))?
            == 0
        {
            break;
        }
        if bytes.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        match serde_json::from_slice::<Record>(&bytes) {
            Ok(record) if !is_named(&record) => bad.push((number, "the uid is empty or too long".to_owned())),
            Ok(record) if times(&record).into_iter().any(|at| at > LATEST) => {
                bad.push((number, "a time is thousands of years from now".to_owned()));
            }
            Ok(mut record) => {
                clean(&mut record);
                records.push(record);
            }
            Err(error) => bad.push((number, line(&error.to_string(), 200))),
        }
    }
    Ok((records, bad))
}

/// The end of the year 9999. Of two versions the later counts, so nothing could ever be changed that is later than any.
const LATEST: Millis = Millis(253_402_300_799_999);

fn times(record: &Record) -> [Millis; 3] {
    match record {
        Record::Project(row) => [row.created, row.updated, row.updated],
        Record::Topic(row) => [row.created, row.updated, row.offered_at.unwrap_or_default()],
        Record::Session(row) => [row.created, row.updated, row.updated],
        Record::Log(row) => [row.at, row.updated, row.updated],
        Record::Decision(row) => [row.created, row.updated, row.retracted.unwrap_or_default()],
    }
}

fn is_named(record: &Record) -> bool {
    (1..=200).contains(&record.uid().len())
}

/// What was exported here is clean; what comes from elsewhere need not be.
fn clean(record: &mut Record) {
    let mut found = tidegate_core::redact::Found::default();
    match record {
        Record::Topic(row) => redact_in_place(&mut row.title, &mut found),
        Record::Decision(row) => {
            redact_in_place(&mut row.text, &mut found);
            redact_in_place(&mut row.reason, &mut found);
        }
        Record::Log(row) => {
            for text in [&mut row.title, &mut row.text, &mut row.prompt, &mut row.answer] {
                redact_in_place(text, &mut found);
            }
            for (kind, count) in found.iter() {
                *row.redacted.entry(kind.name().to_owned()).or_default() += count;
            }
        }
        Record::Project(_) | Record::Session(_) => {}
    }
}

/// So that what is referred to comes first, whatever order the lines had.
fn in_order(records: Vec<Record>) -> Vec<Record> {
    let kinds = ["project", "topic", "session", "log", "decision"];
    let mut by_kind: [Vec<Record>; 5] = Default::default();
    for record in records {
        let place = kinds.iter().position(|kind| *kind == record.kind()).unwrap_or_default();
        by_kind[place].push(record);
    }
    let [projects, topics, sessions, logs, decisions] = by_kind;
    let topics = after_others(topics, |record| match record {
        Record::Topic(row) => row.parent.as_deref(),
        _ => None,
    });
    let decisions = after_others(decisions, |record| match record {
        Record::Decision(row) => row.supersedes.as_deref(),
        _ => None,
    });
    [projects, topics, sessions, logs, decisions].into_iter().flatten().collect()
}

/// Each after the one that it refers to, where that is among them.
fn after_others(mut rows: Vec<Record>, refers: fn(&Record) -> Option<&str>) -> Vec<Record> {
    let mut waiting: BTreeSet<String> = rows.iter().map(|row| row.uid().to_owned()).collect();
    let mut ordered = Vec::with_capacity(rows.len());
    while !rows.is_empty() {
        let (ready, rest): (Vec<Record>, Vec<Record>) =
            rows.into_iter().partition(|row| refers(row).is_none_or(|uid| !waiting.contains(uid)));
        rows = rest;
        if ready.is_empty() {
            // They refer to each other in a circle: the store refuses that and says so.
            ordered.append(&mut rows);
        }
        for row in &ready {
            waiting.remove(row.uid());
        }
        ordered.extend(ready);
    }
    ordered
}
