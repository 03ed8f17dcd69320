//! A hostile team store or member: rows written on a machine stay as they are there.

use std::fs;
use std::path::PathBuf;

use tidegate_core::feature::memory::automatic;
use tidegate_core::time::Millis;
use tidegate_memory::act::{self, TopicEdit};
use tidegate_memory::record::{self, DecisionRow, LogRow, Record, SessionRow, TopicRow};
use tidegate_memory::store::{Put, Store};
use tidegate_memory::view::{Filter, Page};

use crate::machine::Machine;
use crate::rows::{at, decision, log, session, topic};
use crate::scene::Scene;
use crate::sharing::work;

/// Ann shares a project with a topic and two decisions, of which the second replaces the first. Eve has
/// pulled them.
fn ann_and_eve(scene: &Scene<'_>) -> (Machine, Machine) {
    let (ann, eve) =
        (Machine::sharing(&["sea"], scene.address()), Machine::sharing(&["sea"], scene.address()));
    work(&mut ann.memory(), "ann", "sea", 0..2);
    work(&mut eve.memory(), "eve", "sea", 0..0);
    ann.memory()
        .put(&[
            Record::Decision(decision("d1", "ann-sea-t", 5)),
            Record::Decision(DecisionRow {
                supersedes: Some("d1".to_owned()),
                ..decision("d2", "ann-sea-t", 6)
            }),
        ])
        .expect("it works");
    ann.talk().expect("it works");
    eve.talk().expect("it works");
    ann.talk().expect("it works");
    (ann, eve)
}

/// Without derived counts.
fn rows(machine: &Machine) -> Vec<Record> {
    let mut rows = Vec::new();
    machine
        .memory()
        .for_each_record(&mut |record| {
            rows.push(record);
            Ok(())
        })
        .expect("it works");
    rows
}

fn own_rows(machine: &Machine, whose: &str) -> Vec<Record> {
    let own = |record: &Record| record.uid().starts_with(whose) || record.uid().starts_with('d');
    rows(machine).into_iter().filter(own).collect()
}

fn topic_of(machine: &Machine, uid: &str) -> Option<record::TopicRow> {
    machine.memory().topic_by_uid(uid).expect("it works").map(|found| found.row)
}

fn decision_of(machine: &Machine, uid: &str) -> Option<record::DecisionRow> {
    rows(machine).into_iter().find_map(|record| match record {
        Record::Decision(row) if row.uid == uid => Some(row),
        _ => None,
    })
}

/// Writes these columns as an attacker could, as a new change for everyone who pulls.
fn tamper(scene: &Scene<'_>, table: &str, uid: &str, columns: &str) {
    scene.sql(&format!(
        "UPDATE tidegate.{table} SET {columns}, change = (SELECT max(change) + 1 FROM tidegate.counters) WHERE uid = '{uid}';
         UPDATE tidegate.counters SET change = change + 1"
    ));
}

/// As if a member had asked the team to forget a row.
fn forge_forgotten(scene: &Scene<'_>, uid: &str, kind: &str, origin: &str) {
    scene.sql(&format!(
        "INSERT INTO tidegate.forgotten (uid, kind, owner, change)
             SELECT '{uid}', '{kind}', '{origin}', change + 1 FROM tidegate.counters ON CONFLICT (uid) DO UPDATE
             SET kind = excluded.kind, owner = excluded.owner, change = excluded.change;
         UPDATE tidegate.counters SET change = change + 1"
    ));
}

fn copies(machine: &Machine) -> Vec<(PathBuf, Vec<u8>)> {
    let copies = machine.memory().home().copies();
    copies.into_iter().map(|copy| (copy.clone(), fs::read(copy).expect("it works"))).collect()
}

const FAR: i64 = 9_000_000_000_000_000;

