//! The bridge: what the status line saw, for the hooks of the same session.

use std::fs;
use std::io;
use std::path::Path;

use tidegate_core::facts::sources::Bridge;

const FILE: &str = "bridge.json";

/// Reads it. None, or one that is not readable, is no bridge: the transcript says the same, only later.
pub fn read(session: &Path) -> Option<Bridge> {
    serde_json::from_slice(&fs::read(session.join(FILE)).ok()?).ok()
}

/// Writes it, keeping the time at which the numbers changed.
pub fn write(session: &Path, mut bridge: Bridge) -> io::Result<()> {
    if let Some(old) = read(session).filter(|old| (old.used, old.window) == (bridge.used, bridge.window)) {
        bridge.changed = old.changed;
    }
    let json = serde_json::to_vec(&bridge)?;
    match crate::replace::copy(&session.join(FILE), &json) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            crate::place::make_private(session)?;
            crate::replace::copy(&session.join(FILE), &json)
        }
        done => done,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::time::Millis;

    #[test]
    fn numbers_keep_the_time_of_their_change() {
        let folder = tempfile::tempdir().unwrap();
        let session = folder.path().join("s");
        let at = |used, ms| Bridge {
            used: Some(used),
            changed: Millis(ms),
            seen: Millis(ms),
            ..Bridge::default()
        };
        write(&session, at(5, 10)).unwrap();
        write(&session, at(5, 20)).unwrap();
        let read_back = read(&session).unwrap();
        assert_eq!((read_back.changed, read_back.seen), (Millis(10), Millis(20)));
        write(&session, at(6, 30)).unwrap();
        assert_eq!(read(&session).unwrap().changed, Millis(30));
        fs::write(session.join(FILE), b"{half").unwrap();
        assert_eq!(read(&session), None);
    }
}
