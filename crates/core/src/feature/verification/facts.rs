//! What a call did to the code, and how the project is verified.

use crate::feature::facts::{Touched, needs};
use crate::feature::verification::checks::{Evidence, Project};

needs! {
    /// What this room looks for.
    Needs {
        /// The files that the call is about to write or has written.
        files,
        /// The verifying commands of the project.
        checks,
    }
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Files that the call is about to write or, of a command line, has changed.
    pub files: Vec<Touched>,
    /// What the command line that ran proves, if it succeeded.
    pub proof: Proof,
    /// Nothing of what was edited and not verified is there any more.
    pub edits_gone: bool,
    /// The verifying commands of the project, where they were looked for.
    pub checks: Option<Project>,
}

/// What the success of a command line proves about the project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proof {
    /// Checks without which it could not have succeeded.
    pub evidence: Vec<Evidence>,
    /// A check in it whose failure would not have shown: the line.
    pub hidden: Option<String>,
}
