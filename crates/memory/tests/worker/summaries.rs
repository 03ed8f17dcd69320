//! Summaries by a language model.

use super::*;

struct Model<'a>(&'a dyn Fn(&str, Lang) -> Result<RelaySummary, NoSummary>);

impl Summarise for Model<'_> {
    fn name(&self) -> String {
        "haiku".to_owned()
    }
    fn sum_up(&mut self, message: String, lang: Lang) -> Result<RelaySummary, NoSummary> {
        (self.0)(&message, lang)
    }
}

#[test]
fn a_language_model_sums_up_once() {
    let mut world = World::new();
    let calls = Cell::new(0);
    let asked = RefCell::new(String::new());
    let tells = |message: &str, lang: Lang| {
        calls.set(calls.get() + 1);
        assert!(!message.contains("hunter2"), "{message}");
        message.clone_into(&mut asked.borrow_mut());
        Ok(RelaySummary { title: "RelaySummary".to_owned(), text: format!("User: {lang:?} / AI: b") })
    };
    turn(&mut world, "u1", "use password=hunter2hunter2 please");
    let report = world.work_with(Some(&mut Model(&tells)), &|_| {});
    assert_eq!((report.new, report.summed_up), (1, 1));
    let row = world.log("u1").row;
    assert_eq!(
        (row.title.as_str(), row.text.as_str(), row.summary.by.as_str()),
        ("RelaySummary", "User: En / AI: b", "haiku")
    );
    assert!(!row.summary.again);
    // The next turn reads the previous one again, and does not ask about it.
    turn(&mut world, "u2", "日本語で");
    world.work_with(Some(&mut Model(&tells)), &|_| {});
    assert_eq!((calls.get(), world.log("u2").row.text.as_str()), (2, "User: Ja / AI: b"));
    assert_eq!(world.log("u1").row.title, "RelaySummary");
    // A relay that has grown is summarised again.
    world.say(&said("m", "and more"));
    world.stop("s1", "and more");
    world.work_with(Some(&mut Model(&tells)), &|_| {});
    assert_eq!((calls.get(), world.log("u2").row.answer.as_str()), (3, "answer to u2\n\nand more"));
    let sent = r#"{"asked":"日本語で","said":"answer to u2\n\nand more","tools":{},"files_written":[]}"#;
    let sent: serde_json::Value = serde_json::from_str(sent).unwrap();
    assert_eq!(
        asked.borrow().strip_prefix("The exchange: ").and_then(|json| serde_json::from_str(json).ok()),
        Some(sent)
    );
    assert_eq!(retries::read(&world.state), retries::Retries::default());
}

#[test]
fn one_that_fails_costs_nothing_but_time() {
    let mut world = World::new();
    let calls = Cell::new(0);
    let fails = |_: &str, _| {
        calls.set(calls.get() + 1);
        Err(NoSummary::Failed("no such program".to_owned()))
    };
    turn(&mut world, "u1", "go");
    world.work_with(Some(&mut Model(&fails)), &|_| {});
    let row = world.log("u1").row;
    assert_eq!((row.text.as_str(), row.summary.by.as_str()), ("User: go / AI: answer to u1", "local"));
    assert!(row.summary.again);
    assert_eq!(world.told.concat(), "not told: no such program");
    let mut delays = Vec::new();
    for tries in 1..=8 {
        let retry = retries::read(&world.state).summaries["u1"];
        world.work_with(Some(&mut Model(&fails)), &|_| {});
        assert_eq!(calls.get(), tries, "not before its time");
        delays.push(retry.next.since(world.now.get()));
        world.now.set(retry.next);
        world.work_with(Some(&mut Model(&fails)), &|_| {});
        assert_eq!(calls.get(), tries + 1);
    }
    let day = 24 * HOUR;
    assert!(delays.is_sorted() && delays[0] == 60_000, "{delays:?}");
    assert_eq!(delays[4..], [day; 4], "once a day for as long as it takes");
    let row = world.log("u1").row;
    assert_eq!((row.summary.again, row.text.as_str()), (true, "User: go / AI: answer to u1"));
    let tells = |_: &str, _| Ok(RelaySummary { title: "t".to_owned(), text: "User: a / AI: b".to_owned() });
    // A person who asks for it does not wait.
    world.at_once = true;
    assert_eq!(world.work_with(Some(&mut Model(&tells)), &|_| {}).summed_up, 1);
    assert!(!world.log("u1").row.summary.again);
}

