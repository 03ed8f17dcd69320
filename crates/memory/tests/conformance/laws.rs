//! What every store has to keep. Each law takes a maker of empty stores.

use std::cell::{Cell, RefCell};

use proptest::prelude::*;
use tidegate_core::time::Millis;
use tidegate_memory::error::ErrorKind;
use tidegate_memory::record::{Decision, Log, Project, Record, Session, Source, Status, Summary, Topic};
use tidegate_memory::store::{Put, Store};
use tidegate_memory::text::Question;
use tidegate_memory::view::{Filter, Forget, Kind, Page, Paged, Query};

use crate::rows::{at, decision, log, project, session, topic, world};

/// Where empty stores come from.
pub(crate) trait Stores: Sized {
    /// `None` where there can be none on this machine.
    fn ready() -> Option<Self>;
    /// A store without anything in it.
    fn empty(&mut self) -> Box<dyn Store>;
}

/// One test for each law.
macro_rules! laws {
    ($stores:ty) => {
        $crate::laws::laws! { $stores:
            putting_twice_changes_nothing
            the_newer_version_stands
            what_is_put_is_read
            what_is_referred_to_has_to_be_there
            numbers_are_kept_where_they_are_free
            pages_are_complete_and_in_order
            filters_leave_what_fits
            what_is_undecided
            offers_are_counted_by_session
            decisions_stand_until_they_do_not
            topics_move_and_are_never_parts_of_themselves
            a_log_is_found_by_the_beginning_of_its_uid
            every_row_goes_into_another_store
            what_is_to_be_summed_up_is_listed
            a_log_is_forgotten
            a_session_is_forgotten
            a_project_is_forgotten
            words_are_found
            questions_of_any_kind_are_answered
            what_fits_better_comes_first
            filters_hold_for_a_search
            what_changed_is_found_by_what_it_is_now
            any_word_of_a_text_finds_it
            a_forgotten_session_leaves_no_topic
            a_topic_called_by_a_forgotten_log
            topics_and_decisions_are_forgotten
            decisions_are_found_among_many_topics
            beginnings_and_parts_of_names_are_found
            words_that_hardly_meet_are_found
            a_compound_is_found_behind_its_words
        }
    };
    ($stores:ty: $($law:ident)*) => {
        $(
            #[test]
            fn $law() {
                if let Some(mut stores) = <$stores as $crate::laws::Stores>::ready() {
                    $crate::laws::$law(&mut stores);
                }
            }
        )*
    };
}
pub(crate) use laws;

fn everything() -> Page {
    Page { limit: 500, after: None }
}

fn all() -> Filter {
    Filter { all: true, ..Filter::default() }
}

fn filled(stores: &mut impl Stores) -> Box<dyn Store> {
    let mut store = stores.empty();
    store.put(&world()).unwrap();
    store
}

fn export(store: &mut dyn Store) -> Vec<Record> {
    let mut rows = Vec::new();
    store
        .each(&mut |record| {
            rows.push(record);
            Ok(())
        })
        .unwrap();
    rows
}

/// Without what each store gives for itself.
fn without_ids(mut records: Vec<Record>) -> Vec<Record> {
    for record in &mut records {
        match record {
            Record::Project(row) => row.id = None,
            Record::Topic(row) => row.id = None,
            Record::Decision(row) => row.id = None,
            Record::Session(_) | Record::Log(_) => {}
        }
    }
    records.sort_by(|one, other| (one.kind(), one.uid()).cmp(&(other.kind(), other.uid())));
    records
}

fn id_of_project(store: &mut dyn Store, name: &str) -> i64 {
    store.project_by_name(name).unwrap().unwrap().id
}

fn id_of_topic(store: &mut dyn Store, uid: &str) -> i64 {
    store.topic_by_uid(uid).unwrap().unwrap().id
}

fn logs(store: &mut dyn Store, filter: &Filter) -> Vec<String> {
    store.logs(filter, &everything()).unwrap().rows.into_iter().map(|log| log.row.uid).collect()
}