#[test]
fn a_forged_withdrawal_deletes_nothing_that_was_written_here() {
    let Some(scene) = Scene::shared() else { return };
    let (ann, eve) = ann_and_eve(&scene);
    ann.memory().backup().unwrap();
    let (before, backups) = (rows(&ann), copies(&ann));
    for uid in ["ann-sea-l0000", "ann-sea-s", "ann-sea-t", "ann-sea", "d1", "d2"] {
        for kind in ["topic", "decision"] {
            for origin in ["somebody", &eve.login()] {
                forge_forgotten(&scene, uid, kind, origin);
                ann.talk().unwrap();
            }
        }
    }
    assert_eq!(rows(&ann), before);
    assert_eq!(copies(&ann), backups, "nor from copies");
    // The uid is not remembered as forgotten either: nothing could be stored under it any more.
    let newer = at(50);
    let rows = [
        Record::Session(SessionRow { updated: newer, ..session("ann-sea-s", "ann-sea") }),
        Record::Topic(TopicRow { updated: newer, ..topic("ann-sea-t", "ann-sea") }),
        Record::Log(LogRow { updated: newer, ..log("ann-sea-l0000", "ann-sea-t", 1) }),
        Record::Decision(DecisionRow { updated: newer, ..decision("d1", "ann-sea-t", 5) }),
    ];
    assert_eq!(ann.memory().put(&rows).unwrap(), [Put::Changed; 4]);
}

#[test]
fn a_topic_made_private_stays_private_and_its_logs_stay_here() {
    let Some(scene) = Scene::shared() else { return };
    let (ann, eve) = ann_and_eve(&scene);
    work(&mut ann.memory(), "ann", "private", 0..0);
    let id = |name: &str| ann.memory().project_by_name(name).unwrap().unwrap().id;
    let moved = ann.memory().topic_by_uid("ann-sea-t").unwrap().unwrap().id;
    let edit = TopicEdit { project: Some(id("private")), ..TopicEdit::default() };
    act::edit_topic(&mut ann.memory(), ann.now(), moved, &edit).unwrap();
    ann.memory().put(&[Record::Log(log("ann-confidential", "ann-sea-t", 9))]).unwrap();
    // Eve adds to it, so that it also comes back with her rows.
    let part = TopicRow { parent: Some("ann-sea-t".to_owned()), ..topic("eve-part", "eve-sea") };
    eve.memory().put(&[Record::Decision(decision("in-it", "ann-sea-t", 9)), Record::Topic(part)]).unwrap();
    eve.talk().unwrap();
    for origin in ["somebody", &ann.login(), &eve.login()] {
        let columns = format!("updated = {FAR}, owner = '{origin}', title = 'Taken'");
        tamper(&scene, "topic", "ann-sea-t", &columns);
        ann.talk().unwrap();
        ann.talk().unwrap();
        assert_eq!(topic_of(&ann, "ann-sea-t").unwrap().project, "ann-private");
    }
    assert_eq!(scene.sql("SELECT count(*) FROM tidegate.log WHERE uid = 'ann-confidential'"), "0");
    assert_eq!(decision_of(&ann, "in-it"), None, "nor does anything of others get into it");
    assert_eq!(topic_of(&ann, "eve-part").unwrap().parent, None);
}

#[test]
fn times_of_others_end_five_minutes_from_now() {
    let Some(scene) = Scene::shared() else { return };
    let (_ann, eve) = ann_and_eve(&scene);
    let latest = Millis(eve.now().0 + 5 * 60_000);
    for (told, kept) in [
        ("9000000000000000", latest),
        ("9223372036854775807", latest),
        (&(latest.0 + 1).to_string(), latest),
        (&latest.0.to_string(), latest),
        ("-1", Millis(0)),
        ("-9223372036854775808", Millis(0)),
    ] {
        let bob = Machine::sharing(&["sea"], scene.address());
        work(&mut bob.memory(), "bob", "sea", 0..0);
        tamper(&scene, "topic", "ann-sea-t", &format!("updated = {told}, created = {told}"));
        let columns = format!("updated = {told}, created = {told}, retracted = {told}");
        tamper(&scene, "decision", "d1", &columns);
        bob.talk().unwrap();
        let topic = topic_of(&bob, "ann-sea-t").unwrap();
        assert_eq!((topic.created, topic.updated), (kept, kept), "{told}");
        let decision = decision_of(&bob, "d1").unwrap();
        assert_eq!(
            (decision.created, decision.updated, decision.retracted),
            (kept, kept, Some(kept)),
            "{told}"
        );
        let shown = bob.memory().topics(&Filter::default(), &Page { limit: 9, after: None }).unwrap();
        assert!(shown.rows.iter().all(|topic| topic.row.updated <= latest));
    }
}

