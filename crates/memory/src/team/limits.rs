//! Limits and redacts rows from the team: their author is unknown.

use tidegate_core::redact::redact;
use tidegate_core::text::cut::first_bytes;
use tidegate_core::time::Millis;

use super::after_ms;
use crate::act::{LONGEST_TEXT, LONGEST_TITLE};
use crate::record::{LogRow, Record};
use crate::text::one_line;
use crate::view::Hit;

/// Tolerated clock difference, in milliseconds.
const AHEAD: u64 = 5 * 60_000;

/// In characters.
const LONGEST_AUTHOR: usize = 40;

/// Caps times: one in the future would win against every later change and lead every list.
pub(super) fn limit_record(mut record: Record, now: Millis) -> Record {
    let latest = after_ms(now, AHEAD);
    match &mut record {
        Record::Topic(row) => {
            row.title = limit_title(&row.title);
            (row.created, row.updated) = (row.created.min(latest), row.updated.min(latest));
        }
        Record::Decision(row) => {
            row.text = limit_text(&row.text);
            row.reason = limit_text(&row.reason);
            row.retracted = row.retracted.map(|at| at.min(latest));
            (row.created, row.updated) = (row.created.min(latest), row.updated.min(latest));
        }
        Record::Project(_) | Record::Session(_) | Record::Log(_) => {}
    }
    record
}

pub(super) fn limit_log(row: &mut LogRow, now: Millis) {
    let latest = after_ms(now, AHEAD);
    (row.at, row.updated) = (row.at.min(latest), row.updated.min(latest));
    row.title = limit_title(&row.title);
    for part in [&mut row.text, &mut row.prompt, &mut row.answer] {
        *part = limit_text(part);
    }
}

pub(super) fn limit_hit(hit: &mut Hit) {
    hit.title = limit_title(&hit.title);
    hit.snippet = redact(&hit.snippet).text.into_owned();
    for name in [&mut hit.project, &mut hit.topic].into_iter().flatten() {
        *name = limit_title(name);
    }
}

pub(super) fn limit_title(text: &str) -> String {
    one_line(&redact(first_bytes(text, LONGEST_TITLE * 4)).text, LONGEST_TITLE)
}

/// The server's name of a login.
pub(super) fn limit_author(name: &str) -> String {
    one_line(name, LONGEST_AUTHOR)
}

fn limit_text(text: &str) -> String {
    let clean = redact(first_bytes(text, LONGEST_TEXT)).text;
    let plain: String = clean.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect();
    first_bytes(&plain, LONGEST_TEXT).trim().to_owned()
}
