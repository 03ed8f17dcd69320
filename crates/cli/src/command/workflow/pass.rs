//! `tidegate workflow pass`.

use std::process::ExitCode;

use tidegate_core::feature::workflow::manifest;
use tidegate_core::feature::workflow::manifest::is_finished;
use tidegate_core::pipeline::record::Deeds;

use super::project_workflow::{ProjectWorkflow, find_gate, usable_manifest};
use super::verification_report::print_report;
use crate::approval::consent_to_tighten;
use crate::args::ProjectArgs;
use crate::bilingual::both;
use crate::command::Outcome;
use crate::error::CliError;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate workflow pass 1

Writes only `gates: {1: {status: passed, …}}` into the manifest.

Exit codes: 0 passed, 1 something is missing.")]
pub(crate) struct Args {
    /// Number of the checkpoint
    #[arg(value_name = "N")]
    pub(crate) gate: usize,
    #[command(flatten)]
    pub(crate) of: ProjectArgs,
}

pub(super) fn run(args: &Args) -> Outcome {
    let place = ProjectWorkflow::find_to_change(&args.of)?;
    let mut standing = place.read_standing()?;
    let manifest = usable_manifest(&standing)?;
    let gate = find_gate(&manifest.workflow, &manifest.name, args.gate)?;
    let section = manifest.section(gate.after);
    let is_finished = manifest.current.is_some_and(|current| current > gate.after)
        || section.and_then(|section| section.status.as_deref()).is_some_and(is_finished);
    if !is_finished {
        let phase = gate.after;
        return Err(CliError::new(both!(
            "phase {phase} is not finished",
            "フェーズ{phase}はまだ終わっていません"
        ))
        .hint(both!(
            "`tidegate workflow note {phase} --status complete` completes it",
            "`tidegate workflow note {phase} --status complete` で完了にしてください"
        )));
    }
    let report = place.check_gate(&mut standing, gate);
    if !report.is_met() {
        print_report(&report, &standing, place.project.here.now, args.of.json);
        return Ok(ExitCode::FAILURE);
    }
    let now = place.project.here.now;
    place.change_manifest(&standing, |text| {
        manifest::note_passed(text, gate.number, now, report.before, report.after)
    })?;
    let cleared = place.record_passage(&standing, gate.number, false)?;
    standing.cleared_gates.push(cleared);
    let did = Deeds { gate: Some(gate.number), ..Deeds::default() };
    place.record_command(
        &format!("pass {}", gate.number),
        &consent_to_tighten(&place.project.here, "everything was there"),
        did,
    );
    print_report(&report, &standing, place.project.here.now, args.of.json);
    Ok(ExitCode::SUCCESS)
}
