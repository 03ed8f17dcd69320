//! Opens connections to a store's file. The file may come from elsewhere (a backup, a synchronised folder,
//! another account), so nothing in its schema may run code, and no statement may bypass the tables.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::error::Result;

/// `patience` is the time to wait for other processes.
pub(super) fn open(path: &Path, patience: Duration) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    protect(Connection::open_with_flags(path, flags)?, patience)
}

/// Changes nothing in the file. While other processes have it open (`is_shared`), SQLite keeps the readers in the file for its
/// shared memory; otherwise it makes no file either, and does not notice a writer that comes meanwhile.
pub(super) fn open_to_read(path: &Path, patience: Duration, is_shared: bool) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = if is_shared || !cfg!(unix) {
        Connection::open_with_flags(path, flags)?
    } else {
        Connection::open_with_flags(still_address(path), flags | OpenFlags::SQLITE_OPEN_URI)?
    };
    connection.pragma_update(None, "query_only", true)?;
    protect(connection, patience)
}

/// SQLite reads a file without its sidecars only by such an address.
fn still_address(path: &Path) -> String {
    let mut address = "file:".to_owned();
    for byte in path.as_os_str().as_encoded_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-_.".contains(byte) {
            address.push(char::from(*byte));
        } else {
            let _ = write!(address, "%{byte:02X}");
        }
    }
    address + "?immutable=1"
}

fn protect(connection: Connection, patience: Duration) -> Result<Connection> {
    connection.busy_timeout(patience)?;
    // No statement can write the schema or the index's internal tables; only FTS5 itself can.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    // The schema cannot call functions with side effects.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    // The schema has neither; `added_code` sees only those that exist when the store is opened.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    // Finds damaged pages when they are read, before anything relies on them.
    connection.pragma_update(None, "cell_size_check", true)?;
    Ok(connection)
}

/// The first trigger or view in the schema, described for people.
pub(super) fn added_code(connection: &Connection) -> Result<Option<String>> {
    let mut added = connection.prepare(
        "SELECT type, name FROM sqlite_master WHERE type IN ('trigger', 'view') ORDER BY name LIMIT 1",
    )?;
    let mut rows = added.query([])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let (kind, name): (String, String) = (row.get(0)?, row.get(1)?);
    Ok(Some(format!("the {kind} {name:?}")))
}

#[cfg(test)]
mod tests {
    use super::super::{SqliteStore, is_sound, quick_check, salvage};
    use super::*;
    use crate::error::ErrorKind;
    use crate::record::{ProjectRow, Record};
    use crate::store::Store;
    use crate::view::Page;
    use std::fs;
    use std::path::PathBuf;
    use tidegate_core::time::Millis;

    const PATIENCE: Duration = Duration::from_secs(5);

    struct Scene {
        folder: tempfile::TempDir,
    }

    impl Scene {
        fn new() -> Scene {
            let scene = Scene { folder: tempfile::tempdir().unwrap() };
            scene.store().put(&[project("p1")]).unwrap();
            scene
        }

        fn file(&self) -> PathBuf {
            self.folder.path().join("memory.db")
        }

        fn store(&self) -> SqliteStore {
            SqliteStore::open(&self.file()).unwrap().store
        }

