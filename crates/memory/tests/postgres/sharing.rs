//! Sharing between machines through a server, and what happens without it.

use std::time::Duration;

use tidegate_memory::act;
use tidegate_memory::error::ErrorKind;
use tidegate_memory::memory::Memory;
use tidegate_memory::postgres::Patience;
use tidegate_memory::postgres::PostgresStore;
use tidegate_memory::record::{DecisionRow, LogRow, ProjectRow, Record, SessionRow, TopicRow};
use tidegate_memory::store::Store;
use tidegate_memory::team::{self, Direction};
use tidegate_memory::view::{Filter, Forget, Page, Query};
use tidegate_team_server::{Cluster, Proxy, Shutdown, Way};

use crate::machine::Machine;
use crate::rows::{at, decision, log, project, session, topic};
use crate::scene::{PATIENT, Scene};

/// A project with a session, a topic and logs, named after it and the machine.
pub(crate) fn work(memory: &mut Memory, machine: &str, name: &str, logs: std::ops::Range<u64>) {
    let uid = format!("{machine}-{name}");
    let mut records = vec![
        Record::Project(ProjectRow { uid: uid.clone(), name: name.to_owned(), ..project(&uid) }),
        Record::Session(session(&format!("{uid}-s"), &uid)),
        Record::Topic(topic(&format!("{uid}-t"), &uid)),
    ];
    records.extend(logs.map(|n| {
        let session = Some(format!("{uid}-s"));
        Record::Log(LogRow { session, ..log(&format!("{uid}-l{n:04}"), &format!("{uid}-t"), n + 1) })
    }));
    memory.put(&records).expect("they fit");
}

/// In the order in which the server received them.
fn in_order(scene: &Scene<'_>) -> Vec<String> {
    let told = scene.sql("SELECT uid FROM tidegate.log ORDER BY change");
    told.lines().map(str::to_owned).collect()
}

fn logs_of(machine: &str, name: &str, logs: std::ops::Range<u64>) -> Vec<String> {
    logs.map(|n| format!("{machine}-{name}-l{n:04}")).collect()
}

#[test]
fn two_machines_share_one_project_both_ways() {
    let Some(scene) = Scene::shared() else { return };
    let (ann, bob) =
        (Machine::sharing(&["sea"], scene.address()), Machine::sharing(&["sea"], scene.address()));
    work(&mut ann.memory(), "ann", "sea", 0..3);
    work(&mut bob.memory(), "bob", "sea", 0..3);
    work(&mut bob.memory(), "bob", "secret", 0..3);
    ann.memory()
        .put(&[Record::Decision(DecisionRow {
            text: "Tides are tidal".to_owned(),
            ..decision("d1", "ann-sea-t", 5)
        })])
        .unwrap();
    let told = ann.talk().unwrap();
    assert_eq!((told.delivered, told.waiting, told.pulled), (7, 0, 0));
    assert_eq!(bob.talk().unwrap().pulled, 2);
    assert_eq!(ann.talk().unwrap().pulled, 1);
    assert_eq!(scene.sql("SELECT name FROM tidegate.project"), "sea", "one project, and no other");
    for machine in [&ann, &bob] {
        let shared: Vec<String> =
            machine.topics().into_iter().filter(|uid| !uid.contains("secret")).collect();
        assert_eq!(shared, ["ann-sea-t", "bob-sea-t"]);
        assert_eq!(machine.decisions(), ["d1"]);
        assert_eq!((machine.pending(), machine.talk().unwrap()), (0, team::Exchanged::default()));
    }
    // A decision of another member is retracted: on that machine alone.
    let eve = Machine::sharing(&["sea"], scene.address());
    work(&mut eve.memory(), "eve", "sea", 0..0);
    eve.talk().unwrap();
    let taken_back = DecisionRow {
        retracted: Some(at(20)),
        updated: at(20),
        text: "Tides are tidal".to_owned(),
        ..decision("d1", "ann-sea-t", 5)
    };
    bob.memory().put(&[Record::Decision(taken_back)]).unwrap();
    for machine in [&bob, &ann, &eve, &bob] {
        machine.talk().unwrap();
    }
    let retracted = |machine: &Machine| {
        let filter = Filter { all: true, ..Filter::default() };
        let all = machine.memory().decisions(&filter, &Page { limit: 9, after: None }).unwrap();
        all.rows[0].row.retracted
    };
    assert_eq!([&ann, &bob, &eve].map(retracted), [None, Some(at(20)), None]);
    assert_eq!(bob.standing().theirs, 1);
    // Logs stay on the server and are found there.
    assert_eq!(ann.found("\"log bob-sea-l0001\""), (vec!["bob-sea-l0001".to_owned()], None));
    assert_eq!(ann.found("\"log ann-sea-l0001\""), (vec!["ann-sea-l0001".to_owned()], None));
    assert_eq!(ann.found("\"log bob-secret-l0001\"").0, Vec::<String>::new());
    let log =
        team::find_log(&mut ann.memory(), Some(&ann.address), "bob-sea-l0002", PATIENT).unwrap().unwrap();
    assert_eq!((log.row.text.as_str(), log.in_project.name.as_str()), ("What log bob-sea-l0002 says", "sea"));
    // Its ids are those of this machine, and its author is known.
    let (topic, project) = {
        let mut memory = ann.memory();
        (memory.topic_by_uid("bob-sea-t").unwrap().unwrap(), memory.project_by_name("sea").unwrap().unwrap())
    };
    assert_eq!((log.in_topic.id, log.in_project.id), (topic.id, project.id));
    assert_eq!((log.author, topic.author), (Some(bob.login()), Some(bob.login())));
    let by = |machine: &Machine| {
        let all = machine.memory().decisions(&Filter::default(), &Page { limit: 9, after: None }).unwrap();
        all.rows[0].author.clone()
    };
    assert_eq!((by(&ann), by(&eve)), (None, Some(ann.login())));
}