#[test]
fn one_that_comes_back_is_asked_about_what_waits() {
    let mut world = World::new();
    let calls = Cell::new(0);
    let fails = |_: &str, _| {
        calls.set(calls.get() + 1);
        Err(NoSummary::Failed("hangs".to_owned()))
    };
    for n in 1..=9 {
        turn(&mut world, &format!("u{n}"), "go");
    }
    world.work_with(Some(&mut Model(&fails)), &|_| {});
    assert_eq!((calls.get(), world.logs()), (3, 9), "whoever fails three times is left alone");
    world.work_with(Some(&mut Model(&fails)), &|_| {});
    assert_eq!(calls.get(), 3, "about the rest, too");
    world.now.set(Millis(world.now.get().0 + HOUR));
    let tells = |_: &str, _| Ok(RelaySummary { title: "t".to_owned(), text: "User: a / AI: b".to_owned() });
    assert_eq!(world.work_with(Some(&mut Model(&tells)), &|_| {}).summed_up, 9);
}

#[test]
fn beyond_the_limit_the_next_hour_is_waited_for() {
    let mut world = World::new();
    let (calls, most) = (Cell::new(0), Cell::new(1));
    let limited = |_: &str, _| {
        calls.set(calls.get() + 1);
        if calls.get() > most.get() {
            return Err(NoSummary::LimitReached);
        }
        Ok(RelaySummary { title: "t".to_owned(), text: "User: a / AI: b".to_owned() })
    };
    for n in 1..=3 {
        turn(&mut world, &format!("u{n}"), "go");
    }
    assert_eq!(world.work_with(Some(&mut Model(&limited)), &|_| {}).summed_up, 1);
    assert_eq!(calls.get(), 2, "the third would be too many, too");
    let hour = Millis((NOW.0 / HOUR + 1) * HOUR);
    for uid in ["u2", "u3"] {
        assert!(world.log(uid).row.summary.again);
        let retry = retries::read(&world.state).summaries[uid];
        assert_eq!((retry.tries, retry.next), (0, hour), "it was not tried");
    }
    most.set(100);
    world.work_with(Some(&mut Model(&limited)), &|_| {});
    assert_eq!(calls.get(), 2, "not before its time");
    world.now.set(hour);
    assert_eq!(world.work_with(Some(&mut Model(&limited)), &|_| {}).summed_up, 2);
}

#[test]
fn what_comes_while_somebody_sums_up_is_not_called_left() {
    let mut world = World::new();
    turn(&mut world, "u1", "go");
    let job = spool::list(&world.state).unwrap().remove(0).job.unwrap();
    let state = world.state.clone();
    let slow = |_: &str, _| {
        spool::put(&state, &job).unwrap();
        Err(NoSummary::Failed("x".to_owned()))
    };
    let report = world.work_with(Some(&mut Model(&slow)), &|_| {});
    assert_eq!((report.jobs, report.left, spool::list(&world.state).unwrap().len()), (1, 0, 1));
    world.until = world.now.get();
    assert_eq!(world.work().left, 1, "there was no time for it");
}

#[test]
fn without_anybody_the_summary_is_ours() {
    let mut world = World::new();
    let fails = |_: &str, _| Err(NoSummary::Failed("x".to_owned()));
    turn(&mut world, "u1", "go");
    world.work_with(Some(&mut Model(&fails)), &|_| {});
    world.now.set(Millis(world.now.get().0 + HOUR));
    world.work();
    let row = world.log("u1").row;
    assert_eq!((row.summary.by.as_str(), row.summary.again), ("local", false));
    assert_eq!(retries::read(&world.state), retries::Retries::default());
}

#[test]
fn what_waits_is_known_without_the_list_of_it() {
    for damage in ["", "{", "\u{0}\u{0}", r#"{"summaries": {}}"#] {
        let mut world = World::new();
        let fails = |_: &str, _| Err(NoSummary::Failed("x".to_owned()));
        for n in 1..=2 {
            turn(&mut world, &format!("u{n}"), "go");
        }
        world.work_with(Some(&mut Model(&fails)), &|_| {});
        let list = world.state.root().join("memory/retries.json");
        if damage.is_empty() {
            fs::remove_file(list).unwrap();
        } else {
            fs::write(list, damage).unwrap();
        }
        let tells =
            |_: &str, _| Ok(RelaySummary { title: "t".to_owned(), text: "User: a / AI: b".to_owned() });
        assert_eq!(world.work_with(Some(&mut Model(&tells)), &|_| {}).summed_up, 2, "{damage}");
        assert_eq!(world.work_with(Some(&mut Model(&tells)), &|_| {}).summed_up, 0, "{damage}");
        assert_eq!(retries::read(&world.state), retries::Retries::default());
    }
}
