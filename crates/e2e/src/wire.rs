//! The forms in which a hook answers the client: not copies, but what the binary's own reply table produces.
//!
//! A scenario gives these bytes to the client through a hook of its own, and so proves a row of the table before any
//! policy uses it.

use tidegate_core::event::{EventKind, FailedStep};
use tidegate_core::feature::verdict::Call;
use tidegate_core::host::claude_code::reply::{Reply, reply};
use tidegate_core::pipeline::gate::Closed;
use tidegate_core::pipeline::ruling::Outcome;
use tidegate_core::text::lang::Lang;

/// Context for the model.
pub fn context(event: EventKind, text: &str) -> Reply {
    reply(event, &Outcome { context: text.to_owned(), ..Outcome::default() })
}

/// Context for the model and a message for the user.
pub fn texts(event: EventKind, model: &str, user: &str) -> Reply {
    reply(event, &Outcome { context: model.to_owned(), user: user.to_owned(), ..Outcome::default() })
}

/// A ruling with its reason, and a message for the user.
pub fn ruling(event: EventKind, call: Call, reason: &str, user: &str) -> Reply {
    reply(event, &Outcome { call, reason: reason.to_owned(), user: user.to_owned(), ..Outcome::default() })
}

/// A gate that could not check.
pub fn could_not_check(step: &FailedStep) -> Reply {
    Closed::because(step, Lang::En).reply()
}
