//! The last message as the report of a stage: words in it that contradict `tidegate cycle done` are quoted.

use crate::event::Event;
use crate::feature::cycle::one_line::sanitize_line;
use crate::feature::cycle::order::quote_around;
use crate::feature::cycle::success::Missing;
use crate::feature::cycle::{DoneWhen, Stage};
use crate::redact::redact;
use crate::text::question::{self, find_prohibition, find_unfinished};

/// JSON bytes at the end of a report in which it may forbid to ship.
const REPORT_BYTES: usize = 12_000;

/// A message to a person has room for this much of quoted words.
pub(super) const MAX_SAID_CHARS: usize = 60;

/// Only the last thing to look at: the report may be long.
pub(super) fn find_contradiction(event: &Event<'_>, stage: &Stage) -> Option<Missing> {
    let message = event.last_message?;
    let forbids =
        || find_prohibition(&message.tail(REPORT_BYTES)).map(|said| Missing::Forbidden(quote(&said)));
    let remains =
        || find_unfinished(&message.tail(question::BYTES)).map(|said| Missing::Unfinished(quote(&said)));
    let reads_findings = stage.done_when.contains(&DoneWhen::NoOpenFindings);
    reads_findings.then(forbids).flatten().or_else(remains)
}

/// Words of a report, short enough for a message. No secret is recognized by a part of it.
fn quote(said: &str) -> String {
    sanitize_line(&quote_around(&redact(said).text, MAX_SAID_CHARS)).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_taken_out_before_the_quotation_is_cut() {
        let token = format!("ghp_{}", "1a2B3c4D5e6F".repeat(3));
        for said in [
            format!("This must not be shipped, because config has {token} in it now"),
            format!("Because of {token} this must not be shipped to any customer"),
        ] {
            let quoted = quote(&said);
            assert!(quoted.chars().count() <= MAX_SAID_CHARS, "{quoted}");
            assert!((4..token.len()).all(|at| !quoted.contains(&token[at - 4..at])), "{quoted}");
        }
    }
}
