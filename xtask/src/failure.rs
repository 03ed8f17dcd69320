//! Failures for people: what failed, and what to do next.

use std::fmt::Display;
use std::process::ExitCode;

use crate::print;

#[derive(Debug)]
pub struct Failure {
    what: String,
    next: Option<String>,
}

pub type Done<T = ()> = Result<T, Failure>;

impl Failure {
    pub fn new(what: impl Into<String>) -> Failure {
        Failure { what: what.into(), next: None }
    }

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

    /// Without the next step.
    pub fn what(&self) -> &str {
        &self.what
    }
}

/// Prints the failure.
pub fn exit_code(done: Done) -> ExitCode {
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            print::to_stderr(&failure.text());
            ExitCode::FAILURE
        }
    }
}

pub fn no_such_command(words: &[&str]) -> Failure {
    Failure::new(format!("no such command: `{}`", words.join(" ")))
        .next("`cargo xtask --help` lists the commands")
}

/// Adds context to an error.
pub trait While<T> {
    fn while_(self, doing: impl Display) -> Done<T>;
}

impl<T, E: Display> While<T> for Result<T, E> {
    fn while_(self, doing: impl Display) -> Done<T> {
        self.map_err(|error| Failure::new(format!("{doing}: {error}")))
    }
}
