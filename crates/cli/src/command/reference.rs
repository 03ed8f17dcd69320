//! `tidegate reference`: pages that are checked in and made from the code. `cargo xtask docs` compares.

use std::fmt::Write as _;
use std::process::ExitCode;

use clap::{Command, CommandFactory};
use tidegate_core::feature::config::schema;

use super::{Outcome, config, mcp};
use crate::args::Cli;
use crate::host::claude_code::registrations::plugin_hooks;
use crate::print;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    pub(crate) of: ReferenceOf,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum ReferenceOf {
    Commands,
    Settings,
    Schema,
    PluginHooks,
    /// The MCP server's tools, with everything that their results hold.
    Tools,
}

#[expect(clippy::unnecessary_wraps, reason = "all commands have one form")]
pub(crate) fn run(args: &Args) -> Outcome {
    let text = match args.of {
        ReferenceOf::Commands => commands_page(),
        ReferenceOf::Settings => schema::reference_page(),
        ReferenceOf::Schema => config::schema_text(),
        ReferenceOf::PluginHooks => {
            serde_json::to_string_pretty(&plugin_hooks()).expect("hooks are plain data")
        }
        ReferenceOf::Tools => {
            serde_json::to_string_pretty(&mcp::define_tools()).expect("tools are plain data")
        }
    };
    print::line(text.trim_end());
    Ok(ExitCode::SUCCESS)
}

fn commands_page() -> String {
    let mut root = Cli::command();
    root.build();
    let mut page = String::from(
        "# Commands\n\nMade from the command line's own definition; `tidegate help COMMAND` says the same.\n",
    );
    add_section(&root, "", &mut page);
    page
}

fn add_section(command: &Command, outer: &str, page: &mut String) {
    // Clap's own display name joins the words of a command with hyphens, and some have hyphens of their own.
    let name = if outer.is_empty() {
        command.get_name().to_owned()
    } else {
        format!("{outer} {}", command.get_name())
    };
    // A fixed width keeps the page the same on every machine.
    let help = command.clone().term_width(100).render_help().to_string();
    let trimmed: Vec<&str> = help.lines().map(str::trim_end).collect();
    let _ = write!(page, "\n## `{name}`\n\n```text\n{}\n```\n", trimmed.join("\n").trim_end());
    for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set() && inner.get_name() != "help")
    {
        add_section(inner, &name, page);
    }
}
