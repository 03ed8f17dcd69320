//! `tidegate journal`: every record, newest last, with ids and times in UTC. `tidegate log` is for people.

use std::process::ExitCode;
use std::time::Duration;
use tidegate_core::text::cut::cut_to;

use tidegate_core::feature::activity::classifier::Phase;
use tidegate_core::feature::config::former_names::current_policy;
use tidegate_core::host::Host;
use tidegate_core::pipeline::record::{BackendCall, MeterRecord, Record};
use tidegate_state::clock;
use tidegate_state::journal::{self, Follower};

use super::Outcome;
use crate::bilingual::{Bilingual, both, count_en};
use crate::error::CliError;
use crate::print;
use crate::print::page::Page;
use crate::sessions::Here;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate journal                        the last 20 records
  tidegate journal --follow               keep printing new ones
  tidegate journal --policy context-warning --last 100
  tidegate journal --json | jq .ruling")]
pub(crate) struct Args {
    /// Wait for more records
    #[arg(long, short)]
    pub(crate) follow: bool,
    /// Only this session
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// All projects, not only this one
    #[arg(long)]
    pub(crate) all: bool,
    /// Only records that this policy took part in
    #[arg(long, value_name = "ID")]
    pub(crate) policy: Option<String>,
    /// Number of records
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) last: usize,
    /// Print the records as they are written
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn run(args: &Args) -> Outcome {
    let here = Here::find()?;
    let session = args.session.as_deref().map(|typed| here.complete_name(typed));
    let matches = |record: &Record| {
        let took_part = |id: &str| record.verdicts.iter().any(|verdict| verdict.policy == id);
        let policy = args.policy.as_deref().map(current_policy).is_none_or(took_part);
        here.concerns(record, session.as_deref(), args.all) && policy
    };
    let show = |records: &[Record]| {
        let mut records = records.iter();
        records.all(
            |record| {
                if args.json { print::json(record) } else { print::line(&summarize_record(record)) }
            },
        )
    };
    let found = show_records(&here, args.last, args.follow, &matches, &show)?;
    if found == 0 && !args.json {
        Page::of(if args.all {
            both!("no records yet", "記録はまだありません")
        } else {
            both!(
                "no records of this project yet; --all shows every project's",
                "このプロジェクトの記録はまだありません。--all ですべてのプロジェクトを表示します"
            )
        })
        .print_to_stderr();
    }
    Ok(ExitCode::SUCCESS)
}

/// Shows the newest records, oldest first, and waits for more if wanted. `show` returns `false` once the reader is gone.
/// Returns how many there were.
pub(super) fn show_records(
    here: &Here,
    last: usize,
    follow: bool,
    matches: &dyn Fn(&Record) -> bool,
    show: &dyn Fn(&[Record]) -> bool,
) -> Result<usize, CliError> {
    // Before the listing: records written in between are then shown twice rather than never.
    let follower = Follower::from_here(&here.state.journal(), clock::now());
    let mut found: Vec<Record> = Vec::new();
    let mut skipped = 0;
    for path in journal::list_files(&here.state.journal()).map_err(CliError::from)?.iter().rev() {
        let entries = journal::read(path)
            .map_err(|error| CliError::from(error).prefixed(&Bilingual::data(path.display())))?;
        skipped += entries.skipped;
        let mut records: Vec<Record> = entries.records.into_iter().filter(matches).collect();
        records.extend(std::mem::take(&mut found));
        found = records;
        if found.len() >= last {
            break;
        }
    }
    let start = found.len().saturating_sub(last);
    if !show(&found[start..]) {
        return Ok(found.len());
    }
    if skipped > 0 {
        Page::of(both!(
            "note: {lines} of the journal could not be read (damaged, or written by a newer version)",
            "注意: 記録のうち{skipped}行は読めませんでした（壊れているか、新しい版が書いたものです）",
            lines = count_en(skipped, "line")
        ))
        .print_to_stderr();
    }
    if follow {
        wait_for_more(follower, matches, show)?;
    }
    Ok(found.len())
}

/// Until the reader is gone.
fn wait_for_more(
    mut follower: Follower,
    matches: &dyn Fn(&Record) -> bool,
    show: &dyn Fn(&[Record]) -> bool,
) -> Result<(), CliError> {
    loop {
        let entries = follower.next(clock::now()).map_err(CliError::from)?;
        let records: Vec<Record> = entries.records.into_iter().filter(matches).collect();
        if !show(&records) {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// One line per record.
pub(crate) fn summarize_record(record: &Record) -> String {
    let time = record.at.get(11..19).unwrap_or(&record.at);
    let what = match (&record.tool, &record.cause) {
        (Some(detail), _) | (None, Some(detail)) => format!("{}({detail})", record.event),
        (None, None) => record.event.clone(),
    };
    let percent = record
        .meter
        .as_ref()
        .and_then(MeterRecord::shown_pct)
        .map(|percent| format!("{percent}%"))
        .unwrap_or_default();
    let agent = if record.agent.is_some() { " in a subagent" } else { "" };
    let said = match (&record.failure, &record.said.model, &record.said.user) {
        _ if record.ruling == "foreign" => format!("  {}: not checked", Host::title(&record.host)),
        _ if record.ruling == "not-client" => "  not called by the client: nothing was changed".to_owned(),
        _ if record.backend.is_some() => record.backend.as_ref().map(describe_call).unwrap_or_default(),
        (Some(failure), _, _) => format!(
            "  could not check: {}{}",
            failure.step,
            if failure.closed { " (gate closed)" } else { "" }
        ),
        (None, Some(text), _) | (None, None, Some(text)) => format!("  \"{}\"", shorten_text(text)),
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

fn describe_call(call: &BackendCall) -> String {
    let came = call.phase.map_or(call.outcome.name(), Phase::name);
    format!("  {} {}: {came}, {} ms", call.backend, call.model, call.ms)
}

fn shorten_text(text: &str) -> String {
    cut_to(text.lines().next().unwrap_or_default(), 60).into_owned()
}
