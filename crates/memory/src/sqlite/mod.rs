//! The embedded store: one SQLite file.
//!
//! Many processes use it at once: readers never wait (WAL), writers take turns (`BEGIN IMMEDIATE` with a
//! time limit of ten seconds). A commit is on disk before it returns (`synchronous = FULL`), because the
//! worker then removes the job. Migrations go forward only, in one transaction, after a backup.

mod connection;
mod all_rows;
mod errors;
mod forget;
mod index;
mod list;
mod notes;
mod outbox;
mod pulled;
mod put;
mod row;
mod schema;
mod search;
mod maintenance;
mod merge;

use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::{Connection, Transaction, TransactionBehavior, config::DbConfig};
use tidegate_core::time::Millis;
use tidegate_state::place;

use crate::act::WITHIN;
use crate::error::{Error, ErrorKind, Result};
use crate::record::{Record, SessionRow, Uid};
use crate::store::{Put, Store};
use crate::view::{Decision, Filter, Forget, Found, Log, MemoryProject, Page, Paged, Query, Topic};

pub use maintenance::{QuickCheck, StoreSizes, backup_to, is_sound, lock_copies, quick_check, salvage};
pub use notes::SearchableNote;
pub use outbox::{Outgoing, OutgoingContent};

/// A writer's time limit.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub struct SqliteStore {
    connection: Connection,
    path: PathBuf,
    patience: Duration,
}

#[derive(Debug)]
pub struct OpenedStore {
    pub store: SqliteStore,
    pub outcome: OpenOutcome,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpenOutcome {
    Found,
    Made,
    /// Brought to the current version.
    Migrated {
        from: u32,
        /// A copy of the file before the migration.
        backup: PathBuf,
    },
}

impl SqliteStore {
    /// Ids of the projects within the one with this key, oldest first.
    pub fn projects_within(&self, key: &str) -> Result<Vec<i64>> {
        let within = "SELECT id FROM project WHERE key >= ?1 AND key < ?2 ORDER BY id";
        let (from, to) = (format!("{key}{WITHIN}"), format!("{key}/0"));
        let mut found = self.connection.prepare_cached(within)?;
        let ids = found.query_map([from, to], |row| row.get(0))?;
        Ok(ids.collect::<rusqlite::Result<_>>()?)
    }

    /// Creates the file if it is missing and migrates it if it is older.
    pub fn open(path: &Path) -> Result<OpenedStore> {
        SqliteStore::open_with(path, PATIENCE)
    }

    /// `patience` is a writer's time limit.
    pub fn open_with(path: &Path, patience: Duration) -> Result<OpenedStore> {
        make_file(path)?;
        let connection = connection::open(path, patience)?;
        let mut store = SqliteStore { connection, path: path.to_owned(), patience };
        // SQLite itself does not wait while another process creates the file.
        let start = Instant::now();
        loop {
            match store.check_version().and_then(|()| store.set_up()) {
                Err(error) if error.kind == ErrorKind::Busy && start.elapsed() < patience => {
                    std::thread::sleep(Duration::from_millis(10));
                }
                done => break done?,
            }
        }
        let outcome = store.migrate()?;
        store.rebuild_index_if_outdated()?;
        Ok(OpenedStore { store, outcome })
    }

    /// To look, and to change nothing: an older store is an error. `None` for a file that another process is only creating.
    pub(crate) fn open_to_read(
        path: &Path,
        patience: Duration,
        is_shared: bool,
    ) -> Result<Option<SqliteStore>> {
        let connection = connection::open_to_read(path, patience, is_shared)?;
        let store = SqliteStore { connection, path: path.to_owned(), patience };
        store.check_version()?;
        let version = store.version()?;
        if version == 0 {
            return Ok(None);
        }
        if version < schema::VERSION || !store.has_own_index()? {
            let shown = path.display();
            return Err(Error::new(ErrorKind::Older, format!("{shown} was written by an older tidegate"))
                .hint("`tidegate memory check` brings it up to date"));
        }
        store.set_up_reading()?;
        Ok(Some(store))
    }

    /// A backup, to delete rows in it. `None` for one of another version.
    pub(crate) fn open_copy(path: &Path) -> Result<Option<SqliteStore>> {
        let store = SqliteStore {
            connection: connection::open(path, PATIENCE)?,
            path: path.to_owned(),
            patience: PATIENCE,
        };
        store.check_version()?;
        store.connection.execute_batch("PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON;")?;
        Ok((store.version()? == schema::VERSION).then_some(store))
    }

