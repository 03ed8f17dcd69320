//! The memory of a machine with its files.

#![expect(clippy::unwrap_used, reason = "whatever cannot be had ends a test")]

mod damage;
mod forgetting;
mod importing;
#[cfg(unix)]
mod looking;
#[path = "../conformance/rows.rs"]
mod rows;
mod versions;
#[path = "../written_by/mod.rs"]
mod written_by;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tidegate_core::feature::facts::Known;
use tidegate_core::feature::memory::catalogue::Undecided;
use tidegate_core::feature::memory::job::RelayProject;
use tidegate_core::feature::memory::settings::MemorySettings;
use tidegate_core::time::Millis;
use tidegate_memory::act::{self, Acting, TopicEdit};
use tidegate_memory::error::ErrorKind;
use tidegate_memory::memory::{Memory, MemoryHome};
use tidegate_memory::record::{DecisionRow, Foreign, LogRow, Record, TopicRow, TopicStatus};
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

    fn own(&self) -> RelayProject {
        let root = self.folder.path().join("shop").to_string_lossy().into_owned();
        RelayProject { key: format!("{root}/.git"), name: "shop".to_owned(), root, branch: None }
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
    memory.search(&query).unwrap().hits.into_iter().map(|hit| hit.uid).collect()
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
    assert_eq!(catalogue::read_undecided(&machine.state), Known::Value(Undecided::default()));
    let own = machine.own();
    let acting = Acting { now: at(1), own: Some(&own), session: None, by: None };
    let topic = act::add_topic(&mut memory, &acting, "Search\nin two languages", None, None).unwrap().topic;
    assert_eq!(topic.row.title, "Search in two languages");
    let record = |id| catalogue::read_topic(&machine.state, id).value().copied().flatten();
    assert_eq!(
        record(topic.id).map(|record| (record.project, record.closed, record.recorded)),
        Some((topic.in_project.id, false, None))
    );
    let offered = || catalogue::read_undecided(&machine.state).value().unwrap().topics.len();
    assert_eq!(offered(), 1);
    let made =
        act::add_decision(&mut memory, &acting, topic.id, "Bigrams\nfor both", Some("one index")).unwrap();
    assert_eq!(offered(), 0);
    let page = catalogue::read_project(&machine.state, &own.key).value().cloned().unwrap();
    assert_eq!((page.project.name.as_str(), page.decisions.len()), ("shop", 1));
    assert_eq!((page.decisions[0].id, page.decisions[0].name.as_str()), (made.id, "Bigrams"));
    assert_eq!(record(topic.id).unwrap().recorded, Some(at(1)));
    assert_eq!(page.recent, [], "nobody has worked on it yet");
    act::add_log(&mut memory, &acting, topic.id, None, "Tried both").unwrap();
    let page = catalogue::read_project(&machine.state, &own.key).value().cloned().unwrap();
    let [recent] = page.recent.try_into().unwrap();
    assert_eq!(
        (recent.id, recent.name.as_str(), recent.session),
        (topic.id, "Search in two languages", None)
    );
    let closed = TopicEdit { status: Some(TopicStatus::Closed), ..TopicEdit::default() };
    act::edit_topic(&mut memory, at(2), topic.id, &closed).unwrap();
    assert!(record(topic.id).unwrap().closed);
    assert_eq!(catalogue::read_project(&machine.state, &own.key).value().unwrap().decisions, []);
    memory.forget(&Forget::Project(topic.in_project.id)).unwrap();
    assert_eq!(record(topic.id), None);
    assert_eq!(catalogue::read_project(&machine.state, &own.key), Known::Absent);
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
    let acting = Acting { now: at(1), own: Some(&own), session: Some("s9"), by: None };
    let key = format!("ghp_{}", "a1B2".repeat(9));
    let topic = act::add_topic(&mut memory, &acting, "Tokens", None, None).unwrap().topic;
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
    let child = act::add_topic(&mut memory, &acting, "Rotation", None, Some(topic.id)).unwrap().topic;
    assert_eq!(child.part_of.map(|whole| whole.id), Some(topic.id));
    let circle = TopicEdit { parent: Some(Some(child.id)), ..TopicEdit::default() };
    assert_eq!(act::edit_topic(&mut memory, at(3), topic.id, &circle).unwrap_err().kind, ErrorKind::Refused);
    let again = act::add_topic(&mut memory, &acting, "Rotation", None, Some(topic.id)).unwrap();
    assert_eq!((again.topic.id, again.is_new), (child.id, false));
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
    let closed = TopicEdit { status: Some(TopicStatus::Closed), ..TopicEdit::default() };
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
        memory.search(&Query { text: text.to_owned(), ..Query::default() }).unwrap().hits
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