#[test]
fn a_project_that_is_not_listed_is_never_sent() {
    let Some(scene) = Scene::shared() else { return };
    let ann = Machine::sharing(&["sea"], scene.address());
    work(&mut ann.memory(), "ann", "sea", 0..1);
    work(&mut ann.memory(), "ann", "private", 0..5);
    // A log of a session elsewhere in a shared topic, one that moved from a shared topic to another project,
    // and a topic of that project as the parent of a shared one.
    ann.memory()
        .put(&[
            Record::Log(LogRow {
                session: Some("ann-private-s".to_owned()),
                ..log("from-elsewhere", "ann-sea-t", 9)
            }),
            Record::Topic(TopicRow {
                parent: Some("ann-private-t".to_owned()),
                updated: at(9),
                ..topic("ann-sea-t", "ann-sea")
            }),
            Record::Topic(TopicRow { updated: at(9), ..topic("moved", "ann-sea") }),
            Record::Log(log("moves", "moved", 9)),
            Record::Topic(TopicRow {
                project: "ann-private".to_owned(),
                updated: at(10),
                ..topic("moved", "ann-private")
            }),
        ])
        .unwrap();
    ann.talk().unwrap();
    let all: String = ["project", "topic", "session", "log", "document"]
        .map(|table| scene.sql(&format!("SELECT to_jsonb(r) FROM tidegate.{table} r")))
        .concat();
    assert!(all.contains("ann-sea-l0000"), "{all}");
    for kept in ["private", "moves", "from-elsewhere"] {
        assert!(!all.contains(kept), "{kept}: {all}");
    }
    assert!(!all.contains(".git"), "where a project is, is nobody's business: {all}");
}

#[test]
fn forgetting_reaches_the_team() {
    let Some(scene) = Scene::shared() else { return };
    let (ann, bob) =
        (Machine::sharing(&["sea"], scene.address()), Machine::sharing(&["sea"], scene.address()));
    work(&mut ann.memory(), "ann", "sea", 0..3);
    work(&mut bob.memory(), "bob", "sea", 0..3);
    let in_session = |uid: &str, topic: &str, session: &str| {
        Record::Decision(DecisionRow { session: Some(session.to_owned()), ..decision(uid, topic, 5) })
    };
    ann.memory().put(&[in_session("of-ann", "ann-sea-t", "ann-sea-s")]).unwrap();
    bob.memory().put(&[in_session("of-bob", "bob-sea-t", "bob-sea-s")]).unwrap();
    ann.talk().unwrap();
    bob.talk().unwrap();
    ann.talk().unwrap();
    assert_eq!(ann.decisions(), ["of-ann", "of-bob"]);
    ann.memory().forget(&Forget::Log("ann-sea-l0001".to_owned())).unwrap();
    bob.memory().forget(&Forget::Session("bob-sea-s".to_owned())).unwrap();
    ann.talk().unwrap();
    bob.talk().unwrap();
    ann.talk().unwrap();
    assert_eq!(in_order(&scene), ["ann-sea-l0000", "ann-sea-l0002"]);
    assert_eq!((ann.decisions(), bob.decisions()), (vec!["of-ann".to_owned()], vec!["of-ann".to_owned()]));
    assert_eq!(scene.sql("SELECT count(*) FROM tidegate.document WHERE kind = 'log'"), "2");
    // A forgotten row does not come back from a machine that still has it in its outbox.
    bob.memory().put(&[Record::Log(log("ann-sea-l0001", "bob-sea-t", 50))]).unwrap();
    bob.talk().unwrap();
    assert_eq!(in_order(&scene), ["ann-sea-l0000", "ann-sea-l0002"]);
    // A member forgets the rows of a project that are their own; those of others stay, and a new project of
    // that name is the same one in the team.
    let id = bob.memory().project_by_name("sea").unwrap().unwrap().id;
    bob.memory().forget(&Forget::Project(id)).unwrap();
    bob.memory()
        .put(&[
            Record::Project(ProjectRow { name: "sea".to_owned(), ..project("again") }),
            Record::Topic(topic("new-topic", "again")),
        ])
        .unwrap();
    bob.talk().unwrap();
    assert_eq!(scene.sql("SELECT uid FROM tidegate.topic ORDER BY uid"), "ann-sea-t\nnew-topic");
    assert_eq!(in_order(&scene), ["ann-sea-l0000", "ann-sea-l0002"]);
    assert_eq!(scene.sql("SELECT count(*) FROM tidegate.request"), "0");
    ann.talk().unwrap();
    assert!(ann.topics().contains(&"new-topic".to_owned()) && ann.topics().contains(&"ann-sea-t".to_owned()));
}

