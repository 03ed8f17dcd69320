//! Members, an administrator, and an attacker who has a member's login and speaks SQL.

use tidegate_memory::error::ErrorKind;
use tidegate_memory::postgres::{Patience, PostgresStore};
use tidegate_memory::record::{DecisionRow, Record, TakenBy, TopicRow};
use tidegate_memory::store::Store;
use tidegate_memory::team;
use tidegate_memory::view::{Filter, Forget, Page};
use tidegate_team_server::Proxy;

use crate::machine::Machine;
use crate::rows::{at, decision, log, topic};
use crate::scene::{PATIENT, Scene, read};
use crate::sharing::work;

const PAGE: Page = Page { limit: 50, after: None };

/// The team's rows, with their owners and contents.
fn team_rows(scene: &Scene<'_>) -> String {
    scene.sql(
        "SELECT 'topic ' || to_jsonb(t)::text FROM tidegate.topic t UNION ALL SELECT 'log ' || to_jsonb(l)::text FROM tidegate.log l
         UNION ALL SELECT 'decision ' || to_jsonb(d)::text FROM tidegate.decision d
         UNION ALL SELECT 'session ' || to_jsonb(s)::text FROM tidegate.session s
         UNION ALL SELECT 'project ' || to_jsonb(p)::text FROM tidegate.project p
         UNION ALL SELECT 'document ' || to_jsonb(w)::text FROM tidegate.document w
         UNION ALL SELECT 'name ' || to_jsonb(n)::text FROM tidegate.team_name n
         UNION ALL SELECT 'forgotten ' || to_jsonb(f)::text FROM tidegate.forgotten f ORDER BY 1",
    )
}

/// Ann has a topic with two logs and a decision in the team; Eve is a member, too.
fn ann_and_eve(scene: &Scene<'_>) -> (Machine, Machine) {
    let ann = Machine::sharing(&["sea"], scene.address());
    let eve = Machine::sharing(&["sea"], scene.address());
    work(&mut ann.memory(), "ann", "sea", 0..2);
    ann.memory().put(&[Record::Decision(decision("d1", "ann-sea-t", 5))]).expect("it works");
    ann.talk().expect("it works");
    work(&mut eve.memory(), "eve", "sea", 0..1);
    eve.talk().expect("it works");
    (ann, eve)
}

#[test]
fn an_attacker_with_a_login_changes_and_deletes_nothing_of_others() {
    let Some(scene) = Scene::shared() else { return };
    let (ann, eve) = ann_and_eve(&scene);
    let (anns, eves) = (ann.login(), eve.login());
    let before = team_rows(&scene);
    let counters = scene.sql("SELECT to_jsonb(c) FROM tidegate.counters c");
    let attempts = [
        "UPDATE tidegate.log SET text = 'Taken'".to_owned() + " WHERE uid LIKE 'ann%'",
        "UPDATE tidegate.decision SET text = 'Taken', retracted = 1 WHERE uid = 'd1'".to_owned(),
        format!("UPDATE tidegate.topic SET owner = '{eves}', title = 'Taken' WHERE uid = 'ann-sea-t'"),
        "UPDATE tidegate.project SET name = 'Taken'".to_owned(),
        "UPDATE tidegate.session SET root = 'Taken' WHERE uid LIKE 'ann%'".to_owned(),
        "UPDATE tidegate.document SET words = '' WHERE uid LIKE 'ann%'".to_owned(),
        "DELETE FROM tidegate.log WHERE uid LIKE 'ann%'".to_owned(),
        "DELETE FROM tidegate.decision WHERE uid = 'd1'".to_owned(),
        "DELETE FROM tidegate.document".to_owned(),
        "DELETE FROM tidegate.team_name".to_owned(),
        "UPDATE tidegate.team_name SET project = NULL".to_owned(),
        "DELETE FROM tidegate.project".to_owned(),
        "DELETE FROM tidegate.forgotten".to_owned(),
        // A deletion that Ann did not ask for, under her name.
        format!("INSERT INTO tidegate.forgotten (uid, kind, owner, change) VALUES ('d1', 'decision', '{anns}', 9999)"),
        "UPDATE tidegate.counters SET change = 9223372036854775807".to_owned(),
        "SELECT * FROM tidegate.counters FOR UPDATE".to_owned(),
        "INSERT INTO tidegate.version (version) VALUES (99)".to_owned(),
        "TRUNCATE tidegate.log".to_owned(),
        "DROP TABLE tidegate.log CASCADE".to_owned(),
        "ALTER TABLE tidegate.log DISABLE ROW LEVEL SECURITY".to_owned(),
        "ALTER TABLE tidegate.log DISABLE TRIGGER ALL".to_owned(),
        "CREATE TABLE tidegate.mine (x int)".to_owned(),
        "CREATE FUNCTION tidegate.is_administrator() RETURNS boolean LANGUAGE sql AS 'SELECT true'".to_owned(),
        "SET session_replication_role = replica".to_owned(),
        format!("SET ROLE {anns}"),
        format!("SET SESSION AUTHORIZATION {anns}"),
        format!("SET ROLE {}", tidegate_team_server::Cluster::USER),
        format!("SET ROLE \"tidegate_{}\"; DROP TABLE tidegate.log", scene.database),
        format!("ALTER ROLE {anns} PASSWORD 'x'"),
        format!("GRANT \"tidegate_{}\" TO postgres", scene.database),
        "SELECT rolpassword FROM pg_authid".to_owned(),
        // The uid of a log, so that deleting the topic would take its search text along.
        "INSERT INTO tidegate.topic (uid, project, title, status, offered, created, updated, active)
         SELECT 'ann-sea-l0000', uid, 't', 'open', 0, 1, 1, 1 FROM tidegate.project"
            .to_owned(),
        "INSERT INTO tidegate.document (uid, kind, topic, at, words) VALUES ('ann-sea-l0000', 'topic', 'ann-sea-t', 1, '')
         ON CONFLICT (uid) DO UPDATE SET words = ''".to_owned(),
        "INSERT INTO tidegate.log SELECT * FROM tidegate.log WHERE uid = 'ann-sea-l0000'
         ON CONFLICT (uid) DO UPDATE SET text = 'Taken'".to_owned(),
    ];
    for attempt in attempts {
        // Refused, or without any effect: row security hides the rows of others from a change.
        let _ = scene.sql_as(&eve, &attempt);
        assert_eq!(team_rows(&scene), before, "{attempt}");
        assert_eq!(
            scene.sql("SELECT to_jsonb(c) FROM tidegate.counters c").replace(char::is_numeric, ""),
            counters.replace(char::is_numeric, ""),
            "{attempt}"
        );
    }
    assert_eq!(scene.sql("SELECT max(version) FROM tidegate.version"), "2");
    // And afterwards everything still works.
    ann.memory().put(&[Record::Log(log("later", "ann-sea-t", 9))]).unwrap();
    assert_eq!(ann.talk().unwrap().delivered, 1);
}

