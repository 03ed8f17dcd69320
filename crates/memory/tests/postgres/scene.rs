//! A database for one test, and its addresses.

use std::path::PathBuf;
use std::time::Duration;

use tidegate_core::feature::memory::settings::{TeamUrl, Tls};
use tidegate_core::settings::setting::Setting;
use tidegate_core::settings::value::Value;
use tidegate_memory::error::Result;
use tidegate_memory::postgres::{Address, Patience, PostgresStore};
use tidegate_team_server::Cluster;

/// Also a busy machine answers.
pub(crate) const PATIENT: Patience = Patience { connect: Duration::from_mins(3), ..Patience::LONG };

pub(crate) struct Scene<'a> {
    pub(crate) cluster: &'a Cluster,
    pub(crate) database: String,
}

impl<'a> Scene<'a> {
    pub(crate) fn on(cluster: &'a Cluster) -> Scene<'a> {
        Scene { cluster, database: cluster.database() }
    }

    /// On the cluster that all tests share; `None` without a server.
    pub(crate) fn shared() -> Option<Scene<'static>> {
        tidegate_team_server::shared_cluster().map(Scene::on)
    }

    pub(crate) fn address(&self) -> Address {
        read(&self.cluster.url(&self.database), Tls::Verify, Some(self.cluster.ca_file())).expect("it works")
    }

    /// Through another port on this machine.
    pub(crate) fn address_by(&self, port: u16) -> Address {
        let url = self.cluster.url_on(&format!("localhost:{port}"), &self.database);
        read(&url, Tls::Verify, Some(self.cluster.ca_file())).expect("it works")
    }

    pub(crate) fn store(&self) -> PostgresStore {
        PostgresStore::connect(self.address(), PATIENT).expect("it works")
    }

    /// As the administrator.
    pub(crate) fn sql(&self, statement: &str) -> String {
        self.cluster.sql(&self.database, statement).expect("it works")
    }
}

pub(crate) fn read(url: &str, tls: Tls, ca_file: Option<PathBuf>) -> Result<Address> {
    let url = TeamUrl::from_value(&Value::from(url)).unwrap_or_else(|| panic!("no address"));
    Address::read(&url, None, tls, ca_file)
}
