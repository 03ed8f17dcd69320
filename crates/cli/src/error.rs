//! Errors for people: what happened, where, what to do next.

use std::fmt::Display;
use std::process::ExitCode;

use tidegate_memory::error::Error as MemoryError;

use crate::print;

/// An error with a hint. Its exit code is 1; 2 is clap's for a wrong command line, 3 `meter`'s for an unknown use.
#[derive(Debug)]
pub(crate) struct CliError {
    message: String,
    hint: Option<String>,
}

impl CliError {
    pub(crate) fn new(message: impl Display) -> CliError {
        CliError { message: message.to_string(), hint: None }
    }

    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Display) -> CliError {
        self.hint = Some(hint.to_string());
        self
    }

    #[must_use]
    pub(crate) fn prefixed(mut self, what: &str) -> CliError {
        self.message = format!("{what}: {}", self.message);
        self
    }

    /// Without the hint.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// For a reader that is not a terminal.
    pub(crate) fn text(&self) -> String {
        let hint = self.hint.as_ref().map(|hint| format!("\nhint: {hint}"));
        format!("error: {}{}", self.message, hint.unwrap_or_default())
    }

    pub(crate) fn report(&self) -> ExitCode {
        print::to_stderr(&self.text());
        ExitCode::FAILURE
    }
}

impl From<MemoryError> for CliError {
    fn from(error: MemoryError) -> CliError {
        CliError { message: error.what, hint: error.hint }
    }
}