#[test]
fn an_attacker_writes_under_no_other_name_and_time() {
    let Some(scene) = Scene::shared() else { return };
    let (ann, eve) = ann_and_eve(&scene);
    let (anns, eves) = (ann.login(), eve.login());
    scene
        .sql_as(
            &eve,
            &format!(
                "INSERT INTO tidegate.decision (uid, id, topic, text, reason, created, updated, retracted, owner, change)
                 VALUES ('forged', 9223372036854775806, 'ann-sea-t', 'By Ann', '', 9000000000000000, 9000000000000000,
                         9000000000000000, '{anns}', 9223372036854775806)"
            ),
        )
        .unwrap();
    let row = "SELECT owner || ' ' || (id < 100) || ' ' || (change < 1000) || ' ' \
               || (greatest(created, updated, retracted) < 8000000000000000) FROM tidegate.decision WHERE uid = 'forged'";
    assert_eq!(scene.sql(row), format!("{eves} true true true"));
    scene
        .sql_as(
            &eve,
            &format!(
                "UPDATE tidegate.decision SET owner = '{anns}', id = 1, uid = 'd2' WHERE uid = 'forged'"
            ),
        )
        .unwrap();
    assert_eq!(scene.sql(row), format!("{eves} true true true"));
    ann.talk().unwrap();
    let shown = ann.memory().decisions(&Filter { all: true, ..Filter::default() }, &PAGE).unwrap().rows;
    let forged = shown.iter().find(|one| one.row.uid == "forged").unwrap();
    assert_eq!(forged.author.as_deref(), Some(eves.as_str()));
    // A member has no rights in the database of another team.
    let other = Scene::shared().unwrap();
    let address = read(
        &scene.url_of(&eve, &other.database),
        tidegate_core::feature::memory::settings::Tls::Verify,
        Some(scene.cluster.ca_file()),
    )
    .unwrap();
    let Err(error) = PostgresStore::connect(address, PATIENT) else { panic!("it was let in") };
    assert!(error.kind == ErrorKind::Refused && error.what.contains("not a member"), "{error:?}");
}

