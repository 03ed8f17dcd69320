//! Lets only one of two registrations (the plugin's and that of `init`) answer an event.
//!
//! A file of fixed size per session, with one slot per event by hash, changed under a lock. The first registration
//! owns the event; another one within [`MOMENT_MS`] is a duplicate. The owner itself may return: a turn can have
//! several Stops under one prompt.

use std::io;
use std::path::Path;
use std::time::Duration;

use tidegate_core::text::fnv;
use tidegate_core::time::Millis;

#[cfg(unix)]
use crate::file::lock::{self, LockMode};
#[cfg(unix)]
use crate::file::private;

const SLOTS: u64 = 256;
const SLOT_BYTES: u64 = 24;

/// Registrations of one event start together; later it is another event.
const MOMENT_MS: u64 = 30_000;

/// `via` names the registration that asks.
#[cfg(unix)]
pub fn is_duplicate(
    session: &Path,
    event: &str,
    id: &str,
    via: &str,
    now: Millis,
    patience: Duration,
) -> io::Result<bool> {
    use std::os::unix::fs::FileExt;

    let path = session.join("claims");
    let file = private::open_lock_file(&path)?;
    lock::wait_for(&file, &path, LockMode::Exclusive, patience)?;
    let (key, owner) = (hash_parts(&[event, id]), hash_parts(&[via]));
    let offset = key % SLOTS * SLOT_BYTES;
    let mut slot = [0; SLOT_BYTES as usize];
    let read = file.read_at(&mut slot, offset)?;
    let word = |at: usize| u64::from_le_bytes(slot[at * 8..at * 8 + 8].try_into().expect("eight bytes"));
    let claimed = read == slot.len() && word(0) == key && now.since(Millis(word(2))) < MOMENT_MS;
    if claimed && word(1) != owner {
        return Ok(true);
    }
    file.write_all_at(&[key, owner, now.0].map(u64::to_le_bytes).concat(), offset)?;
    Ok(false)
}

/// The last run of a hook in this session: the file is written at every event, so its time is a heartbeat for free.
/// Without it, the marks tell at least the start of the session.
#[cfg(unix)]
pub fn last_heard(session: &Path) -> Option<Millis> {
    let modified = |name| std::fs::metadata(session.join(name)).and_then(|found| found.modified());
    let heard = modified("claims").or_else(|_| modified("marks")).ok()?;
    Some(Millis(heard.duration_since(std::time::UNIX_EPOCH).ok()?.as_millis() as u64))
}

/// Without claims there is no heartbeat.
#[cfg(not(unix))]
pub fn last_heard(_: &Path) -> Option<Millis> {
    None
}

/// Not needed where the client runs one registration only.
#[cfg(not(unix))]
pub fn is_duplicate(_: &Path, _: &str, _: &str, _: &str, _: Millis, _: Duration) -> io::Result<bool> {
    Ok(false)
}

/// Stable across processes and versions. Never zero, which marks an empty slot.
pub fn hash_parts(parts: &[&str]) -> u64 {
    fnv::hash(parts.iter().flat_map(|part| part.bytes().chain([0]))).max(1)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn the_second_registration_is_a_duplicate_and_the_first_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let ask = |id: &str, via: &str, now| {
            is_duplicate(folder.path(), "Stop", id, via, Millis(now), lock::PATIENCE).unwrap()
        };
        assert!(!ask("p1", "init", 5));
        assert!(ask("p1", "plugin", 5));
        assert!(!ask("p1", "init", 6));
        assert!(!ask("p2", "plugin", 7));
        assert!(ask("p2", "init", 8));
        assert!(!ask("p1", "plugin", 60_000), "much later it is another event");
        assert!(ask("p1", "init", 60_001));
        for n in 0..2000 {
            ask(&n.to_string(), "init", 0);
        }
        let old = std::time::UNIX_EPOCH + std::time::Duration::from_secs(5);
        let claims = std::fs::File::options().append(true).open(folder.path().join("claims")).unwrap();
        claims.set_modified(old).unwrap();
        assert_eq!(last_heard(folder.path()), Some(Millis(5000)));
        ask("again", "init", 0);
        assert!(last_heard(folder.path()) > Some(Millis(5000)), "every event is heard");
        assert_eq!(last_heard(&folder.path().join("none")), None);
        assert_eq!(std::fs::metadata(folder.path().join("claims")).unwrap().len(), SLOTS * SLOT_BYTES);
    }
}
