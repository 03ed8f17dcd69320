//! The contract that every store keeps.

use tidegate_core::time::Millis;

use crate::error::Result;
use crate::record::{Record, Uid};
use crate::view::{Decision, Filter, Forget, Hit, Log, Page, Paged, Project, Query, Topic};

/// What became of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Put {
    /// It was not there.
    New,
    /// It took the place of an older version.
    Changed,
    /// The same or a newer version was there.
    Kept,
    /// It was forgotten, and stays so.
    Forgotten,
}

/// A store. All that it gives is as of one moment; all that it takes is there whole or not at all.
pub trait Store {
    /// Puts rows in, in one transaction, each where its version is newer than what is there. What they refer to has to be
    /// there, or come before them; what belongs to something forgotten is forgotten, too.
    fn put(&mut self, records: &[Record]) -> Result<Vec<Put>>;

    /// A project by its id.
    fn project(&mut self, id: i64) -> Result<Option<Project>>;
    /// A project by what this machine knows it by.
    fn project_by_key(&mut self, key: &str) -> Result<Option<Project>>;
    /// A project by its name; the one that was last active, if there are several.
    fn project_by_name(&mut self, name: &str) -> Result<Option<Project>>;
    /// Projects, the last active one first.
    fn projects(&mut self, page: &Page) -> Result<Paged<Project>>;

    /// A topic by its id.
    fn topic(&mut self, id: i64) -> Result<Option<Topic>>;
    /// A topic by its uid.
    fn topic_by_uid(&mut self, uid: &str) -> Result<Option<Topic>>;
    /// Topics, the last active one first.
    fn topics(&mut self, filter: &Filter, page: &Page) -> Result<Paged<Topic>>;
    /// Open topics without a decision that stands, of one project or all, the last active one first, at most so many: neither
    /// automatic ones nor those that were offered in five sessions and left alone since.
    fn undecided(&mut self, project: Option<i64>, limit: usize) -> Result<Vec<Topic>>;
    /// Topics that were offered in a session that began at this time. What happens to a topic afterwards makes it new again.
    fn offered(&mut self, session: &str, topics: &[i64], at: Millis) -> Result<()>;

    /// A log by its uid, or by the beginning of it where only one begins so.
    fn log(&mut self, uid: &str) -> Result<Option<Log>>;
    /// Logs, newest first.
    fn logs(&mut self, filter: &Filter, page: &Page) -> Result<Paged<Log>>;

    /// Logs that a language model is to sum up, newest first, at most so many.
    fn unsummed(&mut self, limit: usize) -> Result<Vec<Uid>>;

    /// A decision by its id.
    fn decision(&mut self, id: i64) -> Result<Option<Decision>>;
    /// Decisions, newest first.
    fn decisions(&mut self, filter: &Filter, page: &Page) -> Result<Paged<Decision>>;

    /// What fits a question, best first.
    fn search(&mut self, query: &Query) -> Result<Vec<Hit>>;

    /// Deletes for good, and remembers only what it was called, so that nothing brings it back. Gives the uids of what is gone.
    fn forget(&mut self, what: &Forget) -> Result<Vec<Uid>>;

    /// Every row, so that what is referred to comes first.
    fn each(&mut self, take: &mut dyn FnMut(Record) -> Result<()>) -> Result<()>;
}
