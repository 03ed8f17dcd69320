//! What this room has done.

use crate::feature::marks::Mark;
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

    fn mark(&self) -> Option<Mark> {
        let Effect::Ask { at, .. } = self;
        Some(Mark::PhaseAsked(*at))
    }
}
