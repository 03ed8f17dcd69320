//! `tidegate workflow check`.

use std::process::ExitCode;

use tidegate_core::feature::workflow::check::{GateStep, StepFinding};
use tidegate_core::feature::workflow::standing::WorkflowStanding;
use tidegate_core::feature::workflow::{Gate, Manifest};

use super::project_workflow::{ProjectWorkflow, check_lists_phases, find_gate, usable_manifest};
use super::verification_report::print_report;
use crate::args::ProjectArgs;
use crate::bilingual::both;
use crate::command::Outcome;
use crate::error::CliError;
use crate::print::remark;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate workflow check                     the checkpoint that blocks, else the next
  tidegate workflow check 2 --json | jq -r '.missing[]'

Token counts are estimates. A fact that cannot be read does not fail a checkpoint; the
report says so.

Looks only: `tidegate workflow pass` records a checkpoint and opens it.

Exit codes: 0 nothing is missing, 1 something is missing.")]
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
    let gate = match args.gate {
        Some(number) => find_gate(&manifest.workflow, &manifest.name, number)?,
        None => next_gate(&standing, manifest)?,
    };
    let report = place.check_gate(&mut standing, gate);
    print_report(&report, &standing, place.project.here.now, args.of.json);
    if !args.of.json && standing.clearance(gate.number).is_none() {
        let (number, phase) = (gate.number, gate.after);
        let only_compaction = report.missing().len() == 1
            && matches!(report.finding(GateStep::Compaction), Some(StepFinding::Missing(_)));
        remark::hint(if report.is_met() {
            both!(
                "`tidegate workflow pass {number}` records it",
                "`tidegate workflow pass {number}` で記録できます"
            )
        } else if only_compaction {
            both!(
                "the person types `/compact`, then `tidegate workflow pass {number}` records it",
                "人が `/compact` を実行したあと、`tidegate workflow pass {number}` で記録できます"
            )
        } else {
            both!(
                "`tidegate workflow note {phase}` writes what is missing, then `tidegate workflow pass {number}` records it",
                "足りないものを `tidegate workflow note {phase}` で書き、`tidegate workflow pass {number}` で記録します"
            )
        });
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
    let name = &manifest.name;
    found.ok_or_else(|| {
        CliError::new(both!(
            "the workflow {name} has no checkpoints",
            "ワークフロー {name} にはチェックポイントがありません"
        ))
        .hint(both!(
            "`gate = true` on a phase of [workflow.{name}] in your config adds one",
            "設定の [workflow.{name}] でフェーズに `gate = true` を付けると加えられます"
        ))
    })
}