fn topics(store: &mut dyn Store, filter: &Filter) -> Vec<String> {
    store.topics(filter, &everything()).unwrap().rows.into_iter().map(|topic| topic.row.uid).collect()
}

fn decisions(store: &mut dyn Store, filter: &Filter) -> Vec<String> {
    store.decisions(filter, &everything()).unwrap().rows.into_iter().map(|one| one.row.uid).collect()
}

fn found(store: &mut dyn Store, text: &str) -> Vec<String> {
    let query = Query { text: text.to_owned(), limit: 100, ..Query::default() };
    store.search(&query).unwrap().into_iter().map(|hit| hit.uid).collect()
}

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
        Record::Topic(Topic { parent: nowhere(), ..topic("x", "p") }),
        Record::Session(session("x", "nowhere")),
        Record::Log(log("x", "nowhere", 1)),
        Record::Log(Log { session: nowhere(), ..log("x", "t", 1) }),
        Record::Decision(decision("x", "nowhere", 1)),
        Record::Decision(Decision { supersedes: nowhere(), ..decision("x", "t", 1) }),
        Record::Decision(Decision { session: nowhere(), ..decision("x", "t", 1) }),
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
        Record::Project(Project { id: Some(7), ..project("p3") }),
        Record::Topic(Topic { id: Some(40), ..topic("t5", "p3") }),
        Record::Decision(Decision { id: Some(12), ..decision("d6", "t5", 1) }),
        Record::Topic(Topic { id: Some(-3), ..topic("t6", "p3") }),
        Record::Topic(Topic { id: Some(0), ..topic("t7", "p3") }),
    ];
    store.put(&again).unwrap();
    let ids =
        [id_of_topic(&mut *store, "t5"), id_of_topic(&mut *store, "t6"), id_of_topic(&mut *store, "t7")];
    assert!(ids.iter().all(|id| *id > 0 && *id != 40), "{ids:?}");
    assert_eq!(store.decision(12).unwrap().unwrap().row.uid, "d5");
    assert_ne!(id_of_project(&mut *store, "p3"), 7);
}

/// Goes through a list with pages of this size.
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
    store.undecided(None, 10).unwrap().into_iter().map(|topic| topic.row.uid).collect()
}

pub(crate) fn what_is_undecided(stores: &mut impl Stores) {
    let mut store = filled(stores);
    // t1 has a decision, t3 is automatic, t4 is closed; what t2 had was taken back.
    assert_eq!(undecided(&mut *store), ["t2"]);
    store.put(&[Record::Topic(topic("t9", "p2")), Record::Log(log("l9", "t9", 500))]).unwrap();
    assert_eq!(undecided(&mut *store), ["t9", "t2"], "the last active one first");
    assert_eq!(store.undecided(None, 1).unwrap().len(), 1);
    assert_eq!(store.undecided(None, 0).unwrap().len(), 0);
    let p1 = id_of_project(&mut *store, "p1");
    let of_one: Vec<String> =
        store.undecided(Some(p1), 10).unwrap().into_iter().map(|topic| topic.row.uid).collect();
    assert_eq!(of_one, ["t2"]);
    store.put(&[Record::Decision(decision("d9", "t9", 501))]).unwrap();
    assert_eq!(undecided(&mut *store), ["t2"]);
    let taken_back = Decision { retracted: Some(at(502)), updated: at(502), ..decision("d9", "t9", 501) };
    store.put(&[Record::Decision(taken_back)]).unwrap();
    assert_eq!(undecided(&mut *store), ["t9", "t2"]);
    let closed = Topic { status: Status::Closed, updated: at(503), ..topic("t9", "p2") };
    store.put(&[Record::Topic(closed)]).unwrap();
    assert_eq!(undecided(&mut *store), ["t2"]);
}

