//! Failures as people read them: what failed, where, and what to do next.

use std::fmt::Display;
use std::process::ExitCode;

use crate::print;

/// Why a command ends without success.
#[derive(Debug)]
pub struct Failure {
    what: String,
    next: Option<String>,
}

/// What every step returns.
pub type Done<T = ()> = Result<T, Failure>;

impl Failure {
    /// What failed.
    pub fn new(what: impl Into<String>) -> Failure {
        Failure { what: what.into(), next: None }
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn next(self, next: impl Into<String>) -> Failure {
        Failure { next: Some(next.into()), ..self }
    }

    /// For stderr.
    pub fn text(&self) -> String {
        match &self.next {
            Some(next) => format!("error: {}\n next: {next}", self.what),
            None => format!("error: {}", self.what),
        }
    }

    /// For a list of what was left out.
    pub fn what(&self) -> &str {
        &self.what
    }
}

/// The end of a program: says what failed.
pub fn exit_code(done: Done) -> ExitCode {
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            print::to_stderr(&failure.text());
            ExitCode::FAILURE
        }
    }
}

/// A command line that means nothing.
pub fn no_such_command(words: &[&str]) -> Failure {
    Failure::new(format!("no such command: `{}`", words.join(" ")))
        .next("`cargo xtask --help` lists the commands")
}

/// Says what was being done when something failed.
pub trait While<T> {
    /// Names the work.
    fn while_(self, doing: impl Display) -> Done<T>;
}

impl<T, E: Display> While<T> for Result<T, E> {
    /// Names the work.
    fn while_(self, doing: impl Display) -> Done<T> {
        self.map_err(|error| Failure::new(format!("{doing}: {error}")))
    }
}
