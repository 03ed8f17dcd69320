//! `tidegate memory`: one file per command.

mod backup;
mod check;
mod decision;
mod export;
mod forget;
mod import;
mod list;
mod log;
mod migrate;
pub(crate) mod row_filter;
pub(crate) mod row_words;
pub(crate) mod search;
mod server_args;
pub(crate) mod show;
mod stats;
pub(crate) mod team;
mod team_join;
mod team_members;
mod topic;
pub(crate) mod writer;

use std::io::Read;
use std::path::Path;

use tidegate_core::feature::knowledge::flow::NewEntry;
use tidegate_core::feature::memory::job::RelayProject;
use tidegate_core::feature::memory::relay_log;
use tidegate_memory::act::{self, Acting};
use tidegate_memory::error::{Error as MemoryError, ErrorKind};
use tidegate_memory::memory::{Healed, Memory};
use tidegate_memory::record::TakenBy;
use tidegate_memory::team::Direction;
use tidegate_memory::text::one_line as line;
use tidegate_memory::view::{Decision, Filter, MemoryProject, Topic};
use tidegate_state::feature::memory::spool;
use tidegate_state::project::memory_project;

use super::Outcome;
use crate::approval;
use crate::bilingual::{Bilingual, both, count_en};
use crate::error::CliError;
use crate::local_time::LocalClock;
use crate::print::remark;
use crate::sessions::Here;
use row_filter::RowFilter;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum MemoryCommand {
    /// Search conversations, decisions and learnings
    Search(search::Args),
    /// List topics, logs, decisions or projects, newest first
    List(list::Args),
    /// Show one topic, log, decision, session or project
    Show(show::Args),
    /// Add and change topics
    #[command(subcommand)]
    Topic(topic::TopicCommand),
    /// Add and change decisions
    #[command(subcommand)]
    Decision(decision::DecisionCommand),
    /// Write a log by hand
    #[command(subcommand)]
    Log(log::LogCommand),
    /// Check the whole store for damage
    Check(check::Args),
    /// Copy the store now
    Backup(backup::Args),
    /// Print everything as JSON lines
    Export(export::Args),
    /// Add past conversations, or rows that `export` printed
    Import(import::Args),
    /// Delete a log, a decision, a topic, a session or a project for good
    Forget(forget::Args),
    /// Show how much is stored and what is still queued
    Stats(stats::Args),
    /// Share projects with a team: join, invite, and see how deliveries went
    Team(team::Args),
    /// Send new rows to the team's store now
    Push(team::PushArgs),
    /// Fetch topics and decisions of others from the team's store now
    Pull(team::PullArgs),
    /// Copy the whole store of this machine to a server
    Migrate(migrate::Args),
}

#[derive(Debug, clap::Args)]
pub(crate) struct IdArgs {
    /// Its number
    #[arg(value_name = "ID", value_parser = parse_id)]
    pub(crate) id: i64,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn run(command: &MemoryCommand) -> Outcome {
    match command {
        MemoryCommand::Search(args) => search::run(args),
        MemoryCommand::List(args) => list::run(args),
        MemoryCommand::Show(args) => show::run(args),
        MemoryCommand::Topic(args) => topic::run(args),
        MemoryCommand::Decision(args) => decision::run(args),
        MemoryCommand::Log(args) => log::run(args),
        MemoryCommand::Check(args) => check::run(args),
        MemoryCommand::Backup(args) => backup::run(args),
        MemoryCommand::Export(_) => export::run(),
        MemoryCommand::Import(args) => import::run(args),
        MemoryCommand::Forget(args) => forget::run(args),
        MemoryCommand::Stats(args) => stats::run(args),
        MemoryCommand::Team(args) => team::run(args),
        MemoryCommand::Push(args) => team::exchange_now(args.json, Direction::Push),
        MemoryCommand::Pull(args) => team::exchange_now(args.json, Direction::Pull),
        MemoryCommand::Migrate(args) => migrate::run(args),
    }
}

/// The memory, as seen from one folder.
struct Opened {
    here: Here,
    memory: Memory,
    own: Option<RelayProject>,
    /// Damage that was reported already.
    said: Option<Healed>,
}

/// Some damage shows only in use.
impl Drop for Opened {
    fn drop(&mut self) {
        self.say_healed();
    }
}

impl Opened {
    /// Refuses an agent whose session is not certain.
    fn to_write() -> Result<Opened, CliError> {
        let opened = Opened::open()?;
        writer::check(&opened.here)?;
        Ok(opened)
    }

    /// Makes the store if there is none.
    fn open() -> Result<Opened, CliError> {
        let here = Here::find()?;
        let memory = Memory::open(&here.env.place, &here.state, &here.config.memory, here.now)?;
        Ok(Opened::of(here, memory))
    }

