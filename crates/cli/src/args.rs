//! The command line: types only.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

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
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Plays a scripted session through the real hooks, in a throw-away project
    #[command(after_help = "Nothing is installed, no client is needed, nothing is left behind.")]
    Demo,
    /// Puts the hooks, the status line and the skills into a project, or into your own settings
    #[command(after_help = "\
Examples:
  tidegate init                                this project, for you alone
  tidegate init --project ~/code/app --dry-run
  tidegate init --preset strict
  tidegate init --shared                       hooks into the committed settings
  tidegate init --user                         all your projects

Keeps everything that is there, to the byte, and can be run again. Where it
goes: `.claude/settings.local.json`; with --shared the hooks go into
`.claude/settings.json`, where a teammate without tidegate does not notice
them; with --user it is `~/.claude/settings.json`. `tidegate uninstall` takes
exactly this out again.")]
    Init(Init),
    /// Takes out what `init` put in
    #[command(after_help = "\
Examples:
  tidegate uninstall
  tidegate uninstall --project ~/code/app --dry-run
  tidegate uninstall --shared                  the committed settings, too
  tidegate uninstall --user

What you changed since stays; a file that nobody changed is as it was before.")]
    Uninstall(Uninstall),
    /// Prints one reading of the context meter
    #[command(after_help = "\
Examples:
  tidegate meter                               the session of this project
  tidegate meter --session 91b38a40-… --json
  tidegate meter --transcript session.jsonl

Exit codes: 0 a reading, 3 the use is not known.")]
    Meter(Meter),
    /// Shows what the session in this project is doing
    #[command(after_help = "Examples:\n  tidegate status\n  tidegate status --json")]
    Status(Status),
    /// Prints this project's journal: one line per hook run
    #[command(after_help = "\
Examples:
  tidegate journal                        the last 20 records
  tidegate journal --follow               and what comes
  tidegate journal --policy pressure --last 100
  tidegate journal --json | jq .ruling")]
    Journal(Journal),
    /// Explains a ruling: the facts, each policy's verdict, what was said to whom
    #[command(after_help = "Examples:\n  tidegate explain last\n  tidegate explain 19a8f2c1d3e-4f2")]
    Explain(Explain),
    /// Answers one hook event (called by the client)
    #[command(after_help = "\
Reads one payload from stdin. Answers on stdout, with exit code 0 or 2.

Examples:
  tidegate hook --event Stop < payload.json")]
    Hook {
        /// The event this registration was written for
        #[arg(long, value_name = "NAME")]
        event: Option<String>,
        /// This registration gates nothing: a failed check is silent
        #[arg(long)]
        advice: bool,
        /// Which install registered this hook, where there can be two
        #[arg(long, value_name = "NAME", hide = true)]
        via: Option<String>,
    },
    /// Draws the status line (called by the client)
    #[command(after_help = "\
Reads the status-line payload from stdin and prints one line.

Examples:
  tidegate statusline
  tidegate statusline --wrap 'my-status-line --short'")]
    Statusline {
        /// A status line to run first; ours is put behind it
        #[arg(long, value_name = "CMD", num_args = 1.., allow_hyphen_values = true)]
        wrap: Vec<String>,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct Init {
    #[command(flatten)]
    pub(crate) target: InstallTarget,
    #[command(flatten)]
    pub(crate) report: InstallReport,
    /// How strict to be here; written into your own config
    #[arg(long, value_name = "PRESET")]
    pub(crate) preset: Option<Preset>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Uninstall {
    #[command(flatten)]
    pub(crate) target: InstallTarget,
    #[command(flatten)]
    pub(crate) report: InstallReport,
}

/// Where an install goes.
#[derive(Debug, clap::Args)]
pub(crate) struct InstallTarget {
    /// The project's folder
    #[arg(long, value_name = "DIR", default_value = ".", conflicts_with = "user")]
    pub(crate) project: PathBuf,
    /// Your own settings, for all projects
    #[arg(long)]
    pub(crate) user: bool,
    /// The settings that the project's team shares
    #[arg(long, conflicts_with = "user")]
    pub(crate) shared: bool,
}

/// How an install is told.
#[derive(Debug, clap::Args)]
pub(crate) struct InstallReport {
    /// Print what would change, as a diff, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum Preset {
    /// Decides and records, says nothing
    Observe,
    /// Advises, and gates what is usually regretted
    Guide,
    /// Gates everything there is a gate for
    Strict,
}

impl Preset {
    /// As it stands in a config.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Preset::Observe => "observe",
            Preset::Guide => "guide",
            Preset::Strict => "strict",
        }
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct Meter {
    /// Read this transcript
    #[arg(long, value_name = "PATH", conflicts_with = "session")]
    pub(crate) transcript: Option<PathBuf>,
    /// Read this session
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Status {
    /// Show this session
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Journal {
    /// Wait for more records
    #[arg(long, short)]
    pub(crate) follow: bool,
    /// Only this session
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// All projects, not only this one
    #[arg(long)]
    pub(crate) all: bool,
    /// Only records in which this policy took part
    #[arg(long, value_name = "ID")]
    pub(crate) policy: Option<String>,
    /// So many of the newest
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) last: usize,
    /// Print the records as they are written
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Explain {
    /// A record's id, or `last`: the newest record in which something was said or decided
    #[arg(value_name = "RECORD", default_value = "last")]
    pub(crate) record: String,
    /// Only this session
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// All projects, not only this one
    #[arg(long)]
    pub(crate) all: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_sound() {
        Arguments::command().debug_assert();
    }
}
