//! Which server is accepted, how long a client waits, and how errors are reported.

use std::time::Duration;

use tidegate_core::feature::memory::settings::Tls;
use tidegate_memory::error::ErrorKind;
use tidegate_memory::postgres::{Address, Patience, PostgresStore};
use tidegate_memory::store::Store;
use tidegate_memory::view::Page;
use tidegate_team_server::{Cluster, Proxy, Shutdown, Way};

use crate::scene::{PATIENT, Scene, read};

const PAGE: Page = Page { limit: 10, after: None };

/// Enough for a server that answers, also on a busy machine.
const BRIEF: Patience =
    Patience { connect: Duration::from_secs(4), transaction: Duration::from_secs(4), whole: None };

/// Also checks that the error does not contain the password.
fn refused(address: Address, patience: Patience) -> (ErrorKind, String) {
    let Err(error) = PostgresStore::connect(address, patience) else { panic!("it was let in") };
    let all = format!("{error} {error:?}");
    for secret in [Cluster::PASSWORD, "p%40ss", "wr0ng"] {
        assert!(!all.contains(secret), "{all}");
    }
    (error.kind, error.what)
}

#[test]
fn every_way_to_a_server_that_can_be_trusted() {
    let Some(scene) = Scene::shared() else { return };
    let (port, database) = (scene.cluster.port(), &scene.database);
    let socket = scene.cluster.socket().display().to_string().replace('/', "%2F");
    for address in [
        scene.owner(),
        scene.address(),
        read(&scene.cluster.url_on(&format!("127.0.0.1:{port}"), database), Tls::Off, None).unwrap(),
        read(&format!("{}?port={port}", scene.cluster.url_on(&socket, database)), Tls::Off, None).unwrap(),
        read(&format!("{}?port={port}", scene.cluster.url_on(&socket, database)), Tls::Verify, None).unwrap(),
    ] {
        let shown = format!("{address:?}");
        let mut store =
            PostgresStore::connect(address, PATIENT).unwrap_or_else(|error| panic!("{shown}: {error}"));
        assert_eq!(store.projects(&PAGE).unwrap().rows, []);
    }
    assert_eq!(scene.sql("SELECT max(version) FROM tidegate.version"), "2");
}

#[test]
fn what_cannot_be_trusted_gets_no_password() {
    let Some(scene) = Scene::shared() else { return };
    let (cluster, database) = (scene.cluster, &scene.database);
    let plain = Proxy::before(cluster.port()).unwrap();
    plain.set(Way::Plain);
    let by_number = cluster.url_on(&format!("127.0.0.1:{}", cluster.port()), database);
    let by_name = cluster.url(database);
    let to_plain = cluster.url_on(&format!("localhost:{}", plain.port()), database);
    let ca = || Some(cluster.ca_file());
    for (address, kind, said) in [
        (read(&by_name, Tls::Verify, None), ErrorKind::Refused, "no known authority signed"),
        (
            read(&by_name, Tls::Verify, Some(cluster.other_ca_file())),
            ErrorKind::Refused,
            "no known authority signed",
        ),
        (read(&by_number, Tls::Verify, ca()), ErrorKind::Refused, "certificate is for another name"),
        (read(&to_plain, Tls::Verify, ca()), ErrorKind::Refused, "does not speak TLS"),
        (read(&by_name, Tls::Verify, Some("/no/such/file".into())), ErrorKind::Refused, "/no/such/file"),
        (read(&by_name, Tls::Verify, Some("/dev/null".into())), ErrorKind::Refused, "no usable certificate"),
    ] {
        let found = refused(address.unwrap(), PATIENT);
        assert!(found.0 == kind && found.1.contains(said), "{said}: {found:?}");
    }
    assert!(
        read("postgres://me:wr0ng@db.example.com/m", Tls::Off, None)
            .unwrap_err()
            .what
            .contains("only a server on this machine")
    );
}

#[test]
fn a_wrong_password_is_said_and_not_shown() {
    let Some(scene) = Scene::shared() else { return };
    let wrong = |user: &str, password: &str| {
        let login = if password.is_empty() { user.to_owned() } else { format!("{user}:{password}") };
        let url = format!("postgres://{login}@localhost:{}/{}", scene.cluster.port(), scene.database);
        refused(read(&url, Tls::Verify, Some(scene.cluster.ca_file())).unwrap(), PATIENT)
    };
    for (found, said) in [
        (wrong("team", "wr0ng"), "password authentication failed for user \"team\""),
        (wrong("nobody", "wr0ng"), "password authentication failed for user \"nobody\""),
        (wrong("team", ""), "it wants a password and none is known"),
    ] {
        assert!(found.0 == ErrorKind::Refused && found.1.contains(said), "{found:?}");
    }
    let address = Scene { cluster: scene.cluster, database: "nowhere".to_owned() }.owner();
    assert!(refused(address, PATIENT).1.contains("database \"nowhere\" does not exist"));
    let log = scene.cluster.log();
    assert!(!log.contains("wr0ng") && !log.contains(Cluster::PASSWORD));
}

