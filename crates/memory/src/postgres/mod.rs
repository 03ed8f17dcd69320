//! The team's store: PostgreSQL over TLS, with the same contract as the embedded store.

mod address;
mod statement;
mod counters;
mod all_rows;
mod forget;

mod link;
mod members;
mod put;
mod read;
mod resolve;
mod rights;
mod row;
mod schema;
mod team;
mod tls;
mod trouble;
mod search;

use tidegate_core::time::Millis;

pub use address::{Address, PASSWORD_VARIABLE};
pub use link::Patience;
pub use members::{Invited, Member};
pub use put::Sender;
pub use team::{Delivered, ForgetRequest, Position, TeamChanges, TeamProject};
pub use trouble::Trouble;

use self::link::{Purpose, ServerLink};
use self::read::{ProjectBy, TopicBy};
use crate::error::Result;
use crate::record::{Record, Uid};
use crate::store::{Put, Store};
use crate::view::{Decision, Filter, Forget, Found, Log, MemoryProject, Page, Paged, Query, Topic};

/// Calls block on the network up to their time limit; do not call them from an async runtime.
pub struct PostgresStore {
    link: ServerLink,
}

impl PostgresStore {
    /// Connects, logs in and checks that there are tables of this version.
    pub fn connect(address: Address, patience: Patience) -> Result<PostgresStore> {
        PostgresStore::open(address, patience, false)
    }

    /// Connects, logs in, and makes or upgrades the tables.
    fn connect_to_create(address: Address, patience: Patience) -> Result<PostgresStore> {
        PostgresStore::open(address, patience, true)
    }

    fn open(address: Address, patience: Patience, creates: bool) -> Result<PostgresStore> {
        let mut store = PostgresStore { link: ServerLink::new(address, patience, creates)? };
        store.link.transaction(Purpose::Reading, &async |_| Ok(()))?;
        Ok(store)
    }

    /// Without the password.
    pub fn shown(&self) -> &str {
        self.link.shown()
    }
}

impl Store for PostgresStore {
    fn put(&mut self, records: &[Record]) -> Result<Vec<Put>> {
        self.link
            .transaction(Purpose::Writing, &async |transaction| put::put_strictly(transaction, records).await)
    }

    fn project(&mut self, id: i64) -> Result<Option<MemoryProject>> {
        self.link.transaction(Purpose::Reading, &async |at| read::project(at, &ProjectBy::Id(id)).await)
    }

    fn project_by_key(&mut self, key: &str) -> Result<Option<MemoryProject>> {
        self.link.transaction(Purpose::Reading, &async |at| read::project(at, &ProjectBy::Key(key)).await)
    }

    fn project_by_name(&mut self, name: &str) -> Result<Option<MemoryProject>> {
        self.link.transaction(Purpose::Reading, &async |at| read::project(at, &ProjectBy::Name(name)).await)
    }

    fn projects(&mut self, page: &Page) -> Result<Paged<MemoryProject>> {
        self.link.transaction(Purpose::Reading, &async |at| read::projects(at, page).await)
    }

    fn topic(&mut self, id: i64) -> Result<Option<Topic>> {
        self.link.transaction(Purpose::Reading, &async |at| read::topic(at, &TopicBy::Id(id)).await)
    }

    fn topic_by_uid(&mut self, uid: &str) -> Result<Option<Topic>> {
        self.link.transaction(Purpose::Reading, &async |at| read::topic(at, &TopicBy::Uid(uid)).await)
    }

    fn topics(&mut self, filter: &Filter, page: &Page) -> Result<Paged<Topic>> {
        self.link.transaction(Purpose::Reading, &async |at| read::topics(at, filter, page).await)
    }

    fn undecided_topics(&mut self, project: Option<i64>, limit: usize) -> Result<Vec<Topic>> {
        self.link.transaction(Purpose::Reading, &async |at| read::undecided_topics(at, project, limit).await)
    }

    fn note_offers(&mut self, session: &str, topics: &[i64], time: Millis) -> Result<()> {
        self.link
            .transaction(Purpose::Writing, &async |at| read::note_offers(at, session, topics, time).await)
    }

    fn log(&mut self, uid: &str) -> Result<Option<Log>> {
        self.link.transaction(Purpose::Reading, &async |at| read::log(at, uid).await)
    }

    fn logs(&mut self, filter: &Filter, page: &Page) -> Result<Paged<Log>> {
        self.link.transaction(Purpose::Reading, &async |at| read::logs(at, filter, page).await)
    }

    fn logs_to_summarise(&mut self, limit: usize) -> Result<Vec<Uid>> {
        self.link.transaction(Purpose::Reading, &async |at| read::logs_to_summarise(at, limit).await)
    }

    fn decision(&mut self, id: i64) -> Result<Option<Decision>> {
        self.link.transaction(Purpose::Reading, &async |at| read::decision(at, id).await)
    }

    fn decision_by_uid(&mut self, uid: &str) -> Result<Option<Decision>> {
        self.link.transaction(Purpose::Reading, &async |at| read::decision_by_uid(at, uid).await)
    }

    fn decisions(&mut self, filter: &Filter, page: &Page) -> Result<Paged<Decision>> {
        self.link.transaction(Purpose::Reading, &async |at| read::decisions(at, filter, page).await)
    }

    fn search(&mut self, query: &Query) -> Result<Found> {
        self.link.transaction(Purpose::Reading, &async |at| search::search_all(at, query).await)
    }

    fn forget(&mut self, what: &Forget) -> Result<Vec<Uid>> {
        self.link.transaction(Purpose::Writing, &async |at| forget::forget_rows(at, what).await)
    }

    /// Not one consistent state: reads in batches, and may miss rows that are stored meanwhile.
    fn for_each_record(&mut self, take: &mut dyn FnMut(Record) -> Result<()>) -> Result<()> {
        all_rows::visit_rows(&mut self.link, take)
    }
}
