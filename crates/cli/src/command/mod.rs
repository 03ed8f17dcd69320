//! One file or folder per command: its command line (`Args`) and `run`.

pub(crate) mod activity;
pub(crate) mod completions;
pub(crate) mod compound;
pub(crate) mod config;
pub(crate) mod constraints;
pub(crate) mod cycle;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod explain;
pub(crate) mod handoff;
pub(crate) mod help;
pub(crate) mod hook;
pub(crate) mod init;
pub(crate) mod journal;
pub(crate) mod learnings;
pub(crate) mod log;
pub(crate) mod man;
pub(crate) mod mcp;
pub(crate) mod memory;
pub(crate) mod meter;
pub(crate) mod off;
pub(crate) mod on;
pub(crate) mod progress;
mod record_filter;
pub(crate) mod record_words;
pub(crate) mod reference;
pub(crate) mod replay;
pub(crate) mod report;
pub(crate) mod serve;
pub(crate) mod status;
pub(crate) mod statusline;
pub(crate) mod top;
pub(crate) mod trust;
pub(crate) mod tune;
pub(crate) mod uninstall;
pub(crate) mod worker;
pub(crate) mod workflow;

use std::process::ExitCode;

use crate::args::{Cli, Command};
use crate::error::CliError;

pub(crate) type Outcome = Result<ExitCode, CliError>;

pub(crate) fn run(cli: Cli) -> Outcome {
    match cli.command {
        Command::Demo(args) => demo::run(&args),
        Command::Init(args) => init::run(&args),
        Command::Uninstall(args) => uninstall::run(&args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Meter(args) => meter::run(&args),
        Command::Worker(args) => worker::run(&args),
        Command::Status(args) => status::run(&args),
        Command::Journal(args) => journal::run(&args),
        Command::Log(args) => log::run(&args),
        Command::Help(args) => help::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Serve(args) => serve::run(&args),
        Command::Top(args) => top::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::Tune(args) => tune::run(&args),
        Command::Progress(command) => progress::run(&command),
        Command::Compound(command) => compound::run(&command),
        Command::Learnings(args) => learnings::run(&args),
        Command::Handoff(args) => handoff::run(&args),
        Command::Cycle(command) => cycle::run(&command),
        Command::Workflow(command) => workflow::run(&command),
        Command::Memory(command) => memory::run(&command),
        Command::Config(command) => config::run(&command),
        Command::Activity(command) => activity::run(&command),
        Command::Trust(args) => trust::run(&args),
        Command::Constraints(args) => constraints::run(&args),
        Command::Off(args) => off::run(&args),
        Command::On(args) => on::run(&args),
        Command::Completions(args) => completions::run(&args),
        Command::Man(args) => man::run(&args),
        Command::Reference(args) => reference::run(&args),
        Command::Mcp(_) => mcp::run(),
        // `main` takes these two before the command line is parsed, unless help was asked for.
        Command::Hook(_) | Command::Statusline(_) => Ok(ExitCode::SUCCESS),
    }
}
