//! Records: rows as they travel. Imported, exported, delivered to a team and put into a store in the same form.
//!
//! Rows refer to each other by `uid`, which is the same in every store; `id` is a small number that each store gives
//! for itself. A record that comes twice changes nothing; of two versions of one row the newer stands.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};

use serde::{Deserialize, Serialize};
use tidegate_core::time::Millis;

/// What names a row everywhere: of a relay's log the uuid of its prompt, else a random uuid.
pub type Uid = String;

/// A new name: random by the seeds that the standard library takes from the system for its hash tables.
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

/// One row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Record {
    /// A project.
    Project(Project),
    /// A topic.
    Topic(Topic),
    /// A session.
    Session(Session),
    /// A log.
    Log(Log),
    /// A decision.
    Decision(Decision),
}

/// A project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Project {
    /// Its name everywhere.
    pub uid: Uid,
    /// The number it had where it comes from, taken again where it is free.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<i64>,
    /// What this machine knows it by: the git common directory, else its path. Not sent to a team.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// What people call it. Unique in a team.
    pub name: String,
    /// When it was first seen.
    pub created: Millis,
    /// When it was last changed.
    pub updated: Millis,
}

/// A topic.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Topic {
    /// Its name everywhere.
    pub uid: Uid,
    /// As in [`Project::id`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<i64>,
    /// Its project.
    pub project: Uid,
    /// The topic that it is a part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Uid>,
    /// What it is about, one line.
    pub title: String,
    /// Whether somebody works on it.
    pub status: Status,
    /// It was made for this session, which named none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub automatic: Option<String>,
    /// In how many sessions it was offered and left alone.
    #[serde(default)]
    pub offered: u32,
    /// When it was last offered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offered_at: Option<Millis>,
    /// When it began.
    pub created: Millis,
    /// When it was last changed.
    pub updated: Millis,
}

/// Whether somebody works on a topic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Yes.
    #[default]
    Open,
    /// No more.
    Closed,
}

/// A session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// The host's session id.
    pub uid: Uid,
    /// Its default project.
    pub project: Uid,
    /// The folder it ran in.
    pub root: String,
    /// The branch it began on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// When its first relay began.
    pub created: Millis,
    /// When its last relay was stored.
    pub updated: Millis,
}

/// A relay, or what somebody wrote down by hand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Log {
    /// Of a relay: the uuid of its prompt.
    pub uid: Uid,
    /// Its topic.
    pub topic: Uid,
    /// The session, where there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<Uid>,
    /// One line.
    pub title: String,
    /// The summary; of a log by hand its text.
    pub text: String,
    /// What was asked, redacted and cut.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub prompt: String,
    /// What was answered last, redacted and cut.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub answer: String,
    /// How often each tool was used.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tools: BTreeMap<String, u32>,
    /// Files that were written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Where it comes from.
    pub source: Source,
    /// How many secrets of which kind were taken out.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub redacted: BTreeMap<String, u32>,
    /// What was noted about it: an id in its tag that does not exist, say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Who summed it up: `local`, or the name of a model; and whether that is to be tried again.
    #[serde(default)]
    pub summary: Summary,
    /// When the relay began, or the log was written.
    pub at: Millis,
    /// When the relay ended, as far as is known.
    pub updated: Millis,
}

/// Where a log comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// The recorder.
    Relay,
    /// Somebody wrote it down.
    Hand,
}

/// Who summed a log up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// `local`, or the model; empty for a log by hand.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub by: String,
    /// A summariser failed, and is to be asked again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub again: bool,
}

/// A decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// Its name everywhere.
    pub uid: Uid,
    /// As in [`Project::id`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<i64>,
    /// Its topic.
    pub topic: Uid,
    /// What was decided.
    pub text: String,
    /// Why.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// The decision that it takes the place of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supersedes: Option<Uid>,
    /// When it was taken back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retracted: Option<Millis>,
    /// The session that it was recorded in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<Uid>,
    /// When it was recorded.
    pub created: Millis,
    /// When it was last changed.
    pub updated: Millis,
}

/// A row as the team's store tells of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Foreign {
    /// A topic or a decision.
    pub record: Record,
    /// The machine that brought it there, by what the store says; empty where it says nothing.
    pub origin: Uid,
}

/// A row that its origin took back, by what the team's store says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Withdrawn {
    /// As in [`Record::kind`].
    pub kind: String,
    /// What names it everywhere.
    pub uid: Uid,
    /// As in [`Foreign::origin`].
    pub origin: Uid,
}

impl Record {
    /// Its kind, as it stands in an export.
    pub fn kind(&self) -> &'static str {
        match self {
            Record::Project(_) => "project",
            Record::Topic(_) => "topic",
            Record::Session(_) => "session",
            Record::Log(_) => "log",
            Record::Decision(_) => "decision",
        }
    }

    /// What names it everywhere.
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