pub(crate) fn offers_are_counted_by_session(stores: &mut impl Stores) {
    let mut store = filled(stores);
    let t2 = id_of_topic(&mut *store, "t2");
    for n in 0..5 {
        assert_eq!(undecided(&mut *store), ["t2"], "offered {n} times");
        for _ in 0..3 {
            store.offered(&format!("session{n}"), &[t2, 9999], at(100 + n)).unwrap();
        }
        assert_eq!(store.topic(t2).unwrap().unwrap().row.offered, n as u32 + 1);
    }
    assert!(undecided(&mut *store).is_empty(), "left alone five times");
    store.put(&[Record::Log(log("before", "t2", 90))]).unwrap();
    assert!(undecided(&mut *store).is_empty(), "that was before it was offered");
    store.put(&[Record::Log(log("after", "t2", 200))]).unwrap();
    assert_eq!(undecided(&mut *store), ["t2"], "something happened to it");
    store.offered("session0", &[t2], at(201)).unwrap();
    assert_eq!(store.topic(t2).unwrap().unwrap().row.offered, 1, "counted anew");
}

pub(crate) fn decisions_stand_until_they_do_not(stores: &mut impl Stores) {
    let mut store = filled(stores);
    let count = |store: &mut dyn Store, uid: &str| store.topic_by_uid(uid).unwrap().unwrap().decisions;
    assert_eq!((count(&mut *store, "t1"), count(&mut *store, "t4")), (1, 2));
    // From another topic, a chain, and back again.
    let newest = Decision { supersedes: Some("d2".to_owned()), ..decision("d7", "t4", 80) };
    store.put(&[Record::Decision(newest.clone())]).unwrap();
    assert_eq!((count(&mut *store, "t1"), count(&mut *store, "t4")), (0, 3));
    assert_eq!(decisions(&mut *store, &Filter::default()), ["d7", "d5", "d4"]);
    let taken_back = Decision { retracted: Some(at(81)), updated: at(81), ..newest };
    store.put(&[Record::Decision(taken_back)]).unwrap();
    assert_eq!((count(&mut *store, "t1"), count(&mut *store, "t4")), (1, 2));
    assert_eq!(decisions(&mut *store, &Filter::default()), ["d5", "d4", "d2"]);
    let circle = Decision { supersedes: Some("d2".to_owned()), updated: at(82), ..decision("d1", "t1", 15) };
    assert_eq!(store.put(&[Record::Decision(circle)]).unwrap_err().kind, ErrorKind::Refused);
}

