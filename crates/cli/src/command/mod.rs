//! One file per command.

mod boundaries;
mod completions;
mod compound;
mod config;
pub(crate) mod cycle;
mod demo;
mod explain;
pub(crate) mod gate;
mod handoff;
mod journal;
mod learnings;
mod mcp;
pub(crate) mod memory;
mod meter;
pub(crate) mod off;
mod phase;
mod phase_ask;
mod progress;
mod reference;
mod report;
mod status;
mod trust;
pub(crate) mod worker;

use std::process::ExitCode;

use crate::args::{Arguments, Command, PhaseCommand};
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
        Command::Report(args) => report::run(&args),
        Command::Progress(args) => progress::run(&args),
        Command::Compound(args) => compound::run(&args),
        Command::Learnings(args) => learnings::run(&args),
        Command::Handoff(args) => handoff::run(&args),
        Command::Cycle(args) => cycle::run(&args),
        Command::Gate(args) => gate::run(&args),
        Command::Memory(args) => memory::run(&args),
        Command::Config(args) => config::run(&args),
        Command::Phase(PhaseCommand::Classify(args)) => phase::run(&args),
        Command::Phase(PhaseCommand::Ask(args)) => phase_ask::run(&args),
        Command::Trust(args) => trust::run(&args),
        Command::Worker(args) => worker::run(&args),
        Command::Completions(args) => {
            completions::completions(&args);
            Ok(ExitCode::SUCCESS)
        }
        Command::Man(args) => completions::man(&args),
        Command::Reference(args) => {
            reference::run(&args);
            Ok(ExitCode::SUCCESS)
        }
        Command::Off(args) => off::off(&args),
        Command::On(args) => off::on(&args),
        Command::Mcp => mcp::run(),
        // `main` takes these two before the command line is parsed, unless help was asked for.
        Command::Hook { .. } | Command::Statusline { .. } => Ok(ExitCode::SUCCESS),
    }
}
