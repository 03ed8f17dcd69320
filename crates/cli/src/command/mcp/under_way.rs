//! Calls under way. They are completed even if the client leaves without waiting for the answer.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

pub(super) static UNDER_WAY: UnderWay = UnderWay::new();

pub(super) struct UnderWay {
    calls: Mutex<usize>,
    ended: Condvar,
}

/// Counted until it is dropped: also a call that was cancelled before it began, or that panicked.
pub(super) struct Call(&'static UnderWay);

impl UnderWay {
    const fn new() -> UnderWay {
        UnderWay { calls: Mutex::new(0), ended: Condvar::new() }
    }

    pub(super) fn begin(&'static self) -> Call {
        *self.calls() += 1;
        Call(self)
    }

    /// Returns the number of calls that are left after `limit`.
    pub(super) fn wait(&self, limit: Duration) -> usize {
        let waited = self.ended.wait_timeout_while(self.calls(), limit, |calls| *calls > 0);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }

    fn calls(&self) -> MutexGuard<'_, usize> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        *self.0.calls() -= 1;
        self.0.ended.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn calls_are_waited_for_until_they_end() {
        static CALLS: UnderWay = UnderWay::new();
        assert_eq!(CALLS.wait(Duration::MAX), 0);
        let (held, freed) = (CALLS.begin(), CALLS.begin());
        let (free, waits) = mpsc::channel::<()>();
        let other = std::thread::spawn(move || {
            let _ = waits.recv();
            drop(freed);
        });
        assert_eq!(CALLS.wait(Duration::ZERO), 2, "nobody waits for ever");
        drop(held);
        free.send(()).unwrap();
        assert_eq!(CALLS.wait(Duration::MAX), 0);
        other.join().unwrap();
    }
}
