//! Public copies in `.claude/context/`, in the formats of other tools.
//!
//! No decision rests on them alone. Members of other tools stay.

use std::io;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tidegate_core::feature::facts::Known;
use tidegate_core::feature::knowledge::timestamp;
use tidegate_core::time::Millis;

use crate::feature::knowledge::folder::ContextFolder;
use crate::file::{bounded, replace};

/// Written after a promotion.
pub const LAST_RUN: &str = "compound-last-run.json";

pub const LAST_COMPACT: &str = "last-compact.json";

const LARGEST: u64 = 256 * 1024;

/// Timestamps further ahead than this are invalid.
const CLOCK_SLACK_MS: u64 = 24 * 3_600_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastRun {
    pub at: Millis,
    pub promoted: u64,
}

/// A time in the future is not believed: it would silence everything until then.
pub fn read_last_run(folder: &ContextFolder, now: Millis) -> Known<LastRun> {
    read(folder, LAST_RUN, |members| {
        let written = members.get("timestamp").and_then(Value::as_str).ok_or("no timestamp")?;
        let at = timestamp::find_first(written).ok_or("a timestamp that is none")?.at;
        if at.since(now) > CLOCK_SLACK_MS {
            return Err("a timestamp in the future".into());
        }
        Ok(LastRun { at, promoted: members.get("promotedCount").and_then(Value::as_u64).unwrap_or_default() })
    })
}

