//! Maintenance: checks, backups and the rescue of rows from a damaged file.

use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, Row, Transaction};
use serde::Serialize;
use tidegate_core::time::Millis;
use tidegate_state::file::lock;
use tidegate_state::file::lock::LockMode;

use super::connection;
use super::errors;
use super::index::{self, LOG_INDEX, OTHERS_INDEX};
use super::row::{self, to_ms};
use super::{SqliteStore, schema};
use crate::error::{Error, ErrorKind, Result};
use crate::record::{Record, Uid};
use crate::store::{Put, Store};

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StoreSizes {
    pub projects: u64,
    /// Without automatic topics.
    pub topics: u64,
    pub automatic_topics: u64,
    pub sessions: u64,
    pub logs: u64,
    /// Logs that wait for a summary by a language model.
    pub logs_again: u64,
    pub decisions: u64,
    /// Searchable learnings and progress notes.
    pub notes: u64,
    /// Entries that wait for delivery to the team.
    pub outbox: u64,
    /// Size of the file.
    pub bytes: u64,
}

impl SqliteStore {
    /// Reads the whole file and returns what is wrong with it.
    pub fn check(&mut self) -> Result<Vec<String>> {
        let mut wrong = find_damage(&self.connection)?;
        // FTS5 reports problems as an error.
        if let Err(error) = index::run_command(&self.connection, "integrity-check") {
            wrong.push(format!("the index: {error}"));
        }
        if wrong.is_empty() {
            wrong.extend(self.read(compare_index)?);
        }
        Ok(wrong)
    }

    pub fn rebuild_index(&mut self) -> Result<()> {
        self.write(|store| index::rebuild_index(store))
    }

    /// A consistent copy.
    pub fn backup(&mut self, to: &Path) -> Result<()> {
        backup_to(&self.connection, to)
    }

    pub fn sizes(&mut self) -> Result<StoreSizes> {
        let bytes = fs::metadata(&self.path).map_or(0, |found| found.len());
        self.read(|store| {
            let count = |sql: &str| -> Result<u64> {
                Ok(store.query_row(sql, [], |row| row.get::<_, i64>(0))? as u64)
            };
            Ok(StoreSizes {
                projects: count("SELECT count(*) FROM project")?,
                topics: count("SELECT count(*) FROM topic WHERE automatic IS NULL")?,
                automatic_topics: count("SELECT count(*) FROM topic WHERE automatic IS NOT NULL")?,
                sessions: count("SELECT count(*) FROM session")?,
                logs: count("SELECT coalesce(sum(logs), 0) FROM topic")?,
                logs_again: count("SELECT count(*) FROM log WHERE again = 1")?,
                decisions: count("SELECT count(*) FROM decision")?,
                notes: count("SELECT count(*) FROM note")?,
                outbox: count("SELECT count(*) FROM outbox")?,
                bytes,
            })
        })
    }
}

fn find_damage(connection: &Connection) -> Result<Vec<String>> {
    let mut check = connection.prepare("PRAGMA integrity_check(20)")?;
    let found = check.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<Vec<String>>>()?;
    let mut wrong: Vec<String> = found.into_iter().filter(|line| line != "ok").collect();
    let mut broken = connection.prepare("PRAGMA foreign_key_check")?;
    let mut rows = broken.query([])?;
    while let Some(row) = rows.next()? {
        let (from, to): (String, String) = (row.get(0)?, row.get(2)?);
        wrong.push(format!("{from} refers to a {to} that is not there"));
    }
    Ok(wrong)
}

/// Compares the number of indexed texts with that of the tables.
fn compare_index(store: &Transaction<'_>) -> Result<Option<String>> {
    let mut texts = store.prepare(
        "SELECT id, (SELECT count(*) FROM topic WHERE topic.project = project.id)
            + (SELECT count(*) FROM log JOIN topic ON topic.id = log.topic WHERE topic.project = project.id)
            + (SELECT count(*) FROM decision JOIN topic ON topic.id = decision.topic WHERE topic.project = project.id)
            + (SELECT count(*) FROM note WHERE note.project = project.id)
        FROM project",
    )?;
    let mut found = store.prepare(&format!(
        "SELECT (SELECT count(*) FROM {LOG_INDEX} WHERE {LOG_INDEX} MATCH ?1)
            + (SELECT count(*) FROM {OTHERS_INDEX} WHERE {OTHERS_INDEX} MATCH ?1)"
    ))?;
    let mut rows = texts.query([])?;
    let (mut there, mut indexed) = (0, 0);
    while let Some(row) = rows.next()? {
        there += row.get::<_, i64>(1)?;
        indexed += found
            .query_row([format!("\"{}\"", index::project_token(row.get(0)?))], |row| row.get::<_, i64>(0))?;
    }
    Ok((there != indexed).then(|| format!("the index holds {indexed} texts, and there are {there}")))
}