        /// Writes to the file as another program could.
        fn attack(&self, sql: &str) {
            let other = Connection::open(self.file()).unwrap();
            other.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, false).unwrap();
            other.execute_batch(sql).unwrap();
        }
    }

    fn project(uid: &str) -> Record {
        Record::Project(ProjectRow {
            uid: uid.to_owned(),
            key: None,
            name: uid.to_owned(),
            created: Millis(1),
            updated: Millis(1),
            id: None,
        })
    }

    fn projects(store: &mut SqliteStore) -> Vec<String> {
        let page = store.projects(&Page { limit: 1000, after: None }).unwrap();
        let mut names: Vec<String> = page.rows.into_iter().map(|project| project.row.name).collect();
        names.sort();
        names
    }

    #[test]
    fn a_store_with_a_trigger_or_a_view_is_refused_and_left_as_it_is() {
        for (attack, named) in [
            (
                "CREATE TRIGGER spy AFTER INSERT ON project BEGIN UPDATE project SET shared = 1; END",
                "trigger \"spy\"",
            ),
            (
                "ALTER TABLE project RENAME TO real; CREATE VIEW project AS SELECT * FROM real",
                "view \"project\"",
            ),
        ] {
            let scene = Scene::new();
            scene.attack(attack);
            let bytes = fs::read(scene.file()).unwrap();
            for refused in [SqliteStore::open(&scene.file()).map(drop), quick_check(&scene.file()).map(drop)]
            {
                let error = refused.unwrap_err();
                assert_eq!(error.kind, ErrorKind::Refused, "{error}");
                assert!(error.what.contains(named), "{error}");
                assert!(error.hint.unwrap().contains("TIDEGATE_DATA_DIR"));
            }
            assert!(!is_sound(&scene.file()), "not to be used in place of a damaged store");
            assert_eq!(fs::read(scene.file()).unwrap(), bytes);
        }
    }

    /// The schema is inspected only on opening, and a worker keeps the store open.
    #[test]
    fn a_trigger_that_comes_later_does_not_run() {
        let scene = Scene::new();
        let mut store = scene.store();
        scene.attack(
            "CREATE TRIGGER spy AFTER INSERT ON project BEGIN UPDATE project SET name = 'stolen'; END",
        );
        store.put(&[project("p2")]).unwrap();
        assert_eq!(projects(&mut store), ["p1", "p2"]);
    }

    #[test]
    fn nothing_of_a_damaged_file_runs_while_rows_are_saved_from_it() {
        let scene = Scene::new();
        scene.attack(
            "ALTER TABLE project RENAME TO real;
             CREATE VIEW project AS SELECT id, uid, key, 'stolen' AS name, created, updated, active, shared FROM real",
        );
        let new = Scene { folder: tempfile::tempdir().unwrap() };
        let mut store = new.store();
        assert_eq!(salvage(&scene.file(), &mut store), 0);
        assert_eq!(projects(&mut store), Vec::<String>::new());
    }

    #[test]
    fn no_statement_writes_behind_the_tables() {
        let scene = Scene::new();
        let connection = open(&scene.file(), PATIENCE).unwrap();
        connection.execute_batch("PRAGMA writable_schema = ON").unwrap();
        for statement in [
            "UPDATE sqlite_master SET sql = 'CREATE TABLE project (x)' WHERE name = 'project'",
            "UPDATE find_data SET block = x'00'",
            "DELETE FROM few_data",
            "DROP TABLE find_config",
        ] {
            connection.execute_batch(statement).unwrap_err();
        }
        let trusted: bool = connection.query_row("PRAGMA trusted_schema", [], |row| row.get(0)).unwrap();
        assert!(!trusted);
        connection.execute_batch("PRAGMA journal_mode = DELETE").unwrap();
    }

    /// Overwrites each page in turn: the result must be rows or a clear error.
    #[test]
    fn a_page_of_rubbish_is_damage_and_nothing_worse() {
        const PAGE: usize = 4096;
        let scene = Scene::new();
        let records: Vec<Record> = (0..200).map(|number| project(&format!("many-{number}"))).collect();
        scene.store().put(&records).unwrap();
        scene.attack("PRAGMA wal_checkpoint(TRUNCATE)");
        let sound = fs::read(scene.file()).unwrap();
        let mut noticed = 0;
        for page in 0..sound.len() / PAGE {
            for (from, to, with) in [(8, 64, 0xff), (8, 64, 0x00), (0, 8, 0x0d), (PAGE / 2, PAGE, 0xa5)] {
                // The first page starts with the file header.
                let skipped = if page == 0 { 100 } else { 0 };
                let mut bytes = sound.clone();
                bytes[page * PAGE..][skipped + from..(skipped + to).min(PAGE)].fill(with);
                let _ = fs::remove_file(scene.file().with_extension("db-wal"));
                let _ = fs::remove_file(scene.file().with_extension("db-shm"));
                fs::write(scene.file(), bytes).unwrap();
                let used = SqliteStore::open(&scene.file()).and_then(|opened| {
                    let mut store = opened.store;
                    store.for_each_record(&mut |_| Ok(()))?;
                    store.put(&[project("new")])
                });
                if let Err(error) = used {
                    assert_eq!(error.kind, ErrorKind::Damaged, "page {page}: {error}");
                    noticed += 1;
                }
            }
        }
        assert!(noticed > 0);
    }
}
