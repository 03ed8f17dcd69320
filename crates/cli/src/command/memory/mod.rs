//! `tidegate memory`: what is remembered, for people. One file per command.

pub(crate) mod arguments;
mod check;
mod decision;
mod export;
mod forget;
mod import;
mod list;
mod log;
mod migrate;
mod search;
mod shown;
mod stats;
pub(crate) mod team;
mod topic;
pub(crate) mod writer;

use std::io::Read;

use tidegate_core::feature::memory::job::ProjectOf;
use tidegate_memory::act::{self, Acting};
use tidegate_memory::memory::{Healed, Memory};
use tidegate_memory::team::Direction;
use tidegate_memory::text::one_line as line;
use tidegate_memory::view::{Filter, MemoryProject};
use tidegate_state::feature::memory::spool;
use tidegate_state::project::memory_project;

use super::Outcome;
use crate::approval;
use crate::error::CliError;
use crate::print;
use crate::sessions::Here;
use arguments::{MemoryCommand, Of};

pub(crate) fn run(command: &MemoryCommand) -> Outcome {
    match command {
        MemoryCommand::Search(args) => search::run(args),
        MemoryCommand::List(args) => list::run(args),
        MemoryCommand::Show(args) => shown::run(args),
        MemoryCommand::Topic(args) => topic::run(args),
        MemoryCommand::Decision(args) => decision::run(args),
        MemoryCommand::Log(args) => log::run(args),
        MemoryCommand::Check(args) => check::check(args),
        MemoryCommand::Backup(args) => check::backup(args),
        MemoryCommand::Export => export::run(),
        MemoryCommand::Import(args) => import::run(args),
        MemoryCommand::Forget(args) => forget::run(args),
        MemoryCommand::Stats(args) => stats::run(args),
        MemoryCommand::Team(args) => team::show(args),
        MemoryCommand::Push(args) => team::exchange(args, Direction::Push),
        MemoryCommand::Pull(args) => team::exchange(args, Direction::Pull),
        MemoryCommand::Migrate(args) => migrate::run(args),
    }
}

/// The memory, and from where it is looked at.
struct Opened {
    here: Here,
    memory: Memory,
    own: Option<ProjectOf>,
    /// What has been said of damage.
    said: Option<Healed>,
}

/// Some damage shows only in use.
impl Drop for Opened {
    fn drop(&mut self) {
        self.say_healed();
    }
}

impl Opened {
    /// Opens it to write into it, if the caller may.
    fn to_write() -> Result<Opened, CliError> {
        let opened = Opened::open()?;
        writer::check(&opened.here)?;
        Ok(opened)
    }

    /// Opens it, and makes it where there is none.
    fn open() -> Result<Opened, CliError> {
        let here = Here::find()?;
        let memory = Memory::open(&here.env.place, &here.state, &here.config.memory, here.now)?;
        Ok(Opened::of(here, memory))
    }

    /// Opens it where there is one: looking for something is no reason to make it.
    fn look() -> Result<Option<Opened>, CliError> {
        let here = Here::find()?;
        let memory = Memory::open_if_there(&here.env.place, &here.state, &here.config.memory, here.now)?;
        Ok(memory.map(|memory| Opened::of(here, memory)))
    }

    fn of(here: Here, memory: Memory) -> Opened {
        if let Some(error) = &memory.unfinished {
            print::to_stderr(&format!("warning: {}", not_finished(error)));
        }
        let own = here.root.as_deref().map(memory_project);
        let mut opened = Opened { here, memory, own, said: None };
        opened.say_healed();
        opened
    }

    /// Says that the store was damaged and rebuilt, where that has not been said.
    fn say_healed(&mut self) {
        if let Some(healed) = &self.memory.healed
            && self.said.as_ref() != Some(healed)
        {
            print::to_stderr(&format!("warning: {}", healed.line()));
            self.said = Some(healed.clone());
        }
    }

    /// Who acts here.
    fn act<T>(
        &mut self,
        act: impl FnOnce(&mut Memory, &Acting<'_>) -> tidegate_memory::error::Result<T>,
    ) -> Result<T, CliError> {
        let acting =
            Acting { now: self.here.now, own: self.own.as_ref(), session: self.here.env.session.as_deref() };
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
        let project = act::find_topic(&mut self.memory, id)?.in_project.id;
        self.check_own(project)
    }

    fn check_decision(&mut self, id: i64) -> Result<(), CliError> {
        let project = act::find_decision(&mut self.memory, id)?.in_project.id;
        self.check_own(project)
    }

    /// The id of a project that somebody named.
    fn project(&mut self, named: Option<&String>) -> Result<Option<i64>, CliError> {
        match named {
            None => Ok(None),
            Some(named) => Ok(Some(act::find_project(&mut self.memory, named)?.id)),
        }
    }

    fn filter(&mut self, of: &Of) -> Result<Filter, CliError> {
        let now = self.here.now;
        Ok(Filter {
            project: self.project(of.project.as_ref())?,
            topic: of.topic,
            session: of.session.clone(),
            since: of.since.map(|when| when.since(now)),
            until: of.until.map(|when| when.until(now)),
            ..Filter::default()
        })
    }
}

/// How many jobs wait for a worker: what they are about is not found yet.
fn waiting(here: &Here) -> usize {
    spool::list(&here.state).map_or(0, |jobs| jobs.len())
}

/// Says so to a person who may be looking for that.
fn say_waiting(jobs: usize) {
    if jobs > 0 {
        let (jobs, wait) =
            if jobs == 1 { ("1 job".to_owned(), "waits") } else { (format!("{jobs} jobs"), "wait") };
        print::to_stderr(&format!("note: {jobs} {wait} to be stored; `tidegate worker --once` does it now"));
    }
}

/// For members that are left out of JSON.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_none(jobs: &usize) -> bool {
    *jobs == 0
}

/// That something which was forgotten is not gone from everywhere yet.
fn not_finished(error: &tidegate_memory::error::Error) -> String {
    format!("what was forgotten is gone from the store, but not from everywhere: {}", error.what)
}

/// Where a project is on this machine.
fn folder(project: &MemoryProject) -> String {
    match &project.row.key {
        Some(key) => line(key.strip_suffix("/.git").unwrap_or(key), 300),
        None => "no folder of this machine".to_owned(),
    }
}

/// `2026-11-01 10:00`, in UTC.
fn minute(at: tidegate_core::time::Millis) -> String {
    at.iso()[..16].replace('T', " ")
}

/// A text that was given, or that comes from stdin.
fn given(text: &str) -> Result<String, CliError> {
    if text != "-" {
        return Ok(text.to_owned());
    }
    let mut read = Vec::new();
    // What is far too long is not read to its end.
    let most = act::LONGEST_TEXT * 2;
    std::io::stdin()
        .lock()
        .take(most as u64 + 1)
        .read_to_end(&mut read)
        .map_err(|error| CliError::new(format!("stdin: {error}")))?;
    if read.len() > most {
        return Err(CliError::new(format!("the text is longer than {} bytes", act::LONGEST_TEXT))
            .hint("say what matters, and name the file that holds the rest"));
    }
    String::from_utf8(read).map_err(|_| CliError::new("stdin: the text is not UTF-8"))
}