#[test]
fn a_row_is_its_authors_and_a_decision_is_superseded_by_others() {
    let Some(scene) = Scene::shared() else { return };
    let (ann, bob) = ann_and_eve(&scene);
    let eve = Machine::sharing(&["sea"], scene.address());
    work(&mut eve.memory(), "eve2", "sea", 0..0);
    eve.talk().unwrap();
    let instead = |uid: &str, minutes| {
        let supersedes = Some("d1".to_owned());
        Record::Decision(DecisionRow {
            supersedes,
            taken_by: Some(TakenBy::Model),
            ..decision(uid, "ann-sea-t", minutes)
        })
    };
    bob.memory().put(&[instead("b1", 9)]).unwrap();
    eve.memory().put(&[instead("e1", 10)]).unwrap();
    for machine in [&bob, &eve, &bob, &ann] {
        machine.talk().unwrap();
    }
    // Two replaced one decision: everyone sees that they contradict each other, and who took them.
    let carol = Machine::sharing(&["sea"], scene.address());
    carol.talk().unwrap();
    for machine in [&bob, &eve, &carol] {
        machine.talk().unwrap();
        let rows = machine.memory().decisions(&Filter::default(), &PAGE).unwrap().rows;
        let mut uids: Vec<&str> = rows.iter().map(|one| one.row.uid.as_str()).collect();
        uids.sort_unstable();
        assert_eq!(uids, ["b1", "e1"]);
        assert_eq!(
            (rows[0].conflicts.as_slice(), rows[1].conflicts.as_slice()),
            ([rows[1].id].as_slice(), [rows[0].id].as_slice())
        );
        assert!(rows.iter().all(|one| one.row.taken_by == Some(TakenBy::Model)));
    }
    // For Ann hers is in force; she sees that both would replace it.
    let rows = ann.memory().decisions(&Filter::default(), &PAGE).unwrap().rows;
    let own = rows.iter().find(|one| one.row.uid == "d1").unwrap();
    assert_eq!((rows.len(), own.conflicts.len(), &own.author), (3, 2, &None));
    // An administrator may change a row of a member, and remains not its author.
    let admin = Machine::sharing(&["sea"], scene.owner());
    admin.talk().unwrap();
    let row = admin.memory().topic_by_uid("ann-sea-t").unwrap().unwrap().row;
    admin
        .memory()
        .put(&[Record::Topic(TopicRow { title: "Moderated".to_owned(), updated: at(30), ..row })])
        .unwrap();
    admin.talk().unwrap();
    let found = "SELECT title || ' ' || owner FROM tidegate.topic WHERE uid = 'ann-sea-t'";
    assert_eq!(scene.sql(found), format!("Moderated {}", ann.login()));
}

#[test]
fn a_listed_project_is_seen_before_anything_is_recorded_in_it() {
    let Some(scene) = Scene::shared() else { return };
    let (_ann, _eve) = ann_and_eve(&scene);
    let bob = Machine::sharing(&["sea", "nothing"], scene.address());
    assert_eq!(bob.talk().unwrap().pulled, 3);
    assert_eq!(bob.topics(), ["ann-sea-t", "eve-sea-t"]);
    assert_eq!(bob.found("\"log ann-sea-l0001\"").0, ["ann-sea-l0001"]);
    // The folder of that name becomes the same project.
    let mut memory = bob.memory();
    let before = memory.project_by_name("sea").unwrap().unwrap();
    let row = tidegate_memory::record::ProjectRow {
        uid: "folder".to_owned(),
        id: None,
        key: Some("/src/sea".to_owned()),
        ..before.row.clone()
    };
    memory.put(&[Record::Project(row), Record::Topic(topic("bobs", "folder"))]).unwrap();
    let after = memory.project_by_key("/src/sea").unwrap().unwrap();
    assert_eq!((after.id, after.topics), (before.id, 3));
    drop(memory);
    bob.talk().unwrap();
    assert_eq!(scene.sql("SELECT count(*) FROM tidegate.project"), "1");
}

