//! What the success of one command proves.

use super::kind::Kinds;
use super::language::Languages;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Proven {
    pub kinds: Kinds,
    /// The languages whose code the checks read; empty if nobody has said so yet.
    pub reads: Languages,
    /// A recipe that is known to run nothing: its name promises nothing either.
    pub hollow: bool,
}

impl Proven {
    pub(super) const NONE: Proven = Proven { kinds: Kinds::NONE, reads: Languages::NONE, hollow: false };

    #[must_use]
    pub(super) fn and(self, other: Proven) -> Proven {
        Proven {
            kinds: self.kinds.and(other.kinds),
            reads: self.reads.and(other.reads),
            hollow: self.hollow && other.hollow,
        }
    }

    /// Of a check whose languages depend on nothing but its ecosystem.
    #[must_use]
    pub(super) fn reading(self, languages: Languages) -> Proven {
        if self.kinds.is_empty() || !self.reads.is_empty() {
            return self;
        }
        let tests = if self.kinds.common(Kinds::TEST.and(Kinds::LINT)).is_empty() {
            Languages::NONE
        } else {
            Languages::TESTS
        };
        Proven { reads: languages.and(tests), ..self }
    }
}

impl From<Kinds> for Proven {
    fn from(kinds: Kinds) -> Proven {
        Proven { kinds, ..Proven::NONE }
    }
}
