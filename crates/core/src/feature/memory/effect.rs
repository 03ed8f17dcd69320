//! What this room has done.

use crate::event::FailedStep;
use crate::feature::marks::Mark as AnyMark;
use crate::feature::memory::job::Work;
use crate::feature::memory::marks::Mark;
use crate::feature::verdict::{Carried, EffectTiming};

/// An effect of this room.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Leave a job for the worker.
    Spool {
        /// The job.
        work: Box<Work>,
        /// What the session remembers of it.
        mark: Option<Mark>,
    },
    /// See that a worker runs, if something waits for one.
    StartWorker {
        /// Something was just left for it.
        waits: bool,
        /// When one may be started.
        starts: Starts,
    },
}

/// When a worker may be started, if none runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Starts {
    /// Unless one was started within the last minute: another turn will come.
    OnceAMinute,
    /// Whenever that was: it may be long until the next event.
    AnyTime,
}

impl Carried for Effect {
    fn is_private(&self) -> bool {
        false
    }

    fn when(&self) -> EffectTiming {
        match self {
            // After the answer no hook comes back for it; but it can be left with the next turn.
            Effect::Spool { .. } => EffectTiming::Tried(FailedStep::Spool),
            Effect::StartWorker { .. } => EffectTiming::Answered,
        }
    }

    fn leaves(&self) -> Option<AnyMark> {
        match self {
            Effect::Spool { mark, .. } => mark.clone().map(AnyMark::from),
            Effect::StartWorker { .. } => None,
        }
    }
}
