//! Files that a call writes, and how the project is verified.

use crate::feature::facts::{Touched, needs};
use crate::feature::verification::checks::{LineProof, ProjectChecks, TreeMove};
use crate::feature::verification::named_check::NamedCheck;
use crate::feature::verification::work::WhyNot;

needs! {
    Needs {
        /// Files that the call is about to write or has written.
        files,
        /// The verifying commands of the project.
        checks,
    }
}

#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Files that the call is about to write or, for a command line, has changed.
    pub files: Vec<Touched>,
    pub proof: Proof,
    /// Edited and unverified files that the line brought back to an earlier state.
    pub undone: Vec<String>,
    /// None of the edited and unverified files exists any more.
    pub edits_gone: bool,
    /// `None` if they were not looked for.
    pub checks: Option<ProjectChecks>,
}

/// What a command line proves about the project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proof {
    pub checks: LineProof,
    /// The line, shortened; only if it contains a check.
    pub line: String,
    /// Its checks by themselves, shortened.
    pub named: Vec<NamedCheck>,
    /// No check is in it, but one that could prove nothing.
    pub void: Option<WhyNot>,
    /// The edits are put away, or come back.
    pub tree: Option<TreeMove>,
    /// Edits were committed.
    pub commits: bool,
}
