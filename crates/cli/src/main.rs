//! The `tidegate` executable.

mod approval;
mod args;
mod backend;
#[expect(dead_code, reason = "commands come to pages one after another")]
mod bilingual;
mod command;
mod doctor;
mod error;
mod host;
mod install;
mod json_text;
mod knowledge;
mod language;
#[expect(dead_code, reason = "commands come to pages one after another")]
mod local_time;
mod path;
#[expect(dead_code, reason = "commands come to pages one after another")]
mod print;
mod program;
mod project_root;
mod sessions;
mod shell;
mod without_repository;

use std::io::IsTerminal;
use std::process::ExitCode;

use clap::Parser;
use tidegate_core::text::hidden::is_plain_text;
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

/// Clap repeats words of the command line as they are, so it prints only if no character in them hides or steers.
fn explain_usage(error: &clap::Error) -> ExitCode {
    if std::env::args_os().all(|word| is_plain_text(&word.to_string_lossy())) {
        error.exit();
    }
    print::to_stderr(error.render().to_string().trim_end());
    ExitCode::from(2)
}
