//! `tidegate memory forget`: gone for good, if a person agrees.

use std::process::ExitCode;

use serde::Serialize;
use tidegate_core::memory::job::{Job, Work};
use tidegate_core::record::Deeds;
use tidegate_memory::act;
use tidegate_memory::store::Store;
use tidegate_memory::view;
use tidegate_state::memory::spool;

use super::arguments::{Forget, ForgetOf};
use super::{Opened, line, list};
use crate::approval::{self, Consent, Request};
use crate::command::Outcome;
use crate::error::CliError;
use crate::print;

#[derive(Serialize)]
struct Gone {
    /// How many rows.
    forgotten: usize,
    /// How many jobs that waited for the worker.
    jobs: usize,
    /// The team's store has yet to be told.
    team: bool,
}

pub(super) fn run(args: &Forget) -> Outcome {
    let Some(mut opened) = Opened::look()? else {
        return Err(CliError::new("nothing has been recorded yet"));
    };
    let (what, would, key) = meant(&mut opened, args)?;
    let request = Request {
        name: "memory forget",
        command: format!("memory forget {} {}", args.what.name(), line(&args.id, 200)),
        about: None,
        would: &would,
        approved: args.approved,
        json: args.json,
    };
    let given = match approval::consent(&opened.here, &request)? {
        Consent::Given(given) => given,
        Consent::Waits(code) => return Ok(code),
    };
    // First what would bring it back, then it, then its copies.
    let jobs = clear_spool(&opened, &what, key.as_deref())?;
    let untold = |opened: &mut Opened| opened.memory.store().outbox_forgotten(usize::MAX);
    let before = untold(&mut opened)?.len();
    let forgotten = opened.memory.forget(&what)?.len();
    approval::record(&opened.here, &request.command, &given, Deeds::default());
    let team = untold(&mut opened)?.len() > before;
    if args.json {
        print::json(&Gone { forgotten, jobs, team });
        return Ok(ExitCode::SUCCESS);
    }
    let later = match (team, opened.here.config.memory.team.url.is_some()) {
        (false, _) => "",
        (true, true) => "; the team's store is told at the next delivery",
        (true, false) => {
            "; a team's store still has it, and is told once `[memory.team] url` in your own config names it again"
        }
    };
    print::line(&format!("{forgotten} rows are forgotten, in the store and in its copies{later}"));
    Ok(ExitCode::SUCCESS)
}

/// What is to be forgotten, as a person is told, and the key of a project.
fn meant(
    opened: &mut Opened,
    args: &Forget,
) -> Result<(view::Forget, Vec<String>, Option<String>), CliError> {
    match args.what {
        ForgetOf::Log => {
            let log = act::log(&mut opened.memory, &args.id)?;
            let would = vec!["This deletes for good:".to_owned(), format!("  {}", list::log(&log))];
            Ok((view::Forget::Log(log.row.uid), would, None))
        }
        ForgetOf::Session => {
            let filter = view::Filter { session: Some(args.id.clone()), ..view::Filter::default() };
            let page = view::Page { limit: 1000, after: None };
            let logs = opened.memory.logs(&filter, &page)?;
            let many = if logs.next.is_some() { "more than ".to_owned() } else { String::new() };
            let would = vec![format!(
                "This deletes session {} for good, with {many}{} logs and what was decided in it.",
                line(&args.id, 80),
                logs.rows.len()
            )];
            Ok((view::Forget::Session(args.id.clone()), would, None))
        }
        ForgetOf::Project => {
            let project = act::project(&mut opened.memory, &args.id)?;
            let would = vec![format!(
                "This deletes project {} ({}) for good, with {} topics, {} decisions and {} logs.",
                line(&project.row.name, 80),
                project.id,
                project.topics,
                project.decisions,
                project.logs
            )];
            Ok((view::Forget::Project(project.id), would, project.row.key))
        }
    }
}

/// Takes away the jobs of what is forgotten.
fn clear_spool(opened: &Opened, what: &view::Forget, key: Option<&str>) -> Result<usize, CliError> {
    let is_meant = |job: &Job| match (what, &job.work) {
        (view::Forget::Session(session), _) => job.session == *session,
        (view::Forget::Project(_), Work::Relays(part)) => Some(part.project.key.as_str()) == key,
        _ => false,
    };
    let failed = |error: std::io::Error| CliError::new(format!("the spool: {error}"));
    let mut gone = 0;
    for queued in spool::list(&opened.here.state).map_err(failed)? {
        if queued.job.as_ref().is_ok_and(is_meant) {
            spool::remove(&queued).map_err(failed)?;
            gone += 1;
        }
    }
    Ok(gone)
}
