//! The bridge: what the status line saw, for the hooks of the same session.
//!
//! Appended, and replaced by rename only when it has grown: the status line runs after every answer and is killed at
//! will, and replacing a file costs more than all the rest of it. The last whole line counts.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use tidegate_core::facts::sources::Bridge;

const FILE: &str = "bridge";

/// Longer than any line.
const TAIL: u64 = 1024;

/// From here on it is replaced by its last line.
const LONG: u64 = 16 * 1024;

/// Unchanged numbers are confirmed this often.
const CONFIRM_MS: u64 = 30_000;

/// Reads it. None, or one that is not readable, is no bridge: the transcript says the same, only later.
pub fn read(session: &Path) -> Option<Bridge> {
    let mut file = File::open(session.join(FILE)).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL))).ok()?;
    let mut tail = Vec::with_capacity(TAIL as usize);
    file.take(TAIL).read_to_end(&mut tail).ok()?;
    tail.split(|b| *b == b'\n').rev().find_map(|line| serde_json::from_slice(line).ok())
}

/// Writes it, keeping the time at which the numbers changed. Tells whether they did.
pub fn write(session: &Path, mut bridge: Bridge) -> io::Result<bool> {
    let old = read(session);
    let same =
        |old: &&Bridge| (old.used, old.window, &old.model) == (bridge.used, bridge.window, &bridge.model);
    let changed = match old.as_ref().filter(same) {
        Some(old) if bridge.seen.since(old.seen) < CONFIRM_MS => return Ok(false),
        Some(old) => {
            bridge.changed = old.changed;
            false
        }
        None => true,
    };
    // Led by a line break, so that one torn by a kill takes no other along.
    let line = format!("\n{}\n", serde_json::to_string(&bridge)?);
    let path = session.join(FILE);
    if fs::metadata(&path).is_ok_and(|found| found.len() > LONG) {
        crate::replace::copy(&path, line.as_bytes())?;
    } else {
        crate::append::lines(&mut crate::append::open(&path)?, &line)?;
    }
    Ok(changed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::time::Millis;

    fn at(used: u64, ms: u64) -> Bridge {
        Bridge { used: Some(used), changed: Millis(ms), seen: Millis(ms), ..Bridge::default() }
    }

    #[test]
    fn numbers_keep_the_time_of_their_change() {
        let folder = tempfile::tempdir().unwrap();
        let session = folder.path().join("s");
        assert_eq!(read(&session), None);
        assert!(write(&session, at(5, 10)).unwrap());
        assert!(!write(&session, at(5, 20)).unwrap());
        assert!(!write(&session, at(5, 40_000)).unwrap());
        let read_back = read(&session).unwrap();
        assert_eq!((read_back.changed, read_back.seen), (Millis(10), Millis(40_000)));
        assert!(write(&session, at(6, 50_000)).unwrap());
        assert_eq!(read(&session).unwrap().changed, Millis(50_000));
    }

    #[test]
    fn a_torn_line_leaves_the_one_before() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), at(5, 10)).unwrap();
        crate::append::lines(&mut crate::append::open(&folder.path().join(FILE)).unwrap(), "\n{\"used\":6,")
            .unwrap();
        assert_eq!(read(folder.path()).unwrap().used, Some(5));
        write(folder.path(), at(7, 20)).unwrap();
        assert_eq!(read(folder.path()).unwrap().used, Some(7));
    }

    #[test]
    fn it_stays_short() {
        let folder = tempfile::tempdir().unwrap();
        for n in 0..2000 {
            write(folder.path(), at(n, n)).unwrap();
        }
        assert!(fs::metadata(folder.path().join(FILE)).unwrap().len() < LONG + 256);
        assert_eq!(read(folder.path()).unwrap().used, Some(1999));
    }
}
