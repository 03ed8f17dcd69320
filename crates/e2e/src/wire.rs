//! Answers of a hook to the client, produced by the binary's own reply table.
//!
//! A scenario sends these bytes to the client through its own hook, and so verifies a row of the table before
//! any policy uses it.

use tidegate_core::event::{EventKind, FailedStep};
use tidegate_core::feature::verdict::Call;
use tidegate_core::host::Host;
use tidegate_core::host::answer::{Answer, Reply};
use tidegate_core::pipeline::gate::ClosedGate;
use tidegate_core::text::lang::Lang;

pub fn context(event: EventKind, text: &str) -> Reply {
    Host::ClaudeCode.reply(event, &Answer { context: text, ..Answer::default() })
}

pub fn texts(event: EventKind, model: &str, user: &str) -> Reply {
    Host::ClaudeCode.reply(event, &Answer { context: model, user, ..Answer::default() })
}

pub fn ruling(event: EventKind, call: Call, reason: &str, user: &str) -> Reply {
    Host::ClaudeCode.reply(event, &Answer { call, reason, user, ..Answer::default() })
}

/// A gate that could not check.
pub fn could_not_check(step: &FailedStep) -> Reply {
    ClosedGate::for_call(Host::ClaudeCode, step, Lang::En).reply(Host::ClaudeCode)
}