#[test]
fn forgetting_a_teammates_row_deletes_it_here_and_asks_its_author() {
    let Some(scene) = Scene::shared() else { return };
    let (ann, eve) = ann_and_eve(&scene);
    let id = eve.memory().decisions(&Filter::default(), &PAGE).unwrap().rows[0].id;
    eve.memory().forget(&Forget::Decision(id)).unwrap();
    eve.memory().store().forget_in_team("ann-sea-l0001").unwrap();
    eve.talk().unwrap();
    assert_eq!(eve.decisions(), Vec::<String>::new());
    assert_eq!(eve.found("\"log ann-sea-l0001\"").0, Vec::<String>::new());
    assert_eq!(
        team::find_log(&mut eve.memory(), Some(&eve.address), "ann-sea-l0001", PATIENT).unwrap(),
        None
    );
    // They are still Ann's, and she is asked.
    assert_eq!(scene.sql("SELECT count(*) FROM tidegate.log WHERE uid = 'ann-sea-l0001'"), "1");
    ann.talk().unwrap();
    let mut asked: Vec<_> =
        ann.standing().requests.into_iter().map(|one| (one.kind, one.uid, one.asked_by)).collect();
    asked.sort();
    let by = eve.login();
    assert_eq!(
        asked,
        [
            ("decision".to_owned(), "d1".to_owned(), by.clone()),
            ("log".to_owned(), "ann-sea-l0001".to_owned(), by),
        ]
    );
    ann.memory().forget(&Forget::Log("ann-sea-l0001".to_owned())).unwrap();
    ann.talk().unwrap();
    assert_eq!(ann.standing().requests.len(), 1);
    assert_eq!(scene.sql("SELECT count(*) FROM tidegate.log WHERE uid = 'ann-sea-l0001'"), "0");
    eve.talk().unwrap();
    assert_eq!(eve.decisions(), Vec::<String>::new(), "a pull does not bring it back");
}

#[test]
fn a_member_who_left_has_no_access_and_their_rows_stay() {
    let Some(scene) = Scene::shared() else { return };
    let (ann, eve) = ann_and_eve(&scene);
    let mut open = PostgresStore::connect(eve.address.clone(), PATIENT).unwrap();
    open.projects(&PAGE).unwrap();
    assert_eq!(scene.store().remove_member(&eve.login()).unwrap().rows, 2);
    open.projects(&PAGE).unwrap_err();
    let error = eve.talk().unwrap_err();
    assert_eq!(error.kind, ErrorKind::Refused, "{error:?}");
    assert_eq!(scene.store().remove_member(&eve.login()).unwrap_err().kind, ErrorKind::Missing);
    ann.talk().unwrap();
    assert!(ann.topics().contains(&"eve-sea-t".to_owned()));
    // A member is not an administrator.
    let mut store = PostgresStore::connect(ann.address.clone(), PATIENT).unwrap();
    for refused in [store.invite("mallory").err(), store.remove_member("mallory").err()] {
        let error = refused.unwrap();
        assert!(error.kind == ErrorKind::Refused && error.what.contains("administrator"), "{error:?}");
    }
    // A second invitation is a new password.
    let again = scene.store().invite(&ann.login()).unwrap();
    assert!(again.again && again.rows == 4, "{}", again.rows);
    assert_eq!(ann.talk().unwrap_err().kind, ErrorKind::Refused);
    assert!(!scene.cluster.log().contains(&again.password));
}

#[test]
fn a_store_of_version_1_is_upgraded_and_its_rows_become_their_authors() {
    let Some(cluster) = tidegate_team_server::shared_cluster() else { return };
    let scene = Scene::empty_on(cluster);
    PostgresStore::create(scene.owner(), PATIENT).unwrap();
    let (ann, bob) =
        (Machine::sharing(&["sea"], scene.address()), Machine::sharing(&["sea"], scene.address()));
    work(&mut ann.memory(), "ann", "sea", 0..2);
    ann.talk().unwrap();
    work(&mut bob.memory(), "bob", "sea", 0..1);
    bob.talk().unwrap();
    // As version 1 left it: no owners, and the machine in `origin`.
    let (anns, bobs) = (ann.standing().machine, bob.standing().machine);
    for table in ["topic", "log", "decision"] {
        scene.sql(&format!("UPDATE tidegate.{table} SET owner = '', origin = CASE WHEN uid LIKE 'ann%' THEN '{anns}' ELSE '{bobs}' END"));
    }
    scene.sql("UPDATE tidegate.session SET owner = ''; UPDATE tidegate.project SET owner = ''; DELETE FROM tidegate.version WHERE version = 2");
    let error = ann.talk().unwrap_err();
    assert!(
        error.kind == ErrorKind::Newer && error.hint.as_ref().unwrap().contains("team create"),
        "{error:?}"
    );
    PostgresStore::create(scene.owner(), PATIENT).unwrap();
    bob.talk().unwrap();
    ann.talk().unwrap();
    let owners = "SELECT string_agg(uid || ' ' || owner, E'\\n' ORDER BY uid) FROM (SELECT uid, owner FROM tidegate.log UNION ALL SELECT uid, owner FROM tidegate.topic) AS rows";
    let (a, b) = (ann.login(), bob.login());
    assert_eq!(
        scene.sql(owners),
        format!("ann-sea-l0000 {a}\nann-sea-l0001 {a}\nann-sea-t {a}\nbob-sea-l0000 {b}\nbob-sea-t {b}")
    );
}

