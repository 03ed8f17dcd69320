//! Laws about storing, numbering and listing.

use tidegate_core::time::Millis;
use tidegate_memory::error::ErrorKind;
use tidegate_memory::record::{DecisionRow, LogRow, LogSummary, ProjectRow, Record, TopicRow, TopicStatus};
use tidegate_memory::store::{Put, Store};
use tidegate_memory::view::{Filter, Forget, Page, Paged, Query};

use super::{
    Stores, all, decisions, everything, export, filled, found, id_of_project, id_of_topic, logs, topics,
    without_ids,
};
use crate::rows::{at, decision, log, project, session, topic, world};

pub(crate) fn putting_twice_changes_nothing(stores: &mut impl Stores) {
    let mut store = stores.empty();
    assert_eq!(store.put(&[]).unwrap(), []);
    assert_eq!(store.put(&world()).unwrap(), vec![Put::New; world().len()]);
    let before = export(&mut *store);
    assert_eq!(store.put(&world()).unwrap(), vec![Put::Kept; world().len()]);
    assert_eq!(export(&mut *store), before);
    let counted = store.topic_by_uid("t1").unwrap().unwrap();
    assert_eq!((counted.logs, counted.decisions), (3, 1));
}

pub(crate) fn the_newer_version_stands(stores: &mut impl Stores) {
    let mut store = filled(stores);
    let later = |record: &Record, by: u64| -> Record {
        let mut record = record.clone();
        let (name, updated) = match &mut record {
            Record::Project(row) => (&mut row.name, &mut row.updated),
            Record::Topic(row) => (&mut row.title, &mut row.updated),
            Record::Session(row) => (&mut row.root, &mut row.updated),
            Record::Log(row) => (&mut row.text, &mut row.updated),
            Record::Decision(row) => (&mut row.text, &mut row.updated),
        };
        *name = format!("version {by}");
        updated.0 += by;
        record
    };
    let newer: Vec<Record> = world().iter().map(|record| later(record, 5)).collect();
    let older: Vec<Record> = world().iter().map(|record| later(record, 3)).collect();
    assert_eq!(store.put(&newer).unwrap(), vec![Put::Changed; newer.len()]);
    assert_eq!(store.put(&older).unwrap(), vec![Put::Kept; newer.len()]);
    assert_eq!(without_ids(export(&mut *store)), without_ids(newer));
}

pub(crate) fn what_is_put_is_read(stores: &mut impl Stores) {
    let mut store = filled(stores);
    let rows = without_ids(world());
    assert_eq!(without_ids(export(&mut *store)), rows);

    let found = store.project_by_key("/home/me/p1/.git").unwrap().unwrap();
    assert_eq!((found.row.uid.as_str(), found.topics, found.logs, found.decisions), ("p1", 2, 6, 1));
    assert_eq!(store.project(found.id).unwrap().unwrap(), found);
    assert_eq!(store.project_by_name("p1").unwrap().unwrap(), found);
    assert_eq!(store.project_by_key("/nowhere").unwrap(), None);
    assert_eq!(store.project(987).unwrap(), None);

    let topic = store.topic_by_uid("t2").unwrap().unwrap();
    assert_eq!(topic.in_project.name, "p1");
    assert_eq!(topic.part_of.as_ref().map(|whole| whole.name.as_str()), Some("Topic t1"));
    assert_eq!((topic.logs, topic.decisions, topic.recorded, topic.active), (2, 0, Some(at(35)), at(60)));
    assert_eq!(store.topic(topic.id).unwrap().unwrap(), topic);
    assert_eq!(store.topic_by_uid("t1").unwrap().unwrap().recorded, Some(at(30)), "a log by hand");
    assert_eq!(store.topic_by_uid("t3").unwrap().unwrap().recorded, None);

    let log = store.log("l1").unwrap().unwrap();
    assert_eq!((log.in_topic.name.as_str(), log.in_project.name.as_str()), ("Topic t1", "p1"));
    assert_eq!(log.row.summary.by, "haiku");
    let old = store
        .decisions(&all(), &everything())
        .unwrap()
        .rows
        .into_iter()
        .find(|one| one.row.uid == "d1")
        .unwrap();
    let new = store.decision(old.superseded_by.unwrap()).unwrap().unwrap();
    assert_eq!(
        (new.row.uid.as_str(), new.superseded_by, new.in_topic.name.as_str()),
        ("d2", None, "Topic t1")
    );
}