#[test]
fn a_time_that_is_not_a_number_is_an_error_and_changes_nothing() {
    let Some(scene) = Scene::shared() else { return };
    let (ann, eve) = ann_and_eve(&scene);
    let before = (rows(&ann), rows(&eve));
    scene.sql("ALTER TABLE tidegate.topic ALTER updated TYPE double precision");
    tamper(&scene, "topic", "ann-sea-t", "updated = 'NaN', title = 'Not a time'");
    assert!(ann.talk().is_err() && eve.talk().is_err());
    assert_eq!((rows(&ann), rows(&eve)), before);
}

#[test]
fn an_own_row_is_changed_by_no_pull() {
    let Some(scene) = Scene::shared() else { return };
    let (mut ann, eve) = ann_and_eve(&scene);
    ann.share(&["sea", "lake"]);
    work(&mut ann.memory(), "ann", "lake", 0..0);
    ann.talk().unwrap();
    let before = own_rows(&ann, "ann");
    for origin in ["somebody", &ann.login(), &eve.login()] {
        let columns = format!(
            "updated = {FAR}, created = 1, owner = '{origin}', title = 'Taken', status = 'closed', automatic = 'x',
             project = (SELECT project FROM tidegate.team_name WHERE name = 'lake')"
        );
        tamper(&scene, "topic", "ann-sea-t", &columns);
        let columns = format!(
            "updated = {FAR}, created = 1, owner = '{origin}', text = 'Taken', reason = '', retracted = 1,
             supersedes = NULL, topic = 'ann-lake-t'"
        );
        tamper(&scene, "decision", "d2", &columns);
        ann.talk().unwrap();
        assert_eq!(own_rows(&ann, "ann"), before, "{origin}");
    }
}

#[test]
fn a_row_of_others_is_changed_by_its_origin_only() {
    let Some(scene) = Scene::shared() else { return };
    let (ann, eve) = ann_and_eve(&scene);
    let before = (topic_of(&eve, "ann-sea-t"), decision_of(&eve, "d2"));
    let change = |origin: &str, minutes: u64| {
        let updated = at(minutes).0;
        let columns = format!("updated = {updated}, owner = {origin}, title = 'Changed'");
        tamper(&scene, "topic", "ann-sea-t", &columns);
        let columns = format!("updated = {updated}, owner = {origin}, text = 'Changed'");
        tamper(&scene, "decision", "d2", &columns);
        eve.talk().unwrap();
        (topic_of(&eve, "ann-sea-t"), decision_of(&eve, "d2"))
    };
    assert_eq!(change("'somebody'", 20), before);
    assert_eq!(change("''", 21), before);
    let (topic, decision) = change(&format!("'{}'", ann.login()), 22);
    assert_eq!((topic.unwrap().title, decision.unwrap().text), ("Changed".to_owned(), "Changed".to_owned()));
}

#[test]
fn a_withdrawal_needs_the_kind_the_origin_and_a_shared_project() {
    let Some(scene) = Scene::shared() else { return };
    let (ann, mut eve) = ann_and_eve(&scene);
    let anns = ann.login();
    eve.share(&["sea", "lake"]);
    work(&mut eve.memory(), "eve", "lake", 0..0);
    eve.memory().backup().unwrap();
    let (before, backups) = (rows(&eve), copies(&eve));
    forge_forgotten(&scene, "d2", "topic", &anns);
    eve.talk().unwrap();
    forge_forgotten(&scene, "d2", "decision", "somebody");
    eve.talk().unwrap();
    assert_eq!((rows(&eve), copies(&eve)), (before.clone(), backups.clone()));
    // Rows of a project that is no longer shared belong to this machine alone.
    eve.share(&["lake"]);
    forge_forgotten(&scene, "d2", "decision", &anns);
    eve.talk().unwrap();
    assert_eq!((rows(&eve), copies(&eve)), (before, backups));
    eve.share(&["sea", "lake"]);
    forge_forgotten(&scene, "d2", "decision", &anns);
    eve.talk().unwrap();
    assert_eq!(decision_of(&eve, "d2"), None);
    drop(eve.memory());
    assert_eq!(eve.holding("Decision d2"), Vec::<PathBuf>::new(), "nor in copies");
    assert_eq!(eve.pending(), 0, "the team is not told what it said itself");
}

