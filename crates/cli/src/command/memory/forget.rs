//! `tidegate memory forget`: gone for good, if a person agrees.

use std::process::ExitCode;

use serde::Serialize;
use tidegate_core::feature::memory::automatic;
use tidegate_core::feature::memory::job::{Job, Work};
use tidegate_core::pipeline::record::Deeds;
use tidegate_memory::act;
use tidegate_memory::store::Store;
use tidegate_memory::view;
use tidegate_state::feature::memory::spool;
use tidegate_state::feature::memory::spool::Queued;
use tidegate_state::place::StateDir;

use super::arguments::{Forget, ForgetOf};
use super::{Opened, folder, line, list, not_finished, shown};
use crate::approval::{self, Consent, Request};
use crate::command::Outcome;
use crate::error::CliError;
use crate::print;
use crate::sessions::Here;

#[derive(Serialize)]
struct Gone {
    /// How many rows.
    forgotten: usize,
    /// How many jobs that waited for the worker.
    jobs: usize,
    /// The team's store has yet to be told.
    team: bool,
    /// Why it is not gone from everywhere yet.
    unfinished: Option<String>,
}

/// What is to be forgotten.
struct Meant {
    what: view::Forget,
    /// As a person is told.
    would: Vec<String>,
    /// The key of a project.
    key: Option<String>,
    /// Nothing of it has been stored; only jobs wait.
    unseen: bool,
}

impl Meant {
    fn new(what: view::Forget, would: Vec<String>) -> Meant {
        Meant { what, would, key: None, unseen: false }
    }

    /// Whether a job is about it.
    fn is_of(&self, job: &Job) -> bool {
        match (&self.what, &job.work) {
            (view::Forget::Session(session), _) => job.session == *session,
            (view::Forget::Project(_), Work::Relays(part)) => Some(&part.project.key) == self.key.as_ref(),
            _ => false,
        }
    }
}

