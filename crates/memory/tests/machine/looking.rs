//! A look changes nothing, whatever it finds.

use std::collections::BTreeMap;
use std::os::unix::fs::{PermissionsExt, symlink};

use tidegate_memory::error::Result;
use tidegate_memory::memory::look;

use super::*;

/// Every file of the memory with its mode and its bytes.
fn everything(machine: &Machine) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut folders = vec![machine.home().folder().to_owned()];
    let mut found = BTreeMap::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            let about = fs::symlink_metadata(&entry).unwrap();
            let bytes = if about.is_file() { fs::read(&entry).unwrap() } else { Vec::new() };
            if about.is_dir() {
                folders.push(entry.clone());
            }
            found.insert(entry, (about.permissions().mode(), bytes));
        }
    }
    found
}

fn topics(machine: &Machine) -> Result<Option<Vec<String>>> {
    look(&machine.place, |store| {
        let found = store.search(&Query { text: "l1".to_owned(), ..Query::default() })?;
        assert!(found.hits.len() < 100);
        let page = Page { limit: 100, after: None };
        Ok(store.topics(&Filter::default(), &page)?.rows.into_iter().map(|topic| topic.row.title).collect())
    })
}

fn looked_at(machine: &Machine) -> Result<Option<Vec<String>>> {
    let before = everything(machine);
    let seen = topics(machine);
    assert_eq!(everything(machine), before);
    seen
}

#[test]
fn rows_are_seen_with_and_without_a_writer() {
    let machine = Machine::new();
    assert_eq!(topics(&machine), Ok(None));
    assert!(!machine.home().folder().exists(), "nothing was made");
    let mut memory = machine.filled();
    let live = topics(&machine).unwrap().unwrap();
    memory.put(&[Record::Topic(topic("more", "p1"))]).unwrap();
    assert_eq!(topics(&machine).unwrap().unwrap().len(), live.len() + 1, "also what is only in the log");
    drop(memory);
    assert_eq!(looked_at(&machine).unwrap().unwrap().len(), live.len() + 1);
}

#[test]
fn a_file_with_a_loose_mode_or_behind_a_link_keeps_it() {
    let machine = Machine::new();
    drop(machine.filled());
    let elsewhere = machine.folder.path().join("a store?#%41.db");
    fs::rename(machine.home().file(), &elsewhere).unwrap();
    fs::set_permissions(&elsewhere, fs::Permissions::from_mode(0o644)).unwrap();
    symlink(&elsewhere, machine.home().file()).unwrap();
    assert!(looked_at(&machine).unwrap().is_some());
    assert_eq!(fs::metadata(&elsewhere).unwrap().permissions().mode() & 0o777, 0o644);
}

#[test]
fn an_older_store_stays_as_it_is() {
    let machine = Machine::new();
    drop(machine.filled());
    for change in [
        "PRAGMA user_version = 3",
        "PRAGMA user_version = 5; UPDATE about SET value = '1' WHERE name = 'tokens'",
    ] {
        let older = rusqlite::Connection::open(machine.home().file()).unwrap();
        older.execute_batch(change).unwrap();
        drop(older);
        let error = looked_at(&machine).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Older, "{error}");
        assert!(error.hint.unwrap().contains("tidegate memory check"));
    }
}

#[test]
fn a_damaged_store_stays_where_it_is() {
    let machine = Machine::new();
    // With a copy, an empty file is a loss.
    machine.filled().backup().unwrap();
    for bytes in [vec![0x5a; 20_000], Vec::new()] {
        fs::write(machine.home().file(), bytes).unwrap();
        assert_eq!(looked_at(&machine).unwrap_err().kind, ErrorKind::Damaged);
    }
}

#[test]
fn a_rebuild_is_waited_for_and_no_lock_is_made() {
    let machine = Machine::new();
    drop(machine.filled());
    let lock = machine.home().folder().join("lock");
    let holder = fs::File::options().write(true).open(&lock).unwrap();
    holder.lock().unwrap();
    assert_eq!(looked_at(&machine).unwrap_err().kind, ErrorKind::Busy);
    drop(holder);
    fs::remove_file(&lock).unwrap();
    assert!(looked_at(&machine).unwrap().is_some());
}
