//! Updates the catalogue: the part of the store that hooks need.

use std::collections::BTreeSet;

use tidegate_core::feature::memory::catalogue::{
    Decided, MOST, MOST_RECENT, NamedId, ProjectPage, RecentTopic, TopicRecord, Undecided, UndecidedTopic,
};
use tidegate_core::feature::memory::short_name::{short_decision_name, short_name};
use tidegate_state::feature::memory::catalogue;
use tidegate_state::place::StateDir;

use super::Memory;
use crate::act::{WITHIN, author_of_decision, author_of_teammate};
use crate::error::{Error, ErrorKind, Result};
use crate::record::{Record, TopicStatus};
use crate::store::Store;
use crate::view::{Filter, Page, Topic};

/// With more changed topics than this, all are written.
const ONE_BY_ONE: usize = 200;

pub(super) fn catalogue_exists(state: &StateDir) -> bool {
    !matches!(catalogue::read_topic(state, 1), tidegate_core::feature::facts::Known::Absent)
}

fn publish_error(error: &std::io::Error) -> Error {
    Error::new(ErrorKind::Io, format!("the catalogue for the hooks was not written: {error}"))
        .hint("what was stored is stored; the next change writes it")
}

fn topic_record(topic: &Topic) -> TopicRecord {
    TopicRecord {
        id: topic.id,
        project: topic.in_project.id,
        automatic: topic.row.automatic.is_some(),
        closed: topic.row.status == TopicStatus::Closed,
        recorded: topic.recorded,
    }
}

impl Memory {
    /// Updates the catalogue for these stored rows.
    pub(super) fn publish(&mut self, records: &[Record]) -> Result<()> {
        let mut topics: BTreeSet<&str> = BTreeSet::new();
        for record in records {
            match record {
                Record::Topic(row) => topics.insert(&row.uid),
                Record::Log(row) => topics.insert(&row.topic),
                Record::Decision(row) => topics.insert(&row.topic),
                Record::Project(_) | Record::Session(_) => false,
            };
        }
        if topics.len() > ONE_BY_ONE {
            return self.publish_all();
        }
        let mut projects = BTreeSet::new();
        for uid in topics {
            let Some(topic) = self.store.topic_by_uid(uid)? else { continue };
            catalogue::write_topic(&self.state, &topic_record(&topic))
                .map_err(|error| publish_error(&error))?;
            projects.insert(topic.in_project.id);
        }
        for row in records {
            if let Record::Project(row) = row
                && let Some(project) = row.key.as_deref()
                && let Some(project) = self.store.project_by_key(project)?
            {
                projects.insert(project.id);
            }
            // Its page names the projects within it.
            if let Record::Project(row) = row
                && let Some((whole, _)) = row.key.as_deref().and_then(|key| key.split_once(WITHIN))
                && let Some(project) = self.store.project_by_key(whole)?
            {
                projects.insert(project.id);
            }
        }
        for id in projects {
            self.publish_project(id)?;
        }
        self.publish_undecided()
    }

    pub fn publish_all(&mut self) -> Result<()> {
        let filter = Filter { all: true, ..Filter::default() };
        let mut page = Page { limit: 1000, after: None };
        let mut records = Vec::new();
        loop {
            let topics = self.store.topics(&filter, &page)?;
            records.extend(topics.rows.iter().map(topic_record));
            page.after = topics.next;
            if page.after.is_none() {
                break;
            }
        }
        catalogue::write_topics(&self.state, records).map_err(|error| publish_error(&error))?;
        let mut page = Page { limit: 1000, after: None };
        catalogue::clear_projects(&self.state).map_err(|error| publish_error(&error))?;
        loop {
            let projects = self.store.projects(&page)?;
            for project in projects.rows {
                self.publish_project(project.id)?;
            }
            page.after = projects.next;
            if page.after.is_none() {
                break;
            }
        }
        self.publish_undecided()
    }

    pub(super) fn publish_undecided(&mut self) -> Result<()> {
        let named = |id, name: &str| NamedId { id, name: short_name(name) };
        let topics = self.store.undecided_topics(None, MOST)?;
        let topics = topics.iter().map(|topic| UndecidedTopic {
            topic: named(topic.id, &topic.row.title),
            project: named(topic.in_project.id, &topic.in_project.name),
            by: topic.author.as_deref().map(author_of_teammate).unwrap_or_default(),
        });
        let undecided = Undecided { topics: topics.collect() };
        if catalogue::read_undecided(&self.state).value() == Some(&undecided) {
            return Ok(());
        }
        catalogue::write_undecided(&self.state, &undecided).map_err(|error| publish_error(&error))
    }

    fn publish_project(&mut self, id: i64) -> Result<()> {
        let Some(project) = self.store.project(id)? else { return Ok(()) };
        let Some(key) = project.row.key else { return Ok(()) };
        let filter = Filter { project: Some(id), open: Some(true), ..Filter::default() };
        let decisions = self.store.decisions(&filter, &Page { limit: MOST, after: None })?.rows;
        let named = |id, name: &str| NamedId { id, name: short_name(name) };
        let decisions = decisions.iter().map(|one| Decided {
            id: one.id,
            name: short_decision_name(one.row.text.lines().next().unwrap_or_default()),
            by: author_of_decision(one),
        });
        let all = Filter { project: Some(id), all: true, ..Filter::default() };
        let recent = self.store.topics(&all, &Page { limit: MOST_RECENT, after: None })?.rows;
        let recent = recent.into_iter().filter(|topic| topic.logs > 0).map(|topic| RecentTopic {
            id: topic.id,
            name: short_name(&topic.row.title),
            at: topic.active,
            session: topic.row.automatic,
        });
        let page = ProjectPage {
            recent: recent.collect(),
            within: self.store.projects_within(&key)?,
            ..ProjectPage::new(key, named(project.id, &project.row.name), decisions.collect())
        };
        if catalogue::read_project(&self.state, &page.key).value() == Some(&page) {
            return Ok(());
        }
        catalogue::write_project(&self.state, &page).map_err(|error| publish_error(&error))
    }
}
