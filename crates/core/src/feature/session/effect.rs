//! Effects of this room.

use crate::feature::session::facts::Told;
use crate::feature::verdict::Carried;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Remember for all sessions that the person was told this.
    Told(Told),
}

impl Carried for Effect {
    fn is_private(&self) -> bool {
        true
    }
}
