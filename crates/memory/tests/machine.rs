//! The memory of a machine with its files: the catalogue for hooks, damage and repair, and what is really
//! deleted.

#![expect(clippy::unwrap_used, reason = "whatever cannot be had ends a test")]

#[path = "conformance/rows.rs"]
mod rows;
mod written_by;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tidegate_core::feature::facts::Known;
use tidegate_core::feature::memory::catalogue::Undecided;
use tidegate_core::feature::memory::job::ProjectOf;
use tidegate_core::feature::memory::settings::MemorySettings;
use tidegate_core::time::Millis;
use tidegate_memory::act::{self, Acting, TopicEdit};
use tidegate_memory::error::ErrorKind;
use tidegate_memory::memory::{Memory, MemoryHome};
use tidegate_memory::record::{DecisionRow, Foreign, LogRow, Record, Status, TopicRow};
use tidegate_memory::sqlite::is_sound;
use tidegate_memory::store::{Put, Store};
use tidegate_memory::view::{Filter, Forget, HitKind, Page, Query};
use tidegate_state::feature::memory::catalogue;
use tidegate_state::place::{PlaceEnv, StateDir};

use rows::{at, decision, log, project, session, topic, world};

struct Machine {
    folder: tempfile::TempDir,
    place: PlaceEnv,
    state: StateDir,
    settings: MemorySettings,
}

impl Machine {
    fn new() -> Machine {
        let folder = tempfile::tempdir().unwrap();
        let place = PlaceEnv {
            state_dir: Some(folder.path().join("state")),
            data_dir: Some(folder.path().join("data")),
            ..PlaceEnv::default()
        };
        let state = StateDir::open(&place).unwrap();
        Machine { folder, place, state, settings: MemorySettings::default() }
    }

    fn open_at(&self, now: Millis) -> tidegate_memory::error::Result<Memory> {
        Memory::open(&self.place, &self.state, &self.settings, now)
    }

    fn open(&self) -> Memory {
        self.open_at(at(10_000)).unwrap()
    }

    fn filled(&self) -> Memory {
        let mut memory = self.open();
        memory.put(&world()).unwrap();
        memory
    }

    fn home(&self) -> MemoryHome {
        MemoryHome::of(&self.place).unwrap()
    }

    fn own(&self) -> ProjectOf {
        let root = self.folder.path().join("shop").to_string_lossy().into_owned();
        ProjectOf { key: format!("{root}/.git"), name: "shop".to_owned(), root, branch: None }
    }

    fn holding(&self, needle: &str) -> Vec<PathBuf> {
        fn walk(folder: &Path, needle: &[u8], found: &mut Vec<PathBuf>) {
            for entry in fs::read_dir(folder).unwrap().flatten() {
                let path = entry.path();
                if path.is_dir() {
                    walk(&path, needle, found);
                } else if fs::read(&path).unwrap().windows(needle.len()).any(|bytes| bytes == needle) {
                    found.push(path);
                }
            }
        }
        let mut found = Vec::new();
        walk(self.folder.path(), needle.as_bytes(), &mut found);
        found
    }
}

fn logs(memory: &mut Memory) -> usize {
    memory.logs(&Filter::default(), &Page { limit: 1000, after: None }).unwrap().rows.len()
}

fn found(memory: &mut Memory, text: &str) -> Vec<String> {
    let query = Query { text: text.to_owned(), limit: 20, ..Query::default() };
    memory.search(&query).unwrap().into_iter().map(|hit| hit.uid).collect()
}