pub(crate) fn what_is_referred_to_has_to_be_there(stores: &mut impl Stores) {
    let nowhere = || Some("nowhere".to_owned());
    for wrong in [
        Record::Topic(topic("x", "nowhere")),
        Record::Topic(TopicRow { parent: nowhere(), ..topic("x", "p") }),
        Record::Session(session("x", "nowhere")),
        Record::Log(log("x", "nowhere", 1)),
        Record::Log(LogRow { session: nowhere(), ..log("x", "t", 1) }),
        Record::Decision(decision("x", "nowhere", 1)),
        Record::Decision(DecisionRow { supersedes: nowhere(), ..decision("x", "t", 1) }),
        Record::Decision(DecisionRow { session: nowhere(), ..decision("x", "t", 1) }),
    ] {
        let mut store = stores.empty();
        let records = [Record::Project(project("p")), Record::Topic(topic("t", "p")), wrong];
        let error = store.put(&records).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Missing, "{records:?}: {error}");
        assert_eq!(export(&mut *store), [], "all or nothing");
    }
}

pub(crate) fn numbers_are_kept_where_they_are_free(stores: &mut impl Stores) {
    let mut store = filled(stores);
    assert_eq!(id_of_project(&mut *store, "p1"), 7);
    assert_eq!(id_of_topic(&mut *store, "t1"), 40);
    assert_eq!(store.decision(12).unwrap().unwrap().row.uid, "d5");
    let again = [
        Record::Project(ProjectRow { id: Some(7), ..project("p3") }),
        Record::Topic(TopicRow { id: Some(40), ..topic("t5", "p3") }),
        Record::Decision(DecisionRow { id: Some(12), ..decision("d6", "t5", 1) }),
        Record::Topic(TopicRow { id: Some(-3), ..topic("t6", "p3") }),
        Record::Topic(TopicRow { id: Some(0), ..topic("t7", "p3") }),
    ];
    store.put(&again).unwrap();
    let ids =
        [id_of_topic(&mut *store, "t5"), id_of_topic(&mut *store, "t6"), id_of_topic(&mut *store, "t7")];
    assert!(ids.iter().all(|id| *id > 0 && *id != 40), "{ids:?}");
    assert_eq!(store.decision(12).unwrap().unwrap().row.uid, "d5");
    assert_ne!(id_of_project(&mut *store, "p3"), 7);
}

/// Reads a list in pages of this size.
fn paged<T>(mut next: impl FnMut(&Page) -> Paged<T>, limit: usize) -> Vec<T> {
    let mut rows = Vec::new();
    let mut after = None;
    loop {
        let page = next(&Page { limit, after });
        assert!(page.rows.len() <= limit);
        rows.extend(page.rows);
        match page.next {
            None => return rows,
            Some(place) => after = Some(place),
        }
        assert!(rows.len() < 1000, "the same page again");
    }
}

