//! `tidegate journal`: the records, newest last.

use std::process::ExitCode;
use std::time::Duration;

use tidegate_core::feature::activity::classifier::Phase;
use tidegate_core::host::Host;
use tidegate_core::pipeline::record::{BackendCall, Record};
use tidegate_core::text::cut::cut_to;
use tidegate_state::clock;
use tidegate_state::journal::{self, Follow};

use super::Outcome;
use crate::args;
use crate::error::CliError;
use crate::print;
use crate::sessions::Here;

pub(crate) fn run(args: &args::Journal) -> Outcome {
    let here = Here::find()?;
    let matches = |record: &Record| {
        let policy =
            args.policy.as_ref().is_none_or(|id| record.verdicts.iter().any(|verdict| verdict.policy == *id));
        here.concerns(record, args.session.as_deref(), args.all) && policy
    };
    let show = |record: &Record| if args.json { print::json(record) } else { print::line(&summary(record)) };

    // Before the listing: what is written in between is then shown twice rather than never.
    let follow = Follow::from_here(&here.state.journal(), clock::now());
    let mut shown: Vec<Record> = Vec::new();
    let mut skipped = 0;
    for path in journal::files(&here.state.journal()).map_err(CliError::new)?.iter().rev() {
        let entries =
            journal::read(path).map_err(|error| CliError::new(format!("{}: {error}", path.display())))?;
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
        go_on(follow, &|record| !matches(record) || show(record))?;
    } else if shown.is_empty() && !args.json {
        print::to_stderr(if args.all {
            "no records yet; `tidegate demo` shows what they look like"
        } else {
            "no records of this project yet; --all shows every project's"
        });
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints what is appended from now on, until nobody reads any more.
fn go_on(mut follow: Follow, show: &dyn Fn(&Record) -> bool) -> Result<(), CliError> {
    loop {
        let entries = follow.next(clock::now()).map_err(CliError::new)?;
        if !entries.records.iter().all(show) {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(200));
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
        _ if record.ruling == "foreign" => format!("  {}: not checked", Host::title(&record.host)),
        _ if record.ruling == "not-client" => "  not called by the client: nothing was changed".to_owned(),
        _ if record.backend.is_some() => record.backend.as_ref().map(asked).unwrap_or_default(),
        (Some(failure), _, _) => format!(
            "  could not check: {}{}",
            failure.step,
            if failure.closed { " (gate closed)" } else { "" }
        ),
        (None, Some(text), _) | (None, None, Some(text)) => format!("  \"{}\"", shorten(text)),
        _ => String::new(),
    };
    let line = format!(
        "{time}  {:<19}{:<10} {percent:>4}  {:>6}  {what}{agent}{said}",
        record.id,
        record.ruling,
        format!("{}µs", record.cost.us)
    );
    // A tool's name may hold a line break; one record stays one line.
    line.replace('\n', " ")
}

/// What came of asking a language model.
fn asked(call: &BackendCall) -> String {
    let came = call.phase.map_or(call.outcome.name(), Phase::name);
    format!("  {} {}: {came}, {} ms", call.backend, call.model, call.ms)
}

fn shorten(text: &str) -> String {
    cut_to(text.lines().next().unwrap_or_default(), 60).into_owned()
}
