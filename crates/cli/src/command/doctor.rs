//! `tidegate doctor`.

use std::path::PathBuf;
use std::process::ExitCode;

use serde::Serialize;

use super::Outcome;
use crate::doctor::check;
use crate::doctor::finding::{Finding, State};
use crate::doctor::gathered::Gathered;
use crate::print::{self, format_count};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate doctor
  tidegate doctor --project ~/code/app --json

Exit codes: 0 no problem, 1 at least one problem.")]
pub(crate) struct Args {
    /// Check the project in this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
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
    let seen = Gathered::gather(args.project.as_deref())?;
    let checks = check::run_checks(&seen);
    let project = seen.project.as_ref().map(|root| root.to_string_lossy().into_owned());
    let ok = !checks.iter().any(|finding| finding.state.is_wrong());
    let report = DoctorReport { version: env!("CARGO_PKG_VERSION"), project, ok, checks };
    if args.json {
        print::json(&report);
    } else {
        for finding in &report.checks {
            print::line(&format!("{:<8} {:<11} {}", finding.state.name(), finding.id, finding.found));
            if let Some(cure) = &finding.cure {
                print::line(&format!("{:21}cure: {cure}", ""));
            }
        }
        print::line(&summarize_findings(&report.checks));
    }
    Ok(if report.ok { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn summarize_findings(findings: &[Finding]) -> String {
    let of = |state: State| findings.iter().filter(|finding| finding.state == state).count();
    let (problems, warnings, notes) = (of(State::Problem), of(State::Warning), of(State::Note));
    let mut parts = Vec::new();
    parts.extend((problems > 0).then(|| format_count(problems, "problem")));
    parts.extend((warnings > 0).then(|| format_count(warnings, "warning")));
    parts.extend(parts.is_empty().then(|| "nothing wrong".to_owned()));
    parts.extend((notes > 0).then(|| format_count(notes, "note")));
    format!("{}: {}", format_count(check::COUNT, "check"), parts.join(", "))
}
