//! Effects of this room.

use crate::feature::pressure::marks::PressureLevel;
use crate::feature::verdict::Carried;
use crate::meter::Reading;

#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Update the public copy of the meter.
    Publish {
        /// The last level that was said.
        level: PressureLevel,
        /// `None` after a compaction, until there is a new one.
        reading: Option<Reading>,
    },
    /// Another session's numbers in the public copy are not this session's.
    TakeOver,
}

impl Carried for Effect {
    fn is_private(&self) -> bool {
        false
    }
}
