//! Backups, damage and repair.

use super::*;

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

/// Made while the clock was a year ahead: newer copies do not go for it, and it is not what a damaged store is restored from.
#[test]
fn a_copy_from_the_future_is_the_oldest() {
    let machine = Machine::new();
    let year = 365 * 24 * 60;
    let mut memory = machine.filled();
    drop(memory);
    memory = machine.open_at(at(year)).unwrap();
    let ahead = memory.backup_if_due().unwrap().unwrap();
    let later = std::time::SystemTime::now() + std::time::Duration::from_hours(365 * 24);
    fs::File::options().write(true).open(&ahead).unwrap().set_modified(later).unwrap();
    drop(memory);
    for day in 1..5 {
        let mut memory = machine.open_at(at(day * 24 * 60)).unwrap();
        let copy = memory.backup_if_due().unwrap().unwrap();
        let copies = machine.home().copies();
        assert_eq!(copies[0], copy);
        assert_eq!(copies.len(), 3.min(day as usize + 1));
        assert_eq!(ahead.exists(), day < 3);
    }
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
