//! The search index: the tokens of each text, under a number that contains its time.
//!
//! FTS5 without content, columns or positions, in two indexes: one for logs, one for everything else,
//! because a word in a million logs may be in three decisions. The number makes *newest first* the order of
//! the index and a span of time a range. A filter by project, topic or session is one more token. The text
//! itself then shows whether characters stand together and how well it fits.
//!
//! The index keeps no copy of a text, so removing one means giving the same tokens again. That costs about
//! as much per token as adding a whole text. A changed text gives only the tokens that differ, and
//! [`remove_in_bulk`] rewrites the rest of the index instead. Other tokens for the same text need a new
//! `text::VERSION`, another layout a new [`LAYOUT`]; the index is then rebuilt.

use std::collections::BTreeSet;

use rusqlite::{Connection, params};
use tidegate_core::text::fnv;
use tidegate_core::time::Millis;

use super::SqliteStore;
use super::row::{self, LogExtras, from_ms};
use crate::error::{Error, ErrorKind, Result};
use crate::text;

/// The version of the assignment of texts to indexes. An index with another version, or with tokens of
/// another version, is rebuilt.
const LAYOUT: u32 = 2;

/// The table is in the last two bits of a doc number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextTable {
    Log = 0,
    Decision = 1,
    Topic = 2,
    Note = 3,
}

impl TextTable {
    pub(super) fn of(doc: i64) -> TextTable {
        match doc & 3 {
            0 => TextTable::Log,
            1 => TextTable::Decision,
            2 => TextTable::Topic,
            _ => TextTable::Note,
        }
    }

    fn name(self) -> &'static str {
        match self {
            TextTable::Log => "log",
            TextTable::Decision => "decision",
            TextTable::Topic => "topic",
            TextTable::Note => "note",
        }
    }
}

/// Bits below the milliseconds: ten for a counter, two for the table.
const BELOW: u32 = 12;

/// The most that a doc number can run ahead of its millisecond when many texts share one: ten seconds.
pub(super) const SLACK: i64 = 10_000 << BELOW;

/// Never 0, which FTS5 could not tell from its own markers.
pub(super) fn first_doc_at(at: Millis) -> i64 {
    (at.0.min(1 << 48).cast_signed() + 1) << BELOW
}

pub(super) fn doc_time(doc: i64) -> Millis {
    from_ms((doc >> BELOW) - 1)
}

pub(super) fn free_doc(store: &Connection, table: TextTable, at: Millis) -> Result<i64> {
    let sql = format!("SELECT max(doc) FROM {} WHERE doc >= ?1 AND doc < ?2", table.name());
    let mut last = store.prepare_cached(&sql)?;
    let (mut from, step) = (first_doc_at(at), 1_i64 << BELOW);
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

pub(super) struct IndexedText<'a> {
    pub(super) project: i64,
    pub(super) topic: Option<i64>,
    pub(super) session: Option<&'a str>,
    pub(super) kind: &'static str,
    pub(super) title: &'a str,
    pub(super) texts: Vec<&'a str>,
}

pub(super) fn project_token(id: i64) -> String {
    format!("p:{id}")
}

pub(super) fn topic_token(id: i64) -> String {
    format!("o:{id}")
}

pub(super) fn session_token(uid: &str) -> String {
    format!("s:{:016x}", fnv::hash(uid.bytes()))
}

pub(super) fn kind_token(kind: &str) -> String {
    format!("k:{kind}")
}

pub(super) fn title_token(token: &str) -> String {
    format!("t:{token}")
}

impl IndexedText<'_> {
    fn tokens(&self) -> BTreeSet<String> {
        let mut words = BTreeSet::new();
        text::collect_tokens(self.title, &mut words);
        let mut all: BTreeSet<String> = words.iter().map(|word| title_token(word)).collect();
        for text in &self.texts {
            text::collect_tokens(text, &mut words);
        }
        all.append(&mut words);
        all.insert(project_token(self.project));
        all.extend(self.topic.map(topic_token));
        all.extend(self.session.map(session_token));
        if self.kind != "log" {
            all.insert(kind_token(self.kind));
        }
        all
    }
}

fn join_tokens<'a>(tokens: impl Iterator<Item = &'a String>) -> String {
    let mut line = String::new();
    for token in tokens {
        line.push_str(token);
        line.push(' ');
    }
    line
}

/// The full-text table of all logs. The tables keep their first names: renaming them takes a new version of
/// the store, for which every store is copied as a whole and which older versions of this program refuse.
pub(super) const LOG_INDEX: &str = "find";
/// The full-text table of all texts other than logs.
pub(super) const OTHERS_INDEX: &str = "few";
/// The words in [`LOG_INDEX`].
pub(super) const LOG_TERMS: &str = "term";
/// The words in [`OTHERS_INDEX`].
pub(super) const OTHERS_TERMS: &str = "few_term";

