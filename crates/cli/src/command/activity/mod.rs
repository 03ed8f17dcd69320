//! `tidegate activity`: the activity that a prompt asks for.

mod ask;
mod classify;

use super::Outcome;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum ActivityCommand {
    /// Read prompts as JSON lines and print the kind of work that each asks for
    Classify(classify::Args),
    /// Ask a language model about the prompt on stdin (called by a hook)
    #[command(hide = true)]
    Ask(ask::Args),
}

pub(crate) fn run(command: &ActivityCommand) -> Outcome {
    match command {
        ActivityCommand::Classify(args) => classify::run(args),
        ActivityCommand::Ask(args) => ask::run(args),
    }
}
