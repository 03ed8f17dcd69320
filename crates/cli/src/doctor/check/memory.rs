//! The memory: its store, and the jobs that hooks leave for it. The store is opened but not read through, and nothing
//! is repaired: `tidegate memory check` does both.

use std::collections::BTreeMap;
use std::path::Path;

use tidegate_core::feature::memory::relay_log;
use tidegate_core::pipeline::record::{FailedCheck, Record};
use tidegate_core::time::Millis;
use tidegate_memory::error::{Error, ErrorKind};
use tidegate_memory::memory::MemoryHome;
use tidegate_memory::sqlite::{self, QuickCheck};
use tidegate_memory::team::TeamState;
use tidegate_state::feature::memory::retries;
use tidegate_state::feature::memory::spool;
use tidegate_state::feature::memory::spool::Unread;
use tidegate_state::place::StateDir;

use super::state::{is_closed, open_up, try_to_write};
use crate::command::worker::EVENT;
use crate::doctor::finding::Findings;
use crate::doctor::gathered::Gathered;
use crate::doctor::history::{DAYS, record_time};
use crate::print::format_count;
use crate::shell::quote_path;

const HOUR: u64 = 3_600_000;

/// A job that waits longer than this, or behind this many others, is stuck.
const LONG: u64 = HOUR;
const MANY: usize = 200;

/// A single failure may be temporary.
const OFTEN: usize = 3;

/// Longer than a server is away for maintenance.
const UNTOLD: u64 = 24 * HOUR;

pub(crate) fn check(seen: &Gathered, found: &mut Findings) {
    let Ok(state) = &seen.state else {
        found.note(super::NO_STATE);
        return;
    };
    let home = match MemoryHome::of(&seen.env.place) {
        Ok(home) => home,
        Err(error) => {
            found.problem(format!("there is no place for a store: {}", error.what), cure_of(&error));
            return;
        }
    };
    check_folder(home.folder(), found);
    let looked = home.is_there().unwrap_or(false).then(|| check_store(&home, found));
    check_waiting_jobs(state, seen.now, found);
    report_failures(seen, found);
    if let Some(Some(looked)) = &looked {
        check_team(seen, &home, looked, found);
    }
    for aside in home.damaged_files() {
        found.note_with(
            format!("a damaged store was set aside and rebuilt: {}", aside.display()),
            format!("`what-happened.json` there says what was saved; delete {} then", quote_path(&aside)),
        );
    }
    if found.is_empty() {
        let off = if relay_log::is_on(&seen.config) { "" } else { "; nothing is recorded here" };
        match looked.flatten() {
            Some(QuickCheck { logs, .. }) => {
                let logs = format_count(usize::try_from(logs).unwrap_or(usize::MAX), "log");
                found.ok(format!("{}, {logs}, nothing waits for long{off}", home.file().display()));
            }
            None => found.ok(format!("nothing has been stored yet{off}")),
        }
    }
}

fn cure_of(error: &Error) -> String {
    error.hint.clone().unwrap_or_else(|| "set TIDEGATE_DATA_DIR to a folder of your own".to_owned())
}

fn check_folder(folder: &Path, found: &mut Findings) {
    if let Err(error) = try_to_write(folder) {
        let cure = if is_closed(folder) {
            open_up(folder)
        } else {
            format!(
                "give {} to yourself, or set TIDEGATE_DATA_DIR to a folder of your own",
                quote_path(folder)
            )
        };
        found.problem(format!("nothing can be written in {}: {error}", folder.display()), cure);
        return;
    }
    #[cfg(unix)]
    for path in [folder.to_owned(), folder.join("memory.db")] {
        use std::os::unix::fs::PermissionsExt;
        let Ok(metadata) = path.metadata() else { continue };
        if metadata.permissions().mode() & 0o077 != 0 {
            found.warning(
                format!("{} is open to other users", path.display()),
                format!("`chmod go-rwx {}` makes it yours alone", quote_path(&path)),
            );
        }
    }
}

fn check_store(home: &MemoryHome, found: &mut Findings) -> Option<QuickCheck> {
    let error = match sqlite::quick_check(&home.file()) {
        Ok(looked) => return Some(looked),
        Err(error) => error,
    };
    let file = home.file();
    match error.kind {
        ErrorKind::Damaged => found.problem(
            format!("the store is damaged: {}", error.what),
            "`tidegate memory check --repair` sets it aside and rebuilds it from the newest copy and what can still be read; \
             the next worker does so, too",
        ),
        ErrorKind::Newer | ErrorKind::Refused => found.problem(error.what.clone(), cure_of(&error)),
        _ => found.problem(
            format!("the store cannot be read: {}", error.what),
            format!("give {} to yourself with mode 0600; `tidegate memory check` says more", quote_path(&file)),
        ),
    }
    None
}

