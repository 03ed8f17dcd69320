//! Files that a call writes, and how the project is verified.

use crate::feature::facts::{Touched, needs};
use crate::feature::verification::checks::{CheckEvidence, ProjectChecks};

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
    /// Valid if the command line succeeded.
    pub proof: Proof,
    /// None of the edited and unverified files exists any more.
    pub edits_gone: bool,
    /// `None` if they were not looked for.
    pub checks: Option<ProjectChecks>,
}

/// What the success of a command line proves about the project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proof {
    /// Checks without which it could not have succeeded.
    pub evidence: Vec<CheckEvidence>,
    /// The line, if it contains a check whose failure would not have shown.
    pub hidden: Option<String>,
}