    pub fn set_patience(&mut self, patience: Duration) -> Result<()> {
        self.connection.busy_timeout(patience)?;
        self.patience = patience;
        Ok(())
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// By its uid or a unique prefix of it: lists show only its beginning.
    pub fn session_by_prefix(&mut self, beginning: &str) -> Result<Option<SessionRow>> {
        self.read(|store| row::find_session_by_prefix(store, beginning))
    }

    pub fn session(&mut self, uid: &str) -> Result<Option<SessionRow>> {
        row::find_session(&self.connection, "session.uid = ?1", [uid])
    }

    fn set_up(&self) -> Result<()> {
        let mode: String = self.connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
        if mode != "wal" {
            return Err(Error::new(ErrorKind::Io, format!("{}: no write-ahead log", self.path.display())));
        }
        self.connection.execute_batch(
            "PRAGMA synchronous = FULL;
             PRAGMA foreign_keys = ON;
             PRAGMA secure_delete = ON;
             PRAGMA journal_size_limit = 16777216;",
        )?;
        self.set_up_reading()
    }

    fn set_up_reading(&self) -> Result<()> {
        self.connection.execute_batch("PRAGMA temp_store = MEMORY; PRAGMA cache_size = -32768;")?;
        // Otherwise SQLite compiles a statement again for each binding if a partial index is involved, which
        // takes longer than most statements run.
        self.connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        self.connection.set_prepared_statement_cache_capacity(64);
        Ok(())
    }

    fn version(&self) -> Result<u32> {
        Ok(self.connection.query_row("PRAGMA user_version", [], |row| row.get(0))?)
    }

    /// Checks, before any change, that the file is a store and not of a later version.
    fn check_version(&self) -> Result<()> {
        let shown = self.path.display();
        // One consistent read: another process may be creating the store.
        let moment = self.connection.unchecked_transaction()?;
        let version = self.version()?;
        let application: i32 = self.connection.query_row("PRAGMA application_id", [], |row| row.get(0))?;
        let is_empty =
            self.connection.query_row("SELECT count(*) = 0 FROM sqlite_master", [], |row| row.get(0))?;
        let added = connection::added_code(&self.connection)?;
        drop(moment);
        let elsewhere = "move it elsewhere, or set TIDEGATE_DATA_DIR to another folder";
        if application != schema::APPLICATION && !(application == 0 && version == 0 && is_empty) {
            return Err(Error::new(ErrorKind::Refused, format!("{shown} is another program's database"))
                .hint(elsewhere));
        }
        if let Some(added) = added {
            let what = format!("{shown} holds {added}, which Tidegate did not put there");
            return Err(Error::new(ErrorKind::Refused, what).hint(elsewhere));
        }
        if version > schema::VERSION {
            return Err(Error::new(
                ErrorKind::Newer,
                format!(
                    "{shown} was written by a newer tidegate (version {version} of the store; this one knows {})",
                    schema::VERSION
                ),
            )
            .hint("use the newer tidegate; this one leaves the file as it is"));
        }
        Ok(())
    }

    /// One transaction: a crash in the middle changes nothing.
    fn migrate(&mut self) -> Result<OpenOutcome> {
        let from = self.version()?;
        if from == schema::VERSION {
            return Ok(OpenOutcome::Found);
        }
        let backup = match from {
            0 => None,
            from => {
                let folder = self.path.with_file_name("backups");
                place::make_private(&folder).map_err(|error| errors::io_error(&folder, &error))?;
                let _alone = lock_copies(&self.path)?;
                let backup = folder.join(format!("before-version-{}-{from}.db", schema::VERSION));
                backup_to(&self.connection, &backup)?;
                Some(backup)
            }
        };
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Another process may have migrated it meanwhile.
        let from: u32 = transaction.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        for step in schema::STEPS.iter().skip(from as usize) {
            transaction.execute_batch(step)?;
        }
        if (1..schema::WHOLE_TEXTS).contains(&from) {
            maintenance::note_short_texts(&transaction)?;
        }
        transaction.pragma_update(None, "application_id", schema::APPLICATION)?;
        transaction.pragma_update(None, "user_version", schema::VERSION)?;
        transaction.commit()?;
        Ok(match backup {
            None if from == 0 => OpenOutcome::Made,
            Some(backup) if from < schema::VERSION => OpenOutcome::Migrated { from, backup },
            _ => OpenOutcome::Found,
        })
    }

    fn write<T>(&mut self, act: impl FnOnce(&Transaction<'_>) -> Result<T>) -> Result<T> {
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let done = act(&transaction)?;
        transaction.commit()?;
        Ok(done)
    }

    fn read<T>(&mut self, act: impl FnOnce(&Transaction<'_>) -> Result<T>) -> Result<T> {
        let transaction = self.connection.transaction()?;
        act(&transaction)
    }
}

/// Private to the user from the start.
fn make_file(path: &Path) -> Result<()> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    place::make_private(folder).map_err(|error| errors::io_error(folder, &error))?;
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path).map_err(|error| errors::io_error(path, &error))?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let found = file.metadata().map_err(|error| errors::io_error(path, &error))?;
        if found.permissions().mode() & 0o077 != 0 {
            fs::set_permissions(path, fs::Permissions::from_mode(0o600))
                .map_err(|error| errors::io_error(path, &error))?;
        }
    }
    #[cfg(not(unix))]
    let _ = (file, fs::metadata(path));
    Ok(())
}

impl Store for SqliteStore {
    fn put(&mut self, records: &[Record]) -> Result<Vec<Put>> {
        self.write(|store| put::put_records(store, records, put::WrittenBy::ThisMachine))
    }

