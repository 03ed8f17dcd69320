//! Texts as they are shown.

use rusqlite::Connection;
use tidegate_core::time::Millis;

use crate::answer::Identity;
use crate::error::Result;
use crate::sqlite::index::TextTable;
use crate::sqlite::notes;
use crate::sqlite::row::{self, LogExtras, from_ms};
use crate::text::Document;
use crate::view::HitKind;

pub(super) struct LoadedText {
    pub(super) kind: HitKind,
    pub(super) id: String,
    pub(super) uid: String,
    pub(super) title: String,
    pub(super) texts: Vec<String>,
    pub(super) project: Option<String>,
    pub(super) topic: Option<String>,
    pub(super) at: Millis,
    pub(super) identity: Identity,
    /// A factor for its kind and state.
    pub(super) worth: f64,
}

impl LoadedText {
    pub(super) fn with<T>(&self, act: impl FnOnce(&Document<'_>) -> T) -> T {
        let texts: Vec<&str> = self.texts.iter().map(String::as_str).collect();
        act(&Document { title: &self.title, texts: &texts })
    }
}

pub(super) fn load_text(store: &Connection, doc: i64) -> Result<Option<LoadedText>> {
    Ok(match TextTable::of(doc) {
        TextTable::Log => {
            let mut found = store.prepare_cached(
                "SELECT log.uid, log.title, log.text, log.prompt, log.answer, log.more, log.at, topic.title, project.name, topic.id
                FROM log JOIN topic ON topic.id = log.topic JOIN project ON project.id = topic.project
                WHERE log.doc = ?1",
            )?;
            let mut rows = found.query([doc])?;
            let Some(row) = rows.next()? else { return Ok(None) };
            let more: LogExtras =
                serde_json::from_str(row.get_ref(5)?.as_str().unwrap_or_default()).unwrap_or_default();
            let uid: String = row.get(0)?;
            Some(LoadedText {
                kind: HitKind::Log,
                id: uid.clone(),
                identity: Identity::Log { uid: uid.clone(), topic: row.get::<_, i64>(9)?.to_string() },
                uid,
                title: row.get(1)?,
                texts: vec![row.get(2)?, row.get(3)?, row.get(4)?, more.files.join(" ")],
                project: row.get(8)?,
                topic: row.get(7)?,
                at: from_ms(row.get(6)?),
                worth: 1.0,
            })
        }
        TextTable::Decision => {
            row::find_decision(store, "decision.doc = ?1", [doc])?.map(|found| LoadedText {
                kind: HitKind::Decision,
                id: found.id.to_string(),
                identity: Identity::Decision { uid: found.row.uid.clone() },
                uid: found.row.uid,
                title: found.row.text.lines().next().unwrap_or_default().to_owned(),
                texts: vec![found.row.text, found.row.reason],
                project: Some(found.in_project.name),
                topic: Some(found.in_topic.name),
                at: found.row.created,
                worth: if found.row.retracted.is_some() || found.superseded_by.is_some() { 0.5 } else { 1.3 },
            })
        }
        TextTable::Topic => row::find_topic(store, "topic.doc = ?1", [doc])?.map(|found| LoadedText {
            kind: HitKind::Topic,
            id: found.id.to_string(),
            identity: Identity::Topic {
                topic: found.id.to_string(),
                is_automatic: found.row.automatic.is_some(),
            },
            uid: found.row.uid,
            title: found.row.title.clone(),
            texts: vec![found.row.title.clone()],
            project: Some(found.in_project.name),
            topic: Some(found.row.title),
            at: found.row.created,
            worth: if found.row.automatic.is_some() { 0.5 } else { 1.0 },
        }),
        TextTable::Note => {
            let mut found = store.prepare_cached(
                "SELECT note.kind, note.id, note.title, note.text, note.at, project.name
                FROM note JOIN project ON project.id = note.project WHERE note.doc = ?1",
            )?;
            let mut rows = found.query([doc])?;
            let Some(row) = rows.next()? else { return Ok(None) };
            let id: String = row.get(1)?;
            Some(LoadedText {
                kind: notes::parse_kind(row.get_ref(0)?.as_str().unwrap_or_default()),
                uid: id.clone(),
                id,
                identity: Identity::Note,
                title: row.get(2)?,
                texts: vec![row.get(3)?],
                project: row.get(5)?,
                topic: None,
                at: from_ms(row.get(4)?),
                worth: 1.1,
            })
        }
    })
}