#[test]
fn a_database_restored_from_a_backup_gets_everything_again() {
    let Some(scene) = Scene::shared() else { return };
    let (ann, eve) = ann_and_eve(&scene);
    ann.talk().unwrap();
    back_up(&scene);
    work(&mut ann.memory(), "ann", "sea", 2..5);
    ann.memory().put(&[Record::Decision(decision("d2", "ann-sea-t", 12))]).unwrap();
    ann.talk().unwrap();
    eve.talk().unwrap();
    let whole = scene.sql("SELECT string_agg(uid, ' ' ORDER BY uid) FROM tidegate.document");
    restore(&scene);
    assert_ne!(scene.sql("SELECT string_agg(uid, ' ' ORDER BY uid) FROM tidegate.document"), whole);
    // Eve writes first, so that the numbers of changes go on.
    work(&mut eve.memory(), "eve", "sea", 1..9);
    assert!(eve.talk().unwrap().was_restored);
    assert!(ann.talk().unwrap().was_restored);
    eve.talk().unwrap();
    let now = scene.sql("SELECT string_agg(uid, ' ' ORDER BY uid) FROM tidegate.document");
    for uid in whole.split(' ') {
        assert!(now.contains(uid), "{uid}: {now}");
    }
    assert_eq!(
        (ann.decisions(), eve.decisions()),
        (vec!["d1".into(), "d2".into()], vec!["d1".to_owned(), "d2".to_owned()])
    );
    let again = ann.talk().unwrap();
    assert_eq!((again.was_restored, again.delivered), (false, 0));
}

#[test]
fn a_link_that_cuts_every_connection_still_delivers_everything() {
    let Some(scene) = Scene::shared() else { return };
    let proxy = Proxy::before(scene.cluster.port()).unwrap();
    let ann = Machine::sharing(&["sea"], scene.address_by(proxy.port()));
    work(&mut ann.memory(), "ann", "sea", 0..0);
    let large = |number: u64| {
        let row = log(&format!("large-{number:03}"), "ann-sea-t", number);
        Record::Log(tidegate_memory::record::LogRow { text: format!("{number} says ").repeat(400), ..row })
    };
    ann.memory().put(&(0..60).map(large).collect::<Vec<_>>()).unwrap();
    proxy.cut_each_after(60_000);
    let mut runs = 0;
    while ann.pending() > 0 {
        let _ = ann.talk();
        runs += 1;
        assert!(runs < 4, "{} rows are left", ann.pending());
    }
    assert_eq!(scene.sql("SELECT count(*) FROM tidegate.log"), "60");
}

/// Eve puts a row of hers below one of Ann's by each reference that a member can write.
#[test]
fn no_row_of_a_member_keeps_another_from_deleting() {
    let Some(scene) = Scene::shared() else { return };
    let (ann, eve) = ann_and_eve(&scene);
    for statement in [
        "UPDATE tidegate.document SET topic = 'ann-sea-t' WHERE uid = 'eve-sea-l0000'",
        "UPDATE tidegate.topic SET parent = 'ann-sea-t' WHERE uid = 'eve-sea-t'",
        "UPDATE tidegate.log SET session = (SELECT uid FROM tidegate.session WHERE uid LIKE 'ann%' LIMIT 1) WHERE uid = 'eve-sea-l0000'",
        "INSERT INTO tidegate.decision (uid, topic, text, reason, supersedes, session, created, updated)
         SELECT 'eves', 'eve-sea-t', 't', '', 'd1', uid, 1, 1 FROM tidegate.session WHERE uid LIKE 'ann%' LIMIT 1",
    ] {
        scene.sql_as(&eve, statement).unwrap();
    }
    let id = ann.memory().topic_by_uid("ann-sea-t").unwrap().unwrap().id;
    let session = ann.memory().log("ann-sea-l0000").unwrap().unwrap().row.session.unwrap();
    ann.memory().forget(&Forget::Topic(id)).unwrap();
    ann.memory().forget(&Forget::Session(session)).unwrap();
    let later = [Record::Topic(topic("later", "ann-sea")), Record::Log(log("later-sea-l0000", "later", 9))];
    ann.memory().put(&later).unwrap();
    let done = ann.talk().unwrap();
    assert_eq!((ann.pending(), done.refused), (0, None));
    assert_eq!(scene.sql("SELECT count(*) FROM tidegate.topic WHERE uid = 'ann-sea-t'"), "0");
    assert_eq!(scene.sql("SELECT count(*) FROM tidegate.log WHERE uid LIKE 'ann-sea-l%'"), "0");
    assert_eq!(scene.sql("SELECT count(*) FROM tidegate.log WHERE uid = 'later-sea-l0000'"), "1");
}

