//! The `tidegate` executable.

mod approval;
mod args;
mod backend;
mod bilingual;
mod command;
mod config_words;
mod doctor;
mod error;
mod help;
mod host;
mod install;
mod json_text;
mod knowledge;
mod language;
mod local_time;
mod memory_trouble;
mod own_session;
mod path;
mod policy_words;
mod print;
mod program;
mod project_root;
mod reason_words;
mod recent;
mod server_trouble;
mod sessions;
mod shell;
mod top;
mod web;
mod without_repository;

use std::io::IsTerminal;
use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;
use tidegate_hook::environment::Environment;

fn main() -> ExitCode {
    // These two run on every tool call and every redraw: they start before anything else is set up.
    let mut words = std::env::args_os().skip(1).peekable();
    let Some(command) = words.next() else {
        // Hosts that ignore the arguments of a hook entry start us so, and read the exit code as an answer.
        if !std::io::stdin().is_terminal() {
            return tidegate_hook::bare_hook();
        }
        return run_command();
    };
    let wants_help = words.peek().is_some_and(|word| word == "--help" || word == "-h");
    match command.to_str() {
        Some("hook") if !wants_help => return tidegate_hook::hook(words),
        Some("statusline") if !wants_help => return tidegate_hook::statusline(words),
        _ => {}
    }
    run_command()
}

fn run_command() -> ExitCode {
    if let Some(code) = without_repository::start_anew() {
        return code;
    }
    language::choose_by_user(&Environment::of_process());
    let cli = match args::Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return explain_usage(&error),
    };
    match command::run(cli) {
        Ok(code) => code,
        Err(error) => error.report(),
    }
}

fn explain_usage(error: &clap::Error) -> ExitCode {
    let arguments = || std::env::args_os().skip(1);
    match error.kind() {
        ErrorKind::DisplayVersion => error.exit(),
        ErrorKind::DisplayHelp => {
            help::of_arguments(arguments()).print();
            ExitCode::SUCCESS
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            help::of_arguments(arguments()).print_to_stderr();
            ExitCode::from(2)
        }
        _ => {
            help::usage_error::usage_page(error).print_to_stderr();
            ExitCode::from(2)
        }
    }
}
