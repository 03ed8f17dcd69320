//! What this room has done.

use crate::feature::verdict::Carried;

/// An effect of this room.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Remember that the person knows that this policy stepped down here.
    StepDownTold(String),
}

impl Carried for Effect {
    fn is_private(&self) -> bool {
        false
    }
}