#[cfg(unix)]
#[test]
fn files_are_private() {
    use std::os::unix::fs::PermissionsExt;
    let machine = Machine::new();
    let mut memory = machine.filled();
    memory.backup().unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let home = machine.home();
    assert_eq!((mode(home.folder()), mode(&home.backups())), (0o700, 0o700));
    for file in [home.file(), home.folder().join("memory.db-wal"), home.copies()[0].clone()] {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
    drop(memory);
    fs::set_permissions(home.file(), fs::Permissions::from_mode(0o644)).unwrap();
    drop(machine.open());
    assert_eq!(mode(&home.file()), 0o600);
}

/// Their files would be served as the user's own.
#[cfg(unix)]
#[test]
fn a_folder_of_others_is_refused() {
    use std::os::unix::fs::{PermissionsExt, chown};
    let machine = Machine::new();
    drop(machine.filled());
    let folder = machine.home().folder().to_owned();
    for mode in [0o777, 0o770, 0o702] {
        fs::set_permissions(&folder, fs::Permissions::from_mode(mode)).unwrap();
        let error = machine.open_at(Millis(1)).unwrap_err();
        assert!(error.what.contains("shared with other users"), "{mode:o}: {error}");
        assert!(error.hint.unwrap().contains("chmod 700"));
    }
    assert!(
        Memory::open_if_there(&machine.place, &machine.state, &MemorySettings::default(), Millis(1)).is_err()
    );
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
    drop(machine.open());
    // Only root can give a folder away.
    if chown(&folder, Some(12345), None).is_ok() {
        let error = machine.open_at(Millis(1)).unwrap_err();
        assert!(error.what.contains("belongs to another user"), "{error}");
    }
}

#[test]
fn hooks_are_told() {
    let machine = Machine::new();
    assert!(!machine.home().is_there().unwrap());
    let mut memory = machine.open();
    assert_eq!(catalogue::undecided(&machine.state), Known::Value(Undecided::default()));
    let own = machine.own();
    let acting = Acting { now: at(1), own: Some(&own), session: None };
    let topic = act::add_topic(&mut memory, &acting, "Search\nin two languages", None, None).unwrap();
    assert_eq!(topic.row.title, "Search in two languages");
    let record = |id| catalogue::topic(&machine.state, id).value().copied().flatten();
    assert_eq!(
        record(topic.id).map(|record| (record.project, record.closed, record.recorded)),
        Some((topic.in_project.id, false, None))
    );
    let offered = || catalogue::undecided(&machine.state).value().unwrap().topics.len();
    assert_eq!(offered(), 1);
    let made =
        act::add_decision(&mut memory, &acting, topic.id, "Bigrams\nfor both", Some("one index")).unwrap();
    assert_eq!(offered(), 0);
    let page = catalogue::project(&machine.state, &own.key).value().cloned().unwrap();
    assert_eq!((page.project.name.as_str(), page.decisions.len()), ("shop", 1));
    assert_eq!((page.decisions[0].id, page.decisions[0].name.as_str()), (made.id, "Bigrams"));
    assert_eq!(record(topic.id).unwrap().recorded, Some(at(1)));
    let closed = TopicEdit { status: Some(Status::Closed), ..TopicEdit::default() };
    act::edit_topic(&mut memory, at(2), topic.id, &closed).unwrap();
    assert!(record(topic.id).unwrap().closed);
    assert_eq!(catalogue::project(&machine.state, &own.key).value().unwrap().decisions, []);
    memory.forget(&Forget::Project(topic.in_project.id)).unwrap();
    assert_eq!(record(topic.id), None);
    assert_eq!(catalogue::project(&machine.state, &own.key), Known::Absent);
    // A missing catalogue is created again.
    memory.put(&world()).unwrap();
    drop(memory);
    fs::remove_dir_all(machine.state.root().join("memory")).unwrap();
    drop(machine.open());
    assert!(record(40).is_some());
}

#[test]
fn what_people_do() {
    let machine = Machine::new();
    let mut memory = machine.open();
    let own = machine.own();
    let acting = Acting { now: at(1), own: Some(&own), session: Some("s9") };
    let key = format!("ghp_{}", "a1B2".repeat(9));
    let topic = act::add_topic(&mut memory, &acting, "Tokens", None, None).unwrap();
    let log = act::add_log(&mut memory, &acting, topic.id, None, &format!("\nThe token is {key}\nand so on"))
        .unwrap();
    assert!(!log.row.text.contains(&key) && log.row.title.starts_with("The token is"), "{:?}", log.row);
    assert_eq!((log.row.redacted.len(), log.row.session.as_deref()), (1, Some("s9")));
    let first = act::add_decision(&mut memory, &acting, topic.id, "Rotate", None).unwrap();
    let second =
        act::supersede_decision(&mut memory, &acting, first.id, "Rotate daily", Some("it leaked")).unwrap();
    assert_eq!(act::find_decision(&mut memory, first.id).unwrap().superseded_by, Some(second.id));
    let error = act::supersede_decision(&mut memory, &acting, first.id, "x", None).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Refused);
    assert!(error.hint.unwrap().contains(&second.id.to_string()));
    act::retract_decision(&mut memory, at(2), second.id).unwrap();
    assert_eq!(act::find_decision(&mut memory, first.id).unwrap().superseded_by, None);
    let child = act::add_topic(&mut memory, &acting, "Rotation", None, Some(topic.id)).unwrap();
    assert_eq!(child.part_of.map(|whole| whole.id), Some(topic.id));
    let circle = TopicEdit { parent: Some(Some(child.id)), ..TopicEdit::default() };
    assert_eq!(act::edit_topic(&mut memory, at(3), topic.id, &circle).unwrap_err().kind, ErrorKind::Refused);
    for empty in ["", " \n", "\u{1b}\u{7}"] {
        assert!(act::add_topic(&mut memory, &acting, empty, None, None).is_err());
        assert!(act::add_decision(&mut memory, &acting, topic.id, empty.trim(), None).is_err());
    }
    assert!(act::add_log(&mut memory, &acting, topic.id, None, &"x".repeat(70_000)).is_err());
    assert_eq!(act::add_log(&mut memory, &acting, 999, None, "x").unwrap_err().kind, ErrorKind::Missing);
    let nobody = Acting { own: None, ..acting };
    assert_eq!(act::add_topic(&mut memory, &nobody, "x", None, None).unwrap_err().kind, ErrorKind::Refused);
    assert_eq!(act::find_project(&mut memory, "shop").unwrap().row.key, Some(own.key.clone()));
    let id = act::find_project(&mut memory, "shop").unwrap().id.to_string();
    assert_eq!(act::find_project(&mut memory, &id).unwrap().row.name, "shop");
    assert!(act::find_project(&mut memory, "harbour").unwrap_err().hint.unwrap().contains("shop"));
    // No version is later than the end of time: a change that has no effect must not be reported as one.
    let updated = Millis(u64::MAX);
    let last = [
        Record::Topic(TopicRow { updated, ..rows::topic("t9", &child.row.project) }),
        Record::Decision(DecisionRow { updated, id: Some(90), ..decision("d9", "t9", 1) }),
    ];
    memory.put(&last).unwrap();
    let id = memory.topic_by_uid("t9").unwrap().unwrap().id;
    let closed = TopicEdit { status: Some(Status::Closed), ..TopicEdit::default() };
    let edit = act::DecisionEdit { reason: Some("another".to_owned()), ..act::DecisionEdit::default() };
    assert_eq!(act::edit_topic(&mut memory, at(4), id, &closed).unwrap_err().kind, ErrorKind::Refused);
    assert_eq!(act::edit_decision(&mut memory, at(4), 90, &edit).unwrap_err().kind, ErrorKind::Refused);
    assert_eq!(act::retract_decision(&mut memory, at(4), 90).unwrap_err().kind, ErrorKind::Refused);
    memory.forget(&Forget::Topic(id)).unwrap();
    let startup = act::startup(&mut memory, &machine.settings, Some(&own), None).unwrap();
    assert_eq!((startup.undecided.len(), startup.decisions.len()), (1, 1));
}