#[test]
fn a_withdrawn_topic_stays_while_something_of_this_machine_is_in_it() {
    let Some(scene) = Scene::shared() else { return };
    let (ann, eve) = ann_and_eve(&scene);
    ann.memory()
        .put(&["with-log", "with-part", "empty"].map(|uid| Record::Topic(topic(uid, "ann-sea"))))
        .unwrap();
    ann.talk().unwrap();
    eve.talk().unwrap();
    let part = TopicRow { parent: Some("with-part".to_owned()), ..topic("eve-part", "eve-sea") };
    eve.memory().put(&[Record::Log(log("eve-log", "with-log", 9)), Record::Topic(part)]).unwrap();
    let before = own_rows(&eve, "eve");
    for uid in ["with-log", "with-part", "empty"] {
        forge_forgotten(&scene, uid, "topic", &ann.login());
    }
    eve.talk().unwrap();
    assert_eq!(own_rows(&eve, "eve"), before);
    assert_eq!(eve.topics(), ["ann-sea-t", "eve-part", "eve-sea-t", "with-log", "with-part"]);
}

#[test]
fn a_row_of_others_that_was_changed_here_is_this_machines_own() {
    let Some(scene) = Scene::shared() else { return };
    let (ann, eve) = ann_and_eve(&scene);
    work(&mut eve.memory(), "eve", "private", 0..0);
    let anns = ann.login();
    let named = TopicRow { title: "Eve's".to_owned(), updated: at(8), ..topic("ann-sea-t", "eve-sea") };
    let said = DecisionRow { text: "Eve says".to_owned(), updated: at(8), ..decision("d2", "ann-sea-t", 6) };
    eve.memory().put(&[Record::Topic(named), Record::Decision(said)]).unwrap();
    tamper(&scene, "topic", "ann-sea-t", &format!("updated = {FAR}, title = 'Changed'"));
    tamper(&scene, "decision", "d2", &format!("updated = {FAR}, text = 'Changed'"));
    eve.talk().unwrap();
    forge_forgotten(&scene, "d2", "decision", &anns);
    eve.talk().unwrap();
    assert_eq!(topic_of(&eve, "ann-sea-t").unwrap().title, "Eve's");
    assert_eq!(decision_of(&eve, "d2").unwrap().text, "Eve says");
    // Also after a move, and for what is added afterwards.
    let moved = TopicRow { project: "eve-private".to_owned(), updated: at(9), ..topic("ann-sea-t", "x") };
    eve.memory().put(&[Record::Topic(moved)]).unwrap();
    eve.memory().put(&[Record::Log(log("eve-confidential", "ann-sea-t", 10))]).unwrap();
    tamper(&scene, "topic", "ann-sea-t", &format!("updated = {FAR}"));
    forge_forgotten(&scene, "d1", "decision", &anns);
    forge_forgotten(&scene, "ann-sea-t", "topic", &anns);
    eve.talk().unwrap();
    eve.talk().unwrap();
    assert_eq!(topic_of(&eve, "ann-sea-t").unwrap().project, "eve-private");
    assert!(decision_of(&eve, "d1").is_some(), "it belongs to a private project by now");
    assert_eq!(scene.sql("SELECT count(*) FROM tidegate.log WHERE uid = 'eve-confidential'"), "0");
}

