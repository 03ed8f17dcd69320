//! Effects of this room.

use crate::feature::activity::marks::Mark;
use crate::feature::marks::Mark as AnyMark;
use crate::feature::verdict::Carried;
use crate::time::Millis;

#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Ask a language model about a prompt.
    Ask {
        prompt: String,
        /// The time of the prompt.
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
