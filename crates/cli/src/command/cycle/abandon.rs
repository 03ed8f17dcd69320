//! `tidegate cycle abandon`.

use std::process::ExitCode;

use tidegate_core::event::SessionId;
use tidegate_core::feature::cycle::marks::Mark as CycleMark;
use tidegate_core::feature::cycle::{CycleRun, CycleStatus};

use super::project_cycle::ProjectCycle;
use crate::approval;
use crate::args::ProjectArgs;
use crate::bilingual::both;
use crate::command::Outcome;
use crate::own_session;
use crate::print;
use crate::print::page::Page;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  tidegate cycle abandon")]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) of: ProjectArgs,
}

pub(super) fn run(args: &Args) -> Outcome {
    let of = &args.of;
    let place = ProjectCycle::find(of)?;
    let (state, cycle) = place.usable_cycle()?;
    place.check_reported(state)?;
    let owner = state.session_id.as_deref().filter(|_| state.status == CycleStatus::Running);
    let owner = owner.and_then(|id| SessionId::parse(id).ok());
    if approval::is_by_agent(&place.project.here.env)
        && let Some(id) = owner.as_ref().filter(|id| place.is_live(id.as_str()))
        && let Ok(session) = place.project.here.session(Some(id.as_str()))
    {
        own_session::check(&place.project.here, &session)?;
    }
    let run = CycleRun::from_state(state, Some(cycle), "abandoned", place.project.here.now);
    place.write_state(None, Some(run))?;
    if let Some(owner) = owner {
        // The session would notice at its next stop; this is sooner.
        let _ = place.append_marks(&owner, &[CycleMark::StageLeft.into()]);
    }
    place.record_command("abandon", "a cycle was given up", None);
    if of.json {
        print::json(
            &serde_json::json!({ "cycle": state.cycle, "stage": state.stage, "status": "abandoned" }),
        );
    } else {
        let (cycle, stage) = (&state.cycle, &state.stage);
        Page::of(both!(
            "Gave up {cycle} at stage {stage}. Its costs are in the history: `tidegate cycle stats`",
            "{cycle} をステージ {stage} でやめました。かかった量は `tidegate cycle stats` で見られます。"
        ))
        .print();
    }
    Ok(ExitCode::SUCCESS)
}
