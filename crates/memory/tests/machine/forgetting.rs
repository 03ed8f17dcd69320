//! Forgotten text is gone from every file.

use super::*;

#[test]
fn what_is_forgotten_is_gone_from_every_byte() {
    let machine = Machine::new();
    let mut memory = machine.open();
    // Enough rows to fill, share and merge pages.
    let mut rows = vec![
        Record::Project(project("p1")),
        Record::Topic(topic("t1", "p1")),
        Record::Session(session("s1", "p1")),
        Record::Session(session("s2", "p1")),
    ];
    for n in 0..600 {
        let secret = if n % 50 == 7 { "xylophonist 秘密鍵匣 " } else { "" };
        let session = if secret.is_empty() { "s2" } else { "s1" };
        rows.push(Record::Log(LogRow {
            title: format!("{secret}entry {n}"),
            text: format!("{secret}word{n} common text about things {}", "filler ".repeat(n % 90)),
            answer: secret.repeat(40),
            session: Some(session.to_owned()),
            ..log(&format!("l{n}"), "t1", n as u64)
        }));
    }
    memory.put(&rows).unwrap();
    let mut decided = decision("d1", "t1", 5);
    decided.text = "xylophonist decides".to_owned();
    decided.session = Some("s1".to_owned());
    memory.put(&[Record::Decision(decided)]).unwrap();
    // An old version must not remain either.
    let changed = LogRow {
        text: "pseudonymously xylophonist".to_owned(),
        updated: at(9000),
        session: Some("s1".to_owned()),
        ..log("l7", "t1", 7)
    };
    memory.put(&[Record::Log(changed)]).unwrap();
    memory.backup().unwrap();
    assert_eq!(found(&mut memory, "秘密鍵匣").len(), 11);
    assert!(machine.holding("xylophonist").len() >= 2, "in the store and in the copy");
    let gone = memory.forget(&Forget::Session("s1".to_owned())).unwrap();
    assert_eq!(gone.len(), 14);
    for word in ["xylophonist", "秘密鍵匣", "秘密", "pseudonymously"] {
        assert_eq!(machine.holding(word), Vec::<PathBuf>::new(), "{word}");
    }
    assert!(memory.store().check().unwrap().is_empty());
    assert_eq!(logs(&mut memory), 588);
    assert_eq!(found(&mut memory, "word9"), ["l9"]);
    assert_eq!(machine.home().copies().len(), 1);
}