    /// A search is no reason to make a store.
    fn look() -> Result<Option<Opened>, CliError> {
        let here = Here::find()?;
        let memory = Memory::open_if_there(&here.env.place, &here.state, &here.config.memory, here.now)?;
        Ok(memory.map(|memory| Opened::of(here, memory)))
    }

    fn of(here: Here, memory: Memory) -> Opened {
        if let Some(error) = &memory.unfinished {
            remark::warn(not_finished(error));
        }
        let own = here.root.as_deref().map(memory_project);
        let mut opened = Opened { here, memory, own, said: None };
        opened.say_healed();
        opened
    }

    /// Reports each rebuild once.
    fn say_healed(&mut self) {
        if let Some(healed) = &self.memory.healed
            && self.said.as_ref() != Some(healed)
        {
            remark::warn(describe_healed(healed));
            self.said = Some(healed.clone());
        }
    }

    fn act<T>(
        &mut self,
        act: impl FnOnce(&mut Memory, &Acting<'_>) -> tidegate_memory::error::Result<T>,
    ) -> Result<T, CliError> {
        let by = if approval::is_by_agent(&self.here.env) {
            Some(TakenBy::Model)
        } else {
            approval::is_at_terminal().then_some(TakenBy::Person)
        };
        let session = self.here.env.session.as_deref();
        let acting = Acting { now: self.here.now, own: self.own.as_ref(), session, by };
        Ok(act(&mut self.memory, &acting)?)
    }

    /// An agent's command writes only into its own project, as the tools of the MCP server do.
    fn check_own(&mut self, project: i64) -> Result<(), CliError> {
        if approval::is_by_agent(&self.here.env) {
            act::check_own_project(&mut self.memory, self.own.as_ref(), project)?;
        }
        Ok(())
    }

    fn check_topic(&mut self, id: i64) -> Result<(), CliError> {
        let project = self.find_topic(id)?.in_project.id;
        self.check_own(project)
    }

    fn check_decision(&mut self, id: i64) -> Result<(), CliError> {
        let project = self.find_decision(id)?.in_project.id;
        self.check_own(project)
    }

    fn project(&mut self, named: Option<&String>) -> Result<Option<i64>, CliError> {
        match named {
            None => Ok(None),
            Some(named) => Ok(Some(self.find_project(named)?.id)),
        }
    }

    fn find_topic(&mut self, id: i64) -> Result<Topic, CliError> {
        act::find_topic(&mut self.memory, id).map_err(|error| {
            or_missing(
                error,
                both!("there is no topic {id}", "トピック{id}はありません"),
                both!(
                    "`tidegate memory list` shows the topics with their numbers",
                    "番号は `tidegate memory list` で見られます"
                ),
            )
        })
    }

    fn find_decision(&mut self, id: i64) -> Result<Decision, CliError> {
        act::find_decision(&mut self.memory, id).map_err(|error| {
            or_missing(
                error,
                both!("there is no decision {id}", "決定{id}はありません"),
                both!(
                    "`tidegate memory list decisions --all` shows the decisions with their numbers",
                    "番号は `tidegate memory list decisions --all` で見られます"
                ),
            )
        })
    }

    fn find_log(&mut self, uid: &str) -> Result<tidegate_memory::view::Log, CliError> {
        let named = line(uid, 80);
        act::find_log(&mut self.memory, uid).map_err(|error| {
            or_missing(
                error,
                both!("there is no log `{named}`", "`{named}` というログはありません"),
                both!(
                    "`tidegate memory list logs` and `tidegate memory search` show the ids",
                    "ID は `tidegate memory list logs` や `tidegate memory search` で見られます"
                ),
            )
        })
    }

    fn find_project(&mut self, named: &str) -> Result<MemoryProject, CliError> {
        act::find_project(&mut self.memory, named).map_err(|error| no_project(error, named))
    }

    /// Lists show only the beginning of a session's id.
    fn session_uid(&mut self, named: &str) -> Result<String, CliError> {
        let found = self.memory.session_by_prefix(named)?;
        Ok(found.map_or_else(|| named.to_owned(), |session| session.uid))
    }

    fn clock(&self) -> LocalClock {
        LocalClock::of_system(self.here.now)
    }

    fn filter(&mut self, of: &RowFilter) -> Result<Filter, CliError> {
        let now = self.here.now;
        Ok(Filter {
            project: self.project(of.project.as_ref())?,
            topic: of.topic,
            session: of.session.as_deref().map(|named| self.session_uid(named)).transpose()?,
            since: of.since.map(|when| when.since(now)),
            until: of.until.map(|when| when.until(now)),
            ..Filter::default()
        })
    }
}

/// Puts the decisions of a progress note of this project into the memory; returns their ids. Does nothing if recording is off.
pub(super) fn note_decisions(root: &Path, note: &NewEntry) -> Result<Vec<i64>, CliError> {
    if note.decisions.is_empty() {
        return Ok(Vec::new());
    }
    let mut opened = Opened::to_write()?;
    let own = memory_project(root);
    let is_recorded = relay_log::is_on(&opened.here.config);
    let is_own = opened.own.as_ref().is_some_and(|known| known.key == own.key);
    // An agent's command writes only into its own project.
    if !is_recorded || !is_own && approval::is_by_agent(&opened.here.env) {
        return Ok(Vec::new());
    }
    opened.own = Some(own);
    let reason = note.rationale.as_deref();
    let made = opened
        .act(|memory, acting| act::note_decisions(memory, acting, &note.what, &note.decisions, reason))?;
    Ok(made.iter().map(|decision| decision.id).collect())
}

/// Jobs for the worker: their texts cannot be found yet.
fn count_waiting_jobs(here: &Here) -> usize {
    spool::list(&here.state).map_or(0, |jobs| jobs.len())
}

/// For a person who may be looking for such a text.
fn say_waiting(jobs: usize) {
    if jobs > 0 {
        remark::note(both!(
            "{n} in the queue; `tidegate worker --once` stores everything now",
            "保存待ちが{jobs}件あります。`tidegate worker --once` ですぐに保存できます",
            n = count_en(jobs, "job")
        ));
    }
}

/// For members that are left out of JSON.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_none(jobs: &usize) -> bool {
    *jobs == 0
}

fn not_finished(error: &MemoryError) -> Bilingual {
    both!(
        "Tidegate deleted it from the store, but not everywhere yet: {why}",
        "保存先からは削除しましたが、まだ残っている場所があります: {why}",
        why = error.what
    )
}

pub(super) fn describe_healed(healed: &Healed) -> Bilingual {
    let Healed { why, saved, .. } = healed;
    let aside = healed.aside.display();
    let Bilingual { en, ja } = match &healed.copy {
        Some(copy) => {
            let copy = copy.display();
            both!("Tidegate rebuilt it from {copy}", "{copy} から作り直し")
        }
        None => both!("there was no copy, so Tidegate started a new one", "コピーがないため新しく作り"),
    };
    both!(
        "the memory was damaged ({why}). {en}, with {n} of the damaged file, which is kept in {aside}",
        "記憶のファイルが壊れていました（{why}）。{ja}、壊れたファイルから{saved}行を戻しました。壊れたファイルは {aside} にあります",
        n = count_en(*saved as usize, "row")
    )
}

fn nothing_recorded() -> CliError {
    CliError::new(both!("Tidegate has not recorded anything yet", "まだ何も記録されていません")).hint(both!(
        "start your agent in a project with Tidegate; `tidegate init` installs it there",
        "Tidegate を入れたプロジェクトでエージェントを起動してください。入れるには `tidegate init` を実行します"
    ))
}

fn or_missing(error: MemoryError, what: Bilingual, hint: Bilingual) -> CliError {
    if error.kind == ErrorKind::Missing { CliError::new(what).hint(hint) } else { error.into() }
}

/// The store's own hint names projects that are meant perhaps.
fn no_project(error: MemoryError, named: &str) -> CliError {
    let named = line(named, 80);
    let listed = error.hint.clone().unwrap_or_default();
    or_missing(
        error,
        both!("there is no project `{named}`", "`{named}` というプロジェクトはありません"),
        both!("{listed}", "一覧は `tidegate memory list projects` で見られます（{listed}）"),
    )
}

/// A number in a command line.
fn parse_id(text: &str) -> Result<i64, String> {
    text.parse().map_err(|_| "use a number that `tidegate memory list` shows".to_owned())
}

/// Reads standard input for `-`.
fn read_text(text: &str) -> Result<String, CliError> {
    if text != "-" {
        return Ok(text.to_owned());
    }
    let mut read = Vec::new();
    // A text far above the limit is not read to its end.
    let most = act::LONGEST_TEXT * 2;
    std::io::stdin().lock().take(most as u64 + 1).read_to_end(&mut read).map_err(|error| {
        CliError::new(both!("cannot read stdin: {error}", "標準入力を読めません: {error}"))
            .hint(both!("nothing was written; try again", "何も書き込んでいません。もう一度実行してください"))
    })?;
    if read.len() > most {
        let most = act::LONGEST_TEXT;
        return Err(CliError::new(both!(
            "the text is longer than {most} bytes",
            "テキストが{most}バイトを超えています"
        ))
        .hint(both!(
            "write the main points, and name the file with the rest",
            "要点だけを書き、残りはファイル名で示してください"
        )));
    }
    String::from_utf8(read).map_err(|_| {
        CliError::new(both!("stdin is not UTF-8 text", "標準入力が UTF-8 のテキストではありません"))
            .hint(both!("convert it to UTF-8 first", "先に UTF-8 に変換してください"))
    })
}