#[test]
fn a_deletion_that_the_server_refuses_holds_up_nothing() {
    let Some(scene) = Scene::shared() else { return };
    let (ann, _eve) = ann_and_eve(&scene);
    // Something else of the server's administrator refers to it.
    scene.sql("CREATE TABLE public.mine (log text REFERENCES tidegate.log); INSERT INTO public.mine VALUES ('ann-sea-l0000')");
    scene.sql("GRANT SELECT ON public.mine TO PUBLIC");
    for uid in ["ann-sea-l0000", "ann-sea-l0001"] {
        ann.memory().forget(&Forget::Log(uid.to_owned())).unwrap();
    }
    ann.memory().put(&[Record::Log(log("later-sea-l0000", "ann-sea-t", 9))]).unwrap();
    let done = ann.talk().unwrap();
    assert!(done.refused.is_some_and(|why| why.contains("23503")), "said");
    assert_eq!(ann.pending(), 1, "it is tried again");
    let there = "SELECT string_agg(uid, ' ' ORDER BY uid) FROM tidegate.log WHERE uid NOT LIKE 'eve%'";
    assert_eq!(scene.sql(there), "ann-sea-l0000 later-sea-l0000");
    scene.sql("DROP TABLE public.mine");
    assert_eq!((ann.talk().unwrap().refused, ann.pending()), (None, 0));
    assert_eq!(scene.sql(there), "later-sea-l0000");
}

#[test]
fn a_member_cannot_prevent_their_removal() {
    let Some(scene) = Scene::shared() else { return };
    let (ann, eve) = ann_and_eve(&scene);
    let name = eve.login();
    // What is in this database goes with the login. In another one, the login stays and has no rights.
    scene.sql_as(&eve, "SELECT lo_create(0)").unwrap();
    scene
        .sql_as(&eve, &format!("ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO {}", ann.login()))
        .unwrap();
    // Holds the lock of the writers.
    let url = scene.url_of(&eve, &scene.database);
    let holds = std::thread::spawn(move || {
        tidegate_team_server::shared_cluster()
            .unwrap()
            .sql_by(&url, "BEGIN; SELECT tidegate.begin_writing(); SELECT pg_sleep(600)")
    });
    while scene.sql(&format!(
        "SELECT count(*) FROM pg_stat_activity WHERE usename = '{name}' AND query LIKE '%sleep%'"
    )) != "1"
    {
        std::thread::yield_now();
    }
    let removed = scene.store().remove_member(&name).unwrap();
    assert_eq!(
        removed,
        tidegate_memory::postgres::Removed { rows: 2, login_stays: None, still_connected: None }
    );
    holds.join().unwrap().unwrap_err();
    assert_eq!(scene.sql(&format!("SELECT count(*) FROM pg_roles WHERE rolname = '{name}'")), "0");
    ann.memory().put(&[Record::Log(log("later", "ann-sea-t", 9))]).unwrap();
    assert_eq!(ann.talk().unwrap().delivered, 1);

    let mal = Machine::sharing(&["sea"], scene.address());
    let name = mal.login();
    let other = scene.cluster.database();
    scene.cluster.sql_by(&scene.url_of(&mal, &other), "SELECT lo_create(0)").unwrap();
    let removed = scene.store().remove_member(&name).unwrap();
    assert!(removed.login_stays.unwrap().contains("2BP01"), "said");
    assert_eq!(removed.still_connected, None);
    assert_eq!(mal.talk().unwrap_err().kind, ErrorKind::Refused);
    let member = scene.store().members().unwrap().iter().any(|member| member.name == name);
    assert!(!member);
}

