//! `tidegate cycle fail`.

use std::process::ExitCode;

use tidegate_core::feature::cycle::CycleStatus;
use tidegate_core::feature::cycle::marks::Mark as CycleMark;

use super::project_cycle::ProjectCycle;
use crate::args::ProjectArgs;
use crate::bilingual::both;
use crate::command::Outcome;
use crate::knowledge::required_line;
use crate::print;
use crate::print::page::Page;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate cycle fail \"the release branch is locked\"

`tidegate cycle resume` starts that stage again.")]
pub(crate) struct Args {
    /// Reason
    #[arg(value_name = "REASON")]
    pub(crate) reason: String,
    #[command(flatten)]
    pub(crate) of: ProjectArgs,
}

pub(super) fn run(args: &Args) -> Outcome {
    let place = ProjectCycle::find(&args.of)?;
    let (state, cycle, session) = place.running_cycle()?;
    let reason = required_line("the reason", &args.reason)?;
    let mut failed = state.clone();
    failed.status = CycleStatus::Failed;
    failed.stopped_reason = Some(reason.clone());
    failed.skipped_stages = cycle.position(&state.stage).map(|at| cycle.names(at + 1)).unwrap_or_default();
    place.write_state(Some(failed.updated_at(place.project.here.now)), None)?;
    place.append_marks(&session.id, &[CycleMark::StageLeft.into()])?;
    place.record_command("fail", "a stage failed", Some(&state.stage));
    if args.of.json {
        print::json(&serde_json::json!({
            "cycle": state.cycle, "stage": state.stage, "status": "failed", "reason": reason,
        }));
    } else {
        let (cycle, stage) = (&state.cycle, &state.stage);
        let mut page = Page::of(both!(
            "Ended {cycle} at stage {stage}: {reason}",
            "{cycle} をステージ {stage} で終わらせました: {reason}"
        ));
        page.paragraph(both!(
            "Start that stage again: `tidegate cycle resume`",
            "そのステージからやり直すには: `tidegate cycle resume`"
        ));
        page.print();
    }
    Ok(ExitCode::SUCCESS)
}