#[test]
fn what_was_written_offline_is_delivered_later() {
    let Some(scene) = Scene::shared() else { return };
    let proxy = Proxy::before(scene.cluster.port()).unwrap();
    proxy.set(Way::Cut);
    let mut ann = Machine::sharing(&["sea"], scene.address_by(proxy.port()));
    work(&mut ann.memory(), "ann", "sea", 0..50);
    assert_eq!(ann.talk().unwrap_err().kind, ErrorKind::Offline);
    let failure = ann.standing().failure.unwrap();
    assert_eq!((failure.times, failure.next.since(ann.now())), (1, 30_000));
    let (hits, note) = ann.found("\"log ann-sea-l0007\"");
    assert_eq!(hits, ["ann-sea-l0007"]);
    assert!(
        note.as_deref()
            .is_some_and(|note| note.starts_with("team store unreachable: only this machine's memory")),
        "{note:?}"
    );
    assert_eq!(
        team::exchange_if_due(&mut ann.memory(), &ann.address, false).unwrap(),
        None,
        "not before its time"
    );
    assert_eq!(ann.pending(), 53);
    proxy.set(Way::Open);
    ann.now += 1;
    let told = team::exchange_if_due(&mut ann.memory(), &ann.address, false).unwrap().unwrap();
    assert_eq!((told.delivered, ann.pending()), (53, 0));
    assert_eq!(in_order(&scene), logs_of("ann", "sea", 0..50));
    assert_eq!((ann.standing().failure, ann.standing().succeeded), (None, Some(ann.now())));
}

#[test]
fn a_connection_that_breaks_anywhere_delivers_each_row_once_and_in_order() {
    let Some(scene) = Scene::shared() else { return };
    let proxy = Proxy::before(scene.cluster.port()).unwrap();
    let ann = Machine::sharing(&["sea"], scene.address_by(proxy.port()));
    drop(scene.store());
    let (mut cuts, mut written) = (0, 0);
    // From the login to the last commit, a little further each time.
    for bytes in (100..40_000).step_by(1_900) {
        work(&mut ann.memory(), "ann", "sea", written..written + 10);
        written += 10;
        proxy.cut_after(bytes);
        cuts += u32::from(ann.talk().is_err());
    }
    assert!(cuts > 5, "{cuts}");
    proxy.set(Way::Open);
    ann.talk().unwrap();
    assert_eq!(ann.pending(), 0);
    assert_eq!(in_order(&scene), logs_of("ann", "sea", 0..written));
}

