//! The memory, opened for one call: another process may have set the store aside, or deleted from it, since the last
//! one.

use serde::Deserialize;
use tidegate_core::feature::memory::job::RelayProject;
use tidegate_core::text::cut::cut_after_word;
use tidegate_core::time::Millis;
use tidegate_memory::act::{self, Acting, AddedTopic, Authored, Startup, TopicEdit};
use tidegate_memory::memory;
use tidegate_memory::record::{TakenBy, TopicStatus};
use tidegate_memory::store::Store;
use tidegate_memory::team;
use tidegate_memory::view::{Decision, Log, MemoryProject, Query, Topic};
use tidegate_state::project::memory_project;

use super::session;
use crate::command::memory::{team as team_of, writer};
use crate::error::CliError;
use crate::sessions::Here;

#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum ProjectName {
    Id(i64),
    Name(String),
}

pub(super) struct Memory {
    here: Here,
    memory: memory::Memory,
    own: Option<RelayProject>,
    /// The note for a caller if the team could not be asked.
    without_team: Option<String>,
}

impl Memory {
    /// Makes the store if there is none; refuses an agent whose session is not certain.
    pub(super) fn to_write() -> Result<Memory, CliError> {
        let here = Here::find()?;
        writer::check(&here)?;
        let memory = memory::Memory::open(&here.env.place, &here.state, &here.config.memory, here.now)?;
        Ok(Memory::of(here, memory))
    }

    /// A search is no reason to make a store.
    pub(super) fn open_if_there() -> Result<Option<Memory>, CliError> {
        let here = Here::find()?;
        let memory =
            memory::Memory::open_if_there(&here.env.place, &here.state, &here.config.memory, here.now)?;
        Ok(memory.map(|memory| Memory::of(here, memory)))
    }

    fn of(here: Here, memory: memory::Memory) -> Memory {
        let own = here.root.as_deref().map(memory_project);
        Memory { here, memory, own, without_team: None }
    }

    pub(super) fn store(&mut self) -> &mut dyn Store {
        &mut self.memory
    }

    pub(super) fn now(&self) -> Millis {
        self.here.now
    }

    /// A remark next to the answer.
    pub(super) fn note(&self) -> Option<String> {
        let healed = self.memory.healed.as_ref().map(memory::Healed::line);
        let all: Vec<String> = healed.into_iter().chain(self.without_team.clone()).collect();
        (!all.is_empty()).then(|| all.join("\n"))
    }

    /// `None` if nothing was recorded of it.
    pub(super) fn own_project(&mut self) -> Result<Option<MemoryProject>, CliError> {
        Ok(act::find_own_project(&mut self.memory, self.own.as_ref())?)
    }

    pub(super) fn nothing_of_own(&self) -> String {
        let name = self.own.as_ref().map_or("this folder", |own| own.name.as_str());
        format!("Nothing is recorded for project {name} yet. Set `all_projects` to look at the others.")
    }

    pub(super) fn project(&mut self, named: &ProjectName) -> Result<MemoryProject, CliError> {
        let named = match named {
            ProjectName::Id(id) => id.to_string(),
            ProjectName::Name(name) => name.clone(),
        };
        Ok(act::find_project(&mut self.memory, &named)?)
    }

    pub(super) fn topic(&mut self, id: i64) -> Result<Topic, CliError> {
        self.memory.topic(id)?.ok_or_else(|| {
            CliError::new(format!("there is no topic {id}"))
                .hint("call `list_topics` for ids (`all_projects` for all projects), or `add_topic` to begin a topic")
        })
    }

    fn decision(&mut self, id: i64) -> Result<Decision, CliError> {
        self.memory.decision(id)?.ok_or_else(|| {
            CliError::new(format!("there is no decision {id}"))
                .hint("call `list_decisions` for ids (`all_projects` for all projects)")
        })
    }

    pub(super) fn log(&mut self, id: &str) -> Result<Log, CliError> {
        let address = team_of::server_address(&self.here).ok().flatten();
        team::find_log(&mut self.memory, address.as_ref(), id, team_of::patience())?.ok_or_else(|| {
            CliError::new(format!(
                "`{}` is not the id of a log, or it begins several ids",
                cut_after_word(id, 80)
            ))
            .hint("call `get_logs`, `timeline` or `search` for ids")
        })
    }

