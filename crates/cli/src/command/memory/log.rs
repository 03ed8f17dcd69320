//! `tidegate memory log`.

use std::process::ExitCode;

use tidegate_memory::act;

use super::arguments::LogCommand;
use super::{Opened, given, list};
use crate::command::Outcome;
use crate::print;

pub(super) fn run(command: &LogCommand) -> Outcome {
    let LogCommand::Add(args) = command;
    let mut opened = Opened::to_write()?;
    let text = given(&args.text)?;
    opened.check_topic(args.topic)?;
    let log = opened
        .act(|memory, acting| act::add_log(memory, acting, args.topic, args.title.as_deref(), &text))?;
    if args.json {
        print::json(&log);
    } else {
        print::line(&list::log(&log));
    }
    Ok(ExitCode::SUCCESS)
}
