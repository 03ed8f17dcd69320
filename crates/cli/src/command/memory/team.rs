//! `tidegate memory team`, `push` and `pull`.

use std::process::ExitCode;

use serde::Serialize;
use tidegate_memory::memory::{Memory, MemoryHome};
use tidegate_memory::postgres::{Address, Patience};
use tidegate_memory::team::{self, Direction, TeamFailure, TeamSearch, TeamState};
use tidegate_memory::view::Query;

use super::{Opened, format_minute, line};
use crate::command::Outcome;
use crate::error::CliError;
use crate::print;
use crate::sessions::Here;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate memory team
  tidegate memory team --json | jq .pending

Does not contact the server; `push` and `pull` do. docs/team.md explains how to share.")]
pub(crate) struct Args {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate memory push

The worker does this by itself whenever it has stored something. Rows that the server
cannot take now stay in the queue.

Exit codes: 0 everything is sent, 1 something is left.")]
pub(crate) struct PushArgs {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate memory pull

The worker does this by itself, too. Logs of others stay on the server;
`tidegate memory search` finds them there.")]
pub(crate) struct PullArgs {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `None` if the config names no server.
pub(crate) fn server_address(here: &Here) -> Result<Option<Address>, CliError> {
    let home = here.env.place.home.as_deref().and_then(|home| home.to_str());
    let variable = |name: &str| std::env::var(name).ok();
    Ok(Address::of(&here.config.memory.team, &variable, home)?)
}

/// For a person who waits, and a hundred times as long in tests, where a server is slow only because the machine is busy.
/// Release builds ignore the variable.
pub(crate) fn patience() -> Patience {
    let Patience { connect, transaction, whole } = Patience::SHORT;
    let times = cfg!(debug_assertions).then(|| std::env::var("TEST_TIDEGATE_PATIENCE").ok()).flatten();
    let times: u32 = times.and_then(|times| times.parse().ok()).unwrap_or(1);
    Patience {
        connect: connect * times,
        transaction: transaction * times,
        whole: whole.map(|whole| whole * times),
    }
}

/// Searches both stores. A wrong address is reported like a server that cannot be reached.
pub(crate) fn search_with_team(
    here: &Here,
    memory: &mut Memory,
    query: &Query,
) -> Result<TeamSearch, CliError> {
    let (address, wrong) = match server_address(here) {
        Ok(address) => (address, None),
        Err(error) => (None, Some(error.message().to_owned())),
    };
    let mut found = team::search_with_team(memory, address.as_ref(), query, patience())?;
    found.unreachable = found.unreachable.or(wrong);
    Ok(found)
}

#[derive(Serialize)]
struct Team {
    /// Without a password.
    server: Option<String>,
    shared: Vec<String>,
    /// Projects in the config without any work yet.
    named: Vec<String>,
    /// Rows that wait to be delivered.
    pending: u64,
    succeeded: Option<String>,
    failure: Option<TeamFailure>,
    /// The server's reason for refusing a row.
    refused: Option<String>,
    /// Rows that stay here because the team forgot the row they belong to.
    forgotten: usize,
}

pub(super) fn show_team(args: &Args) -> Outcome {
    let opened = Opened::look()?;
    let (here, shared, pending) = match opened {
        None => (Here::find()?, Vec::new(), 0),
        Some(mut opened) => {
            let store = opened.memory.store();
            let shared = store.shared_projects()?.into_iter().map(|(_, name)| name).collect();
            let pending = store.outbox_length()?;
            (Here::find()?, shared, pending)
        }
    };
    let address = server_address(&here)?;
    let standing = TeamState::read(&MemoryHome::of(&here.env.place)?);
    let named = here.config.memory.team.projects.0.iter().map(|project| project.0.clone());
    let team = Team {
        server: address.map(|address| address.shown().to_owned()),
        named: named.filter(|name| !shared.contains(name)).collect(),
        shared,
        pending,
        succeeded: standing.succeeded.map(tidegate_core::time::Millis::iso_seconds),
        failure: standing.failure,
        refused: standing.refused,
        forgotten: standing.forgotten,
    };
    if args.json {
        print::json(&team);
        return Ok(ExitCode::SUCCESS);
    }
    let Some(server) = &team.server else {
        print::line("no team store is configured");
        if here.config.problems.is_empty() {
            print::to_stderr("hint: docs/team.md says how to share projects with a team");
        }
        say_problems(&here);
        return Ok(ExitCode::SUCCESS);
    };
    let list = |names: &[String]| {
        let names: Vec<String> = names.iter().map(|name| line(name, 80)).collect();
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    };
    print::line(&format!("server     {server}"));
    print::line(&format!("shared     {}", list(&team.shared)));
    if !team.named.is_empty() {
        print::line(&format!("not yet    {}", list(&team.named)));
    }
    print::line(&format!("pending    {}", team.pending));
    let last = standing.succeeded.map_or_else(|| "never".to_owned(), format_minute);
    print::line(&format!("last talk  {last}"));
    if let Some(failure) = &team.failure {
        let tries = if failure.times == 1 { "once".to_owned() } else { format!("{} times", failure.times) };
        print::line(&format!(
            "failed     {tries}, last {}: {}",
            format_minute(failure.at),
            line(&failure.what, 300)
        ));
        print::line(&format!("next try   {}", format_minute(failure.next)));
    }
    if let Some(why) = &team.refused {
        print::line(&format!("refused    {}", line(why, 300)));
    }
    if team.forgotten > 0 {
        print::line(&format!("kept here  {}", of_forgotten(team.forgotten)));
    }
    Ok(ExitCode::SUCCESS)
}

/// A config section with a mistake does not count, and its author may not have noticed.
fn say_problems(here: &Here) {
    for problem in &here.config.problems {
        print::to_stderr(&format!("warning: {problem}"));
    }
}

fn of_forgotten(count: usize) -> String {
    format!("{count} rows that belong to what somebody had the team forget")
}

#[derive(Serialize)]
struct ExchangeReport {
    delivered: usize,
    forgotten: usize,
    refused: Option<String>,
    pulled: usize,
    pending: u64,
}

pub(super) fn exchange_now(json: bool, direction: Direction) -> Outcome {
    let mut opened = Opened::open()?;
    let Some(address) = server_address(&opened.here)? else {
        say_problems(&opened.here);
        return Err(team::no_team().into());
    };
    let told = team::exchange(&mut opened.memory, &address, direction, usize::MAX, Patience::LONG)?;
    let pending = opened.memory.store().outbox_length()?;
    let (delivered, forgotten, pulled) = (told.delivered, told.forgotten, told.pulled);
    let done = ExchangeReport { delivered, forgotten, refused: told.refused, pulled, pending };
    if json {
        print::json(&done);
    } else if direction == Direction::Pull {
        print::line(&format!("{} topics and decisions of others are new here", done.pulled));
    } else {
        print::line(&format!("{} rows were delivered to {}", done.delivered, address.shown()));
    }
    if done.forgotten > 0 {
        print::to_stderr(&format!("note: kept here: {}", of_forgotten(done.forgotten)));
    }
    if pending > 0 && direction == Direction::Push {
        print::to_stderr(&match &done.refused {
            Some(why) => {
                format!("note: {pending} rows wait; the server did not take one of them: {}", line(why, 300))
            }
            None => format!("note: {pending} rows wait for something that they refer to"),
        });
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}
