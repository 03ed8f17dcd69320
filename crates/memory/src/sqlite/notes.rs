//! Learnings and progress notes of a project: copies of its files, for the search.

use rusqlite::params;
use tidegate_core::time::Millis;

use super::SqliteStore;
use super::index::{self, TextTable};
use super::row::{from_ms, to_ms};
use crate::error::Result;
use crate::view::HitKind;

/// A learning, or an entry of the progress notes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchableNote {
    /// [`HitKind::Stock`] or [`HitKind::Progress`].
    pub kind: HitKind,
    pub id: String,
    /// One line.
    pub title: String,
    pub text: String,
    /// From the entry itself, else the time of its file.
    pub at: Millis,
}

impl SqliteStore {
    /// Replaces the notes of a project. Writes nothing if none changed.
    pub fn refresh_notes(&mut self, project: i64, notes: &[SearchableNote]) -> Result<()> {
        let known = self.notes(project)?;
        let is_same = known.len() == notes.len() && known.iter().all(|(_, note)| notes.contains(note));
        if is_same {
            return Ok(());
        }
        self.write(|store| {
            for (doc, note) in &known {
                if !notes.contains(note) {
                    index::remove_text(store, *doc)?;
                    store.prepare_cached("DELETE FROM note WHERE doc = ?1")?.execute([doc])?;
                }
            }
            for note in notes.iter().filter(|note| !known.iter().any(|(_, known)| known == *note)) {
                let doc = index::free_doc(store, TextTable::Note, note.at)?;
                let mut new = store.prepare_cached(
                    "INSERT INTO note (doc, project, kind, id, title, text, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                )?;
                new.execute(params![doc, project, kind_name(note.kind), note.id, note.title, note.text, to_ms(note.at)])?;
                index::add_text(store, doc)?;
            }
            Ok(())
        })
    }

    fn notes(&mut self, project: i64) -> Result<Vec<(i64, SearchableNote)>> {
        let mut found = self
            .connection
            .prepare_cached("SELECT doc, kind, id, title, text, at FROM note WHERE project = ?1")?;
        let read = |row: &rusqlite::Row<'_>| {
            let note = SearchableNote {
                kind: parse_kind(row.get_ref(1)?.as_str()?),
                id: row.get(2)?,
                title: row.get(3)?,
                text: row.get(4)?,
                at: from_ms(row.get(5)?),
            };
            Ok((row.get(0)?, note))
        };
        Ok(found.query_map([project], read)?.collect::<rusqlite::Result<_>>()?)
    }
}

pub(super) fn parse_kind(text: &str) -> HitKind {
    if text == "stock" { HitKind::Stock } else { HitKind::Progress }
}

fn kind_name(kind: HitKind) -> &'static str {
    if kind == HitKind::Stock { "stock" } else { "progress" }
}
