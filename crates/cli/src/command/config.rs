//! `tidegate config`: every value with its origin, and the schema.

use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::{Map, Value, json};
use tidegate_core::feature::config::layer::key_path;
use tidegate_core::feature::config::schema;
use tidegate_core::settings::value;
use tidegate_core::settings::value::key_text;
use tidegate_core::text::lang::Lang;

use super::Outcome;
use crate::bilingual::both;
use crate::config_words::{describe_former_name, describe_origin, describe_problem};
use crate::language;
use crate::print;
use crate::print::page::Page;
use crate::print::text::Text;
use crate::sessions::Here;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum ConfigCommand {
    /// Show every value that counts here
    #[command(after_help = "\
Examples:
  tidegate config show --origin
  tidegate config show --json | jq '.values[\"context_warning.mode\"]'

Later sources override earlier ones: defaults, ~/.config/tidegate/config.toml, its
[project.\"/path\"] section, .claude/tidegate.toml, .claude/tidegate.local.toml,
TIDEGATE_* variables. A project's own files can only make rules stricter, until you
run `tidegate trust`.")]
    Show(ConfigShow),
    /// Print the JSON schema of a config file
    #[command(after_help = "Examples:\n  tidegate config schema > config.schema.json")]
    Schema,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ConfigShow {
    /// Show the source of each value
    #[arg(long)]
    pub(crate) origin: bool,
    /// Use another project than that of the current folder
    #[arg(long, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
    /// Print JSON, with origins
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn run(args: &ConfigCommand) -> Outcome {
    match args {
        ConfigCommand::Show(args) => show_values(args),
        ConfigCommand::Schema => {
            print::line(&schema_text());
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// As it is checked in.
pub(crate) fn schema_text() -> String {
    serde_json::to_string_pretty(&schema::json_schema()).expect("a schema is plain data")
}

fn show_values(args: &ConfigShow) -> Outcome {
    let mut here = Here::find()?;
    if let Some(project) = &args.project {
        here.look_at(project)?;
    }
    if args.json {
        print::json(&as_json(&here));
    } else {
        as_toml(&here, args.origin);
    }
    warn_of_problems(&here.config.problems);
    let mut page = Page::new();
    for name in &here.config.former_names {
        page.labelled(
            Text::from(both!("hint", "ヒント")).good(),
            describe_former_name(&name.origin, &name.written, &name.now),
        );
    }
    for waiting in &here.config.waiting {
        let (origin, key) = (&waiting.assignment.origin, waiting.assignment.path());
        page.labelled(
            both!("note", "注意"),
            if waiting.never {
                both!(
                    "{origin}: `{key}` counts only in your own config file",
                    "{origin}: `{key}` は自分の設定ファイルでだけ有効です"
                )
            } else if waiting.in_part {
                both!(
                    "{origin}: `{key}` only adds to the list; the rest of it waits for `tidegate trust`",
                    "{origin}: `{key}` は一覧への追加だけが有効です。残りは `tidegate trust` を待っています"
                )
            } else {
                both!(
                    "{origin}: `{key}` waits for `tidegate trust`",
                    "{origin}: `{key}` は `tidegate trust` を待っています"
                )
            },
        );
    }
    page.print_to_stderr();
    Ok(ExitCode::SUCCESS)
}

pub(super) fn warn_of_problems(problems: &[String]) {
    let mut page = Page::new();
    for problem in problems {
        page.labelled(Text::from(both!("warning", "警告")).warning(), describe_problem(problem));
    }
    page.print_to_stderr();
}

fn as_toml(here: &Here, origin: bool) {
    for section in here.config.sections() {
        if !section.name().is_empty() {
            print::line(&format!("\n[{}]", section.name()));
        }
        for name in section.names() {
            let from = here.config.origin(&key_path(section.name(), name));
            let line = match section.get(name) {
                // TOML has no word for it.
                value::Value::Nothing => match language::current() {
                    Lang::En => format!("# {name} is not set"),
                    Lang::Ja => format!("# {name} は未設定"),
                },
                value => format!("{} = {value}", key_text(name)),
            };
            let from = describe_origin(from);
            let from = from.get(language::current());
            print::line(&if origin { format!("{line:<32} # {from}") } else { line });
        }
    }
}

fn as_json(here: &Here) -> Value {
    let mut values = Map::new();
    for section in here.config.sections() {
        for name in section.names() {
            let path = key_path(section.name(), name);
            let origin = here.config.origin(&path).to_string();
            values.insert(path, json!({ "value": section.get(name).json(), "origin": origin }));
        }
    }
    let waiting: Vec<Value> = here
        .config
        .waiting
        .iter()
        .map(|waiting| {
            json!({
                "key": waiting.assignment.path(),
                "value": here.config.display_value(&waiting.assignment).json(),
                "origin": waiting.assignment.origin.to_string(),
                "never": waiting.never,
                "in_part": waiting.in_part,
            })
        })
        .collect();
    let former: Vec<String> = here.config.former_names.iter().map(ToString::to_string).collect();
    json!({
        "values": values, "former_names": former, "problems": here.config.problems, "waiting": waiting,
        "off": here.config.off, "off_by_command": here.config.off_by_command,
    })
}
