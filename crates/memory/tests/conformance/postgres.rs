//! The laws, on a team's store.

use std::time::Duration;

use tidegate_core::feature::memory::settings::{TeamUrl, Tls};
use tidegate_core::settings::setting::Setting;
use tidegate_core::settings::value::Value;
use tidegate_memory::postgres::{Address, Patience, PostgresStore};
use tidegate_memory::store::Store;
use tidegate_team_server::Cluster;

use crate::laws::{Stores, laws};

/// Also a busy machine answers.
const PATIENT: Patience = Patience { connect: Duration::from_mins(3), ..Patience::LONG };

struct Postgres(&'static Cluster);

impl Stores for Postgres {
    fn ready() -> Option<Postgres> {
        tidegate_team_server::shared_cluster().map(Postgres)
    }

    fn empty(&mut self) -> Box<dyn Store> {
        let url = self.0.url(&self.0.database());
        let url = TeamUrl::from_value(&Value::from(url.as_str())).expect("it works");
        let address = Address::read(&url, None, Tls::Verify, Some(self.0.ca_file())).expect("it works");
        Box::new(PostgresStore::create(address, PATIENT).expect("it works").store)
    }
}

laws!(Postgres);
