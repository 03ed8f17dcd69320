//! Our own deadline, well below the host's: a hook that hangs is a gate that is absent.
//!
//! A thread watches it, because reading can block where no option helps (a pipe nobody closes, a file system that
//! does not answer). It costs about a twentieth of an empty process (`cargo xtask bench`).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tidegate_core::event::EventKind;
use tidegate_core::pipeline::gate::Registration;

/// Advice that takes longer is worth less than the wait.
const ADVICE: Duration = Duration::from_millis(200);
const GATE: Duration = Duration::from_secs(2);

/// What a run gets on top that is writing down its ruling when time is up.
const GRACE: Duration = Duration::from_millis(300);

/// Whether a gate decides at this event, or rests on what the event leaves in the marks: an edit that is forgotten because
/// the machine was busy would be an edit that nobody verifies. A compaction takes far longer anyway, and what is not named
/// before it is lost.
pub(crate) fn of_gate(kind: EventKind) -> bool {
    use EventKind as E;
    matches!(
        kind,
        E::PreToolUse
            | E::PostToolUse
            | E::PostToolUseFailure
            | E::UserPromptExpansion
            | E::Stop
            | E::TaskCompleted
            | E::PreCompact
            | E::PostCompact
    )
}

/// How long this run may take.
#[derive(Clone, Debug)]
pub(crate) struct Deadline {
    start: Instant,
    /// In milliseconds. What an event is about may turn out only when it was read.
    limit: Arc<AtomicU64>,
}

impl Deadline {
    /// A registration that does not say its event may turn out to be a gate.
    pub(crate) fn of(registration: Registration, start: Instant) -> Deadline {
        let advice = registration.advice || registration.event.is_some_and(|kind| !of_gate(kind));
        let limit = if advice { ADVICE } else { GATE };
        Deadline { start, limit: Arc::new(AtomicU64::new(limit.as_millis() as u64)) }
    }

    /// A gate rests on this event after all.
    pub(crate) fn extend(&self) {
        self.limit.store(GATE.as_millis() as u64, Ordering::Relaxed);
    }

    fn limit(&self) -> Duration {
        Duration::from_millis(self.limit_ms())
    }

    /// The limit in milliseconds, for messages.
    pub(crate) fn limit_ms(&self) -> u64 {
        self.limit.load(Ordering::Relaxed)
    }

    /// How long a lock may be waited for now: less than is left, since a lock that does not come free has to be said.
    pub(crate) fn patience(&self) -> Duration {
        (self.limit() * 3 / 4).saturating_sub(self.start.elapsed())
    }

    /// Whether another step of reading may begin: the last fifth is for answering.
    pub(crate) fn in_time(&self) -> bool {
        self.start.elapsed() < self.limit() * 4 / 5
    }

    /// Calls `late` with `false` when time is up, and with `true` when it is up a second time, unless the process has
    /// ended by then.
    pub(crate) fn watch(self, late: impl Fn(bool) + Send + 'static) {
        // Without a thread there is no watch, and the host's own timeout has to do.
        let _ = std::thread::Builder::new().stack_size(64 * 1024).spawn(move || {
            for again in [false, true] {
                let until = || {
                    let limit = self.limit();
                    self.start + limit + if again { limit.min(GRACE) } else { Duration::ZERO }
                };
                while let Some(rest) = until().checked_duration_since(Instant::now()) {
                    std::thread::park_timeout(rest);
                }
                late(again);
            }
        });
    }
}
