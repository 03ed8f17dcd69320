//! `tidegate completions`: made from the one definition of the command line.

use std::process::ExitCode;

use clap::CommandFactory;

use super::Outcome;
use crate::args::Cli;
use crate::print;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate completions bash > ~/.local/share/bash-completion/completions/tidegate
  tidegate completions zsh > ~/.zfunc/_tidegate
  tidegate completions fish > ~/.config/fish/completions/tidegate.fish")]
pub(crate) struct Args {
    /// Shell to complete commands in
    pub(crate) shell: clap_complete::Shell,
}

#[expect(clippy::unnecessary_wraps, reason = "all commands have one form")]
pub(crate) fn run(args: &Args) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "tidegate", &mut script);
    print::to_stdout(&script);
    Ok(ExitCode::SUCCESS)
}
