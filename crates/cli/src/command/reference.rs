//! `tidegate reference`: pages that are checked in and made from the code. `cargo xtask docs` compares.

use std::fmt::Write as _;
use std::process::ExitCode;

use clap::Command;
use tidegate_core::feature::config::schema;
use tidegate_core::text::lang::Lang;

use super::{Outcome, config, mcp};
use crate::help;
use crate::host::claude_code::registrations::{Caller, plugin_hooks, plugin_hooks_of};
use crate::host::codex;
use crate::host::copilot;
use crate::host::page::hosts_page;
use crate::print;
use crate::print::terminal::Terminal;

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
    /// The plugin's hooks for Codex.
    PluginHooksCodex,
    /// The plugin's hooks for Copilot CLI.
    PluginHooksCopilot,
    /// What works in which agent.
    Hosts,
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
        ReferenceOf::PluginHooksCodex => {
            let hooks = plugin_hooks_of(Caller::PluginOf(&codex::registrations::HOOKS));
            serde_json::to_string_pretty(&hooks).expect("hooks are plain data")
        }
        ReferenceOf::PluginHooksCopilot => {
            let hooks = plugin_hooks_of(Caller::PluginOf(&copilot::registrations::HOOKS));
            serde_json::to_string_pretty(&hooks).expect("hooks are plain data")
        }
        ReferenceOf::Hosts => hosts_page(),
        ReferenceOf::Tools => {
            serde_json::to_string_pretty(&mcp::define_tools()).expect("tools are plain data")
        }
    };
    print::line(text.trim_end());
    Ok(ExitCode::SUCCESS)
}

/// A fixed width keeps the page the same on every machine.
const PAGE: Terminal = Terminal { width: 100, has_colors: false, breaks_words: true };

fn commands_page() -> String {
    let root = help::command_line();
    let mut page = String::from(
        "# Commands\n\nMade from the command line's own definition; `tidegate help COMMAND` says the same.\n",
    );
    let overview = help::overview(&root, true).render(Lang::En, PAGE);
    let _ = write!(page, "\n## `tidegate`\n\n```text\n{}\n```\n", overview.trim_end());
    let inner = root.get_subcommands().filter(|inner| !inner.is_hide_set());
    inner.for_each(|inner| add_section(inner, &[inner.get_name().to_owned()], &mut page));
    page
}

fn add_section(command: &Command, words: &[String], page: &mut String) {
    let help = help::of_command(words).map(|help| help.render(Lang::En, PAGE)).unwrap_or_default();
    let _ = write!(page, "\n## `tidegate {}`\n\n```text\n{}\n```\n", words.join(" "), help.trim_end());
    for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set() && inner.get_name() != "help")
    {
        add_section(inner, &[words, &[inner.get_name().to_owned()]].concat(), page);
    }
}
