//! A PostgreSQL server for tests, in a temporary directory, and a proxy in front of it.
//!
//! The server ends with the process that started it, even after a kill: a small shell waits at the other end of a
//! pipe.
#![cfg(unix)]
#![expect(missing_docs, reason = "names say it; comments are for reasons")]

mod certificates;
mod cluster;
mod programs;
mod proxy;

use std::sync::OnceLock;

pub use cluster::{Cluster, Shutdown};
pub use proxy::{Proxy, Way};

/// Skips the tests that need a server.
pub const WITHOUT: &str = "TIDEGATE_TEST_WITHOUT_POSTGRES";

/// Shared by the tests of a binary, each with its own database. `None` with [`WITHOUT`]; any other failure fails the
/// test.
pub fn shared_cluster() -> Option<&'static Cluster> {
    static SHARED: OnceLock<Option<Cluster>> = OnceLock::new();
    SHARED.get_or_init(own_cluster).as_ref()
}

/// For a test that stops the server.
pub fn own_cluster() -> Option<Cluster> {
    if std::env::var_os(WITHOUT).is_some() {
        return None;
    }
    Some(Cluster::start().unwrap_or_else(|why| {
        panic!("{why}\n`cargo xtask test` installs what is needed; {WITHOUT}=1 leaves these tests out")
    }))
}