#[test]
fn stock_and_progress_are_found() {
    let machine = Machine::new();
    let mut memory = machine.open();
    let own = machine.own();
    let context = Path::new(&own.root).join(".claude/context");
    fs::create_dir_all(&context).unwrap();
    fs::write(
        context.join("progress.md"),
        "# Progress\n\n## 2026-11-01 10:00 Parser reads CRLF\n- **What**: giraffe\n",
    )
    .unwrap();
    fs::write(
        context.join("learnings-coding.md"),
        "## One lock per project\n- **Learning**: flock ends with its process\n- **Context**: zebra\n- **Implication**: none\n- **Confirmed**: 2 times | 2026-02-18 | implement\n",
    )
    .unwrap();
    memory.refresh_notes(Path::new(&own.root), &own.key).unwrap();
    assert_eq!(found(&mut memory, "zebra"), Vec::<String>::new(), "the project is not known");
    act::make_project(&mut memory, &own, at(1)).unwrap();
    for _ in 0..2 {
        memory.refresh_notes(Path::new(&own.root), &own.key).unwrap();
    }
    let search = |memory: &mut Memory, text: &str| {
        memory.search(&Query { text: text.to_owned(), ..Query::default() }).unwrap()
    };
    let hit = search(&mut memory, "zebra").remove(0);
    assert_eq!(
        (hit.kind, hit.title.as_str(), hit.project.as_deref()),
        (HitKind::Stock, "One lock per project", Some("shop"))
    );
    assert_eq!(search(&mut memory, "giraffe")[0].kind, HitKind::Progress);
    fs::remove_file(context.join("progress.md")).unwrap();
    memory.refresh_notes(Path::new(&own.root), &own.key).unwrap();
    assert_eq!(search(&mut memory, "giraffe"), []);
}

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