const INDEXES: [&str; 2] = [LOG_INDEX, OTHERS_INDEX];

fn index_of(doc: i64) -> &'static str {
    if TextTable::of(doc) == TextTable::Log { LOG_INDEX } else { OTHERS_INDEX }
}

fn insert_tokens(store: &Connection, doc: i64, tokens: &str) -> Result<()> {
    let mut insert =
        store.prepare_cached(&format!("INSERT INTO {} (rowid, tokens) VALUES (?1, ?2)", index_of(doc)))?;
    insert.execute(params![doc, tokens])?;
    Ok(())
}

/// The tokens must equal the stored ones exactly: the index keeps no copy of a text.
fn delete_tokens(store: &Connection, doc: i64, tokens: &str) -> Result<()> {
    let index = index_of(doc);
    let sql = format!("INSERT INTO {index} ({index}, rowid, tokens) VALUES ('delete', ?1, ?2)");
    let mut delete = store.prepare_cached(&sql)?;
    delete.execute(params![doc, tokens])?;
    Ok(())
}

fn tokens_of(store: &Connection, doc: i64) -> Result<Option<BTreeSet<String>>> {
    let mut tokens = None;
    with_text(store, doc, |text| {
        tokens = Some(text.tokens());
        Ok(())
    })?;
    Ok(tokens)
}