/// Exclusive lock held while a backup is written.
pub fn lock_copies(store: &Path) -> Result<File> {
    let path = store.with_file_name("lock.copies");
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(&path).map_err(|error| errors::io_error(&path, &error))?;
    lock::wait(&file, &path, LockMode::Exclusive).map_err(|error| Error::of_lock(&path, &error))?;
    Ok(file)
}

/// The copy is complete and on disk before it gets its name. Deleted rows leave no bytes in it.
pub fn backup_to(connection: &Connection, to: &Path) -> Result<()> {
    let mut half = to.as_os_str().to_owned();
    half.push(".tidegate-half");
    let half = PathBuf::from(half);
    let _ = fs::remove_file(&half);
    let made = (|| {
        // SQLite accepts an existing empty file, and this one is private from the start.
        super::make_file(&half)?;
        let name = half.to_str().ok_or_else(|| Error::new(ErrorKind::Io, "the path is not UTF-8"))?;
        connection.execute("VACUUM INTO ?1", [name])?;
        File::open(&half)
            .and_then(|file| file.sync_all())
            .map_err(|error| errors::io_error(&half, &error))?;
        fs::rename(&half, to).map_err(|error| errors::io_error(to, &error))
    })();
    if made.is_err() {
        let _ = fs::remove_file(&half);
    }
    made
}

/// The time limit against other processes.
const PATIENCE: Duration = Duration::from_secs(5);

