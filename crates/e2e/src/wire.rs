//! Answers of a hook to the client, produced by the binary's own reply table.
//!
//! A scenario sends these bytes to the client through its own hook, and so verifies a row of the table before
//! any policy uses it.

use tidegate_core::event::{EventKind, FailedStep};
use tidegate_core::feature::verdict::Call;
use tidegate_core::host::claude_code::reply::{Reply, reply};
use tidegate_core::pipeline::gate::Closed;
use tidegate_core::pipeline::ruling::Outcome;
use tidegate_core::text::lang::Lang;

pub fn context(event: EventKind, text: &str) -> Reply {
    reply(event, &Outcome { context: text.to_owned(), ..Outcome::default() })
}

pub fn texts(event: EventKind, model: &str, user: &str) -> Reply {
    reply(event, &Outcome { context: model.to_owned(), user: user.to_owned(), ..Outcome::default() })
}

pub fn ruling(event: EventKind, call: Call, reason: &str, user: &str) -> Reply {
    reply(event, &Outcome { call, reason: reason.to_owned(), user: user.to_owned(), ..Outcome::default() })
}

/// A gate that could not check.
pub fn could_not_check(step: &FailedStep) -> Reply {
    Closed::because(step, Lang::En).reply()
}
