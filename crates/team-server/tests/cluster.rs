//! The server that other tests depend on.
#![cfg(unix)]

use tidegate_team_server::{Shutdown, own_cluster};

#[test]
fn it_starts_stops_and_leaves_nothing_behind() {
    let Some(cluster) = own_cluster() else { return };
    let database = cluster.database();
    assert_eq!(cluster.sql(&database, "SELECT 1 + 1").unwrap(), "2");
    cluster.stop(Shutdown::Immediate).unwrap();
    assert!(cluster.sql(&database, "SELECT 1").is_err());
    cluster.start_again().unwrap();
    assert_eq!(cluster.sql(&database, "SELECT 1 + 1").unwrap(), "2");
    let folder = cluster.socket().to_owned();
    drop(cluster);
    assert!(!folder.exists(), "{}", folder.display());
}
