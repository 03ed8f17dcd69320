//! `tidegate workflow check`.

use std::process::ExitCode;

use tidegate_core::feature::workflow::standing::WorkflowStanding;
use tidegate_core::feature::workflow::{Gate, Manifest};

use super::project_workflow::{ProjectWorkflow, find_gate, usable_manifest};
use super::verification_report::print_report;
use crate::args::ProjectArgs;
use crate::command::Outcome;
use crate::error::CliError;
use crate::print;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate workflow check                     the checkpoint that blocks, else the next
  tidegate workflow check 2 --json | jq -r '.missing[]'

Token counts are estimates. A fact that cannot be read does not fail a checkpoint; the
report says so.

Exit codes: 0 complete, 1 something is missing.")]
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
    let manifest = usable_manifest(&standing)?;
    let gate = match args.gate {
        Some(number) => find_gate(&manifest.workflow, &manifest.name, number)?,
        None => next_gate(&standing, manifest)?,
    };
    let report = place.check_gate(&mut standing, gate);
    print_report(&report, &standing, args.of.json);
    if report.is_met() && !args.of.json && standing.clearance(gate.number).is_none() {
        print::to_stderr(&format!("hint: `tidegate workflow pass {}` records it", gate.number));
    }
    Ok(if report.is_met() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Without a number: the checkpoint that blocks, else the next.
fn next_gate(standing: &WorkflowStanding, manifest: &Manifest) -> Result<Gate, CliError> {
    let open = |gate: &Gate| standing.clearance(gate.number).is_none();
    let current = manifest.current.unwrap_or_default();
    let gates = manifest.workflow.gates();
    let ahead = gates.iter().copied().find(|gate| gate.after >= current && open(gate));
    let found = standing.pending_gates().first().copied().or(ahead).or(gates.last().copied());
    found.ok_or_else(|| CliError::new(format!("the workflow {} has no gates", manifest.name)))
}
