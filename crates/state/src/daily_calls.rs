//! How often a language model was asked today (UTC), over all sessions: one small file, replaced durably under a lock. A call
//! is counted before it is made, so that one that dies counts too.

use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use tidegate_core::time::Millis;

use crate::place::StateDir;
use crate::{bounded, private, replace};

const LARGEST: u64 = 4096;

#[derive(Debug, Serialize, Deserialize)]
struct Count {
    day: String,
    calls: u64,
}

/// Counts one more call, unless that would be more than `most` today.
pub fn take(state: &StateDir, now: Millis, most: u64) -> io::Result<bool> {
    let lock = private::to_lock(&state.root().join("llm-calls.lock"))?;
    lock.lock()?;
    let today = now.day();
    let before = match bounded::read(&file(state), LARGEST) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
        // What is not readable may have been any number: enough for today, and tomorrow begins anew.
        Err(_) => most,
        Ok(bytes) => match serde_json::from_slice::<Count>(&bytes) {
            Ok(count) if count.day == today => count.calls,
            Ok(_) => 0,
            Err(_) => most,
        },
    };
    let allowed = before < most;
    let count = Count { day: today, calls: before + u64::from(allowed) };
    replace::durable(&file(state), &serde_json::to_vec(&count).map_err(io::Error::other)?)?;
    Ok(allowed)
}

/// How often it was asked today.
pub fn today(state: &StateDir, now: Millis) -> u64 {
    let bytes = bounded::read(&file(state), LARGEST).unwrap_or_default();
    let count = serde_json::from_slice::<Count>(&bytes).ok().filter(|count| count.day == now.day());
    count.map_or(0, |count| count.calls)
}

fn file(state: &StateDir) -> PathBuf {
    state.root().join("llm-calls.json")
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: u64 = 86_400_000;

    fn state(folder: &tempfile::TempDir) -> StateDir {
        let env = crate::place::PlaceEnv { state_dir: Some(folder.path().join("s")), ..Default::default() };
        StateDir::open(&env).unwrap()
    }

    #[test]
    fn a_day_has_so_many_and_the_next_as_many_again() {
        let folder = tempfile::tempdir().unwrap();
        let state = state(&folder);
        let taken = |now| [0; 3].map(|_| take(&state, Millis(now), 2).unwrap());
        assert_eq!(taken(0), [true, true, false]);
        assert_eq!((today(&state, Millis(DAY - 1)), today(&state, Millis(DAY))), (2, 0));
        assert_eq!(taken(DAY), [true, true, false]);
        assert!(!take(&state, Millis(2 * DAY), 0).unwrap());
    }

    #[test]
    fn a_count_that_cannot_be_read_is_enough_for_today() {
        let folder = tempfile::tempdir().unwrap();
        let state = state(&folder);
        std::fs::write(file(&state), "{\"day\":").unwrap();
        assert!(!take(&state, Millis(0), 2).unwrap());
        assert!(!take(&state, Millis(1), 2).unwrap());
        assert!(take(&state, Millis(DAY), 2).unwrap());
    }

    #[test]
    fn many_at_once_are_no_more() {
        let folder = tempfile::tempdir().unwrap();
        let state = state(&folder);
        let allowed = std::sync::atomic::AtomicU64::new(0);
        std::thread::scope(|scope| {
            for _ in 0..16 {
                scope.spawn(|| {
                    let taken = u64::from(take(&state, Millis(0), 5).unwrap());
                    allowed.fetch_add(taken, std::sync::atomic::Ordering::Relaxed);
                });
            }
        });
        assert_eq!((allowed.into_inner(), today(&state, Millis(0))), (5, 5));
    }
}
