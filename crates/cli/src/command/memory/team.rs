//! `tidegate memory team`, `push` and `pull`.

use std::process::ExitCode;

use serde::Serialize;
use tidegate_core::time::Millis;
use tidegate_memory::memory::{Memory, MemoryHome};
use tidegate_memory::postgres::{Address, ForgetRequest, Patience};
use tidegate_memory::team::{self, Direction, TeamFailure, TeamSearch, TeamState};
use tidegate_memory::view::Query;

use super::{Opened, line, team_join, team_members};
use crate::bilingual::{Bilingual, both, count_en};
use crate::command::Outcome;
use crate::config_words::describe_problem;
use crate::error::CliError;
use crate::local_time::LocalClock;
use crate::print::page::Page;
use crate::print::text::{Text, data};
use crate::print::{self, remark};
use crate::sessions::Here;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate memory team
  tidegate memory team --json | jq .pending

Without a command it shows what is shared, and does not contact the server. docs/team.md
explains how to share.")]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Option<TeamCommand>,
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

#[derive(Debug, clap::Subcommand)]
pub(crate) enum TeamCommand {
    /// Make or upgrade a team's store on a server, as its administrator
    Create(team_members::CreateArgs),
    /// Make a login for a member, as the administrator
    Invite(team_members::InviteArgs),
    /// Join a team, share projects with it, and list what it shares
    Join(team_join::JoinArgs),
    /// List the members of the team
    Members(team_members::MembersArgs),
    /// Delete the login of a member, as the administrator
    Remove(team_members::RemoveArgs),
    /// Share nothing with the team any more
    Leave(team_join::LeaveArgs),
}

pub(super) fn run(args: &Args) -> Outcome {
    match &args.command {
        None => show_team(args),
        Some(TeamCommand::Create(args)) => team_members::create(args),
        Some(TeamCommand::Invite(args)) => team_members::invite(args),
        Some(TeamCommand::Join(args)) => team_join::join(args),
        Some(TeamCommand::Members(args)) => team_members::members(args),
        Some(TeamCommand::Remove(args)) => team_members::remove(args),
        Some(TeamCommand::Leave(args)) => team_join::leave(args),
    }
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

/// On the page; JSON has all.
const SHOWN_REQUESTS: usize = 5;

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
    /// Changes of rows of others, which stay here.
    theirs: usize,
    /// Requests of others to forget rows of this person.
    requests: Vec<Asked>,
}

/// A teammate asks this person to forget a row.
#[derive(Serialize)]
struct Asked {
    kind: String,
    /// As `memory forget` takes it.
    id: String,
    asked_by: String,
}

fn show_team(args: &Args) -> Outcome {
    let opened = Opened::look()?;
    let mut requests = Vec::new();
    let (here, shared, named, pending) = match opened {
        None => {
            let here = Here::find()?;
            let listed = here.config.memory.team.projects.0.iter().map(|project| project.0.clone());
            let named = listed.collect();
            (here, Vec::new(), named, 0)
        }
        Some(mut opened) => {
            let asked = TeamState::read(opened.memory.home()).requests;
            let store = opened.memory.store();
            for ForgetRequest { kind, uid, asked_by } in asked {
                // Forgotten since, or not of this person.
                if !store.is_own_row(&kind, &uid)? {
                    continue;
                }
                let number = store.number_of(&kind, &uid)?;
                let id = number.map_or_else(|| super::row_words::short_uid(&uid), |id| id.to_string());
                requests.push(Asked { kind, id, asked_by });
            }
            let shared = store.shared_projects()?.into_iter().map(|(_, name)| name).collect();
            let pending = store.outbox_length()?;
            let named = opened.memory.listed_without_work()?;
            (Here::find()?, shared, named, pending)
        }
    };
    let address = server_address(&here)?;
    let standing = TeamState::read(&MemoryHome::of(&here.env.place)?);
    let team = Team {
        server: address.map(|address| address.shown().to_owned()),
        named,
        shared,
        pending,
        succeeded: standing.succeeded.map(Millis::iso_seconds),
        failure: standing.failure,
        refused: standing.refused,
        forgotten: standing.forgotten,
        theirs: standing.theirs,
        requests,
    };
    if args.json {
        print::json(&team);
        return Ok(ExitCode::SUCCESS);
    }
    let Some(server) = &team.server else {
        Page::of(both!("No team's store is configured.", "チームの保存先は設定されていません。")).print();
        if here.config.problems.is_empty() {
            remark::hint(both!(
                "docs/team.md explains how to share projects with a team",
                "チームでの共有の仕方は docs/team.md にあります"
            ));
        }
        say_problems(&here);
        return Ok(ExitCode::SUCCESS);
    };
    team_page(&team, server, standing.succeeded, &LocalClock::of_system(here.now)).print();
    Ok(ExitCode::SUCCESS)
}