pub(crate) fn pages_are_complete_and_in_order(stores: &mut impl Stores) {
    let mut store = filled(stores);
    let same_time: Vec<Record> = (0..7).map(|n| Record::Log(log(&format!("same{n}"), "t1", 65))).collect();
    store.put(&same_time).unwrap();
    let newest = logs(&mut *store, &Filter::default());
    assert_eq!(newest.len(), 15);
    assert_eq!(store.logs(&Filter::default(), &everything()).unwrap().next, None);
    let times: Vec<Millis> = store
        .logs(&Filter::default(), &everything())
        .unwrap()
        .rows
        .into_iter()
        .map(|log| log.row.at)
        .collect();
    assert!(times.is_sorted_by(|one, next| one >= next), "{times:?}");
    assert_eq!(decisions(&mut *store, &all()), ["d5", "d4", "d3", "d2", "d1"]);
    let by_activity = topics(&mut *store, &all());
    assert_eq!(by_activity.len(), 4);
    for limit in 1..=5 {
        let read = paged(|page| store.logs(&Filter::default(), page).unwrap(), limit);
        assert_eq!(read.into_iter().map(|log| log.row.uid).collect::<Vec<_>>(), newest);
        let read = paged(|page| store.topics(&all(), page).unwrap(), limit);
        assert_eq!(read.into_iter().map(|topic| topic.row.uid).collect::<Vec<_>>(), by_activity);
        let read = paged(|page| store.decisions(&all(), page).unwrap(), limit);
        assert_eq!(read.len(), 5);
        let read = paged(|page| store.projects(page).unwrap(), limit);
        assert_eq!(read.into_iter().map(|project| project.row.uid).collect::<Vec<_>>(), ["p2", "p1"]);
    }
    for place in ["nonsense", "-", "1-x"] {
        let page = Page { limit: 3, after: Some(place.to_owned()) };
        assert_eq!(store.topics(&all(), &page).unwrap_err().kind, ErrorKind::Refused, "{place}");
    }
}

pub(crate) fn filters_leave_what_fits(stores: &mut impl Stores) {
    let mut store = filled(stores);
    let (p1, p2) = (id_of_project(&mut *store, "p1"), id_of_project(&mut *store, "p2"));
    let (t1, t4) = (id_of_topic(&mut *store, "t1"), id_of_topic(&mut *store, "t4"));
    let of = Filter::default;
    let s1 = || Some("s1".to_owned());
    for (filter, expected) in [
        (Filter { project: Some(p1), ..of() }, vec!["l7", "l6", "l5", "l3", "l2", "l1"]),
        (Filter { project: Some(p2), ..of() }, vec!["l8", "l4"]),
        (Filter { topic: Some(t1), ..of() }, vec!["l5", "l3", "l1"]),
        (Filter { session: s1(), ..of() }, vec!["l7", "l2", "l1"]),
        (Filter { session: s1(), topic: Some(t1), ..of() }, vec!["l1"]),
        (Filter { since: Some(at(60)), project: Some(p1), ..of() }, vec!["l7", "l6"]),
        (Filter { until: Some(at(20)), ..of() }, vec!["l1"]),
        (Filter { since: Some(at(20)), until: Some(at(40)), ..of() }, vec!["l3", "l2"]),
        (Filter { since: Some(at(40)), until: Some(at(20)), ..of() }, vec![]),
        (Filter { project: Some(999), ..of() }, vec![]),
        (Filter { session: Some("nobody".to_owned()), ..of() }, vec![]),
    ] {
        assert_eq!(logs(&mut *store, &filter), expected, "{filter:?}");
    }
    for (filter, expected) in [
        (of(), vec!["t4", "t2", "t1"]),
        (all(), vec!["t4", "t3", "t2", "t1"]),
        (Filter { open: Some(true), ..of() }, vec!["t2", "t1"]),
        (Filter { open: Some(false), ..of() }, vec!["t4"]),
        (Filter { project: Some(p1), ..of() }, vec!["t2", "t1"]),
        (Filter { session: Some("s2".to_owned()), ..of() }, vec!["t4", "t1"]),
        (Filter { since: Some(at(60)), ..of() }, vec!["t4", "t2"]),
    ] {
        let mut found = topics(&mut *store, &filter);
        let mut expected: Vec<String> = expected.into_iter().map(str::to_owned).collect();
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "{filter:?}");
    }
    for (filter, expected) in [
        (of(), vec!["d5", "d4", "d2"]),
        (Filter { topic: Some(t4), ..of() }, vec!["d5", "d4"]),
        (Filter { project: Some(p1), ..all() }, vec!["d3", "d2", "d1"]),
        (Filter { session: s1(), ..all() }, vec!["d2"]),
        (Filter { since: Some(at(45)), ..of() }, vec!["d5", "d4"]),
        (Filter { until: Some(at(45)), ..of() }, vec!["d2"]),
        (Filter { open: Some(true), ..of() }, vec!["d2"]),
    ] {
        assert_eq!(decisions(&mut *store, &filter), expected, "{filter:?}");
    }
}

