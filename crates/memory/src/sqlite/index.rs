//! The search index: the tokens of each text, under a number that contains its time.

use std::collections::BTreeSet;

use rusqlite::{Connection, params};
use tidegate_core::text::fnv;
use tidegate_core::time::Millis;

use super::SqliteStore;
use super::row::{self, More, of_ms};
use crate::error::{Error, ErrorKind, Result};
use crate::text;

/// The version of the assignment of texts to indexes. An index with another version, or with tokens of
/// another version, is rebuilt.
const LAYOUT: u32 = 2;

/// The table is in the last two bits of a doc number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Table {
    Log = 0,
    Decision = 1,
    Topic = 2,
    Note = 3,
}

impl Table {
    pub(super) fn of(doc: i64) -> Table {
        match doc & 3 {
            0 => Table::Log,
            1 => Table::Decision,
            2 => Table::Topic,
            _ => Table::Note,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Table::Log => "log",
            Table::Decision => "decision",
            Table::Topic => "topic",
            Table::Note => "note",
        }
    }
}

/// Bits below the milliseconds: ten for a counter, two for the table.
const BELOW: u32 = 12;

/// The most that a doc number can run ahead of its millisecond when many texts share one: ten seconds.
pub(super) const SLACK: i64 = 10_000 << BELOW;

/// Never 0, which FTS5 could not tell from its own markers.
pub(super) fn first(at: Millis) -> i64 {
    (at.0.min(1 << 48).cast_signed() + 1) << BELOW
}

pub(super) fn time(doc: i64) -> Millis {
    of_ms((doc >> BELOW) - 1)
}

pub(super) fn free(store: &Connection, table: Table, at: Millis) -> Result<i64> {
    let sql = format!("SELECT max(doc) FROM {} WHERE doc >= ?1 AND doc < ?2", table.name());
    let mut last = store.prepare_cached(&sql)?;
    let (mut from, step) = (first(at), 1_i64 << BELOW);
    let end = from.saturating_add(SLACK);
    while from < end {
        let found: Option<i64> = last.query_row([from, from + step], |row| row.get(0))?;
        let doc = found.map_or(from | table as i64, |doc| doc + 4);
        if doc < from + step {
            return Ok(doc);
        }
        from += step;
    }
    Err(Error::new(ErrorKind::Refused, "millions of texts have the same time"))
}

pub(super) struct Text<'a> {
    pub(super) project: i64,
    pub(super) topic: Option<i64>,
    pub(super) session: Option<&'a str>,
    pub(super) kind: &'static str,
    pub(super) title: &'a str,
    pub(super) texts: Vec<&'a str>,
}

pub(super) fn of_project(id: i64) -> String {
    format!("p:{id}")
}

pub(super) fn of_topic(id: i64) -> String {
    format!("o:{id}")
}

pub(super) fn of_session(uid: &str) -> String {
    format!("s:{:016x}", fnv::hash(uid.bytes()))
}

pub(super) fn of_kind(kind: &str) -> String {
    format!("k:{kind}")
}

pub(super) fn of_title(token: &str) -> String {
    format!("t:{token}")
}

impl Text<'_> {
    fn tokens(&self) -> BTreeSet<String> {
        let mut words = BTreeSet::new();
        text::tokens(self.title, &mut words);
        let mut all: BTreeSet<String> = words.iter().map(|word| of_title(word)).collect();
        for text in &self.texts {
            text::tokens(text, &mut words);
        }
        all.append(&mut words);
        all.insert(of_project(self.project));
        all.extend(self.topic.map(of_topic));
        all.extend(self.session.map(of_session));
        if self.kind != "log" {
            all.insert(of_kind(self.kind));
        }
        all
    }
}

fn line<'a>(tokens: impl Iterator<Item = &'a String>) -> String {
    let mut line = String::new();
    for token in tokens {
        line.push_str(token);
        line.push(' ');
    }
    line
}

pub(super) const INDEXES: [&str; 2] = ["find", "few"];

fn index_of(doc: i64) -> &'static str {
    INDEXES[usize::from(Table::of(doc) != Table::Log)]
}

fn insert(store: &Connection, doc: i64, tokens: &str) -> Result<()> {
    let mut insert =
        store.prepare_cached(&format!("INSERT INTO {} (rowid, tokens) VALUES (?1, ?2)", index_of(doc)))?;
    insert.execute(params![doc, tokens])?;
    Ok(())
}

/// The tokens must equal the stored ones exactly: the index keeps no copy of a text.
fn delete(store: &Connection, doc: i64, tokens: &str) -> Result<()> {
    let index = index_of(doc);
    let sql = format!("INSERT INTO {index} ({index}, rowid, tokens) VALUES ('delete', ?1, ?2)");
    let mut delete = store.prepare_cached(&sql)?;
    delete.execute(params![doc, tokens])?;
    Ok(())
}

