//! `tidegate workflow`: shows and checks the gates of a workflow, and records those that are passed or skipped.

mod attach;
mod check;
mod detach;
mod finish;
mod note;
mod pass;
mod phase;
mod project_workflow;
mod report;
mod skip;
mod start;
mod status;
mod template;
mod verification_report;

use super::Outcome;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum WorkflowCommand {
    /// Show the state of this session's workflow
    Status(status::Args),
    /// Check a checkpoint and print its report
    Check(check::Args),
    /// Check a checkpoint and record that it passed
    Pass(pass::Args),
    /// Skip a checkpoint, if a person agrees
    Skip(skip::Args),
    /// Print the reports of all checkpoints, passed ones too
    Report(report::Args),
    /// Print what a checkpoint needs: the section to write, and the files
    Template(template::Args),
    /// Write the output, summary or status of a phase
    Note(note::Args),
    /// Complete the phase before and start this one
    Phase(phase::Args),
    /// Start a workflow in this session, with a new manifest
    Start(start::Args),
    /// Complete the workflow, with a person's yes if work is open
    Finish(finish::Args),
    /// Use a manifest in this session
    Attach(attach::Args),
    /// Stop using this session's workflow
    Detach(detach::Args),
}

pub(crate) fn run(command: &WorkflowCommand) -> Outcome {
    match command {
        WorkflowCommand::Status(args) => status::run(args),
        WorkflowCommand::Check(args) => check::run(args),
        WorkflowCommand::Pass(args) => pass::run(args),
        WorkflowCommand::Skip(args) => skip::run(args),
        WorkflowCommand::Report(args) => report::run(args),
        WorkflowCommand::Template(args) => template::run(args),
        WorkflowCommand::Note(args) => note::run(args),
        WorkflowCommand::Phase(args) => phase::run(args),
        WorkflowCommand::Start(args) => start::run(args),
        WorkflowCommand::Finish(args) => finish::run(args),
        WorkflowCommand::Attach(args) => attach::run(args),
        WorkflowCommand::Detach(args) => detach::run(args),
    }
}