pub(super) fn run(args: &Forget) -> Outcome {
    let mut opened = match Opened::look()? {
        Some(opened) => opened,
        None if args.what == ForgetOf::Session && waiting(&Here::find()?.state, &args.id)? > 0 => {
            Opened::open()?
        }
        None => return Err(CliError::new("nothing has been recorded yet")),
    };
    let meant = meant(&mut opened, args)?;
    let request = Request {
        name: "memory forget",
        command: format!("memory forget {} {}", args.what.name(), line(&args.id, 200)),
        about: Some(meant.would.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ")),
        would: &meant.would,
        approved: args.approved,
        json: args.json,
    };
    let given = match approval::consent(&opened.here, &request)? {
        Consent::Given(given) => given,
        Consent::Waits(code) => return Ok(code),
    };
    // A job makes a project anew, but not a session that is forgotten.
    let mut jobs = 0;
    if args.what == ForgetOf::Project {
        jobs = clear_spool(&opened, &meant)?;
    }
    let untold = |opened: &mut Opened| opened.memory.store().outbox_forgotten(usize::MAX);
    let before = untold(&mut opened)?.len();
    let forgotten = if meant.unseen {
        opened.memory.forget_unseen_session(&args.id)?;
        0
    } else {
        opened.memory.forget(&meant.what)?.len()
    };
    jobs += clear_spool(&opened, &meant)?;
    approval::record(&opened.here, &request.command, &given, Deeds::default());
    let team = untold(&mut opened)?.len() > before;
    let unfinished = opened.memory.unfinished.as_ref().map(not_finished);
    let code = if unfinished.is_some() { ExitCode::FAILURE } else { ExitCode::SUCCESS };
    if args.json {
        print::json(&Gone { forgotten, jobs, team, unfinished });
        return Ok(code);
    }
    if let Some(why) = unfinished {
        return Err(CliError::new(why).hint("the next `tidegate memory` command goes on with it"));
    }
    let later = match (team, opened.here.config.memory.team.url.is_some()) {
        (false, _) => "",
        (true, true) => "; the team's store is told at the next delivery",
        (true, false) => {
            "; a team's store still has it, and is told once `[memory.team] url` in your own config names it again"
        }
    };
    let waited =
        if jobs > 0 { format!(", and {jobs} jobs that waited are taken away") } else { String::new() };
    print::line(&format!("{forgotten} rows are forgotten, in the store and in its copies{waited}{later}"));
    Ok(code)
}

fn meant(opened: &mut Opened, args: &Forget) -> Result<Meant, CliError> {
    let this = |row: String| vec!["This deletes for good:".to_owned(), format!("  {row}")];
    match args.what {
        ForgetOf::Log => {
            let log = act::find_log(&mut opened.memory, &args.id)?;
            let would = this(list::log(&log));
            Ok(Meant::new(view::Forget::Log(log.row.uid), would))
        }
        ForgetOf::Decision => {
            let decision = act::find_decision(&mut opened.memory, shown::number(&args.id)?)?;
            Ok(Meant::new(view::Forget::Decision(decision.id), this(list::decision(&decision))))
        }
        ForgetOf::Topic => {
            let topic = act::find_topic(&mut opened.memory, shown::number(&args.id)?)?;
            if let Some(session) = &topic.row.automatic {
                return Err(CliError::new(format!("topic {} was made for a session", topic.id))
                    .hint(format!("forget the session, `{}`, or single logs of it", line(session, 80))));
            }
            Ok(Meant::new(view::Forget::Topic(topic.id), this(list::topic(&topic))))
        }
        ForgetOf::Session => session(opened, &args.id),
        ForgetOf::Project => {
            let project = act::find_project_exactly(&mut opened.memory, &args.id)?;
            let would = vec![
                format!(
                    "This deletes project {} ({}) for good, with {} topics, {} decisions and {} logs:",
                    line(&project.row.name, 80),
                    project.id,
                    project.topics,
                    project.decisions,
                    project.logs
                ),
                format!("  {}", folder(&project)),
            ];
            Ok(Meant { key: project.row.key, ..Meant::new(view::Forget::Project(project.id), would) })
        }
    }
}

fn session(opened: &mut Opened, uid: &str) -> Result<Meant, CliError> {
    let own_topic = automatic::topic_uid(uid, None);
    let unseen = opened.memory.session(uid)?.is_none() && opened.memory.topic_by_uid(&own_topic)?.is_none();
    let jobs = waiting(&opened.here.state, uid)?;
    if unseen && jobs == 0 {
        return Err(CliError::new(format!("there is no session `{}`", line(uid, 80)))
            .hint("`tidegate memory list logs --json` names the session of each log"));
    }
    let filter = view::Filter { session: Some(uid.to_owned()), ..view::Filter::default() };
    let logs = opened.memory.logs(&filter, &view::Page { limit: 1000, after: None })?;
    let many = if logs.next.is_some() { "more than " } else { "" };
    let would = vec![format!(
        "This deletes session {} for good, with {many}{} logs and what was decided in it, and {jobs} jobs that wait.",
        line(uid, 80),
        logs.rows.len()
    )];
    Ok(Meant { unseen, ..Meant::new(view::Forget::Session(uid.to_owned()), would) })
}

fn queue(state: &StateDir) -> Result<Vec<Queued>, CliError> {
    spool::list(state).map_err(|error| CliError::new(format!("the spool: {error}")))
}

/// How many jobs of a session wait.
fn waiting(state: &StateDir, session: &str) -> Result<usize, CliError> {
    let jobs = queue(state)?;
    Ok(jobs.iter().filter(|queued| queued.job.as_ref().is_ok_and(|job| job.session == session)).count())
}

/// Takes away the jobs of what is forgotten.
fn clear_spool(opened: &Opened, meant: &Meant) -> Result<usize, CliError> {
    let mut gone = 0;
    for queued in queue(&opened.here.state)? {
        if queued.job.as_ref().is_ok_and(|job| meant.is_of(job)) {
            spool::remove(&queued).map_err(|error| CliError::new(format!("the spool: {error}")))?;
            gone += 1;
        }
    }
    Ok(gone)
}
