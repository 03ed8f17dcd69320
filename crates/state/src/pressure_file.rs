//! `.claude/context/context-pressure.json`: a copy of the meter for other tools, in their format.
//!
//! Written only where that folder exists, so that a user-wide install leaves nothing in foreign checkouts. What
//! we know is in the session's marks; the copy is never read for a decision.

use std::fs;
use std::io;
use std::path::Path;

use serde::Serialize;
use tidegate_core::event::SessionId;
use tidegate_core::facts::marks::PressureLevel;
use tidegate_core::meter::Reading;
use tidegate_core::time::Millis;

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

/// Writes the copy. `level` is what was said last; a reading alone does not change it.
pub fn write(
    root: &Path,
    session: &SessionId,
    reading: &Reading,
    level: PressureLevel,
    now: Millis,
) -> io::Result<()> {
    let folder = root.join(".claude/context");
    let (Some(window), Some(percent)) = (reading.window, reading.used_pct()) else { return Ok(()) };
    // Not through a link: a repository could have it point anywhere.
    let real = |path: &Path| fs::symlink_metadata(path).is_ok_and(|found| found.is_dir());
    if !real(&root.join(".claude")) || !real(&folder) {
        return Ok(());
    }
    let file = File {
        used_percentage: (percent * 10.0).round() / 10.0,
        timestamp: now.iso(),
        last_notified_level: level.name().to_owned(),
        session_id: session.to_string(),
        used_tokens: reading.used,
        window_tokens: window.tokens,
    };
    crate::replace::copy(&folder.join("context-pressure.json"), &serde_json::to_vec_pretty(&file)?)
}