#[test]
fn a_server_that_is_stopped_and_started_in_the_middle_gets_everything_once() {
    let Some(cluster) = tidegate_team_server::own_cluster() else { return };
    let scene = Scene::on(&cluster);
    let ann = Machine::sharing(&["sea"], scene.address());
    work(&mut ann.memory(), "ann", "sea", 0..1500);
    let mut written = 1500;
    for how in [Shutdown::Fast, Shutdown::Immediate, Shutdown::Immediate] {
        std::thread::scope(|scope| {
            let delivery = scope.spawn(|| ann.talk());
            // After the first rows and before the last.
            while cluster
                .sql(&scene.database, "SELECT count(*) FROM tidegate.log")
                .is_ok_and(|count| count == "0")
            {}
            cluster.stop(how).unwrap();
            let _ = delivery.join().unwrap();
        });
        work(&mut ann.memory(), "ann", "sea", written..written + 200);
        written += 200;
        assert!(ann.talk().is_err());
        cluster.start_again().unwrap();
    }
    ann.talk().unwrap();
    assert_eq!(ann.pending(), 0);
    assert_eq!(in_order(&scene), logs_of("ann", "sea", 0..written));
}

#[test]
fn a_slow_server_holds_nobody_up() {
    let Some(scene) = Scene::shared() else { return };
    let proxy = Proxy::before(scene.cluster.port()).unwrap();
    let ann = Machine::sharing(&["sea"], scene.address_by(proxy.port()));
    work(&mut ann.memory(), "ann", "sea", 0..5);
    proxy.set(Way::Stalled);
    let (hits, note) = ann.found_within("\"log ann-sea-l0003\"", Patience::SHORT);
    assert_eq!(hits, ["ann-sea-l0003"]);
    assert!(note.is_some_and(|note| note.contains("did not answer within")));
    let brief = Patience {
        connect: Duration::from_millis(200),
        transaction: Duration::from_millis(200),
        whole: None,
    };
    assert_eq!(ann.talk_within(brief).unwrap_err().kind, ErrorKind::Offline);
    assert_eq!(ann.pending(), 8);
    proxy.set(Way::Open);
    ann.talk().unwrap();
    assert_eq!(in_order(&scene), logs_of("ann", "sea", 0..5));
}

#[test]
fn rows_that_refer_to_what_comes_later_in_line_are_delivered_with_it() {
    let Some(scene) = Scene::shared() else { return };
    let ann = Machine::sharing(&["sea"], scene.address());
    work(&mut ann.memory(), "ann", "sea", 0..2);
    // The log is queued before its current topic, and that topic before its parent.
    ann.memory().put(&[Record::Topic(topic("later", "ann-sea"))]).unwrap();
    ann.memory().put(&[Record::Log(LogRow { updated: at(99), ..log("ann-sea-l0000", "later", 1) })]).unwrap();
    ann.memory().put(&[Record::Topic(topic("above", "ann-sea"))]).unwrap();
    let below = TopicRow { parent: Some("above".to_owned()), updated: at(99), ..topic("later", "ann-sea") };
    ann.memory().put(&[Record::Topic(below)]).unwrap();
    assert_eq!(ann.talk().unwrap().waiting, 0);
    assert_eq!(ann.pending(), 0);
    assert_eq!(scene.sql("SELECT topic FROM tidegate.log WHERE uid = 'ann-sea-l0000'"), "later");
    assert_eq!(scene.sql("SELECT parent FROM tidegate.topic WHERE uid = 'later'"), "above");
}

#[test]
fn the_password_is_in_no_file_of_a_machine() {
    let Some(scene) = Scene::shared() else { return };
    let ann = Machine::sharing(&["sea"], scene.owner());
    work(&mut ann.memory(), "ann", "sea", 0..2);
    ann.talk().unwrap();
    let nowhere = Scene { cluster: scene.cluster, database: "nowhere".to_owned() };
    let bob = Machine::sharing(&["sea"], nowhere.owner());
    work(&mut bob.memory(), "bob", "sea", 0..2);
    bob.talk().unwrap_err();
    bob.found("anything");
    for machine in [&ann, &bob] {
        for form in [Cluster::PASSWORD, "p%40ss"] {
            assert_eq!(machine.holding(form), Vec::<std::path::PathBuf>::new());
        }
        assert!(!format!("{:?}", machine.standing()).contains(Cluster::PASSWORD));
    }
    assert_eq!(bob.standing().failure.unwrap().what.matches("does not exist").count(), 1);
    // It is not sent with other rows either.
    let session = SessionRow { ..session("x", "ann-sea") };
    assert!(!format!("{session:?}").contains(Cluster::PASSWORD));
}