    pub(super) fn startup(&mut self, limit: Option<usize>) -> Result<Startup, CliError> {
        Ok(act::startup(&mut self.memory, &self.here.config.memory, self.own.as_ref(), limit)?)
    }

    /// As `tidegate memory search`; also the words that no result has.
    pub(super) fn search(&mut self, query: &Query) -> Result<(Vec<Authored>, Vec<String>), CliError> {
        if let (Some(root), Some(own)) = (&self.here.root, &self.own) {
            self.memory.refresh_notes(root, &own.key)?;
        }
        let found = team_of::search_with_team(&self.here, &mut self.memory, query)?;
        self.without_team = found.note();
        Ok((act::with_authors(&mut self.memory, found.hits, &found.authors)?, found.without))
    }
}

/// Methods that write.
impl Memory {
    /// Acts in the session that this call belongs to, as far as that is known.
    fn acting<T>(
        &mut self,
        act: impl FnOnce(&mut dyn Store, &Acting<'_>) -> tidegate_memory::error::Result<T>,
    ) -> Result<T, CliError> {
        let named = self.here.env.session.is_some();
        let session = named.then(|| session::find_session(&self.here, None).ok()).flatten();
        let session = session.map(|(session, _)| session.id.to_string());
        let acting = Acting {
            now: self.here.now,
            own: self.own.as_ref(),
            session: session.as_deref(),
            by: Some(TakenBy::Model),
        };
        Ok(act(&mut self.memory, &acting)?)
    }

    /// Refuses topics of other projects: nothing is written there.
    pub(super) fn own_topic(&mut self, id: i64) -> Result<Topic, CliError> {
        let topic = self.topic(id)?;
        act::check_own_project(&mut self.memory, self.own.as_ref(), topic.in_project.id)?;
        Ok(topic)
    }

    pub(super) fn add_topic(
        &mut self,
        title: &str,
        project: Option<i64>,
        parent: Option<i64>,
    ) -> Result<AddedTopic, CliError> {
        if let Some(parent) = parent {
            self.own_topic(parent)?;
        }
        if let Some(project) = project {
            act::check_own_project(&mut self.memory, self.own.as_ref(), project)?;
        }
        self.acting(|store, acting| act::add_topic(store, acting, title, project, parent))
    }

    /// A project within this folder's: one repository can hold several.
    pub(super) fn make_project(&mut self, name: &str) -> Result<MemoryProject, CliError> {
        let name = crate::knowledge::required_line("the project's name", name)?;
        let Some(own) = &self.own else {
            return Err(CliError::new("the project is not known")
                .hint("ask the person to start the agent in a project's folder"));
        };
        Ok(act::make_project(&mut self.memory, &act::project_within(own, &name), self.here.now)?)
    }

    pub(super) fn set_status(&mut self, topic: i64, status: TopicStatus) -> Result<Topic, CliError> {
        self.own_topic(topic)?;
        let edit = TopicEdit { status: Some(status), ..TopicEdit::default() };
        Ok(act::edit_topic(&mut self.memory, self.here.now, topic, &edit)?)
    }

    pub(super) fn add_log(&mut self, topic: i64, title: Option<&str>, text: &str) -> Result<Log, CliError> {
        self.own_topic(topic)?;
        self.acting(|store, acting| act::add_log(store, acting, topic, title, text))
    }

    pub(super) fn add_decision(
        &mut self,
        topic: i64,
        text: &str,
        reason: Option<&str>,
    ) -> Result<Decision, CliError> {
        self.own_topic(topic)?;
        self.acting(|store, acting| act::add_decision(store, acting, topic, text, reason))
    }

    pub(super) fn supersede(
        &mut self,
        id: i64,
        text: &str,
        reason: Option<&str>,
    ) -> Result<Decision, CliError> {
        let old = self.decision(id)?;
        act::check_own_project(&mut self.memory, self.own.as_ref(), old.in_project.id)?;
        if act::is_of_person(&old) {
            let who = old.author.as_deref().map_or("the person", |_| "a teammate");
            return Err(CliError::new(format!("nothing was written: {who} took decision {id}")).hint(format!(
                "ask the person to run `tidegate memory decision supersede {id} \"…\"` at a terminal; `add_decision` records \
                 yours next to it, unconfirmed"
            )));
        }
        self.acting(|store, acting| act::supersede_decision(store, acting, id, text, reason))
    }
}
