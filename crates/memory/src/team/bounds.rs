//! Limits and redacts rows from the team: their author is unknown.

use tidegate_core::redact::redact;
use tidegate_core::time::Millis;

use super::later;
use crate::act::{LONGEST_TEXT, LONGEST_TITLE};
use crate::record::{Log, Record};
use crate::text::one_line;
use crate::view::Hit;

/// Tolerated clock difference, in milliseconds.
const AHEAD: u64 = 5 * 60_000;

/// Caps times: one in the future would win against every later change and lead every list.
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

pub(super) fn log(row: &mut Log) {
    row.title = title(&row.title);
    for part in [&mut row.text, &mut row.prompt, &mut row.answer] {
        *part = text(part);
    }
}

pub(super) fn hit(hit: &mut Hit) {
    hit.title = title(&hit.title);
    hit.snippet = redact(&hit.snippet).text.into_owned();
    for name in [&mut hit.project, &mut hit.topic].into_iter().flatten() {
        *name = title(name);
    }
}

fn title(text: &str) -> String {
    one_line(&redact(cut(text, LONGEST_TITLE * 4)).text, LONGEST_TITLE)
}

fn text(text: &str) -> String {
    let clean = redact(cut(text, LONGEST_TEXT)).text;
    let plain: String = clean.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect();
    cut(&plain, LONGEST_TEXT).trim().to_owned()
}

fn cut(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}