pub(crate) fn topics_move_and_are_never_parts_of_themselves(stores: &mut impl Stores) {
    let mut store = filled(stores);
    let (p1, p2) = (id_of_project(&mut *store, "p1"), id_of_project(&mut *store, "p2"));
    let circle = Topic { parent: Some("t2".to_owned()), updated: at(1), ..topic("t1", "p1") };
    assert_eq!(store.put(&[Record::Topic(circle)]).unwrap_err().kind, ErrorKind::Refused);
    store.put(&[Record::Topic(Topic { updated: at(2), ..topic("t2", "p2") })]).unwrap();
    let moved = store.topic_by_uid("t2").unwrap().unwrap();
    assert_eq!((moved.in_project.id, moved.part_of, moved.logs), (p2, None, 2));
    let in_project = |project| Filter { project: Some(project), ..Filter::default() };
    assert!(logs(&mut *store, &in_project(p2)).contains(&"l2".to_owned()));
    let search = |store: &mut dyn Store, project| {
        let query =
            Query { text: "設計".to_owned(), filter: in_project(project), limit: 9, ..Query::default() };
        store.search(&query).unwrap().into_iter().map(|hit| (hit.uid, hit.project)).collect::<Vec<_>>()
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
    // What refers to something with a higher number.
    let child = Topic { parent: Some("t9".to_owned()), updated: at(600), ..topic("t1", "p1") };
    let newer = Decision { supersedes: Some("d9".to_owned()), updated: at(600), ..decision("d4", "t4", 45) };
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
    let summed = |again: bool| Summary { by: "local".to_owned(), again };
    let waits = |store: &mut dyn Store, limit| store.unsummed(limit).unwrap();
    assert_eq!(waits(&mut *store, 10), ["l1"]);
    for (uid, minutes) in [("m1", 80), ("m3", 100), ("m2", 90)] {
        store.put(&[Record::Log(Log { summary: summed(true), ..log(uid, "t1", minutes) })]).unwrap();
    }
    assert_eq!(waits(&mut *store, 10), ["m3", "m2", "m1", "l1"], "newest first");
    assert_eq!(waits(&mut *store, 2), ["m3", "m2"]);
    let settled = Log { summary: summed(false), updated: at(999), ..log("m2", "t1", 90) };
    store.put(&[Record::Log(settled)]).unwrap();
    assert_eq!(waits(&mut *store, 10), ["m3", "m1", "l1"]);
}

pub(crate) fn a_log_is_forgotten(stores: &mut impl Stores) {
    let mut store = filled(stores);
    assert_eq!(store.forget(&Forget::Log("l1".to_owned())).unwrap(), ["l1"]);
    assert_eq!(store.log("l1").unwrap(), None);
    assert_eq!(found(&mut *store, "CRLF"), Vec::<String>::new());
    assert_eq!(store.topic_by_uid("t1").unwrap().unwrap().logs, 2);
    let again = Log { updated: at(999), ..log("l1", "t1", 10) };
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
            Record::Session(Session { updated: at(900), ..session("s1", "p1") }),
            Record::Log(Log { session: Some("s1".to_owned()), ..log("new", "t1", 900) }),
            Record::Decision(Decision { session: Some("s1".to_owned()), ..decision("new", "t1", 900) }),
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
        store.put(&[Record::Topic(Topic { updated: at(900), ..topic("new", "p2") })]).unwrap(),
        [Put::Forgotten]
    );
    let rows = export(&mut *store);
    assert!(rows.iter().all(|row| !gone.contains(&row.uid().to_owned())));
    let again =
        Project { key: Some("/home/me/p2/.git".to_owned()), name: "p2".to_owned(), ..project("p2-again") };
    assert_eq!(store.put(&[Record::Project(again)]).unwrap(), [Put::New], "the folder may begin anew");
    assert_eq!(store.forget(&Forget::Project(p2)).unwrap_err().kind, ErrorKind::Missing);
}

pub(crate) fn words_are_found(stores: &mut impl Stores) {
    let mut store = filled(stores);
    let with = |uid: &str, title: &str, text: &str| {
        Record::Log(Log { title: title.to_owned(), text: text.to_owned(), ..log(uid, "t1", 100) })
    };
    store
        .put(&[
            with("busy", "SQLite store", "Set the busy timeout to 5 seconds; writers wait in turn."),
            with(
                "camel",
                "Naming",
                "call readTranscriptTail() and snake_case_name from crates/memory/src/lib.rs",
            ),
            with("ja", "データベース", "ﾃﾞｰﾀﾍﾞｰｽの取り消しと、使い方。移行は一度だけ。"),
            with("wide", "ＦＵＬＬ width", "Ｃａｆé"),
        ])
        .unwrap();
    for (question, expected) in [
        ("timeout", vec!["busy"]),
        ("TIMEOUTS", vec!["busy"]),
        ("\"busy timeout\"", vec!["busy"]),
        ("\"timeout busy\"", vec![]),
        ("sqlite", vec!["busy"]),
        ("SQLite writer", vec!["busy"]),
        ("transcript", vec!["camel"]),
        ("readTranscriptTail", vec!["camel"]),
        ("snake_case_name", vec!["camel"]),
        ("src/lib.rs", vec!["camel"]),
        ("設計", vec!["l2"]),
        ("設", vec!["l2"]),
        ("二文字", vec!["l2"]),
        ("検索の設計", vec!["l2"]),
        ("設計を変えた理由", vec!["l2"]),
        ("データベース", vec!["ja"]),
        ("取り消し", vec!["ja"]),
        ("移行", vec!["ja"]),
        ("full cafe", vec!["wide"]),
        ("zebra", vec![]),
        ("設算", vec![]),
        ("timeo", vec!["busy"]),
        ("parser.rs", vec!["l1"]),
    ] {
        assert_eq!(found(&mut *store, question), expected, "{question}");
    }
    let query = Query { text: "設計".to_owned(), limit: 1, ..Query::default() };
    let hit = store.search(&query).unwrap().remove(0);
    assert_eq!((hit.kind, hit.id.as_str(), hit.title.as_str()), (Kind::Log, "l2", "検索の設計"));
    assert_eq!(hit.snippet, "全文検索の**設計**を変更した。二文字の単語も見つかる。");
    assert_eq!((hit.project.as_deref(), hit.topic.as_deref()), (Some("p1"), Some("Topic t2")));
    assert_eq!(hit.at, at(20).iso());
}

