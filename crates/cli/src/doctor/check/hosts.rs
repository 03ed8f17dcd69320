//! Other agents that call the hooks.

use super::super::finding::Findings;
use super::super::gathered::Gathered;
use super::super::history::DAYS;
use crate::host::unchecked::Unchecked;

pub(super) fn check(seen: &Gathered, found: &mut Findings) {
    if seen.state.is_err() {
        found.note(super::NO_STATE);
        return;
    }
    for host in Unchecked::among(seen.history.records.iter().filter(|record| seen.is_here(record))) {
        found.note(host.line());
    }
    if found.is_empty() {
        found.ok(format!("only Claude Code called in the last {DAYS} days"));
    }
}
