//! Who said it: the author of a row in words, and whether a hit still stands.

use std::collections::BTreeMap;

use serde::Serialize;
use tidegate_core::text::hidden::is_plain;
use tidegate_core::text::short_id::short_id;

use crate::error::Result;
use crate::record::{self, LogSource};
use crate::store::Store;
use crate::view::{Decision, Hit, HitKind, Log};

/// Agents act in a session, a person at a terminal does not.
pub fn author(session: Option<&str>) -> String {
    match session {
        Some(session) => format!("agent, session {}", short_session(session)),
        None => "author not recorded".to_owned(),
    }
}

/// A teammate, a person who answered a question, else as [`author`] has it.
pub fn author_of_decision(decision: &Decision) -> String {
    let row = &decision.row;
    if let Some(name) = &decision.author {
        return match row.taken_by {
            Some(record::TakenBy::Model) => format!("agent of teammate {}", teammate(name)),
            _ => author_of_teammate(name),
        };
    }
    match (row.taken_by, row.session.as_deref()) {
        (Some(record::TakenBy::Person), Some(session)) => {
            format!("the person, session {}", short_session(session))
        }
        (Some(record::TakenBy::Person), None) => "the person".to_owned(),
        (_, session) => author(session),
    }
}

/// The log of a relay holds what both sides said.
pub fn author_of_log(log: &Log) -> String {
    let row = &log.row;
    if let Some(name) = &log.author {
        return author_of_teammate(name);
    }
    match (row.source, row.session.as_deref()) {
        (LogSource::Relay, Some(session)) => format!("conversation, session {}", short_session(session)),
        (_, session) => author(session),
    }
}

pub fn author_of_teammate(name: &str) -> String {
    format!("teammate {}", teammate(name))
}

/// Rows from before members had logins have no name.
pub(super) fn teammate(name: &str) -> String {
    let plain: String = name.chars().filter(|c| is_plain(*c)).take(40).collect();
    if plain.is_empty() { "(unknown)".to_owned() } else { plain }
}

fn short_session(session: &str) -> String {
    short_id(session).chars().filter(|c| is_plain(*c)).collect()
}

/// A hit with its author, if the local store knows one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Authored {
    #[serde(flatten)]
    pub hit: Hit,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Of a decision, and of a log with a decision that no longer stands or is contradicted.
    #[serde(flatten)]
    pub standing: Option<Standing>,
}

/// Whether a decision still counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Standing {
    pub status: DecisionStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<i64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<i64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DecisionStatus {
    Stands,
    Superseded,
    Retracted,
}

impl Standing {
    pub fn of(decision: &Decision) -> Standing {
        let status = match (decision.row.retracted, decision.superseded_by) {
            (Some(_), _) => DecisionStatus::Retracted,
            (None, Some(_)) => DecisionStatus::Superseded,
            (None, None) => DecisionStatus::Stands,
        };
        let superseded_by = decision.superseded_by.filter(|_| status == DecisionStatus::Superseded);
        Standing { status, superseded_by, conflicts: decision.conflicts.clone() }
    }

    /// Whether there is nothing to say about it.
    pub fn is_plain(&self) -> bool {
        self.status == DecisionStatus::Stands && self.conflicts.is_empty()
    }
}

/// A log stands for its first decisions: an exchange rarely has more answers.
const DECISIONS_OF_LOG: usize = 8;

fn standing_of(store: &mut dyn Store, hit: &Hit) -> Result<Option<Standing>> {
    Ok(match hit.kind {
        HitKind::Decision => store.decision_by_uid(&hit.uid)?.map(|found| Standing::of(&found)),
        HitKind::Log => {
            let mut standing = None;
            for number in 0..DECISIONS_OF_LOG {
                let found = store.decision_by_uid(&record::found_decision_uid(&hit.uid, number))?;
                // An answer that decided nothing has a number, too.
                let Some(found) = found else { continue };
                standing = standing.or(Some(Standing::of(&found)).filter(|one| !one.is_plain()));
            }
            standing
        }
        HitKind::Topic | HitKind::Stock | HitKind::Progress => None,
    })
}

/// `authors` are teammates, by the uid of their log.
pub fn with_authors(
    store: &mut dyn Store,
    hits: Vec<Hit>,
    authors: &BTreeMap<record::Uid, String>,
) -> Result<Vec<Authored>> {
    let with_author = |hit: Hit| {
        let (by, standing) = (author_of(store, &hit, authors)?, standing_of(store, &hit)?);
        Ok(Authored { hit, by, standing })
    };
    hits.into_iter().map(with_author).collect()
}

fn author_of(
    store: &mut dyn Store,
    hit: &Hit,
    authors: &BTreeMap<record::Uid, String>,
) -> Result<Option<String>> {
    Ok(match hit.kind {
        HitKind::Decision => {
            let id = hit.id.parse().unwrap_or_default();
            let found = store.decision(id)?.filter(|found| found.row.uid == hit.uid);
            found.map(|found| author_of_decision(&found))
        }
        HitKind::Log => match store.log(&hit.id)? {
            Some(found) => Some(author_of_log(&found)),
            None => authors.get(&hit.uid).map(|name| author_of_teammate(name)),
        },
        HitKind::Stock | HitKind::Progress => Some("a file of the project".to_owned()),
        HitKind::Topic => {
            let found = store.topic_by_uid(&hit.uid)?;
            found.and_then(|found| found.author).map(|name| author_of_teammate(&name))
        }
    })
}
