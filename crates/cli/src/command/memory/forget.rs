//! `tidegate memory forget`: deletes for good, if a person agrees.

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

use super::{Opened, line, list, not_finished, project_folder, show};
use crate::approval::{self, Consent, Request};
use crate::bilingual::Bilingual;
use crate::command::Outcome;
use crate::error::CliError;
use crate::print;
use crate::sessions::Here;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate memory forget log 3f9a2c
  tidegate memory forget decision 7
  tidegate memory forget topic 12
  tidegate memory forget session 91b38a40-…
  tidegate memory forget project shop

Deletes from the store, its copies and the queue, and with the next delivery from the
team's store. This cannot be undone. At a terminal it asks first; called by an agent
it prints a code that only a person can approve.

Exit codes: 0 deleted, 1 not yet deleted everywhere or failed, 4 waits for a person's approval.")]
pub(crate) struct Args {
    /// Kind of row
    #[arg(value_name = "WHAT")]
    pub(crate) what: ForgetOf,
    /// Its id; for a project also its name or a folder in it
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// Use the approval that a person gave in this session
    #[arg(long)]
    pub(crate) approved: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ForgetOf {
    Log,
    Decision,
    Topic,
    Session,
    Project,
}

impl ForgetOf {
    pub(crate) fn name(self) -> &'static str {
        match self {
            ForgetOf::Log => "log",
            ForgetOf::Decision => "decision",
            ForgetOf::Topic => "topic",
            ForgetOf::Session => "session",
            ForgetOf::Project => "project",
        }
    }
}

#[derive(Serialize)]
struct Gone {
    /// Rows.
    forgotten: usize,
    /// Jobs that waited for the worker.
    jobs: usize,
    /// The team's store has yet to be told.
    team: bool,
    /// Why it is not gone from everywhere yet.
    unfinished: Option<String>,
}

struct Meant {
    what: view::Forget,
    /// For the question.
    would: Vec<String>,
    /// Of a project.
    key: Option<String>,
    /// Nothing of it was stored yet; only jobs wait.
    unseen: bool,
}

impl Meant {
    fn new(what: view::Forget, would: Vec<String>) -> Meant {
        Meant { what, would, key: None, unseen: false }
    }

    fn is_of(&self, job: &Job) -> bool {
        match (&self.what, &job.work) {
            (view::Forget::Session(session), _) => job.session == *session,
            (view::Forget::Project(_), Work::Relays(part)) => Some(&part.project.key) == self.key.as_ref(),
            _ => false,
        }
    }
}

pub(super) fn run(args: &Args) -> Outcome {
    let mut opened = match Opened::look()? {
        Some(opened) => opened,
        None if args.what == ForgetOf::Session && count_waiting(&Here::find()?.state, &args.id)? > 0 => {
            Opened::open()?
        }
        None => return Err(CliError::new("nothing has been recorded yet")),
    };
    let meant = find_meant(&mut opened, args)?;
    let request = Request {
        name: "memory forget",
        command: format!("memory forget {} {}", args.what.name(), line(&args.id, 200)),
        about: Some(meant.would.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ")),
        would: &Bilingual::lines(&meant.would),
        approved: args.approved,
        json: args.json,
    };
    let given = match approval::ask_consent(&opened.here, &request)? {
        Consent::Given(given) => given,
        Consent::Waits(code) => return Ok(code),
    };
    // A waiting job would make a project again, but not a forgotten session.
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
    approval::record_command(&opened.here, &request.command, &given, Deeds::default());
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

fn find_meant(opened: &mut Opened, args: &Args) -> Result<Meant, CliError> {
    let this = |row: String| vec!["This deletes for good:".to_owned(), format!("  {row}")];
    match args.what {
        ForgetOf::Log => {
            let log = act::find_log(&mut opened.memory, &args.id)?;
            let would = this(list::log_line(&log));
            Ok(Meant::new(view::Forget::Log(log.row.uid), would))
        }
        ForgetOf::Decision => {
            let decision = act::find_decision(&mut opened.memory, show::parse_number(&args.id)?)?;
            Ok(Meant::new(view::Forget::Decision(decision.id), this(list::decision_line(&decision))))
        }
        ForgetOf::Topic => {
            let topic = act::find_topic(&mut opened.memory, show::parse_number(&args.id)?)?;
            if let Some(session) = &topic.row.automatic {
                return Err(CliError::new(format!("topic {} was made for a session", topic.id))
                    .hint(format!("forget the session, `{}`, or single logs of it", line(session, 80))));
            }
            Ok(Meant::new(view::Forget::Topic(topic.id), this(list::topic_line(&topic))))
        }
        ForgetOf::Session => find_session(opened, &args.id),
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
                format!("  {}", project_folder(&project)),
            ];
            Ok(Meant { key: project.row.key, ..Meant::new(view::Forget::Project(project.id), would) })
        }
    }
}

fn find_session(opened: &mut Opened, uid: &str) -> Result<Meant, CliError> {
    let own_topic = automatic::topic_uid(uid, None);
    let unseen = opened.memory.session(uid)?.is_none() && opened.memory.topic_by_uid(&own_topic)?.is_none();
    let jobs = count_waiting(&opened.here.state, uid)?;
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

fn read_queue(state: &StateDir) -> Result<Vec<Queued>, CliError> {
    spool::list(state).map_err(|error| CliError::new(format!("the spool: {error}")))
}

fn count_waiting(state: &StateDir, session: &str) -> Result<usize, CliError> {
    let jobs = read_queue(state)?;
    Ok(jobs.iter().filter(|queued| queued.job.as_ref().is_ok_and(|job| job.session == session)).count())
}

fn clear_spool(opened: &Opened, meant: &Meant) -> Result<usize, CliError> {
    let mut gone = 0;
    for queued in read_queue(&opened.here.state)? {
        if queued.job.as_ref().is_ok_and(|job| meant.is_of(job)) {
            spool::remove(&queued).map_err(|error| CliError::new(format!("the spool: {error}")))?;
            gone += 1;
        }
    }
    Ok(gone)
}
