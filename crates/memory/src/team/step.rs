//! The size of the steps of an exchange: a step that is cut off is lost, so each break makes the next one smaller.

use std::time::{Duration, Instant};

use crate::error::{Error, ErrorKind};

/// Breaks in a row of which none brought a row further, at the smallest step.
const BREAKS: u32 = 3;

/// A call that fails only after this time is not repeated: a server that is silent for long is not asked again at once.
const SILENCE: Duration = Duration::from_secs(20);

pub(super) struct Step {
    /// In the unit of the caller.
    pub(super) size: usize,
    smallest: usize,
    breaks: u32,
    until: Instant,
}

impl Step {
    pub(super) fn new(size: usize, smallest: usize) -> Step {
        Step { size, smallest, breaks: 0, until: Instant::now() + SILENCE }
    }

    /// A call begins.
    pub(super) fn begin(&mut self) {
        self.until = Instant::now() + SILENCE;
    }

    /// Something arrived.
    pub(super) fn arrived(&mut self) {
        self.breaks = 0;
    }

    /// Whether to try again, with a smaller step if that is possible.
    pub(super) fn shrinks_after(&mut self, error: &Error) -> bool {
        if error.kind != ErrorKind::Offline || Instant::now() > self.until {
            return false;
        }
        if self.size > self.smallest {
            self.size = (self.size / 4).max(self.smallest);
            return true;
        }
        self.breaks += 1;
        self.breaks < BREAKS
    }
}
