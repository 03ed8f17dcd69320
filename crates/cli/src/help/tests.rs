//! Every text of the command line exists in both languages, and every command is in the overview.

use std::collections::BTreeSet;

use clap::Command;
use tidegate_core::text::japanese::is_kana;

use super::groups::GROUPS;
use super::page::Remark;
use super::{command_line, japanese, of_command, overview};
use crate::print::terminal::Terminal;

/// All English texts of a command and of those below it.
fn add_texts(command: &Command, texts: &mut BTreeSet<String>) {
    texts.extend(command.get_about().map(ToString::to_string));
    for arg in command
        .get_arguments()
        .filter(|arg| !arg.is_hide_set() && !matches!(arg.get_id().as_str(), "help" | "version"))
    {
        texts.extend(arg.get_help().map(ToString::to_string));
        if arg.get_action().takes_values() {
            texts.extend(
                arg.get_possible_values()
                    .iter()
                    .filter_map(|value| value.get_help())
                    .map(ToString::to_string),
            );
        }
    }
    let remarks = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    for paragraph in remarks.split("\n\n").filter(|paragraph| !paragraph.is_empty()) {
        match Remark::of(paragraph) {
            Remark::Examples(examples) => {
                texts.extend(examples.into_iter().filter_map(|(_, comment)| comment))
            }
            Remark::Prose(text) | Remark::Block { title: text, .. } => {
                texts.insert(text);
            }
        }
    }
    for inner in command.get_subcommands().filter(|inner| {
        super::page::is_shown(inner) || inner.get_name() == "help" && inner.get_subcommands().next().is_none()
    }) {
        add_texts(inner, texts);
    }
}

#[test]
fn every_text_has_its_japanese() {
    let mut texts = BTreeSet::new();
    add_texts(&command_line(), &mut texts);
    let missing: Vec<&String> = texts.iter().filter(|text| japanese::find(text).is_none()).collect();
    assert!(missing.is_empty(), "without Japanese: {missing:#?}");
    let left: Vec<&str> =
        japanese::TEXTS.iter().map(|(en, _)| *en).filter(|en| !texts.contains(*en)).collect();
    assert!(left.is_empty(), "of no command any more: {left:#?}");
    let not_japanese: Vec<&str> =
        japanese::TEXTS.iter().filter(|(_, ja)| !ja.chars().any(is_kana)).map(|(en, _)| *en).collect();
    assert!(not_japanese.is_empty(), "{not_japanese:#?}");
}
