//! The answer of a gate whose check failed: it denies in its own words and tells the person the way past it.
//!
//! A failure never looks like a policy's verdict: it has its own class in the record and its own sentence.

use crate::event::{Event, EventKind, FailedStep};
use crate::host::Host;
use crate::host::answer::{Answer, Call, Reply};
use crate::pipeline::{name_agent, words};
use crate::text::lang::Lang;
use crate::text::quoted::quoted_line;

/// The registration that called the hook.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Registration {
    /// The event it was written for.
    pub event: Option<EventKind>,
    /// It gates nothing, so a failure is silent.
    pub advice: bool,
}

impl Registration {
    /// A failed check denies if the registration or the payload says PreToolUse, unless the registration only
    /// advises.
    pub fn closes_on_failure(self, kind: Option<EventKind>) -> bool {
        !self.advice && [kind, self.event].contains(&Some(EventKind::PreToolUse))
    }
}

/// Fails if the event is not the one that the gate was registered for.
pub fn check_event(event: &Event<'_>, registration: Registration) -> Result<(), FailedStep> {
    let gates = registration.event == Some(EventKind::PreToolUse);
    if gates && event.kind != EventKind::PreToolUse { Err(FailedStep::OtherEvent) } else { Ok(()) }
}

/// Fails if a member that the gates need cannot be used.
pub fn check_members(event: &Event<'_>) -> Result<(), FailedStep> {
    if let Err(step) = &event.tool {
        return Err(step.clone());
    }
    event.edit_paths().transpose().map(|_| ()).map_err(Clone::clone)
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClosedGate {
    /// On stderr.
    pub model: String,
    /// Only for the person, because it names the way past the gate.
    pub user: String,
}

impl ClosedGate {
    pub fn for_call(host: Host, step: &FailedStep, lang: Lang) -> ClosedGate {
        ClosedGate {
            // Quoted, because a step may name a path.
            model: quoted_line(&format!("Tidegate could not check: {step}. It blocked this call.")),
            user: quoted_line(&name_agent(&words::gate_closed(lang, step), host)),
        }
    }

    /// For the end of a turn: without the session's marks, unverified edits are unknown.
    pub fn for_stop(host: Host, step: &FailedStep, lang: Lang) -> ClosedGate {
        let model = format!(
            "If code changed in this turn, run the project's checks, and tell the person that Tidegate cannot use its state: \
             {step}. It does not know whether a check has passed, and pauses this turn once."
        );
        let user = name_agent(&words::stop_unchecked(lang, step), host);
        ClosedGate { model: quoted_line(&model), user: quoted_line(&user) }
    }

    pub fn stop_reply(&self, host: Host) -> Reply {
        let answer = Answer { call: Call::Deny, reason: &self.model, user: &self.user, context: "" };
        host.reply(EventKind::Stop, &answer)
    }

    pub fn reply(&self, host: Host) -> Reply {
        host.refuse(&self.model, &self.user)
    }
}
