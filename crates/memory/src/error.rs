//! What can go wrong with a store, and what to do about it.

use std::fmt;
use std::io;
use std::path::Path;

/// Why something was not done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// What kind of trouble it is.
    pub kind: ErrorKind,
    /// What happened, without any password.
    pub what: String,
    /// What to do next.
    pub hint: Option<String>,
}

/// Kinds of trouble that callers tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// Somebody else holds the store; another try may succeed.
    Busy,
    /// The server cannot be reached; another try may succeed.
    Offline,
    /// There is no room or no permission.
    Io,
    /// The file is no sound database.
    Damaged,
    /// A newer version wrote it.
    Newer,
    /// What was asked for is not there.
    Missing,
    /// What was asked for makes no sense.
    Refused,
    /// Anything else.
    Other,
}

/// With the error of this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error without a hint.
    pub fn new(kind: ErrorKind, what: impl Into<String>) -> Error {
        Error { kind, what: what.into(), hint: None }
    }

    /// The same, with what to do next.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Error {
        Error { hint: Some(hint.into()), ..self }
    }

    /// A lock that was not to be had.
    pub(crate) fn of_lock(path: &Path, error: &io::Error) -> Error {
        if error.kind() == io::ErrorKind::TimedOut {
            Error::new(ErrorKind::Busy, error.to_string()).hint("try again when that process is done")
        } else {
            Error::new(ErrorKind::Io, format!("{}: {error}", path.display()))
        }
    }

    /// Whether another try may succeed.
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
