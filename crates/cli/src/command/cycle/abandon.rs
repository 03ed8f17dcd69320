//! `tidegate cycle abandon`.

use std::process::ExitCode;

use tidegate_core::event::SessionId;
use tidegate_core::feature::cycle::marks::{DroppedCycle, Mark as CycleMark};
use tidegate_core::feature::cycle::{CycleRun, CycleState, CycleStatus};

use super::project_cycle::ProjectCycle;
use crate::approval;
use crate::args::ProjectArgs;
use crate::bilingual::both;
use crate::command::Outcome;
use crate::error::CliError;
use crate::own_session;
use crate::print;
use crate::print::page::Page;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate cycle abandon

An agent can give up only the cycle of its own session, and Tidegate tells the person when
the turn ends.")]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) of: ProjectArgs,
}

pub(super) fn run(args: &Args) -> Outcome {
    let of = &args.of;
    let place = ProjectCycle::find(of)?;
    let (state, cycle) = place.usable_cycle()?;
    place.check_reported(state, None)?;
    let owner = state.session_id.as_deref().filter(|_| state.status == CycleStatus::Running);
    let owner = owner.and_then(|id| SessionId::parse(id).ok());
    let by_agent = approval::is_by_agent(&place.project.here.env);
    if by_agent {
        check_own(&place, state)?;
    }
    let run = CycleRun::from_state(state, Some(cycle), "abandoned", place.project.here.now);
    place.write_state(None, Some(run))?;
    if let Some(owner) = owner {
        // The session would notice at its next stop; this is sooner.
        let _ = place.append_marks(&owner, &[CycleMark::StageLeft.into()]);
    }
    if let Some(own) =
        state.session_id.as_deref().and_then(|id| SessionId::parse(id).ok()).filter(|_| by_agent)
    {
        let dropped = DroppedCycle { cycle: state.cycle.clone(), stage: state.stage.clone() };
        place.append_marks(&own, &[CycleMark::Dropped(dropped).into()])?;
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

/// Refuses an agent that would give up a cycle of another session, or one that belongs to none.
fn check_own(place: &ProjectCycle, state: &CycleState) -> Result<(), CliError> {
    let here = &place.project.here;
    let owner = state.session_id.as_deref().and_then(|id| here.known_session(id).ok());
    match owner {
        Some(owner) => own_session::check(here, &owner),
        None => Err(CliError::new(both!(
            "nothing was changed: an agent runs this command, and the cycle is not its own",
            "何も変更していません。エージェントからの実行で、そのサイクルではないためです"
        ))
        .hint(own_session::ask_in_own_session())),
    }
}