/// Jobs without a worker.
fn check_waiting_jobs(state: &StateDir, now: Millis, found: &mut Findings) {
    const ONCE: &str = "`tidegate worker --once` does what can be done, and says what is in the way";
    let queue = match spool::list(state) {
        Ok(queue) => queue,
        Err(error) => {
            let folder = state.root().join("spool");
            let cure = if is_closed(&folder) {
                open_up(&folder)
            } else {
                format!("move {} away: the next hook makes it anew", quote_path(&folder))
            };
            found.problem(format!("the spool cannot be read: {error}"), cure);
            return;
        }
    };
    let newer = queue.iter().filter(|queued| matches!(queued.job, Err(Unread::Newer(_)))).count();
    if newer > 0 {
        found.warning(
            format!("{} from a newer tidegate", count_waiting(newer)),
            "`tidegate worker --once` with the newer tidegate stores them; this one leaves them alone",
        );
    }
    let oldest = queue.iter().filter_map(|queued| queued.job.as_ref().ok()).map(|job| job.at).min();
    let late = oldest.filter(|at| now.since(*at) >= LONG);
    let others = queue.len() - newer;
    if let Some(since) = late {
        found.warning(
            format!("{} to be stored, the oldest since {}", count_waiting(others), since.iso()),
            ONCE,
        );
    } else if others > MANY {
        found.warning(format!("{} to be stored", count_waiting(others)), ONCE);
    }
    let retries = retries::read(state);
    let names: Vec<_> = queue.iter().filter_map(|queued| queued.path.file_name()).collect();
    let failed = retries.jobs.keys().filter(|name| names.iter().any(|known| *known == name.as_str())).count();
    if failed > 0 {
        found.warning(
            format!("{} could not be stored, and will be tried again", format_count(failed, "job")),
            ONCE,
        );
    }
    let untold = retries.summaries.values().filter(|retry| retry.tries as usize >= OFTEN).count();
    if untold > 0 {
        found.warning(
            format!("{} not summed up by the model in `[memory.summary]` so far", logs_were(untold)),
            "`tidegate worker --once` tries again and says why not; the logs are there, with a summary of our own",
        );
    }
    let damaged = spool::list_damaged(state).unwrap_or_default();
    if let Some(folder) = damaged.first().and_then(|path| path.parent()) {
        found.warning(
            format!(
                "{} in the spool that made no sense {} put aside",
                format_count(damaged.len(), "file"),
                were(damaged.len())
            ),
            format!("look what wrote into {}, then delete it", quote_path(folder)),
        );
    }
}

fn count_waiting(number: usize) -> String {
    format!("{} {}", format_count(number, "job"), if number == 1 { "waits" } else { "wait" })
}

fn were(number: usize) -> &'static str {
    if number == 1 { "was" } else { "were" }
}

fn logs_were(number: usize) -> String {
    format!("{} {}", format_count(number, "log"), were(number))
}

/// From the journal of the last days.
fn report_failures(seen: &Gathered, found: &mut Findings) {
    let since = Millis(seen.now.0.saturating_sub(DAYS * 24 * HOUR));
    let mut classes: BTreeMap<&str, (usize, &Record, &FailedCheck)> = BTreeMap::new();
    for record in
        seen.history.records.iter().filter(|record| record.event == EVENT && record_time(record) >= since)
    {
        if let Some(failure) = &record.failure {
            let newest = classes.entry(&failure.class).or_insert((0, record, failure));
            *newest = (newest.0 + 1, record, failure);
        }
    }
    for (class, (times, record, failure)) in classes {
        // Damaged stores and teams are judged by their present state.
        if matches!(class, "memory" | "team") {
            continue;
        }
        let text = format!(
            "the worker failed {times} × ({class}) in the last {DAYS} days, last at {}: {}",
            record.at, failure.step
        );
        match class {
            "transcript" => found.note_with(
                text,
                "what a transcript no longer holds cannot be stored; the rest of its session is",
            ),
            _ if times >= OFTEN => found.warning(
                text,
                format!(
                    "`tidegate explain {}` shows the last one, `tidegate worker --once` whether it is over",
                    record.id
                ),
            ),
            _ => found.note(text),
        }
    }
}

fn check_team(seen: &Gathered, home: &MemoryHome, looked: &QuickCheck, found: &mut Findings) {
    let Some(url) = seen.config.memory.team.url.as_ref() else { return };
    let standing = TeamState::read(home);
    let Some(failure) = &standing.failure else { return };
    let told = standing.succeeded;
    if told.is_some_and(|at| seen.now.since(at) < UNTOLD) || (failure.times as usize) < OFTEN {
        return;
    }
    let since =
        told.map_or_else(|| "never told anything yet".to_owned(), |at| format!("last told at {}", at.iso()));
    let pending = format_count(usize::try_from(looked.outbox).unwrap_or(usize::MAX), "change");
    found.warning(
        format!("the team's store {} was {since}, {pending} to be delivered: {}", url.shown(), failure.what),
        "all of it is in your own store; `tidegate worker --once` tries to deliver it and says what is in the way",
    );
}
