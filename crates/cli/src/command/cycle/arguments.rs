//! The command line of `tidegate cycle`.

use clap::Subcommand;

use crate::args::ProjectArgs;

#[derive(Debug, Subcommand)]
pub(crate) enum CycleCommand {
    /// Begins a cycle in this session
    #[command(after_help = "\
Examples:
  tidegate cycle start                    sprint, audit, ship, retrospective
  tidegate cycle start release            the cycle [cycle.release] of the config

When a turn ends and its stage is done, the next stage begins if the context has
room for it; else the cycle stops and can be resumed in another session. Refused
while another live session is in one. What stood in the state file before goes to
the history.")]
    Start(Start),
    /// Shows where the cycle of this project stands
    #[command(after_help = "\
Examples:
  tidegate cycle status
  tidegate cycle status --json | jq -r .stage")]
    Status(Of),
    /// Says that the stage is done, with or without its skill
    #[command(after_help = "\
Examples:
  tidegate cycle done
  tidegate cycle done --metric files_changed=3 --metric tests=12

The next stage begins when the turn ends. Metrics stand in the closing message and
in the history.")]
    Done(Done),
    /// Ends the cycle because its stage cannot be done
    #[command(after_help = "\
Examples:
  tidegate cycle fail \"the release branch is locked\"

`tidegate cycle resume` begins that stage again.")]
    Fail(Fail),
    /// Goes on with a cycle that has stopped, in this session
    #[command(after_help = "\
Examples:
  tidegate cycle resume                   at the first stage that was not begun
  tidegate cycle resume --from ship")]
    Resume(Resume),
    /// Leaves the cycle; what its stages took goes to the history
    #[command(after_help = "Examples:\n  tidegate cycle abandon")]
    Abandon(Of),
    /// Shows what stages took, and how much must be left for them
    #[command(after_help = "\
Examples:
  tidegate cycle stats
  tidegate cycle stats release --json

`from here` is what a stage and all after it took together, in the cycles that got
through them. With min_left = \"auto\" its 80th percentile counts, once there are
five.")]
    Stats(Stats),
    /// Counts one round of review and fix; fails when there were as many as there may be
    #[command(after_help = "\
Examples:
  tidegate cycle fix-loop && echo \"once more\"
  tidegate cycle fix-loop --reset         a new loop, outside of a cycle

In a cycle each stage may have `fix_loop_limit` rounds (2), so that there is room for
what comes after; outside of one there are 3.

Exit codes: 0 counted, 1 the limit is used up.")]
    FixLoop(FixLoop),
}

/// Whose cycle.
#[derive(Debug, clap::Args)]
pub(crate) struct Of {
    #[command(flatten)]
    pub(crate) of: ProjectArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Start {
    /// Which cycle
    #[arg(value_name = "NAME", default_value = tidegate_core::feature::cycle::BUILT_IN)]
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) of: ProjectArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Done {
    /// What the stage came to; can be given several times
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) metric: Vec<String>,
    #[command(flatten)]
    pub(crate) of: ProjectArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Fail {
    /// Why
    #[arg(value_name = "REASON")]
    pub(crate) reason: String,
    #[command(flatten)]
    pub(crate) of: ProjectArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Resume {
    /// The stage to begin with
    #[arg(long, value_name = "STAGE")]
    pub(crate) from: Option<String>,
    #[command(flatten)]
    pub(crate) of: ProjectArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Stats {
    /// Which cycle
    #[arg(value_name = "NAME", default_value = tidegate_core::feature::cycle::BUILT_IN)]
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) of: ProjectArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct FixLoop {
    /// Begin a new loop; only outside of a cycle
    #[arg(long)]
    pub(crate) reset: bool,
    #[command(flatten)]
    pub(crate) of: ProjectArgs,
}