fn undecided(store: &mut dyn Store) -> Vec<String> {
    store.undecided_topics(None, 10).unwrap().into_iter().map(|topic| topic.row.uid).collect()
}

pub(crate) fn what_is_undecided(stores: &mut impl Stores) {
    let mut store = filled(stores);
    // t1 has a decision, t3 is automatic, t4 is closed; the decision of t2 was retracted.
    assert_eq!(undecided(&mut *store), ["t2"]);
    store.put(&[Record::Topic(topic("t9", "p2")), Record::Log(log("l9", "t9", 500))]).unwrap();
    assert_eq!(undecided(&mut *store), ["t9", "t2"], "the last active one first");
    assert_eq!(store.undecided_topics(None, 1).unwrap().len(), 1);
    assert_eq!(store.undecided_topics(None, 0).unwrap().len(), 0);
    let p1 = id_of_project(&mut *store, "p1");
    let of_one: Vec<String> =
        store.undecided_topics(Some(p1), 10).unwrap().into_iter().map(|topic| topic.row.uid).collect();
    assert_eq!(of_one, ["t2"]);
    store.put(&[Record::Decision(decision("d9", "t9", 501))]).unwrap();
    assert_eq!(undecided(&mut *store), ["t2"]);
    let taken_back = DecisionRow { retracted: Some(at(502)), updated: at(502), ..decision("d9", "t9", 501) };
    store.put(&[Record::Decision(taken_back)]).unwrap();
    assert_eq!(undecided(&mut *store), ["t9", "t2"]);
    let closed = TopicRow { status: TopicStatus::Closed, updated: at(503), ..topic("t9", "p2") };
    store.put(&[Record::Topic(closed)]).unwrap();
    assert_eq!(undecided(&mut *store), ["t2"]);
}

pub(crate) fn offers_are_counted_by_session(stores: &mut impl Stores) {
    let mut store = filled(stores);
    let t2 = id_of_topic(&mut *store, "t2");
    for n in 0..5 {
        assert_eq!(undecided(&mut *store), ["t2"], "offered {n} times");
        for _ in 0..3 {
            store.note_offers(&format!("session{n}"), &[t2, 9999], at(100 + n)).unwrap();
        }
        assert_eq!(store.topic(t2).unwrap().unwrap().row.offered, n as u32 + 1);
    }
    assert!(undecided(&mut *store).is_empty(), "left alone five times");
    store.put(&[Record::Log(log("before", "t2", 90))]).unwrap();
    assert!(undecided(&mut *store).is_empty(), "that was before it was offered");
    store.put(&[Record::Log(log("after", "t2", 200))]).unwrap();
    assert_eq!(undecided(&mut *store), ["t2"], "something happened to it");
    store.note_offers("session0", &[t2], at(201)).unwrap();
    assert_eq!(store.topic(t2).unwrap().unwrap().row.offered, 1, "counted anew");
}

