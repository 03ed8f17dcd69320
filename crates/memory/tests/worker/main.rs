//! The worker's handling of jobs, on a real store and with a clock under the test's control.

#[cfg(test)]
mod decisions;
#[cfg(test)]
mod summaries;
#[cfg(test)]
mod transcripts;
#[cfg(test)]
mod world;

use std::cell::{Cell, RefCell};
use std::fs;
use std::time::Duration;

use tidegate_core::event::SessionId;
use tidegate_core::feature::marks::SessionMark;
use tidegate_core::feature::memory::job::{JobCause, Work};
use tidegate_core::feature::memory::summary::RelaySummary;
use tidegate_core::text::lang::Lang;
use tidegate_core::time::Millis;
use tidegate_memory::record::{Record, TopicRow};
use tidegate_memory::store::Store;
use tidegate_memory::worker::{NoSummary, Summarise, Worker, WorkerReport, queue_abandoned_sessions};
use tidegate_state::feature::memory::{retries, spool};
use world::{NOW, World, append, last_second, said, user};

const HOUR: u64 = 3_600_000;

fn turn(world: &mut World, uid: &str, prompt: &str) {
    world.say(&user(uid, prompt));
    world.say(&said(uid, &format!("answer to {uid}")));
    world.stop("s1", &format!("answer to {uid}"));
}

#[test]
fn a_turn_is_a_log_of_the_sessions_own_topic() {
    let mut world = World::new();
    world.say(&user("u1", "Fix the parser\nplease"));
    world.say(&said("m1", "The cursor never moved. It does now."));
    world.stop("s1", "The cursor never moved. It does now.");
    let report = world.work();
    assert_eq!((report.jobs, report.new, report.left), (1, 1, 0));
    let log = world.log("u1");
    assert_eq!(log.row.title, "Fix the parser");
    assert_eq!(log.row.text, "User: Fix the parser please / AI: The cursor never moved. It does now.");
    assert_eq!((log.row.session.as_deref(), log.row.summary.by.as_str()), (Some("s1"), "local"));
    assert!(!log.row.summary.again && log.row.notes.is_empty());
    assert_eq!(
        (log.in_topic.name.as_str(), log.in_project.name.as_str()),
        ("Fix the parser (feat/x)", "shop")
    );
    assert_eq!(report.projects.iter().map(|project| project.root.as_str()).collect::<Vec<_>>(), ["/shop"]);
    let topic = world.store.topic(log.in_topic.id).unwrap().unwrap();
    assert_eq!(topic.row.automatic.as_deref(), Some("s1"));
    assert!(spool::list(&world.state).unwrap().is_empty());
}

#[test]
fn a_later_job_of_a_relay_replaces_its_text_and_an_earlier_one_does_not() {
    let mut world = World::new();
    world.say(&user("u1", "go"));
    world.say(&said("m1", "started"));
    world.stop("s1", "started");
    let early = spool::list(&world.state).unwrap().remove(0);
    world.work();
    world.say(&said("m2", "finished"));
    world.stop("s1", "finished");
    let report = world.work();
    assert_eq!((report.new, report.changed), (0, 1));
    assert_eq!(world.log("u1").row.answer, "started\n\nfinished");
    spool::put(&world.state, &early.job.unwrap()).unwrap();
    let report = world.work();
    assert_eq!((report.jobs, report.new, report.changed), (1, 0, 0));
    assert_eq!((world.log("u1").row.answer.as_str(), world.logs()), ("started\n\nfinished", 1));
}

#[test]
fn a_job_of_several_relays_stores_each_and_all_in_one_topic() {
    let mut world = World::new();
    for n in 1..=3 {
        world.say(&user(&format!("u{n}"), &format!("question {n}")));
        world.say(&said(&format!("m{n}"), &format!("answer {n}")));
    }
    world.stop("s1", "answer 3");
    assert_eq!(world.work().new, 3);
    let topics: Vec<i64> = (1..=3).map(|n| world.log(&format!("u{n}")).in_topic.id).collect();
    assert_eq!(topics[0], topics[2]);
    assert_eq!(world.log("u1").in_topic.name, "question 1 (feat/x)");
    // The same lines in another session's file, as in a fork.
    world.stop_from("s2", 0, "answer 3");
    let report = world.work();
    assert_eq!((report.jobs, report.new, report.changed, world.logs()), (1, 0, 0, 3));
}