pub(crate) fn questions_of_any_kind_are_answered(stores: &mut impl Stores) {
    let mut store = filled(stores);
    let long = "parser ".repeat(1500);
    let many: String = (0..2000).map(|n| format!("w{n}")).collect::<Vec<_>>().join(" ");
    let han = "設計変更".repeat(800);
    for question in [
        "",
        " ",
        "\"",
        "\"\"",
        "*",
        "-",
        "a*",
        "^parser",
        "parser*",
        "NEAR(a b)",
        "a AND",
        "OR",
        "NOT",
        "(",
        "((parser",
        "a:b",
        "title:parser",
        "{a b}:c",
        "'; DROP TABLE log; --",
        "%",
        "_",
        "\\",
        "\0",
        "parser\0",
        "？！。、",
        "😀",
        "\u{301}",
        "🏳️‍🌈 ﷺ",
        "a|b&!c",
        "<->",
        "p:1",
        "k:few",
        "t:parser",
        &long,
        &many,
        &han,
    ] {
        let _ = found(&mut *store, question);
    }
    assert_eq!(found(&mut *store, &long), ["l1"]);
    assert_eq!(found(&mut *store, "parser*"), ["l1"]);
    assert_eq!(found(&mut *store, "((parser"), ["l1"]);
    assert!(found(&mut *store, "p:1 k:few").is_empty(), "what only the index knows is not found");
}

pub(crate) fn what_fits_better_comes_first(stores: &mut impl Stores) {
    let mut store = filled(stores);
    let with = |uid: &str, minutes: u64, title: &str, text: &str| {
        Record::Log(Log { title: title.to_owned(), text: text.to_owned(), ..log(uid, "t1", minutes) })
    };
    store
        .put(&[
            with("title", 100, "Backup rotation", "Three are kept."),
            with("body", 200, "Other", "Once the word backup, among many others that say something else."),
            with("old", 100, "Cache", "eviction of the cache"),
            with("new", 100 + 60 * 24 * 90, "Cache", "eviction of the cache"),
        ])
        .unwrap();
    assert_eq!(found(&mut *store, "backup"), ["title", "body"]);
    assert_eq!(found(&mut *store, "cache eviction"), ["new", "old"]);
    assert_eq!(found(&mut *store, "eviction zebra"), ["new", "old"], "what nothing has is left out");
    assert_eq!(found(&mut *store, "decision d5")[0], "d5");
}

