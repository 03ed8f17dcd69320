//! Limits the clients that run at once to one and a half per core, because a client waits half of its life.
//!
//! More of them would wait for each other, and clients have time limits of their own.

use std::sync::{Condvar, Mutex, PoisonError};

static TAKEN: Mutex<usize> = Mutex::new(0);
static FREED: Condvar = Condvar::new();

/// The right to run one client, until dropped.
pub(crate) struct Slot(());

impl Slot {
    /// Every holder has a time limit, so this wait has one too.
    pub(crate) fn take() -> Self {
        // More than one: sessions of one project must be able to run in parallel.
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
