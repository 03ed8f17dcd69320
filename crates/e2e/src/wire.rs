//! The forms in which a hook answers the client: not copies, but what the binary's own reply table produces.
//!
//! A scenario gives these bytes to the client through a hook of its own, and so proves a row of the table before any
//! policy uses it.

use tidegate_core::event::{EventKind, FailedStep};
use tidegate_core::feature::verdict::Call;
use tidegate_core::host::Host;
use tidegate_core::host::answer::{Answer, Reply};
use tidegate_core::pipeline::gate::Closed;
use tidegate_core::text::lang::Lang;

/// Context for the model.
pub fn context(event: EventKind, text: &str) -> Reply {
    Host::ClaudeCode.reply(event, &Answer { context: text, ..Answer::default() })
}

/// Context for the model and a message for the user.
pub fn texts(event: EventKind, model: &str, user: &str) -> Reply {
    Host::ClaudeCode.reply(event, &Answer { context: model, user, ..Answer::default() })
}

/// A ruling with its reason, and a message for the user.
pub fn ruling(event: EventKind, call: Call, reason: &str, user: &str) -> Reply {
    Host::ClaudeCode.reply(event, &Answer { call, reason, user, ..Answer::default() })
}

/// A gate that could not check.
pub fn could_not_check(step: &FailedStep) -> Reply {
    Closed::because(step, Lang::En).reply(Host::ClaudeCode)
}
