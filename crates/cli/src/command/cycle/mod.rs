//! `tidegate cycle`: begins, shows and ends cycles, which the policy `cycle` moves from stage to stage.

mod abandon;
mod done;
mod fail;
mod fix_loop;
mod project_cycle;
mod resume;
mod start;
mod stats;
mod status;

use super::Outcome;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum CycleCommand {
    /// Begins a cycle in this session
    Start(start::Args),
    /// Shows where the cycle of this project stands
    Status(status::Args),
    /// Says that the stage is done, with or without its skill
    Done(done::Args),
    /// Ends the cycle because its stage cannot be done
    Fail(fail::Args),
    /// Goes on with a cycle that has stopped, in this session
    Resume(resume::Args),
    /// Leaves the cycle; what its stages took goes to the history
    Abandon(abandon::Args),
    /// Shows what stages took, and how much must be left for them
    Stats(stats::Args),
    /// Counts one round of review and fix; fails when there were as many as there may be
    FixLoop(fix_loop::Args),
}

pub(crate) fn run(command: &CycleCommand) -> Outcome {
    match command {
        CycleCommand::Start(args) => start::run(args),
        CycleCommand::Status(args) => status::run(args),
        CycleCommand::Done(args) => done::run(args),
        CycleCommand::Fail(args) => fail::run(args),
        CycleCommand::Resume(args) => resume::run(args),
        CycleCommand::Abandon(args) => abandon::run(args),
        CycleCommand::Stats(args) => stats::run(args),
        CycleCommand::FixLoop(args) => fix_loop::run(args),
    }
}
