//! Merges the parts of the search index.
//!
//! Each transaction leaves a part, and FTS5 merges four of a size when they come together. A search looks for every
//! reading of its question in every part, so half of its time depends on their number. Between two pieces of work there
//! is time to merge further, a few pages in each transaction: other processes hardly wait.

use rusqlite::params;

use super::SqliteStore;
use super::index::{LOG_INDEX, OTHERS_INDEX};
use crate::error::Result;

/// Pages of 4 KiB that one transaction writes.
const STEP: i64 = 500;

/// Two parts of a size are merged.
const PARTS: i64 = 2;

impl SqliteStore {
    /// Writes at most about this number of pages, of both indexes together. Does nothing if the parts are merged already.
    pub fn merge_index(&mut self, pages: u32) -> Result<()> {
        let mut left = i64::from(pages);
        for index in [OTHERS_INDEX, LOG_INDEX] {
            while left > 0 && self.merge_step(index)? {
                left -= STEP;
            }
        }
        Ok(())
    }

    /// Returns whether there may be more to merge.
    fn merge_step(&mut self, index: &str) -> Result<bool> {
        let is_set = format!("SELECT 1 FROM {index}_config WHERE k = 'usermerge' AND v = ?1");
        let command = format!("INSERT INTO {index} ({index}, rank) VALUES (?1, ?2)");
        self.write(|store| {
            let mut command = store.prepare_cached(&command)?;
            if !store.prepare_cached(&is_set)?.exists([PARTS])? {
                command.execute(params!["usermerge", PARTS])?;
            }
            let before = store.total_changes();
            command.execute(params!["merge", STEP])?;
            // The statement itself is one.
            Ok(store.total_changes() - before > 1)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{ProjectRow, Record, TopicRow, TopicStatus};
    use crate::store::Store;
    use crate::view::Query;
    use serde_json::json;
    use tidegate_core::time::Millis;

    fn parts(store: &SqliteStore) -> i64 {
        parts_of(store, OTHERS_INDEX)
    }

    fn parts_of(store: &SqliteStore, index: &str) -> i64 {
        let count = format!("SELECT count(DISTINCT segid) FROM {index}_idx");
        store.connection.query_row(&count, [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn few_parts_are_left_and_everything_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = SqliteStore::open(&folder.path().join("memory.db")).unwrap().store;
        let at = Millis(1_800_000_000_000);
        let (uid, name) = ("p".to_owned(), "shop".to_owned());
        store
            .put(&[Record::Project(ProjectRow { uid, id: None, key: None, name, created: at, updated: at })])
            .unwrap();
        let topic = |number: u64, title: &str, updated: u64| {
            Record::Topic(TopicRow {
                uid: format!("t{number}"),
                id: None,
                project: "p".to_owned(),
                parent: None,
                title: title.to_owned(),
                status: TopicStatus::Open,
                automatic: None,
                offered: 0,
                offered_at: None,
                created: at,
                updated: Millis(at.0 + updated),
            })
        };
        for number in 0..22 {
            store.put(&[topic(number, "harbour", number)]).unwrap();
        }
        // One changes: its old word is gone from a part that is merged.
        store.put(&[topic(3, "lantern", 100)]).unwrap();
        let before = parts(&store);
        store.merge_index(10_000).unwrap();
        assert!(parts(&store) < before && parts(&store) <= 3, "{before} → {}", parts(&store));
        let found = |store: &mut SqliteStore, text: &str| {
            store.search(&Query { text: text.to_owned(), limit: 50, ..Query::default() }).unwrap().hits.len()
        };
        assert_eq!((found(&mut store, "harbour"), found(&mut store, "lantern")), (21, 1));
        assert_eq!(store.check().unwrap(), Vec::<String>::new());
        let merged = parts(&store);
        store.merge_index(10_000).unwrap();
        assert_eq!(parts(&store), merged, "nothing is left to do");
    }

    #[test]
    fn both_indexes_share_the_pages() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = SqliteStore::open(&folder.path().join("memory.db")).unwrap().store;
        let row = |row: serde_json::Value| serde_json::from_value::<Record>(row).unwrap();
        let project =
            row(json!({ "kind": "project", "uid": "p", "name": "shop", "created": 1, "updated": 1 }));
        store.put(&[project]).unwrap();
        for number in 0..11 {
            let topic = json!({ "kind": "topic", "uid": format!("t{number}"), "project": "p", "title": "harbour",
                "status": "open", "created": 1, "updated": 1 });
            let log = json!({ "kind": "log", "uid": format!("l{number}"), "topic": format!("t{number}"),
                "title": "lantern", "text": "lantern", "source": "relay", "at": 1, "updated": 1 });
            store.put(&[row(topic)]).unwrap();
            store.put(&[row(log)]).unwrap();
        }
        let both = |store: &SqliteStore| [OTHERS_INDEX, LOG_INDEX].map(|index| parts_of(store, index));
        let before = both(&store);
        store.merge_index(1).unwrap();
        let once = both(&store);
        assert!(once[0] < before[0] && once[1] == before[1], "one step in all: {before:?} → {once:?}");
        store.merge_index(10_000).unwrap();
        assert!(both(&store)[1] < before[1], "{before:?} → {:?}", both(&store));
    }
}
