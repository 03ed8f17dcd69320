//! Views: rows as they are read, with the names of what they refer to, and what they are looked for by.

use serde::Serialize;
use tidegate_core::time::Millis;

use crate::record::{self, Uid};

/// An id and the name that goes with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Named {
    /// The id in this store.
    pub id: i64,
    /// The name or title.
    pub name: String,
}

/// A project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Project {
    /// Its id in this store; the row has it, too.
    #[serde(skip)]
    pub id: i64,
    /// The row.
    #[serde(flatten)]
    pub row: record::Project,
    /// How many topics it has that were not made for a session.
    pub topics: u64,
    /// How many logs it has.
    pub logs: u64,
    /// How many decisions it has that stand.
    pub decisions: u64,
}

/// A topic.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Topic {
    /// Its id in this store; the row has it, too.
    #[serde(skip)]
    pub id: i64,
    /// The row.
    #[serde(flatten)]
    pub row: record::Topic,
    /// Its project.
    pub in_project: Named,
    /// The topic that it is a part of.
    pub part_of: Option<Named>,
    /// How many logs it has.
    pub logs: u64,
    /// How many decisions it has that stand.
    pub decisions: u64,
    /// When a decision or a log was last recorded for it by hand.
    pub recorded: Option<Millis>,
    /// When anything last happened to it.
    pub active: Millis,
}

/// A log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Log {
    /// The row.
    #[serde(flatten)]
    pub row: record::Log,
    /// Its topic.
    pub in_topic: Named,
    /// The topic's project.
    pub in_project: Named,
}

/// A decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Decision {
    /// Its id in this store; the row has it, too.
    #[serde(skip)]
    pub id: i64,
    /// The row.
    #[serde(flatten)]
    pub row: record::Decision,
    /// Its topic.
    pub in_topic: Named,
    /// The topic's project.
    pub in_project: Named,
    /// The decision that took its place, and was not taken back itself. With neither that nor `retracted` it stands.
    pub superseded_by: Option<i64>,
}

/// What rows are looked for by. What is unset does not matter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Of this project.
    pub project: Option<i64>,
    /// Of this topic.
    pub topic: Option<i64>,
    /// Of this session.
    pub session: Option<String>,
    /// From this time on.
    pub since: Option<Millis>,
    /// Before this time.
    pub until: Option<Millis>,
    /// Topics: only open ones (`true`) or closed ones.
    pub open: Option<bool>,
    /// Topics: also those that were made for a session. Decisions: also those that do not stand any more.
    pub all: bool,
}

/// Which part of a list: how many rows, after which one. Lists are newest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// At most so many.
    pub limit: usize,
    /// What [`Paged::next`] said.
    pub after: Option<String>,
}

/// A part of a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Paged<T> {
    /// The rows.
    pub rows: Vec<T>,
    /// What to give to [`Page::after`] for those that come next; `None` at the end.
    pub next: Option<String>,
}

/// What is found: kinds of texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A log.
    Log,
    /// A decision.
    Decision,
    /// A topic.
    Topic,
    /// A learning.
    Stock,
    /// An entry of the flow.
    Progress,
}

/// How many hits there are at most, and unless told.
const MOST_HITS: usize = 200;
const HITS: usize = 20;

/// A question to a store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// Words; what stands in quotes belongs together.
    pub text: String,
    /// Only these kinds; all if empty.
    pub kinds: Vec<Kind>,
    /// Only what fits this.
    pub filter: Filter,
    /// At most so many; 0 where nobody said.
    pub limit: usize,
}

impl Query {
    /// How many hits there are at most.
    pub fn limit(&self) -> usize {
        if self.limit == 0 { HITS } else { self.limit.min(MOST_HITS) }
    }
}

/// What was found, best first.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hit {
    /// What it is.
    pub kind: Kind,
    /// Its id: of logs the uid, of topics and decisions the number, of stock and progress the entry's id.
    pub id: String,
    /// One line.
    pub title: String,
    /// The place where the words stand, in one line, with `**` around them.
    pub snippet: String,
    /// The project's name.
    pub project: Option<String>,
    /// The topic's title.
    pub topic: Option<String>,
    /// When it was said, in UTC.
    pub at: String,
    /// How well it fits; only for putting lists together.
    #[serde(skip)]
    pub score: f64,
    /// What names it everywhere, so that the same from two stores is one.
    #[serde(skip)]
    pub uid: Uid,
}

/// What is to be deleted for good.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Forget {
    /// A log, and with it the title that it gave to its session's automatic topic.
    Log(Uid),
    /// A decision.
    Decision(i64),
    /// A topic and all that is in it.
    Topic(i64),
    /// A session and its logs, its automatic topic, and decisions recorded in it.
    Session(String),
    /// A project and all that is in it.
    Project(i64),
}
