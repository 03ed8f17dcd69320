//! `tidegate memory migrate`.

use std::collections::BTreeMap;
use std::process::ExitCode;

use serde::Serialize;
use tidegate_core::pipeline::record::Deeds;
use tidegate_core::settings::value::Value;
use tidegate_memory::postgres::Address;
use tidegate_memory::team;

use super::server_args::ServerArgs;
use super::{Opened, nothing_recorded};
use crate::approval::{self, Consent, Request};
use crate::bilingual::{Bilingual, both, count_en};
use crate::command::Outcome;
use crate::print;
use crate::print::page::Page;
use crate::sessions::Here;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  PGPASSWORD=… tidegate memory migrate --to postgres://me@db.example.com/memory
  tidegate memory migrate --to postgres://me@db.example.com/memory --password-variable DB_PASSWORD
  tidegate memory migrate --to postgres://me@localhost/memory --tls off

Copies all projects, whatever the config shares. The store here does not change. Run it
again after an interruption: it continues with the rows that the server lacks. Put
the password into an environment variable: others on this machine can see a command
line. At a terminal it asks first; called by an agent it prints a code that only a
person can approve.

Exit codes: 0 all rows are there, 1 some are missing, 4 waits for a person's approval.")]
pub(crate) struct Args {
    /// Server and database: postgres://USER@HOST:PORT/DATABASE
    #[arg(long, value_name = "URL")]
    pub(crate) to: String,
    #[command(flatten)]
    pub(crate) server: ServerArgs,
    /// Use the approval that a person gave in this session
    #[arg(long)]
    pub(crate) approved: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Rows between two messages about the progress.
const SAID_EVERY: usize = 5000;

#[derive(Serialize)]
struct Moved<'a> {
    server: &'a str,
    rows: &'a BTreeMap<&'static str, usize>,
    new: usize,
    forgotten: usize,
    projects: &'a [String],
}

pub(super) fn run(args: &Args) -> Outcome {
    let Some(mut opened) = Opened::look()? else {
        return Err(nothing_recorded());
    };
    let address = args.server.address(&opened.here, &args.to)?;
    let sizes = opened.memory.store().sizes()?;
    let would = both!(
        "This copies the whole memory to {server}: {p} with {t}, {d} and {l}.",
        "記憶をすべて {server} にコピーします（プロジェクト{projects}件、トピック{topics}件、決定{decisions}件、ログ{logs}件）。",
        server = address.shown(),
        projects = sizes.projects,
        topics = sizes.topics + sizes.automatic_topics,
        decisions = sizes.decisions,
        logs = sizes.logs,
        p = count_en(sizes.projects as usize, "project"),
        t = count_en((sizes.topics + sizes.automatic_topics) as usize, "topic"),
        d = count_en(sizes.decisions as usize, "decision"),
        l = count_en(sizes.logs as usize, "log")
    );
    let request = Request {
        name: "memory migrate",
        command: args.server.approved_command("memory migrate --to", &address),
        about: Some(would.en.clone()),
        would: &[would],
        approved: args.approved,
        json: args.json,
    };
    let given = match approval::ask_consent(&opened.here, &request)? {
        Consent::Given(given) => given,
        Consent::Waits(code) => return Ok(code),
    };
    let mut next = 0;
    let mut progress = |done: usize| {
        if !args.json && done >= next {
            Page::of(both!("{done} rows copied so far", "{done}行をコピーしました")).print_to_stderr();
            next = done + SAID_EVERY;
        }
    };
    let moved = team::migrate(&mut opened.memory, &address, &mut progress)?;
    approval::record_command(&opened.here, &request.command, &given, Deeds::default());
    if args.json {
        print::json(&Moved {
            server: address.shown(),
            rows: &moved.rows,
            new: moved.new,
            forgotten: moved.forgotten,
            projects: &moved.projects,
        });
        return Ok(ExitCode::SUCCESS);
    }
    moved_page(&opened.here, args, &address, &moved).print();
    Ok(ExitCode::SUCCESS)
}

fn moved_page(here: &Here, args: &Args, address: &Address, moved: &team::Migrated) -> Page {
    let mut page = Page::new();
    let (server, all, new, forgotten) = (address.shown(), moved.all(), moved.new, moved.forgotten);
    let there = all - forgotten;
    page.paragraph(if forgotten == 0 {
        both!("All {all} rows are on {server}; {new} of them are new.", "{all}行すべてが {server} にあります（新規{new}行）。")
    } else {
        both!(
            "{there} of {all} rows are on {server}; {new} of them are new. {forgotten} stay deleted there.",
            "{all}行中{there}行が {server} にあります（新規{new}行）。{forgotten}行はサーバーで削除済みのため、送っていません。"
        )
    });
    let kinds = moved.rows.iter().map(|(kind, count)| {
        let name = kind_word(kind);
        both!("{n}", "{name}{count}件", n = count_en(*count, kind))
    });
    page.paragraph(Bilingual::list(kinds));
    page.gap();
    page.paragraph(both!(
        "The store of this machine did not change. To share new rows, add this to your own config:",
        "このマシンの保存先はそのままです。これからの行も共有するには、自分の設定に次を加えてください:"
    ));
    page.gap();
    let mut lines = vec!["[memory.team]".to_owned()];
    lines.extend(
        args.server.settings(here, address).into_iter().map(|(key, value)| format!("{key} = {value}")),
    );
    let projects = Value::List(moved.projects.iter().map(|name| Value::from(name.as_str())).collect());
    lines.push(format!("projects = {projects}"));
    page.indented(|page| page.verbatim(lines.join("\n")));
    page
}

pub(super) fn kind_word(kind: &str) -> &str {
    match kind {
        "project" => "プロジェクト",
        "topic" => "トピック",
        "session" => "セッション",
        "log" => "ログ",
        "decision" => "決定",
        other => other,
    }
}
