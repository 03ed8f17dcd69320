//! The catalogue's files: read by hooks, written by every change of the store.

use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tidegate_core::feature::facts::Known;
use tidegate_core::feature::memory::catalogue::{ProjectPage, RECORD_BYTES, TopicRecord, Undecided};

use crate::file::lock;
use crate::file::lock::LockMode;
use crate::file::{bounded, private, replace};
use crate::place::{self, StateDir};

/// In bytes. A list has at most [`MOST`](tidegate_core::feature::memory::catalogue::MOST) short lines.
const LARGEST: u64 = 256 * 1024;

/// Higher ids are damage: at its offset, such a record would grow the file to a gigabyte.
const HIGHEST: i64 = 1 << 25;

/// `Absent` without a catalogue; `Value(None)` if no topic has this id.
pub fn read_topic(state: &StateDir, id: i64) -> Known<Option<TopicRecord>> {
    let mut file = match bounded::open(&topics_file(state)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Known::Absent,
        Err(error) => return Known::Broken(error.to_string()),
        Ok(file) => file,
    };
    let Some(at) = offset_of(id) else { return Known::Value(None) };
    let mut bytes = [0; RECORD_BYTES];
    match file.seek(SeekFrom::Start(at)).and_then(|_| file.read_exact(&mut bytes)) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Known::Value(None),
        Err(error) => Known::Broken(error.to_string()),
        Ok(()) => Known::Value(TopicRecord::read(&bytes, id)),
    }
}

/// Topics that may be offered at a session's start.
pub fn read_undecided(state: &StateDir) -> Known<Undecided> {
    read(&memory_folder(state).join("undecided.json"))
}

/// Parses only the first `most`.
pub fn read_first_undecided(state: &StateDir, most: usize) -> Known<Undecided> {
    read_by(&memory_folder(state).join("undecided.json"), |bytes| {
        let lines: Lines<'_> = serde_json::from_slice(bytes)?;
        let first = lines.topics.iter().take(most).map(|line| serde_json::from_str(line.get()));
        Ok(Undecided { topics: first.collect::<Result<_, _>>()? })
    })
}

/// [`Undecided`] with unparsed topics.
#[derive(Deserialize)]
struct Lines<'a> {
    #[serde(borrow)]
    topics: Vec<&'a RawValue>,
}

pub fn read_project(state: &StateDir, key: &str) -> Known<ProjectPage> {
    match read::<ProjectPage>(&page_file(state, key)) {
        Known::Value(page) if page.key != key => Known::Broken("it is another project's".to_owned()),
        found => found,
    }
}

/// Replaces all topics. Invalid ids are skipped.
pub fn write_topics(state: &StateDir, all: impl IntoIterator<Item = TopicRecord>) -> io::Result<()> {
    let mut bytes = vec![0; RECORD_BYTES];
    for record in all {
        let Some(at) = offset_of(record.id).map(|at| at as usize) else { continue };
        if bytes.len() < at + RECORD_BYTES {
            bytes.resize(at + RECORD_BYTES, 0);
        }
        bytes[at..at + RECORD_BYTES].copy_from_slice(&record.bytes());
    }
    let _alone = lock_exclusive(state)?;
    replace::copy(&topics_file(state), &bytes)
}

/// Writes in place. After damage, hooks miss one topic until all are replaced.
pub fn write_topic(state: &StateDir, record: &TopicRecord) -> io::Result<()> {
    let at = offset_of(record.id).ok_or_else(|| io::Error::other("no id of a topic"))?;
    let _alone = lock_exclusive(state)?;
    let mut file = private::open_lock_file(&topics_file(state))?;
    file.seek(SeekFrom::Start(at))?;
    file.write_all(&record.bytes())
}

pub fn write_undecided(state: &StateDir, undecided: &Undecided) -> io::Result<()> {
    write(state, &memory_folder(state).join("undecided.json"), undecided)
}

pub fn write_project(state: &StateDir, project: &ProjectPage) -> io::Result<()> {
    write(state, &page_file(state, &project.key), project)
}

/// Before all projects are written again: one may be gone.
pub fn clear_projects(state: &StateDir) -> io::Result<()> {
    let _alone = lock_exclusive(state)?;
    for entry in std::fs::read_dir(memory_folder(state).join("projects"))? {
        std::fs::remove_file(entry?.path())?;
    }
    Ok(())
}

fn read<T: DeserializeOwned>(path: &Path) -> Known<T> {
    read_by(path, |bytes| serde_json::from_slice(bytes))
}

fn read_by<T>(path: &Path, parse: impl FnOnce(&[u8]) -> serde_json::Result<T>) -> Known<T> {
    match bounded::read(path, LARGEST) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Known::Absent,
        Err(error) => Known::Broken(error.to_string()),
        Ok(bytes) => match parse(&bytes) {
            Ok(value) => Known::Value(value),
            Err(error) => Known::Broken(error.to_string()),
        },
    }
}

fn write(state: &StateDir, path: &Path, value: &impl Serialize) -> io::Result<()> {
    let bytes = serde_json::to_vec(value).map_err(io::Error::other)?;
    if bytes.len() as u64 > LARGEST {
        return Err(io::Error::other("too large"));
    }
    let _alone = lock_exclusive(state)?;
    replace::copy(path, &bytes)
}

