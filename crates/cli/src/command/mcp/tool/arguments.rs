//! Arguments that several tools take: which rows, from when to when, which page.

use serde::Deserialize;
use serde_json::{Map, Value, json};
use tidegate_core::text::cut::cut_after_word;
use tidegate_core::time::Millis;
use tidegate_memory::view::{Filter, Page};

use super::schema;
use crate::command::mcp::memory::{Memory, ProjectName};
use crate::command::memory::arguments::When;
use crate::error::CliError;

/// Rows on a page that nobody asked the size of.
pub(super) const USUAL: usize = 20;

/// The most that fit a page.
pub(super) const MOST: usize = 100;

/// Which rows of a list.
#[derive(Deserialize)]
pub(super) struct Which {
    project: Option<ProjectName>,
    #[serde(default)]
    all_projects: bool,
    topic_id: Option<i64>,
    session: Option<String>,
    since: Option<String>,
    until: Option<String>,
    limit: Option<usize>,
    after: Option<String>,
}

/// What a list is about.
pub(super) enum Scope {
    /// These rows.
    Of(Filter),
    /// Nothing has been recorded of the project of this folder, which is said so.
    NothingYet(String),
}

impl Which {
    /// Its members, for a schema. Tools add their own.
    pub(super) fn members() -> Map<String, Value> {
        let members = json!({
            "project": {
                "type": ["integer", "string"],
                "description": "A project's id or name; without it, the project of this folder",
            },
            "all_projects": { "type": "boolean", "default": false, "description": "Of all projects instead" },
            "topic_id": schema::id("Only of this topic"),
            "session": schema::text("Only of this session, by its id"),
            "since": schema::since(),
            "until": schema::until(),
            "limit": schema::limit(USUAL, MOST),
            "after": schema::after(),
        });
        let Value::Object(members) = members else { return Map::new() };
        members
    }

    /// The rows that are meant. What names a topic or a session needs no project.
    pub(super) fn scope(&self, memory: &mut Memory) -> Result<Scope, CliError> {
        let (since, until) = times(self.since.as_deref(), self.until.as_deref(), memory.now())?;
        let session = self.session.clone();
        let mut filter = Filter { topic: self.topic_id, session, since, until, ..Filter::default() };
        if let Some(topic) = self.topic_id {
            memory.topic(topic)?;
        }
        let anywhere = self.all_projects || self.topic_id.is_some() || self.session.is_some();
        match &self.project {
            Some(name) => filter.project = Some(memory.project(name)?.id),
            None if anywhere => {}
            None => match memory.own_project()? {
                Some(own) => filter.project = Some(own.id),
                None => return Ok(Scope::NothingYet(memory.nothing_of_own())),
            },
        }
        Ok(Scope::Of(filter))
    }

    /// The page that is meant.
    pub(super) fn page(&self) -> Page {
        Page { limit: self.limit.unwrap_or(USUAL), after: self.after.clone() }
    }
}

/// From when to when.
pub(super) fn times(
    since: Option<&str>,
    until: Option<&str>,
    now: Millis,
) -> Result<(Option<Millis>, Option<Millis>), CliError> {
    let read = |name: &str, text: Option<&str>| {
        let when = text.map(|text| {
            text.trim().parse::<When>().map_err(|_| {
                CliError::new(format!("`{name}` is no time: {}", cut_after_word(text, 40)))
                    .hint("2026-11-15, 2026-11-15T11:51:28Z (both UTC), or 7d, 12h, 30m ago")
            })
        });
        when.transpose()
    };
    let (since, until) = (read("since", since)?, read("until", until)?);
    Ok((since.map(|when| when.since(now)), until.map(|when| when.until(now))))
}
