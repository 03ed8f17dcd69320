//! The command line: all commands in the order people see them, and options that several share.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use crate::command::{
    activity, completions, compound, config, cycle, demo, doctor, explain, handoff, hook, init, journal,
    learnings, man, mcp, memory, meter, off, on, progress, reference, report, status, statusline, trust,
    uninstall, worker, workflow,
};

/// One binary behind every hook and the status line of a coding agent.
#[derive(Debug, Parser)]
#[command(
    name = "tidegate",
    version,
    arg_required_else_help = true,
    after_help = "\
Start here:
  tidegate demo                    a scripted session, nothing installed
  tidegate init --project .        put the hooks and the status line into a project
  tidegate status                  what the session in this project is doing"
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Plays a scripted session through the real hooks, in a throw-away project
    Demo(demo::Args),
    /// Puts the hooks, the status line and the skills into a project, or into your own settings
    Init(init::Args),
    /// Takes out what `init` put in
    Uninstall(uninstall::Args),
    /// Checks what can go wrong in the field and says how to mend it
    Doctor(doctor::Args),
    /// Prints one reading of the context meter
    Meter(meter::Args),
    /// Stores what hooks left to be remembered
    Worker(worker::Args),
    /// Shows what the session in this project is doing
    Status(status::Args),
    /// Prints this project's journal: one line per hook run
    Journal(journal::Args),
    /// Explains a ruling: the facts, each policy's verdict, what was said to whom
    Explain(explain::Args),
    /// Shows what became of what the policies said: done, ignored, bypassed, overridden
    Report(report::Args),
    /// Writes down what was done, and shows what was
    #[command(subcommand)]
    Progress(progress::ProgressCommand),
    /// Goes from what was done to what was learned
    #[command(subcommand)]
    Compound(compound::CompoundCommand),
    /// Shows the learnings of this project, or checks their files
    Learnings(learnings::Args),
    /// Writes down what another session needs to go on with this work
    Handoff(handoff::Args),
    /// Runs stages one after another in a session, each only while there is room for it
    #[command(subcommand)]
    Cycle(cycle::CycleCommand),
    /// Checks the gates between the phases of a workflow, and lets through what passes
    #[command(subcommand, alias = "gate")]
    Workflow(workflow::WorkflowCommand),
    /// Finds, shows and changes what is remembered of conversations
    #[command(subcommand)]
    Memory(memory::MemoryCommand),
    /// Shows the settings and where each comes from; prints their schema
    #[command(subcommand)]
    Config(config::ConfigCommand),
    /// Says which kind of work a prompt asks for
    #[command(subcommand, alias = "phase")]
    Activity(activity::ActivityCommand),
    /// Trusts what a project's own config says beyond tightening
    Trust(trust::Args),
    /// Switches a policy off, or lists what is switched off
    Off(off::Args),
    /// Switches a policy on again
    On(on::Args),
    /// Prints a completion script for a shell
    Completions(completions::Args),
    /// Prints the manual page, or writes one per command
    Man(man::Args),
    /// Prints what is checked in and made from the code
    #[command(hide = true)]
    Reference(reference::Args),
    /// Serves tools and resources to the model, on stdin and stdout (called by the client)
    Mcp(mcp::Args),
    /// Answers one hook event (called by the client)
    Hook(hook::Args),
    /// Draws the status line (called by the client)
    Statusline(statusline::Args),
}

/// For commands about one project, which `--session` can name, too.
#[derive(Debug, clap::Args)]
pub(crate) struct ProjectArgs {
    /// The project of this session
    #[arg(long, value_name = "ID", conflicts_with = "project")]
    pub(crate) session: Option<String>,
    /// Another project than that of the current folder
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