#[test]
fn a_row_that_the_server_cannot_take_holds_up_no_other() {
    let Some(scene) = Scene::shared() else { return };
    let ann = Machine::sharing(&["sea"], scene.address());
    work(&mut ann.memory(), "ann", "sea", 0..3);
    ann.talk().unwrap();
    scene.sql("ALTER TABLE tidegate.log ADD CHECK (title <> 'Log ann-sea-l0004')");
    // Also values that a server might reject, but does not.
    let odd =
        LogRow { text: "a\0b \u{1b} 'quoted' \\ \u{10ffff} 設計".to_owned(), ..log("odd", "ann-sea-t", 7) };
    let long = LogRow {
        text: (0..200_000).map(|n| n.to_string()).collect::<Vec<_>>().join(" "),
        ..log("long", "ann-sea-t", 8)
    };
    work(&mut ann.memory(), "ann", "sea", 3..6);
    ann.memory().put(&[Record::Log(odd), Record::Log(long)]).unwrap();
    let told = ann.talk().unwrap();
    assert_eq!((told.waiting, ann.pending()), (1, 1));
    assert!(told.refused.is_some_and(|why| why.contains("log_title_check")));
    assert!(ann.standing().refused.is_some());
    assert_eq!(in_order(&scene).len(), 7);
    assert_eq!(
        scene.store().log("odd").unwrap().unwrap().row.text,
        "a\u{2400}b \u{1b} 'quoted' \\ \u{10ffff} 設計"
    );
    scene.sql("ALTER TABLE tidegate.log DROP CONSTRAINT log_title_check");
    ann.talk().unwrap();
    assert_eq!((ann.pending(), in_order(&scene).len()), (0, 8));
    assert_eq!(ann.standing().refused, None);
}

#[test]
fn forgetting_waits_for_no_row() {
    let Some(scene) = Scene::shared() else { return };
    let ann = Machine::sharing(&["sea"], scene.address());
    work(&mut ann.memory(), "ann", "sea", 0..3);
    ann.talk().unwrap();
    scene.sql("ALTER TABLE tidegate.log ADD CHECK (title <> 'Log ann-sea-l0003')");
    work(&mut ann.memory(), "ann", "sea", 3..4);
    ann.talk().unwrap();
    assert_eq!(ann.pending(), 1);
    ann.memory().forget(&Forget::Log("ann-sea-l0001".to_owned())).unwrap();
    ann.talk().unwrap();
    assert_eq!((ann.pending(), in_order(&scene)), (1, vec!["ann-sea-l0000".into(), "ann-sea-l0002".into()]));
}

#[test]
fn what_the_team_was_told_once_it_is_told_to_forget() {
    let Some(scene) = Scene::shared() else { return };
    let project_of = |machine: &Machine, name: &str| {
        Forget::Project(machine.memory().project_by_name(name).unwrap().unwrap().id)
    };
    let rows = "SELECT count(*) FROM tidegate.topic";
    // No longer shared, then no server: the deletion waits until there is one.
    let mut ann = Machine::sharing(&["sea"], scene.address());
    work(&mut ann.memory(), "ann", "sea", 0..2);
    work(&mut ann.memory(), "ann", "lake", 0..2);
    ann.talk().unwrap();
    ann.share(&[]);
    ann.memory().forget(&Forget::Log("ann-sea-l0001".to_owned())).unwrap();
    ann.talk().unwrap();
    assert_eq!(in_order(&scene), ["ann-sea-l0000"]);
    ann.without_server();
    ann.memory().forget(&project_of(&ann, "sea")).unwrap();
    ann.memory().forget(&Forget::Log("ann-lake-l0000".to_owned())).unwrap();
    ann.talk().unwrap();
    assert_eq!((scene.sql(rows).as_str(), ann.pending()), ("0", 0));
    assert_eq!(
        scene.sql("SELECT count(*) FROM tidegate.forgotten WHERE uid LIKE '%lake%'"),
        "0",
        "never told"
    );
    // Migrated as a whole, never shared.
    let bob = Machine::sharing(&[], scene.address());
    work(&mut bob.memory(), "bob", "sea", 0..2);
    team::migrate(&mut bob.memory(), &bob.address, &mut |_| ()).unwrap();
    assert_eq!(scene.sql(rows), "1");
    bob.memory().forget(&project_of(&bob, "sea")).unwrap();
    bob.talk().unwrap();
    assert_eq!((scene.sql(rows).as_str(), in_order(&scene).len()), ("0", 0));
    // A topic that moved to a project that is not shared.
    let eve = Machine::sharing(&["sea"], scene.address());
    work(&mut eve.memory(), "eve", "sea", 0..2);
    work(&mut eve.memory(), "eve", "private", 0..0);
    eve.talk().unwrap();
    eve.memory()
        .put(&[Record::Topic(TopicRow { updated: at(9), ..topic("eve-sea-t", "eve-private") })])
        .unwrap();
    eve.memory().forget(&project_of(&eve, "private")).unwrap();
    eve.talk().unwrap();
    assert_eq!((scene.sql(rows).as_str(), in_order(&scene).len()), ("0", 0));
}

