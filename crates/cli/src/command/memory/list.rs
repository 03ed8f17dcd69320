//! `tidegate memory list`.

use std::process::ExitCode;

use serde::Serialize;
use tidegate_memory::act::{author, author_of_log};
use tidegate_memory::record::Status;
use tidegate_memory::store::Store;
use tidegate_memory::view::{Decision, Log, MemoryProject, Page, Paged, Topic};

use super::arguments::{List, ListOf};
use super::{Opened, folder, is_none, line, minute, say_waiting, waiting};
use crate::command::Outcome;
use crate::error::CliError;
use crate::print;
use crate::sessions::Here;

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
struct Listed {
    #[serde(flatten)]
    rows: Rows,
    next: Option<String>,
    /// Jobs that wait for a worker, if any.
    #[serde(skip_serializing_if = "is_none")]
    waiting: usize,
    /// There would be automatic topics.
    #[serde(skip)]
    automatic: bool,
}

pub(super) fn run(args: &List) -> Outcome {
    let listed = listed(args)?;
    say_waiting(listed.waiting);
    if args.json {
        print::json(&listed);
        return Ok(ExitCode::SUCCESS);
    }
    let lines: Vec<String> = match &listed.rows {
        Rows::Topics(rows) => rows.iter().map(topic).collect(),
        Rows::Logs(rows) => rows.iter().map(|one| log(&one.row)).collect(),
        Rows::Decisions(rows) => rows.iter().map(|one| decision(&one.row)).collect(),
        Rows::Projects(rows) => rows.iter().map(project).collect(),
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

/// Refuses what does not narrow this list: to pass over it would show more than was asked for.
fn check(args: &List) -> Result<(), CliError> {
    let of = &args.of;
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

fn listed(args: &List) -> Result<Listed, CliError> {
    check(args)?;
    let Some(mut opened) = Opened::look()? else {
        let rows = match args.what {
            ListOf::Topics => Rows::Topics(Vec::new()),
            ListOf::Logs => Rows::Logs(Vec::new()),
            ListOf::Decisions => Rows::Decisions(Vec::new()),
            ListOf::Projects => Rows::Projects(Vec::new()),
        };
        return Ok(Listed { rows, next: None, waiting: waiting(&Here::find()?), automatic: false });
    };
    let mut filter = opened.filter(&args.of)?;
    filter.all = args.all;
    filter.open = if args.open { Some(true) } else { args.closed.then_some(false) };
    let page = Page { limit: args.limit.into(), after: args.after.clone() };
    let waiting = waiting(&opened.here);
    let memory = &mut opened.memory;
    let mut listed = match args.what {
        ListOf::Topics => with(memory.topics(&filter, &page)?, Rows::Topics, waiting),
        ListOf::Logs => with(memory.logs(&filter, &page)?, Rows::Logs, waiting),
        ListOf::Decisions => with(memory.decisions(&filter, &page)?, Rows::Decisions, waiting),
        ListOf::Projects => with(memory.projects(&page)?, Rows::Projects, waiting),
    };
    if matches!(&listed.rows, Rows::Topics(rows) if rows.is_empty()) && !args.all {
        filter.all = true;
        listed.automatic = !memory.topics(&filter, &Page { limit: 1, after: None })?.rows.is_empty();
    }
    Ok(listed)
}

fn with<T, R: From<T>>(page: Paged<T>, rows: fn(Vec<R>) -> Rows, waiting: usize) -> Listed {
    Listed {
        rows: rows(page.rows.into_iter().map(R::from).collect()),
        next: page.next,
        waiting,
        automatic: false,
    }
}

fn project(project: &MemoryProject) -> String {
    format!(
        "{:>4}  {}  {} topics, {} decisions, {} logs  ({})",
        project.id,
        line(&project.row.name, 40),
        project.topics,
        project.decisions,
        project.logs,
        folder(project)
    )
}

pub(super) fn topic(topic: &Topic) -> String {
    let closed = if topic.row.status == Status::Closed { ", closed" } else { "" };
    let automatic = if topic.row.automatic.is_some() { ", automatic" } else { "" };
    format!(
        "{:>4}  {}  {}  ({}; {} decisions, {} logs{closed}{automatic})",
        topic.id,
        minute(topic.active),
        line(&topic.row.title, 80),
        line(&topic.in_project.name, 40),
        topic.decisions,
        topic.logs
    )
}

pub(super) fn log(log: &Log) -> String {
    let short: String = log.row.uid.chars().take(8).collect();
    format!(
        "{}  {}  {}  ({}: {}; {})",
        line(&short, 8),
        minute(log.row.at),
        line(&log.row.title, 80),
        line(&log.in_project.name, 40),
        line(&log.in_topic.name, 60),
        author_of_log(&log.row)
    )
}

pub(super) fn decision(decision: &Decision) -> String {
    let gone = match (decision.row.retracted, decision.superseded_by) {
        (Some(_), _) => "; retracted".to_owned(),
        (None, Some(by)) => format!("; superseded by {by}"),
        (None, None) => String::new(),
    };
    format!(
        "{:>4}  {}  {}  ({}: {}; {}{gone})",
        decision.id,
        minute(decision.row.created),
        line(&decision.row.text, 100),
        line(&decision.in_project.name, 40),
        line(&decision.in_topic.name, 60),
        author(decision.row.session.as_deref())
    )
}
