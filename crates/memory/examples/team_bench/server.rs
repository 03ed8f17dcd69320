//! The server, with the settings of Debian's package but for the number of connections.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tidegate_core::feature::memory::settings::{TeamUrl, Tls};
use tidegate_core::settings::setting::Setting;
use tidegate_core::settings::value::Value;
use tidegate_memory::postgres::{Address, Patience, PostgresStore};
use tidegate_memory::record::Uid;
use tidegate_team_server::Cluster;

use crate::member::Member;
use crate::{Done, line};

pub(crate) const PATIENCE: Patience = Patience { connect: Duration::from_mins(1), ..Patience::LONG };

/// Only for the time in which half a million logs arrive: the index takes them in large steps.
const FOR_A_BACKLOG: &str = "gin_pending_list_limit = 1GB\nmaintenance_work_mem = 1GB\n";

pub(crate) struct Server {
    cluster: Cluster,
    database: String,
}

impl Server {
    pub(crate) fn start(members: usize) -> Done<Server> {
        // An open connection for each member, and some that come and go.
        let cluster = Cluster::start_with(&format!("max_connections = {}\n{FOR_A_BACKLOG}", members + 80))?;
        let database = cluster.database();
        let server = Server { cluster, database };
        PostgresStore::create(server.address(&server.cluster.url(&server.database))?, PATIENCE)
            .map_err(|error| error.to_string())?;
        Ok(server)
    }

    fn address(&self, url: &str) -> Done<Address> {
        let url = TeamUrl::from_value(&Value::from(url)).ok_or("no address")?;
        Address::read(&url, None, Tls::Verify, Some(self.cluster.ca_file()))
            .map_err(|error| error.to_string())
    }

    fn administrator(&self) -> Done<PostgresStore> {
        let address = self.address(&self.cluster.url(&self.database))?;
        PostgresStore::connect(address, PATIENCE).map_err(|error| error.to_string())
    }

    pub(crate) fn invite_members(&self, members: usize) -> Done<Vec<Member>> {
        let mut administrator = self.administrator()?;
        let member = |number: usize| {
            let name = format!("member-{number}");
            let password = administrator.invite(&name).map_err(|error| error.to_string())?.password;
            let (port, database) = (self.cluster.port(), &self.database);
            let url = format!("postgres://{name}:{password}@localhost:{port}/{database}");
            Member::connect(number, self.address(&url)?)
        };
        (0..members).map(member).collect()
    }

    /// The index collects new entries, and a process of the server sorts them in meanwhile.
    pub(crate) fn with_collecting_index(&self, fill: impl FnOnce() -> Done + Send) -> Done {
        let sql = |statement: &str| self.cluster.sql(&self.database, statement);
        let sort_in = "SELECT gin_clean_pending_list('tidegate.document_words')";
        sql("ALTER INDEX tidegate.document_words SET (fastupdate = on)")?;
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let sorting = scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    sql(sort_in)?;
                }
                Ok(())
            });
            let filled = fill();
            is_over.store(true, Ordering::Relaxed);
            let sorted: Done = sorting.join().map_err(|_| "the thread ended".to_owned())?;
            filled.and(sorted)
        })?;
        sql("ALTER INDEX tidegate.document_words SET (fastupdate = off)")?;
        sql(sort_in)?;
        Ok(())
    }

    pub(crate) fn show_sizes(&self) -> Done {
        let sql = |statement: &str| self.cluster.sql(&self.database, statement);
        let logs: u64 = number(&sql("SELECT count(*) FROM tidegate.log")?)?;
        let all: u64 = number(&sql("SELECT pg_database_size(current_database())")?)?;
        let each = |bytes: u64| bytes / logs.max(1);
        line(&format!("{logs} logs: {} MB in all, {} bytes per log", all / 1_000_000, each(all)));
        let parts = "SELECT c.relname, pg_table_size(c.oid) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
                     WHERE n.nspname = 'tidegate' AND c.relkind IN ('r', 'i') ORDER BY 2 DESC LIMIT 10";
        for row in sql(parts)?.lines() {
            let (name, bytes) = row.split_once('|').ok_or("no size")?;
            let bytes = number(bytes)?;
            line(&format!("    {name:<44}{:>6} MB{:>7} bytes per log", bytes / 1_000_000, each(bytes)));
        }
        Ok(())
    }

    /// Rows that were sent and are not there, counted by their uids.
    pub(crate) fn find_missing(&self, sent: &BTreeSet<Uid>) -> Done<Vec<String>> {
        let mut administrator = self.administrator()?;
        let (mut there, uids) = (0, sent.iter().cloned().collect::<Vec<Uid>>());
        for some in uids.chunks(5000) {
            there += administrator.count(some).map_err(|error| error.to_string())?;
        }
        let mut problems = Vec::new();
        if there != sent.len() as u64 {
            problems.push(format!("{} rows were sent, and {there} are on the server", sent.len()));
        }
        for table in ["log", "topic", "decision"] {
            let unindexed = self.cluster.sql(
                &self.database,
                &format!(
                    "SELECT count(*) FROM tidegate.{table} t WHERE NOT EXISTS \
                     (SELECT 1 FROM tidegate.document d WHERE d.uid = t.uid)"
                ),
            )?;
            if unindexed != "0" {
                problems.push(format!("{unindexed} rows of {table} cannot be found by a search"));
            }
        }
        Ok(problems)
    }
}

fn number(text: &str) -> Done<u64> {
    text.trim().parse().map_err(|_| format!("`{text}` is not a number"))
}
