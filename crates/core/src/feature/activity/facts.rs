//! What a prompt asks for, and what helps with it.

use crate::feature::activity::classifier::Guess;
use crate::feature::facts::needs;

needs! {
    /// What this room looks for.
    Needs {
        /// What the prompt asks for.
        guess,
        /// Which stock is there.
        stock,
    }
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// What the prompt asks for.
    pub guess: Option<Guess>,
    /// Stock files in the project's `.claude/context/`, by name.
    pub stock: Vec<String>,
}