#[test]
fn a_team_of_0_1_as_its_docs_set_it_up_is_upgraded_and_closed() {
    let Some(cluster) = tidegate_team_server::shared_cluster() else { return };
    // Everyone knows this login.
    let (login, old) = (format!("of_{}", std::process::id()), "known-to-all");
    cluster.sql("postgres", &format!("CREATE ROLE {login} LOGIN PASSWORD '{old}'")).unwrap();
    let database = format!("old_{}", std::process::id());
    cluster.sql("postgres", &format!("CREATE DATABASE {database} OWNER {login}")).unwrap();
    let url = |name: &str, password: &str| {
        format!("postgres://{name}:{password}@localhost:{}/{database}", cluster.port())
    };
    let tables = include_str!("../written_by/0.1.0/team-tables.sql");
    cluster.sql_by(&url(&login, old), tables).unwrap();
    let rows = "INSERT INTO tidegate.project VALUES ('p', 1, NULL, 'sea', 1, 1, 1, 1);
        INSERT INTO tidegate.team_name VALUES ('sea', 'p');
        INSERT INTO tidegate.topic VALUES ('t', 1, 'p', NULL, 'Old', 'open', NULL, 0, NULL, 1, 1, 1, 'm', 2);
        INSERT INTO tidegate.decision VALUES ('d', 1, 't', 'Kept', '', NULL, NULL, NULL, 1, 1, 'm', 3);
        INSERT INTO tidegate.document VALUES ('d', 'decision', 't', NULL, 1, 'kept')";
    cluster.sql_by(&url(&login, old), rows).unwrap();
    let tls = tidegate_core::feature::memory::settings::Tls::Verify;
    let address =
        |name: &str, password: &str| read(&url(name, password), tls, Some(cluster.ca_file())).unwrap();

    // An administrator of their own has no way in yet, and hears of one.
    let admin = Scene { cluster, database: database.clone() };
    let Err(error) = PostgresStore::create(admin.owner(), PATIENT) else {
        panic!("the tables are another login's")
    };
    assert!(error.hint.as_ref().unwrap().contains(&format!("`{login}`")), "{error:?}");
    // The shared login needs a right for it.
    let Err(error) = PostgresStore::create(address(&login, old), PATIENT) else {
        panic!("it may make roles")
    };
    assert!(error.what.contains("42501"), "{error:?}");
    cluster.sql("postgres", &format!("ALTER ROLE {login} CREATEROLE")).unwrap();
    let mut created = PostgresStore::create(address(&login, old), PATIENT).unwrap();
    let password = created.password.unwrap();
    // Whoever knew the old password is no administrator, and no member.
    let Err(error) = PostgresStore::connect(address(&login, old), PATIENT) else { panic!("it was let in") };
    assert_eq!(error.kind, ErrorKind::Refused, "{error:?}");
    let invited = created.store.invite(&format!("ann_{}", std::process::id())).unwrap();
    let again = PostgresStore::create(address(&login, &password), PATIENT).unwrap();
    assert_eq!(again.password, None, "once");
    let ann = Machine::sharing(&["sea"], address(&format!("ann_{}", std::process::id()), &invited.password));
    ann.talk().unwrap();
    assert_eq!(ann.decisions(), ["d"]);
    // Row security applies to members.
    let url = url(&format!("ann_{}", std::process::id()), &invited.password);
    cluster.sql_by(&url, "DROP TABLE tidegate.decision").unwrap_err();
}

#[test]
fn an_administrator_forgets_a_project_for_everyone() {
    let Some(scene) = Scene::shared() else { return };
    let _both = ann_and_eve(&scene);
    // Joined later: the project of the team has another uid than here.
    let admin = Machine::sharing(&["sea"], scene.owner());
    work(&mut admin.memory(), "admin", "sea", 0..1);
    admin.talk().unwrap();
    let id = admin.memory().project_by_name("sea").unwrap().unwrap().id;
    admin.memory().forget(&Forget::Project(id)).unwrap();
    admin.talk().unwrap();
    // The config still lists its name.
    for table in ["topic", "log", "decision", "document", "session"] {
        assert_eq!(scene.sql(&format!("SELECT count(*) FROM tidegate.{table}")), "0", "{table}");
    }
    // A member deletes their own.
    let bay = Machine::sharing(&["bay"], scene.address());
    work(&mut bay.memory(), "bays", "bay", 0..1);
    bay.talk().unwrap();
    let id = bay.memory().project_by_name("bay").unwrap().unwrap().id;
    bay.memory().forget(&Forget::Project(id)).unwrap();
    assert_eq!((bay.talk().unwrap().refused, bay.pending()), (None, 0));
    assert_eq!(scene.sql("SELECT count(*) FROM tidegate.log"), "0");
}

#[test]
fn a_list_of_changes_without_an_end_stops_no_worker() {
    let Some(scene) = Scene::shared() else { return };
    let (ann, eve) = ann_and_eve(&scene);
    ann.talk().unwrap();
    // The server says forever that there is more.
    scene.sql(
        "ALTER TABLE tidegate.forgotten RENAME TO real_forgotten;
         CREATE VIEW tidegate.forgotten AS SELECT 'u' || n AS uid, 'decision'::text AS kind, 'x'::text AS origin,
            (extract(epoch FROM clock_timestamp()) * 1000000)::bigint + n AS change, 'x'::text AS owner FROM generate_series(1, 600) AS n;
         GRANT SELECT ON tidegate.forgotten TO PUBLIC",
    );
    let after = || eve.standing().after;
    let before = after();
    team::exchange(&mut eve.memory(), &eve.address, team::Direction::Pull, 2_000, PATIENT).unwrap();
    assert!(after() > before, "the next run continues");
}

