//! The contract of every store. `tests/conformance` holds its laws, one test each, run on every store.
//!
//! Commands and MCP tools share their changes of topics, decisions and logs in [`act`](crate::act).

use tidegate_core::time::Millis;

use crate::error::Result;
use crate::record::{Record, Uid};
use crate::view::{Decision, Filter, Forget, Found, Log, MemoryProject, Page, Paged, Query, Topic};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Put {
    New,
    /// Replaced an older version.
    Changed,
    /// Not stored: the same or a newer version is already there.
    Kept,
    /// Not stored: it, or something it belongs to, was forgotten.
    Forgotten,
}

/// Each call reads one consistent state, and writes all or nothing.
pub trait Store {
    /// Stores rows in one transaction, each only if it is newer than the stored version. A row may refer to
    /// rows that are stored or come earlier in the list; a row that belongs to something forgotten is
    /// forgotten too.
    fn put(&mut self, records: &[Record]) -> Result<Vec<Put>>;

    fn project(&mut self, id: i64) -> Result<Option<MemoryProject>>;
    /// By the key under which this machine knows it.
    fn project_by_key(&mut self, key: &str) -> Result<Option<MemoryProject>>;
    /// The last active one if several share the name.
    fn project_by_name(&mut self, name: &str) -> Result<Option<MemoryProject>>;
    /// Last active first.
    fn projects(&mut self, page: &Page) -> Result<Paged<MemoryProject>>;

    fn topic(&mut self, id: i64) -> Result<Option<Topic>>;
    fn topic_by_uid(&mut self, uid: &str) -> Result<Option<Topic>>;
    /// Last active first.
    fn topics(&mut self, filter: &Filter, page: &Page) -> Result<Paged<Topic>>;
    /// Open topics without a decision in force, last active first. Leaves out automatic topics and those
    /// offered to five sessions without any activity since.
    fn undecided_topics(&mut self, project: Option<i64>, limit: usize) -> Result<Vec<Topic>>;
    /// Notes that a session which began at this time was offered these topics. Activity after that time
    /// resets the count.
    fn note_offers(&mut self, session: &str, topics: &[i64], at: Millis) -> Result<()>;

    /// By its uid or a unique prefix of it.
    fn log(&mut self, uid: &str) -> Result<Option<Log>>;
    /// Newest first.
    fn logs(&mut self, filter: &Filter, page: &Page) -> Result<Paged<Log>>;

    /// Logs that wait for a summary by a language model, newest first.
    fn logs_to_summarise(&mut self, limit: usize) -> Result<Vec<Uid>>;

    fn decision(&mut self, id: i64) -> Result<Option<Decision>>;
    fn decision_by_uid(&mut self, uid: &str) -> Result<Option<Decision>>;
    /// Newest first.
    fn decisions(&mut self, filter: &Filter, page: &Page) -> Result<Paged<Decision>>;

    /// Best first.
    fn search(&mut self, query: &Query) -> Result<Found>;

    /// Deletes for good and keeps only the uids, so that no import or delivery brings the rows back. Returns
    /// the deleted uids.
    fn forget(&mut self, what: &Forget) -> Result<Vec<Uid>>;

    /// Visits every row, referenced rows first.
    fn for_each_record(&mut self, take: &mut dyn FnMut(Record) -> Result<()>) -> Result<()>;
}
