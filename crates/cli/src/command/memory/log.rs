//! `tidegate memory log`.

use std::process::ExitCode;

use tidegate_memory::act;

use super::{Opened, list, read_text};
use crate::command::Outcome;
use crate::print;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum LogCommand {
    /// Add a log to a topic
    #[command(after_help = "\
Examples:
  tidegate memory log add 12 \"Asked the people who run it: weekly is enough\"
  tidegate memory log add 12 - --title \"Minutes\" < minutes.txt")]
    Add(LogAdd),
}

#[derive(Debug, clap::Args)]
pub(crate) struct LogAdd {
    /// Number of the topic
    #[arg(value_name = "TOPIC")]
    pub(crate) topic: i64,
    /// Text of the log; `-` reads it from stdin
    #[arg(value_name = "TEXT")]
    pub(crate) text: String,
    /// Title in one line; without it, the first line of the text
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

pub(super) fn run(command: &LogCommand) -> Outcome {
    let LogCommand::Add(args) = command;
    let mut opened = Opened::to_write()?;
    let text = read_text(&args.text)?;
    opened.check_topic(args.topic)?;
    let log = opened
        .act(|memory, acting| act::add_log(memory, acting, args.topic, args.title.as_deref(), &text))?;
    if args.json {
        print::json(&log);
    } else {
        print::line(&list::log_line(&log));
    }
    Ok(ExitCode::SUCCESS)
}
