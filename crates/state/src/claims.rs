//! Two registrations of one event (the plugin's and that of `init`) answer once.
//!
//! A file of fixed size per session, one slot per event by its hash, changed under a lock. The first to come
//! owns the event; another registration that comes for the same event is a duplicate. The owner itself may come
//! again: a turn can have several Stops under one prompt.

use std::fs::OpenOptions;
use std::io;
use std::path::Path;

const SLOTS: u64 = 256;
const SLOT_BYTES: u64 = 16;

/// Whether another registration has claimed this event. `via` names the one that asks.
#[cfg(unix)]
pub fn is_duplicate(session: &Path, event: &str, id: &str, via: &str) -> io::Result<bool> {
    use std::os::unix::fs::{FileExt, OpenOptionsExt};

    let path = session.join("claims");
    let open =
        || OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(&path);
    let file = match open() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            crate::place::make_private(session)?;
            open()?
        }
        opened => opened?,
    };
    file.lock()?;
    let (key, owner) = (hash(&[event, id]), hash(&[via]));
    let offset = key % SLOTS * SLOT_BYTES;
    let mut slot = [0; SLOT_BYTES as usize];
    let read = file.read_at(&mut slot, offset)?;
    let (old_key, old_owner) = slot.split_at(8);
    if read == slot.len() && old_key == key.to_le_bytes() {
        return Ok(old_owner != owner.to_le_bytes());
    }
    file.write_all_at(&[key.to_le_bytes(), owner.to_le_bytes()].concat(), offset)?;
    Ok(false)
}

/// Not needed where the client runs one registration only.
#[cfg(not(unix))]
pub fn is_duplicate(_: &Path, _: &str, _: &str, _: &str) -> io::Result<bool> {
    Ok(false)
}

/// FNV-1a: the same in every process and version; zero is an empty slot.
fn hash(parts: &[&str]) -> u64 {
    let bytes = parts.iter().flat_map(|part| part.bytes().chain([0]));
    bytes
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
        .max(1)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn the_second_registration_is_a_duplicate_and_the_first_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let ask = |id: &str, via: &str| is_duplicate(folder.path(), "Stop", id, via).unwrap();
        assert!(!ask("p1", "init"));
        assert!(ask("p1", "plugin"));
        assert!(!ask("p1", "init"));
        assert!(!ask("p2", "plugin"));
        assert!(ask("p2", "init"));
        for n in 0..2000 {
            ask(&n.to_string(), "init");
        }
        assert_eq!(std::fs::metadata(folder.path().join("claims")).unwrap().len(), SLOTS * SLOT_BYTES);
    }
}