#[test]
fn nobody_is_waited_for_longer_than_was_said() {
    let Some(scene) = Scene::shared() else { return };
    let proxy = Proxy::before(scene.cluster.port()).unwrap();
    drop(scene.store());
    proxy.set(Way::Stalled);
    let address = scene.address_by(proxy.port());
    let found = refused(address.clone(), BRIEF);
    assert!(found.0 == ErrorKind::Offline && found.1.contains("did not answer within"), "{found:?}");
    proxy.set(Way::Open);
    let mut store = PostgresStore::connect(address, BRIEF).unwrap();
    store.projects(&PAGE).unwrap();
    proxy.set(Way::Stalled);
    assert_eq!(store.projects(&PAGE).unwrap_err().kind, ErrorKind::Offline);
    proxy.set(Way::Open);
    store.projects(&PAGE).unwrap();
    proxy.set(Way::Cut);
    assert_eq!(store.projects(&PAGE).unwrap_err().kind, ErrorKind::Offline);
    let closed = refused(scene.address_by(proxy.port()), BRIEF);
    assert!(closed.0 == ErrorKind::Offline && closed.1.contains("the connection was closed"), "{closed:?}");
    proxy.set(Way::Open);
    store.projects(&PAGE).unwrap();
    let nobody = refused(scene.address_by(1), BRIEF);
    assert!(
        nobody.0 == ErrorKind::Offline && nobody.1.contains("no server listens on this port"),
        "{nobody:?}"
    );
}

#[test]
fn tables_of_another_version_are_left_alone() {
    let Some(scene) = Scene::shared() else { return };
    let address = scene.address();
    scene.sql("INSERT INTO tidegate.version (version) VALUES (99)");
    let found = refused(address.clone(), PATIENT);
    assert!(found.0 == ErrorKind::Newer && found.1.contains("version 99"), "{found:?}");
    scene.sql("DELETE FROM tidegate.version WHERE version > 1");
    let found = refused(address, PATIENT);
    assert!(found.0 == ErrorKind::Newer && found.1.contains("tables of version 1"), "{found:?}");
    assert_eq!(scene.sql("SELECT count(*) FROM tidegate.version"), "1");
}

#[test]
fn a_server_that_takes_nobody_in_says_so() {
    let Some(scene) = Scene::shared() else { return };
    let address = scene.address();
    let user =
        address.shown().split_once("://").and_then(|(_, rest)| rest.split_once('@')).unwrap().0.to_owned();
    scene.sql(&format!("ALTER ROLE \"{user}\" CONNECTION LIMIT 0"));
    let found = refused(address.clone(), PATIENT);
    assert!(found.0 == ErrorKind::Busy && found.1.contains("too many connections"), "{found:?}");
    scene.sql(&format!("ALTER ROLE \"{user}\" NOLOGIN"));
    let found = refused(address, PATIENT);
    assert!(found.0 == ErrorKind::Refused && found.1.contains("not permitted to log in"), "{found:?}");
}

#[test]
fn many_that_begin_at_once_make_the_tables_once() {
    let Some(cluster) = tidegate_team_server::shared_cluster() else { return };
    let scene = Scene::empty_on(cluster);
    let begin = || drop(PostgresStore::create(scene.owner(), PATIENT).unwrap());
    std::thread::scope(|scope| (0..8).for_each(|_| drop(scope.spawn(begin))));
    assert_eq!(scene.sql("SELECT count(*) FROM tidegate.version"), "2");
    assert_eq!(scene.sql("SELECT count(*) FROM tidegate.counters"), "1");
}

#[test]
fn a_schema_that_an_administrator_made_will_do() {
    let Some(cluster) = tidegate_team_server::shared_cluster() else { return };
    let scene = Scene::empty_on(cluster);
    scene.sql("CREATE SCHEMA tidegate AUTHORIZATION team");
    scene.sql(&format!("ALTER DATABASE {} OWNER TO admin", scene.database));
    PostgresStore::create(scene.owner(), PATIENT).unwrap().store.projects(&PAGE).unwrap();
}

#[test]
fn a_server_that_was_started_anew_is_found_again() {
    let Some(cluster) = tidegate_team_server::own_cluster() else { return };
    let scene = Scene::on(&cluster);
    let mut store = scene.store();
    for how in [Shutdown::Fast, Shutdown::Immediate] {
        cluster.stop(how).unwrap();
        assert_eq!(store.projects(&PAGE).unwrap_err().kind, ErrorKind::Offline, "{how:?}");
        cluster.start_again().unwrap();
        store.projects(&PAGE).unwrap();
        cluster.stop(how).unwrap();
        cluster.start_again().unwrap();
        store.projects(&PAGE).unwrap();
    }
}
