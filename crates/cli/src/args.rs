//! The command line: all commands in the order people see them, and options that several share.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use crate::command::{
    activity, completions, compound, config, constraints, cycle, demo, doctor, explain, handoff, help, hook,
    init, journal, learnings, log, man, mcp, memory, meter, off, on, progress, reference, replay, report,
    serve, status, statusline, top, trust, tune, uninstall, worker, workflow,
};

/// Check the work of a coding agent, and keep what it learned when its context is compacted
#[derive(Debug, Parser)]
#[command(name = "tidegate", version, arg_required_else_help = true, disable_help_subcommand = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// `help/groups.rs` puts them in groups.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Play a scripted session through the real hooks, in a throw-away project
    Demo(demo::Args),
    /// Install the hooks, the status line and the skills
    Init(init::Args),
    /// Find problems of the installation, and how to fix them
    Doctor(doctor::Args),
    /// Remove what `init` installed
    Uninstall(uninstall::Args),
    /// Show how full the context is, and everything that waits
    Status(status::Args),
    /// Show what Tidegate did here, in plain words
    Log(log::Args),
    /// Explain why Tidegate blocked or said something
    Explain(explain::Args),
    /// Sum up what Tidegate caught, and what it cost
    Report(report::Args),
    /// Watch all sessions in the terminal
    Top(top::Args),
    /// Show sessions, memory and reports in a browser
    Serve(serve::Args),
    /// Show what past sessions were like, as if Tidegate had been there
    Replay(replay::Args),
    /// Switch a policy off, or list all policies
    Off(off::Args),
    /// Switch a policy on again
    On(on::Args),
    /// Allow the config files of a project to loosen rules
    Trust(trust::Args),
    /// Show the limits that you set in prompts, or drop a wrong one
    Constraints(constraints::Args),
    /// Propose when to warn, from past compactions
    Tune(tune::Args),
    /// Show the settings and where each comes from
    #[command(subcommand)]
    Config(config::ConfigCommand),
    /// Search and edit the memory of past conversations
    #[command(subcommand)]
    Memory(memory::MemoryCommand),
    /// Write and read progress notes
    #[command(subcommand)]
    Progress(progress::ProgressCommand),
    /// Turn progress notes into learnings
    #[command(subcommand)]
    Compound(compound::CompoundCommand),
    /// Show the learnings of a project, or check their files
    Learnings(learnings::Args),
    /// Write a summary that lets another session continue
    Handoff(handoff::Args),
    /// Run stages one after another, while the context has room
    #[command(subcommand)]
    Cycle(cycle::CycleCommand),
    /// Run a workflow in phases, with checkpoints between them
    #[command(
        subcommand,
        alias = "gate",
        after_help = "\
Claude runs a workflow with `start`, `phase`, `note`, `check` and `pass`; its skills say
how: `tidegate init --with workflow` installs them. You can look with `status`, and only
you can `skip` a checkpoint."
    )]
    Workflow(workflow::WorkflowCommand),
    /// Answer one hook event
    Hook(hook::Args),
    /// Draw the status line
    Statusline(statusline::Args),
    /// Give the model access to the memory, over MCP
    Mcp(mcp::Args),
    /// Store what hooks have queued for the memory
    Worker(worker::Args),
    /// Print one reading of the context meter
    Meter(meter::Args),
    /// Tell which kind of work a prompt asks for
    #[command(subcommand, alias = "phase")]
    Activity(activity::ActivityCommand),
    /// Print a completion script for a shell
    Completions(completions::Args),
    /// Print the manual page, or write one per command
    Man(man::Args),
    /// Show the help of a command
    Help(help::Args),
    /// Print every hook run, with ids and times
    #[command(hide = true)]
    Journal(journal::Args),
    /// Print pages that are made from the code
    #[command(hide = true)]
    Reference(reference::Args),
}

/// For commands about one project, which `--session` can name, too.
#[derive(Debug, clap::Args)]
pub(crate) struct ProjectArgs {
    /// Use the project of this session
    #[arg(long, value_name = "ID", conflicts_with = "project")]
    pub(crate) session: Option<String>,
    /// Use another project than that of the current folder
    #[arg(long, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// A length of time: `90s`, `30m`, `2h`, `1d`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span(pub(crate) u64);

const UNITS: [(&str, u64); 4] = [("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];

impl std::str::FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Span, String> {
        let parsed = UNITS.iter().find_map(|(unit, ms)| {
            let number: u64 = text.trim().strip_suffix(unit)?.trim().parse().ok()?;
            number.checked_mul(*ms).filter(|ms| (1..=365 * 86_400_000).contains(ms))
        });
        parsed.map(Span).ok_or_else(|| "use a time such as 30m, 2h or 1d, up to 365d".to_owned())
    }
}

impl std::fmt::Display for Span {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let whole = UNITS.iter().rev().find(|(_, ms)| self.0.is_multiple_of(*ms));
        let (unit, ms) = whole.unwrap_or(&UNITS[0]);
        write!(out, "{}{unit}", self.0 / ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_has_examples() {
        fn check(command: &clap::Command) {
            let shown: Vec<&clap::Command> =
                command.get_subcommands().filter(|inner| !inner.is_hide_set()).collect();
            if shown.is_empty() {
                let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
                assert!(help.contains("Examples:\n  "), "{}", command.get_name());
            }
            shown.into_iter().for_each(check);
        }
        check(&Cli::command());
    }

    #[test]
    fn times_read_back_as_they_are_shown() {
        for (text, shown) in [("90s", "90s"), ("60m", "1h"), ("2h", "2h"), ("48h", "2d"), (" 5 m", "5m")] {
            assert_eq!(text.parse::<Span>().map(|span| span.to_string()).as_deref(), Ok(shown), "{text}");
        }
        for text in ["", "2", "h", "-1h", "0h", "366d", "2w", "99999999999999999999d"] {
            assert!(text.parse::<Span>().is_err(), "{text}");
        }
    }
}
