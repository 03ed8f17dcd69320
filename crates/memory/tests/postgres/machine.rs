//! A machine with its own memory that shares projects with a team.

use std::fs;
use std::path::{Path, PathBuf};

use tidegate_core::feature::memory::settings::{MemorySettings, TeamUrl};
use tidegate_core::settings::list::{Item, Listed, TeamProject};
use tidegate_core::settings::setting::Setting;
use tidegate_core::settings::value::Value;
use tidegate_core::time::Millis;
use tidegate_memory::error::Result;
use tidegate_memory::memory::Memory;
use tidegate_memory::postgres::{Address, Patience};
use tidegate_memory::store::Store;
use tidegate_memory::team::{self, Direction, Exchanged, TeamState};
use tidegate_memory::view::{Filter, Page, Query};
use tidegate_state::place::{PlaceEnv, StateDir};

use crate::rows::at;
use crate::scene::PATIENT;

pub(crate) struct Machine {
    folder: tempfile::TempDir,
    place: PlaceEnv,
    state: StateDir,
    settings: MemorySettings,
    pub(crate) address: Address,
    /// In minutes.
    pub(crate) now: u64,
}

impl Machine {
    pub(crate) fn sharing(projects: &[&str], address: Address) -> Machine {
        let folder = tempfile::tempdir().expect("it works");
        let place = PlaceEnv {
            state_dir: Some(folder.path().join("state")),
            data_dir: Some(folder.path().join("data")),
            ..PlaceEnv::default()
        };
        let state = StateDir::open(&place).expect("it works");
        let mut settings = MemorySettings::default();
        settings.team.url = TeamUrl::from_value(&Value::from(address.shown()));
        settings.team.projects = listed(projects);
        Machine { folder, place, state, settings, address, now: 10_000 }
    }

    /// Like a change of the config.
    pub(crate) fn share(&mut self, projects: &[&str]) {
        self.settings.team.projects = listed(projects);
    }

    /// Like a config without a server.
    pub(crate) fn without_server(&mut self) {
        self.settings.team.url = None;
    }

    pub(crate) fn memory(&self) -> Memory {
        Memory::open(&self.place, &self.state, &self.settings, at(self.now)).expect("it works")
    }

    pub(crate) fn talk(&self) -> Result<Exchanged> {
        self.talk_within(PATIENT)
    }

    pub(crate) fn talk_within(&self, patience: Patience) -> Result<Exchanged> {
        team::exchange(&mut self.memory(), &self.address, Direction::Both, usize::MAX, patience)
    }

    pub(crate) fn pending(&self) -> u64 {
        self.memory().store().outbox_length().expect("it works")
    }

    pub(crate) fn standing(&self) -> TeamState {
        TeamState::read(self.memory().home())
    }

    pub(crate) fn topics(&self) -> Vec<String> {
        let filter = Filter { all: true, ..Filter::default() };
        let rows = self.memory().topics(&filter, &Page { limit: 1000, after: None }).expect("it works").rows;
        sorted(rows.into_iter().map(|topic| topic.row.uid))
    }

    pub(crate) fn decisions(&self) -> Vec<String> {
        let filter = Filter { all: true, ..Filter::default() };
        let rows =
            self.memory().decisions(&filter, &Page { limit: 1000, after: None }).expect("it works").rows;
        sorted(rows.into_iter().map(|decision| decision.row.uid))
    }

    pub(crate) fn found(&self, text: &str) -> (Vec<String>, Option<String>) {
        self.found_within(text, PATIENT)
    }

    pub(crate) fn found_within(&self, text: &str, patience: Patience) -> (Vec<String>, Option<String>) {
        let query = Query { text: text.to_owned(), limit: 20, ..Query::default() };
        let found = team::search_with_team(&mut self.memory(), Some(&self.address), &query, patience)
            .expect("it works");
        let note = found.note();
        (found.hits.into_iter().map(|hit| hit.uid).collect(), note)
    }

    pub(crate) fn holding(&self, needle: &str) -> Vec<PathBuf> {
        fn walk(folder: &Path, needle: &[u8], found: &mut Vec<PathBuf>) {
            for entry in fs::read_dir(folder).expect("it works").flatten() {
                let path = entry.path();
                if path.is_dir() {
                    walk(&path, needle, found);
                } else if fs::read(&path)
                    .expect("it works")
                    .windows(needle.len())
                    .any(|bytes| bytes == needle)
                {
                    found.push(path);
                }
            }
        }
        let mut found = Vec::new();
        walk(self.folder.path(), needle.as_bytes(), &mut found);
        found
    }

    /// Its name in the team.
    pub(crate) fn login(&self) -> String {
        let shown = self.address.shown();
        shown.split_once("://").and_then(|(_, rest)| rest.split_once('@')).expect("a login").0.to_owned()
    }

    pub(crate) fn now(&self) -> Millis {
        at(self.now)
    }
}

fn listed(projects: &[&str]) -> Listed<TeamProject> {
    Listed(projects.iter().map(|name| <TeamProject as Item>::read(name).expect("it works")).collect())
}

pub(crate) fn sorted(uids: impl Iterator<Item = String>) -> Vec<String> {
    let mut uids: Vec<String> = uids.collect();
    uids.sort();
    uids
}