#[test]
fn topics_nested_the_other_way_round_make_no_circle() {
    // Each pushes before the other pulls, one pulls first, and a circle of three of which a part is there
    // already.
    for way in 0..3 {
        let Some(scene) = Scene::shared() else { return };
        let (ann, bob) =
            (Machine::sharing(&["sea"], scene.address()), Machine::sharing(&["sea"], scene.address()));
        let within = |machine: &Machine, uid: &str, parent: &str, minutes: u64| {
            let old = machine.memory().topic_by_uid(uid).unwrap().unwrap().row;
            let new = TopicRow { parent: Some(parent.to_owned()), updated: at(minutes), ..old };
            machine.memory().put(&[Record::Topic(new)]).unwrap();
        };
        let pull = |machine: &Machine| {
            team::exchange(&mut machine.memory(), &machine.address, Direction::Pull, 9, PATIENT)
        };
        work(&mut ann.memory(), "ann", "sea", 0..0);
        ann.memory()
            .put(&[Record::Topic(topic("t1", "ann-sea")), Record::Topic(topic("t2", "ann-sea"))])
            .unwrap();
        work(&mut bob.memory(), "bob", "sea", 0..0);
        ann.talk().unwrap();
        bob.talk().unwrap();
        if way == 2 {
            within(&bob, "t1", "bob-sea-t", 5);
            bob.talk().unwrap();
            ann.talk().unwrap();
            within(&ann, "bob-sea-t", "t2", 6);
        } else {
            within(&ann, "t1", "t2", 6);
        }
        within(&bob, "t2", "t1", 7);
        ann.talk().unwrap();
        if way > 0 {
            pull(&bob).unwrap();
        }
        for machine in [&bob, &ann, &bob, &ann] {
            machine.talk().unwrap();
        }
        // Each keeps its own hierarchy; the others have that of the owners.
        let eve = Machine::sharing(&["sea"], scene.address());
        work(&mut eve.memory(), "eve", "sea", 0..0);
        eve.talk().unwrap();
        let parents = |machine: &Machine| {
            let topic = |uid| machine.memory().topic_by_uid(uid).unwrap().unwrap().row.parent;
            (topic("t1"), topic("t2"), topic("bob-sea-t"))
        };
        let part_of = |uid: &str| Some(uid.to_owned());
        let (of_ann, of_bob, of_eve) = match way {
            2 => {
                ((None, None, part_of("t2")), (part_of("bob-sea-t"), part_of("t1"), None), (None, None, None))
            }
            _ => ((part_of("t2"), None, None), (None, part_of("t1"), None), (part_of("t2"), None, None)),
        };
        assert_eq!((parents(&ann), parents(&bob), parents(&eve)), (of_ann, of_bob, of_eve), "{way}");
        assert_eq!((ann.pending(), bob.pending()), (0, 0));
    }
}

#[test]
fn a_row_that_two_changed_is_each_ones_own_and_its_owners_for_all_others() {
    let Some(scene) = Scene::shared() else { return };
    let (ann, bob) =
        (Machine::sharing(&["sea"], scene.address()), Machine::sharing(&["sea"], scene.address()));
    work(&mut ann.memory(), "ann", "sea", 0..0);
    work(&mut bob.memory(), "bob", "sea", 0..0);
    work(&mut ann.memory(), "ann", "private", 0..0);
    let said = |who: &str| {
        Record::Decision(DecisionRow {
            text: format!("{who} says"),
            updated: at(9),
            ..decision("d", "ann-sea-t", 5)
        })
    };
    let called = |who: &str| {
        Record::Topic(TopicRow { title: format!("{who}'s"), updated: at(9), ..topic("ann-sea-t", "ann-sea") })
    };
    let in_session = DecisionRow { session: Some("ann-sea-s".to_owned()), ..decision("d", "ann-sea-t", 5) };
    ann.memory().put(&[Record::Decision(in_session)]).unwrap();
    // Its parent here is not shared, and stays here.
    let above = Some("ann-private-t".to_owned());
    let own = TopicRow { parent: above.clone(), ..topic("own", "ann-sea") };
    ann.memory().put(&[Record::Topic(own)]).unwrap();
    ann.talk().unwrap();
    bob.talk().unwrap();
    let Record::Decision(of_ann) = said("ann") else { unreachable!() };
    let of_ann = DecisionRow { session: Some("ann-sea-s".to_owned()), ..of_ann };
    ann.memory().put(&[Record::Decision(of_ann), called("ann")]).unwrap();
    let theirs = bob.memory().topic_by_uid("ann-sea-t").unwrap().unwrap().row.project;
    let Record::Topic(row) = called("bob") else { unreachable!() };
    bob.memory().put(&[said("bob"), Record::Topic(TopicRow { project: theirs, ..row })]).unwrap();
    let eve = Machine::sharing(&["sea"], scene.address());
    work(&mut eve.memory(), "eve", "sea", 0..0);
    eve.talk().unwrap();
    for machine in [&bob, &ann, &bob, &eve] {
        machine.talk().unwrap();
    }
    for (machine, who) in [(&ann, "ann"), (&bob, "bob"), (&eve, "ann")] {
        let mut memory = machine.memory();
        assert_eq!(memory.topic_by_uid("ann-sea-t").unwrap().unwrap().row.title, format!("{who}'s"));
        let decisions = memory.decisions(&Filter::default(), &Page { limit: 9, after: None }).unwrap().rows;
        assert_eq!(decisions[0].row.text, format!("{who} says"));
        assert_eq!(machine.talk().unwrap(), team::Exchanged::default());
    }
    assert_eq!(ann.memory().topic_by_uid("own").unwrap().unwrap().row.parent, above);
    // The session of the decision is still known here.
    assert!(ann.memory().forget(&Forget::Session("ann-sea-s".to_owned())).unwrap().contains(&"d".to_owned()));
}