#[test]
fn a_link_that_cuts_every_connection_still_fetches_everything() {
    let Some(scene) = Scene::shared() else { return };
    let ann = Machine::sharing(&["sea"], scene.address());
    work(&mut ann.memory(), "ann", "sea", 0..0);
    let long = |number: u64| {
        let row = decision(&format!("long-{number:03}"), "ann-sea-t", number);
        Record::Decision(DecisionRow { text: format!("{number} says ").repeat(400), ..row })
    };
    ann.memory().put(&(0..60).map(long).collect::<Vec<_>>()).unwrap();
    ann.talk().unwrap();
    let proxy = Proxy::before(scene.cluster.port()).unwrap();
    let bob = Machine::sharing(&["sea"], scene.address_by(proxy.port()));
    proxy.cut_each_answer_after(60_000);
    let mut runs = 0;
    while bob.decisions().len() < 60 {
        let _ = bob.talk();
        runs += 1;
        assert!(runs < 6, "{} of 60 are here", bob.decisions().len());
    }
}

/// As a sleeping laptop does: its connection stays, and with it the lock of the writers.
#[test]
fn a_member_whose_link_falls_silent_blocks_the_others_only_for_seconds() {
    let Some(scene) = Scene::shared() else { return };
    let (ann, _eve) = ann_and_eve(&scene);
    let proxy = Proxy::before(scene.cluster.port()).unwrap();
    let bob = Machine::sharing(&["sea"], scene.address_by(proxy.port()));
    work(&mut bob.memory(), "bob", "sea", 0..40);
    proxy.stall_after(12_000);
    let quick = Patience {
        connect: std::time::Duration::from_secs(3),
        transaction: std::time::Duration::from_secs(3),
        ..PATIENT
    };
    let waits = "SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in transaction' AND datname = current_database()";
    std::thread::scope(|threads| {
        let bobs = threads.spawn(|| bob.talk_within(quick).unwrap_err());
        // Its transaction is open on the server.
        assert!((0..600).any(|_| scene.sql(waits) == "1"));
        ann.memory().put(&[Record::Log(log("later", "ann-sea-t", 9))]).unwrap();
        assert_eq!(ann.talk().unwrap().delivered, 1);
        bobs.join().unwrap();
    });
    // The same limit, only longer, for other programs of a member.
    let limit = "SELECT setting FROM pg_settings WHERE name = 'idle_in_transaction_session_timeout'";
    assert_eq!(scene.sql_as(&ann, limit).unwrap(), "60000");
}

#[test]
fn what_was_forgotten_does_not_come_back_with_a_backup() {
    let Some(scene) = Scene::shared() else { return };
    let (ann, _eve) = ann_and_eve(&scene);
    back_up(&scene);
    ann.memory().forget(&Forget::Log("ann-sea-l0000".to_owned())).unwrap();
    work(&mut ann.memory(), "ann", "sea", 2..5);
    // Nothing is pulled afterwards: what was sent is all that this machine knows of the server.
    let push = |machine: &Machine| {
        team::exchange(&mut machine.memory(), &machine.address, team::Direction::Push, usize::MAX, PATIENT)
            .unwrap()
    };
    push(&ann);
    let whole = "SELECT string_agg(uid, ' ' ORDER BY uid) FROM tidegate.log WHERE uid LIKE 'ann%'";
    let before = scene.sql(whole);
    restore(&scene);
    assert!(scene.sql(whole).contains("ann-sea-l0000"));
    assert!(push(&ann).was_restored);
    assert_eq!(scene.sql(whole), before);
    // Also if the last thing was a deletion.
    back_up(&scene);
    ann.memory().forget(&Forget::Log("ann-sea-l0001".to_owned())).unwrap();
    push(&ann);
    let before = scene.sql(whole);
    restore(&scene);
    assert!(push(&ann).was_restored);
    assert_eq!(scene.sql(whole), before);
    assert!(!push(&ann).was_restored, "once");
}

const TABLES: [&str; 9] =
    ["counters", "project", "team_name", "topic", "session", "log", "decision", "forgotten", "document"];

/// Keeps all rows of a team, for [`restore`].
fn back_up(scene: &Scene<'_>) {
    for table in TABLES {
        scene.sql(&format!(
            "DROP TABLE IF EXISTS public.kept_{table}; CREATE TABLE public.kept_{table} AS SELECT * FROM tidegate.{table}"
        ));
    }
}

fn restore(scene: &Scene<'_>) {
    for table in TABLES.iter().rev() {
        scene.sql(&format!("DELETE FROM tidegate.{table}"));
    }
    for table in TABLES {
        scene.sql(&format!("INSERT INTO tidegate.{table} SELECT * FROM public.kept_{table}"));
    }
}
