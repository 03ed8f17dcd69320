//! `tidegate report`: outcomes of the policies' interruptions.

use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;

use serde::Serialize;
use tidegate_core::pipeline::friction::{SpokenCounts, Tally, tally_interruptions};
use tidegate_core::pipeline::record::{BackendCall, BackendOutcome, Record};
use tidegate_core::time::Millis;
use tidegate_state::journal::friction;

use super::Outcome;
use super::boundaries::{self, Boundaries, Boundary};
use crate::error::CliError;
use crate::print::{self, format_count};
use crate::sessions::Here;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate report                         this project, last 30 days
  tidegate report --days 7 --all          every project
  tidegate report --session 91b38a40-…
  tidegate report --json | jq '.policies[] | {policy, satisfied, ignored}'

")]
pub(crate) struct Args {
    /// Number of days, including today
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3650))]
    pub(crate) days: u64,
    /// Only this session
    #[arg(long, value_name = "ID", conflicts_with = "all")]
    pub(crate) session: Option<String>,
    /// All projects, not only this one
    #[arg(long)]
    pub(crate) all: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Serialize)]
struct FrictionReport {
    /// Absent for all projects.
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    /// The first day that was read, in UTC.
    since: String,
    hook_runs: usize,
    sessions: usize,
    policies: Vec<Tally>,
    /// Policies that only advise in this project.
    stepped_down: Vec<String>,
    /// Compactions, oldest first.
    boundaries: Vec<Boundary>,
    failures: Failures,
    /// Language models that were asked about prompts.
    #[serde(skip_serializing_if = "Backend::is_empty")]
    backend: Backend,
    #[serde(skip_serializing_if = "Option::is_none")]
    latency_us: Option<Latency>,
    /// Of the journal.
    unreadable_lines: usize,
    unreadable_files: usize,
}

/// Failed checks.
#[derive(Default, Serialize)]
struct Failures {
    all: usize,
    /// Of them, those that closed a gate.
    closed: usize,
    by_class: BTreeMap<String, usize>,
}

/// Calls of language models about prompts.
#[derive(Default, Serialize)]
struct Backend {
    calls: usize,
    answered: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    median_ms: Option<u64>,
    /// As far as backends reported them.
    tokens: u64,
    by_outcome: BTreeMap<&'static str, usize>,
    #[serde(skip)]
    ms: Vec<u64>,
}

impl Backend {
    fn is_empty(&self) -> bool {
        self.by_outcome.is_empty()
    }

    fn take(&mut self, call: &BackendCall) {
        *self.by_outcome.entry(call.outcome.name()).or_default() += 1;
        if call.outcome.was_asked() {
            self.calls += 1;
            self.answered += usize::from(call.outcome == BackendOutcome::Answered);
            self.tokens += call.input_tokens.unwrap_or_default() + call.output_tokens.unwrap_or_default();
            self.ms.push(call.ms);
        }
    }

    fn finish(mut self) -> Backend {
        self.ms.sort_unstable();
        self.median_ms = self.ms.len().checked_sub(1).map(|last| self.ms[last / 2]);
        self
    }

    fn line(&self) -> String {
        let others = self.by_outcome.iter().filter(|(outcome, _)| **outcome != "answered");
        let others: Vec<String> = others.map(|(outcome, number)| format!("{outcome} {number}")).collect();
        let others = if others.is_empty() { String::new() } else { format!(" ({})", others.join(", ")) };
        let median = self.median_ms.map(|ms| format!(", median {}", format_time(ms))).unwrap_or_default();
        let tokens = if self.tokens == 0 { String::new() } else { format!(", {} tokens", self.tokens) };
        format!(
            "the backend of phases: {}, {}{others}{median}{tokens}",
            format_count(self.calls, "call"),
            format_count(self.answered, "answer")
        )
    }
}

#[derive(Serialize)]
struct Latency {
    median: u64,
    p95: u64,
    p99: u64,
    longest: u64,
}

impl Latency {
    fn of(mut micros: Vec<u64>) -> Option<Latency> {
        micros.sort_unstable();
        let at = |percent: usize| micros.get((micros.len() * percent).div_ceil(100).checked_sub(1)?).copied();
        Some(Latency { median: at(50)?, p95: at(95)?, p99: at(99)?, longest: at(100)? })
    }
}