#[test]
fn nothing_is_moved_out_of_a_project_that_is_shared_no_longer() {
    let Some(scene) = Scene::shared() else { return };
    let (ann, mut eve) = ann_and_eve(&scene);
    eve.share(&["lake"]);
    work(&mut eve.memory(), "eve", "lake", 0..0);
    eve.memory().put(&[Record::Log(log("eve-confidential", "ann-sea-t", 10))]).unwrap();
    eve.talk().unwrap();
    let lake = "project = (SELECT project FROM tidegate.team_name WHERE name = 'lake')";
    tamper(&scene, "topic", "ann-sea-t", &format!("updated = {FAR}, {lake}"));
    eve.talk().unwrap();
    eve.talk().unwrap();
    assert_eq!(topic_of(&eve, "ann-sea-t").unwrap().project, "eve-sea");
    assert_eq!(scene.sql("SELECT count(*) FROM tidegate.log WHERE uid = 'eve-confidential'"), "0");
    // Its origin may move it between two shared projects.
    eve.share(&["sea", "lake"]);
    tamper(&scene, "topic", "ann-sea-t", &format!("updated = {FAR}, {lake}"));
    eve.talk().unwrap();
    assert_eq!(topic_of(&eve, "ann-sea-t").unwrap().project, "eve-lake");
    assert_eq!(ann.talk().unwrap().refused, None);
}

#[test]
fn a_topic_that_passes_for_one_of_an_own_session_does_not_come_in() {
    let Some(scene) = Scene::shared() else { return };
    let (ann, eve) = ann_and_eve(&scene);
    // The recorder uses these uids for a session of a private project.
    work(&mut ann.memory(), "ann", "private", 0..0);
    let named = [None, Some("ann-private"), Some("ann-sea")]
        .map(|project| automatic::topic_uid("ann-private-s", project));
    let others = automatic::topic_uid("eve-sea-s", None);
    for uid in named.iter().chain([&others]) {
        eve.memory().put(&[Record::Topic(topic(uid, "eve-sea"))]).unwrap();
    }
    // A topic that names its session comes in through a decision in it.
    let claims = TopicRow { automatic: Some("ann-private-s".to_owned()), ..topic("claims", "eve-sea") };
    eve.memory().put(&[Record::Topic(claims), Record::Decision(decision("in-claims", "claims", 5))]).unwrap();
    eve.talk().unwrap();
    ann.talk().unwrap();
    assert_eq!(ann.topics(), sorted(["ann-private-t", "ann-sea-t", "eve-sea-t", &others]));
}

#[test]
fn a_row_with_the_name_of_something_else_does_not_come_in() {
    let Some(scene) = Scene::shared() else { return };
    let (ann, eve) = ann_and_eve(&scene);
    for uid in ["ann-sea-s", "ann-sea-l0000", "d1"] {
        eve.memory().put(&[Record::Topic(topic(uid, "eve-sea"))]).unwrap();
    }
    eve.talk().unwrap();
    ann.talk().unwrap();
    assert_eq!(ann.topics(), ["ann-sea-t", "eve-sea-t"]);
}

#[test]
fn a_decision_made_here_stands_until_it_is_taken_back_here() {
    let Some(scene) = Scene::shared() else { return };
    let (ann, eve) = ann_and_eve(&scene);
    let instead = |uid: &str, of: &str, minutes: u64| {
        let supersedes = Some(of.to_owned());
        Record::Decision(DecisionRow { supersedes, ..decision(uid, "ann-sea-t", minutes) })
    };
    eve.memory().put(&[instead("e1", "d2", 9)]).unwrap();
    eve.memory().put(&[instead("e2", "e1", 10)]).unwrap();
    eve.talk().unwrap();
    ann.talk().unwrap();
    let standing = |machine: &Machine| {
        let page = Page { limit: 9, after: None };
        let rows = machine.memory().decisions(&Filter::default(), &page).unwrap().rows;
        rows.into_iter().map(|decision| decision.row.uid).collect::<Vec<_>>()
    };
    assert_eq!((standing(&ann), standing(&eve)), (vec!["e2".into(), "d2".into()], vec!["e2".to_owned()]));
}

#[test]
fn own_topics_stay_parts_of_what_they_are_part_of() {
    let Some(scene) = Scene::shared() else { return };
    let (ann, eve) = ann_and_eve(&scene);
    let own = TopicRow { parent: Some("ann-sea-t".to_owned()), ..topic("eve-part", "eve-sea") };
    eve.memory().put(&[Record::Topic(own)]).unwrap();
    eve.talk().unwrap();
    let before = own_rows(&eve, "eve");
    tamper(&scene, "topic", "ann-sea-t", &format!("updated = {FAR}, title = 'Above', parent = 'eve-part'"));
    eve.talk().unwrap();
    assert_eq!(own_rows(&eve, "eve"), before);
    let theirs = topic_of(&eve, "ann-sea-t").unwrap();
    assert_eq!((theirs.title.as_str(), theirs.parent), ("Above", None));
    assert_eq!(ann.talk().unwrap().refused, None);
}