/// A record that is written while the file is being replaced would be lost.
fn lock_exclusive(state: &StateDir) -> io::Result<std::fs::File> {
    place::make_private(&memory_folder(state).join("projects"))?;
    let path = memory_folder(state).join("lock");
    let lock = private::open_lock_file(&path)?;
    lock::wait(&lock, &path, LockMode::Exclusive)?;
    Ok(lock)
}

fn offset_of(id: i64) -> Option<u64> {
    u64::try_from(id).ok().filter(|_| id > 0 && id <= HIGHEST).map(|id| id * RECORD_BYTES as u64)
}

fn memory_folder(state: &StateDir) -> PathBuf {
    state.root().join("memory")
}

fn topics_file(state: &StateDir) -> PathBuf {
    memory_folder(state).join("topics")
}

fn page_file(state: &StateDir, key: &str) -> PathBuf {
    memory_folder(state).join("projects").join(crate::project::folder_name(key.as_ref()) + ".json")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use tidegate_core::feature::memory::catalogue::{Decided, NamedId, UndecidedTopic};
    use tidegate_core::time::Millis;

    fn state(folder: &tempfile::TempDir) -> StateDir {
        let env = place::PlaceEnv { state_dir: Some(folder.path().join("s")), ..Default::default() };
        StateDir::open(&env).unwrap()
    }

    fn record(id: i64) -> TopicRecord {
        TopicRecord { id, project: 3, automatic: false, closed: id == 4, recorded: Some(Millis(7)) }
    }

    #[test]
    fn a_topic_is_found_by_its_id() {
        let folder = tempfile::tempdir().unwrap();
        let state = state(&folder);
        assert_eq!(read_topic(&state, 1), Known::Absent);
        write_topics(&state, [4, 1, i64::MAX, -1, 0].map(record)).unwrap();
        let found = |id| read_topic(&state, id);
        assert_eq!([found(1), found(4)], [1, 4].map(|id| Known::Value(Some(record(id)))));
        for id in [2, 0, -1, 5, 900, i64::MAX, i64::MIN] {
            assert_eq!(found(id), Known::Value(None), "{id}");
        }
        write_topic(&state, &record(9)).unwrap();
        let changed = TopicRecord { recorded: None, ..record(1) };
        write_topic(&state, &changed).unwrap();
        assert_eq!([found(1), found(9)], [changed, record(9)].map(|record| Known::Value(Some(record))));
        assert_eq!((found(4), found(8)), (Known::Value(Some(record(4))), Known::Value(None)));
        assert!(write_topic(&state, &record(i64::MAX)).is_err() && write_topic(&state, &record(0)).is_err());
        write_topics(&state, []).unwrap();
        assert_eq!(found(1), Known::Value(None));
        fs::write(topics_file(&state), [1; 70]).unwrap();
        assert_eq!((found(1), found(2)), (Known::Value(None), Known::Value(None)), "damaged and torn");
        fs::remove_file(topics_file(&state)).unwrap();
        fs::create_dir(topics_file(&state)).unwrap();
        assert!(matches!(found(1), Known::Broken(_)));
    }

    #[test]
    fn lists_read_back_and_damage_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let state = state(&folder);
        assert_eq!(read_undecided(&state), Known::Absent);
        assert_eq!(read_project(&state, "/p/.git"), Known::Absent);
        let named = |id, name: &str| NamedId { id, name: name.to_owned() };
        let decided = |id, name: &str| Decided { id, name: name.to_owned(), by: String::new() };
        let topics =
            vec![UndecidedTopic { topic: named(4, "検索"), project: named(3, "p"), by: String::new() }];
        write_undecided(&state, &Undecided { topics: topics.clone() }).unwrap();
        assert_eq!(read_undecided(&state), Known::Value(Undecided { topics }));
        assert_eq!(
            (read_first_undecided(&state, 0), read_first_undecided(&state, 1)),
            (Known::Value(Undecided::default()), read_undecided(&state))
        );
        let page = ProjectPage::new("/p/.git".to_owned(), named(3, "p"), vec![decided(1, "bigrams")]);
        write_project(&state, &page).unwrap();
        assert_eq!(read_project(&state, "/p/.git"), Known::Value(page));
        assert_eq!(read_project(&state, "/q/.git"), Known::Absent);
        // Older versions wrote all decisions.
        let all: Vec<Decided> = (1..=50).map(|id| decided(id, "they read long files")).collect();
        let old = serde_json::json!({"key": "/p/.git", "id": 3, "name": "p", "decisions": all});
        let path = super::page_file(&state, "/p/.git");
        fs::write(&path, old.to_string()).unwrap();
        let long = ProjectPage::new("/p/.git".to_owned(), named(3, "p"), all);
        assert!(long.more > 0);
        assert_eq!(read_project(&state, "/p/.git"), Known::Value(long.clone()));
        write_project(&state, &long).unwrap();
        assert_eq!(read_project(&state, "/p/.git"), Known::Value(long));
        fs::copy(super::page_file(&state, "/p/.git"), super::page_file(&state, "/q/.git")).unwrap();
        assert!(matches!(read_project(&state, "/q/.git"), Known::Broken(_)));
        fs::write(super::memory_folder(&state).join("undecided.json"), "{").unwrap();
        assert!(matches!(read_undecided(&state), Known::Broken(_)));
        fs::write(super::memory_folder(&state).join("undecided.json"), vec![b' '; LARGEST as usize + 1])
            .unwrap();
        assert!(matches!(read_undecided(&state), Known::Broken(_)));
    }
}
