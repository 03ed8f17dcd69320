//! What a worker has to try again, and when: one small file that outlives it. Only the worker writes it, alone as it is.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use tidegate_core::text::lang::Lang;
use tidegate_core::time::Millis;

use crate::file::{bounded, replace};
use crate::place::{self, StateDir};

/// More than this is damage.
const LARGEST: u64 = 16 * 1024 * 1024;

/// No more summaries than this are listed; of others the store knows that they wait.
pub const MOST: usize = 10_000;

/// Everything that waits for another try.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Retries {
    /// Jobs that could not be done, by the name of their file.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub jobs: BTreeMap<String, Retry>,
    /// Logs that somebody else is to sum up, by their uid.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub summaries: BTreeMap<String, Retry>,
    /// When it was last looked for sessions that were never ended.
    pub looked: Millis,
}

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retry {
    /// How often it was tried.
    pub tries: u32,
    /// Not before this time.
    pub next: Millis,
    /// The language of the person, of a summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lang: Option<Lang>,
}

/// Reads it. What cannot be read is as good as nothing: the spool and the store know what waits, and all of it is only tried
/// sooner.
pub fn read(state: &StateDir) -> Retries {
    let bytes = bounded::read(&file_path(state), LARGEST).unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or_default()
}

/// Writes it.
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
