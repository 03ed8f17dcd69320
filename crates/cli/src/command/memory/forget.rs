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

use super::row_words::{decision_row, describe_counts, log_row, project_folder, topic_row};
use super::{Opened, line, no_project, not_finished, nothing_recorded, show, team};
use crate::approval::{self, Consent, Request};
use crate::bilingual::{Bilingual, both, count_en};
use crate::command::Outcome;
use crate::error::CliError;
use crate::print;
use crate::print::page::Page;
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
    would: Vec<Bilingual>,
    /// Of a project.
    key: Option<String>,
    /// Nothing of it was stored yet; only jobs wait.
    unseen: bool,
    /// A log that only the team's store has.
    of_team: bool,
    /// The teammate who wrote the row.
    author: Option<String>,
}

impl Meant {
    fn new(what: view::Forget, would: Vec<Bilingual>) -> Meant {
        Meant { what, would, key: None, unseen: false, of_team: false, author: None }
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
        None => return Err(nothing_recorded()),
    };
    let meant = find_meant(&mut opened, args)?;
    let request = Request {
        name: "memory forget",
        command: format!("memory forget {} {}", args.what.name(), line(&args.id, 200)),
        about: Some(meant.would.iter().map(|line| line.en.trim()).collect::<Vec<_>>().join(" ")),
        would: &meant.would,
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
    let untold = |opened: &mut Opened| opened.memory.store().outbox_forgotten(0, usize::MAX);
    let before = untold(&mut opened)?.len();
    let forgotten = if let (true, view::Forget::Session(uid)) = (meant.unseen, &meant.what) {
        opened.memory.forget_unseen_session(uid)?;
        0
    } else if let (true, view::Forget::Log(uid)) = (meant.of_team, &meant.what) {
        opened.memory.store().forget_in_team(uid)?;
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
        let unfinished = opened.memory.unfinished.as_ref().map(|error| {
            format!("what was forgotten is gone from the store, but not from everywhere: {}", error.what)
        });
        print::json(&Gone { forgotten, jobs, team, unfinished });
        return Ok(code);
    }
    if let Some(why) = unfinished {
        return Err(CliError::new(why).hint(both!(
            "you don't need to do anything: the next `tidegate memory` command continues",
            "何もする必要はありません。次の `tidegate memory` コマンドが続きを行います"
        )));
    }
    let has_team = opened.here.config.memory.team.url.is_some();
    forgotten_page(forgotten, jobs, team.then_some(has_team), meant.author.as_deref()).print();
    Ok(code)
}

/// `team`: the team's store has it, too, and whether the config still names that store. `author`: whose it is there.
fn forgotten_page(rows: usize, jobs: usize, team: Option<bool>, author: Option<&str>) -> Page {
    let mut page = Page::of(both!(
        "Deleted {n} from the store and its copies.",
        "保存先とそのコピーから{rows}行を削除しました。",
        n = count_en(rows, "row")
    ));
    if jobs > 0 {
        page.paragraph(both!(
            "Removed {n} from the queue.",
            "保存待ちから{jobs}件を取り除きました。",
            n = count_en(jobs, "job")
        ));
    }
    match team {
        None => {}
        Some(true) if author.is_some() => {
            let author = line(author.unwrap_or_default(), 40);
            page.paragraph(both!(
                "The next delivery asks {author} to delete it from the team's store.",
                "チームの保存先からの削除は、次の送信で {author} に依頼します。"
            ));
        }
        Some(true) => page.paragraph(both!(
            "The next delivery deletes it from the team's store, too.",
            "チームの保存先からも、次の送信のときに削除します。"
        )),
        Some(false) => page.paragraph(both!(
            "The team's store still has it. Tidegate deletes it there once `[memory.team] url` in your own config names that store again.",
            "チームの保存先にはまだ残っています。自分の設定の `[memory.team] url` でその保存先を再び指定すると、削除します。"
        )),
    }
    page
}

fn find_meant(opened: &mut Opened, args: &Args) -> Result<Meant, CliError> {
    let clock = opened.clock();
    let this = |row: Bilingual| vec![both!("This deletes for good:", "次のものを完全に削除します:"), row];
    match args.what {
        ForgetOf::Log => {
            let address = team::server_address(&opened.here).ok().flatten();
            let memory = &mut opened.memory;
            let found =
                tidegate_memory::team::find_log(memory, address.as_ref(), &args.id, team::patience())?;
            let log = match found {
                Some(log) => log,
                None => opened.find_log(&args.id)?,
            };
            let is_here = opened.memory.log(&log.row.uid)?.is_some();
            let would = if is_here {
                this(log_row(&clock, &log).line())
            } else {
                vec![asks(&log), log_row(&clock, &log).line()]
            };
            let author = log.author.clone();
            Ok(Meant { of_team: !is_here, author, ..Meant::new(view::Forget::Log(log.row.uid), would) })
        }
        ForgetOf::Decision => {
            let decision = opened.find_decision(show::parse_number(&args.id)?)?;
            let mut would = this(decision_row(&clock, &decision).line());
            would.extend(decision.author.as_deref().map(asks_author));
            Ok(Meant {
                author: decision.author.clone(),
                ..Meant::new(view::Forget::Decision(decision.id), would)
            })
        }
        ForgetOf::Topic => {
            let topic = opened.find_topic(show::parse_number(&args.id)?)?;
            if let Some(session) = &topic.row.automatic {
                let (id, session) = (topic.id, line(session, 80));
                return Err(CliError::new(both!(
                    "topic {id} is the automatic topic of a session",
                    "トピック{id}はセッションの自動トピックです"
                ))
                .hint(both!(
                    "delete the session with `tidegate memory forget session {session}`, or single logs of it",
                    "セッションごと削除するには `tidegate memory forget session {session}`。ログを1件ずつ削除することもできます"
                )));
            }
            Ok(Meant::new(view::Forget::Topic(topic.id), this(topic_row(&clock, &topic).line())))
        }
        ForgetOf::Session => find_session(opened, &args.id),
        ForgetOf::Project => {
            let project = act::find_project(&mut opened.memory, &args.id)
                .map_err(|error| no_project(error, &args.id))?;
            let (id, name, topics) = (project.id, line(&project.row.name, 80), project.topics);
            let Bilingual { en, ja } = describe_counts(project.decisions, project.logs);
            let Bilingual { en: folder, ja: folder_ja } = project_folder(&project);
            let would = vec![
                both!(
                    "This deletes project {name} ({id}) for good, with {n}, {en}:",
                    "プロジェクト {name}（{id}）を完全に削除します（トピック{topics}件、{ja}）:",
                    n = count_en(topics as usize, "topic")
                ),
                both!("  {folder}", "  {folder_ja}"),
            ];
            Ok(Meant { key: project.row.key, ..Meant::new(view::Forget::Project(project.id), would) })
        }
    }
}

fn asks(log: &view::Log) -> Bilingual {
    match &log.author {
        Some(author) => asks_author(author),
        None => both!(
            "This deletes a log that only the team's store has:",
            "チームの保存先だけにあるログを削除します:"
        ),
    }
}

fn asks_author(author: &str) -> Bilingual {
    let author = line(author, 40);
    both!(
        "It belongs to {author}: Tidegate hides it here and asks {author} to delete it.",
        "{author} のものです。このマシンでは表示しなくなり、削除は {author} に依頼します。"
    )
}

fn find_session(opened: &mut Opened, named: &str) -> Result<Meant, CliError> {
    let uid = &opened.session_uid(named)?;
    let own_topic = automatic::topic_uid(uid, None);
    let unseen = opened.memory.session(uid)?.is_none() && opened.memory.topic_by_uid(&own_topic)?.is_none();
    let jobs = count_waiting(&opened.here.state, uid)?;
    if unseen && jobs == 0 {
        return Err(show::no_session(uid));
    }
    let filter = view::Filter { session: Some(uid.to_owned()), ..view::Filter::default() };
    let logs = opened.memory.logs(&filter, &view::Page { limit: 1000, after: None })?;
    let more = logs.next.is_some();
    let (count, shown) = (logs.rows.len(), line(uid, 80));
    let would = vec![both!(
        "This deletes session {shown} for good, with {over}{n}, its decisions and {queued} in the queue.",
        "セッション {shown} を完全に削除します（ログ{count}件{over_ja}、その中の決定、保存待ち{jobs}件）。",
        over = if more { "more than " } else { "" },
        over_ja = if more { "以上" } else { "" },
        n = count_en(count, "log"),
        queued = count_en(jobs, "job")
    )];
    Ok(Meant { unseen, ..Meant::new(view::Forget::Session(uid.clone()), would) })
}

fn read_queue(state: &StateDir) -> Result<Vec<Queued>, CliError> {
    spool::list(state).map_err(|error| queue_failed(&error))
}

fn count_waiting(state: &StateDir, session: &str) -> Result<usize, CliError> {
    let jobs = read_queue(state)?;
    Ok(jobs.iter().filter(|queued| queued.job.as_ref().is_ok_and(|job| job.session == session)).count())
}

fn clear_spool(opened: &Opened, meant: &Meant) -> Result<usize, CliError> {
    let mut gone = 0;
    for queued in read_queue(&opened.here.state)? {
        if queued.job.as_ref().is_ok_and(|job| meant.is_of(job)) {
            spool::remove(&queued).map_err(|error| queue_failed(&error))?;
            gone += 1;
        }
    }
    Ok(gone)
}

fn queue_failed(error: &std::io::Error) -> CliError {
    CliError::new(both!("cannot read or change the queue: {error}", "保存待ちを読み書きできません: {error}"))
        .hint(both!(
            "check that you can write to the folder `spool` in the state folder, and run the command again",
            "状態のフォルダの `spool` に書き込めるか確認し、もう一度実行してください"
        ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::print::looks::assert_looks;

    #[test]
    fn a_deletion_looks_well() {
        assert_looks("forgotten", &forgotten_page(3, 1, Some(true), None));
        assert_looks("forgotten-asked", &forgotten_page(1, 0, Some(true), Some("ann")));
        assert_looks("forgotten-no-team", &forgotten_page(1, 0, Some(false), None));
    }
}
