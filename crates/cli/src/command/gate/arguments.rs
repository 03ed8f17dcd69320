//! The command line of `tidegate gate`.

use std::path::PathBuf;

use clap::Subcommand;

use crate::args::ProjectArgs;

#[derive(Debug, Subcommand)]
pub(crate) enum GateCommand {
    /// Shows where the workflow of this session stands
    #[command(after_help = "\
Examples:
  tidegate gate status
  tidegate gate status --json | jq '.gates[] | select(.state == \"pending\")'")]
    Status(Of),
    /// Checks a gate and prints its verification report
    #[command(after_help = "\
Examples:
  tidegate gate check                     the gate that holds agents back, else the next one
  tidegate gate check 2 --json | jq -r '.missing[]'

Token counts are estimates. What cannot be known does not fail a gate; the report
says so.

Exit codes: 0 nothing is missing, 1 something is.")]
    Check(Check),
    /// Checks a gate and records that it was passed
    #[command(after_help = "\
Examples:
  tidegate gate pass 1

Writes `gates: {1: {status: passed, …}}` into the manifest, and nothing else there.

Exit codes: 0 passed, 1 something is missing.")]
    Pass(Number),
    /// Goes on without a gate, if a person agrees
    #[command(after_help = "\
Examples:
  tidegate gate skip 1 --reason \"the discovery was one file\"

At a terminal it asks. Called by an agent it prints a code that the person can
approve, once and within ten minutes. The manifest says that it was skipped and
why.")]
    Skip(Skip),
    /// Prints the verification reports of the gates, also of those that were passed
    #[command(after_help = "\
Examples:
  tidegate gate report
  tidegate gate report 1")]
    Report(Check),
    /// Prints what satisfies a gate: the section to write, what goes to files and what stays
    #[command(after_help = "Examples:\n  tidegate gate template 1")]
    Template(Number),
    /// Writes into a phase's section: its output, its summary, its status
    #[command(after_help = "\
Examples:
  tidegate gate note 3 --output discovery.md < findings.md
  tidegate gate note 3 --summary \"React 19. Key decisions: keep the hooks. Details: discovery.md\"
  tidegate gate note discovery --artifact docs/discovery.md --status complete

The client may refuse its own editing tools below `.claude`; this writes there,
and touches nothing else in the manifest. --output reads standard input and
writes it to a file beside the manifest, which becomes an artifact of the phase.")]
    Note(Note),
    /// Moves on to a phase: the one before is complete, this one begins
    #[command(after_help = "\
Examples:
  tidegate gate phase 4
  tidegate gate phase skill_discovery

Before the gate that lies in between is passed, this moves on all the same; agents
wait then.")]
    Phase(Phase),
    /// Begins a workflow: makes its manifest and attaches it to this session
    #[command(after_help = "\
Examples:
  tidegate gate start user-dashboard
  tidegate gate start v2 --workflow release     the workflow [workflow.release] of the config

The manifest is `.claude/.output/features/ID/MANIFEST.yaml`.")]
    Start(Start),
    /// Attaches a manifest to this session
    #[command(after_help = "\
Examples:
  tidegate gate attach .claude/.output/features/user-dashboard/MANIFEST.yaml

A manifest belongs to the session that last wrote it, or that it was attached to.")]
    Attach(Attach),
    /// Lets go of this session's workflow
    #[command(after_help = "\
Examples:
  tidegate gate detach

While a gate holds agents back this needs a person's yes, as skipping it does.")]
    Detach(Detach),
}

/// Whose workflow.
#[derive(Debug, clap::Args)]
pub(crate) struct Of {
    #[command(flatten)]
    pub(crate) of: ProjectArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Check {
    /// Which gate
    #[arg(value_name = "N")]
    pub(crate) gate: Option<usize>,
    #[command(flatten)]
    pub(crate) of: ProjectArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Number {
    /// Which gate
    #[arg(value_name = "N")]
    pub(crate) gate: usize,
    #[command(flatten)]
    pub(crate) of: ProjectArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Skip {
    /// Which gate
    #[arg(value_name = "N")]
    pub(crate) gate: usize,
    /// Why
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: String,
    /// Only if this is the manifest that is meant
    #[arg(long, value_name = "PATH")]
    pub(crate) manifest: Option<PathBuf>,
    /// A person has approved exactly this
    #[arg(long)]
    pub(crate) approved: bool,
    #[command(flatten)]
    pub(crate) of: ProjectArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Note {
    /// Which phase: its number or name
    #[arg(value_name = "PHASE")]
    pub(crate) phase: String,
    /// What is carried on of it, in at most 200 tokens
    #[arg(long, value_name = "TEXT")]
    pub(crate) summary: Option<String>,
    /// A file that holds its output; can be given several times
    #[arg(long, value_name = "PATH")]
    pub(crate) artifact: Vec<String>,
    /// Write standard input to this file beside the manifest
    #[arg(long, value_name = "NAME")]
    pub(crate) output: Option<String>,
    /// Its status
    #[arg(long, value_name = "STATUS", value_parser = ["pending", "in_progress", "complete", "blocked", "skipped"])]
    pub(crate) status: Option<String>,
    #[command(flatten)]
    pub(crate) of: ProjectArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Phase {
    /// Which phase: its number or name
    #[arg(value_name = "PHASE")]
    pub(crate) phase: String,
    #[command(flatten)]
    pub(crate) of: ProjectArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Start {
    /// What the feature is called: the name of its folder
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// Which workflow
    #[arg(long, value_name = "NAME", default_value = tidegate_core::feature::workflow::BUILT_IN)]
    pub(crate) workflow: String,
    #[command(flatten)]
    pub(crate) of: ProjectArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Attach {
    /// The manifest
    #[arg(value_name = "PATH")]
    pub(crate) path: PathBuf,
    #[command(flatten)]
    pub(crate) of: ProjectArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Detach {
    /// Only if this is the manifest that is meant
    #[arg(long, value_name = "PATH")]
    pub(crate) manifest: Option<PathBuf>,
    /// A person has approved this
    #[arg(long)]
    pub(crate) approved: bool,
    #[command(flatten)]
    pub(crate) of: ProjectArgs,
}
