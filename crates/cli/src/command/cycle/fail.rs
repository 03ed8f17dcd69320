//! `tidegate cycle fail`.

use std::process::ExitCode;

use tidegate_core::feature::cycle::consent::{ConsentChange, Owed};
use tidegate_core::feature::cycle::marks::Mark as CycleMark;
use tidegate_core::feature::cycle::{Cycle, CycleState, words};
use tidegate_core::text::lang::Lang;

use super::project_cycle::ProjectCycle;
use crate::args::ProjectArgs;
use crate::bilingual::both;
use crate::command::Outcome;
use crate::error::CliError;
use crate::knowledge::required_line;
use crate::print;
use crate::print::page::Page;
use crate::sessions::Session;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate cycle fail \"the release branch is locked\"

No later stage begins, and Tidegate tells the person when the turn ends.
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
    let state = fail_stage(&place, state.clone(), cycle, &session, &reason)?;
    place.record_command("fail", "a stage failed", Some(&state.stage));
    if args.of.json {
        print::json(&serde_json::json!({
            "cycle": state.cycle, "stage": state.stage, "status": "failed", "reason": reason,
        }));
    } else {
        failed_page(&state).print();
    }
    Ok(ExitCode::SUCCESS)
}

/// The session's mark stays until its turn ends: then Tidegate tells the person.
pub(super) fn fail_stage(
    place: &ProjectCycle,
    mut state: CycleState,
    cycle: &Cycle,
    session: &Session,
    reason: &str,
) -> Result<CycleState, CliError> {
    place.give_up_stage(&mut state, Some(session));
    state.fail_stage(cycle, reason);
    let state = state.updated_at(place.project.here.now);
    place.change_consent(&[ConsentChange::Owe(Owed::Failed { stage: state.stage.clone() })])?;
    place.write_state(Some(state.clone()), None)?;
    place.append_marks(&session.id, &[CycleMark::StageFailed(reason.to_owned()).into()])?;
    Ok(state)
}

pub(super) fn failed_page(state: &CycleState) -> Page {
    let (cycle, stage) = (&state.cycle, &state.stage);
    let why = state.stopped_reason.as_deref().unwrap_or("?");
    let mut page = Page::of(both!(
        "Ended {cycle} at stage {stage}: {en}",
        "{cycle} をステージ {stage} で終わらせました: {ja}",
        en = words::failure(Lang::En, why, state.most_findings()),
        ja = words::failure(Lang::Ja, why, state.most_findings())
    ));
    page.paragraph(both!(
        "No later stage begins. Start that stage again: `tidegate cycle resume`",
        "以降のステージは始めません。そのステージからやり直すには: `tidegate cycle resume`"
    ));
    page
}
