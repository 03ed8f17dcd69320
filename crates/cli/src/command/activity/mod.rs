//! `tidegate activity`: the phase of work that a prompt asks for.

mod ask;
mod classify;

use super::Outcome;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum ActivityCommand {
    /// Reads prompts as JSON lines and prints the phase of each
    Classify(classify::Args),
    /// Has a language model asked about the prompt on stdin (called by a hook)
    #[command(hide = true)]
    Ask(ask::Args),
}

pub(crate) fn run(command: &ActivityCommand) -> Outcome {
    match command {
        ActivityCommand::Classify(args) => classify::run(args),
        ActivityCommand::Ask(args) => ask::run(args),
    }
}