pub(crate) fn run(args: &Args) -> Outcome {
    let here = Here::find()?;
    let report = read_report(&here, args)?;
    if args.json {
        print::json(&report);
        return Ok(ExitCode::SUCCESS);
    }
    for line in describe_report(&report) {
        if !print::line(&line) {
            break;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn read_report(here: &Here, args: &Args) -> Result<FrictionReport, CliError> {
    let (mut hook_runs, mut sessions, mut micros) = (0, BTreeSet::new(), Vec::new());
    let (mut failures, mut backend) = (Failures::default(), Backend::default());
    let mut boundaries = Boundaries::default();
    let session = args.session.as_deref().map(|named| find_session(here, named, args.days)).transpose()?;
    // All records settle interruptions; only the selected ones are counted.
    let see = |record: &Record| {
        if record.ruling == "command" || !here.concerns(record, session.as_deref(), args.all) {
            return;
        }
        if let Some(call) = &record.backend {
            backend.take(call);
            return;
        }
        hook_runs += 1;
        boundaries.take(record);
        if let Some(id) = record.session.as_ref().filter(|id| !sessions.contains(*id)) {
            sessions.insert(id.clone());
        }
        // Runs that kept out of the way did not measure their time.
        micros.extend(Some(record.cost.us).filter(|us| *us > 0));
        if let Some(failure) = &record.failure {
            failures.all += 1;
            failures.closed += usize::from(failure.closed);
            *failures.by_class.entry(failure.class.clone()).or_default() += 1;
        }
    };
    let (friction, unread) =
        friction::read(&here.state, here.now, args.days, u64::MAX, see).map_err(CliError::new)?;
    let root = here.root.as_ref().map(|root| root.to_string_lossy().into_owned());
    let interruptions = friction.finish(here.now);
    let meant = interruptions.iter().filter(|said| match &session {
        Some(id) => said.session.as_ref() == Some(id),
        None => args.all || said.project.is_none() || said.project == root,
    });
    let one_project = !args.all && session.is_none();
    let policies = tally_interruptions(meant);
    Ok(FrictionReport {
        project: root.filter(|_| one_project),
        session,
        since: Millis(here.now.0.saturating_sub((args.days - 1) * 86_400_000)).day(),
        hook_runs,
        sessions: sessions.len(),
        policies,
        stepped_down: if one_project { here.config.stepped_down.clone() } else { Vec::new() },
        boundaries: boundaries.finish(),
        failures,
        backend: backend.finish(),
        latency_us: Latency::of(micros),
        unreadable_lines: unread.lines,
        unreadable_files: unread.files,
    })
}

/// Accepts the beginning of an id.
fn find_session(here: &Here, named: &str, days: u64) -> Result<String, CliError> {
    let named = named.trim_end_matches('…');
    let mut found = BTreeSet::new();
    let see = |record: &Record| {
        found.extend(record.session.as_ref().filter(|id| id.starts_with(named)).cloned());
    };
    friction::read(&here.state, here.now, days, u64::MAX, see).map_err(CliError::new)?;
    if found.contains(named) {
        return Ok(named.to_owned());
    }
    let mut found = found.into_iter();
    match (found.next(), found.next()) {
        (Some(only), None) => Ok(only),
        (Some(_), Some(_)) => Err(CliError::new(format!("more than one session begins with `{named}`"))
            .hint("write more of its id")),
        (None, _) => {
            let when = if days == 1 { "today".to_owned() } else { format!("in the last {days} days") };
            Err(CliError::new(format!("no session `{named}` was seen {when}"))
                .hint("--days looks further back; `tidegate journal --all` lists what was seen"))
        }
    }
}

fn describe_report(report: &FrictionReport) -> Vec<String> {
    let place = match (&report.session, &report.project) {
        (Some(id), _) => format!("in session {id}"),
        (None, Some(project)) => format!("in {project}"),
        (None, None) => "in all projects".to_owned(),
    };
    let mut lines = vec![format!(
        "What became of what was said {place}, since {}: {} in {}",
        report.since,
        format_count(report.hook_runs, "hook run"),
        format_count(report.sessions, "session")
    )];
    let spoke: Vec<&Tally> = report.policies.iter().filter(|tally| tally.spoke.total() > 0).collect();
    let only_recorded = report.policies.iter().any(|tally| tally.shadow.is_some());
    lines.push(String::new());
    if spoke.is_empty() && only_recorded {
        lines.push("no policy has spoken; what was only recorded:".to_owned());
    } else if spoke.is_empty() {
        lines.push("no policy has spoken".to_owned());
    } else {
        lines.extend(draw_table(&spoke));
        lines.push(String::new());
        // Policies without effect come first.
        let (void, heard): (Vec<&Tally>, Vec<&Tally>) = spoke.iter().partition(|tally| tally.is_void());
        lines.extend(void.into_iter().chain(heard).map(in_words));
    }
    for tally in &report.policies {
        lines.extend(describe_shadow(tally));
    }
    for policy in &report.stepped_down {
        lines.push(format!(
            "{policy} only advises here since people overrode it so often; `tidegate on {policy}` lets it block again"
        ));
    }
    lines.push(String::new());
    lines.extend(boundaries::describe_boundaries(&report.boundaries));
    lines.push(describe_failures(&report.failures));
    lines.extend((!report.backend.is_empty()).then(|| report.backend.line()));
    if let Some(Latency { median, p95, p99, longest }) = &report.latency_us {
        let ms = |micros: &u64| format!("{}.{} ms", micros / 1000, micros % 1000 / 100);
        lines.push(format!(
            "hook runs took {} (median), {} (95%), {} (99%), at most {}",
            ms(median),
            ms(p95),
            ms(p99),
            ms(longest)
        ));
    }
    if report.unreadable_lines + report.unreadable_files > 0 {
        lines.push(format!(
            "note: {} and {} of the journal could not be read",
            format_count(report.unreadable_lines, "line"),
            format_count(report.unreadable_files, "file")
        ));
    }
    lines
}

/// Fits 80 columns with numbers of the usual size.
const COLUMNS: [&str; 10] =
    ["policy", "spoke", "done", "ignored", "bypassed", "overridden", "open", "within", "turns", "tokens"];

fn draw_table(tallies: &[&Tally]) -> Vec<String> {
    let row = |tally: &&Tally| -> Vec<String> {
        // A policy that asks for nothing has nothing to settle.
        let asks = tally.spoke.total() > tally.unasked + tally.unknown;
        let settled = |number: usize| if asks { number.to_string() } else { "-".to_owned() };
        vec![
            format!("{}{}", tally.policy, if tally.is_void() { " !" } else { "" }),
            tally.spoke.total().to_string(),
            settled(tally.satisfied),
            settled(tally.ignored),
            settled(tally.bypassed),
            settled(tally.overridden),
            settled(tally.open),
            tally.median_ms.map_or_else(|| "-".to_owned(), format_time),
            tally.forced_turns.to_string(),
            format!("~{}", tally.tokens),
        ]
    };
    let mut rows = vec![COLUMNS.map(str::to_owned).to_vec()];
    rows.extend(tallies.iter().map(row));
    let width = |at: usize| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or_default();
    let widths: Vec<usize> = (0..COLUMNS.len()).map(width).collect();
    let line = |row: &Vec<String>| {
        let cell = |(at, text): (usize, &String)| match at {
            0 => format!("{text:<width$}", width = widths[at]),
            _ => format!("{text:>width$}", width = widths[at]),
        };
        row.iter().enumerate().map(cell).collect::<Vec<_>>().join(" ")
    };
    rows.iter().map(line).collect()
}

/// In its largest unit.
fn format_time(ms: u64) -> String {
    match ms / 1000 {
        0 => format!("{ms} ms"),
        seconds @ 1..=119 => format!("{seconds} s"),
        seconds @ 120..=7199 => format!("{} min", seconds / 60),
        seconds => format!("{} h", seconds / 3600),
    }
}

fn in_words(tally: &Tally) -> String {
    let Tally { policy, satisfied, .. } = tally;
    let how = describe_ways(tally.spoke);
    let settled = tally.settled();
    if tally.spoke.total() == tally.unasked {
        return format!("{policy}: {how}; it asks for nothing that could be settled");
    }
    if tally.spoke.total() == tally.unasked + tally.unknown {
        return format!(
            "{policy}: {how}; what it asked for was not written down, so what became of it is not known"
        );
    }
    if tally.is_void() {
        return format!(
            "! {policy} speaks into the void: {how}, and {satisfied} of {settled} led to what it asked for"
        );
    }
    let turn = match tally.median_turns {
        Some(0) => ", mostly within the same turn",
        Some(_) => ", mostly in a later turn",
        None => "",
    };
    match settled {
        0 => format!("{policy}: {how}; what becomes of it is not known yet"),
        _ => format!("{policy}: {how}; {satisfied} of {settled} led to what it asked for{turn}"),
    }
}

fn describe_ways(spoke: SpokenCounts) -> String {
    let ways = [
        (spoke.denied, "denied"),
        (spoke.blocked, "blocked"),
        (spoke.asked, "asked a person"),
        (spoke.advised, "told the model"),
        (spoke.told, "told the person"),
    ];
    let ways = ways.iter().filter(|(times, _)| *times > 0).map(|(times, what)| format!("{what} {times}×"));
    ways.collect::<Vec<_>>().join(", ")
}

/// Calls that a log-only policy would have made.
fn describe_shadow(tally: &Tally) -> Option<String> {
    let would = tally.shadow?;
    let settled = match would.anyway + would.not {
        0 => String::new(),
        all => format!("; in {} of {all} what it asks for was done anyway", would.anyway),
    };
    Some(format!("{} (shadow) would have {}{settled}", tally.policy, describe_ways(would.spoken)))
}

fn describe_failures(failures: &Failures) -> String {
    if failures.all == 0 {
        return "every check could be made".to_owned();
    }
    let classes: Vec<String> =
        failures.by_class.iter().map(|(class, number)| format!("{class} {number}")).collect();
    format!(
        "{} could not be made ({}); {} closed a gate",
        format_count(failures.all, "check"),
        classes.join(", "),
        failures.closed
    )
}
