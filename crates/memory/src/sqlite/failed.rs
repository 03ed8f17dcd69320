//! What SQLite says went wrong, as callers tell it apart.

use std::io;
use std::path::Path;

use rusqlite::ErrorCode;

use crate::error::{Error, ErrorKind};

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Error {
        let code = error.sqlite_error_code();
        let what = error.to_string();
        match code {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                Error::new(ErrorKind::Busy, "another process keeps the memory busy")
                    .hint("try again in a moment")
            }
            Some(ErrorCode::DiskFull) => {
                Error::new(ErrorKind::Io, format!("the memory cannot be written: {what}"))
                    .hint("make room on the disk")
            }
            Some(ErrorCode::SystemIoFailure | ErrorCode::CannotOpen) => {
                Error::new(ErrorKind::Io, format!("the memory cannot be read or written: {what}"))
            }
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
                Error::new(ErrorKind::Io, format!("the memory cannot be written: {what}"))
                    .hint("its folder has to be yours to write")
            }
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                Error::new(ErrorKind::Damaged, format!("the memory's file is damaged: {what}"))
            }
            _ => Error::new(ErrorKind::Other, what),
        }
    }
}

/// A file or folder that cannot be used.
pub(super) fn io(path: &Path, error: &io::Error) -> Error {
    Error::new(ErrorKind::Io, format!("{}: {error}", path.display()))
}

/// Something that a row refers to and that is not there.
pub(super) fn missing(what: &str, uid: &str) -> Error {
    Error::new(ErrorKind::Missing, format!("no {what} {uid}"))
}
