//! How it went the last time: a small file beside the store. Nothing of it is lost for good if it is.

use std::fs;

use serde::{Deserialize, Serialize};
use tidegate_core::time::Millis;
use tidegate_state::{place, replace};

use super::{later, pause};
use crate::error::{Error, ErrorKind, Result};
use crate::memory::Home;
use crate::record::{Uid, new_uid};

/// `team.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    /// What this machine calls itself there.
    pub machine: Uid,
    /// What the store is called that it talked to last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub store: Option<String>,
    /// Which projects it was told about, as the team calls them.
    #[serde(default)]
    pub projects: Vec<Uid>,
    /// The last change that it knows of them.
    #[serde(default)]
    pub after: i64,
    /// How many rows stayed here because they belong to what somebody had the team forget.
    #[serde(default)]
    pub forgotten: usize,
    /// What the server said about a row that it does not take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// When it last worked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub succeeded: Option<Millis>,
    /// What went wrong since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
}

/// What went wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// When it last did.
    pub at: Millis,
    /// What was said about it, without a password.
    pub what: String,
    /// How often in a row.
    pub times: u32,
    /// When the next try is due.
    pub next: Millis,
}

impl Standing {
    /// What is known; anew where nothing is.
    pub fn read(home: &Home) -> Standing {
        let text = fs::read(home.folder().join("team.json")).ok();
        text.and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_else(|| Standing {
            machine: new_uid(),
            store: None,
            projects: Vec::new(),
            after: 0,
            forgotten: 0,
            refused: None,
            succeeded: None,
            failure: None,
        })
    }

    /// Keeps it.
    pub(super) fn write(&self, home: &Home) -> Result<()> {
        let path = home.folder().join("team.json");
        let bytes = serde_json::to_vec(self).unwrap_or_default();
        place::make_private(home.folder())
            .and_then(|()| replace::copy(&path, &bytes))
            .map_err(|error| Error::new(ErrorKind::Io, format!("{}: {error}", path.display())))
    }

    /// Whether a worker may try.
    pub fn is_due(&self, now: Millis) -> bool {
        // A clock that went back must not keep it from trying.
        self.failure.as_ref().is_none_or(|failure| now >= failure.next || now < failure.at)
    }

    /// Whether this is another store than the last one: what that one told, and was told, says nothing about this one.
    pub(super) fn is_another(&self, store: &str) -> bool {
        self.store.as_deref() != Some(store)
    }

    /// It knows all that there is to tell now, or has it in line.
    pub(super) fn talks_to(&mut self, store: String) {
        self.store = Some(store);
        self.after = 0;
    }

    pub(super) fn succeeded(&mut self, now: Millis) {
        self.succeeded = Some(now);
        self.failure = None;
    }

    pub(super) fn failed(&mut self, error: &Error, now: Millis) {
        let times = self.failure.as_ref().map_or(0, |failure| failure.times).saturating_add(1);
        self.failure =
            Some(Failure { at: now, what: error.what.clone(), times, next: later(now, pause(times)) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tries_grow_rarer_and_never_stop() {
        let mut standing = Standing::read(
            &Home::of(&place::PlaceEnv { xdg_data: Some("/nowhere".into()), ..Default::default() }).unwrap(),
        );
        let error = Error::new(ErrorKind::Offline, "gone");
        let mut waits = Vec::new();
        for _ in 0..10 {
            standing.failed(&error, Millis(1000));
            waits.push(standing.failure.as_ref().unwrap().next.since(Millis(1000)) / 1000);
        }
        assert_eq!(waits, [30, 60, 120, 240, 480, 960, 1920, 3600, 3600, 3600]);
        assert!(
            !standing.is_due(Millis(2000))
                && standing.is_due(Millis(3_601_000))
                && standing.is_due(Millis(0))
        );
        standing.succeeded(Millis(5));
        assert!(standing.is_due(Millis(5)));
    }
}
