//! Members, an administrator, and an attacker who has a member's login and speaks SQL.

use tidegate_memory::error::ErrorKind;
use tidegate_memory::postgres::PostgresStore;
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
        "SET ROLE team".to_owned(),
        format!("ALTER ROLE {anns} PASSWORD 'x'"),
        format!("GRANT team TO {eves}"),
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
    assert_eq!(scene.store().remove_member(&eve.login()).unwrap(), 2);
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
    // The backup.
    let tables =
        ["counters", "project", "team_name", "topic", "session", "log", "decision", "forgotten", "document"];
    for table in tables {
        scene.sql(&format!("CREATE TABLE public.kept_{table} AS SELECT * FROM tidegate.{table}"));
    }
    work(&mut ann.memory(), "ann", "sea", 2..5);
    ann.memory().put(&[Record::Decision(decision("d2", "ann-sea-t", 12))]).unwrap();
    ann.talk().unwrap();
    eve.talk().unwrap();
    let whole = scene.sql("SELECT string_agg(uid, ' ' ORDER BY uid) FROM tidegate.document");
    for table in tables.iter().rev() {
        scene.sql(&format!("DELETE FROM tidegate.{table}"));
    }
    for table in tables {
        scene.sql(&format!("INSERT INTO tidegate.{table} SELECT * FROM public.kept_{table}"));
    }
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