#[test]
fn what_was_said_while_nothing_was_recorded_stays_so() {
    let mut world = World::new();
    world.say(&user("u1", "secret plans"));
    world.say(&said("m1", "shh"));
    let from = world.length();
    world.say(&user("u2", "go on"));
    world.say(&said("m2", "done"));
    world.stop_from("s1", from, "done");
    assert_eq!(world.work().new, 1);
    assert!(world.store.log("u1").unwrap().is_none());
    // An interrupted relay, or one written late: it is in the part of the next job.
    world.say(&user("u3", "more secret plans"));
    world.passed = Some(last_second());
    world.say(&said("m3", "half of a"));
    world.say(&user("u4", "now in public"));
    world.say(&said("m4", "well"));
    world.stop("s1", "well");
    assert_eq!(world.work().new, 1);
    assert!(world.store.log("u3").unwrap().is_none());
    assert_eq!(world.log("u4").row.answer, "well");
    // A known relay continues, whenever it began.
    world.say(&said("m5", "well then"));
    world.passed = Some(last_second());
    world.stop("s1", "well then");
    assert_eq!(world.work().changed, 1);
}

#[test]
fn what_a_session_recorded_stays_its_own_when_it_is_forked() {
    let mut world = World::new();
    world.say(&user("u1", "first"));
    world.say(&said("m1", "one"));
    world.stop("s1", "one");
    world.work();
    let before = world.log("u1");
    // The fork's transcript starts with the same lines, and something happened after the last of them.
    world.passed = Some(last_second());
    world.say(&said("m2", "more of it"));
    world.stop_from("fork", 0, "more of it");
    let report = world.work();
    assert_eq!((report.jobs, report.new, report.changed, report.lost), (1, 0, 0, 0));
    assert_eq!(world.log("u1"), before);
}

#[test]
fn the_tag_comes_before_what_was_set_and_that_before_the_sessions_own() {
    let tag = |topic: i64| format!("ok\n\n<!-- [meta] project: x (id: 0) | topic: t (id: {topic}) -->");
    for (tagged, set, named, notes) in [
        (Some(3), None, "three", vec![]),
        (Some(3), Some(2), "three", vec![]),
        (Some(4), Some(2), "four", vec![]),
        (None, Some(2), "two", vec![]),
        (Some(99), Some(2), "two", vec!["the tag names topic 99, which does not exist"]),
        (Some(99), None, "go (feat/x)", vec!["the tag names topic 99, which does not exist"]),
        (None, Some(98), "go (feat/x)", vec!["topic 98 was set in the session, and does not exist"]),
        (
            Some(99),
            Some(98),
            "go (feat/x)",
            vec![
                "the tag names topic 99, which does not exist",
                "topic 98 was set in the session, and does not exist",
            ],
        ),
        (Some(0), Some(2), "go (feat/x)", vec![]),
        (None, Some(0), "go (feat/x)", vec![]),
        (None, None, "go (feat/x)", vec![]),
    ] {
        let mut world = World::new();
        world.put_topics();
        world.say(&user("u1", "go"));
        let answer = tagged.map_or("ok".to_owned(), tag);
        world.say(&said("m1", &answer));
        world.topic = set;
        world.stop("s1", &answer);
        world.work();
        let log = world.log("u1");
        assert_eq!(log.in_topic.name, named, "{tagged:?} {set:?}");
        assert_eq!(log.row.notes, notes);
        assert!(!log.row.text.contains("[meta]"), "{}", log.row.text);
    }
}

