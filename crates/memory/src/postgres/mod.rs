//! The team's store: PostgreSQL over TLS, with the same contract as the embedded store.

mod address;
mod ask;
mod counters;
mod each;
mod forget;

mod link;
mod put;
mod read;
mod resolve;
mod row;
mod schema;
mod team;
mod tls;
mod words;

use tidegate_core::time::Millis;

pub use address::{Address, PASSWORD_VARIABLE};
pub use link::Patience;
pub use put::Sender;
pub use team::{Changes, Delivered};

use self::link::{For, Link};
use self::read::{ProjectBy, TopicBy};
use crate::error::Result;
use crate::record::{Record, Uid};
use crate::store::{Put, Store};
use crate::view::{Decision, Filter, Forget, Hit, Log, Page, Paged, Project, Query, Topic};

/// Calls block on the network up to their time limit; do not call them from an async runtime.
pub struct PostgresStore {
    link: Link,
}

impl PostgresStore {
    /// Connects, logs in and migrates the tables.
    pub fn connect(address: Address, patience: Patience) -> Result<PostgresStore> {
        let mut store = PostgresStore { link: Link::new(address, patience)? };
        store.link.transaction(For::Reading, &async |_| Ok(()))?;
        Ok(store)
    }

    /// Without the password.
    pub fn shown(&self) -> &str {
        self.link.shown()
    }
}

impl Store for PostgresStore {
    fn put(&mut self, records: &[Record]) -> Result<Vec<Put>> {
        self.link.transaction(For::Writing, &async |transaction| put::put(transaction, records).await)
    }

    fn project(&mut self, id: i64) -> Result<Option<Project>> {
        self.link.transaction(For::Reading, &async |at| read::project(at, &ProjectBy::Id(id)).await)
    }

    fn project_by_key(&mut self, key: &str) -> Result<Option<Project>> {
        self.link.transaction(For::Reading, &async |at| read::project(at, &ProjectBy::Key(key)).await)
    }

    fn project_by_name(&mut self, name: &str) -> Result<Option<Project>> {
        self.link.transaction(For::Reading, &async |at| read::project(at, &ProjectBy::Name(name)).await)
    }

    fn projects(&mut self, page: &Page) -> Result<Paged<Project>> {
        self.link.transaction(For::Reading, &async |at| read::projects(at, page).await)
    }

    fn topic(&mut self, id: i64) -> Result<Option<Topic>> {
        self.link.transaction(For::Reading, &async |at| read::topic(at, &TopicBy::Id(id)).await)
    }

    fn topic_by_uid(&mut self, uid: &str) -> Result<Option<Topic>> {
        self.link.transaction(For::Reading, &async |at| read::topic(at, &TopicBy::Uid(uid)).await)
    }

    fn topics(&mut self, filter: &Filter, page: &Page) -> Result<Paged<Topic>> {
        self.link.transaction(For::Reading, &async |at| read::topics(at, filter, page).await)
    }

    fn undecided(&mut self, project: Option<i64>, limit: usize) -> Result<Vec<Topic>> {
        self.link.transaction(For::Reading, &async |at| read::undecided(at, project, limit).await)
    }

    fn offered(&mut self, session: &str, topics: &[i64], time: Millis) -> Result<()> {
        self.link.transaction(For::Writing, &async |at| read::offered(at, session, topics, time).await)
    }

    fn log(&mut self, uid: &str) -> Result<Option<Log>> {
        self.link.transaction(For::Reading, &async |at| read::log(at, uid).await)
    }

    fn logs(&mut self, filter: &Filter, page: &Page) -> Result<Paged<Log>> {
        self.link.transaction(For::Reading, &async |at| read::logs(at, filter, page).await)
    }

    fn unsummed(&mut self, limit: usize) -> Result<Vec<Uid>> {
        self.link.transaction(For::Reading, &async |at| read::unsummed(at, limit).await)
    }

    fn decision(&mut self, id: i64) -> Result<Option<Decision>> {
        self.link.transaction(For::Reading, &async |at| read::decision(at, id).await)
    }

    fn decisions(&mut self, filter: &Filter, page: &Page) -> Result<Paged<Decision>> {
        self.link.transaction(For::Reading, &async |at| read::decisions(at, filter, page).await)
    }

    fn search(&mut self, query: &Query) -> Result<Vec<Hit>> {
        self.link.transaction(For::Reading, &async |at| words::search(at, query).await)
    }

    fn forget(&mut self, what: &Forget) -> Result<Vec<Uid>> {
        self.link.transaction(For::Writing, &async |at| forget::forget(at, what).await)
    }

    /// Not one consistent state: reads in batches, and may miss rows that are stored meanwhile.
    fn each(&mut self, take: &mut dyn FnMut(Record) -> Result<()>) -> Result<()> {
        each::each(&mut self.link, take)
    }
}
