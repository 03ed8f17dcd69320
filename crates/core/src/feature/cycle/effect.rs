//! Effects of this room. A session may have left the project in which its cycle began: with a `project`, that
//! project's file is changed, otherwise the file of the session's project.

use crate::event::FailedStep;
use crate::feature::cycle::consent::ConsentChange;
use crate::feature::cycle::marks::Mark;
use crate::feature::cycle::{CycleRun, CycleState};
use crate::feature::marks::Mark as AnyMark;
use crate::feature::verdict::{Carried, EffectTiming};

#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    Step(Box<CycleStep>),
    /// Move an unusable state file out of the way.
    SetAside {
        project: Option<String>,
        /// The content that was judged; nothing happens if it has changed since.
        old: Vec<u8>,
    },
    /// Remember in the state file that this session was told how to resume.
    ResumeTold {
        project: Option<String>,
    },
    /// Remember that a session was told of a state file from elsewhere with this content. Private: the file is not this machine's.
    ForeignTold {
        project: Option<String>,
        text: Vec<u8>,
    },
    /// What is owed in the project changes.
    Consent {
        project: Option<String>,
        change: ConsentChange,
    },
    /// Update the public copy of the budget.
    PublishBudget {
        project: Option<String>,
        used_pct: f64,
    },
}

/// A change of the cycle's state.
#[derive(Clone, Debug, PartialEq)]
pub struct CycleStep {
    pub project: Option<String>,
    /// The content that was judged; nothing happens if it has changed since.
    pub old: Vec<u8>,
    /// `None` removes the file: the cycle has ended.
    pub new: Option<CycleState>,
    /// Added to the history.
    pub ended: Option<CycleRun>,
    /// Left in the session.
    pub mark: Mark,
}

impl Carried for Effect {
    fn is_private(&self) -> bool {
        matches!(self, Effect::Consent { .. })
    }

    fn needs_person(&self) -> bool {
        matches!(self, Effect::Consent { change: ConsentChange::Given { .. }, .. })
    }

    fn when(&self) -> EffectTiming {
        match self {
            // Blocking a stop for a stage that never began would lead nowhere.
            Effect::Step(_) => EffectTiming::Needed(FailedStep::Cycle),
            Effect::Consent { .. } => EffectTiming::Tried(FailedStep::Cycle),
            Effect::SetAside { .. }
            | Effect::ResumeTold { .. }
            | Effect::ForeignTold { .. }
            | Effect::PublishBudget { .. } => EffectTiming::Answered,
        }
    }

    fn leaves(&self) -> Option<AnyMark> {
        match self {
            Effect::Step(step) => Some(step.mark.clone().into()),
            Effect::SetAside { .. }
            | Effect::ResumeTold { .. }
            | Effect::ForeignTold { .. }
            | Effect::Consent { .. }
            | Effect::PublishBudget { .. } => None,
        }
    }
}