pub(crate) fn filters_hold_for_a_search(stores: &mut impl Stores) {
    let mut store = filled(stores);
    let (p2, t1) = (id_of_project(&mut *store, "p2"), id_of_topic(&mut *store, "t1"));
    let search = |store: &mut dyn Store, text: &str, kinds: &[Kind], filter: Filter| {
        let query = Query { text: text.to_owned(), kinds: kinds.to_vec(), filter, limit: 50 };
        let mut uids: Vec<String> = store.search(&query).unwrap().into_iter().map(|hit| hit.uid).collect();
        uids.sort();
        uids
    };
    let of = Filter::default;
    let store = &mut *store;
    assert_eq!(search(store, "log", &[], Filter { project: Some(p2), ..of() }), ["l4", "l8"]);
    assert_eq!(search(store, "log", &[], Filter { topic: Some(t1), ..of() }), ["l3", "l5"]);
    assert_eq!(search(store, "log", &[], Filter { session: Some("s2".to_owned()), ..of() }), ["l4", "l5"]);
    assert_eq!(search(store, "log", &[], Filter { since: Some(at(60)), ..of() }), ["l6", "l7", "l8"]);
    assert_eq!(search(store, "log", &[], Filter { until: Some(at(40)), ..of() }), ["l3"]);
    let between = Filter { since: Some(at(40)), until: Some(at(60)), project: Some(p2), ..of() };
    assert_eq!(search(store, "log", &[], between), ["l4"]);
    assert_eq!(search(store, "log", &[], Filter { project: Some(999), ..of() }), Vec::<String>::new());
    assert_eq!(search(store, "topic", &[Kind::Topic], of()), ["t1", "t2", "t3", "t4"]);
    assert_eq!(search(store, "because", &[Kind::Decision], of()), ["d1", "d2", "d3", "d4"]);
    assert_eq!(search(store, "because", &[Kind::Log], of()), Vec::<String>::new());
    assert_eq!(search(store, "t4", &[Kind::Topic, Kind::Log], of()), ["t4"]);
    assert_eq!(search(store, "log", &[Kind::Stock], of()), Vec::<String>::new());
    let query = Query { text: "log".to_owned(), limit: 2, ..Query::default() };
    assert_eq!(store.search(&query).unwrap().len(), 2);
}

pub(crate) fn what_changed_is_found_by_what_it_is_now(stores: &mut impl Stores) {
    let mut store = filled(stores);
    let changed = Log {
        text: "Now about giraffes".to_owned(),
        source: Source::Hand,
        updated: at(900),
        ..log("l6", "t1", 61)
    };
    store.put(&[Record::Log(changed)]).unwrap();
    assert_eq!(found(&mut *store, "giraffe"), ["l6"]);
    assert_eq!(found(&mut *store, "\"what log l6 says\""), Vec::<String>::new());
    let (t1, t2) = (store.topic_by_uid("t1").unwrap().unwrap(), store.topic_by_uid("t2").unwrap().unwrap());
    assert_eq!((t1.logs, t1.recorded, t2.logs), (4, Some(at(61)), 1));
    store
        .put(&[Record::Decision(Decision {
            text: "Zebras".to_owned(),
            updated: at(900),
            ..decision("d5", "t4", 55)
        })])
        .unwrap();
    store
        .put(&[Record::Topic(Topic { title: "Okapis".to_owned(), updated: at(900), ..topic("t2", "p1") })])
        .unwrap();
    assert_eq!(found(&mut *store, "zebra"), ["d5"]);
    assert_eq!(found(&mut *store, "okapi"), ["t2"]);
    assert!(!found(&mut *store, "d5").contains(&"d5".to_owned()));
}

pub(crate) fn any_word_of_a_text_finds_it(stores: &mut impl Stores) {
    let store = RefCell::new(filled(stores));
    let number = Cell::new(0);
    let texts = "[a-zA-Z_ 設計のデータ変更ぱｶﾞ\u{301}.,é0-9ж\n-]{0,60}";
    let config = ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() };
    let mut runner = proptest::test_runner::TestRunner::new(config);
    runner
        .run(&texts, |text| {
            let mut store = store.borrow_mut();
            number.set(number.get() + 1);
            let uid = format!("any{}", number.get());
            let mut row = log(&uid, "t1", 1000 + number.get());
            row.text.clone_from(&text);
            store.put(&[Record::Log(row)]).unwrap();
            for word in text.split_whitespace().filter(|word| !Question::parse(word).is_empty()) {
                let query = Query { text: word.to_owned(), limit: 200, ..Query::default() };
                let found = store.search(&query).unwrap();
                prop_assert!(found.iter().any(|hit| hit.uid == uid), "{word:?} in {text:?}");
            }
            store.forget(&Forget::Log(uid.clone())).unwrap();
            for word in text.split_whitespace() {
                let query = Query { text: word.to_owned(), limit: 200, ..Query::default() };
                prop_assert!(store.search(&query).unwrap().iter().all(|hit| hit.uid != uid), "{word:?}");
            }
            Ok(())
        })
        .unwrap();
}