#[test]
fn what_came_in_before_the_list_was_kept_counts_as_own() {
    let Some(scene) = Scene::shared() else { return };
    let (ann, eve) = ann_and_eve(&scene);
    let file = eve.memory().home().file();
    let older = rusqlite::Connection::open(&file).unwrap();
    older
        .execute_batch(
            "ALTER TABLE decision DROP COLUMN taken_by; DROP TABLE pulled; PRAGMA user_version = 3",
        )
        .unwrap();
    drop(older);
    let before = rows(&eve);
    let anns = ann.login();
    tamper(&scene, "topic", "ann-sea-t", &format!("updated = {FAR}, title = 'Changed'"));
    forge_forgotten(&scene, "d2", "decision", &anns);
    eve.talk().unwrap();
    assert_eq!(rows(&eve), before);
    assert!(file.with_file_name("backups").join("before-version-5-3.db").is_file());
    // From now on the list is kept.
    ann.memory().put(&[Record::Decision(decision("d3", "ann-sea-t", 9))]).unwrap();
    ann.talk().unwrap();
    eve.talk().unwrap();
    tamper(&scene, "decision", "d3", &format!("updated = {FAR}, text = 'Changed'"));
    eve.talk().unwrap();
    assert_eq!(decision_of(&eve, "d3").unwrap().text, "Changed");
}

#[test]
fn a_rebuilt_store_still_knows_what_came_from_others() {
    let Some(scene) = Scene::shared() else { return };
    let (ann, eve) = ann_and_eve(&scene);
    let broken = rusqlite::Connection::open(eve.memory().home().file()).unwrap();
    broken.execute_batch("PRAGMA foreign_keys = OFF; INSERT INTO offered VALUES (999, 'x')").unwrap();
    drop(broken);
    let mut memory = eve.memory();
    memory.repair("a topic is not there").unwrap();
    assert!(memory.healed.is_some());
    drop(memory);
    let own = own_rows(&eve, "eve");
    let updated = format!("updated = {}", at(30).0);
    tamper(&scene, "topic", "ann-sea-t", &format!("{updated}, title = 'Changed'"));
    tamper(&scene, "topic", "eve-sea-t", &format!("{updated}, title = 'Changed'"));
    eve.talk().unwrap();
    assert_eq!(topic_of(&eve, "ann-sea-t").unwrap().title, "Changed");
    assert_eq!(own_rows(&eve, "eve"), own);
    assert_eq!(ann.talk().unwrap().refused, None);
}

#[test]
fn another_server_gets_a_row_from_its_author_only() {
    let (Some(scene), Some(other)) = (Scene::shared(), Scene::shared()) else { return };
    let (mut ann, mut eve) = ann_and_eve(&scene);
    (ann.address, eve.address) = (other.address(), other.address());
    eve.memory().put(&[Record::Decision(decision("e1", "ann-sea-t", 9))]).unwrap();
    assert_eq!(eve.talk().unwrap().waiting, 1, "the topic of the decision is not there yet");
    let owners = "SELECT uid || ' ' || owner FROM tidegate.topic UNION ALL SELECT uid || ' ' || owner FROM tidegate.decision ORDER BY 1";
    assert_eq!(other.sql(owners), format!("eve-sea-t {}", eve.login()));
    ann.talk().unwrap();
    assert_eq!(eve.talk().unwrap().waiting, 0);
    let (anns, eves) = (ann.login(), eve.login());
    assert_eq!(
        other.sql(owners),
        format!("ann-sea-t {anns}\nd1 {anns}\nd2 {anns}\ne1 {eves}\neve-sea-t {eves}")
    );
}

fn sorted<const N: usize>(uids: [&str; N]) -> Vec<String> {
    crate::machine::sorted(uids.into_iter().map(str::to_owned))
}