pub(crate) fn decisions_stand_until_they_do_not(stores: &mut impl Stores) {
    let mut store = filled(stores);
    let count = |store: &mut dyn Store, uid: &str| store.topic_by_uid(uid).unwrap().unwrap().decisions;
    assert_eq!((count(&mut *store, "t1"), count(&mut *store, "t4")), (1, 2));
    // From another topic, as a chain, and back again.
    let newest = DecisionRow { supersedes: Some("d2".to_owned()), ..decision("d7", "t4", 80) };
    store.put(&[Record::Decision(newest.clone())]).unwrap();
    assert_eq!((count(&mut *store, "t1"), count(&mut *store, "t4")), (0, 3));
    assert_eq!(decisions(&mut *store, &Filter::default()), ["d7", "d5", "d4"]);
    let taken_back = DecisionRow { retracted: Some(at(81)), updated: at(81), ..newest };
    store.put(&[Record::Decision(taken_back)]).unwrap();
    assert_eq!((count(&mut *store, "t1"), count(&mut *store, "t4")), (1, 2));
    assert_eq!(decisions(&mut *store, &Filter::default()), ["d5", "d4", "d2"]);
    let circle =
        DecisionRow { supersedes: Some("d2".to_owned()), updated: at(82), ..decision("d1", "t1", 15) };
    assert_eq!(store.put(&[Record::Decision(circle)]).unwrap_err().kind, ErrorKind::Refused);
}

pub(crate) fn topics_move_and_are_never_parts_of_themselves(stores: &mut impl Stores) {
    let mut store = filled(stores);
    let (p1, p2) = (id_of_project(&mut *store, "p1"), id_of_project(&mut *store, "p2"));
    let circle = TopicRow { parent: Some("t2".to_owned()), updated: at(1), ..topic("t1", "p1") };
    assert_eq!(store.put(&[Record::Topic(circle)]).unwrap_err().kind, ErrorKind::Refused);
    store.put(&[Record::Topic(TopicRow { updated: at(2), ..topic("t2", "p2") })]).unwrap();
    let moved = store.topic_by_uid("t2").unwrap().unwrap();
    assert_eq!((moved.in_project.id, moved.part_of, moved.logs), (p2, None, 2));
    let in_project = |project| Filter { project: Some(project), ..Filter::default() };
    assert!(logs(&mut *store, &in_project(p2)).contains(&"l2".to_owned()));
    let search = |store: &mut dyn Store, project| {
        let query =
            Query { text: "設計".to_owned(), filter: in_project(project), limit: 9, ..Query::default() };
        store.search(&query).unwrap().hits.into_iter().map(|hit| (hit.uid, hit.project)).collect::<Vec<_>>()
    };
    assert_eq!(search(&mut *store, p2), [("l2".to_owned(), Some("p2".to_owned()))]);
    assert_eq!(search(&mut *store, p1), []);
}

pub(crate) fn a_log_is_found_by_the_beginning_of_its_uid(stores: &mut impl Stores) {
    let mut store = filled(stores);
    let uids = ["3f9a-1", "3f9b-1", "3f9b-2"];
    store.put(&uids.map(|uid| Record::Log(log(uid, "t1", 5)))).unwrap();
    let found = |store: &mut dyn Store, uid: &str| store.log(uid).map(|log| log.map(|log| log.row.uid));
    assert_eq!(found(&mut *store, "3f9a"), Ok(Some("3f9a-1".to_owned())));
    assert_eq!(found(&mut *store, "3f9b-2"), Ok(Some("3f9b-2".to_owned())));
    assert_eq!(found(&mut *store, "3f9b").unwrap_err().kind, ErrorKind::Refused);
    for none in ["", "zz", "%", "3f9_", "3F9A"] {
        assert_eq!(found(&mut *store, none), Ok(None), "{none}");
    }
}

