//! Copilot's files.

use std::path::{Path, PathBuf};

use tidegate_core::event::SessionId;

use crate::place::PlaceEnv;

/// The person's folder. `moved`: `COPILOT_HOME`.
pub fn home(place: &PlaceEnv, moved: Option<&Path>) -> Option<PathBuf> {
    let moved = moved.filter(|path| path.is_absolute()).map(Path::to_owned);
    moved.or_else(|| place.home.as_ref().filter(|home| home.is_absolute()).map(|home| home.join(".copilot")))
}

/// The events of a session, which most payloads do not name. `None` before the host has written any.
pub fn events_file(home: &Path, session: &SessionId) -> Option<PathBuf> {
    let file = home.join("session-state").join(session.in_host()).join("events.jsonl");
    file.is_file().then_some(file)
}
