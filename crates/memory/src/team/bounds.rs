//! What comes from others is no longer than what is written here, and redacted like it: nobody knows who wrote it.

use tidegate_core::redact::redact;
use tidegate_core::text::cut::first_bytes;
use tidegate_core::time::Millis;

use super::later;
use crate::act::{LONGEST_TEXT, LONGEST_TITLE};
use crate::record::{Log, Record};
use crate::text::one_line;
use crate::view::Hit;

/// How far the clocks of others may be ahead of this one.
const AHEAD: u64 = 5 * 60_000;

/// A topic or a decision. A time beyond this machine's now would stand against every later change, and above all else in lists.
pub(super) fn record(mut record: Record, now: Millis) -> Record {
    let latest = later(now, AHEAD);
    match &mut record {
        Record::Topic(row) => {
            row.title = title(&row.title);
            (row.created, row.updated) = (row.created.min(latest), row.updated.min(latest));
        }
        Record::Decision(row) => {
            row.text = text(&row.text);
            row.reason = text(&row.reason);
            row.retracted = row.retracted.map(|at| at.min(latest));
            (row.created, row.updated) = (row.created.min(latest), row.updated.min(latest));
        }
        Record::Project(_) | Record::Session(_) | Record::Log(_) => {}
    }
    record
}

/// A log that is shown from there.
pub(super) fn log(row: &mut Log) {
    row.title = title(&row.title);
    for part in [&mut row.text, &mut row.prompt, &mut row.answer] {
        *part = text(part);
    }
}

/// What a search there found.
pub(super) fn hit(hit: &mut Hit) {
    hit.title = title(&hit.title);
    hit.snippet = redact(&hit.snippet).text.into_owned();
    for name in [&mut hit.project, &mut hit.topic].into_iter().flatten() {
        *name = title(name);
    }
}

fn title(text: &str) -> String {
    one_line(&redact(first_bytes(text, LONGEST_TITLE * 4)).text, LONGEST_TITLE)
}

fn text(text: &str) -> String {
    let clean = redact(first_bytes(text, LONGEST_TEXT)).text;
    let plain: String = clean.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect();
    first_bytes(&plain, LONGEST_TEXT).trim().to_owned()
}