/// Two who meet a folder for the first time at once make one project, and what they say of it belongs to that.
pub(crate) fn one_folder_is_one_project(stores: &mut impl Stores) {
    let mut store = filled(stores);
    let same = Project { uid: "p1-again".to_owned(), ..project("p1") };
    let rows = [
        Record::Project(same.clone()),
        Record::Topic(topic("t9", "p1-again")),
        Record::Session(session("s9", "p1-again")),
        Record::Log(Log { session: Some("s9".to_owned()), ..log("l9", "t9", 80) }),
    ];
    assert_eq!(store.put(&rows).unwrap(), [Put::Kept, Put::New, Put::New, Put::New]);
    let named: Vec<String> =
        store.projects(&everything()).unwrap().rows.into_iter().map(|project| project.row.uid).collect();
    assert_eq!(named, ["p1", "p2"]);
    let found = store.topic_by_uid("t9").unwrap().unwrap();
    assert_eq!(found.row.project, "p1");
    // Also what comes later, and alone.
    assert_eq!(store.put(&[Record::Topic(topic("t10", "p1-again"))]).unwrap(), [Put::New]);
    // A folder that is called otherwise elsewhere is another project, which has no folder here.
    let other = Project { name: "other".to_owned(), uid: "p3".to_owned(), ..project("p1") };
    assert_eq!(store.put(&[Record::Project(other)]).unwrap(), [Put::New]);
    let folder = store.project_by_key("/home/me/p1/.git").unwrap().unwrap();
    assert_eq!(folder.row.uid, "p1");
    store.forget(&Forget::Project(folder.id)).unwrap();
    assert_eq!(store.put(&[Record::Topic(topic("t11", "p1-again"))]).unwrap(), [Put::Forgotten]);
    assert_eq!(store.put(&[Record::Project(same)]).unwrap(), [Put::Forgotten]);
}

/// A session that was forgotten before anything of it was stored is not stored later: not even its title.
pub(crate) fn a_forgotten_session_leaves_no_topic(stores: &mut impl Stores) {
    let mut store = filled(stores);
    store.forget(&Forget::Session("s1".to_owned())).unwrap();
    let rows = [
        Record::Topic(Topic { automatic: Some("s1".to_owned()), ..topic("never seen", "p1") }),
        Record::Session(session("s1", "p1")),
        Record::Log(Log { session: Some("s1".to_owned()), ..log("l9", "never seen", 80) }),
    ];
    assert_eq!(store.put(&rows).unwrap(), [Put::Forgotten; 3]);
    assert_eq!(found(&mut *store, "seen"), Vec::<String>::new());
}