#[test]
fn what_a_killed_backup_left_is_cleared_away() {
    type Clears = fn(&mut Memory);
    let machine = Machine::new();
    let mut memory = machine.filled();
    let backups = machine.home().backups();
    let left = [
        "new.tmp",
        "new.1004.tmp",
        "new.tmp.tidegate-half",
        "new.tmp-journal",
        "memory-2026-01-01.db-journal",
    ];
    let clears: [Clears; 2] = [
        |memory| {
            memory.backup().unwrap();
        },
        |memory| {
            memory.forget(&Forget::Log("l1".to_owned())).unwrap();
        },
    ];
    for clears in clears {
        fs::create_dir_all(&backups).unwrap();
        for name in left {
            fs::write(backups.join(name), "half").unwrap();
        }
        fs::write(backups.join("notes.txt"), "somebody's own").unwrap();
        clears(&mut memory);
        let mut names: Vec<String> = fs::read_dir(&backups)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        assert_eq!(names, [format!("memory-{}.db", at(10_000).day()), "notes.txt".to_owned()]);
    }
}

#[test]
fn copies_are_made_once_a_day_and_few_are_kept() {
    let machine = Machine::new();
    drop(machine.filled());
    for day in 0..6 {
        let mut memory = machine.open_at(at(day * 24 * 60)).unwrap();
        let copy = memory.backup_if_due().unwrap().unwrap();
        assert!(is_sound(&copy));
        assert_eq!(memory.backup_if_due().unwrap(), None);
    }
    let copies = machine.home().copies();
    assert_eq!(copies.len(), 3);
    assert!(copies[0].to_string_lossy().contains(&at(5 * 24 * 60).day()), "{copies:?}");
}