pub(crate) fn every_row_goes_into_another_store(stores: &mut impl Stores) {
    let mut store = filled(stores);
    // A reference to a row with a higher id.
    let child = TopicRow { parent: Some("t9".to_owned()), updated: at(600), ..topic("t1", "p1") };
    let newer =
        DecisionRow { supersedes: Some("d9".to_owned()), updated: at(600), ..decision("d4", "t4", 45) };
    store.put(&[Record::Topic(topic("t9", "p1")), Record::Topic(child)]).unwrap();
    store.put(&[Record::Decision(decision("d9", "t9", 500)), Record::Decision(newer)]).unwrap();
    let rows = export(&mut *store);
    let mut other = stores.empty();
    assert_eq!(other.put(&rows).unwrap(), vec![Put::New; rows.len()]);
    assert_eq!(export(&mut *other), rows, "to the last member, ids included");
    let lines: Vec<String> = rows.iter().map(|row| serde_json::to_string(row).unwrap()).collect();
    let read: Vec<Record> = lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(read, rows);
    for uid in ["t1", "t2", "t3", "t4", "t9"] {
        assert_eq!(store.topic_by_uid(uid).unwrap(), other.topic_by_uid(uid).unwrap(), "{uid}");
    }
    assert_eq!(store.projects(&everything()).unwrap(), other.projects(&everything()).unwrap());
    assert_eq!(found(&mut *store, "設計"), found(&mut *other, "設計"));
}

pub(crate) fn what_is_to_be_summed_up_is_listed(stores: &mut impl Stores) {
    let mut store = filled(stores);
    let summed = |again: bool| LogSummary { by: "local".to_owned(), again };
    let waits = |store: &mut dyn Store, limit| store.logs_to_summarise(limit).unwrap();
    assert_eq!(waits(&mut *store, 10), ["l1"]);
    for (uid, minutes) in [("m1", 80), ("m3", 100), ("m2", 90)] {
        store.put(&[Record::Log(LogRow { summary: summed(true), ..log(uid, "t1", minutes) })]).unwrap();
    }
    assert_eq!(waits(&mut *store, 10), ["m3", "m2", "m1", "l1"], "newest first");
    assert_eq!(waits(&mut *store, 2), ["m3", "m2"]);
    let settled = LogRow { summary: summed(false), updated: at(999), ..log("m2", "t1", 90) };
    store.put(&[Record::Log(settled)]).unwrap();
    assert_eq!(waits(&mut *store, 10), ["m3", "m1", "l1"]);
}

/// Two processes that meet a folder at the same time create one project, which gets the rows of both.
pub(crate) fn one_folder_is_one_project(stores: &mut impl Stores) {
    let mut store = filled(stores);
    let same = ProjectRow { uid: "p1-again".to_owned(), ..project("p1") };
    let rows = [
        Record::Project(same.clone()),
        Record::Topic(topic("t9", "p1-again")),
        Record::Session(session("s9", "p1-again")),
        Record::Log(LogRow { session: Some("s9".to_owned()), ..log("l9", "t9", 80) }),
    ];
    assert_eq!(store.put(&rows).unwrap(), [Put::Kept, Put::New, Put::New, Put::New]);
    let named: Vec<String> =
        store.projects(&everything()).unwrap().rows.into_iter().map(|project| project.row.uid).collect();
    assert_eq!(named, ["p1", "p2"]);
    let found = store.topic_by_uid("t9").unwrap().unwrap();
    assert_eq!(found.row.project, "p1");
    // Also rows that come later and alone.
    assert_eq!(store.put(&[Record::Topic(topic("t10", "p1-again"))]).unwrap(), [Put::New]);
    // Under another name the same folder is another project, which has no folder here.
    let other = ProjectRow { name: "other".to_owned(), uid: "p3".to_owned(), ..project("p1") };
    assert_eq!(store.put(&[Record::Project(other)]).unwrap(), [Put::New]);
    let folder = store.project_by_key("/home/me/p1/.git").unwrap().unwrap();
    assert_eq!(folder.row.uid, "p1");
    store.forget(&Forget::Project(folder.id)).unwrap();
    assert_eq!(store.put(&[Record::Topic(topic("t11", "p1-again"))]).unwrap(), [Put::Forgotten]);
    assert_eq!(store.put(&[Record::Project(same)]).unwrap(), [Put::Forgotten]);
}
