//! `tidegate memory log`.

use std::process::ExitCode;

use tidegate_memory::act;

use super::row_words::log_row;
use super::{Opened, parse_id, read_text};
use crate::bilingual::both;
use crate::command::Outcome;
use crate::print;
use crate::print::page::Page;

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
    #[arg(value_name = "TOPIC", value_parser = parse_id)]
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
        let mut page = Page::of(both!("Added a log.", "ログを追加しました。"));
        page.indented(|page| page.pairs([log_row(&opened.clock(), &log).pair()]));
        page.print();
    }
    Ok(ExitCode::SUCCESS)
}