#[test]
fn another_server_is_told_everything() {
    let (Some(scene), Some(other)) = (Scene::shared(), Scene::shared()) else { return };
    let mut ann = Machine::sharing(&["sea"], scene.address());
    work(&mut ann.memory(), "ann", "sea", 0..3);
    ann.talk().unwrap();
    ann.address = other.address();
    work(&mut ann.memory(), "ann", "sea", 3..5);
    let told = ann.talk().unwrap();
    assert_eq!((told.delivered, told.waiting, ann.pending()), (8, 0, 0));
    assert_eq!(in_order(&other), logs_of("ann", "sea", 0..5));
    // Emptied, at the same address.
    other.sql("DROP SCHEMA tidegate CASCADE");
    assert_eq!(ann.talk().unwrap_err().kind, tidegate_memory::error::ErrorKind::Missing);
    PostgresStore::create(other.owner(), PATIENT).unwrap();
    ann.talk().unwrap();
    assert_eq!((in_order(&other).len(), ann.talk().unwrap().delivered), (5, 0));
}

#[test]
fn what_belongs_to_something_the_team_forgot_is_said_to_stay_here() {
    let Some(scene) = Scene::shared() else { return };
    // Ann is the administrator.
    let (ann, bob) = (Machine::sharing(&["sea"], scene.owner()), Machine::sharing(&["sea"], scene.address()));
    work(&mut ann.memory(), "ann", "sea", 0..1);
    work(&mut bob.memory(), "bob", "sea", 0..1);
    ann.memory().put(&[Record::Topic(topic("empty", "ann-sea"))]).unwrap();
    ann.talk().unwrap();
    bob.talk().unwrap();
    ann.talk().unwrap();
    bob.memory().put(&[Record::Log(log("bob-in-anns", "ann-sea-t", 5))]).unwrap();
    bob.talk().unwrap();
    assert_eq!(bob.topics(), ["ann-sea-t", "bob-sea-t", "empty"]);
    let id = ann.memory().project_by_name("sea").unwrap().unwrap().id;
    ann.memory().forget(&Forget::Project(id)).unwrap();
    ann.talk().unwrap();
    work(&mut bob.memory(), "bob", "sea", 1..3);
    let told = bob.talk().unwrap();
    assert_eq!((told.delivered, told.forgotten, bob.pending()), (0, 2, 0));
    assert_eq!(bob.standing().forgotten, 2);
    // Rows of the other machine are gone here, except for a topic with rows of this machine.
    assert_eq!(bob.topics(), ["ann-sea-t", "bob-sea-t"]);
    let own = bob.memory().logs(&Filter::default(), &Page { limit: 9, after: None }).unwrap().rows;
    assert_eq!(own.len(), 4);
    // A new topic is shared as usual.
    bob.memory().put(&[Record::Topic(topic("anew", "bob-sea"))]).unwrap();
    assert_eq!(bob.talk().unwrap().delivered, 1);
    assert_eq!(scene.sql("SELECT uid FROM tidegate.topic"), "anew");
}