/// Loads a text from its table; does nothing if it is gone.
fn with_text(store: &Connection, doc: i64, act: impl FnOnce(&IndexedText<'_>) -> Result<()>) -> Result<()> {
    match TextTable::of(doc) {
        TextTable::Log => {
            let mut found = store.prepare_cached(
                "SELECT topic.project, log.topic, session.uid, log.title, log.text, log.prompt, log.answer, log.more
                FROM log JOIN topic ON topic.id = log.topic LEFT JOIN session ON session.id = log.session
                WHERE log.doc = ?1",
            )?;
            let mut rows = found.query([doc])?;
            let Some(row) = rows.next()? else { return Ok(()) };
            let more: LogExtras =
                serde_json::from_str(row.get_ref(7)?.as_str().unwrap_or_default()).unwrap_or_default();
            let files = more.files.join(" ");
            let texts = vec![
                row.get_ref(4)?.as_str().unwrap_or_default(),
                row.get_ref(5)?.as_str().unwrap_or_default(),
                row.get_ref(6)?.as_str().unwrap_or_default(),
                &files,
            ];
            act(&IndexedText {
                project: row.get(0)?,
                topic: row.get(1)?,
                session: row.get_ref(2)?.as_str_or_null().unwrap_or_default(),
                kind: "log",
                title: row.get_ref(3)?.as_str().unwrap_or_default(),
                texts,
            })
        }
        TextTable::Decision => {
            let Some(found) = row::find_decision(store, "decision.doc = ?1", [doc])? else { return Ok(()) };
            act(&IndexedText {
                project: found.in_project.id,
                topic: Some(found.in_topic.id),
                session: found.row.session.as_deref(),
                kind: "decision",
                title: found.row.text.lines().next().unwrap_or_default(),
                texts: vec![&found.row.text, &found.row.reason],
            })
        }
        TextTable::Topic => {
            let Some(found) = row::find_topic(store, "topic.doc = ?1", [doc])? else { return Ok(()) };
            act(&IndexedText {
                project: found.in_project.id,
                topic: Some(found.id),
                session: found.row.automatic.as_deref(),
                kind: "topic",
                title: &found.row.title,
                texts: Vec::new(),
            })
        }
        TextTable::Note => {
            let mut found =
                store.prepare_cached("SELECT project, kind, title, text FROM note WHERE doc = ?1")?;
            let mut rows = found.query([doc])?;
            let Some(row) = rows.next()? else { return Ok(()) };
            act(&IndexedText {
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
pub(super) fn add_text(store: &Connection, doc: i64) -> Result<()> {
    with_text(store, doc, |text| insert_tokens(store, doc, &join_tokens(text.tokens().iter())))
}

/// Requires that the text is still in its table.
pub(super) fn remove_text(store: &Connection, doc: i64) -> Result<()> {
    with_text(store, doc, |text| delete_tokens(store, doc, &join_tokens(text.tokens().iter())))
}

/// Runs `act`, which changes these texts under the same numbers, and updates the index. Removes only the
/// tokens that are gone: removing one costs as much as adding a whole text.
pub(super) fn update_texts(store: &Connection, docs: &[i64], act: impl FnOnce() -> Result<()>) -> Result<()> {
    let before: Vec<_> = docs.iter().map(|doc| tokens_of(store, *doc)).collect::<Result<_>>()?;
    act()?;
    for (doc, before) in docs.iter().zip(before) {
        let (Some(before), Some(after)) = (before, tokens_of(store, *doc)?) else { continue };
        if before != after {
            // Both statements even if one is empty: FTS5 counts its texts.
            delete_tokens(store, *doc, &join_tokens(before.difference(&after)))?;
            insert_tokens(store, *doc, &join_tokens(after.difference(&before)))?;
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
pub(super) fn insert_in_bulk<T>(store: &Connection, act: impl FnOnce() -> Result<T>) -> Result<T> {
    set_option(store, "hashsize", GATHERS_IN_BULK)?;
    let done = act()?;
    set_option(store, "hashsize", GATHERS)?;
    Ok(done)
}

/// For removing very many texts. One by one takes hours; rewriting the rest of the index takes minutes.
pub(super) fn remove_in_bulk<T>(store: &Connection, act: impl FnOnce() -> Result<T>) -> Result<T> {
    set_option(store, "secure-delete", 0)?;
    let done = act()?;
    run_command(store, "optimize")?;
    set_option(store, "secure-delete", 1)?;
    Ok(done)
}

fn set_option(store: &Connection, what: &str, value: i64) -> Result<()> {
    for index in INDEXES {
        store
            .execute(&format!("INSERT INTO {index} ({index}, rank) VALUES (?1, ?2)"), params![what, value])?;
    }
    Ok(())
}

pub(super) fn run_command(store: &Connection, what: &str) -> Result<()> {
    for index in INDEXES {
        store.execute(&format!("INSERT INTO {index} ({index}) VALUES (?1)"), [what])?;
    }
    Ok(())
}

/// FTS5 keeps this count; counting the table would read all of it.
pub(super) fn count_texts(store: &Connection, index: &str) -> Result<u64> {
    let mut averages = store.prepare_cached(&format!("SELECT block FROM {index}_data WHERE id = 1"))?;
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
pub(super) fn docs_of_topic(store: &Connection, topic: i64) -> Result<Vec<i64>> {
    let mut docs = store.prepare_cached(
        "SELECT doc FROM topic WHERE id = ?1 UNION ALL SELECT doc FROM log WHERE topic = ?1
        UNION ALL SELECT doc FROM decision WHERE topic = ?1",
    )?;
    Ok(docs.query_map([topic], |row| row.get(0))?.collect::<rusqlite::Result<Vec<i64>>>()?)
}

impl SqliteStore {
    /// Rebuilds the index if another version of this program made it.
    pub(super) fn rebuild_index_if_outdated(&mut self) -> Result<()> {
        if self.has_own_index()? {
            return Ok(());
        }
        self.write(|store| {
            if is_own_index(store)? {
                return Ok(());
            }
            rebuild_index(store)?;
            store.execute("INSERT OR REPLACE INTO about VALUES ('tokens', ?1)", [own_layout()])?;
            Ok(())
        })
    }

    /// This version of the program made the index.
    pub(super) fn has_own_index(&self) -> Result<bool> {
        is_own_index(&self.connection)
    }
}

fn own_layout() -> String {
    format!("{}.{LAYOUT}", text::VERSION)
}

fn is_own_index(store: &Connection) -> Result<bool> {
    let mut found = store.prepare("SELECT value FROM about WHERE name = 'tokens'")?;
    let mut rows = found.query([])?;
    let own = own_layout();
    Ok(rows.next()?.is_some_and(|row| row.get_ref(0).is_ok_and(|value| value.as_str() == Ok(&own))))
}

pub(super) fn rebuild_index(store: &Connection) -> Result<()> {
    run_command(store, "delete-all")?;
    insert_in_bulk(store, || index_all_texts(store))
}

fn index_all_texts(store: &Connection) -> Result<()> {
    for table in [TextTable::Topic, TextTable::Decision, TextTable::Note, TextTable::Log] {
        let mut docs = store.prepare(&format!("SELECT doc FROM {} ORDER BY doc", table.name()))?;
        let mut rows = docs.query([])?;
        while let Some(row) = rows.next()? {
            add_text(store, row.get(0)?)?;
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
        let counted = |store: &mut SqliteStore| count_texts(&store.connection, LOG_INDEX).unwrap();
        assert_eq!(counted(&mut store), 0);
        store
            .write(|store| (1..=300).try_for_each(|number| insert_tokens(store, number << 2, "word")))
            .unwrap();
        assert_eq!(counted(&mut store), 300);
        store
            .write(|store| (1..=9).try_for_each(|number| delete_tokens(store, number << 2, "word")))
            .unwrap();
        store.write(|store| insert_tokens(store, 1 << 2 | 1, "decided")).unwrap();
        assert_eq!(counted(&mut store), 291);
    }

    #[test]
    fn a_number_holds_its_time() {
        for at in [0, 1, 1_800_000_000_000] {
            let doc = first_doc_at(Millis(at)) | 5 << 2 | 1;
            assert_eq!((doc_time(doc), TextTable::of(doc)), (Millis(at), TextTable::Decision));
        }
        assert!(first_doc_at(Millis(u64::MAX)) > 0 && first_doc_at(Millis(0)) > 0);
    }
}