/// After damage of any kind, everything in the backup and in the readable rest of the file is there again,
/// and it is reported.
#[test]
fn a_damaged_store_is_set_aside_and_rebuilt() {
    type Damage = fn(&Path);
    let kinds: [(&str, Damage); 6] = [
        ("a page of logs", |file| {
            let mut bytes = fs::read(file).unwrap();
            // The index contains the words of a text, so this sequence is only in the log.
            let text = log("m150", "t1", 0).text.into_bytes();
            let place = bytes.windows(text.len()).position(|found| found == text).unwrap();
            let page = place / 4096 * 4096;
            bytes[page..page + 4096].fill(0xa5);
            fs::write(file, bytes).unwrap();
        }),
        ("header", |file| {
            let mut bytes = fs::read(file).unwrap();
            bytes[..100].fill(b'x');
            fs::write(file, bytes).unwrap();
        }),
        ("middle pages", |file| {
            let mut bytes = fs::read(file).unwrap();
            let length = bytes.len();
            bytes[length / 3..length / 3 * 2].fill(0xa5);
            fs::write(file, bytes).unwrap();
        }),
        ("nothing left", |file| fs::write(file, "").unwrap()),
        ("cut in half", |file| {
            let length = fs::metadata(file).unwrap().len();
            fs::OpenOptions::new().write(true).open(file).unwrap().set_len(length / 2).unwrap();
        }),
        ("something else", |file| {
            fs::write(file, "not a database, but long enough to be one".repeat(300)).unwrap();
        }),
    ];
    for (kind, damage) in kinds {
        for with_copy in [true, false] {
            let machine = Machine::new();
            let mut memory = machine.filled();
            let many: Vec<Record> =
                (0..300).map(|n| Record::Log(log(&format!("m{n}"), "t1", 100 + n))).collect();
            memory.put(&many).unwrap();
            if with_copy {
                memory.backup().unwrap();
            }
            memory.put(&[Record::Log(log("late", "t1", 500))]).unwrap();
            let before = logs(&mut memory);
            drop(memory);
            damage(&machine.home().file());

            let what = format!("{kind}, copy: {with_copy}");
            if kind == "nothing left" && !with_copy {
                // An empty file without a backup cannot be told from a new one.
                assert_eq!(logs(&mut machine.open()), 0);
                continue;
            }
            let mut memory = machine.open_at(at(20_000)).unwrap_or_else(|error| panic!("{what}: {error}"));
            // Some damage shows only when that part is read.
            let _ = found(&mut memory, "says");
            let put = memory.put(&[Record::Log(log("new", "t1", 600))]);
            // Rows stored before the damage was noticed are saved with the rest.
            let new = u64::from(put.is_ok() && memory.healed.is_some());
            let after = logs(&mut memory);
            let mut rows = 0;
            memory
                .for_each_record(&mut |_| {
                    rows += 1;
                    Ok(())
                })
                .unwrap();
            let least = match kind {
                _ if with_copy => before - 1,
                // A page holds some fifty logs.
                "a page of logs" => before - 60,
                _ => 0,
            };
            assert!(after >= least, "{what}: {after} of {before}");
            let healed = memory.healed.clone().unwrap_or_else(|| panic!("{what}: nobody noticed"));
            assert_eq!(healed.copy.is_some(), with_copy, "{what}");
            if !with_copy {
                assert_eq!(
                    rows,
                    healed.saved + new,
                    "{what}: what is said to be saved is there, and nothing else"
                );
            }
            assert!(healed.aside.join("memory.db").exists(), "{what}");
            assert!(healed.line().contains("damaged"));
            assert_eq!(machine.home().damaged_files().len(), 1, "{what}");
            assert!(memory.store().check().unwrap().is_empty(), "{what}");
            drop(memory);
            assert_eq!(machine.open().healed, None, "{what}: said once");
        }
    }
}

#[test]
fn a_torn_write_ahead_log_loses_nothing_that_was_in_the_file() {
    let machine = Machine::new();
    let mut memory = machine.filled();
    memory.put(&[Record::Log(log("late", "t1", 500))]).unwrap();
    // As after a power cut: the process did not close the file, and the end of the write-ahead log is
    // missing.
    let (wal, copy) = (machine.home().folder().join("memory.db-wal"), machine.folder.path().join("wal"));
    fs::copy(&wal, &copy).unwrap();
    let file = fs::read(machine.home().file()).unwrap();
    drop(memory);
    for length in [0, 31, 32, 100, 5000, 20_000] {
        let mut bytes = fs::read(&copy).unwrap();
        bytes.truncate(length);
        fs::write(machine.home().file(), &file).unwrap();
        fs::write(&wal, bytes).unwrap();
        let _ = fs::remove_file(machine.home().folder().join("memory.db-shm"));
        let mut memory = machine.open();
        assert!(memory.store().check().unwrap().is_empty(), "{length}");
        drop(memory);
    }
}

#[test]
fn only_the_index_is_damaged() {
    let machine = Machine::new();
    let mut memory = machine.filled();
    let broken = rusqlite::Connection::open(machine.home().file()).unwrap();
    broken.execute("UPDATE find_data SET block = x'0102030405060708' WHERE id > 100", []).unwrap();
    drop(broken);
    let everything = logs(&mut memory);
    assert_eq!(found(&mut memory, "設計"), ["l2"]);
    assert_eq!(logs(&mut memory), everything, "the texts were sound");
    assert_eq!(memory.healed.unwrap().saved, world().len() as u64);
}

