//! Another process keeps the store busy.

#![expect(clippy::unwrap_used, reason = "whatever cannot be had ends a test")]

#[path = "conformance/rows.rs"]
mod rows;

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use tidegate_memory::error::ErrorKind;
use tidegate_memory::record::Record;
use tidegate_memory::sqlite::{OpenOutcome, SqliteStore};
use tidegate_memory::store::Store;
use tidegate_memory::view::{Filter, Page, Query};

use rows::{log, world};

fn logs(store: &mut SqliteStore) -> usize {
    store.logs(&Filter::default(), &Page { limit: 1000, after: None }).unwrap().rows.len()
}

#[test]
fn readers_read_and_a_writer_gives_up_in_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let mut store = SqliteStore::open_with(&path, Duration::from_millis(50)).unwrap().store;
    store.put(&world()).unwrap();
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE; UPDATE topic SET title = 'half'").unwrap();
    assert_eq!(logs(&mut store), 8);
    assert_eq!(store.search(&Query { text: "設計".to_owned(), ..Query::default() }).unwrap().hits.len(), 1);
    assert_eq!(SqliteStore::open_with(&path, Duration::from_millis(50)).unwrap().outcome, OpenOutcome::Found);
    let error = store.put(&[Record::Log(log("new", "t1", 99))]).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Busy);
    assert!(error.passes() && error.hint.is_some());
    other.execute_batch("ROLLBACK").unwrap();
    store.put(&[Record::Log(log("new", "t1", 99))]).unwrap();
    assert_eq!(logs(&mut store), 9);
}

#[test]
fn a_writer_waits_for_another() {
    /// Long enough that a writer without patience has failed.
    const HELD: Duration = Duration::from_millis(500);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let mut store = SqliteStore::open(&path).unwrap().store;
    store.put(&world()).unwrap();
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let (sender, stored) = mpsc::channel();
    let writer = thread::spawn(move || {
        sender.send(store.put(&[Record::Log(log("new", "t1", 99))])).unwrap();
        logs(&mut store)
    });
    let early = stored.recv_timeout(HELD);
    assert!(early.is_err(), "the writer did not wait: {early:?}");
    other.execute_batch("COMMIT").unwrap();
    stored.recv().unwrap().unwrap();
    assert_eq!(writer.join().unwrap(), 9);
}

/// Sixteen writers with many transactions each: every row is stored once.
#[test]
fn many_write_the_same_and_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let writers: Vec<_> = (0..16)
        .map(|writer| {
            let path = path.clone();
            thread::spawn(move || {
                let mut store = SqliteStore::open_with(&path, Duration::from_mins(2)).unwrap().store;
                store.put(&world()).unwrap();
                for n in 0..10 {
                    store.put(&[Record::Log(log(&format!("w{writer}-{n}"), "t1", 100 + n))]).unwrap();
                }
            })
        })
        .collect();
    for writer in writers {
        writer.join().unwrap();
    }
    let mut store = SqliteStore::open(&path).unwrap().store;
    assert_eq!(logs(&mut store), 168);
    assert_eq!(store.topic_by_uid("t1").unwrap().unwrap().logs, 163);
    assert!(store.check().unwrap().is_empty());
}
