//! A wrong clock: ages, deadlines of approvals and the journal's days depend on it.

use std::fs::{self, OpenOptions};
use std::path::Path;

use tidegate_core::time::Millis;

use crate::doctor::finding::Findings;
use crate::doctor::gathered::Gathered;
use crate::doctor::history::record_time;
use crate::path::modified_at;

/// Date of this source: a right clock is later.
const WRITTEN: &str = "2026-11-15T00:00:00Z";

/// Clocks of two machines differ a little.
const SLACK_MS: u64 = 120_000;

const CURE: &str = "set the clock right: `timedatectl set-ntp true`, or in the system's settings";

pub(crate) fn check(seen: &Gathered, found: &mut Findings) {
    let newest =
        seen.history.records.iter().map(|record| (record_time(record), record)).max_by_key(|(at, _)| *at);
    if let Some(why) = too_early(seen.now) {
        found.problem(why, CURE);
    }
    if let Some((at, record)) = newest.filter(|(at, _)| at.since(seen.now) > SLACK_MS) {
        found.warning(
            format!("record {} is of {}, but the clock says {}", record.id, at.iso(), seen.now.iso()),
            CURE,
        );
    }
    let state = seen.state.as_ref().ok().map(tidegate_state::place::StateDir::root);
    if let Some((folder, of_files)) = state.and_then(|folder| Some((folder, time_of_files(folder)?))) {
        let now = tidegate_state::clock::now();
        if of_files.since(now).max(now.since(of_files)) > SLACK_MS {
            found.warning(
                format!(
                    "files in {} are dated {}, but the clock says {}",
                    folder.display(),
                    of_files.iso(),
                    now.iso()
                ),
                "set both clocks right, or move the state to a local disk with TIDEGATE_STATE_DIR",
            );
        }
    }
    if found.is_empty() {
        found.ok(seen.now.iso());
    }
}

fn too_early(now: Millis) -> Option<String> {
    let written = Millis::from_iso(WRITTEN)?;
    (now < written).then(|| format!("the clock says {}, before this program was written", now.iso()))
}

/// The time that a new file gets: another machine's, if the state is on its disk.
fn time_of_files(folder: &Path) -> Option<Millis> {
    let probe = super::state::probe_file(folder);
    OpenOptions::new().write(true).create_new(true).open(&probe).ok()?;
    let time = modified_at(&probe);
    let _ = fs::remove_file(&probe);
    time
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_was_never_set_is_too_early() {
        assert!(too_early(Millis(0)).is_some_and(|why| why.contains("1970-01-01")));
        assert_eq!(too_early(Millis::from_iso("2026-11-15T00:00:00Z").unwrap()), None);
    }
}
