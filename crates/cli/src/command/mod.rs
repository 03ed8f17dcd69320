//! One file per command.

mod demo;
mod explain;
mod journal;
mod meter;
mod status;

use std::process::ExitCode;

use crate::args::{Arguments, Command};
use crate::doctor;
use crate::error::CliError;
use crate::install;

pub(crate) type Outcome = Result<ExitCode, CliError>;

pub(crate) fn run(arguments: Arguments) -> Outcome {
    match arguments.command {
        Command::Demo => demo::run(),
        Command::Init(args) => install::init(&args),
        Command::Uninstall(args) => install::uninstall(&args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Meter(args) => meter::run(&args),
        Command::Status(args) => status::run(&args),
        Command::Journal(args) => journal::run(&args),
        Command::Explain(args) => explain::run(&args),
        // `main` takes these two before the command line is parsed, unless help was asked for.
        Command::Hook { .. } | Command::Statusline { .. } => Ok(ExitCode::SUCCESS),
    }
}