/// A log takes along the title that it gave to its session's topic; topics and decisions go without the rest.
#[test]
fn what_is_forgotten_singly_is_gone_from_every_byte() {
    type Forgets = fn(&mut Memory) -> Forget;
    fn secret() -> LogRow {
        let title = "xylophonist 秘密鍵匣".to_owned();
        LogRow { prompt: title.clone(), title, session: Some("s9".to_owned()), ..log("first", "own", 80) }
    }
    let cases: [(&str, Forgets); 4] = [
        ("the first log of a session", |_| Forget::Log("first".to_owned())),
        ("the first log of a session, which went elsewhere since", |memory| {
            let moved = LogRow { topic: "t1".to_owned(), updated: at(9000), ..secret() };
            memory.put(&[Record::Log(moved)]).unwrap();
            Forget::Log("first".to_owned())
        }),
        ("a topic", |memory| {
            memory.forget(&Forget::Log("first".to_owned())).unwrap();
            let titled = TopicRow { title: "xylophonist 秘密鍵匣".to_owned(), ..topic("t9", "p1") };
            memory.put(&[Record::Topic(titled), Record::Log(log("l9", "t9", 9))]).unwrap();
            memory.backup().unwrap();
            Forget::Topic(memory.topic_by_uid("t9").unwrap().unwrap().id)
        }),
        ("a decision", |memory| {
            memory.forget(&Forget::Log("first".to_owned())).unwrap();
            let decided = DecisionRow {
                reason: "xylophonist 秘密鍵匣".to_owned(),
                id: Some(70),
                ..decision("d9", "t1", 9)
            };
            memory.put(&[Record::Decision(decided)]).unwrap();
            memory.backup().unwrap();
            Forget::Decision(70)
        }),
    ];
    for (case, forget) in cases {
        let machine = Machine::new();
        let mut memory = machine.filled();
        let own = TopicRow {
            title: "xylophonist 秘密鍵匣 (feat/x)".to_owned(),
            automatic: Some("s9".to_owned()),
            created: at(80),
            updated: at(80),
            ..topic("own", "p1")
        };
        let rows = [Record::Topic(own), Record::Session(session("s9", "p1")), Record::Log(secret())];
        memory.put(&rows).unwrap();
        memory
            .put(&[Record::Log(LogRow { session: Some("s9".to_owned()), ..log("second", "own", 81) })])
            .unwrap();
        memory.backup().unwrap();
        let what = forget(&mut memory);
        assert!(machine.holding("xylophonist").len() >= 2, "{case}");
        memory.forget(&what).unwrap();
        assert_eq!(memory.unfinished, None, "{case}");
        for word in ["xylophonist", "秘密"] {
            assert_eq!(machine.holding(word), Vec::<PathBuf>::new(), "{case}: {word}");
            assert_eq!(found(&mut memory, word), Vec::<String>::new(), "{case}");
        }
        let kept = memory.topic_by_uid("own").unwrap().unwrap();
        assert_eq!((kept.row.title.as_str(), kept.logs), ("session of 2026-09-21", 1), "{case}");
        // The title does not come back from elsewhere, and the session continues.
        memory.put(&rows).unwrap();
        assert_eq!(found(&mut memory, "xylophonist"), Vec::<String>::new(), "{case}");
        let third = LogRow { session: Some("s9".to_owned()), ..log("third", "own", 90) };
        assert_eq!(memory.put(&[Record::Log(third)]).unwrap(), [Put::New], "{case}");
        assert!(memory.store().check().unwrap().is_empty(), "{case}");
    }
}

/// An unwritable backup or an active reader is reported, and the next process to open the store continues.
#[test]
fn forgetting_is_finished_later() {
    let machine = Machine::new();
    let mut memory = machine.filled();
    memory.put(&[Record::Log(LogRow { text: "xylophonist".to_owned(), ..log("x", "t1", 80) })]).unwrap();
    memory.backup().unwrap();
    let in_the_way = machine.home().backups().join("new.tmp.tidegate-half");
    fs::create_dir_all(in_the_way.join("x")).unwrap();
    memory.forget(&Forget::Log("x".to_owned())).unwrap();
    assert_eq!(memory.unfinished.as_ref().map(|error| error.kind), Some(ErrorKind::Io));
    drop(memory);
    let memory = machine.open();
    assert!(memory.unfinished.is_some(), "still in the way");
    assert_ne!(machine.holding("xylophonist"), Vec::<PathBuf>::new());
    drop(memory);
    fs::remove_dir_all(in_the_way).unwrap();
    let mut memory = machine.open();
    assert_eq!(memory.unfinished, None);
    assert_eq!(machine.holding("xylophonist"), Vec::<PathBuf>::new());

    memory.put(&[Record::Log(LogRow { text: "xylophonist".to_owned(), ..log("y", "t1", 81) })]).unwrap();
    let reader = rusqlite::Connection::open(machine.home().file()).unwrap();
    let reads = reader.unchecked_transaction().unwrap();
    let _: i64 = reads.query_row("SELECT count(*) FROM log", [], |row| row.get(0)).unwrap();
    memory.store().set_patience(Duration::ZERO).unwrap();
    memory.forget(&Forget::Log("y".to_owned())).unwrap();
    assert_eq!(memory.unfinished.as_ref().map(|error| error.kind), Some(ErrorKind::Busy));
    drop(memory);
    drop(reads);
    drop(reader);
    assert_eq!(machine.open().unfinished, None);
    assert_eq!(machine.holding("xylophonist"), Vec::<PathBuf>::new());
}
