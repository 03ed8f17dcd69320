//! The public copies in `.claude/context/`, in the formats of other tools.
//!
//! Nothing that steers a session is read from them alone. What other tools put into the same file stays.

use std::io;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tidegate_core::facts::Known;
use tidegate_core::knowledge::timestamp;
use tidegate_core::time::Millis;

use super::read::Folder;
use crate::{bounded, replace};

/// Written when entries were promoted.
pub const LAST_RUN: &str = "compound-last-run.json";

/// Written at a compaction.
pub const LAST_COMPACT: &str = "last-compact.json";

const LARGEST: u64 = 256 * 1024;

/// A file that was written so much later than now was not.
const CLOCK_SLACK_MS: u64 = 24 * 3_600_000;

/// When entries were last promoted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastRun {
    /// When.
    pub at: Millis,
    /// How many.
    pub promoted: u64,
}

/// Reads `compound-last-run.json`. A time in the future is not believed: it would silence everything until then.
pub fn last_run(folder: &Folder, now: Millis) -> Known<LastRun> {
    read(folder, LAST_RUN, |members| {
        let written = members.get("timestamp").and_then(Value::as_str).ok_or("no timestamp")?;
        let at = timestamp::first(written).ok_or("a timestamp that is none")?.at;
        if at.since(now) > CLOCK_SLACK_MS {
            return Err("a timestamp in the future".into());
        }
        Ok(LastRun { at, promoted: members.get("promotedCount").and_then(Value::as_u64).unwrap_or_default() })
    })
}

/// Writes `compound-last-run.json`.
pub fn write_last_run(folder: &Folder, run: LastRun) -> io::Result<()> {
    let new = serde_json::json!({ "timestamp": run.at.iso_seconds(), "promotedCount": run.promoted });
    write(folder, LAST_RUN, new, &[])
}

/// `last-compact.json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LastCompact {
    /// When, as text.
    pub timestamp: String,
    /// Whose compaction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// `auto` or `manual`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trigger: Option<String>,
    /// There were entries, and all had been shown to a person.
    pub compound_run: bool,
    /// The flow.
    pub progress_summary: ProgressSummary,
    /// The stock.
    pub confidence_summary: ConfidenceSummary,
    /// What the summary kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub survival: Option<SurvivalSummary>,
}

/// The flow in numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ProgressSummary {
    /// How many entries.
    pub entry_count: u64,
    /// The newest.
    pub recent_headings: Vec<String>,
}

/// The stock in numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ConfidenceSummary {
    /// How many entries.
    pub total_entries: u64,
    /// How often one was confirmed, on average.
    pub avg_confirmed: f64,
    /// How many never were.
    pub unverified_count: u64,
}

/// What a summary kept, in numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SurvivalSummary {
    /// So many key facts.
    pub kept: u64,
    /// Of so many.
    pub of: u64,
    /// The others.
    pub lost: Vec<String>,
}

/// Reads `last-compact.json`.
pub fn last_compact(folder: &Folder) -> Known<LastCompact> {
    read(folder, LAST_COMPACT, |members| {
        let found: LastCompact =
            serde_json::from_value(Value::Object(members)).map_err(|error| error.to_string())?;
        if found.timestamp.is_empty() { Err("no timestamp".into()) } else { Ok(found) }
    })
}

/// Writes `last-compact.json`.
pub fn write_last_compact(folder: &Folder, compact: &LastCompact) -> io::Result<()> {
    write(folder, LAST_COMPACT, serde_json::to_value(compact)?, &["sessionId", "trigger", "survival"])
}

fn read<T>(
    folder: &Folder,
    name: &str,
    understand: impl FnOnce(Map<String, Value>) -> Result<T, String>,
) -> Known<T> {
    match members(folder, name) {
        Ok(members) => match understand(members) {
            Ok(found) => Known::Value(found),
            Err(why) => Known::Broken(format!("{name}: {why}")),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => Known::Absent,
        Err(error) => Known::Broken(format!("{name}: {error}")),
    }
}

fn members(folder: &Folder, name: &str) -> io::Result<Map<String, Value>> {
    let bytes = bounded::read(&folder.file(name)?, LARGEST)?;
    let text = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&bytes);
    serde_json::from_slice(text).map_err(io::Error::other)
}

/// Writes a copy over what is there. `optional` are members of ours that go when the new one does not have them.
fn write(folder: &Folder, name: &str, new: Value, optional: &[&str]) -> io::Result<()> {
    let mut all = Value::Object(members(folder, name).unwrap_or_default());
    if let Value::Object(all) = &mut all {
        all.retain(|name, _| !optional.contains(&name.as_str()));
    }
    lay_over(&mut all, new);
    let mut text = serde_json::to_vec_pretty(&all)?;
    text.push(b'\n');
    replace::copy(&folder.path().join(name), &text)
}

fn lay_over(under: &mut Value, over: Value) {
    match (under, over) {
        (Value::Object(under), Value::Object(over)) => {
            for (name, value) in over {
                lay_over(under.entry(name).or_insert(Value::Null), value);
            }
        }
        (under, over) => *under = over,
    }
}
