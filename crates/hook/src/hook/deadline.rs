//! The hook's own deadline, well below the host's: a hook that hangs is a missing gate.
//!
//! Watched by a thread, because reads can block in ways that no option prevents (an open pipe, a dead file system).
//! It costs about a twentieth of an empty process (`cargo xtask bench`).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tidegate_core::event::EventKind;
use tidegate_core::pipeline::gate::Registration;

use crate::patience::{limit_lock, stretch, stretch_grace};

/// Later advice is worth less than the wait.
const ADVICE: Duration = Duration::from_millis(200);
const GATE: Duration = Duration::from_secs(2);

/// Extra time for a run that is recording its ruling.
const GRACE: Duration = Duration::from_millis(300);

/// Whether a gate decides at this event, or depends on its marks: an edit that a busy machine forgets would never be
/// verified. A compaction takes far longer anyway, and facts that are not named before it are lost.
pub(crate) fn is_of_gate(kind: EventKind) -> bool {
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

#[derive(Clone, Debug)]
pub(crate) struct Deadline {
    start: Instant,
    /// In milliseconds. The payload may show that a gate is involved.
    limit: Arc<AtomicU64>,
}

impl Deadline {
    /// A registration without an event may turn out to be a gate.
    pub(crate) fn of(registration: Registration, start: Instant) -> Deadline {
        let advice = registration.advice || registration.event.is_some_and(|kind| !is_of_gate(kind));
        let limit = if advice { ADVICE } else { GATE };
        Deadline { start, limit: Arc::new(AtomicU64::new(stretch(limit).as_millis() as u64)) }
    }

    /// For an event that turned out to matter for a gate.
    pub(crate) fn extend(&self) {
        self.limit.store(stretch(GATE).as_millis() as u64, Ordering::Relaxed);
    }

    fn limit(&self) -> Duration {
        Duration::from_millis(self.limit_ms())
    }

    pub(crate) fn limit_ms(&self) -> u64 {
        self.limit.load(Ordering::Relaxed)
    }

    /// Limit for a lock. Less than the remaining time, because a timeout has to be reported.
    pub(crate) fn patience(&self) -> Duration {
        limit_lock(self.limit() * 3 / 4).saturating_sub(self.start.elapsed())
    }

    /// The last fifth of the time is for answering.
    pub(crate) fn in_time(&self) -> bool {
        self.start.elapsed() < self.limit() * 4 / 5
    }

    /// Calls `late(false)` when time is up, and `late(true)` after the grace period, unless the process has ended.
    pub(crate) fn watch(self, late: impl Fn(bool) + Send + 'static) {
        // Without a thread, only the host's own timeout remains.
        let _ = std::thread::Builder::new().stack_size(64 * 1024).spawn(move || {
            for again in [false, true] {
                let until = || {
                    let limit = self.limit();
                    let grace = if again { stretch_grace(limit.min(GRACE)) } else { Duration::ZERO };
                    self.start + limit + grace
                };
                while let Some(rest) = until().checked_duration_since(Instant::now()) {
                    std::thread::park_timeout(rest);
                }
                late(again);
            }
        });
    }
}
