//! The help of the command line, in both languages, folded like all output.
//!
//! English stands where clap expects it: in doc comments and `after_help`. `japanese.rs` holds each of these texts once more,
//! by its English. A test goes through the whole command line, so an English text cannot change alone.

mod groups;
mod japanese;
mod page;
pub(crate) mod usage_error;

use std::ffi::OsString;

use clap::{Command, CommandFactory};

use crate::args::Cli;
use crate::bilingual::Bilingual;
use crate::print::page::Page;

pub(crate) use groups::overview;

/// The whole command line, with the names that usage lines need.
pub(crate) fn command_line() -> Command {
    let mut root = Cli::command();
    root.build();
    root
}

/// The help of the command that these words name; `None` if there is no such command.
pub(crate) fn of_command(words: &[String]) -> Option<Page> {
    let root = command_line();
    let mut command = &root;
    for word in words {
        command = command.find_subcommand(word)?;
    }
    Some(if words.is_empty() { overview(&root, false) } else { page::help_page(command) })
}

/// The help that a command line asks for: of the innermost command in it.
pub(crate) fn of_arguments(arguments: impl IntoIterator<Item = OsString>) -> Page {
    let root = command_line();
    let mut command = &root;
    let words = arguments.into_iter().filter_map(|word| word.into_string().ok());
    for word in words.filter(|word| word != "help") {
        command = command.find_subcommand(&word).unwrap_or(command);
    }
    if std::ptr::eq(command, &raw const root) { overview(&root, false) } else { page::help_page(command) }
}

/// An English text of the command line, with its Japanese.
fn translate(en: &str) -> Bilingual {
    Bilingual { en: en.to_owned(), ja: japanese::find(en).unwrap_or(en).to_owned() }
}

#[cfg(test)]
mod tests;
