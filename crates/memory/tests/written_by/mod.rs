//! The store of 0.1.0, its export and its last exchange with a team, read by this version.
//! `0.1.0/README.md` says how the files were made.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tidegate_core::time::Millis;
use tidegate_memory::memory::Memory;
use tidegate_memory::record::Record;
use tidegate_memory::store::Store as _;
use tidegate_memory::team::TeamState;
use tidegate_memory::view::{Filter, Page};

use super::{Machine, found};

/// Shortly after the files were written.
const NOW: Millis = Millis(1_794_941_800_000);

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/written_by/0.1.0")
}

/// A machine with the store of 0.1.0, also under another name.
fn upgraded(names: &[&str]) -> Machine {
    let machine = Machine::new();
    let folder = machine.folder.path().join("data/memory");
    for name in names {
        let to = folder.join(name);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(fixtures().join("memory.db"), to).unwrap();
    }
    fs::copy(fixtures().join("team.json"), folder.join("team.json")).unwrap();
    machine
}

fn exported(file: &str) -> Vec<Value> {
    let text = fs::read_to_string(fixtures().join(file)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// As `memory export` prints it.
fn all(memory: &mut Memory) -> Vec<Value> {
    let mut records = Vec::new();
    let mut take = |record: Record| {
        records.push(serde_json::to_value(record).unwrap());
        Ok(())
    };
    memory.for_each_record(&mut take).unwrap();
    records
}

fn check(memory: &mut Memory) {
    assert_eq!(memory.check().unwrap(), Vec::<String>::new());
    let sizes = memory.sizes().unwrap();
    let counted = (sizes.projects, sizes.topics, sizes.automatic_topics, sizes.sessions, sizes.decisions);
    assert_eq!(counted, (2, 5, 8, 9, 3));
    assert_eq!((sizes.logs, sizes.logs_again), (12, 11));
    let (cookie, question) =
        ("88c1bac4-118f-4ebf-bc73-46edab0e3cf2", "2a9b7c64-0000-4000-8000-000000000001-u");
    let hits = found(memory, "cookie valid");
    assert!([cookie, question].iter().all(|uid| hits.iter().any(|hit| hit == uid)), "{hits:?}");
    assert_eq!(found(memory, "署名付きクッキー")[0], "b65f1a7f-a395-4b12-92f8-02a98d4cb374", "a decision");
    assert!(found(memory, "再試行").len() > 1);
    let log = memory.log(cookie).unwrap().unwrap();
    assert_eq!(
        (log.row.title.as_str(), log.row.text.as_str()),
        ("Cookie lifetime", "The cookie is valid for 30 days and is renewed on use.")
    );
    let decisions = memory.decisions(&Filter::default(), &Page { limit: 9, after: None }).unwrap().rows;
    assert_eq!(decisions.len(), 3);
}

#[test]
fn a_store_of_0_1_0_is_opened_and_migrated() {
    let machine = upgraded(&["memory.db"]);
    let mut memory = machine.open_at(NOW).unwrap();
    check(&mut memory);
    // A topic was created after the export; everything else is in it.
    let now = all(&mut memory);
    let before = exported("export.jsonl");
    for record in &before {
        assert!(now.contains(record), "{record} is not in the store");
    }
    assert_eq!(now.len(), before.len() + 1);
    let copies = machine.home().copies();
    assert_eq!(copies.len(), 1, "one from before the migration");
    drop(memory);
    check(&mut machine.open_at(NOW).unwrap());
}

#[test]
fn a_copy_of_0_1_0_takes_the_place_of_a_damaged_store() {
    let machine = upgraded(&["backups/memory-2026-11-17.db"]);
    fs::write(machine.home().file(), "damaged").unwrap();
    check(&mut machine.open_at(NOW).unwrap());
}

#[test]
fn an_export_of_0_1_0_is_taken_in() {
    // The second file uses every field of a row.
    for file in ["export.jsonl", "export-members.jsonl"] {
        let written = exported(file);
        let records: Vec<Record> =
            written.iter().map(|record| serde_json::from_value(record.clone()).unwrap()).collect();
        let again: Vec<Value> = records.iter().map(|record| serde_json::to_value(record).unwrap()).collect();
        assert_eq!(again, written);
        let machine = Machine::new();
        let mut memory = machine.open_at(NOW).unwrap();
        memory.put(&records).unwrap();
        assert_eq!(all(&mut memory), written);
    }
}

#[test]
fn the_exchange_with_a_team_goes_on() {
    let machine = upgraded(&["memory.db"]);
    let folder = machine.home().folder().to_owned();
    for file in ["team-members.json", "team.json"] {
        let written = fs::read(fixtures().join(file)).unwrap();
        fs::write(folder.join("team.json"), &written).unwrap();
        let standing = serde_json::to_value(TeamState::read(&machine.home())).unwrap();
        assert_eq!(standing, serde_json::from_slice::<Value>(&written).unwrap(), "{file}");
    }
    let standing = TeamState::read(&machine.home());
    let server = "postgres://dev@127.0.0.1:1/memory";
    let next = standing.failure.as_ref().unwrap().next;
    assert!(!standing.is_due(server, Millis(next.0 - 1)) && standing.is_due(server, next));
}

#[test]
fn every_file_of_0_1_0_is_read_here() {
    let files = fs::read_dir(fixtures()).unwrap().map(|entry| entry.unwrap().file_name());
    let files: BTreeSet<String> = files.map(|name| name.to_string_lossy().into_owned()).collect();
    assert_eq!(
        Vec::from_iter(files),
        [
            "README.md",
            "export-members.jsonl",
            "export.jsonl",
            "memory.db",
            "team-members.json",
            "team-tables.sql",
            "team.json"
        ]
    );
}

/// The damage is in an index that no row needs.
#[test]
fn a_damaged_store_of_0_1_0_loses_no_row() {
    let machine = upgraded(&["memory.db"]);
    let file = machine.home().file();
    let older = rusqlite::Connection::open(&file).unwrap();
    let page: u32 = older
        .query_row("SELECT rootpage FROM sqlite_schema WHERE name = 'topic_undecided'", [], |row| row.get(0))
        .unwrap();
    drop(older);
    let mut bytes = fs::read(&file).unwrap();
    bytes[(page as usize - 1) * 4096..][..64].fill(0xa5);
    fs::write(&file, bytes).unwrap();
    let mut memory = machine.open_at(NOW).unwrap();
    let _ = found(&mut memory, "cookie");
    let healed = memory.healed.clone().expect("the damage is noticed");
    assert_eq!(healed.copy, None);
    let sizes = memory.sizes().unwrap();
    assert_eq!((sizes.logs, sizes.decisions), (12, 3));
    assert_eq!(memory.check().unwrap(), Vec::<String>::new());
}
