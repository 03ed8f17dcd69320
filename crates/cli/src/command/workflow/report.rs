//! `tidegate workflow report`.

use std::process::ExitCode;

use tidegate_core::feature::workflow::Gate;
use tidegate_core::feature::workflow::check::GateReport;

use super::project_workflow::{ProjectWorkflow, check_lists_phases, find_gate, usable_manifest};
use super::verification_report::{ShownReport, add_report, report_json};
use crate::args::ProjectArgs;
use crate::bilingual::both;
use crate::command::Outcome;
use crate::print;
use crate::print::page::Page;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate workflow report
  tidegate workflow report 1")]
pub(crate) struct Args {
    /// Number of the checkpoint
    #[arg(value_name = "N")]
    pub(crate) gate: Option<usize>,
    #[command(flatten)]
    pub(crate) of: ProjectArgs,
}

pub(super) fn run(args: &Args) -> Outcome {
    let place = ProjectWorkflow::find_attached(&args.of)?;
    let mut standing = place.read_standing()?;
    check_lists_phases(&place, &standing)?;
    let manifest = usable_manifest(&standing)?;
    let gates = match args.gate {
        Some(number) => vec![find_gate(&manifest.workflow, &manifest.name, number)?],
        None => manifest.workflow.gates(),
    };
    let current = manifest.current.unwrap_or_default();
    let reached = |gate: &Gate| args.gate.is_some() || gate.after <= current;
    let gates: Vec<Gate> = gates.into_iter().filter(reached).collect();
    let reports: Vec<GateReport> =
        gates.into_iter().map(|gate| place.check_gate(&mut standing, gate)).collect();
    if args.of.json {
        let shown: Vec<ShownReport<'_>> =
            reports.iter().map(|report| report_json(report, &standing)).collect();
        print::json(&shown);
        return Ok(ExitCode::SUCCESS);
    }
    let mut page = Page::new();
    if reports.is_empty() {
        page.paragraph(both!(
            "The workflow has not reached a checkpoint yet. `tidegate workflow check` looks at the next one.",
            "まだチェックポイントに達していません。次のものは `tidegate workflow check` で調べられます。"
        ));
    }
    for report in &reports {
        page.gap();
        add_report(&mut page, report, &standing, place.project.here.now);
    }
    page.print();
    Ok(ExitCode::SUCCESS)
}