fn team_page(team: &Team, server: &str, succeeded: Option<Millis>, clock: &LocalClock) -> Page {
    let list = |names: &[String]| -> Text {
        let names: Vec<String> = names.iter().map(|name| line(name, 80)).collect();
        if names.is_empty() { both!("none", "なし").into() } else { data(names.join(", ")) }
    };
    let pending = team.pending;
    let mut pairs: Vec<(Text, Text)> = vec![
        (both!("server", "サーバー").into(), data(server)),
        (both!("shared", "共有中").into(), list(&team.shared)),
    ];
    if !team.named.is_empty() {
        pairs.push((both!("no work yet", "記録なし").into(), list(&team.named)));
    }
    pairs.extend([
        (
            both!("to send", "送信待ち").into(),
            Text::from(both!("{n}", "{pending}行", n = count_en(pending as usize, "row"))),
        ),
        (
            both!("last contact", "最後の通信").into(),
            succeeded.map_or_else(
                || both!("never", "まだありません").into(),
                |at| data(clock.minute_with_zone(at)),
            ),
        ),
    ]);
    if let Some(failure) = &team.failure {
        let (at, why, times) = (clock.minute_with_zone(failure.at), line(&failure.what, 300), failure.times);
        pairs.push((
            Text::from(both!("failed", "失敗")).warning(),
            both!(
                "{n}, last {at}: {why}",
                "{times}回（最後は {at}）: {why}",
                n = count_en(times as usize, "time")
            )
            .into(),
        ));
        pairs.push((both!("next try", "次の試行").into(), data(clock.minute_with_zone(failure.next))));
    }
    if let Some(why) = &team.refused {
        pairs.push((Text::from(both!("refused", "拒否")).warning(), data(line(why, 300))));
    }
    if team.forgotten > 0 {
        pairs.push((both!("only here", "ここだけ").into(), of_forgotten(team.forgotten).into()));
    }
    if team.theirs > 0 {
        let theirs = team.theirs;
        pairs.push((
            both!("only here", "ここだけ").into(),
            both!(
                "{n} of rows that belong to a teammate",
                "チームのほかの人の行に加えた変更{theirs}件",
                n = count_en(theirs, "change")
            )
            .into(),
        ));
    }
    // A teammate can ask; only the person decides.
    for request in team.requests.iter().take(SHOWN_REQUESTS) {
        let (who, kind, id) = (line(&request.asked_by, 40), line(&request.kind, 20), &request.id);
        let kind_ja = super::migrate::kind_word(&request.kind);
        pairs.push((
            both!("asked", "依頼").into(),
            both!(
                "{who} asks you to delete your {kind} {id}: `tidegate memory forget {kind} {id}`",
                "{who} が、あなたの{kind_ja} {id} の削除を求めています: `tidegate memory forget {kind} {id}`"
            )
            .into(),
        ));
    }
    let mut page = Page::new();
    page.pairs(pairs);
    page
}

/// A config section with a mistake does not count, and its author may not have noticed.
fn say_problems(here: &Here) {
    for problem in &here.config.problems {
        remark::warn(describe_problem(problem));
    }
}

fn of_forgotten(count: usize) -> Bilingual {
    both!(
        "{n} of topics or projects that a teammate deleted",
        "チームの誰かが削除したトピックやプロジェクトの{count}行",
        n = count_en(count, "row")
    )
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
        Page::of(both!(
            "Fetched {n} (topics and decisions of others).",
            "ほかの人のトピックと決定を{pulled}件受け取りました。",
            n = count_en(pulled, "new row")
        ))
        .print();
    } else {
        let server = address.shown();
        Page::of(both!(
            "Sent {n} to {server}",
            "{server} に{delivered}行を送りました",
            n = count_en(delivered, "row")
        ))
        .print();
    }
    if done.forgotten > 0 {
        let Bilingual { en, ja } = of_forgotten(done.forgotten);
        remark::note(both!("these stay on this machine only: {en}", "このマシンだけに残したもの: {ja}"));
    }
    if pending > 0 && direction == Direction::Push {
        let n = count_en(pending as usize, "row");
        remark::note(match done.refused.as_deref().map(|why| line(why, 300)) {
            Some(why) => both!(
                "{n} not sent yet; the server refused one of them: {why}",
                "まだ送っていない行が{pending}行あります。サーバーが1行を拒否しました: {why}"
            ),
            None => both!(
                "{n} not sent yet, because rows that they refer to are missing; the next delivery tries again",
                "参照先がそろわないため、{pending}行をまだ送っていません。次の送信でもう一度試します"
            ),
        });
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::print::looks::assert_looks;

    #[test]
    fn a_team_looks_well() {
        let at = Millis(1_794_963_600_000);
        let team = Team {
            server: None,
            shared: vec!["harbour".to_owned(), "東京".to_owned()],
            named: vec!["quays".to_owned()],
            pending: 5,
            succeeded: None,
            failure: Some(TeamFailure {
                at,
                next: Millis(at.0 + 60_000),
                times: 2,
                what: "db.example.com did not answer within 3000 ms".to_owned(),
                server: String::new(),
            }),
            refused: None,
            forgotten: 1,
            theirs: 2,
            requests: vec![Asked {
                kind: "log".to_owned(),
                id: "3f9a2c11".to_owned(),
                asked_by: "bob".to_owned(),
            }],
        };
        let clock = LocalClock::utc(Millis(at.0 + 1000));
        assert_looks("team", &team_page(&team, "postgres://me@db.example.com/memory", None, &clock));
    }
}
