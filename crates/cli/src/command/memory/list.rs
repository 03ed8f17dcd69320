//! `tidegate memory list`.

use std::process::ExitCode;

use serde::Serialize;
use tidegate_memory::act::{author, author_of_log};
use tidegate_memory::record::TopicStatus;
use tidegate_memory::store::Store;
use tidegate_memory::view::{Decision, Log, MemoryProject, Page, Paged, Topic};

use super::row_filter::RowFilter;
use super::{Opened, count_waiting_jobs, format_minute, is_none, line, project_folder, say_waiting};
use crate::command::Outcome;
use crate::error::CliError;
use crate::print;
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
        By { by: author_of_log(&row.row), row }
    }
}

impl From<Decision> for By<Decision> {
    fn from(row: Decision) -> By<Decision> {
        By { by: author(row.row.session.as_deref()), row }
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
    let lines: Vec<String> = match &listed.rows {
        Rows::Topics(rows) => rows.iter().map(topic_line).collect(),
        Rows::Logs(rows) => rows.iter().map(|one| log_line(&one.row)).collect(),
        Rows::Decisions(rows) => rows.iter().map(|one| decision_line(&one.row)).collect(),
        Rows::Projects(rows) => rows.iter().map(project_line).collect(),
    };
    if lines.is_empty() {
        print::to_stderr("there is nothing to list");
        if listed.automatic {
            print::to_stderr(
                "hint: `--all` lists the topics that were made for sessions; `tidegate memory list logs` what was said",
            );
        }
    }
    for line in lines {
        if !print::line(&line) {
            return Ok(ExitCode::SUCCESS);
        }
    }
    if let Some(next) = &listed.next {
        print::to_stderr(&format!("there is more: --after {next}"));
    }
    Ok(ExitCode::SUCCESS)
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
        Some((name, _)) => Err(CliError::new(format!("`{name}` does not narrow a list of {what}"))
            .hint(format!("leave `{name}` out"))),
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
    let page = Page { limit: args.limit.into(), after: args.after.clone() };
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
        listed.automatic = !memory.topics(&filter, &Page { limit: 1, after: None })?.rows.is_empty();
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

fn project_line(project: &MemoryProject) -> String {
    format!(
        "{:>4}  {}  {} topics, {} decisions, {} logs  ({})",
        project.id,
        line(&project.row.name, 40),
        project.topics,
        project.decisions,
        project.logs,
        project_folder(project)
    )
}

pub(super) fn topic_line(topic: &Topic) -> String {
    let closed = if topic.row.status == TopicStatus::Closed { ", closed" } else { "" };
    let automatic = if topic.row.automatic.is_some() { ", automatic" } else { "" };
    format!(
        "{:>4}  {}  {}  ({}; {} decisions, {} logs{closed}{automatic})",
        topic.id,
        format_minute(topic.active),
        line(&topic.row.title, 80),
        line(&topic.in_project.name, 40),
        topic.decisions,
        topic.logs
    )
}

pub(super) fn log_line(log: &Log) -> String {
    let short: String = log.row.uid.chars().take(8).collect();
    format!(
        "{}  {}  {}  ({}: {}; {})",
        line(&short, 8),
        format_minute(log.row.at),
        line(&log.row.title, 80),
        line(&log.in_project.name, 40),
        line(&log.in_topic.name, 60),
        author_of_log(&log.row)
    )
}

pub(super) fn decision_line(decision: &Decision) -> String {
    let gone = match (decision.row.retracted, decision.superseded_by) {
        (Some(_), _) => "; retracted".to_owned(),
        (None, Some(by)) => format!("; superseded by {by}"),
        (None, None) => String::new(),
    };
    format!(
        "{:>4}  {}  {}  ({}: {}; {}{gone})",
        decision.id,
        format_minute(decision.row.created),
        line(&decision.row.text, 100),
        line(&decision.in_project.name, 40),
        line(&decision.in_topic.name, 60),
        author(decision.row.session.as_deref())
    )
}
