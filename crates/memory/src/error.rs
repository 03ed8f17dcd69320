//! Errors of the stores, with a hint on how to continue.

use std::fmt;
use std::io;
use std::path::Path;

use crate::postgres::Trouble;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    pub kind: ErrorKind,
    /// Never contains a password.
    pub what: String,
    /// The next step for the user.
    pub hint: Option<String>,
    /// The server, and what is wrong with it or with the way to it.
    pub trouble: Option<(String, Trouble)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// Another process holds the store; a retry may succeed.
    Busy,
    /// The server is unreachable; a retry may succeed.
    Offline,
    /// No space or no permission.
    Io,
    /// The file is not a sound database.
    Damaged,
    Newer,
    /// A reader that changes nothing cannot bring it up to date.
    Older,
    Missing,
    /// The request is not valid in the current state.
    Refused,
    Other,
}

pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub fn new(kind: ErrorKind, what: impl Into<String>) -> Error {
        Error { kind, what: what.into(), hint: None, trouble: None }
    }

    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Error {
        Error { hint: Some(hint.into()), ..self }
    }

    pub(crate) fn of_lock(path: &Path, error: &io::Error) -> Error {
        if error.kind() == io::ErrorKind::TimedOut {
            Error::new(ErrorKind::Busy, error.to_string()).hint("try again when that process is done")
        } else {
            Error::new(ErrorKind::Io, format!("{}: {error}", path.display()))
        }
    }

    /// A retry may succeed.
    pub fn passes(&self) -> bool {
        matches!(self.kind, ErrorKind::Busy | ErrorKind::Offline)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.what)
    }
}

impl std::error::Error for Error {}
