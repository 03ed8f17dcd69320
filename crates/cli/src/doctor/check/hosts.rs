//! Other agents that call the hooks.

use crate::doctor::finding::Findings;
use crate::doctor::gathered::Gathered;
use crate::doctor::history::DAYS;
use crate::host::unchecked::Unchecked;
use crate::local_time::LocalClock;

pub(crate) fn check(seen: &Gathered, found: &mut Findings) {
    if seen.state.is_err() {
        found.note(super::NO_STATE);
        return;
    }
    for host in Unchecked::among(seen.history.records.iter().filter(|record| seen.is_here(record))) {
        found.note_with(
            host.line(&LocalClock::of_system(seen.now)).en,
            "you don't need to do anything: Tidegate does not support this agent yet",
        );
    }
    if found.is_empty() {
        if seen.history.records.iter().any(|record| seen.is_here(record)) {
            found.ok(format!("only Claude Code called in the last {DAYS} days"));
        } else if seen.sessions_here().next().is_some() {
            found.ok(format!("no hook call in the last {DAYS} days"));
        } else {
            found.ok("no hook call yet");
        }
    }
}
