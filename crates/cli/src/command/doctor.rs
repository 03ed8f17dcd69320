//! `tidegate doctor`.

use std::path::PathBuf;
use std::process::ExitCode;

use serde::Serialize;

use super::Outcome;
use crate::doctor::check;
use crate::doctor::finding::Finding;
use crate::doctor::gathered::Gathered;
use crate::doctor::page::{all_page, problems_page};
use crate::local_time::LocalClock;
use crate::print;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate doctor
  tidegate doctor --all                  the checks that passed, too
  tidegate doctor --project ~/code/app --json

Exit codes: 0 nothing has to be fixed, 1 at least one problem or warning. Notes do not count.")]
pub(crate) struct Args {
    /// Check the project in this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
    /// List all checks, also those that passed
    #[arg(long)]
    pub(crate) all: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Serialize)]
struct DoctorReport {
    version: &'static str,
    project: Option<String>,
    /// No warning and no problem.
    ok: bool,
    checks: Vec<Finding>,
}

pub(crate) fn run(args: &Args) -> Outcome {
    let clock = if args.json { LocalClock::utc } else { LocalClock::of_system };
    let seen = Gathered::gather(args.project.as_deref(), clock)?;
    let checks = check::run_checks(&seen);
    let project = seen.project.as_ref().map(|root| root.to_string_lossy().into_owned());
    let ok = !checks.iter().any(|finding| finding.state.has_to_be_fixed());
    let report = DoctorReport { version: env!("CARGO_PKG_VERSION"), project, ok, checks };
    if args.json {
        print::json(&report);
    } else if args.all {
        all_page(&report.checks, report.project.as_deref()).print();
    } else {
        problems_page(&report.checks, report.project.as_deref()).print();
    }
    Ok(if report.ok { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
