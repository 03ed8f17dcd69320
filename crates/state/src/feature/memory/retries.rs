//! Work that the worker has to try again, and when: one small file that outlives it. Only the worker writes it.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use tidegate_core::text::lang::Lang;
use tidegate_core::time::Millis;

use crate::file::{bounded, replace};
use crate::place::{self, StateDir};

const LARGEST: u64 = 16 * 1024 * 1024;

/// Further summaries are not listed; the store still knows that they wait.
pub const MOST: usize = 10_000;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Retries {
    /// Failed jobs, by file name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub jobs: BTreeMap<String, Retry>,
    /// Logs without a summary by a language model, by uid.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub summaries: BTreeMap<String, Retry>,
    /// The last search for sessions that never ended.
    pub looked: Millis,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retry {
    pub tries: u32,
    /// The earliest time of the next try.
    pub next: Millis,
    /// For a summary: the person's language.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lang: Option<Lang>,
}

/// No try is set further away than this.
pub const LONGEST_PAUSE_MS: u64 = 24 * 3_600_000;

impl Retry {
    /// Also if the clock moved back since, or it would wait as long again.
    pub fn is_due(&self, now: Millis) -> bool {
        self.next <= now || self.next.since(now) > LONGEST_PAUSE_MS
    }
}

/// An unreadable file counts as empty: the spool and the store know the work, and it is only tried sooner.
pub fn read(state: &StateDir) -> Retries {
    let bytes = bounded::read(&file_path(state), LARGEST).unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or_default()
}

pub fn write(state: &StateDir, retries: &Retries) -> io::Result<()> {
    let bytes = if retries.summaries.len() > MOST {
        let mut kept = retries.clone();
        let mut times: Vec<Millis> = kept.summaries.values().map(|retry| retry.next).collect();
        times.sort_unstable();
        let oldest = times[times.len() - MOST];
        kept.summaries.retain(|_, retry| retry.next >= oldest);
        serde_json::to_vec(&kept)
    } else {
        serde_json::to_vec(retries)
    };
    let path = file_path(state);
    let bytes = bytes.map_err(io::Error::other)?;
    match replace::copy(&path, &bytes) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            place::make_private(&state.root().join("memory"))?;
            replace::copy(&path, &bytes)
        }
        done => done,
    }
}

fn file_path(state: &StateDir) -> PathBuf {
    state.root().join("memory").join("retries.json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_that_no_pause_reaches_was_set_by_a_wrong_clock() {
        let due = |next: u64| Retry { tries: 1, next: Millis(next), lang: None }.is_due(Millis(1_000));
        assert!(due(1_000) && !due(1_001) && !due(1_000 + LONGEST_PAUSE_MS));
        assert!(due(1_001 + LONGEST_PAUSE_MS));
    }

    #[test]
    fn what_was_written_is_read_and_damage_is_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let env = place::PlaceEnv { state_dir: Some(folder.path().join("s")), ..Default::default() };
        let state = StateDir::open(&env).unwrap();
        assert_eq!(read(&state), Retries::default());
        let mut retries = Retries::default();
        retries.jobs.insert("1.json".to_owned(), Retry { tries: 1, next: Millis(5), lang: None });
        for n in 0..MOST as u64 + 50 {
            retries
                .summaries
                .insert(n.to_string(), Retry { tries: 0, next: Millis(n), lang: Some(Lang::Ja) });
        }
        write(&state, &retries).unwrap();
        let found = read(&state);
        assert_eq!((found.jobs.len(), found.summaries.len()), (1, MOST));
        assert!(!found.summaries.contains_key("49") && found.summaries.contains_key("50"));
        std::fs::write(file_path(&state), "{").unwrap();
        assert_eq!(read(&state), Retries::default());
    }
}
