//! Counts of calls to a language model over all sessions: one small file for each purpose, replaced durably under a
//! lock. A call is counted before it is made, so that one that dies counts, too.

use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use tidegate_core::time::Millis;

use crate::file::lock;
use crate::file::lock::LockMode;
use crate::file::{bounded, private, replace};
use crate::place::StateDir;

const LARGEST: u64 = 4096;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallCap {
    /// Questions about prompts, per day (UTC).
    Phases,
    /// Per hour.
    Summaries,
}

impl CallCap {
    fn name(self) -> &'static str {
        match self {
            CallCap::Phases => "llm-calls",
            CallCap::Summaries => "summary-calls",
        }
    }

    fn period(self, now: Millis) -> String {
        match self {
            CallCap::Phases => now.day(),
            CallCap::Summaries => now.iso().chars().take("2026-11-15T11".len()).collect(),
        }
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct Count {
    #[serde(rename = "day")]
    time: String,
    calls: u64,
}

/// Counts a call. `false` if `most` are made already in this period.
pub fn try_take(state: &StateDir, cap: CallCap, now: Millis, most: u64) -> io::Result<bool> {
    let path = state.root().join(format!("{}.lock", cap.name()));
    let lock = private::open_lock_file(&path)?;
    lock::wait(&lock, &path, LockMode::Exclusive)?;
    let time = cap.period(now);
    let before = match bounded::read(&file_path(state, cap), LARGEST) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
        // An unreadable count may be any number: none are allowed until the next period.
        Err(_) => most,
        Ok(bytes) => match serde_json::from_slice::<Count>(&bytes) {
            Ok(count) if count.time == time => count.calls,
            Ok(_) => 0,
            Err(_) => most,
        },
    };
    let allowed = before < most;
    let count = Count { time, calls: before + u64::from(allowed) };
    replace::durable(&file_path(state, cap), &serde_json::to_vec(&count).map_err(io::Error::other)?)?;
    Ok(allowed)
}

/// Calls in the current period.
pub fn count_taken(state: &StateDir, cap: CallCap, now: Millis) -> u64 {
    let bytes = bounded::read(&file_path(state, cap), LARGEST).unwrap_or_default();
    let count = serde_json::from_slice::<Count>(&bytes).ok().filter(|count| count.time == cap.period(now));
    count.map_or(0, |count| count.calls)
}

fn file_path(state: &StateDir, cap: CallCap) -> PathBuf {
    state.root().join(format!("{}.json", cap.name()))
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
        let taken = |now| [0; 3].map(|_| try_take(&state, CallCap::Phases, Millis(now), 2).unwrap());
        assert_eq!(taken(0), [true, true, false]);
        assert_eq!(
            (
                count_taken(&state, CallCap::Phases, Millis(DAY - 1)),
                count_taken(&state, CallCap::Phases, Millis(DAY))
            ),
            (2, 0)
        );
        assert_eq!(taken(DAY), [true, true, false]);
        assert!(!try_take(&state, CallCap::Phases, Millis(2 * DAY), 0).unwrap());
    }

    #[test]
    fn an_hour_has_so_many_and_nothing_to_do_with_the_day() {
        let folder = tempfile::tempdir().unwrap();
        let state = state(&folder);
        let taken = |now| [0; 3].map(|_| try_take(&state, CallCap::Summaries, Millis(now), 2).unwrap());
        assert_eq!((taken(0), taken(3_599_999)), ([true, true, false], [false; 3]));
        assert_eq!(taken(3_600_000), [true, true, false]);
        assert_eq!(
            (
                count_taken(&state, CallCap::Summaries, Millis(3_600_000)),
                count_taken(&state, CallCap::Phases, Millis(0))
            ),
            (2, 0)
        );
    }

    #[test]
    fn a_count_that_cannot_be_read_is_enough_for_today() {
        let folder = tempfile::tempdir().unwrap();
        let state = state(&folder);
        std::fs::write(file_path(&state, CallCap::Phases), "{\"day\":").unwrap();
        assert!(!try_take(&state, CallCap::Phases, Millis(0), 2).unwrap());
        assert!(!try_take(&state, CallCap::Phases, Millis(1), 2).unwrap());
        assert!(try_take(&state, CallCap::Phases, Millis(DAY), 2).unwrap());
    }

    #[test]
    fn many_at_once_are_no_more() {
        let folder = tempfile::tempdir().unwrap();
        let state = state(&folder);
        let allowed = std::sync::atomic::AtomicU64::new(0);
        std::thread::scope(|scope| {
            for _ in 0..16 {
                scope.spawn(|| {
                    let taken = u64::from(try_take(&state, CallCap::Phases, Millis(0), 5).unwrap());
                    allowed.fetch_add(taken, std::sync::atomic::Ordering::Relaxed);
                });
            }
        });
        assert_eq!((allowed.into_inner(), count_taken(&state, CallCap::Phases, Millis(0))), (5, 5));
    }
}
