//! Effects of this room.

use crate::event::FailedStep;
use crate::feature::marks::Mark as AnyMark;
use crate::feature::memory::job::Work;
use crate::feature::memory::marks::Mark;
use crate::feature::verdict::{Carried, EffectTiming};

#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Leave a job for the worker.
    Spool {
        work: Box<Work>,
        /// Written to the session's marks together with the job.
        mark: Option<Mark>,
    },
    /// Start a worker if a job waits and none runs.
    StartWorker {
        /// A job was just left.
        waits: bool,
        starts: StartWhen,
    },
}

/// When to start a worker if none runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartWhen {
    /// Not if one was started within the last minute: another turn will come.
    OnceAMinute,
    /// Always: the next event may be far off.
    AnyTime,
}

impl Carried for Effect {
    fn is_private(&self) -> bool {
        false
    }

    fn when(&self) -> EffectTiming {
        match self {
            // No hook retries it after the answer, but the next turn can leave it.
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