/// Reads the whole file; false also for a version that this program does not know.
pub fn is_sound(path: &Path) -> bool {
    let check = || -> Result<bool> {
        let connection = connection::open(path, PATIENCE)?;
        let version: u32 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        let is_ours =
            (1..=schema::VERSION).contains(&version) && connection::added_code(&connection)?.is_none();
        Ok(is_ours && find_damage(&connection)?.is_empty())
    };
    path.metadata().is_ok_and(|found| found.len() > 0) && check().unwrap_or(false)
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuickCheck {
    pub logs: u64,
    /// Entries that wait for delivery to the team.
    pub outbox: u64,
    /// [`SqliteStore::note_whole_texts`] was not called since an older version wrote logs.
    pub has_short_texts: bool,
}

/// The key of a note that an older version wrote logs with a part of their texts.
const SHORT_TEXTS: &str = "short texts";

/// The key of the time when all transcripts were last imported.
const IMPORTED: &str = "imported";

pub(super) fn note_short_texts(store: &Connection) -> Result<()> {
    store.execute(
        "INSERT OR REPLACE INTO about (name, value) SELECT ?1, 1 WHERE EXISTS (SELECT 1 FROM log WHERE source = 'relay')",
        [SHORT_TEXTS],
    )?;
    Ok(())
}

impl SqliteStore {
    /// Notes that all transcripts of the machine were read at this time.
    pub fn note_import(&mut self, at: Millis) -> Result<()> {
        let note = "INSERT OR REPLACE INTO about (name, value) VALUES (?1, ?2)";
        self.connection.execute(note, (IMPORTED, to_ms(at).to_string()))?;
        Ok(())
    }

    pub fn last_import(&self) -> Result<Option<Millis>> {
        let sql = "SELECT value FROM about WHERE name = ?1";
        let found: Option<String> =
            self.connection.query_row(sql, [IMPORTED], |row| row.get(0)).optional()?;
        Ok(found.and_then(|at| at.parse().ok()).map(Millis))
    }

    /// Notes that logs of older versions were read again from their transcripts, as far as those still exist.
    pub fn note_whole_texts(&mut self) -> Result<()> {
        self.connection.execute("DELETE FROM about WHERE name = ?1", [SHORT_TEXTS])?;
        Ok(())
    }
}

/// Reads only a little and changes nothing: finds gross damage only.
pub fn quick_check(path: &Path) -> Result<QuickCheck> {
    let store = SqliteStore {
        connection: connection::open(path, PATIENCE)?,
        path: path.to_owned(),
        patience: PATIENCE,
    };
    store.check_version()?;
    if store.version()? == 0 {
        return Err(Error::new(ErrorKind::Damaged, format!("{} is empty", path.display())));
    }
    let number = |sql: &str| -> Result<i64> { Ok(store.connection.query_row(sql, [], |row| row.get(0))?) };
    for table in ["project", "topic", "session", "log", "decision", "note", "forgotten", "about"] {
        number(&format!("SELECT count(*) FROM (SELECT 1 FROM {table} LIMIT 1)"))?;
    }
    // FTS5 tables without content answer only MATCH queries.
    number(&format!(
        "SELECT count(*) FROM (SELECT 1 FROM {LOG_INDEX} WHERE {LOG_INDEX} MATCH '\"p:1\"' LIMIT 1)"
    ))?;
    let logs = number("SELECT coalesce(sum(logs), 0) FROM topic")? as u64;
    let has_short_texts = number(&format!("SELECT count(*) FROM about WHERE name = '{SHORT_TEXTS}'"))? > 0;
    Ok(QuickCheck { logs, outbox: number("SELECT count(*) FROM outbox")? as u64, has_short_texts })
}

/// A SELECT, its order, and the reader of its rows.
type SalvageQuery = (&'static str, &'static str, fn(&Row<'_>) -> rusqlite::Result<Record>);

/// Copies all readable rows of a damaged file into a store, after the list of forgotten uids. Returns the
/// number of new or changed rows.
pub fn salvage(damaged: &Path, into: &mut SqliteStore) -> u64 {
    let Ok(connection) = connection::open(damaged, PATIENCE) else { return 0 };
    let uids = |table: &str| -> Result<Vec<String>> {
        let mut found = connection.prepare(&format!("SELECT uid FROM {table}"))?;
        let rows = found.query_map([], |row| row.get(0))?;
        Ok(rows.map_while(std::result::Result::ok).collect())
    };
    let _ = uids("told").and_then(|uids| into.note_sent(uids.iter().map(String::as_str)));
    let _ = uids("forgotten").and_then(|uids| into.forget_uids(&uids));
    // Rows do not depend on the damaged list of their origins, nor on one that an older file does not have.
    let _ = connection.execute_batch("CREATE TEMP TABLE pulled (kind TEXT, uid TEXT, origin TEXT)");
    let _ = add_missing_columns(&connection, &into.connection);
    let kept: [SalvageQuery; 5] = [
        (row::SELECT_PROJECT, "project.id", |row| Ok(Record::Project(row::read_project(row)?.row))),
        (row::SELECT_TOPIC, "topic.id", |row| Ok(Record::Topic(row::read_topic(row)?.row))),
        (row::SELECT_SESSION, "session.id", |row| Ok(Record::Session(row::read_session(row)?))),
        (row::SELECT_LOG, "log.doc", |row| Ok(Record::Log(row::read_log(row)?.row))),
        (row::SELECT_DECISION, "decision.id", |row| Ok(Record::Decision(row::read_decision(row)?.row))),
    ];
    let mut saved = 0;
    for (select, order, read) in kept {
        // From both ends up to the damage, and once more for rows that refer to later ones.
        for direction in ["ASC", "DESC", "ASC"] {
            let _ = salvage_query(
                &connection,
                &format!("{select} ORDER BY {order} {direction}"),
                read,
                into,
                &mut saved,
            );
        }
    }
    let _ = read_origins(&connection).and_then(|rows| into.take_over_origins(&rows));
    saved
}

/// Columns that a file of an older version does not have yet are read with the values that its migration would give them.
fn add_missing_columns(damaged: &Connection, today: &Connection) -> Result<()> {
    let columns = |of: &Connection, table: &str| -> Result<Vec<(String, Option<String>)>> {
        let mut found = of.prepare("SELECT name, dflt_value FROM pragma_table_info(?1, 'main')")?;
        let rows = found.query_map([table], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    };
    for table in ["project", "topic", "session", "log", "decision"] {
        let there = columns(damaged, table)?;
        let missing: Vec<String> = columns(today, table)?
            .into_iter()
            .filter(|(name, _)| there.iter().all(|(known, _)| known != name))
            .map(|(name, value)| format!("{} AS {name}", value.as_deref().unwrap_or("NULL")))
            .collect();
        if !there.is_empty() && !missing.is_empty() {
            let missing = missing.join(", ");
            damaged.execute_batch(&format!(
                "CREATE TEMP VIEW {table} AS SELECT *, {missing} FROM main.{table}"
            ))?;
        }
    }
    Ok(())
}

/// Rows whose origin is lost count as written here.
fn read_origins(connection: &Connection) -> Result<Vec<(String, Uid, Uid)>> {
    let mut found = connection.prepare("SELECT kind, uid, origin FROM main.pulled")?;
    let rows = found.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    Ok(rows.map_while(std::result::Result::ok).collect())
}

fn salvage_query(
    connection: &Connection,
    sql: &str,
    read: fn(&Row<'_>) -> rusqlite::Result<Record>,
    into: &mut dyn Store,
    saved: &mut u64,
) -> Result<()> {
    const AT_ONCE: usize = 500;
    let mut found = connection.prepare(sql)?;
    let mut rows = found.query([])?;
    let mut waiting: Vec<Record> = Vec::new();
    let mut end = Ok(());
    loop {
        match rows.next() {
            Ok(Some(row)) => waiting.extend(read(row)),
            Ok(None) => break,
            Err(error) => {
                end = Err(error.into());
                break;
            }
        }
        if waiting.len() >= AT_ONCE {
            *saved += put_what_fits(&waiting, into);
            waiting.clear();
        }
    }
    *saved += put_what_fits(&waiting, into);
    end
}

fn put_what_fits(records: &[Record], into: &mut dyn Store) -> u64 {
    let new = |puts: &[Put]| puts.iter().filter(|put| matches!(put, Put::New | Put::Changed)).count() as u64;
    match into.put(records) {
        Ok(puts) => new(&puts),
        // One row refers to a lost one; the others need not be lost with it.
        Err(_) => records
            .iter()
            .filter_map(|record| into.put(std::slice::from_ref(record)).ok())
            .map(|puts| new(&puts))
            .sum(),
    }
}
