//! The classified prompt, and stock files that help with it.

use crate::feature::activity::classifier::Guess;
use crate::feature::facts::needs;

needs! {
    Needs {
        /// The classified prompt.
        guess,
        /// The names of existing stock files.
        stock,
        /// Skills that may be named, as far as they are installed.
        installed,
    }
}

#[derive(Clone, Debug, Default)]
pub struct Facts {
    pub guess: Option<Guess>,
    /// In the project's `.claude/context/`, by name.
    pub stock: Vec<String>,
    /// Of [`crate::feature::activity::nameable_skills`], and of the usual ones of the phase that begins.
    pub installed: Vec<String>,
}
