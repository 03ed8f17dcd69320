//! Why a session could not be replayed.

use std::fmt;
use std::io;

/// One sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(String);

pub type Result<T = ()> = std::result::Result<T, Error>;

impl Error {
    pub(crate) fn new(what: impl Into<String>) -> Error {
        Error(what.into())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

/// Says what an error of the system is about.
pub(crate) trait While<T> {
    fn while_(self, about: impl fmt::Display) -> Result<T>;
}

impl<T> While<T> for io::Result<T> {
    fn while_(self, about: impl fmt::Display) -> Result<T> {
        self.map_err(|error| Error(format!("{about}: {error}")))
    }
}
