//! The kinds of checks, and sets of them.

use std::fmt;

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckKind {
    Test,
    Typecheck,
    Build,
    Lint,
}

impl CheckKind {
    /// The strongest evidence first.
    pub const ALL: [CheckKind; 4] =
        [CheckKind::Test, CheckKind::Typecheck, CheckKind::Build, CheckKind::Lint];

    /// The word in texts and settings.
    pub fn name(self) -> &'static str {
        match self {
            CheckKind::Test => "test",
            CheckKind::Typecheck => "typecheck",
            CheckKind::Build => "build",
            CheckKind::Lint => "lint",
        }
    }
}

/// A set of kinds.
#[derive(Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<CheckKind>", into = "Vec<CheckKind>")]
pub struct Kinds(u8);

impl Kinds {
    pub const NONE: Kinds = Kinds(0);
    pub const TEST: Kinds = Kinds(1 << CheckKind::Test as u8);
    pub const TYPECHECK: Kinds = Kinds(1 << CheckKind::Typecheck as u8);
    pub const BUILD: Kinds = Kinds(1 << CheckKind::Build as u8);
    pub const LINT: Kinds = Kinds(1 << CheckKind::Lint as u8);
    /// Compiled languages check types while they build.
    pub const COMPILES: Kinds = Kinds::TYPECHECK.and(Kinds::BUILD);
    /// Tests that are compiled first.
    pub const COMPILED_TEST: Kinds = Kinds::TEST.and(Kinds::COMPILES);

    #[must_use]
    pub const fn and(self, other: Kinds) -> Kinds {
        Kinds(self.0 | other.0)
    }

    #[must_use]
    pub const fn without(self, other: Kinds) -> Kinds {
        Kinds(self.0 & !other.0)
    }

    #[must_use]
    pub const fn common(self, other: Kinds) -> Kinds {
        Kinds(self.0 & other.0)
    }

    pub const fn has(self, kind: CheckKind) -> bool {
        self.0 & (1 << kind as u8) != 0
    }

    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// `None` for the empty set.
    pub fn strongest(self) -> Option<CheckKind> {
        self.iter().next()
    }

    /// Without this kind and those weaker than it.
    #[must_use]
    pub fn stronger_than(self, kind: CheckKind) -> Kinds {
        self.iter().filter(|own| *own < kind).collect()
    }

    /// The strongest evidence first.
    pub fn iter(self) -> impl Iterator<Item = CheckKind> {
        CheckKind::ALL.into_iter().filter(move |kind| self.has(*kind))
    }
}

impl From<Vec<CheckKind>> for Kinds {
    fn from(kinds: Vec<CheckKind>) -> Kinds {
        kinds.into_iter().collect()
    }
}

impl From<Kinds> for Vec<CheckKind> {
    fn from(kinds: Kinds) -> Vec<CheckKind> {
        kinds.iter().collect()
    }
}

impl From<CheckKind> for Kinds {
    fn from(kind: CheckKind) -> Kinds {
        Kinds(1 << kind as u8)
    }
}

impl FromIterator<CheckKind> for Kinds {
    fn from_iter<T: IntoIterator<Item = CheckKind>>(kinds: T) -> Kinds {
        kinds.into_iter().fold(Kinds::NONE, |all, kind| all.and(kind.into()))
    }
}

impl fmt::Debug for Kinds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}
