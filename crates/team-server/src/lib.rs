//! A PostgreSQL server for tests: a cluster of its own in a temporary directory, and what stands between it and us.
//!
//! The cluster ends with the process that started it, however that ends: a small shell waits at the other end of a pipe.
#![cfg(unix)]

mod certificates;
mod cluster;
mod programs;
mod proxy;

use std::sync::OnceLock;

pub use cluster::{Cluster, Shutdown};
pub use proxy::{Proxy, Way};

/// Set where no server can be had and the rest is to be tested even so.
pub const WITHOUT: &str = "TIDEGATE_TEST_WITHOUT_POSTGRES";

/// The one cluster that the tests of a binary share, each with a database of its own. `None` where it was said that there
/// is none; anything else that is missing fails the test.
pub fn shared() -> Option<&'static Cluster> {
    static SHARED: OnceLock<Option<Cluster>> = OnceLock::new();
    SHARED.get_or_init(own).as_ref()
}

/// A cluster for a test that stops it.
pub fn own() -> Option<Cluster> {
    if std::env::var_os(WITHOUT).is_some() {
        return None;
    }
    Some(Cluster::start().unwrap_or_else(|why| {
        panic!("{why}\n`cargo xtask test` installs what is needed; {WITHOUT}=1 leaves these tests out")
    }))
}
