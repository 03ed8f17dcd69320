//! The catalogue: the part of the store that hooks know, in small files that every change of the store
//! rewrites.
//!
//! Three kinds, all in the folder `memory` of private state:
//!
//! - `topics`: one record of fixed size per topic, found by its id without reading the rest
//!   ([`TopicRecord`]);
//! - `undecided.json`: topics to offer at the start of a session ([`Undecided`]);
//! - `projects/<folder name of the key>.json`: a project's own ids and names ([`ProjectPage`]).
//!
//! All of it can be rebuilt from the store.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use crate::feature::memory::short_name::{short_decision_name, short_name};
use crate::text::fnv;
use crate::time::Millis;

/// In a tag, the id of the relay's own project or the session's own topic. Known without the store.
pub const OWN: i64 = 0;

/// Bytes per topic in `topics`. The first record belongs to no topic: ids begin at 1.
pub const RECORD_BYTES: usize = 32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TopicRecord {
    pub id: i64,
    pub project: i64,
    /// Made for a session that named no topic.
    pub automatic: bool,
    pub closed: bool,
    /// When a decision or a log was last recorded for it by hand.
    pub recorded: Option<Millis>,
}

impl TopicRecord {
    pub fn bytes(&self) -> [u8; RECORD_BYTES] {
        let mut bytes = [0; RECORD_BYTES];
        bytes[..8].copy_from_slice(&self.id.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.project.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.recorded.map_or(0, |at| at.0).to_le_bytes());
        bytes[24] = 1 | u8::from(self.automatic) << 1 | u8::from(self.closed) << 2;
        bytes
    }

    /// `None` if the bytes hold no topic, or another one.
    pub fn read(bytes: &[u8; RECORD_BYTES], id: i64) -> Option<TopicRecord> {
        let number = |from: usize| -> Option<[u8; 8]> { bytes.get(from..from + 8)?.try_into().ok() };
        let flags = bytes[24];
        let recorded = u64::from_le_bytes(number(16)?);
        let record = TopicRecord {
            id: i64::from_le_bytes(number(0)?),
            project: i64::from_le_bytes(number(8)?),
            automatic: flags & 2 != 0,
            closed: flags & 4 != 0,
            recorded: (recorded != 0).then_some(Millis(recorded)),
        };
        (flags & 1 != 0 && record.id == id && id > OWN).then_some(record)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedId {
    pub id: i64,
    /// A name or title, one short line.
    pub name: String,
}

/// A decision, as a session is told of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decided {
    pub id: i64,
    /// Its first line, shortened.
    pub name: String,
    /// Who recorded it. Empty in a page of an older version.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub by: String,
}

/// A topic that a session worked on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecentTopic {
    pub id: i64,
    /// Its title, shortened.
    pub name: String,
    pub at: Millis,
    /// The session of an automatic topic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

/// `undecided.json`: open topics of all projects without a decision, newest first. Without automatic topics
/// and those offered often enough.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undecided {
    pub topics: Vec<UndecidedTopic>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "TopicOnDisk")]
pub struct UndecidedTopic {
    #[serde(flatten)]
    pub topic: NamedId,
    pub project: NamedId,
    /// The teammate who wrote its name; empty for one of this machine.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub by: String,
}

/// Read without `flatten`, which would build it twice while the start of a session waits.
#[derive(Deserialize)]
struct TopicOnDisk {
    id: i64,
    name: String,
    project: NamedId,
    #[serde(default)]
    by: String,
}

impl From<TopicOnDisk> for UndecidedTopic {
    fn from(read: TopicOnDisk) -> UndecidedTopic {
        let topic = NamedId { id: read.id, name: read.name };
        UndecidedTopic { topic, project: read.project, by: read.by }
    }
}

/// `projects/….json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "PageOnDisk")]
pub struct ProjectPage {
    /// Compared, because two keys may share a file name.
    pub key: String,
    #[serde(flatten)]
    pub project: NamedId,
    /// Valid decisions of the open topics, newest first, as many as can be told.
    pub decisions: Vec<Decided>,
    /// Number of further decisions.
    pub more: usize,
    /// Hash of all of them: [`list_hash`].
    pub which: u64,
    /// The last active topics, newest first, at most [`MOST_RECENT`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recent: Vec<RecentTopic>,
    /// Ids of the projects within it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub within: Vec<i64>,
}

impl ProjectPage {
    /// Whether a session of this project may work on the topics of that one.
    pub fn is_own_project(&self, id: i64) -> bool {
        self.project.id == id || self.within.contains(&id)
    }

    /// `decisions`: all of them.
    pub fn new(key: String, project: NamedId, mut decisions: Vec<Decided>) -> ProjectPage {
        let which = list_hash(decisions.iter().map(|decision| (decision.id, decision.name.as_str())));
        let mut length = 0;
        // Includes the first that does not fit, so that the reader notices the limit.
        let last = decisions.iter().position(|decision| {
            length += decision_text(decision).chars().count();
            length > TOLD_LONGEST
        });
        let kept = last.map_or(decisions.len(), |last| last + 1);
        let more = decisions.len() - kept;
        decisions.truncate(kept);
        ProjectPage { key, project, decisions, more, which, recent: Vec::new(), within: Vec::new() }
    }
}

/// One more than a session is told of: its own is left out.
pub const MOST_RECENT: usize = 11;

/// Most characters told about decisions.
pub const TOLD_LONGEST: usize = 600;

/// A decision in a list of others.
pub fn decision_text(decision: &Decided) -> String {
    let Decided { id, name, by } = decision;
    let by = if by.is_empty() { String::new() } else { format!(", {}", short_name(by)) };
    format!(" \"{}\" (id {id}{by});", short_decision_name(name))
}

/// Shows whether a session was told this list or another one.
pub fn list_hash<'a>(named: impl IntoIterator<Item = (i64, &'a str)>) -> u64 {
    let mut hash = TextHasher(fnv::START);
    for (id, name) in named {
        let _ = writeln!(hash, "{id} {name}");
    }
    hash.0
}

/// Hashes the text written to it.
struct TextHasher(u64);

impl std::fmt::Write for TextHasher {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.0 = fnv::extend_hash(self.0, text.bytes());
        Ok(())
    }
}

/// The form on disk.
#[derive(Deserialize)]
struct PageOnDisk {
    key: String,
    id: i64,
    name: String,
    decisions: Vec<Decided>,
    #[serde(default)]
    more: usize,
    which: Option<u64>,
    #[serde(default)]
    recent: Vec<RecentTopic>,
    #[serde(default)]
    within: Vec<i64>,
}

impl From<PageOnDisk> for ProjectPage {
    fn from(read: PageOnDisk) -> ProjectPage {
        let project = NamedId { id: read.id, name: read.name };
        // Written by an older version: all of them.
        let Some(which) = read.which else { return ProjectPage::new(read.key, project, read.decisions) };
        let PageOnDisk { key, decisions, more, recent, within, .. } = read;
        ProjectPage { key, project, decisions, more, which, recent, within }
    }
}

/// Most entries of a list in the catalogue.
pub const MOST: usize = 50;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_reads_back_and_no_other_does() {
        let record =
            TopicRecord { id: 7, project: 3, automatic: true, closed: false, recorded: Some(Millis(99)) };
        assert_eq!(TopicRecord::read(&record.bytes(), 7), Some(record));
        assert_eq!(TopicRecord::read(&record.bytes(), 8), None);
        assert_eq!(TopicRecord::read(&[0; RECORD_BYTES], 0), None);
    }
}
