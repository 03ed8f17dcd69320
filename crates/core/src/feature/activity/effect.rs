//! What this room has done.

use crate::feature::activity::marks::Mark;
use crate::feature::marks::Mark as AnyMark;
use crate::feature::verdict::Carried;
use crate::time::Millis;

/// An effect of this room.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Have a backend asked about a prompt.
    Ask {
        /// The prompt.
        prompt: String,
        /// When it came.
        at: Millis,
    },
}

impl Carried for Effect {
    fn is_private(&self) -> bool {
        true
    }

    fn leaves(&self) -> Option<AnyMark> {
        let Effect::Ask { at, .. } = self;
        Some(Mark::PhaseAsked(*at).into())
    }
}