    fn project(&mut self, id: i64) -> Result<Option<MemoryProject>> {
        self.read(|store| row::find_project(store, "project.id = ?1", [id]))
    }

    fn project_by_key(&mut self, key: &str) -> Result<Option<MemoryProject>> {
        self.read(|store| row::find_project(store, "project.key = ?1", [key]))
    }

    fn project_by_name(&mut self, name: &str) -> Result<Option<MemoryProject>> {
        self.read(|store| {
            row::find_project(
                store,
                "project.name = ?1 ORDER BY project.active DESC, project.id DESC LIMIT 1",
                [name],
            )
        })
    }

    fn projects(&mut self, page: &Page) -> Result<Paged<MemoryProject>> {
        self.read(|store| list::projects(store, page))
    }

    fn topic(&mut self, id: i64) -> Result<Option<Topic>> {
        self.read(|store| row::find_topic(store, "topic.id = ?1", [id]))
    }

    fn topic_by_uid(&mut self, uid: &str) -> Result<Option<Topic>> {
        self.read(|store| row::find_topic(store, "topic.uid = ?1", [uid]))
    }

    fn topics(&mut self, filter: &Filter, page: &Page) -> Result<Paged<Topic>> {
        self.read(|store| list::topics(store, filter, page))
    }

    fn undecided_topics(&mut self, project: Option<i64>, limit: usize) -> Result<Vec<Topic>> {
        self.read(|store| list::undecided_topics(store, project, limit))
    }

    fn note_offers(&mut self, session: &str, topics: &[i64], at: Millis) -> Result<()> {
        self.write(|store| put::note_offers(store, session, topics, at))
    }

    fn log(&mut self, uid: &str) -> Result<Option<Log>> {
        self.read(|store| row::find_log_by_prefix(store, uid))
    }

    fn logs(&mut self, filter: &Filter, page: &Page) -> Result<Paged<Log>> {
        self.read(|store| list::logs(store, filter, page))
    }

    fn logs_to_summarise(&mut self, limit: usize) -> Result<Vec<Uid>> {
        self.read(|store| list::logs_to_summarise(store, limit))
    }

    fn decision(&mut self, id: i64) -> Result<Option<Decision>> {
        self.read(|store| row::find_decision(store, "decision.id = ?1", [id]))
    }

    fn decision_by_uid(&mut self, uid: &str) -> Result<Option<Decision>> {
        self.read(|store| row::find_decision(store, "decision.uid = ?1", [uid]))
    }

    fn decisions(&mut self, filter: &Filter, page: &Page) -> Result<Paged<Decision>> {
        self.read(|store| list::decisions(store, filter, page))
    }

    fn search(&mut self, query: &Query) -> Result<Found> {
        self.read(|store| search::search_store(store, query))
    }

    fn forget(&mut self, what: &Forget) -> Result<Vec<Uid>> {
        let gone = self.forget_rows(what)?;
        self.clear_log()?;
        Ok(gone)
    }

    fn for_each_record(&mut self, take: &mut dyn FnMut(Record) -> Result<()>) -> Result<()> {
        self.read(|store| all_rows::visit_rows(store, take))
    }
}
