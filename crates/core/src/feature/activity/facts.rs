//! The classified prompt, and stock files that help with it.

use crate::feature::activity::classifier::Guess;
use crate::feature::facts::needs;

needs! {
    Needs {
        /// The classified prompt.
        guess,
        /// The names of existing stock files.
        stock,
    }
}

#[derive(Clone, Debug, Default)]
pub struct Facts {
    pub guess: Option<Guess>,
    /// In the project's `.claude/context/`, by name.
    pub stock: Vec<String>,
}
