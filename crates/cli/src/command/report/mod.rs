//! `tidegate report`: outcomes of the policies' interruptions.

mod boundaries;
mod charts;
mod forecasts;
mod page;
mod stages;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::ExitCode;

use serde::Serialize;
use tidegate_core::event::SessionId;
use tidegate_core::feature::cycle::CycleRun;
use tidegate_core::host::Host;
use tidegate_core::pipeline::friction::{Tally, tally_interruptions};
use tidegate_core::pipeline::record::{BackendCall, BackendOutcome, Record};
use tidegate_core::time::Millis;
use tidegate_replay::report::ForecastError;
use tidegate_state::feature::cycle;
use tidegate_state::journal::friction;

use self::boundaries::{Boundaries, Boundary};
use self::forecasts::Forecasts;
use self::stages::StageSum;
use super::Outcome;
use crate::bilingual::both;
use crate::error::CliError;
use crate::local_time::LocalClock;
use crate::print;
use crate::sessions::{Here, has_beginning, more_than_one};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate report                         this project, last 30 days
  tidegate report --days 7 --all          every project
  tidegate report --session 91b38a40-…
  tidegate report --host codex            one agent
  tidegate report --html report.html
  tidegate report --json | jq '.policies[] | {policy, satisfied, ignored}'")]
pub(crate) struct Args {
    /// Number of days, including today
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3650))]
    pub(crate) days: u64,
    /// Only this session
    #[arg(long, value_name = "ID", conflicts_with = "all")]
    pub(crate) session: Option<String>,
    /// Only this agent: claude-code, codex, copilot, qwen, opencode
    #[arg(long, value_name = "NAME", value_parser = parse_host)]
    pub(crate) host: Option<Host>,
    /// All projects, not only this one
    #[arg(long)]
    pub(crate) all: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Write one new file for a browser, with charts; `-` is stdout
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    pub(crate) html: Option<PathBuf>,
}

fn parse_host(name: &str) -> Result<Host, String> {
    let names: Vec<&str> = Host::ALL.iter().map(|host| host.name()).collect();
    Host::named(name).ok_or_else(|| format!("no agent has this name; agents: {}", names.join(", ")))
}

/// What Tidegate did in some days, and what it cost.
#[derive(Serialize)]
pub(crate) struct FrictionReport {
    /// Absent for all projects.
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    /// The first day that was read, in UTC.
    since: String,
    hook_runs: usize,
    sessions: usize,
    /// Sessions of each agent.
    hosts: BTreeMap<String, usize>,
    policies: Vec<Tally>,
    /// Policies that only advise in this project.
    stepped_down: Vec<String>,
    /// Compactions, oldest first.
    boundaries: Vec<Boundary>,
    /// `None` without a forecast before an automatic compaction.
    #[serde(skip_serializing_if = "Option::is_none")]
    forecast: Option<ForecastError>,
    /// Tokens that stages of cycles took, in cycles that ended.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stages: Vec<StageSum>,
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
    let clock = LocalClock::of_system(here.now);
    if let Some(path) = &args.html {
        return charts::write(path, &report, args.days, &clock);
    }
    page::report_page(&report, args.days, &clock).print();
    Ok(ExitCode::SUCCESS)
}

/// Of all projects.
pub(crate) fn read_all(here: &Here, days: u64) -> Result<FrictionReport, CliError> {
    read_report(here, &Args { days, session: None, host: None, all: true, json: false, html: None })
}

fn read_report(here: &Here, args: &Args) -> Result<FrictionReport, CliError> {
    let (mut hook_runs, mut sessions, mut micros) = (0, BTreeSet::new(), Vec::new());
    let (mut failures, mut backend) = (Failures::default(), Backend::default());
    let (mut boundaries, mut forecasts) = (Boundaries::default(), Forecasts::default());
    let mut hosts = BTreeMap::new();
    let session = args.session.as_deref().map(|named| find_session(here, named, args.days)).transpose()?;
    // All records settle interruptions; only the selected ones are counted.
    let see = |record: &Record| {
        if record.ruling == "command" || !here.concerns(record, session.as_deref(), args.all) {
            return;
        }
        if args.host.is_some_and(|host| host.name() != record.host) {
            return;
        }
        if let Some(call) = &record.backend {
            backend.take(call);
            return;
        }
        hook_runs += 1;
        boundaries.take(record);
        forecasts.take(record);
        if let Some(id) = record.session.as_ref().filter(|id| !sessions.contains(*id)) {
            sessions.insert(id.clone());
            // 0.1 wrote no name.
            let host = if record.host.is_empty() { Host::ClaudeCode.name() } else { &record.host };
            *hosts.entry(host.to_owned()).or_default() += 1;
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
        friction::read(&here.state, here.now, args.days, u64::MAX, see).map_err(CliError::from)?;
    let root = here.root.as_ref().map(|root| root.to_string_lossy().into_owned());
    let interruptions = friction.finish(here.now);
    let meant = interruptions.iter().filter(|said| match &session {
        Some(id) => said.session.as_ref() == Some(id),
        None => args.all || said.project.is_some() && said.project == root,
    });
    let meant = meant.filter(|said| {
        args.host.is_none() || said.session.as_ref().is_some_and(|session| sessions.contains(session))
    });
    let one_project = !args.all && session.is_none();
    let policies = tally_interruptions(meant);
    let since = Millis(here.now.0.saturating_sub((args.days - 1) * 86_400_000)).day();
    let runs = if one_project {
        here.root.as_deref().map(|root| cycle::read_runs(&here.state, root)).unwrap_or_default()
    } else {
        cycle::read_all_runs(&here.state)
    };
    let is_seen = |run: &CycleRun| {
        let of_session = run.session.as_ref().is_some_and(|session| sessions.contains(session));
        *run.at >= *since && (of_session || session.is_none() && args.host.is_none())
    };
    let stages = stages::sum_up(runs.iter().filter(|run| is_seen(run)));
    Ok(FrictionReport {
        project: root.filter(|_| one_project),
        session,
        since,
        hook_runs,
        sessions: sessions.len(),
        hosts,
        policies,
        stepped_down: if one_project { here.config.stepped_down.clone() } else { Vec::new() },
        boundaries: boundaries.finish(),
        forecast: forecasts.finish(),
        stages,
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
        let begins = |name: &&String| {
            name.starts_with(named) || SessionId::parse(name).is_ok_and(|id| has_beginning(&id, named))
        };
        found.extend(record.session.as_ref().filter(begins).cloned());
    };
    friction::read(&here.state, here.now, days, u64::MAX, see).map_err(CliError::from)?;
    if found.contains(named) {
        return Ok(named.to_owned());
    }
    let mut found = found.into_iter();
    match (found.next(), found.next()) {
        (Some(only), None) => Ok(only),
        (Some(_), Some(_)) => Err(more_than_one(named)),
        (None, _) => {
            let when = if days == 1 { "today".to_owned() } else { format!("in the last {days} days") };
            Err(CliError::new(both!(
                "no session `{named}` was seen {when}",
                "直近{days}日間に、`{named}` というセッションはありません"
            ))
            .hint(both!(
                "--days looks further back; `tidegate log --all --verbose` lists what was seen",
                "--days でさらに前を探します。`tidegate log --all --verbose` で記録を表示します"
            )))
        }
    }
}
