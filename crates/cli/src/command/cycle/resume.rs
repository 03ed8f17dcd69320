//! `tidegate cycle resume`.

use std::process::ExitCode;

use super::project_cycle::ProjectCycle;
use super::start::print_begun;
use crate::args::ProjectArgs;
use crate::command::Outcome;
use crate::error::CliError;

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
        return Err(CliError::new(format!(
            "session {owner} is in stage {} of {} here",
            state.stage, state.cycle
        ))
        .hint("`tidegate cycle abandon` leaves that one"));
    }
    let name = args.from.as_deref().unwrap_or_else(|| state.resumes_at());
    let Some(at) = cycle.position(name) else {
        return Err(CliError::new(format!("{} has no stage {name}", state.cycle))
            .hint(format!("there is {}", cycle.names(0).join(", "))));
    };
    let mut state = state.clone();
    state.started_at.get_or_insert_with(|| place.project.here.now.iso());
    let begun = place.begin_stage(state, cycle, at, &session, None)?;
    place.record_command("resume", "a cycle goes on", None);
    print_begun(&args.of, &place, &begun, &session);
    Ok(ExitCode::SUCCESS)
}
