//! Checks that failed in the last days, by class.

use std::collections::BTreeMap;

use tidegate_core::pipeline::record::{FailedCheck, Record};
use tidegate_core::time::Millis;

use crate::command::worker::EVENT as WORKER;
use crate::doctor::finding::Findings;
use crate::doctor::gathered::Gathered;
use crate::doctor::history::{DAYS, record_time};

pub(crate) fn check(seen: &Gathered, found: &mut Findings) {
    if seen.state.is_err() {
        found.note(super::NO_STATE);
        return;
    }
    let since = Millis(seen.now.0.saturating_sub(DAYS * 86_400_000));
    let mut classes: BTreeMap<&str, (usize, &Record, &FailedCheck)> = BTreeMap::new();
    for record in &seen.history.records {
        // A failure without a project concerns every project. The check `memory` reports the worker's.
        let here = (record.project.is_none() || seen.is_here(record)) && record.event != WORKER;
        if let Some(failure) = record.failure.as_ref().filter(|_| here && record_time(record) >= since) {
            let newest = classes.entry(&failure.class).or_insert((0, record, failure));
            *newest = (newest.0 + 1, record, failure);
        }
    }
    for (class, (times, record, failure)) in &classes {
        let text = format!(
            "{times} × {class} in the last {DAYS} days, last at {} ({}): {}",
            record.at, record.event, failure.step
        );
        let explain = format!("`tidegate explain {}` shows the last one", record.id);
        match *class {
            "panic" => found.problem(text, format!("{explain}; please report it, it is a fault of ours")),
            "deadline" => found.warning(text, format!("{explain}; the disk or the machine was too slow")),
            "state" | "marks" | "record" => {
                found.warning(
                    text,
                    format!("{explain}; the checks `state` and `disk` say whether it is over"),
                );
            }
            _ => found.warning(text, format!("{explain}; something else than the client may call our hooks")),
        }
    }
    if found.is_empty() {
        found.ok(format!("none in the last {DAYS} days"));
    }
}
