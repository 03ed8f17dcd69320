//! `tidegate cycle resume`.

use std::process::ExitCode;

use super::project_cycle::{ProjectCycle, no_stage, owned_by};
use super::start::print_begun;
use crate::args::ProjectArgs;
use crate::command::Outcome;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate cycle resume                   the first stage that was not started
  tidegate cycle resume --from ship")]
pub(crate) struct Args {
    /// Stage to begin with
    #[arg(long, value_name = "STAGE")]
    pub(crate) from: Option<String>,
    #[command(flatten)]
    pub(crate) of: ProjectArgs,
}

pub(super) fn run(args: &Args) -> Outcome {
    let place = ProjectCycle::find(&args.of)?;
    let (state, cycle) = place.usable_cycle()?;
    let session = place.find_session()?;
    if let Some(owner) = place.other_owner(&session) {
        return Err(owned_by(owner, state));
    }
    let name = args.from.as_deref().unwrap_or_else(|| state.resumes_at());
    let Some(at) = cycle.position(name) else {
        return Err(no_stage(&state.cycle, name, cycle));
    };
    let mut state = state.clone();
    state.started_at.get_or_insert_with(|| place.project.here.now.iso());
    let begun = place.begin_stage(state, cycle, at, &session, None)?;
    place.record_command("resume", "a cycle was resumed", None);
    print_begun(&args.of, &place, &begun, &session);
    Ok(ExitCode::SUCCESS)
}
