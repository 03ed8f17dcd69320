//! `tidegate cycle fix-loop`.

use std::process::ExitCode;

use tidegate_core::event::SessionId;
use tidegate_core::feature::cycle::CycleStatus;
use tidegate_core::feature::cycle::definition::FIX_LOOP_LIMIT_OUTSIDE;
use tidegate_state::feature::cycle;

use super::project_cycle::ProjectCycle;
use crate::args::ProjectArgs;
use crate::command::Outcome;
use crate::error::CliError;
use crate::print;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate cycle fix-loop && echo \"once more\"
  tidegate cycle fix-loop --reset         start a new loop, outside of a cycle

In a cycle, each stage has `fix_loop_limit` rounds (2), which leaves room for the
stages after it. Outside of a cycle the limit is 3.

Exit codes: 0 counted, 1 the limit is reached.")]
pub(crate) struct Args {
    /// Start a new loop, outside of a cycle
    #[arg(long)]
    pub(crate) reset: bool,
    #[command(flatten)]
    pub(crate) of: ProjectArgs,
}

pub(super) fn run(args: &Args) -> Outcome {
    let place = ProjectCycle::find(&args.of)?;
    let here = &place.project.here;
    let session = place.project.session.as_ref().map_or("-", SessionId::as_str);
    let running = place.usable_cycle().ok().filter(|(state, _)| state.status == CycleStatus::Running);
    let owned = running.filter(|(state, _)| state.session_id.as_deref() == Some(session));
    let (key, limit, what) = match owned {
        Some((state, cycle)) => (
            format!("{} {}", state.run_id(), state.stage),
            cycle.fix_loop_limit,
            format!("in stage {}", state.stage),
        ),
        None => (format!("session {session}"), FIX_LOOP_LIMIT_OUTSIDE, "outside of a cycle".to_owned()),
    };
    if args.reset && owned.is_some() {
        return Err(CliError::new("in a cycle each stage has one loop, and it goes on"));
    }
    let counted = cycle::count_fix_loop(&here.state, &place.project.root, &key, limit, args.reset)
        .map_err(|error| CliError::new(format!("it could not be counted: {error}")))?;
    let Some(count) = counted else {
        if args.of.json {
            print::json(&serde_json::json!({ "count": limit, "limit": limit, "used_up": true }));
        }
        return Err(CliError::new(format!(
            "review and fix went round {limit} times, which is the limit {what}"
        ))
        .hint("what is still open is reported to the person instead of fixed now"));
    };
    if args.of.json {
        print::json(&serde_json::json!({ "count": count, "limit": limit, "used_up": false }));
    } else {
        print::line(&format!("round {count} of {limit} {what}"));
    }
    Ok(ExitCode::SUCCESS)
}
