//! The outcome of the last exchange, in a small file next to the store. It can be deleted without losing
//! data.

use std::fs;

use serde::{Deserialize, Serialize};
use tidegate_core::time::Millis;
use tidegate_state::file::replace;
use tidegate_state::place;

use super::{after_ms, retry_pause_ms};
use crate::error::{Error, ErrorKind, Result};
use crate::memory::MemoryHome;
use crate::postgres::ForgetRequest;
use crate::record::{Uid, new_uid};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TeamState {
    /// The id of this machine in the team.
    pub machine: Uid,
    /// The id of the team's store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub store: Option<String>,
    /// The projects pulled so far, by their uid in the team.
    #[serde(default)]
    pub projects: Vec<Uid>,
    /// The last change pulled.
    #[serde(default)]
    pub after: i64,
    /// The row that was changed there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<Uid>,
    /// The last delivered row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent: Option<Uid>,
    /// Its change in the team's store, and the last change there after a delivery.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub sent_change: i64,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub change: i64,
    /// Requests of others to forget rows of this person.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<ForgetRequest>,
    /// Changes of rows of others, kept here.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub theirs: usize,
    /// Rows kept here because they belong to something the team has forgotten.
    #[serde(default)]
    pub forgotten: usize,
    /// The server's reason for a rejected row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub succeeded: Option<Millis>,
    /// The failures since then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<TeamFailure>,
    /// The last failed search. It does not delay deliveries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<TeamFailure>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TeamFailure {
    /// The last time.
    pub at: Millis,
    /// Never contains a password.
    pub what: String,
    /// As shown to people. A failure says nothing about another server.
    #[serde(default)]
    pub server: String,
    /// In a row.
    pub times: u32,
    pub next: Millis,
}

impl TeamState {
    /// A new machine id if the file is missing or unreadable.
    pub fn read(home: &MemoryHome) -> TeamState {
        let text = fs::read(home.folder().join("team.json")).ok();
        text.and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_else(|| TeamState {
            machine: new_uid(),
            store: None,
            projects: Vec::new(),
            after: 0,
            seen: None,
            sent: None,
            sent_change: 0,
            change: 0,
            requests: Vec::new(),
            theirs: 0,
            forgotten: 0,
            refused: None,
            succeeded: None,
            failure: None,
            search: None,
        })
    }

    pub(super) fn write(&self, home: &MemoryHome) -> Result<()> {
        let path = home.folder().join("team.json");
        let bytes = serde_json::to_vec(self).unwrap_or_default();
        place::make_private(home.folder())
            .and_then(|()| replace::copy(&path, &bytes))
            .map_err(|error| Error::new(ErrorKind::Io, format!("{}: {error}", path.display())))
    }

    /// Whether a worker may try this server now.
    pub fn is_due(&self, server: &str, now: Millis) -> bool {
        // A clock that moved back must not prevent a try.
        let over =
            |failure: &TeamFailure| failure.server != server || now >= failure.next || now < failure.at;
        self.failure.as_ref().is_none_or(over)
    }

    /// A failure so recent that another wait is pointless.
    pub(super) fn just_failed(&self, server: &str, now: Millis) -> Option<&TeamFailure> {
        let lately = |failure: &&TeamFailure| {
            failure.server == server && failure.at <= now && now.since(failure.at) < 30_000
        };
        self.search.iter().chain(&self.failure).find(lately)
    }

    /// Whether the server has another store than last time, so that earlier exchanges say nothing about it.
    pub(super) fn is_other_store(&self, store: &str) -> bool {
        self.store.as_deref() != Some(store)
    }

    /// Starts over with a new store; everything shared is queued again.
    pub(super) fn start_over_with(&mut self, store: String) {
        self.store = Some(store);
        (self.after, self.seen, self.sent) = (0, None, None);
        (self.sent_change, self.change) = (0, 0);
    }

    pub(super) fn succeeded(&mut self, now: Millis) {
        self.succeeded = Some(now);
        (self.failure, self.search) = (None, None);
    }

    pub(super) fn failed(&mut self, server: &str, error: &Error, now: Millis) {
        self.failure = Some(TeamFailure::after(self.failure.as_ref(), server, error, now));
    }

    pub(super) fn search_failed(&mut self, server: &str, error: &Error, now: Millis) {
        self.search = Some(TeamFailure::after(self.search.as_ref(), server, error, now));
    }

    /// The server answers again, so deliveries need not wait. Returns whether that changed anything.
    pub(super) fn search_succeeded(&mut self, now: Millis) -> bool {
        let later = self.failure.as_mut().filter(|failure| failure.next > now);
        let is_news = later.is_some() || self.search.is_some();
        self.search = None;
        if let Some(failure) = later {
            failure.next = now;
        }
        is_news
    }
}

fn is_zero<T: Default + PartialEq>(count: &T) -> bool {
    *count == T::default()
}

impl TeamFailure {
    fn after(last: Option<&TeamFailure>, server: &str, error: &Error, now: Millis) -> TeamFailure {
        let times = last.filter(|last| last.server == server).map_or(0, |last| last.times).saturating_add(1);
        let (what, server) = (error.what.clone(), server.to_owned());
        TeamFailure { at: now, what, server, times, next: after_ms(now, retry_pause_ms(times)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tries_grow_rarer_and_never_stop() {
        let mut state = TeamState::read(
            &MemoryHome::of(&place::PlaceEnv { xdg_data: Some("/nowhere".into()), ..Default::default() })
                .unwrap(),
        );
        let error = Error::new(ErrorKind::Offline, "gone");
        let mut waits = Vec::new();
        for _ in 0..10 {
            state.failed("there", &error, Millis(1000));
            waits.push(state.failure.as_ref().unwrap().next.since(Millis(1000)) / 1000);
        }
        assert_eq!(waits, [30, 60, 120, 240, 480, 960, 1920, 3600, 3600, 3600]);
        assert!(
            !state.is_due("there", Millis(2000))
                && state.is_due("there", Millis(3_601_000))
                && state.is_due("there", Millis(0))
                && state.is_due("elsewhere", Millis(2000))
        );
        state.succeeded(Millis(5));
        assert!(state.is_due("there", Millis(5)));
    }

    #[test]
    fn searches_hold_no_delivery_up() {
        let mut state = TeamState::read(
            &MemoryHome::of(&place::PlaceEnv { xdg_data: Some("/nowhere".into()), ..Default::default() })
                .unwrap(),
        );
        let error = Error::new(ErrorKind::Offline, "gone");
        for at in 1..9 {
            state.search_failed("there", &error, Millis(at));
        }
        assert!(state.is_due("there", Millis(10)), "eight searches are no delivery");
        assert!(state.just_failed("there", Millis(10)).is_some());
        assert!(state.just_failed("elsewhere", Millis(10)).is_none());
        assert!(state.just_failed("there", Millis(40_000)).is_none());
        state.failed("there", &error, Millis(10));
        assert!(!state.is_due("there", Millis(20)) && state.just_failed("there", Millis(20)).is_some());
        assert!(state.search_succeeded(Millis(20)) && state.is_due("there", Millis(20)));
        assert!(!state.search_succeeded(Millis(20)), "known already");
    }
}
