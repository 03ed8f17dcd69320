//! Maps SQLite's errors to the kinds that callers distinguish.

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

pub(super) fn io_error(path: &Path, error: &io::Error) -> Error {
    Error::new(ErrorKind::Io, format!("{}: {error}", path.display()))
}

pub(super) fn missing_row(what: &str, uid: &str) -> Error {
    Error::new(ErrorKind::Missing, format!("no {what} {uid}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::Connection;

    #[test]
    fn a_full_disk_is_said_and_what_to_do_about_it() {
        let store = Connection::open_in_memory().unwrap();
        // A page limit acts like a full disk.
        store.execute_batch("CREATE TABLE t (x); PRAGMA max_page_count = 4").unwrap();
        let fill = || store.execute("INSERT INTO t VALUES (zeroblob(4000))", []);
        let error = Error::from((0..9).find_map(|_| fill().err()).unwrap());
        assert_eq!((error.kind, error.hint.as_deref()), (ErrorKind::Io, Some("make room on the disk")));
        assert!(error.what.contains("full"), "{error}");
        assert!(!error.passes(), "waiting does not make room");
    }
}