fn tokens(store: &Connection, doc: i64) -> Result<Option<BTreeSet<String>>> {
    let mut tokens = None;
    with(store, doc, |text| {
        tokens = Some(text.tokens());
        Ok(())
    })?;
    Ok(tokens)
}

/// Loads a text from its table; does nothing if it is gone.
fn with(store: &Connection, doc: i64, act: impl FnOnce(&Text<'_>) -> Result<()>) -> Result<()> {
    match Table::of(doc) {
        Table::Log => {
            let mut found = store.prepare_cached(
                "SELECT topic.project, log.topic, session.uid, log.title, log.text, log.prompt, log.answer, log.more
                FROM log JOIN topic ON topic.id = log.topic LEFT JOIN session ON session.id = log.session
                WHERE log.doc = ?1",
            )?;
            let mut rows = found.query([doc])?;
            let Some(row) = rows.next()? else { return Ok(()) };
            let more: More =
                serde_json::from_str(row.get_ref(7)?.as_str().unwrap_or_default()).unwrap_or_default();
            let files = more.files.join(" ");
            let texts = vec![
                row.get_ref(4)?.as_str().unwrap_or_default(),
                row.get_ref(5)?.as_str().unwrap_or_default(),
                row.get_ref(6)?.as_str().unwrap_or_default(),
                &files,
            ];
            act(&Text {
                project: row.get(0)?,
                topic: row.get(1)?,
                session: row.get_ref(2)?.as_str_or_null().unwrap_or_default(),
                kind: "log",
                title: row.get_ref(3)?.as_str().unwrap_or_default(),
                texts,
            })
        }
        Table::Decision => {
            let Some(found) = row::decision(store, "decision.doc = ?1", [doc])? else { return Ok(()) };
            act(&Text {
                project: found.in_project.id,
                topic: Some(found.in_topic.id),
                session: found.row.session.as_deref(),
                kind: "decision",
                title: found.row.text.lines().next().unwrap_or_default(),
                texts: vec![&found.row.text, &found.row.reason],
            })
        }
        Table::Topic => {
            let Some(found) = row::topic(store, "topic.doc = ?1", [doc])? else { return Ok(()) };
            act(&Text {
                project: found.in_project.id,
                topic: Some(found.id),
                session: found.row.automatic.as_deref(),
                kind: "topic",
                title: &found.row.title,
                texts: Vec::new(),
            })
        }
        Table::Note => {
            let mut found =
                store.prepare_cached("SELECT project, kind, title, text FROM note WHERE doc = ?1")?;
            let mut rows = found.query([doc])?;
            let Some(row) = rows.next()? else { return Ok(()) };
            act(&Text {
                project: row.get(0)?,
                topic: None,
                session: None,
                kind: if row.get_ref(1)?.as_str().unwrap_or_default() == "stock" {
                    "stock"
                } else {
                    "progress"
                },
                title: row.get_ref(2)?.as_str().unwrap_or_default(),
                texts: vec![row.get_ref(3)?.as_str().unwrap_or_default()],
            })
        }
    }
}

/// Requires that the text is in its table.
pub(super) fn add(store: &Connection, doc: i64) -> Result<()> {
    with(store, doc, |text| insert(store, doc, &line(text.tokens().iter())))
}

/// Requires that the text is still in its table.
pub(super) fn remove(store: &Connection, doc: i64) -> Result<()> {
    with(store, doc, |text| delete(store, doc, &line(text.tokens().iter())))
}

/// Runs `act`, which changes these texts under the same numbers, and updates the index. Removes only the
/// tokens that are gone: removing one costs as much as adding a whole text.
pub(super) fn change(store: &Connection, docs: &[i64], act: impl FnOnce() -> Result<()>) -> Result<()> {
    let before: Vec<_> = docs.iter().map(|doc| tokens(store, *doc)).collect::<Result<_>>()?;
    act()?;
    for (doc, before) in docs.iter().zip(before) {
        let (Some(before), Some(after)) = (before, tokens(store, *doc)?) else { continue };
        if before != after {
            // Both statements even if one is empty: FTS5 counts its texts.
            delete(store, *doc, &line(before.difference(&after)))?;
            insert(store, *doc, &line(after.difference(&before)))?;
        }
    }
    Ok(())
}

/// From this many rows on, a bulk insert pays.
pub(super) const BULK: usize = 1000;

/// Bytes that FTS5 collects before it writes: larger blocks leave less to merge later.
const GATHERS: i64 = 1 << 20;
const GATHERS_IN_BULK: i64 = 64 << 20;

/// For inserting very many texts.
pub(super) fn in_bulk<T>(store: &Connection, act: impl FnOnce() -> Result<T>) -> Result<T> {
    set(store, "hashsize", GATHERS_IN_BULK)?;
    let done = act()?;
    set(store, "hashsize", GATHERS)?;
    Ok(done)
}

/// For removing very many texts. One by one takes hours; rewriting the rest of the index takes minutes.
pub(super) fn without_many<T>(store: &Connection, act: impl FnOnce() -> Result<T>) -> Result<T> {
    set(store, "secure-delete", 0)?;
    let done = act()?;
    tell(store, "optimize")?;
    set(store, "secure-delete", 1)?;
    Ok(done)
}

fn set(store: &Connection, what: &str, value: i64) -> Result<()> {
    for index in INDEXES {
        store
            .execute(&format!("INSERT INTO {index} ({index}, rank) VALUES (?1, ?2)"), params![what, value])?;
    }
    Ok(())
}

pub(super) fn tell(store: &Connection, what: &str) -> Result<()> {
    for index in INDEXES {
        store.execute(&format!("INSERT INTO {index} ({index}) VALUES (?1)"), [what])?;
    }
    Ok(())
}

/// FTS5 keeps this count; counting the table would read all of it.
pub(super) fn logs(store: &Connection) -> Result<u64> {
    let mut averages = store.prepare_cached("SELECT block FROM find_data WHERE id = 1")?;
    let mut rows = averages.query([])?;
    let Some(row) = rows.next()? else { return Ok(0) };
    // The first number of the record as a varint: seven bits per byte, the high bit marks continuation.
    let mut count = 0_u64;
    for byte in row.get_ref(0)?.as_blob().unwrap_or_default().iter().take(8) {
        count = count << 7 | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            break;
        }
    }
    Ok(count)
}

