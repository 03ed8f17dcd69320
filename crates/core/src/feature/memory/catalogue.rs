//! The catalogue: what hooks know of the store, in small files that whoever changes the store writes anew.
//!
//! Three kinds, all in the folder `memory` of private state:
//!
//! - `topics`: one record of fixed size per topic, found by its id without reading the rest ([`TopicRecord`]);
//! - `undecided.json`: what a session may be offered at its start ([`Undecided`]);
//! - `projects/<folder name of the key>.json`: a project's own ids and names ([`ProjectPage`]).
//!
//! All of it can be made again from the store.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use crate::feature::memory::shown::{cut, shown};
use crate::text::fnv;
use crate::time::Millis;

/// The id by which a tag means the relay's own project, or the session's own topic: one that needs no store to be known.
pub const OWN: i64 = 0;

/// How many bytes of `topics` a topic takes. The first record belongs to no topic: ids begin at 1.
pub const RECORD_BYTES: usize = 32;

/// What a hook has to know of any topic that a tag names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TopicRecord {
    /// The topic.
    pub id: i64,
    /// Its project.
    pub project: i64,
    /// It was made for a session that named none.
    pub automatic: bool,
    /// Nobody works on it any more.
    pub closed: bool,
    /// When a decision or a log was last recorded for it by hand.
    pub recorded: Option<Millis>,
}

impl TopicRecord {
    /// The record's bytes.
    pub fn bytes(&self) -> [u8; RECORD_BYTES] {
        let mut bytes = [0; RECORD_BYTES];
        bytes[..8].copy_from_slice(&self.id.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.project.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.recorded.map_or(0, |at| at.0).to_le_bytes());
        bytes[24] = 1 | u8::from(self.automatic) << 1 | u8::from(self.closed) << 2;
        bytes
    }

    /// The topic in these bytes, if it is there and the one that was looked for.
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

/// A name and its id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Named {
    /// The id.
    pub id: i64,
    /// The name or title, one short line.
    pub name: String,
}

/// A decision as a session is told of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decided {
    /// The id.
    pub id: i64,
    /// Its first line, short.
    pub name: String,
    /// Who recorded it. Empty in a page of a version that did not say.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub by: String,
}

/// `undecided.json`: open topics of all projects without a decision, newest first. Automatic ones and those that were
/// offered often enough are not among them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undecided {
    /// The topics.
    pub topics: Vec<UndecidedTopic>,
}

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "TopicOnDisk")]
pub struct UndecidedTopic {
    /// The topic.
    #[serde(flatten)]
    pub topic: Named,
    /// Its project.
    pub project: Named,
}

/// The same as it is read: what is flattened would be built twice, and every session waits for that at its start.
#[derive(Deserialize)]
struct TopicOnDisk {
    id: i64,
    name: String,
    project: Named,
}

impl From<TopicOnDisk> for UndecidedTopic {
    fn from(read: TopicOnDisk) -> UndecidedTopic {
        UndecidedTopic { topic: Named { id: read.id, name: read.name }, project: read.project }
    }
}

/// `projects/….json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "PageOnDisk")]
pub struct ProjectPage {
    /// The key, to be sure.
    pub key: String,
    /// The project.
    #[serde(flatten)]
    pub project: Named,
    /// The decisions of its open topics that stand, newest first: their ids and first lines, of as many as can be told.
    pub decisions: Vec<Decided>,
    /// How many there are beside them.
    pub more: usize,
    /// What all of them are known by: [`which`].
    pub which: u64,
}

impl ProjectPage {
    /// The page of a project with all of these decisions.
    pub fn new(key: String, project: Named, mut decisions: Vec<Decided>) -> ProjectPage {
        let which = which(decisions.iter().map(|decision| (decision.id, decision.name.as_str())));
        let mut length = 0;
        // The first that does not fit is there, too: who tells them finds that out.
        let last = decisions.iter().position(|decision| {
            length += told(decision).chars().count();
            length > TOLD_LONGEST
        });
        let kept = last.map_or(decisions.len(), |last| last + 1);
        let more = decisions.len() - kept;
        decisions.truncate(kept);
        ProjectPage { key, project, decisions, more, which }
    }
}

/// How much may be told of decisions: as many as fit into so many characters.
pub const TOLD_LONGEST: usize = 600;

/// Decisions are sentences, and longer than names.
const DECISION_LONGEST: usize = 90;

/// A decision as it is told, behind others.
pub fn told(decision: &Decided) -> String {
    let Decided { id, name, by } = decision;
    let by = if by.is_empty() { String::new() } else { format!(", {}", shown(by)) };
    format!(" \"{}\" (id {id}{by});", cut(name, DECISION_LONGEST))
}

/// What a list is known by: whether somebody was told this one or another.
pub fn which<'a>(named: impl IntoIterator<Item = (i64, &'a str)>) -> u64 {
    let mut hash = Hash(fnv::START);
    for (id, name) in named {
        let _ = writeln!(hash, "{id} {name}");
    }
    hash.0
}

/// Takes text and keeps its hash.
struct Hash(u64);

impl std::fmt::Write for Hash {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.0 = fnv::extend_hash(self.0, text.bytes());
        Ok(())
    }
}

/// The same as it is read.
#[derive(Deserialize)]
struct PageOnDisk {
    key: String,
    id: i64,
    name: String,
    decisions: Vec<Decided>,
    #[serde(default)]
    more: usize,
    which: Option<u64>,
}

impl From<PageOnDisk> for ProjectPage {
    fn from(read: PageOnDisk) -> ProjectPage {
        let project = Named { id: read.id, name: read.name };
        // Written by an older version: all of them.
        let Some(which) = read.which else { return ProjectPage::new(read.key, project, read.decisions) };
        ProjectPage { key: read.key, project, decisions: read.decisions, more: read.more, which }
    }
}

/// How many entries a list in the catalogue has at most.
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
