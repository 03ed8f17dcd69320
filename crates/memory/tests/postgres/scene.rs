//! A database for one test, and its addresses.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use tidegate_core::feature::memory::settings::{TeamUrl, Tls};
use tidegate_core::settings::setting::Setting;
use tidegate_core::settings::value::Value;
use tidegate_memory::postgres::{Address, Patience, PostgresStore};
use tidegate_team_server::Cluster;

/// Also a busy machine answers.
pub(crate) const PATIENT: Patience = Patience { connect: Duration::from_mins(3), ..Patience::LONG };

pub(crate) struct Scene<'a> {
    pub(crate) cluster: &'a Cluster,
    pub(crate) database: String,
}

/// Logins are shared by all databases of a cluster.
static MEMBERS: AtomicU32 = AtomicU32::new(0);
static PASSWORDS: Mutex<BTreeMap<String, String>> = Mutex::new(BTreeMap::new());

impl<'a> Scene<'a> {
    /// With a team's store in it.
    pub(crate) fn on(cluster: &'a Cluster) -> Scene<'a> {
        let scene = Scene::empty_on(cluster);
        PostgresStore::create(scene.owner(), PATIENT).expect("it works");
        scene
    }

    pub(crate) fn empty_on(cluster: &'a Cluster) -> Scene<'a> {
        Scene { cluster, database: cluster.database() }
    }

    /// On the cluster that all tests share; `None` without a server.
    pub(crate) fn shared() -> Option<Scene<'static>> {
        tidegate_team_server::shared_cluster().map(Scene::on)
    }

    /// Of the administrator.
    pub(crate) fn owner(&self) -> Address {
        read(&self.cluster.url(&self.database), Tls::Verify, Some(self.cluster.ca_file())).expect("it works")
    }

    /// Of a new member.
    pub(crate) fn address(&self) -> Address {
        self.address_by(self.cluster.port())
    }

    /// Through another port on this machine.
    pub(crate) fn address_by(&self, port: u16) -> Address {
        let name = format!("member{}", MEMBERS.fetch_add(1, Ordering::Relaxed));
        self.member_by(&name, port)
    }

    fn member_by(&self, name: &str, port: u16) -> Address {
        let password = self.store().invite(name).expect("it works").password;
        PASSWORDS.lock().expect("no thread panics with it").insert(name.to_owned(), password.clone());
        let url = format!("postgres://{name}:{password}@localhost:{port}/{}", self.database);
        read(&url, Tls::Verify, Some(self.cluster.ca_file())).expect("it works")
    }

    /// As a member, with `psql`.
    pub(crate) fn sql_as(
        &self,
        machine: &crate::machine::Machine,
        statement: &str,
    ) -> Result<String, String> {
        self.cluster.sql_by(&self.url_of(machine, &self.database), statement)
    }

    /// With the password.
    pub(crate) fn url_of(&self, machine: &crate::machine::Machine, database: &str) -> String {
        let name = machine.login();
        let password = PASSWORDS.lock().expect("no thread panics with it")[&name].clone();
        format!("postgres://{name}:{password}@localhost:{}/{database}", self.cluster.port())
    }

    /// As the administrator of the team.
    pub(crate) fn store(&self) -> PostgresStore {
        PostgresStore::connect(self.owner(), PATIENT).expect("it works")
    }

    /// As the administrator of the server. Triggers do not run: the server may lie about everything.
    pub(crate) fn sql(&self, statement: &str) -> String {
        let statement = format!("SET session_replication_role = replica; {statement}");
        let said = self.cluster.sql(&self.database, &statement).expect("it works");
        said.strip_prefix("SET").unwrap_or(&said).trim_start_matches('\n').to_owned()
    }
}

pub(crate) fn read(url: &str, tls: Tls, ca_file: Option<PathBuf>) -> tidegate_memory::error::Result<Address> {
    let url = TeamUrl::from_value(&Value::from(url)).unwrap_or_else(|| panic!("no address"));
    Address::read(&url, None, tls, ca_file)
}
