//! The help of one command: what it does, how it is called, examples.

use clap::{Arg, ArgAction, Command};

use super::translate;
use crate::bilingual::{Bilingual, both};
use crate::print::page::Page;
use crate::print::table::Table;
use crate::print::text::{Text, data};

pub(super) fn help_page(command: &Command) -> Page {
    let mut page = Page::new();
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    page.paragraph(translate(&about));
    page.gap();
    let usage = command.clone().render_usage().to_string();
    let usage = usage.strip_prefix("Usage: ").unwrap_or(&usage).replace("\n       ", "\n");
    page.labelled(Text::from(both!("Usage", "使い方")).strong(), data(usage));

    let inner: Vec<&Command> = command.get_subcommands().filter(|inner| is_shown(inner)).collect();
    if !inner.is_empty() {
        page.heading(both!("Commands", "コマンド"));
        let commands = inner.into_iter().map(|inner| {
            let about = inner.get_about().map(ToString::to_string).unwrap_or_default();
            (data(inner.get_name()).command(), Text::from(translate(&about)))
        });
        page.indented(|page| page.pairs(commands));
    }
    let arguments: Vec<&Arg> = command.get_positionals().filter(|arg| !arg.is_hide_set()).collect();
    if !arguments.is_empty() {
        page.heading(both!("Arguments", "引数"));
        page.indented(|page| page.table(list_arguments(&arguments)));
    }
    let options: Vec<&Arg> =
        command.get_opts().chain(flags(command)).filter(|arg| !arg.is_hide_set()).collect();
    page.heading(both!("Options", "オプション"));
    page.indented(|page| page.table(list_arguments(&options)));
    if let Some(more) = command.get_after_help() {
        add_remarks(&mut page, &more.to_string());
    }
    page
}

pub(super) fn is_shown(command: &Command) -> bool {
    !command.is_hide_set() && command.get_name() != "help"
}

fn flags(command: &Command) -> impl Iterator<Item = &Arg> {
    command.get_arguments().filter(|arg| !arg.is_positional() && !arg.get_action().takes_values())
}

fn list_arguments(arguments: &[&Arg]) -> Table {
    let mut table = Table::untitled(2);
    for arg in arguments {
        table.row([data(arg_name(arg)).command(), describe(arg)]);
    }
    table
}

fn arg_name(arg: &Arg) -> String {
    if arg.is_positional() {
        return arg.to_string();
    }
    let shown = arg.to_string();
    match arg.get_short() {
        Some(short) => format!("-{short}, {shown}"),
        None => shown,
    }
}

fn describe(arg: &Arg) -> Text {
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let mut text = Text::from(match arg.get_action() {
        ArgAction::Help | ArgAction::HelpShort | ArgAction::HelpLong => {
            both!("Show this help", "このヘルプを表示します")
        }
        ArgAction::Version => both!("Show the version", "バージョンを表示します"),
        _ => translate(&help),
    });
    let defaults: Vec<String> =
        arg.get_default_values().iter().map(|value| value.to_string_lossy().into_owned()).collect();
    if arg.get_action().takes_values() && !defaults.is_empty() && !arg.is_hide_default_value_set() {
        let default = defaults.join(" ");
        text = text + data(" ") + Text::from(both!("[default: {default}]", "[既定: {default}]")).dim();
    }
    let values: Vec<clap::builder::PossibleValue> = arg.get_possible_values();
    let values: Vec<_> = values.into_iter().filter(|value| !value.is_hide_set()).collect();
    if !arg.get_action().takes_values() || values.is_empty() || arg.is_hide_possible_values_set() {
        return text;
    }
    if values.iter().all(|value| value.get_help().is_none()) {
        let names: Vec<&str> = values.iter().map(clap::builder::PossibleValue::get_name).collect();
        let names = names.join(", ");
        return text + data(" ") + Text::from(both!("[values: {names}]", "[値: {names}]")).dim();
    }
    for value in &values {
        let name = value.get_name();
        let help = translate(&value.get_help().map(ToString::to_string).unwrap_or_default());
        let Bilingual { en, ja } = help;
        text = text + both!("\n  {name}: {en}", "\n  {name}: {ja}");
    }
    text
}

/// Paragraphs that follow the options: examples, prose, and blocks that are shown as they are.
fn add_remarks(page: &mut Page, text: &str) {
    for paragraph in text.split("\n\n") {
        page.gap();
        match Remark::of(paragraph) {
            Remark::Examples(examples) => {
                page.heading(both!("Examples", "例"));
                page.indented(|page| add_examples(page, &examples));
            }
            Remark::Prose(prose) => page.paragraph(translate(&prose)),
            Remark::Block { title, lines } => {
                page.paragraph(translate(&title));
                page.verbatim(lines);
            }
        }
    }
}

fn add_examples(page: &mut Page, examples: &[(String, Option<String>)]) {
    if examples.iter().all(|(_, comment)| comment.is_none()) {
        for (command, _) in examples {
            page.verbatim(command.as_str());
        }
        return;
    }
    let mut table = Table::untitled(2);
    for (command, comment) in examples {
        table.row([data(command).command(), comment.as_deref().map(translate).unwrap_or_default().into()]);
    }
    page.table(table);
}

/// A paragraph of `after_help`.
pub(super) enum Remark {
    /// Commands with what they do.
    Examples(Vec<(String, Option<String>)>),
    Prose(String),
    Block {
        title: String,
        lines: String,
    },
}

impl Remark {
    pub(super) fn of(paragraph: &str) -> Remark {
        let (first, rest) = paragraph.split_once('\n').unwrap_or((paragraph, ""));
        if first == "Examples:" {
            return Remark::Examples(read_examples(rest));
        }
        if rest.starts_with(' ') {
            return Remark::Block { title: first.to_owned(), lines: rest.to_owned() };
        }
        Remark::Prose(paragraph.replace('\n', " "))
    }
}

fn read_examples(lines: &str) -> Vec<(String, Option<String>)> {
    let mut examples: Vec<(String, Option<String>)> = Vec::new();
    let mut continues = false;
    for line in lines.lines() {
        let text = line.strip_prefix("  ").unwrap_or(line);
        if continues && let Some((last, _)) = examples.last_mut() {
            last.push('\n');
            last.push_str(text);
        } else {
            let (command, comment) =
                text.split_once("  ").map_or((text, ""), |(command, rest)| (command, rest.trim()));
            let comment = (!comment.is_empty()).then(|| comment.to_owned());
            examples.push((command.to_owned(), comment));
        }
        continues = text.ends_with('\\');
    }
    examples
}