/// The topic itself first.
pub(super) fn of_whole_topic(store: &Connection, topic: i64) -> Result<Vec<i64>> {
    let mut docs = store.prepare_cached(
        "SELECT doc FROM topic WHERE id = ?1 UNION ALL SELECT doc FROM log WHERE topic = ?1
        UNION ALL SELECT doc FROM decision WHERE topic = ?1",
    )?;
    Ok(docs.query_map([topic], |row| row.get(0))?.collect::<rusqlite::Result<Vec<i64>>>()?)
}

impl SqliteStore {
    /// Rebuilds the index if another version of this program made it.
    pub(super) fn index_anew_if_needed(&mut self) -> Result<()> {
        let wanted = format!("{}.{LAYOUT}", text::VERSION);
        let is_wanted = |store: &Connection| -> Result<bool> {
            let mut found = store.prepare("SELECT value FROM about WHERE name = 'tokens'")?;
            let mut rows = found.query([])?;
            Ok(rows
                .next()?
                .is_some_and(|row| row.get_ref(0).is_ok_and(|value| value.as_str() == Ok(&wanted))))
        };
        if is_wanted(&self.connection)? {
            return Ok(());
        }
        self.write(|store| {
            if is_wanted(store)? {
                return Ok(());
            }
            index_anew(store)?;
            store.execute("INSERT OR REPLACE INTO about VALUES ('tokens', ?1)", [&wanted])?;
            Ok(())
        })
    }
}

pub(super) fn index_anew(store: &Connection) -> Result<()> {
    tell(store, "delete-all")?;
    in_bulk(store, || each_anew(store))
}

fn each_anew(store: &Connection) -> Result<()> {
    for table in [Table::Topic, Table::Decision, Table::Note, Table::Log] {
        let mut docs = store.prepare(&format!("SELECT doc FROM {} ORDER BY doc", table.name()))?;
        let mut rows = docs.query([])?;
        while let Some(row) = rows.next()? {
            add(store, row.get(0)?)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_counts_its_logs() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = SqliteStore::open(&folder.path().join("memory.db")).unwrap().store;
        let counted = |store: &mut SqliteStore| logs(&store.connection).unwrap();
        assert_eq!(counted(&mut store), 0);
        store.write(|store| (1..=300).try_for_each(|number| insert(store, number << 2, "word"))).unwrap();
        assert_eq!(counted(&mut store), 300);
        store.write(|store| (1..=9).try_for_each(|number| delete(store, number << 2, "word"))).unwrap();
        store.write(|store| insert(store, 1 << 2 | 1, "decided")).unwrap();
        assert_eq!(counted(&mut store), 291);
    }

    #[test]
    fn a_number_holds_its_time() {
        for at in [0, 1, 1_800_000_000_000] {
            let doc = first(Millis(at)) | 5 << 2 | 1;
            assert_eq!((time(doc), Table::of(doc)), (Millis(at), Table::Decision));
        }
        assert!(first(Millis(u64::MAX)) > 0 && first(Millis(0)) > 0);
    }
}
