//! Every text of the command line exists in both languages, and every command is in the overview.

use std::collections::BTreeSet;

use clap::Command;
use tidegate_core::text::japanese::is_kana;
use tidegate_core::text::lang::Lang;

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
                texts.extend(examples.into_iter().filter_map(|(_, comment)| comment));
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
    // Names of files are the same in every language.
    texts.retain(|text| !(text.starts_with('`') && text.ends_with('`') && text.matches('`').count() == 2));
    let missing: Vec<&String> = texts.iter().filter(|text| japanese::find(text).is_none()).collect();
    assert!(missing.is_empty(), "without Japanese: {missing:#?}");
    let left: Vec<&str> =
        japanese::TEXTS.iter().map(|(en, _)| *en).filter(|en| !texts.contains(*en)).collect();
    assert!(left.is_empty(), "of no command any more: {left:#?}");
    let twice: Vec<&str> = japanese::TEXTS
        .iter()
        .enumerate()
        .filter(|(at, (en, _))| japanese::TEXTS[..*at].iter().any(|(earlier, _)| earlier == en))
        .map(|(_, (en, _))| *en)
        .collect();
    assert!(twice.is_empty(), "more than once: {twice:#?}");
    let not_japanese: Vec<&str> =
        japanese::TEXTS.iter().filter(|(_, ja)| !ja.chars().any(is_kana)).map(|(en, _)| *en).collect();
    assert!(not_japanese.is_empty(), "{not_japanese:#?}");
}

#[test]
fn every_command_is_in_one_group() {
    let root = command_line();
    let shown: BTreeSet<&str> =
        root.get_subcommands().filter(|command| !command.is_hide_set()).map(Command::get_name).collect();
    let listed: Vec<&str> = GROUPS.iter().flat_map(|group| group.commands).copied().collect();
    assert_eq!(listed.len(), listed.iter().collect::<BTreeSet<_>>().len(), "twice");
    assert_eq!(listed.into_iter().collect::<BTreeSet<_>>(), shown);
}

/// Words of every command that is not hidden.
fn all_commands(command: &Command, words: &[String], all: &mut Vec<Vec<String>>) {
    for inner in command.get_subcommands().filter(|inner| super::page::is_shown(inner)) {
        let words = [words, &[inner.get_name().to_owned()]].concat();
        all_commands(inner, &words, all);
        all.push(words);
    }
}

#[test]
fn the_help_of_every_command_fits() {
    let mut commands = vec![Vec::new()];
    all_commands(&command_line(), &[], &mut commands);
    assert!(commands.len() > 60, "{commands:?}");
    for words in commands {
        let page = of_command(&words).expect("a command");
        for (lang, width) in
            [Lang::En, Lang::Ja].into_iter().flat_map(|lang| [(lang, 60), (lang, 80), (lang, 120)])
        {
            let text = page.render(lang, Terminal { width, has_colors: false, breaks_words: true });
            // Commands are copied, so they are never folded.
            let is_prose = |line: &&str| {
                !line.contains("tidegate ")
                    && !line.contains("jq ")
                    && !line.starts_with("      --")
                    && !line.contains(": \"")
            };
            let too_wide = text.lines().filter(is_prose).find(|line| crate::print::columns(line) > width);
            assert_eq!(too_wide, None, "{words:?} {width}");
        }
    }
}

#[test]
fn the_overview_looks_well() {
    for (name, lang) in [("en", Lang::En), ("ja", Lang::Ja)] {
        for width in [40, 60, 80] {
            let terminal = Terminal { width, has_colors: false, breaks_words: true };
            insta::assert_snapshot!(
                format!("overview-{name}-{width}"),
                overview(&command_line(), false).render(lang, terminal)
            );
        }
    }
    let page = of_command(&["off".to_owned()]).expect("a command");
    insta::assert_snapshot!(
        "off-ja-60",
        page.render(Lang::Ja, Terminal { width: 60, has_colors: false, breaks_words: true })
    );
    let page = of_command(&["compound".to_owned(), "promote".to_owned()]).expect("a command");
    insta::assert_snapshot!(
        "promote-en-80",
        page.render(Lang::En, Terminal { width: 80, has_colors: false, breaks_words: true })
    );
}
