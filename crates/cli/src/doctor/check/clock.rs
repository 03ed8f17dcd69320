//! A wrong clock: ages, deadlines of approvals and the journal's days depend on it.

use std::fs::{self, OpenOptions};
use std::path::Path;

use tidegate_core::time::Millis;

use crate::bilingual::{Bilingual, both};
use crate::doctor::finding::Findings;
use crate::doctor::gathered::Gathered;
use crate::doctor::history::record_time;
use crate::path::modified_at;

/// Date of this source: a right clock is later.
const WRITTEN: &str = "2026-11-15T00:00:00Z";

/// Clocks of two machines differ a little.
const SLACK_MS: u64 = 120_000;

fn set_clock() -> Bilingual {
    both!(
        "Set the clock: `timedatectl set-ntp true`, or in the system's settings.",
        "`timedatectl set-ntp true` かシステム設定で、時計を合わせてください。"
    )
}

pub(crate) fn check(seen: &Gathered, found: &mut Findings) {
    let newest =
        seen.history.records.iter().map(|record| (record_time(record), record)).max_by_key(|(at, _)| *at);
    let now = seen.clock.exact(seen.now);
    if is_too_early(seen.now) {
        found.problem(
            both!(
                "The clock says {now}, which is before this program was written.",
                "時計が {now} を示しています。このプログラムが作られるより前の時刻です。"
            ),
            set_clock(),
        );
    }
    if let Some((at, record)) = newest.filter(|(at, _)| at.since(seen.now) > SLACK_MS) {
        let (id, at) = (&record.id, seen.clock.exact(at));
        found.warning(
            both!(
                "Tidegate's record {id} is from {at}, but the clock says {now}.",
                "記録 {id} は {at} のものですが、時計は {now} を示しています。"
            ),
            set_clock(),
        );
    }
    let state = seen.state.as_ref().ok().map(tidegate_state::place::StateDir::root);
    if let Some((folder, of_files)) = state.and_then(|folder| Some((folder, time_of_files(folder)?))) {
        let now = tidegate_state::clock::now();
        if of_files.since(now).max(now.since(of_files)) > SLACK_MS {
            let (folder, at, now) = (folder.display(), seen.clock.exact(of_files), seen.clock.exact(now));
            found.warning(
                both!(
                    "New files in {folder} are dated {at}, but the clock says {now}.",
                    "{folder} の新しいファイルの時刻は {at} ですが、時計は {now} を示しています。"
                ),
                both!(
                    "Set both clocks, or move the state to a local disk with TIDEGATE_STATE_DIR.",
                    "両方の時計を合わせるか、TIDEGATE_STATE_DIR で状態をローカルディスクに移してください。"
                ),
            );
        }
    }
    if found.is_empty() {
        found.ok(both!("It is {now}.", "{now} です。"));
    }
}

fn is_too_early(now: Millis) -> bool {
    Millis::from_iso(WRITTEN).is_some_and(|written| now < written)
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
        assert!(is_too_early(Millis(0)));
        assert!(!is_too_early(Millis::from_iso("2026-11-15T00:00:00Z").unwrap()));
    }
}
