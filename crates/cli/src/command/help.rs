//! `tidegate help`.

use std::process::ExitCode;

use super::Outcome;
use crate::bilingual::both;
use crate::error::CliError;
use crate::help;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate help                      commands for people
  tidegate help --all                all commands
  tidegate help memory search        one command")]
pub(crate) struct Args {
    /// Show the commands that programs call, too
    #[arg(long)]
    pub(crate) all: bool,
    /// Command to explain
    #[arg(value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

pub(crate) fn run(args: &Args) -> Outcome {
    if args.all && args.command.is_empty() {
        help::overview(&help::command_line(), true).print();
        return Ok(ExitCode::SUCCESS);
    }
    let Some(page) = help::of_command(&args.command) else {
        let name = args.command.join(" ");
        return Err(CliError::new(both!(
            "there is no command `{name}`",
            "`{name}` というコマンドはありません"
        ))
        .hint(both!(
            "`tidegate help --all` lists the commands",
            "`tidegate help --all` でコマンドの一覧を表示します"
        )));
    };
    page.print();
    Ok(ExitCode::SUCCESS)
}