pub fn write_last_run(folder: &ContextFolder, run: LastRun) -> io::Result<()> {
    let new = serde_json::json!({ "timestamp": run.at.iso_seconds(), "promotedCount": run.promoted });
    write(folder, LAST_RUN, new, &[])
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LastCompact {
    pub timestamp: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// `auto` or `manual`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trigger: Option<String>,
    /// There were entries, and a person has seen all of them.
    pub compound_run: bool,
    pub progress_summary: ProgressSummary,
    pub confidence_summary: ConfidenceSummary,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub survival: Option<SurvivalSummary>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ProgressSummary {
    /// Only unpromoted entries.
    pub entry_count: u64,
    pub recent_headings: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ConfidenceSummary {
    pub total_entries: u64,
    /// Confirmations per entry, on average.
    pub avg_confirmed: f64,
    pub unverified_count: u64,
}

/// Key facts in the summary of a compaction.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SurvivalSummary {
    pub kept: u64,
    pub of: u64,
    pub lost: Vec<String>,
    /// How many of these the conversation has again.
    #[serde(rename = "givenBack", skip_serializing_if = "Option::is_none")]
    pub given_back: Option<u64>,
}

pub fn read_last_compact(folder: &ContextFolder) -> Known<LastCompact> {
    read(folder, LAST_COMPACT, |members| {
        let found: LastCompact =
            serde_json::from_value(Value::Object(members)).map_err(|error| error.to_string())?;
        if found.timestamp.is_empty() { Err("no timestamp".into()) } else { Ok(found) }
    })
}

pub fn write_last_compact(folder: &ContextFolder, compact: &LastCompact) -> io::Result<()> {
    write(folder, LAST_COMPACT, serde_json::to_value(compact)?, &["sessionId", "trigger", "survival"])
}

fn read<T>(
    folder: &ContextFolder,
    name: &str,
    understand: impl FnOnce(Map<String, Value>) -> Result<T, String>,
) -> Known<T> {
    match read_members(folder, name) {
        Ok(members) => match understand(members) {
            Ok(found) => Known::Value(found),
            Err(why) => Known::Broken(format!("{name}: {why}")),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => Known::Absent,
        Err(error) => Known::Broken(format!("{name}: {error}")),
    }
}

fn read_members(folder: &ContextFolder, name: &str) -> io::Result<Map<String, Value>> {
    let bytes = bounded::read(&folder.file(name)?, LARGEST)?;
    let text = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&bytes);
    serde_json::from_slice(text).map_err(io::Error::other)
}

/// Merges the copy into the existing file. `optional`: members that are removed if the new copy lacks them.
fn write(folder: &ContextFolder, name: &str, new: Value, optional: &[&str]) -> io::Result<()> {
    let mut all = Value::Object(read_members(folder, name).unwrap_or_default());
    if let Value::Object(all) = &mut all {
        all.retain(|name, _| !optional.contains(&name.as_str()));
    }
    merge_over(&mut all, new);
    let mut text = serde_json::to_vec_pretty(&all)?;
    text.push(b'\n');
    replace::copy(&folder.path().join(name), &text)
}

fn merge_over(under: &mut Value, over: Value) {
    match (under, over) {
        (Value::Object(under), Value::Object(over)) => {
            for (name, value) in over {
                merge_over(under.entry(name).or_insert(Value::Null), value);
            }
        }
        (under, over) => *under = over,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const NOW: Millis = Millis(1_794_795_005_000);

    fn project() -> (tempfile::TempDir, ContextFolder) {
        let root = tempfile::tempdir().unwrap();
        let folder = ContextFolder::make(root.path()).unwrap();
        (root, folder)
    }

    #[test]
    fn how_others_write_the_last_run() {
        let (_root, folder) = project();
        assert_eq!(read_last_run(&folder, NOW), Known::Absent);
        for (text, expected) in [
            (r#"{"timestamp":"2026-11-15T02:10:05Z","promotedCount":3}"#, Some((86_400_000, 3))),
            (r#"{"timestamp":"2026-11-15T11:10:05.000+09:00"}"#, Some((86_400_000, 0))),
            ("\u{feff}{\r\n\"timestamp\": \"2026-11-15\", \"promotedCount\": \"3\"}", Some((94_205_000, 0))),
            (r#"{"timestamp":"2099-01-01T00:00:00Z","promotedCount":3}"#, None),
            (r#"{"timestamp":"2026-11-15T02:10"#, None),
            (r#"{"timestamp":1794795005}"#, None),
            (r#"{"timestamp":"昨日"}"#, None),
            (r"[]", None),
            ("", None),
        ] {
            fs::write(folder.path().join(LAST_RUN), text).unwrap();
            let expected = expected.map(|(ago, promoted)| LastRun { at: NOW.before(ago), promoted });
            match (read_last_run(&folder, NOW), expected) {
                (Known::Value(run), Some(expected)) => assert_eq!(run, expected, "{text}"),
                (Known::Broken(why), None) => assert!(why.starts_with(LAST_RUN), "{why}"),
                (other, _) => panic!("{text}: {other:?}"),
            }
        }
        fs::write(folder.path().join(LAST_RUN), [b'['; 300]).unwrap();
        assert!(matches!(read_last_run(&folder, NOW), Known::Broken(_)), "nested too deep");
    }

    #[test]
    fn what_others_keep_in_a_file_stays() {
        let (_root, folder) = project();
        let path = folder.path().join(LAST_RUN);
        fs::write(&path, r#"{"timestamp":"x","promotedCount":1,"note":"残す"}"#).unwrap();
        let run = LastRun { at: NOW, promoted: 2 };
        write_last_run(&folder, run).unwrap();
        assert_eq!(read_last_run(&folder, NOW), Known::Value(run));
        let kept: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        let expected =
            serde_json::json!({"note": "残す", "promotedCount": 2, "timestamp": "2026-11-16T02:10:05Z"});
        assert_eq!(kept, expected);
        fs::write(&path, "{\"timestamp\": half").unwrap();
        write_last_run(&folder, run).unwrap();
        assert_eq!(read_last_run(&folder, NOW), Known::Value(run));
    }

    #[test]
    fn the_last_compaction_by_us_and_by_others() {
        let (_root, folder) = project();
        assert_eq!(read_last_compact(&folder), Known::Absent);
        let path = folder.path().join(LAST_COMPACT);
        let theirs = r#"{"timestamp":"2026-02-18T05:30:00Z","compoundRun":true,"x":1,
            "progressSummary":{"entryCount":3,"recentHeadings":["a"],"y":2},
            "confidenceSummary":{"totalEntries":2,"avgConfirmed":1.5,"unverifiedCount":1}}"#;
        fs::write(&path, theirs).unwrap();
        let Known::Value(read) = read_last_compact(&folder) else { panic!() };
        assert_eq!((read.session_id.as_deref(), read.compound_run), (None, true));
        assert_eq!((read.progress_summary.entry_count, read.confidence_summary.unverified_count), (3, 1));

        let survival =
            SurvivalSummary { kept: 1, of: 2, lost: vec!["失った".into()], given_back: Some(1) };
        let mut ours = LastCompact {
            timestamp: NOW.iso_seconds(),
            session_id: Some("s".into()),
            trigger: Some("auto".into()),
            survival: Some(survival),
            ..LastCompact::default()
        };
        write_last_compact(&folder, &ours).unwrap();
        assert_eq!(read_last_compact(&folder), Known::Value(ours.clone()));
        let text = fs::read_to_string(&path).unwrap();
        assert!(
            text.contains("\"x\": 1") && text.contains("\"y\": 2") && text.contains("\"sessionId\": \"s\"")
        );
        ours.survival = None;
        write_last_compact(&folder, &ours).unwrap();
        assert_eq!(read_last_compact(&folder), Known::Value(ours));

        for text in ["{\"timestamp\":\"2026", "{}", "null", "{\"timestamp\":\"x\",\"progressSummary\":7}"] {
            fs::write(&path, text).unwrap();
            assert!(matches!(read_last_compact(&folder), Known::Broken(_)), "{text}");
        }
    }
}
