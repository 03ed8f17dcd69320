//! `.claude/context/context-pressure.json`: a copy of the meter for other tools, in their format.
//!
//! Written only if that folder exists, so that a user-wide install leaves nothing in other checkouts. Decisions use
//! the session's marks, never this copy.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::{Map, Value};
use tidegate_core::event::SessionId;
use tidegate_core::feature::pressure::effect::Effect;
use tidegate_core::feature::pressure::marks::PressureLevel;
use tidegate_core::meter::Reading;
use tidegate_core::time::Millis;

use crate::feature::HookContext;
use crate::file::bounded;

const FILE: &str = "context-pressure.json";
const LEVEL: &str = "lastNotifiedLevel";
const LARGEST: u64 = 64 * 1024;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct File {
    used_percentage: f64,
    timestamp: String,
    last_notified_level: String,
    session_id: String,
    used_tokens: u64,
    window_tokens: u64,
}

pub(super) fn carry_out(effect: &Effect, here: &HookContext<'_>) -> io::Result<()> {
    let of_session = |members: &Map<String, Value>| {
        members.get("sessionId").and_then(Value::as_str) == Some(here.session.as_str())
    };
    match effect {
        Effect::Publish { level, reading: Some(reading) } => {
            write(here.root()?, here.session, reading, *level, here.now)
        }
        Effect::Publish { reading: None, .. } => {
            void_reading(here.root()?, here.session, here.now, of_session)
        }
        // Without a root there is no copy.
        Effect::TakeOver => here.root.map_or(Ok(()), |root| {
            void_reading(root, here.session, here.now, |members| !of_session(members))
        }),
    }
}

/// `level` is the last one that was said; a reading alone does not change it.
pub fn write(
    root: &Path,
    session: &SessionId,
    reading: &Reading,
    level: PressureLevel,
    now: Millis,
) -> io::Result<()> {
    let (Some(window), Some(percent)) = (reading.window, reading.used_pct()) else { return Ok(()) };
    let Some(folder) = folder(root) else { return Ok(()) };
    let file = File {
        used_percentage: (percent * 10.0).round() / 10.0,
        timestamp: now.iso(),
        last_notified_level: level.name().to_owned(),
        session_id: session.to_string(),
        used_tokens: reading.used,
        window_tokens: window.tokens,
    };
    crate::file::replace::copy(&folder.join(FILE), &serde_json::to_vec_pretty(&file)?)
}

/// Resets the level that was said last. Other members stay; a file in another format is not touched.
pub fn reset_level(root: &Path) -> io::Result<()> {
    edit(root, |members| {
        let none = Value::from(PressureLevel::None.name());
        let is_said = members.get(LEVEL).is_some_and(|level| *level != none);
        if is_said {
            members.insert(LEVEL.to_owned(), none);
        }
        is_said
    })
}

/// Takes out numbers that are not, or no longer, this session's. An unknown number is absent, never zero.
fn void_reading(
    root: &Path,
    session: &SessionId,
    now: Millis,
    is_void: impl Fn(&Map<String, Value>) -> bool,
) -> io::Result<()> {
    edit(root, |members| {
        if !is_void(members) {
            return false;
        }
        members.insert("sessionId".to_owned(), session.as_str().into());
        for number in ["usedPercentage", "usedTokens", "windowTokens"] {
            members.remove(number);
        }
        members.insert(LEVEL.to_owned(), PressureLevel::None.name().into());
        members.insert("timestamp".to_owned(), now.iso().into());
        true
    })
}

/// Writes only if `change` says so. A file that is missing or in another format is not touched.
fn edit(root: &Path, change: impl FnOnce(&mut Map<String, Value>) -> bool) -> io::Result<()> {
    let Some(path) = folder(root).map(|folder| folder.join(FILE)) else { return Ok(()) };
    let bytes = match bounded::read(&path, LARGEST) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        read => read?,
    };
    let Ok(Value::Object(mut members)) = serde_json::from_slice(&bytes) else { return Ok(()) };
    if !change(&mut members) {
        return Ok(());
    }
    crate::file::replace::copy(&path, &serde_json::to_vec_pretty(&members)?)
}

/// Not through a link: a repository could point it anywhere.
fn folder(root: &Path) -> Option<PathBuf> {
    let real = |path: &Path| fs::symlink_metadata(path).is_ok_and(|found| found.is_dir());
    let folder = root.join(".claude/context");
    (real(&root.join(".claude")) && real(&folder)).then_some(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compaction_makes_the_numbers_unknown() {
        let project = tempfile::tempdir().unwrap();
        let (root, now) = (project.path(), Millis(1_794_795_005_000));
        let session = SessionId::parse("s1").unwrap();
        let path = root.join(".claude/context").join(FILE);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let void = |of: &str| {
            let of_session = |members: &Map<String, Value>| members["sessionId"] == of;
            void_reading(root, &session, now, of_session).unwrap();
        };
        void("s1");
        assert!(!path.exists(), "nothing to void");
        let text = r#"{"usedPercentage":76.0,"timestamp":"x","lastNotifiedLevel":"urgent","sessionId":"s1","usedTokens":152000,"windowTokens":200000,"more":[1]}"#;
        fs::write(&path, text).unwrap();
        void("s2");
        assert_eq!(fs::read_to_string(&path).unwrap(), text, "another session's");
        void("s1");
        let read: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        let expected = serde_json::json!({
            "timestamp": now.iso(), "lastNotifiedLevel": "none", "sessionId": "s1", "more": [1]
        });
        assert_eq!(read, expected);
    }

    #[test]
    fn only_the_level_is_reset() {
        let project = tempfile::tempdir().unwrap();
        let root = project.path();
        reset_level(root).unwrap();
        let folder = root.join(".claude/context");
        fs::create_dir_all(&folder).unwrap();
        reset_level(root).unwrap();
        let path = folder.join(FILE);
        for text in ["{\"lastNoti", "[]", "{\"usedPercentage\": 3}", "{\"lastNotifiedLevel\":\"none\"}"] {
            fs::write(&path, text).unwrap();
            reset_level(root).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        fs::write(&path, "{\"usedPercentage\":61.5,\"lastNotifiedLevel\":\"info\",\"more\":[1]}").unwrap();
        reset_level(root).unwrap();
        let now: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        let expected =
            serde_json::json!({ "usedPercentage": 61.5, "lastNotifiedLevel": "none", "more": [1] });
        assert_eq!(now, expected);
    }
}