#[test]
fn of_what_an_older_store_shared_the_team_is_told_the_end() {
    let machine = Machine::new();
    let project = machine.filled().project_by_name("p1").unwrap().unwrap().id;
    let older = rusqlite::Connection::open(machine.home().file()).unwrap();
    older
        .execute_batch(
            "DROP TABLE pulled; DROP TABLE told; DROP TABLE few_term; DROP TABLE few; UPDATE about SET value = '1' WHERE name = 'tokens';
            UPDATE project SET shared = uid = 'p1'; PRAGMA user_version = 1",
        )
        .unwrap();
    drop(older);
    let mut memory = machine.open();
    assert!(memory.store().check().unwrap().is_empty(), "what is no log has an index now");
    let gone = memory.forget(&Forget::Project(project)).unwrap();
    let told = memory.store().outbox_forgotten(100).unwrap();
    assert_eq!(told.into_iter().map(|(_, uid)| uid).collect::<Vec<_>>(), gone);
    assert!(memory.forget(&Forget::Log("l4".to_owned())).is_ok());
    assert_eq!(memory.store().outbox_forgotten(100).unwrap().len(), gone.len(), "nobody was told of p2");
}

#[test]
fn a_store_that_kept_no_list_of_pulled_rows_begins_one() {
    let machine = Machine::new();
    let all = |memory: &mut Memory| {
        let mut rows = Vec::new();
        memory
            .for_each_record(&mut |record| {
                rows.push(record);
                Ok(())
            })
            .unwrap();
        rows
    };
    let before = all(&mut machine.filled());
    let older = rusqlite::Connection::open(machine.home().file()).unwrap();
    older.execute_batch("DROP TABLE pulled; PRAGMA user_version = 3").unwrap();
    drop(older);
    let mut memory = machine.open();
    assert_eq!(all(&mut memory), before);
    assert!(memory.store().origins().unwrap().is_empty(), "all of it counts as written here");
    let copy = machine.home().backups().join("before-version-4-3.db");
    assert!(is_sound(&copy));
    let theirs = Foreign { record: Record::Topic(topic("theirs", "p1")), origin: "them".to_owned() };
    memory.store().put_from_team(&[theirs]).unwrap();
    assert_eq!(memory.store().origins().unwrap(), [("theirs".to_owned(), "them".to_owned())].into());
}

#[test]
fn a_newer_store_is_left_alone() {
    let machine = Machine::new();
    drop(machine.filled());
    let newer = rusqlite::Connection::open(machine.home().file()).unwrap();
    newer.pragma_update(None, "user_version", 99).unwrap();
    drop(newer);
    let bytes = fs::read(machine.home().file()).unwrap();
    let error = machine.open_at(at(1)).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Newer);
    assert!(error.what.contains("99") && error.hint.unwrap().contains("newer"));
    assert_eq!(fs::read(machine.home().file()).unwrap(), bytes);
    assert!(machine.home().damaged_files().is_empty());
}

#[test]
fn another_programs_database_is_left_alone() {
    let machine = Machine::new();
    fs::create_dir_all(machine.home().folder()).unwrap();
    let other = rusqlite::Connection::open(machine.home().file()).unwrap();
    other.execute_batch("CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1)").unwrap();
    drop(other);
    assert_eq!(machine.open_at(at(1)).unwrap_err().kind, ErrorKind::Refused);
}

/// A new index if that suffices, else from the backup and the rest of the file.
#[test]
fn what_a_check_finds_is_mended() {
    for (damage, rebuilt) in [
        ("INSERT INTO find (find) VALUES ('delete-all')", false),
        ("INSERT INTO few (few) VALUES ('delete-all')", false),
        ("INSERT INTO find (rowid, tokens) VALUES (99, 'p:7')", false),
        ("PRAGMA foreign_keys = OFF; DELETE FROM topic WHERE uid = 't4'", true),
    ] {
        for with_copy in [true, false] {
            let machine = Machine::new();
            let mut memory = machine.filled();
            if with_copy {
                memory.backup().unwrap();
            }
            rusqlite::Connection::open(machine.home().file()).unwrap().execute_batch(damage).unwrap();
            let wrong = memory.check().unwrap();
            assert!(!wrong.is_empty(), "{damage}");
            memory.repair(&wrong.join("; ")).unwrap();
            assert_eq!(memory.check().unwrap(), Vec::<String>::new(), "{damage}");
            assert_eq!(memory.healed.is_some(), rebuilt, "{damage}");
            assert_eq!(found(&mut memory, "設計"), ["l2"], "{damage}");
            if with_copy || !rebuilt {
                assert_eq!(logs(&mut memory), 8, "{damage}");
            }
        }
    }
}
