//! Failures as people read them: what failed, where, and what to do next.

use std::fmt::Display;

/// Why a command ends without success.
#[derive(Debug)]
pub(crate) struct Failure {
    what: String,
    next: Option<String>,
}

/// What every step returns.
pub(crate) type Done<T = ()> = Result<T, Failure>;

impl Failure {
    pub(crate) fn new(what: impl Into<String>) -> Failure {
        Failure { what: what.into(), next: None }
    }

    /// Adds what to do about it.
    pub(crate) fn next(self, next: impl Into<String>) -> Failure {
        Failure { next: Some(next.into()), ..self }
    }

    /// For stderr.
    pub(crate) fn text(&self) -> String {
        match &self.next {
            Some(next) => format!("error: {}\n next: {next}", self.what),
            None => format!("error: {}", self.what),
        }
    }

    /// For a list of what was left out.
    pub(crate) fn what(&self) -> &str {
        &self.what
    }
}

/// Says what was being done when something failed.
pub(crate) trait While<T> {
    fn while_(self, doing: impl Display) -> Done<T>;
}

impl<T, E: Display> While<T> for Result<T, E> {
    fn while_(self, doing: impl Display) -> Done<T> {
        self.map_err(|error| Failure::new(format!("{doing}: {error}")))
    }
}
