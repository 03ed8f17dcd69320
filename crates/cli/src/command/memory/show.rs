//! `tidegate memory show`.

use std::process::ExitCode;

use serde::Serialize;
use tidegate_memory::act;
use tidegate_memory::record;
use tidegate_memory::store::Store;
use tidegate_memory::view::{Decision, Filter, Log, MemoryProject, Page, Topic};

use super::list;
use super::{Opened, format_minute, line, team};
use crate::command::Outcome;
use crate::error::CliError;
use crate::print;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate memory show topic 12
  tidegate memory show decision 7
  tidegate memory show log 3f9a2c
  tidegate memory show session 91b38a40-…

The beginning of a log's id is enough.")]
pub(crate) struct Args {
    /// Kind of row
    #[arg(value_name = "WHAT")]
    pub(crate) what: ShowOf,
    /// Its id
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum ShowOf {
    Topic,
    Log,
    Decision,
    Session,
    Project,
}

/// Rows shown of each list that belongs to a row.
const WITH: usize = 20;

#[derive(Serialize)]
struct WholeTopic {
    #[serde(flatten)]
    topic: Topic,
    latest_decisions: Vec<Decision>,
    latest_logs: Vec<Log>,
}

#[derive(Serialize)]
struct WholeSession {
    #[serde(flatten)]
    session: record::SessionRow,
    logs: Vec<Log>,
}

pub(super) fn run(args: &Args) -> Outcome {
    let Some(mut opened) = Opened::look()? else {
        return Err(CliError::new("nothing has been recorded yet"));
    };
    match args.what {
        ShowOf::Topic => {
            let topic = act::find_topic(&mut opened.memory, parse_number(&args.id)?)?;
            let filter = Filter { topic: Some(topic.id), all: true, ..Filter::default() };
            let page = Page { limit: WITH, after: None };
            let latest_decisions = opened.memory.decisions(&filter, &page)?.rows;
            let latest_logs = opened.memory.logs(&filter, &page)?.rows;
            print_row(args.json, &WholeTopic { topic, latest_decisions, latest_logs }, topic_lines);
        }
        ShowOf::Decision => {
            let decision = act::find_decision(&mut opened.memory, parse_number(&args.id)?)?;
            print_row(args.json, &list::By::from(decision), |decision| decision_lines(&decision.row));
        }
        ShowOf::Log => {
            let address = team::server_address(&opened.here).ok().flatten();
            let memory = &mut opened.memory;
            let found =
                tidegate_memory::team::find_log(memory, address.as_ref(), &args.id, team::patience())?;
            let log = match found {
                Some(log) => log,
                None => act::find_log(&mut opened.memory, &args.id)?,
            };
            print_row(args.json, &list::By::from(log), |log| log_lines(&log.row));
        }
        ShowOf::Project => {
            print_row(args.json, &act::find_project(&mut opened.memory, &args.id)?, project_lines);
        }
        ShowOf::Session => {
            let session = opened.memory.session(&args.id)?.ok_or_else(|| {
                CliError::new(format!("there is no session `{}`", line(&args.id, 80)))
                    .hint("`tidegate memory list logs --json` names the session of each log")
            })?;
            let filter = Filter { session: Some(session.uid.clone()), ..Filter::default() };
            let logs = opened.memory.logs(&filter, &Page { limit: WITH, after: None })?.rows;
            print_row(args.json, &WholeSession { session, logs }, session_lines);
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn print_row<T: Serialize>(json: bool, row: &T, lines: fn(&T) -> Vec<String>) {
    if json {
        print::json(row);
        return;
    }
    for line in lines(row) {
        if !print::line(&line) {
            break;
        }
    }
}

pub(super) fn parse_number(text: &str) -> Result<i64, CliError> {
    text.parse().map_err(|_| {
        CliError::new(format!("`{}` is no number", line(text, 40))).hint("lists give the numbers")
    })
}

fn project_lines(project: &MemoryProject) -> Vec<String> {
    let mut lines = vec![
        format!("project {}: {}", project.id, line(&project.row.name, 200)),
        format!("  {} topics, {} decisions, {} logs", project.topics, project.decisions, project.logs),
    ];
    lines.extend(project.row.key.as_ref().map(|key| format!("  {}", line(key, 400))));
    lines
}

fn topic_lines(whole: &WholeTopic) -> Vec<String> {
    let topic = &whole.topic;
    let mut lines = vec![format!("topic {}", list::topic_line(topic).trim_start())];
    lines.extend(
        topic.part_of.as_ref().map(|parent| format!("  part of {}: {}", parent.id, line(&parent.name, 100))),
    );
    if !whole.latest_decisions.is_empty() {
        lines.push("decisions".to_owned());
        lines.extend(whole.latest_decisions.iter().map(|one| format!("  {}", list::decision_line(one))));
    }
    if !whole.latest_logs.is_empty() {
        lines.push("logs".to_owned());
        lines.extend(whole.latest_logs.iter().map(|one| format!("  {}", list::log_line(one))));
    }
    lines
}

pub(super) fn decision_lines(decision: &Decision) -> Vec<String> {
    let mut lines = vec![format!("decision {}", list::decision_line(decision).trim_start())];
    if decision.row.text.lines().count() > 1 {
        lines.push(decision.row.text.clone());
    }
    if !decision.row.reason.is_empty() {
        lines.push(format!("because: {}", decision.row.reason));
    }
    lines
}

fn log_lines(log: &Log) -> Vec<String> {
    let row = &log.row;
    let mut lines = vec![
        format!("log {}", line(&row.uid, 80)),
        format!("{}  {}", format_minute(row.at), line(&row.title, 200)),
        format!(
            "{}: {} (topic {})",
            line(&log.in_project.name, 60),
            line(&log.in_topic.name, 100),
            log.in_topic.id
        ),
    ];
    lines.extend(row.session.as_ref().map(|session| format!("session {}", line(session, 80))));
    for (name, text) in [("", &row.text), ("asked:\n", &row.prompt), ("answered:\n", &row.answer)] {
        if !text.is_empty() {
            lines.push(format!("\n{name}{text}"));
        }
    }
    if !row.files.is_empty() {
        lines.push(format!("\nfiles: {}", line(&row.files.join(", "), 2000)));
    }
    if !row.tools.is_empty() {
        let tools: Vec<String> = row.tools.iter().map(|(tool, times)| format!("{tool} {times}")).collect();
        lines.push(format!("tools: {}", line(&tools.join(", "), 500)));
    }
    if !row.redacted.is_empty() {
        let kinds: Vec<String> = row.redacted.iter().map(|(kind, times)| format!("{kind} {times}")).collect();
        lines.push(format!("taken out: {}", line(&kinds.join(", "), 500)));
    }
    lines.extend(row.notes.iter().map(|note| format!("note: {}", line(note, 500))));
    lines
}

fn session_lines(whole: &WholeSession) -> Vec<String> {
    let session = &whole.session;
    let branch = session.branch.as_ref().map(|branch| format!(", branch {branch}")).unwrap_or_default();
    let mut lines = vec![
        format!("session {}", line(&session.uid, 80)),
        format!("  {} to {}", format_minute(session.created), format_minute(session.updated)),
        format!("  {}", line(&format!("{}{branch}", session.root), 400)),
    ];
    lines.extend(whole.logs.iter().map(|log| format!("  {}", list::log_line(log))));
    lines
}
