//! Arguments that several tools take: filter, time span, page.

use serde::Deserialize;
use serde_json::{Map, Value, json};
use tidegate_core::text::cut::cut_after_word;
use tidegate_core::time::Millis;
use tidegate_memory::view::{Filter, Page};

use super::schema;
use crate::command::mcp::memory::{Memory, ProjectName};
use crate::command::memory::row_filter::When;
use crate::error::CliError;

/// Rows on a page without `limit`.
pub(super) const USUAL: usize = 20;

pub(super) const MOST: usize = 100;

/// Filter and page of a list.
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

pub(super) enum Scope {
    Of(Filter),
    /// Nothing was recorded of this folder's project: the answer says so.
    NothingYet(String),
}

impl Which {
    /// For a schema. Tools add their own members.
    pub(super) fn members() -> Map<String, Value> {
        let members = json!({
            "project": {
                "type": ["integer", "string"],
                "description": "Id or name; default: this folder's",
            },
            "all_projects": { "type": "boolean", "default": false },
            "topic_id": schema::id("Only this topic"),
            "session": schema::text("Only this session"),
            "since": schema::since(),
            "until": schema::until(),
            "limit": schema::limit(USUAL, MOST),
            "after": schema::after(),
        });
        let Value::Object(members) = members else { return Map::new() };
        members
    }

    /// A topic or a session needs no project.
    pub(super) fn scope(&self, memory: &mut Memory) -> Result<Scope, CliError> {
        let (since, until) = parse_times(self.since.as_deref(), self.until.as_deref(), memory.now())?;
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

    pub(super) fn page(&self) -> Page {
        Page { limit: self.limit.unwrap_or(USUAL), after: self.after.clone() }
    }
}

pub(super) fn parse_times(
    since: Option<&str>,
    until: Option<&str>,
    now: Millis,
) -> Result<(Option<Millis>, Option<Millis>), CliError> {
    let read = |name: &str, text: Option<&str>| {
        let when = text.map(|text| {
            text.trim().parse::<When>().map_err(|_| {
                CliError::new(format!("`{name}` is not a time: {}", cut_after_word(text, 40)))
                    .hint("use 2026-11-15, 2026-11-15T11:51:28Z (both UTC), or 7d, 12h, 30m ago")
            })
        });
        when.transpose()
    };
    let (since, until) = (read("since", since)?, read("until", until)?);
    Ok((since.map(|when| when.since(now)), until.map(|when| when.until(now))))
}