#[test]
fn a_tag_says_which_project_within_the_sessions_it_is() {
    let mut world = World::new();
    world.put_topics();
    let turns = [
        ("u1", "<!-- [meta] project: web (id: 3) | topic: own (id: 0) -->", "web", ""),
        ("u2", "<!-- [meta] project: shop (id: 0) | topic: own (id: 0) -->", "shop", ""),
        ("u3", "<!-- [meta] project: web (id: 3) | topic: own (id: 0) -->", "web", ""),
        ("u4", "<!-- [meta] project: shop (id: 0) | topic: four (id: 4) -->", "web", ""),
        ("u5", "<!-- [meta] project: x (id: 77) | topic: own (id: 0) -->", "shop", "project 77"),
    ];
    for (uid, tag, project, note) in turns {
        answered_in(&mut world, "s1", uid, tag);
        let log = world.log(uid);
        assert_eq!(log.in_project.name, project, "{uid}");
        assert!(log.row.notes.concat().contains(note), "{:?}", log.row.notes);
    }
    let topic = |world: &mut World, uid: &str| world.log(uid).in_topic.id;
    assert_eq!(topic(&mut world, "u1"), topic(&mut world, "u3"));
    assert_ne!(topic(&mut world, "u1"), topic(&mut world, "u2"));
}

/// A turn with this tag at its end, stored.
fn answered_in(world: &mut World, session: &str, uid: &str, tag: &str) {
    world.say(&user(uid, "go"));
    let answer = format!("ok {uid}\n{tag}");
    world.say(&said(uid, &answer));
    world.stop(session, &answer);
    world.work();
}

#[test]
fn no_tag_carries_a_relay_into_another_project() {
    let of_topic = "the tag names topic 1, which is in another project";
    let of_project = "the tag names project 1, which is another one";
    for (uid, tag, set, notes) in [
        (
            "u1",
            "<!-- [meta] project: other (id: 1) | topic: one (id: 1) -->",
            None,
            vec![of_topic, of_project],
        ),
        ("u2", "<!-- [meta] project: shop (id: 2) | topic: one (id: 1) -->", None, vec![of_topic]),
        ("u3", "<!-- [meta] topic: one (id: 1) -->", None, vec![of_topic]),
        ("u4", "<!-- [meta] project: other (id: 1) | topic: own (id: 0) -->", None, vec![of_project]),
        ("u5", "", Some(1), vec!["topic 1 was set in the session, and is in another project"]),
    ] {
        let mut world = World::new();
        world.put_topics();
        world.topic = set;
        answered_in(&mut world, "s1", uid, tag);
        let log = world.log(uid);
        assert_eq!(
            (log.in_project.name.as_str(), log.in_topic.name.as_str()),
            ("shop", "go (feat/x)"),
            "{tag}"
        );
        assert_eq!(log.row.notes, notes, "{tag}");
        assert_eq!(world.store.topic(1).unwrap().unwrap().logs, 0, "{tag}");
    }
    // What was set in the session counts where the tag does not.
    let mut world = World::new();
    world.put_topics();
    world.topic = Some(2);
    answered_in(&mut world, "s1", "u1", "<!-- [meta] topic: one (id: 1) -->");
    assert_eq!(world.log("u1").in_topic.name, "two");
}

#[test]
fn a_row_with_the_name_of_a_sessions_topic_does_not_carry_it_into_another_project() {
    let mut world = World::new();
    world.put_topics();
    let uid = tidegate_core::feature::memory::automatic::topic_uid("s1", None);
    let theirs = world.store.topic(1).unwrap().unwrap().row;
    world.store.put(&[Record::Topic(TopicRow { uid, id: None, ..theirs })]).unwrap();
    answered_in(&mut world, "s1", "u1", "");
    answered_in(&mut world, "s1", "u2", "");
    let (one, two) = (world.log("u1"), world.log("u2"));
    assert_eq!((one.in_project.name.as_str(), one.in_topic.id), ("shop", two.in_topic.id));
}

