//! `tidegate memory list`.

use std::process::ExitCode;

use serde::Serialize;
use tidegate_memory::act::{author_of_decision, author_of_log};
use tidegate_memory::store::Store;
use tidegate_memory::view::{self, Decision, Log, MemoryProject, Paged, Topic};

use super::row_filter::RowFilter;
use super::row_words::{ShownRow, decision_row, log_row, project_row, topic_row};
use super::{Opened, count_waiting_jobs, is_none, say_waiting};
use crate::bilingual::both;
use crate::command::Outcome;
use crate::error::CliError;
use crate::local_time::LocalClock;
use crate::print::page::Page;
use crate::print::{self, remark};
use crate::sessions::Here;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate memory list                          topics of all projects
  tidegate memory list logs --project . --since 7d
  tidegate memory list decisions --topic 12 --all
  tidegate memory list logs --limit 100 --json | jq -r .next

A list comes in pages: give `--after` the value that the page before ended with.")]
#[expect(clippy::struct_excessive_bools, reason = "flags of a command line")]
pub(crate) struct Args {
    /// Kind of rows
    #[arg(value_name = "WHAT", default_value = "topics")]
    pub(crate) what: ListOf,
    #[command(flatten)]
    pub(crate) filter: RowFilter,
    /// List only open topics, or decisions of open topics
    #[arg(long, conflicts_with = "closed")]
    pub(crate) open: bool,
    /// List only closed ones
    #[arg(long)]
    pub(crate) closed: bool,
    /// List automatic topics and replaced decisions, too
    #[arg(long)]
    pub(crate) all: bool,
    /// List at most this many
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) limit: u16,
    /// List the page after this one
    #[arg(long, value_name = "PLACE", allow_hyphen_values = true)]
    pub(crate) after: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ListOf {
    Topics,
    Logs,
    Decisions,
    Projects,
}

/// A page of any kind.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Rows {
    Topics(Vec<Topic>),
    Logs(Vec<By<Log>>),
    Decisions(Vec<By<Decision>>),
    Projects(Vec<MemoryProject>),
}

/// A row with its author.
#[derive(Serialize)]
pub(super) struct By<T> {
    #[serde(flatten)]
    pub(super) row: T,
    by: String,
}

impl From<Log> for By<Log> {
    fn from(row: Log) -> By<Log> {
        By { by: author_of_log(&row), row }
    }
}

impl From<Decision> for By<Decision> {
    fn from(row: Decision) -> By<Decision> {
        By { by: author_of_decision(&row), row }
    }
}

#[derive(Serialize)]
struct ListedRows {
    #[serde(flatten)]
    rows: Rows,
    next: Option<String>,
    /// Jobs that wait for a worker, if any.
    #[serde(skip_serializing_if = "is_none")]
    waiting: usize,
    /// Nothing is listed, but there may be automatic topics.
    #[serde(skip)]
    automatic: bool,
}

pub(super) fn run(args: &Args) -> Outcome {
    let listed = read_page(args)?;
    say_waiting(listed.waiting);
    if args.json {
        print::json(&listed);
        return Ok(ExitCode::SUCCESS);
    }
    let clock = LocalClock::of_system(tidegate_state::clock::now());
    let rows: Vec<ShownRow> = match &listed.rows {
        Rows::Topics(rows) => rows.iter().map(|row| topic_row(&clock, row)).collect(),
        Rows::Logs(rows) => rows.iter().map(|one| log_row(&clock, &one.row)).collect(),
        Rows::Decisions(rows) => rows.iter().map(|one| decision_row(&clock, &one.row)).collect(),
        Rows::Projects(rows) => rows.iter().map(project_row).collect(),
    };
    if rows.is_empty() {
        Page::of(if listed.automatic {
            both!(
                "Nothing to list. `--all` lists the automatic topics of sessions, `tidegate memory list logs` the conversations.",
                "表示するものがありません。`--all` でセッションごとの自動トピックを、`tidegate memory list logs` で会話を表示します。"
            )
        } else {
            both!("Nothing to list.", "表示するものがありません。")
        })
        .print_to_stderr();
        return Ok(ExitCode::SUCCESS);
    }
    if !rows_page(&rows).print() {
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(next) = &listed.next {
        remark::hint(both!("show more with `--after {next}`", "続きは `--after {next}` で表示できます"));
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) fn rows_page(rows: &[ShownRow]) -> Page {
    let mut page = Page::new();
    page.pairs(rows.iter().map(ShownRow::pair));
    page
}

/// Refuses a filter that does not apply to this list: ignoring it would show more than was asked for.
fn check_filters(args: &Args) -> Result<(), CliError> {
    let of = &args.filter;
    let given = [
        ("--project", of.project.is_some()),
        ("--topic", of.topic.is_some()),
        ("--session", of.session.is_some()),
        ("--since", of.since.is_some()),
        ("--until", of.until.is_some()),
        ("--open", args.open),
        ("--closed", args.closed),
    ];
    let (what, not_for): (&str, &[&str]) = match args.what {
        ListOf::Topics | ListOf::Decisions => return Ok(()),
        ListOf::Logs => ("logs", &["--open", "--closed"]),
        ListOf::Projects => {
            ("projects", &["--project", "--topic", "--session", "--since", "--until", "--open", "--closed"])
        }
    };
    match given.iter().find(|(name, is_given)| *is_given && not_for.contains(name)) {
        Some((name, _)) => Err(CliError::new(both!(
            "`{name}` does not work for a list of {what}",
            "`{name}` は {what} の一覧では使えません"
        ))
        .hint(both!("leave `{name}` out", "`{name}` を外してください"))),
        None => Ok(()),
    }
}

fn read_page(args: &Args) -> Result<ListedRows, CliError> {
    check_filters(args)?;
    let Some(mut opened) = Opened::look()? else {
        let rows = match args.what {
            ListOf::Topics => Rows::Topics(Vec::new()),
            ListOf::Logs => Rows::Logs(Vec::new()),
            ListOf::Decisions => Rows::Decisions(Vec::new()),
            ListOf::Projects => Rows::Projects(Vec::new()),
        };
        return Ok(ListedRows {
            rows,
            next: None,
            waiting: count_waiting_jobs(&Here::find()?),
            automatic: false,
        });
    };
    let mut filter = opened.filter(&args.filter)?;
    filter.all = args.all;
    filter.open = if args.open { Some(true) } else { args.closed.then_some(false) };
    let page = view::Page { limit: args.limit.into(), after: args.after.clone() };
    let waiting = count_waiting_jobs(&opened.here);
    let memory = &mut opened.memory;
    let mut listed = match args.what {
        ListOf::Topics => with_rows(memory.topics(&filter, &page)?, Rows::Topics, waiting),
        ListOf::Logs => with_rows(memory.logs(&filter, &page)?, Rows::Logs, waiting),
        ListOf::Decisions => with_rows(memory.decisions(&filter, &page)?, Rows::Decisions, waiting),
        ListOf::Projects => with_rows(memory.projects(&page)?, Rows::Projects, waiting),
    };
    if matches!(&listed.rows, Rows::Topics(rows) if rows.is_empty()) && !args.all {
        filter.all = true;
        listed.automatic = !memory.topics(&filter, &view::Page { limit: 1, after: None })?.rows.is_empty();
    }
    Ok(listed)
}

fn with_rows<T, R: From<T>>(page: Paged<T>, rows: fn(Vec<R>) -> Rows, waiting: usize) -> ListedRows {
    ListedRows {
        rows: rows(page.rows.into_iter().map(R::from).collect()),
        next: page.next,
        waiting,
        automatic: false,
    }
}
