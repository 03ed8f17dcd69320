//! `tidegate workflow`: shows and checks the gates of a workflow, and records those that are passed or skipped.

mod attach;
mod check;
mod detach;
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
    /// Shows where the workflow of this session stands
    Status(status::Args),
    /// Checks a gate and prints its verification report
    Check(check::Args),
    /// Checks a gate and records that it was passed
    Pass(pass::Args),
    /// Goes on without a gate, if a person agrees
    Skip(skip::Args),
    /// Prints the verification reports of the gates, also of those that were passed
    Report(report::Args),
    /// Prints what satisfies a gate: the section to write, what goes to files and what stays
    Template(template::Args),
    /// Writes into a phase's section: its output, its summary, its status
    Note(note::Args),
    /// Moves on to a phase: the one before is complete, this one begins
    Phase(phase::Args),
    /// Begins a workflow: makes its manifest and attaches it to this session
    Start(start::Args),
    /// Attaches a manifest to this session
    Attach(attach::Args),
    /// Lets go of this session's workflow
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
        WorkflowCommand::Attach(args) => attach::run(args),
        WorkflowCommand::Detach(args) => detach::run(args),
    }
}