#[test]
fn another_projects_log_is_not_replaced_by_a_prompt_of_the_same_uid() {
    let mut world = World::new();
    world.put_topics();
    answered_in(&mut world, "s1", "u1", "");
    let mut theirs = world.log("u1").row;
    (theirs.uid, theirs.topic, theirs.session) = ("victim".to_owned(), "t1".to_owned(), None);
    world.store.put(&[Record::Log(theirs)]).unwrap();
    let before = world.log("victim");
    answered_in(&mut world, "s1", "victim", "");
    assert_eq!(world.log("victim"), before);
}

#[test]
fn files_that_are_no_jobs_hold_nobody_up() {
    let mut world = World::new();
    world.say(&user("u1", "go"));
    world.stop("s1", "");
    let spool = world.state.root().join("spool");
    fs::write(spool.join("0-torn.json"), "{").unwrap();
    fs::write(spool.join("0-newer.json"), r#"{"v": 9}"#).unwrap();
    let report = world.work();
    assert_eq!((report.jobs, report.set_aside, report.left), (1, 1, 1));
    assert!(spool.join("damaged/0-torn.json").exists() && spool.join("0-newer.json").exists());
}

#[cfg(unix)]
#[test]
fn a_job_that_the_system_does_not_give_out_stays() {
    let mut world = World::new();
    turn(&mut world, "u1", "go");
    // The link leads back to itself, so it cannot be opened.
    let job = spool::list(&world.state).unwrap().remove(0).path;
    let aside = job.with_extension("aside");
    fs::rename(&job, &aside).unwrap();
    std::os::unix::fs::symlink(&job, &job).unwrap();
    let report = world.work();
    assert_eq!((report.jobs, report.set_aside, report.left), (0, 0, 1));
    assert!(world.told.concat().starts_with("not read: "), "{:?}", world.told);
    fs::remove_file(&job).unwrap();
    fs::rename(&aside, &job).unwrap();
    let report = world.work();
    assert_eq!((report.jobs, report.new, report.left), (1, 1, 0));
}

#[test]
fn a_relay_across_two_jobs_is_whole_if_the_first_has_to_wait() {
    let mut world = World::new();
    world.say(&user("u1", "go"));
    world.say(&said("m1", "started"));
    world.stop("s1", "started");
    let text = fs::read(&world.transcript).unwrap();
    fs::remove_file(&world.transcript).unwrap();
    fs::create_dir(&world.transcript).unwrap();
    assert_eq!(world.work().left, 1);
    let due = retries::read(&world.state).jobs.values().next().unwrap().next;
    fs::remove_dir(&world.transcript).unwrap();
    fs::write(&world.transcript, text).unwrap();
    // A turn without a prompt continues the same relay.
    world.say(&said("m2", "going on"));
    world.say(&said("m3", "finished"));
    world.stop("s1", "finished");
    let other = world.transcript.with_file_name("other.jsonl");
    let first = std::mem::replace(&mut world.transcript, other);
    world.say(&user("u2", "go"));
    world.say(&said("m4", "done"));
    world.stop_from("s2", 0, "done");
    world.transcript = first;
    let report = world.work();
    assert_eq!((report.jobs, report.left, world.logs()), (1, 2, 1), "only the other session's is done");
    world.now.set(due);
    assert_eq!(
        (world.work().left, world.log("u1").row.answer.as_str()),
        (0, "started\n\ngoing on\n\nfinished")
    );
}

#[test]
fn a_relay_across_two_jobs_is_whole_if_the_clock_was_set_back() {
    let mut world = World::new();
    world.say(&user("u1", "go"));
    world.say(&said("m1", "started"));
    world.stop("s1", "started");
    world.now.set(Millis(NOW.0 - HOUR));
    world.say(&said("m2", "going on"));
    world.say(&said("m3", "finished"));
    world.stop("s1", "finished");
    let report = world.work();
    assert_eq!((report.jobs, report.new, report.changed), (2, 1, 1));
    assert_eq!(world.log("u1").row.answer, "started\n\ngoing on\n\nfinished");
}

#[test]
fn offers_are_counted_once() {
    let mut world = World::new();
    world.put_topics();
    for _ in 0..3 {
        world.job("s1", Work::Offered { topics: vec![1, 77] });
        assert_eq!(world.work().jobs, 1);
    }
    assert_eq!(world.store.topic(1).unwrap().unwrap().row.offered, 1);
}

#[test]
fn secrets_are_not_stored_and_counted() {
    let mut world = World::new();
    world.say(&user("u1", "use password=hunter2hunter2 and <private>my own</private>"));
    world.say(&said("m1", "ok, ghp_abcdefghijklmnopqrstuvwxyz0123456789"));
    world.stop("s1", "");
    world.work();
    let row = world.log("u1").row;
    let all = format!("{} {} {} {}", row.title, row.text, row.prompt, row.answer);
    for secret in ["hunter2", "my own", "ghp_a"] {
        assert!(!all.contains(secret), "{all}");
    }
    assert_eq!(row.redacted.values().sum::<u32>(), 3);
}

#[test]
fn a_store_that_somebody_holds_is_waited_for_and_then_left() {
    let mut world = World::new();
    world.say(&user("u1", "go"));
    world.stop("s1", "");
    let other = rusqlite::Connection::open(world.store.path()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let error = world.try_work(None, &|_| {}).unwrap_err();
    assert!(error.passes(), "{error}");
    assert_eq!(spool::list(&world.state).unwrap().len(), 1, "the job stays");
    let waited = Cell::new(Duration::ZERO);
    let report = world.try_work(None, &|time| {
        waited.set(waited.get() + time);
        if waited.get() > Duration::from_secs(2) {
            let _ = other.execute_batch("COMMIT");
        }
    });
    assert_eq!(report.unwrap().new, 1);
}

#[test]
fn time_is_bounded() {
    let mut world = World::new();
    for n in 0..5 {
        world.say(&user(&format!("u{n}"), "go"));
        world.stop("s1", "");
    }
    world.until = world.now.get();
    assert_eq!((world.work().jobs, world.work().left), (0, 5));
    world.until = Millis(u64::MAX);
    assert_eq!((world.work().jobs, world.logs()), (5, 5));
}

#[test]
fn what_crashed_sessions_left_is_picked_up_once() {
    let mut world = World::new();
    world.say(&user("u1", "go"));
    world.say(&said("m1", "halfway"));
    world.passed = Some(Millis(7));
    world.marks("crashed", world.length() / 2);
    let later = Millis(tidegate_state::clock::now().0 + 2 * HOUR);
    let always = |_: &std::path::Path, attended: bool| attended;
    assert_eq!(
        queue_abandoned_sessions(&world.state, Millis(later.0 - 2 * HOUR), &always).unwrap(),
        0,
        "it may be there still"
    );
    assert_eq!(
        queue_abandoned_sessions(&world.state, later, &|_, _| false).unwrap(),
        0,
        "nothing is recorded there"
    );
    assert_eq!(queue_abandoned_sessions(&world.state, later, &always).unwrap(), 1);
    assert_eq!(queue_abandoned_sessions(&world.state, later, &always).unwrap(), 0);
    let job = spool::list(&world.state).unwrap().remove(0).job.unwrap();
    let Work::Relays(part) = &job.work else { panic!("{job:?}") };
    assert_eq!((part.because, part.to, part.passed), (JobCause::Left, world.length(), world.passed));
    assert_eq!(job.session, "crashed");
    // The disk may have been full when it ended.
    world.marks("ended", world.length() / 2);
    let folder = world.state.session(&SessionId::parse("ended").unwrap());
    tidegate_state::session::marks::lock_shared(&folder)
        .unwrap()
        .append(&[SessionMark::Detached.into()])
        .unwrap();
    assert_eq!(queue_abandoned_sessions(&world.state, later, &always).unwrap(), 1);
    assert_eq!(queue_abandoned_sessions(&world.state, later, &always).unwrap(), 0);
}

#[test]
fn a_worker_whose_state_is_deleted_ends_at_once() {
    let mut world = World::new();
    world.say(&user("u1", "go"));
    world.stop("s1", "an answer that never arrives");
    let (root, waits) = (world.state.root().to_owned(), std::cell::Cell::new(0));
    let ended = world.try_work(None, &|_| {
        waits.set(waits.get() + 1);
        let _ = std::fs::remove_dir_all(&root);
    });
    assert!(ended.unwrap_err().what.ends_with(" is gone"));
    assert_eq!((waits.get(), root.exists()), (1, false));
}

/// Works with a store that rejects the rows of one session; the size of each transaction.
fn work_where_refused(world: &mut World, session: &'static str) -> (WorkerReport, Vec<usize>) {
    let mut store = world::Refuses { store: &mut world.store, session, asked: Vec::new() };
    let now = world.now.get();
    let mut worker = Worker {
        state: &world.state,
        store: &mut store,
        summarise: None,
        now: &|| now,
        pause: &|_| {},
        notify: &mut |_| {},
        until: Millis(u64::MAX),
        at_once: false,
    };
    let report = worker.run().expect("the worker runs");
    (report, store.asked)
}

#[test]
fn a_job_that_the_store_refuses_does_not_hold_up_the_others() {
    let mut world = World::new();
    world.say(&user("u1", "go"));
    world.stop("bad", "");
    world.say(&user("u2", "go"));
    world.stop("s1", "");
    let (report, _) = work_where_refused(&mut world, "bad");
    assert_eq!((report.jobs, report.left), (1, 1));
    assert!(world.store.log("u2").unwrap().is_some());
}

#[test]
fn jobs_that_wait_are_stored_in_one_transaction() {
    let mut world = World::new();
    for n in 1..=3 {
        world.say(&user(&format!("u{n}"), "go"));
        world.say(&said(&format!("m{n}"), "done"));
        world.stop("s1", "done");
    }
    let (report, transactions) = work_where_refused(&mut world, "none");
    assert_eq!((report.jobs, report.new, report.left, transactions), (3, 3, 0, vec![3]));
    assert!(spool::list(&world.state).unwrap().is_empty());
    assert_eq!(world.log("u1").in_topic.id, world.log("u3").in_topic.id, "the first one made the topic");
}

#[test]
fn where_one_is_refused_each_job_is_stored_by_itself() {
    let mut world = World::new();
    for (n, session) in ["s1", "bad", "s2"].into_iter().enumerate() {
        world.say(&user(&format!("u{n}"), "go"));
        world.say(&said(&format!("m{n}"), "done"));
        world.stop(session, "done");
    }
    let (report, transactions) = work_where_refused(&mut world, "bad");
    assert_eq!((report.jobs, report.new, report.left, transactions), (2, 2, 1, vec![3, 1, 1, 1]));
    assert_eq!((world.log("u0").row.title, world.log("u2").row.title), ("go".to_owned(), "go".to_owned()));
    assert!(world.store.log("u1").unwrap().is_none());
}

#[test]
fn what_was_forgotten_stays_so() {
    let mut world = World::new();
    turn(&mut world, "u1", "go");
    let job = spool::list(&world.state).unwrap().remove(0).job.unwrap();
    world.work();
    world.store.forget(&tidegate_memory::view::Forget::Log("u1".to_owned())).unwrap();
    spool::put(&world.state, &job).unwrap();
    let report = world.work();
    assert_eq!((report.jobs, report.new, world.logs()), (1, 0, 0));
}

#[test]
fn the_topic_of_a_session_stays_what_it_became() {
    let mut world = World::new();
    turn(&mut world, "u1", "go");
    world.work();
    let topic = world.log("u1").in_topic.id;
    let row = world.store.topic(topic).unwrap().unwrap().row;
    let renamed = TopicRow { title: "By hand".to_owned(), updated: Millis(NOW.0 + 10 * HOUR), ..row };
    world.store.put(&[Record::Topic(renamed)]).unwrap();
    turn(&mut world, "u2", "more");
    world.work();
    let log = world.log("u2");
    assert_eq!((log.in_topic.id, log.in_topic.name.as_str()), (topic, "By hand"));
}
