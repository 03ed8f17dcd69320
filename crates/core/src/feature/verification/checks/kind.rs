//! The kinds of verification, and sets of them.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a verifying command verifies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Tests were run.
    Test,
    /// Types were checked.
    Typecheck,
    /// It was built.
    Build,
    /// A linter looked at it.
    Lint,
}

impl Kind {
    /// Every kind, the most telling first.
    pub const ALL: [Kind; 4] = [Kind::Test, Kind::Typecheck, Kind::Build, Kind::Lint];

    /// Its word in texts and settings.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Test => "test",
            Kind::Typecheck => "typecheck",
            Kind::Build => "build",
            Kind::Lint => "lint",
        }
    }
}

/// Some of the kinds.
#[derive(Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<Kind>", into = "Vec<Kind>")]
pub struct Kinds(u8);

impl Kinds {
    /// None of them.
    pub const NONE: Kinds = Kinds(0);
    /// Tests alone.
    pub const TEST: Kinds = Kinds(1 << Kind::Test as u8);
    /// Types alone.
    pub const TYPECHECK: Kinds = Kinds(1 << Kind::Typecheck as u8);
    /// A build alone.
    pub const BUILD: Kinds = Kinds(1 << Kind::Build as u8);
    /// A linter alone.
    pub const LINT: Kinds = Kinds(1 << Kind::Lint as u8);
    /// What a compiled language builds it also checks.
    pub const COMPILES: Kinds = Kinds::TYPECHECK.and(Kinds::BUILD);
    /// Tests that have to be compiled first.
    pub const COMPILED_TEST: Kinds = Kinds::TEST.and(Kinds::COMPILES);

    /// Both together.
    #[must_use]
    pub const fn and(self, other: Kinds) -> Kinds {
        Kinds(self.0 | other.0)
    }

    /// Without the others.
    #[must_use]
    pub const fn without(self, other: Kinds) -> Kinds {
        Kinds(self.0 & !other.0)
    }

    /// Those that are among the others, too.
    #[must_use]
    pub const fn common(self, other: Kinds) -> Kinds {
        Kinds(self.0 & other.0)
    }

    /// Whether `kind` is among them.
    pub const fn has(self, kind: Kind) -> bool {
        self.0 & (1 << kind as u8) != 0
    }

    /// Whether there are none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Each of them, the most telling first.
    pub fn iter(self) -> impl Iterator<Item = Kind> {
        Kind::ALL.into_iter().filter(move |kind| self.has(*kind))
    }
}

impl From<Vec<Kind>> for Kinds {
    fn from(kinds: Vec<Kind>) -> Kinds {
        kinds.into_iter().collect()
    }
}

impl From<Kinds> for Vec<Kind> {
    fn from(kinds: Kinds) -> Vec<Kind> {
        kinds.iter().collect()
    }
}

impl From<Kind> for Kinds {
    fn from(kind: Kind) -> Kinds {
        Kinds(1 << kind as u8)
    }
}

impl FromIterator<Kind> for Kinds {
    fn from_iter<T: IntoIterator<Item = Kind>>(kinds: T) -> Kinds {
        kinds.into_iter().fold(Kinds::NONE, |all, kind| all.and(kind.into()))
    }
}

impl fmt::Debug for Kinds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}
