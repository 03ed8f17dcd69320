//! How many clients run at once, however many tests the harness starts: half as many again as the machine has cores, since half of
//! a client's life is waiting.
//!
//! The binary under test answers within a deadline or not at all. On a machine that is many times overbooked it would
//! be silent, rightly, and the scenarios would fail for a reason that is none.

use std::sync::{Condvar, Mutex, PoisonError};

static TAKEN: Mutex<usize> = Mutex::new(0);
static FREED: Condvar = Condvar::new();

/// The right to run one client; given back when dropped.
pub(crate) struct Slot(());

impl Slot {
    /// Waits for a free one. Every holder is bounded in time, so the wait is too.
    pub(crate) fn take() -> Self {
        // More than one: the sessions of one project must be able to run side by side.
        let cores = std::thread::available_parallelism().map_or(2, |cores| cores.get().max(2));
        let slots = cores + cores / 2;
        let taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
        let mut taken =
            FREED.wait_while(taken, |taken| *taken >= slots).unwrap_or_else(PoisonError::into_inner);
        *taken += 1;
        Self(())
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        *TAKEN.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        FREED.notify_one();
    }
}