/// A log takes along the title that it gave to its session's own topic.
pub(crate) fn a_topic_called_by_a_forgotten_log(stores: &mut impl Stores) {
    let mut store = filled(stores);
    let own = Topic {
        automatic: Some("s1".to_owned()),
        title: "Zebras (main)".to_owned(),
        created: at(80),
        updated: at(80),
        ..topic("own", "p1")
    };
    let first = Log { session: Some("s1".to_owned()), title: "Zebras".to_owned(), ..log("l9", "own", 80) };
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

/// However many sessions were called by a word, a decision with it is found.
pub(crate) fn decisions_are_found_among_many_topics(stores: &mut impl Stores) {
    let mut store = filled(stores);
    let mut rows = vec![Record::Decision(Decision {
        text: "The lexer is written by hand".to_owned(),
        ..decision("d9", "t1", 1)
    })];
    rows.extend((0..150).map(|n| {
        Record::Topic(Topic {
            title: format!("fix the lexer case {n}"),
            automatic: Some(format!("s{n}")),
            created: at(100 + n),
            updated: at(100 + n),
            ..topic(&format!("auto{n}"), "p1")
        })
    }));
    store.put(&rows).unwrap();
    for kinds in [vec![], vec![Kind::Decision, Kind::Topic]] {
        let query = Query { text: "lexer".to_owned(), kinds, limit: 200, ..Query::default() };
        let hits = store.search(&query).unwrap();
        assert_eq!(hits.first().map(|hit| hit.uid.as_str()), Some("d9"));
        assert!(hits.len() > 50);
    }
}

/// Of the last word the beginning is enough, also of a name and of a form of a word; and of a name some of its words.
pub(crate) fn beginnings_and_parts_of_names_are_found(stores: &mut impl Stores) {
    let mut store = filled(stores);
    let titled = |uid: &str, title: &str, minutes| {
        Record::Log(Log { title: title.to_owned(), ..log(uid, "t1", minutes) })
    };
    store
        .put(&[
            titled("camel", "Call readTranscriptTail", 80),
            titled("snake", "Rename snake_case_name", 81),
            titled("form", "Queries that are processed", 82),
        ])
        .unwrap();
    for (words, uid) in [
        ("readTr", "camel"),
        ("readTranscript", "camel"),
        ("readtranscriptt", "camel"),
        ("TranscriptTail", "camel"),
        ("transcript_tail call", "camel"),
        ("snake_cas", "snake"),
        ("case_name", "snake"),
        ("processi", "form"),
        ("queri", "form"),
        ("queries proce", "form"),
    ] {
        assert_eq!(found(&mut *store, words), [uid], "{words}");
    }
    assert_eq!(found(&mut *store, "TailTranscript"), Vec::<String>::new());
}

/// Among very many texts with either word, the few with both; and where nothing has all words, what has the rarest.
pub(crate) fn words_that_hardly_meet_are_found(stores: &mut impl Stores) {
    let mut store = filled(stores);
    let rows: Vec<Record> = (0..700)
        .map(|n| {
            let both = n % 70 == 3;
            let words = [
                ("lantern", both || n % 2 == 0),
                ("harbour", both || n % 2 == 1),
                ("anchor", !both && n % 5 == 0),
                ("deploy", true),
            ];
            let text = words.iter().filter(|(_, is_in)| *is_in).map(|(word, _)| *word).collect::<Vec<_>>();
            Record::Log(Log { text: text.join(" and "), ..log(&format!("m{n}"), "t1", 100 + n) })
        })
        .collect();
    store.put(&rows).unwrap();
    let both: Vec<String> = (0..10).rev().map(|n| format!("m{}", n * 70 + 3)).collect();
    for question in ["lantern harbour", "deploy harbour lantern", "\"lantern and harbour\" deploy"] {
        assert_eq!(found(&mut *store, question), both, "{question}");
    }
    let with_anchor = found(&mut *store, "deploy harbour lantern anchor");
    let has_anchor = |uid: &String| uid[1..].parse::<u64>().is_ok_and(|n| n % 5 == 0);
    assert!(!with_anchor.is_empty() && with_anchor.iter().all(has_anchor), "{with_anchor:?}");
}

/// However many newer texts hold the words of a compound apart, the one that holds the compound is found.
pub(crate) fn a_compound_is_found_behind_its_words(stores: &mut impl Stores) {
    let mut store = filled(stores);
    let with = |uid: String, text: &str, minutes| {
        Record::Log(Log { text: text.to_owned(), ..log(&uid, "t1", minutes) })
    };
    let mut rows = vec![with("old".to_owned(), "昨日の設計変更履歴を見た", 90)];
    rows.extend((0..500).map(|n| with(format!("m{n}"), "変更は履歴にあり、設計とは別", 100 + n)));
    store.put(&rows).unwrap();
    for question in ["設計変更", "変更履歴", "設計変更履歴"] {
        assert_eq!(found(&mut *store, question), ["old"], "{question}");
    }
}
