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
    /// Start a cycle in this session
    Start(start::Args),
    /// Show the state of this project's cycle
    Status(status::Args),
    /// Mark the stage as done
    Done(done::Args),
    /// End the cycle: its stage cannot be done
    Fail(fail::Args),
    /// Continue a stopped cycle in this session
    Resume(resume::Args),
    /// Give up the cycle and keep its costs in the history
    Abandon(abandon::Args),
    /// Show the cost of stages and the room that they need
    Stats(stats::Args),
    /// Count one round of review and fix, up to the limit
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
