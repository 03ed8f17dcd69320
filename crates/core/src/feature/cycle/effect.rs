//! What this room has done. A session may have left the project that its cycle was begun in: where a `project` is named, that
//! one's file is changed, else the one of the session's project.

use crate::event::FailedStep;
use crate::feature::cycle::marks::Mark;
use crate::feature::cycle::{Run, State};
use crate::feature::marks::Mark as AnyMark;
use crate::feature::verdict::{Carried, When};

/// An effect of this room.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Change where the cycle stands.
    Step(Box<Step>),
    /// Put the cycle's file aside: it cannot be used.
    SetAside {
        /// Whose.
        project: Option<String>,
        /// What it says; if it says something else by now, nothing is done.
        old: Vec<u8>,
    },
    /// Remember in the cycle's file that this session was told how to resume it.
    ResumeTold {
        /// Whose.
        project: Option<String>,
    },
    /// Bring the public copy of the budget up to date.
    PublishBudget {
        /// Whose.
        project: Option<String>,
        /// How much of the window is in use.
        used_pct: f64,
    },
}

/// A change to where a cycle stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Whose cycle.
    pub project: Option<String>,
    /// What the file said when this was decided; if it says something else by now, nothing is done.
    pub old: Vec<u8>,
    /// What it is to say; it goes when the cycle has ended.
    pub new: Option<State>,
    /// What is added to the history.
    pub ended: Option<Run>,
    /// What the session remembers of it.
    pub mark: Mark,
}

impl Carried for Effect {
    fn is_private(&self) -> bool {
        false
    }

    fn when(&self) -> When {
        match self {
            // A stop that is held for a stage which never began would lead nowhere.
            Effect::Step(_) => When::Needed(FailedStep::Cycle),
            Effect::SetAside { .. } | Effect::ResumeTold { .. } | Effect::PublishBudget { .. } => {
                When::Answered
            }
        }
    }

    fn leaves(&self) -> Option<AnyMark> {
        match self {
            Effect::Step(step) => Some(step.mark.clone().into()),
            Effect::SetAside { .. } | Effect::ResumeTold { .. } | Effect::PublishBudget { .. } => None,
        }
    }
}
