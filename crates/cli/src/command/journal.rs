//! `tidegate journal`: the records, newest last.

use std::io::{Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use tidegate_core::record::Record;
use tidegate_core::time::Millis;
use tidegate_state::journal;

use super::Outcome;
use crate::args;
use crate::error::CliError;
use crate::print;
use crate::sessions::Here;

pub(crate) fn run(args: &args::Journal) -> Outcome {
    let here = Here::find()?;
    let matches = |record: &Record| {
        let session = args.session.as_ref().is_none_or(|id| record.session.as_ref() == Some(id));
        let policy =
            args.policy.as_ref().is_none_or(|id| record.verdicts.iter().any(|verdict| verdict.policy == *id));
        session && policy
    };
    let show = |record: &Record| if args.json { print::json(record) } else { print::line(&summary(record)) };

    let mut shown: Vec<Record> = Vec::new();
    let mut skipped = 0;
    let mut end = None;
    for path in journal::files(&here.state.journal()).map_err(CliError::new)?.iter().rev() {
        let entries =
            journal::read(path).map_err(|error| CliError::new(format!("{}: {error}", path.display())))?;
        if end.is_none() {
            end = Some(path.clone());
        }
        skipped += entries.skipped;
        let mut records: Vec<Record> = entries.records.into_iter().filter(matches).collect();
        records.extend(std::mem::take(&mut shown));
        shown = records;
        if shown.len() >= args.last {
            break;
        }
    }
    let start = shown.len().saturating_sub(args.last);
    for record in &shown[start..] {
        if !show(record) {
            return Ok(ExitCode::SUCCESS);
        }
    }
    if skipped > 0 {
        print::to_stderr(&format!(
            "note: {skipped} lines could not be read (torn, or written by a newer version)"
        ));
    }
    if args.follow {
        follow(&here, &|record| !matches(record) || show(record))?;
    } else if shown.is_empty() && !args.json {
        print::to_stderr("no records yet; `tidegate demo` shows what they look like");
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints what is appended from now on, until nobody reads any more.
fn follow(here: &Here, show: &dyn Fn(&Record) -> bool) -> Result<(), CliError> {
    let today = || {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        here.state.journal().join(format!("{}.jsonl", Millis(since.as_millis() as u64).day()))
    };
    let length = |path: &PathBuf| std::fs::metadata(path).map_or(0, |metadata| metadata.len());
    let mut path = today();
    let mut offset = length(&path);
    let mut rest = String::new();
    loop {
        std::thread::sleep(Duration::from_millis(200));
        if length(&path) > offset {
            let mut file = std::fs::File::open(&path).map_err(CliError::new)?;
            file.seek(SeekFrom::Start(offset)).map_err(CliError::new)?;
            let mut bytes = Vec::new();
            offset += file.read_to_end(&mut bytes).map_err(CliError::new)? as u64;
            rest.push_str(&String::from_utf8_lossy(&bytes));
            while let Some(end) = rest.find('\n') {
                let line: String = rest.drain(..=end).collect();
                if serde_json::from_str::<Record>(&line).is_ok_and(|record| !show(&record)) {
                    return Ok(());
                }
            }
        } else if today() != path {
            path = today();
            offset = 0;
        }
    }
}

/// One line a record.
pub(crate) fn summary(record: &Record) -> String {
    let time = record.at.get(11..19).unwrap_or(&record.at);
    let what = match (&record.tool, &record.cause) {
        (Some(detail), _) | (None, Some(detail)) => format!("{}({detail})", record.event),
        (None, None) => record.event.clone(),
    };
    let percent = record
        .meter
        .as_ref()
        .and_then(|meter| meter.used_pct)
        .map(|percent| format!("{}%", percent.round()))
        .unwrap_or_default();
    let agent = if record.agent.is_some() { " in a subagent" } else { "" };
    let said = match (&record.failure, &record.said.model, &record.said.user) {
        (Some(failure), _, _) => format!(
            "  could not check: {}{}",
            failure.step,
            if failure.closed { " (gate closed)" } else { "" }
        ),
        (None, Some(text), _) | (None, None, Some(text)) => format!("  \"{}\"", shorten(text)),
        _ => String::new(),
    };
    format!(
        "{time}  {:<19}{:<10} {percent:>4}  {:>6}  {what}{agent}{said}",
        record.id,
        record.ruling,
        format!("{}µs", record.cost.us)
    )
}

fn shorten(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    if line.chars().count() <= 60 {
        line.to_owned()
    } else {
        line.chars().take(59).collect::<String>() + "…"
    }
}