#[test]
fn what_others_wrote_is_bounded_and_redacted() {
    let Some(scene) = Scene::shared() else { return };
    let (ann, bob) =
        (Machine::sharing(&["sea"], scene.address()), Machine::sharing(&["sea"], scene.address()));
    work(&mut ann.memory(), "ann", "sea", 0..1);
    ann.memory().put(&[Record::Decision(decision("d", "ann-sea-t", 5))]).unwrap();
    ann.talk().unwrap();
    let secret = "ghp_016C7c1BBAdaVbw2vcxDLcwPbFRQaT0gG5tQ";
    scene.sql(&format!(
        "UPDATE tidegate.topic SET title = '{secret} ' || repeat('long ', 1000000);
         UPDATE tidegate.decision SET text = '{secret} ' || repeat('long ', 1000000), reason = repeat('long ', 1000000);
         UPDATE tidegate.log SET title = '{secret} ' || repeat('long ', 100), text = '{secret} says ' || repeat('long ', 1000000)"
    ));
    work(&mut bob.memory(), "bob", "sea", 0..0);
    bob.talk().unwrap();
    let topic = bob.memory().topic_by_uid("ann-sea-t").unwrap().unwrap().row.title;
    let page = Page { limit: 9, after: None };
    let decision = bob.memory().decisions(&Filter::default(), &page).unwrap().rows.remove(0).row;
    let log =
        team::find_log(&mut bob.memory(), Some(&bob.address), "ann-sea-l0000", PATIENT).unwrap().unwrap().row;
    for (text, most) in [
        (&topic, act::LONGEST_TITLE),
        (&log.title, act::LONGEST_TITLE),
        (&decision.text, act::LONGEST_TEXT),
        (&decision.reason, act::LONGEST_TEXT),
        (&log.text, act::LONGEST_TEXT),
    ] {
        assert!(text.chars().count() <= most && text.contains("long long"), "{}", text.len());
        assert!(!text.contains(secret));
    }
    assert_eq!(bob.holding(secret), Vec::<std::path::PathBuf>::new());
    let found = team::search_with_team(
        &mut bob.memory(),
        Some(&bob.address),
        &Query { text: "says".to_owned(), limit: 9, ..Query::default() },
        PATIENT,
    );
    assert!(!format!("{found:?}").contains(secret) && format!("{found:?}").contains("ann-sea-l0000"));
}

#[test]
fn where_things_are_on_a_machine_is_nobodys_business() {
    let Some(scene) = Scene::shared() else { return };
    let full = |machine: &str| LogRow {
        session: Some(format!("{machine}-sea-s")),
        files: ["/home/me/MACHINE-sea/src/a.rs", "/home/me/.netrc", "/home/me/MACHINE-sea/../b", "docs/c.md"]
            .map(|path| path.replace("MACHINE", machine))
            .into(),
        tools: [
            ("Bash", 3),
            ("mcp__payroll__query", 1),
            ("mcp__wiki__read", 4),
            ("mcp__tidegate__search", 2),
            ("mcp__plugin_tidegate_tidegate__add_log", 1),
        ]
        .map(|(name, times)| (name.to_owned(), times))
        .into(),
        ..log(&format!("{machine}-full"), &format!("{machine}-sea-t"), 5)
    };
    let ann = Machine::sharing(&["sea"], scene.address());
    work(&mut ann.memory(), "ann", "sea", 0..0);
    ann.memory().put(&[Record::Log(full("ann"))]).unwrap();
    ann.talk().unwrap();
    let bob = Machine::sharing(&[], scene.address());
    work(&mut bob.memory(), "bob", "sea", 0..0);
    bob.memory().put(&[Record::Log(full("bob"))]).unwrap();
    team::migrate(&mut bob.memory(), &bob.address, &mut |_| ()).unwrap();
    for machine in ["ann", "bob"] {
        let there = scene.store().log(&format!("{machine}-full")).unwrap().unwrap().row;
        assert_eq!(there.files, ["src/a.rs", "docs/c.md"]);
        let tools: Vec<(&str, u32)> =
            there.tools.iter().map(|(name, times)| (name.as_str(), *times)).collect();
        let ours = [("mcp__plugin_tidegate_tidegate__add_log", 1), ("mcp__tidegate__search", 2)];
        assert_eq!(tools, [("Bash", 3), ("mcp", 5), ours[0], ours[1]]);
    }
    let all = ["project", "topic", "session", "log", "document"]
        .map(|table| scene.sql(&format!("SELECT to_jsonb(r) FROM tidegate.{table} r")))
        .concat();
    assert!(!all.contains("/home/me") && !all.contains("payroll"), "{all}");
}
