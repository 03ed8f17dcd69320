//! Views: rows as they are read, with the names of what they refer to; and the filters and questions of a
//! reader.

use serde::Serialize;
use tidegate_core::time::Millis;

use crate::record::{self, Uid};

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NamedRow {
    pub id: i64,
    pub name: String,
}

/// A project with its counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MemoryProject {
    /// Also in the row, where it is serialised.
    #[serde(skip)]
    pub id: i64,
    #[serde(flatten)]
    pub row: record::ProjectRow,
    /// Without automatic topics.
    pub topics: u64,
    pub logs: u64,
    /// Only decisions in force.
    pub decisions: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Topic {
    #[serde(skip)]
    pub id: i64,
    #[serde(flatten)]
    pub row: record::TopicRow,
    pub in_project: NamedRow,
    pub part_of: Option<NamedRow>,
    pub logs: u64,
    /// Only decisions in force.
    pub decisions: u64,
    /// The last decision or hand-written log.
    pub recorded: Option<Millis>,
    /// The last activity of any kind.
    pub active: Millis,
    /// The teammate who wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Log {
    #[serde(flatten)]
    pub row: record::LogRow,
    /// The id is 0 for an automatic topic of a teammate, which this machine does not have.
    pub in_topic: NamedRow,
    pub in_project: NamedRow,
    /// The teammate who wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Decision {
    #[serde(skip)]
    pub id: i64,
    #[serde(flatten)]
    pub row: record::DecisionRow,
    pub in_topic: NamedRow,
    pub in_project: NamedRow,
    /// The decision that replaced this one and was not retracted. A decision without it and without
    /// `retracted` is in force.
    pub superseded_by: Option<i64>,
    /// Decisions in force that replace the same one, or that a teammate recorded to replace this one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<i64>,
    /// The teammate who wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
}

/// Conditions on rows. An unset field matches every row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    pub project: Option<i64>,
    pub topic: Option<i64>,
    pub session: Option<String>,
    /// Inclusive.
    pub since: Option<Millis>,
    /// Exclusive.
    pub until: Option<Millis>,
    /// Topics: only open ones (`true`) or only closed ones.
    pub open: Option<bool>,
    /// Topics: include automatic ones. Decisions: include those no longer in force.
    pub all: bool,
}

/// A position in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    pub limit: usize,
    /// The [`Paged::next`] of the previous page.
    pub after: Option<String>,
}

/// One page of a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Paged<T> {
    pub rows: Vec<T>,
    /// For the [`Page::after`] of the next page; `None` at the end.
    pub next: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HitKind {
    Log,
    Decision,
    Topic,
    /// A learning.
    Stock,
    /// An entry of the progress notes.
    Progress,
}

const MOST_HITS: usize = 200;
const HITS: usize = 20;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// Any words; a quoted phrase has to occur as it is. A project's name and words of time limit the results where
    /// something fits them.
    pub text: String,
    /// Empty means all.
    pub kinds: Vec<HitKind>,
    pub filter: Filter,
    /// 0 means the default.
    pub limit: usize,
    /// For words of time in the text; without it they are words like others.
    pub local: Option<LocalTime>,
}

/// What time it is where the question is asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LocalTime {
    pub now: Millis,
    /// Minutes that local time is ahead of UTC, with the time from which on it is; newest first.
    pub offsets: Vec<(Millis, i32)>,
}

/// A share of the query below which a search is worth another one with more words.
const POOR: f64 = 0.6;

impl Found {
    /// Whether hardly anything fits.
    pub fn is_poor(&self) -> bool {
        self.coverage < POOR
    }

    /// What only the second has comes last.
    #[must_use]
    pub fn followed_by(mut self, more: Found, limit: usize) -> Found {
        let is_new =
            |hit: &Hit| !self.hits.iter().any(|known| (known.kind, &known.uid) == (hit.kind, &hit.uid));
        let new: Vec<Hit> = more.hits.into_iter().filter(is_new).collect();
        if self.hits.is_empty() {
            (self.without, self.coverage) = (more.without, more.coverage);
        }
        self.hits.extend(new);
        self.hits.truncate(limit);
        self
    }
}

/// The answer to a query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// Best first.
    pub hits: Vec<Hit>,
    /// Words of the query that none of the hits has, as they were typed.
    pub without: Vec<String>,
    /// The share of the query that the best hit has, by the weight of its words.
    pub coverage: f64,
}

impl Query {
    /// The limit that applies: the default or the wished one, with an upper bound.
    pub fn limit(&self) -> usize {
        if self.limit == 0 { HITS } else { self.limit.min(MOST_HITS) }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hit {
    pub kind: HitKind,
    /// The uid of a log, the number of a topic or decision, the id of a note's entry.
    pub id: String,
    /// One line.
    pub title: String,
    /// The best passage in one line, with `**` around the words.
    pub snippet: String,
    pub project: Option<String>,
    pub topic: Option<String>,
    /// UTC.
    pub at: String,
    /// Comparable only within one result list.
    #[serde(skip)]
    pub score: f64,
    /// For merging the results of two stores.
    #[serde(skip)]
    pub uid: Uid,
}

/// A row to delete for good.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Forget {
    /// A log, and the title that it gave to the automatic topic of its session.
    Log(Uid),
    Decision(i64),
    /// A topic with all its logs and decisions.
    Topic(i64),
    /// A session with its logs, its automatic topic and the decisions recorded in it.
    Session(String),
    /// A project with all its rows.
    Project(i64),
}
