//! The bridge: numbers that the status line saw, for the hooks of the same session.
//!
//! Appended, and replaced by rename only when it has grown: the host kills the status line at will, and replacing a
//! file costs more than everything else in it. The last whole line counts.

use std::fs;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use tidegate_core::meter::sources::Bridge;
use tidegate_core::time::Millis;

const FILE: &str = "bridge";

const TAIL: u64 = 1024;

/// A longer file is replaced by its last line.
const LONG: u64 = 16 * 1024;

const CONFIRM_MS: u64 = 30_000;

pub fn file(session: &Path) -> PathBuf {
    session.join(FILE)
}

/// `None` if there is none or it is unreadable: the transcript has the same numbers, only later.
pub fn read(session: &Path) -> Option<Bridge> {
    let mut file = crate::file::bounded::open_anything(&file(session)).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL))).ok()?;
    let mut tail = Vec::with_capacity(TAIL as usize);
    file.take(TAIL).read_to_end(&mut tail).ok()?;
    tail.split(|b| *b == b'\n').rev().find_map(|line| serde_json::from_slice(line).ok())
}

/// A hook may run a moment before the status line draws the same answer, and file times are coarse.
const SLACK_MS: u64 = 5_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BridgeWrite {
    pub changed: bool,
    /// Readings in a row without a hook in between.
    pub unheard: u32,
}

/// Keeps the time at which the numbers changed. `heard`: the last run of a hook in this session.
pub fn write(session: &Path, mut bridge: Bridge, heard: Option<Millis>) -> io::Result<BridgeWrite> {
    let old = read(session);
    let is_heard = |at: Millis| heard.is_none_or(|heard| heard.0 + SLACK_MS >= at.0);
    let unheard_before = match &old {
        Some(old) if !is_heard(old.changed) => old.unheard,
        _ => 0,
    };
    let same =
        |old: &&Bridge| (old.used, old.window, &old.model) == (bridge.used, bridge.window, &bridge.model);
    let changed = match old.as_ref().filter(same) {
        Some(old) if bridge.seen.since(old.seen) < CONFIRM_MS => {
            return Ok(BridgeWrite { changed: false, unheard: unheard_before });
        }
        Some(old) => {
            bridge.changed = old.changed;
            bridge.unheard = unheard_before;
            false
        }
        None => {
            bridge.unheard = if is_heard(bridge.changed) { 0 } else { unheard_before.saturating_add(1) };
            true
        }
    };
    // The leading line break protects this line if a kill tore the last one.
    let line = format!("\n{}\n", serde_json::to_string(&bridge)?);
    let path = session.join(FILE);
    if fs::metadata(&path).is_ok_and(|found| found.len() > LONG) {
        crate::file::replace::copy(&path, line.as_bytes())?;
    } else {
        crate::file::append::lines(&mut crate::file::append::open(&path)?, &line)?;
    }
    Ok(BridgeWrite { changed, unheard: bridge.unheard })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(session: &Path, bridge: Bridge) -> io::Result<bool> {
        super::write(session, bridge, None).map(|written| written.changed)
    }

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
        crate::file::append::lines(
            &mut crate::file::append::open(&folder.path().join(FILE)).unwrap(),
            "\n{\"used\":6,",
        )
        .unwrap();
        assert_eq!(read(folder.path()).unwrap().used, Some(5));
        write(folder.path(), at(7, 20)).unwrap();
        assert_eq!(read(folder.path()).unwrap().used, Some(7));
    }

    #[test]
    fn readings_without_a_hook_are_counted() {
        let folder = tempfile::tempdir().unwrap();
        let unheard =
            |used, ms, heard| super::write(folder.path(), at(used, ms), Some(Millis(heard))).unwrap().unheard;
        // A hook between every two readings, also one that ran slightly earlier.
        for turn in 1..20 {
            assert!(unheard(turn, turn * 60_000, turn * 60_000 - 300) == 0, "{turn}");
        }
        // A long wait for an answer counts as one reading.
        assert_eq!(unheard(20, 2_000_000, 1_900_000), 1);
        assert_eq!(unheard(21, 2_100_000, 2_000_001), 1);
        for more in 2..10 {
            assert_eq!(unheard(20 + more, 2_100_000 + more * 10_000, 2_000_001), more as u32);
        }
        // Unchanged numbers are not another reading, however often they are drawn.
        assert_eq!(unheard(29, 2_195_000, 2_000_001), 9);
        assert_eq!(unheard(29, 2_290_000, 2_000_001), 9);
        assert_eq!(unheard(30, 2_300_000, 2_000_001), 10);
        assert_eq!(unheard(30, 2_300_001, 2_299_999), 0, "it is heard again");
        assert_eq!(unheard(31, 2_310_000, 2_309_999), 0);
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
