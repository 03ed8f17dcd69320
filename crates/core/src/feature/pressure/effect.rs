//! What this room has done.

use crate::feature::pressure::marks::PressureLevel;
use crate::feature::verdict::Carried;
use crate::meter::Reading;

/// An effect of this room.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Bring the public copy of the pressure up to date.
    Publish {
        /// What was said last.
        level: PressureLevel,
        /// The numbers.
        reading: Reading,
    },
}

impl Carried for Effect {
    fn is_private(&self) -> bool {
        false
    }
}
