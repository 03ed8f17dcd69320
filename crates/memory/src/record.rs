//! Records: rows in the form that import, export, team delivery and stores share.
//!
//! Rows refer to each other by `uid`, which is the same in every store; each store assigns its own small
//! numeric `id`. Storing a record twice changes nothing, and of two versions of a row the newer one wins.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};

use serde::{Deserialize, Serialize};
use tidegate_core::time::Millis;

/// Identifies a row in every store: the uuid of the prompt for the log of a relay, else a random uuid.
pub type Uid = String;

/// Random through the seeds that the standard library takes from the system for its hash tables: no extra
/// dependency.
pub fn new_uid() -> Uid {
    let random = || RandomState::new().hash_one(std::process::id());
    let (high, low) = (random(), random());
    format!(
        "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
        high >> 32,
        high >> 16 & 0xffff,
        high & 0xfff,
        low >> 48 & 0x3fff | 0x8000,
        low & 0xffff_ffff_ffff
    )
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Record {
    Project(ProjectRow),
    Topic(TopicRow),
    Session(SessionRow),
    Log(LogRow),
    Decision(DecisionRow),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectRow {
    pub uid: Uid,
    /// The id in the store it comes from; reused if it is free here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<i64>,
    /// The git common directory, else the path. Stays on this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Unique within a team.
    pub name: String,
    pub created: Millis,
    pub updated: Millis,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TopicRow {
    pub uid: Uid,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<i64>,
    pub project: Uid,
    /// The topic it is a part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Uid>,
    /// One line.
    pub title: String,
    pub status: TopicStatus,
    /// The session this topic was created for because the session named none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub automatic: Option<String>,
    /// The number of sessions that were offered this topic without any activity since.
    #[serde(default)]
    pub offered: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offered_at: Option<Millis>,
    pub created: Millis,
    pub updated: Millis,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TopicStatus {
    #[default]
    Open,
    Closed,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionRow {
    /// The host's session id.
    pub uid: Uid,
    /// The project of its folder.
    pub project: Uid,
    pub root: String,
    /// The branch at the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The start of its first relay.
    pub created: Millis,
    /// When its last relay was stored.
    pub updated: Millis,
}

/// A relay, or an entry that a person or model wrote directly.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogRow {
    /// For a relay, the uuid of its prompt.
    pub uid: Uid,
    pub topic: Uid,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<Uid>,
    /// One line.
    pub title: String,
    /// The summary; the text itself for a hand-written log.
    pub text: String,
    /// Redacted and cut.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub prompt: String,
    /// The last answer, redacted and cut.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub answer: String,
    /// Uses per tool.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tools: BTreeMap<String, u32>,
    /// Files that were written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    pub source: LogSource,
    /// Removed secrets by kind.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub redacted: BTreeMap<String, u32>,
    /// Remarks of the recorder, such as an unknown id in the tag.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    #[serde(default)]
    pub summary: LogSummary,
    /// The start of the relay, or the time of writing.
    pub at: Millis,
    /// The end of the relay as far as known.
    pub updated: Millis,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogSource {
    Relay,
    /// Written directly.
    Hand,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogSummary {
    /// `local` or the name of the model; empty for a hand-written log.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub by: String,
    /// A language model is still to replace the summary.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub again: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DecisionRow {
    pub uid: Uid,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<i64>,
    pub topic: Uid,
    pub text: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// The decision that this one replaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supersedes: Option<Uid>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retracted: Option<Millis>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<Uid>,
    /// `None` if it was written at a terminal, by an earlier version or by somebody else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taken_by: Option<TakenBy>,
    pub created: Millis,
    pub updated: Millis,
}

/// The uid of a decision that was found in a relay. It is forgotten with the relay's log.
pub fn found_decision_uid(relay: &str, number: usize) -> Uid {
    format!("{relay}:{number}")
}

/// The uid of what a decision said before it was edited. It is forgotten with the decision.
pub fn earlier_wording_uid(decision: &str, number: usize) -> Uid {
    format!("{decision}{EARLIER}{number}")
}

/// Separates the uid of a decision from the number of an earlier wording.
pub(crate) const EARLIER: &str = "~";

/// Whether this is the uid of an earlier wording.
pub fn is_earlier_wording(uid: &str) -> bool {
    uid.contains(EARLIER)
}

/// The relay in which a decision was found.
pub(crate) fn relay_of_decision(uid: &str) -> Option<&str> {
    uid.split_once(':').map(|(relay, _)| relay)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TakenBy {
    /// Answered a question, or confirmed the model's decision.
    Person,
    Model,
}

impl TakenBy {
    pub fn name(self) -> &'static str {
        match self {
            TakenBy::Person => "person",
            TakenBy::Model => "model",
        }
    }

    pub fn from_name(name: &str) -> Option<TakenBy> {
        [TakenBy::Person, TakenBy::Model].into_iter().find(|by| by.name() == name)
    }
}

/// A row as the team's store reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Foreign {
    /// Always a topic or a decision.
    pub record: Record,
    /// The owner of the row, by login; empty for a row from version 1.
    pub origin: String,
}

/// A row that was deleted, as the team's store reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Withdrawn {
    pub kind: String,
    pub uid: Uid,
    pub origin: String,
}

impl Record {
    /// As in an export.
    pub fn kind(&self) -> &'static str {
        match self {
            Record::Project(_) => "project",
            Record::Topic(_) => "topic",
            Record::Session(_) => "session",
            Record::Log(_) => "log",
            Record::Decision(_) => "decision",
        }
    }

    pub fn uid(&self) -> &str {
        match self {
            Record::Project(row) => &row.uid,
            Record::Topic(row) => &row.uid,
            Record::Session(row) => &row.uid,
            Record::Log(row) => &row.uid,
            Record::Decision(row) => &row.uid,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_names_are_uuids_and_differ() {
        let (one, other) = (new_uid(), new_uid());
        assert_ne!(one, other);
        for uid in [one, other] {
            assert_eq!(uid.len(), 36);
            assert!(uid.chars().all(|c| c == '-' || c.is_ascii_hexdigit()), "{uid}");
            assert!(uid.as_bytes()[14] == b'4' && b"89ab".contains(&uid.as_bytes()[19]), "{uid}");
        }
    }
}
