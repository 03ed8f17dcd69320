//! The `tidegate` executable.

mod args;
mod command;
mod error;
mod install;
mod print;
mod sessions;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    // The two that run on every tool call and every redraw start before anything else is set up.
    let mut words = std::env::args_os().skip(1);
    let wants_help = std::env::args_os().any(|arg| arg == "--help" || arg == "-h");
    match words.next() {
        Some(word) if word == "hook" && !wants_help => return tidegate_hook::hook(words),
        Some(word) if word == "statusline" && !wants_help => return tidegate_hook::statusline(words),
        _ => {}
    }
    match command::run(args::Arguments::parse()) {
        Ok(code) => code,
        Err(error) => error.report(),
    }
}
