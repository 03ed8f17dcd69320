//! What happens when a check cannot be made: a gate closes and says which step failed, advice is silent, and
//! both leave a record.

use std::time::Instant;

use tidegate_core::config::{Config, split_off};
use tidegate_core::event::{EventKind, FailedStep};
use tidegate_core::gate::{self, EDIT_GATE, Registration};
use tidegate_core::record::{Cost, Failure, Record, Said};
use tidegate_core::reply::Reply;
use tidegate_core::time::Millis;
use tidegate_core::words::Lang;
use tidegate_state::journal;
use tidegate_state::place::StateDir;

use crate::environment::Environment;

/// What is needed to fail properly, known before anything can fail.
#[derive(Clone, Debug)]
pub(crate) struct Fallback {
    pub registration: Registration,
    pub env: Environment,
    pub now: Millis,
    pub start: Instant,
    /// `None` when the state directory itself is what failed.
    pub state: Option<StateDir>,
}

impl Fallback {
    /// The answer, and its record as far as one can be written. `kind` and `session` as far as they are known.
    pub(crate) fn answer(
        &self,
        step: &FailedStep,
        kind: Option<EventKind>,
        session: Option<&str>,
        config: Option<&Config>,
    ) -> Reply {
        let off = match config {
            Some(config) => config.switched_off(EDIT_GATE),
            None => {
                self.env.off.as_deref().map(split_off).is_some_and(|off| off.iter().any(|id| id == EDIT_GATE))
            }
        };
        let closed = self.registration.gates(kind) && !off;
        let reply = if closed { gate::closed(step, self.lang(config).words()) } else { Reply::default() };
        if let Some(state) = &self.state {
            let kind = kind.or(self.registration.event).map_or("", EventKind::name);
            let record = Record {
                id: record_id(self.now),
                session: session.map(str::to_owned),
                attended: self.env.attended,
                ruling: "failed".to_owned(),
                said: Said {
                    model: closed.then(|| reply.stderr.clone()),
                    user: closed
                        .then(|| (self.lang(config).words().gate_closed)(&step.to_string(), EDIT_GATE)),
                    dropped: 0,
                },
                cost: Cost { bytes: reply.stderr.len(), us: self.micros(), ..Cost::default() },
                failure: Some(Failure { class: step.class().to_owned(), step: step.to_string(), closed }),
                ..Record::begin(kind, self.now)
            };
            // The answer stands whether or not it can be written down.
            let _ = journal::append(&state.journal(), self.now, &record);
        }
        reply
    }

    fn lang(&self, config: Option<&Config>) -> Lang {
        self.env.lang(config.and_then(|config| config.general.lang), None)
    }

    pub(crate) fn micros(&self) -> u64 {
        self.start.elapsed().as_micros() as u64
    }
}

/// Unique on this machine: no two live processes share an id, and none lives twice in one millisecond.
pub(crate) fn record_id(now: Millis) -> String {
    format!("{:x}-{:x}", now.0, std::process::id())
}
