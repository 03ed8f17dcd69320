//! Laws about forgetting.

use tidegate_memory::error::ErrorKind;
use tidegate_memory::record::{DecisionRow, LogRow, ProjectRow, Record, SessionRow, TopicRow};
use tidegate_memory::store::Put;
use tidegate_memory::view::{Filter, Forget};

use super::{Stores, all, decisions, everything, export, filled, found, id_of_project, logs, topics};
use crate::rows::{at, decision, log, project, session, topic};

pub(crate) fn a_log_is_forgotten(stores: &mut impl Stores) {
    let mut store = filled(stores);
    assert_eq!(store.forget(&Forget::Log("l1".to_owned())).unwrap(), ["l1"]);
    assert_eq!(store.log("l1").unwrap(), None);
    assert_eq!(found(&mut *store, "CRLF"), Vec::<String>::new());
    assert_eq!(store.topic_by_uid("t1").unwrap().unwrap().logs, 2);
    let again = LogRow { updated: at(999), ..log("l1", "t1", 10) };
    assert_eq!(store.put(&[Record::Log(again)]).unwrap(), [Put::Forgotten]);
    assert_eq!(store.log("l1").unwrap(), None);
    assert_eq!(store.forget(&Forget::Log("l1".to_owned())).unwrap_err().kind, ErrorKind::Missing);
    assert_eq!(logs(&mut *store, &Filter::default()).len(), 7, "and nothing else");
}

pub(crate) fn a_session_is_forgotten(stores: &mut impl Stores) {
    let mut store = filled(stores);
    let mut gone = store.forget(&Forget::Session("s1".to_owned())).unwrap();
    gone.sort();
    assert_eq!(gone, ["d2", "l1", "l2", "l7", "s1", "t3"]);
    assert_eq!(
        decisions(&mut *store, &Filter::default()),
        ["d5", "d4", "d1"],
        "what it took the place of stands"
    );
    assert_eq!(topics(&mut *store, &all()).len(), 3);
    let puts = store
        .put(&[
            Record::Session(SessionRow { updated: at(900), ..session("s1", "p1") }),
            Record::Log(LogRow { session: Some("s1".to_owned()), ..log("new", "t1", 900) }),
            Record::Decision(DecisionRow { session: Some("s1".to_owned()), ..decision("new", "t1", 900) }),
            Record::Log(log("other", "t3", 900)),
        ])
        .unwrap();
    assert_eq!(puts, [Put::Forgotten; 4], "what belongs to it is forgotten with it");
    assert_eq!(store.forget(&Forget::Session("s1".to_owned())).unwrap_err().kind, ErrorKind::Missing);
}

pub(crate) fn a_project_is_forgotten(stores: &mut impl Stores) {
    let mut store = filled(stores);
    let p2 = id_of_project(&mut *store, "p2");
    let mut gone = store.forget(&Forget::Project(p2)).unwrap();
    gone.sort();
    assert_eq!(gone, ["d4", "d5", "l4", "l8", "p2", "s2", "t4"]);
    assert_eq!(store.project(p2).unwrap(), None);
    assert_eq!(
        store.log("l5").unwrap().unwrap().row.session,
        None,
        "another project's, recorded in its session"
    );
    assert_eq!(store.put(&[Record::Project(project("p2"))]).unwrap(), [Put::Forgotten]);
    assert_eq!(
        store.put(&[Record::Topic(TopicRow { updated: at(900), ..topic("new", "p2") })]).unwrap(),
        [Put::Forgotten]
    );
    let rows = export(&mut *store);
    assert!(rows.iter().all(|row| !gone.contains(&row.uid().to_owned())));
    let again =
        ProjectRow { key: Some("/home/me/p2/.git".to_owned()), name: "p2".to_owned(), ..project("p2-again") };
    assert_eq!(store.put(&[Record::Project(again)]).unwrap(), [Put::New], "the folder may begin anew");
    assert_eq!(store.forget(&Forget::Project(p2)).unwrap_err().kind, ErrorKind::Missing);
}

/// Nothing of a session that was forgotten before it was stored is stored later, not even its title.
pub(crate) fn a_forgotten_session_leaves_no_topic(stores: &mut impl Stores) {
    let mut store = filled(stores);
    store.forget(&Forget::Session("s1".to_owned())).unwrap();
    let rows = [
        Record::Topic(TopicRow { automatic: Some("s1".to_owned()), ..topic("never seen", "p1") }),
        Record::Session(session("s1", "p1")),
        Record::Log(LogRow { session: Some("s1".to_owned()), ..log("l9", "never seen", 80) }),
    ];
    assert_eq!(store.put(&rows).unwrap(), [Put::Forgotten; 3]);
    assert_eq!(found(&mut *store, "seen"), Vec::<String>::new());
}

/// A forgotten log takes along the title that it gave to the automatic topic of its session.
pub(crate) fn a_topic_called_by_a_forgotten_log(stores: &mut impl Stores) {
    let mut store = filled(stores);
    let own = TopicRow {
        automatic: Some("s1".to_owned()),
        title: "Zebras (main)".to_owned(),
        created: at(80),
        updated: at(80),
        ..topic("own", "p1")
    };
    let first = LogRow { session: Some("s1".to_owned()), title: "Zebras".to_owned(), ..log("l9", "own", 80) };
    store.put(&[Record::Topic(own.clone()), Record::Log(first)]).unwrap();
    assert_eq!(store.forget(&Forget::Log("l9".to_owned())).unwrap(), ["l9"]);
    assert_eq!(found(&mut *store, "zebra"), Vec::<String>::new());
    let left = store.topic_by_uid("own").unwrap().unwrap();
    assert_eq!((left.row.title.as_str(), left.logs), ("session of 2026-09-21", 0));
    assert_eq!(store.put(&[Record::Topic(own)]).unwrap(), [Put::Kept], "an older version");
}

pub(crate) fn topics_and_decisions_are_forgotten(stores: &mut impl Stores) {
    let mut store = filled(stores);
    let superseding = store.decisions(&all(), &everything()).unwrap().rows;
    let d2 = superseding.iter().find(|one| one.row.uid == "d2").unwrap().id;
    assert_eq!(store.forget(&Forget::Decision(d2)).unwrap(), ["d2"]);
    assert_eq!(store.decision(d2).unwrap(), None);
    let t1 = store.topic_by_uid("t1").unwrap().unwrap();
    assert_eq!(t1.decisions, 1, "what it took the place of stands again");
    let mut gone = store.forget(&Forget::Topic(t1.id)).unwrap();
    gone.sort();
    assert_eq!(gone, ["d1", "l1", "l3", "l5", "t1"]);
    assert_eq!(store.topic_by_uid("t2").unwrap().unwrap().part_of, None);
    assert_eq!(found(&mut *store, "CRLF"), Vec::<String>::new());
    assert_eq!(store.put(&[Record::Topic(topic("t1", "p1"))]).unwrap(), [Put::Forgotten]);
    for missing in [Forget::Topic(t1.id), Forget::Decision(d2)] {
        assert_eq!(store.forget(&missing).unwrap_err().kind, ErrorKind::Missing);
    }
}
