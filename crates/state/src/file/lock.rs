//! Locks with a time limit: the holder may be suspended. The error names the file and, if it is known, the
//! holder.
//!
//! Every lock of Tidegate is taken here. A hook passes a limit below its own deadline, so that it can still answer.

use std::error::Error;
use std::fmt;
use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

/// Limit for commands, the MCP server and the worker. Holders need milliseconds; only copying or rebuilding a large
/// store takes seconds.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// Lists of locks that are searched for the holder.
#[cfg(target_os = "linux")]
const TRIES: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockMode {
    Shared,
    Exclusive,
}

impl LockMode {
    fn try_take(self, file: &File) -> Result<(), TryLockError> {
        match self {
            LockMode::Shared => file.try_lock_shared(),
            LockMode::Exclusive => file.try_lock(),
        }
    }

    fn take(self, file: &File) -> io::Result<()> {
        match self {
            LockMode::Shared => file.lock_shared(),
            LockMode::Exclusive => file.lock(),
        }
    }
}

/// Waits for at most [`PATIENCE`]. The error names the file, the holder if it is known, and the way out.
pub fn wait(file: &File, path: &Path, mode: LockMode) -> io::Result<()> {
    wait_for(file, path, mode, PATIENCE)
}

pub fn wait_for(file: &File, path: &Path, mode: LockMode, patience: Duration) -> io::Result<()> {
    match mode.try_take(file) {
        Ok(()) => return Ok(()),
        Err(TryLockError::Error(error)) => return Err(error),
        Err(TryLockError::WouldBlock) => {}
    }
    // A waiting thread keeps its place in the queue; polling would not. If it gets the lock too late, it releases it
    // with its handle.
    let (sender, receiver) = mpsc::channel();
    let waiting = file.try_clone()?;
    std::thread::Builder::new().spawn(move || sender.send(mode.take(&waiting)))?;
    receiver.recv_timeout(patience).unwrap_or_else(|_| {
        let timeout = LockTimeout { file: path.to_owned(), process: find_holder(file), waited: patience };
        Err(io::Error::new(io::ErrorKind::TimedOut, timeout))
    })
}

/// The lock was not released in time.
#[derive(Clone, Debug)]
pub struct LockTimeout {
    pub file: PathBuf,
    /// `None` if the system does not tell.
    pub process: Option<u32>,
    pub waited: Duration,
}

impl LockTimeout {
    pub fn find(error: &io::Error) -> Option<&LockTimeout> {
        error.get_ref()?.downcast_ref()
    }
}

impl fmt::Display for LockTimeout {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (path, waited) = (self.file.display(), self.waited.as_secs());
        match self.process {
            Some(id) => write!(
                out,
                "{path}: process {id} has held this lock for more than {waited} s; if it is suspended, `kill -CONT {id}` \
                 continues it and `kill -KILL {id}` ends it"
            ),
            None => write!(
                out,
                "{path}: another process has held this lock for more than {waited} s; continue it or end it"
            ),
        }
    }
}

impl Error for LockTimeout {}

/// `None` if the system does not tell.
#[cfg(target_os = "linux")]
pub fn find_holder(file: &File) -> Option<u32> {
    use std::os::unix::fs::MetadataExt;
    let found = file.metadata().ok()?;
    let (major, minor) = (rustix::fs::major(found.dev()), rustix::fs::minor(found.dev()));
    let name = format!("{major:02x}:{minor:02x}:{}", found.ino());
    // The list can change between two reads, and an entry can be missed.
    (0..TRIES).find_map(|_| parse_holder(&read_locks().ok()?, &name))
}

/// In as few reads as possible: each one is a new list.
#[cfg(target_os = "linux")]
fn read_locks() -> io::Result<String> {
    use std::io::Read;
    let mut bytes = Vec::with_capacity(64 * 1024);
    File::open("/proc/locks")?.take(1024 * 1024).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(not(target_os = "linux"))]
pub fn find_holder(_: &File) -> Option<u32> {
    None
}

/// `3: FLOCK ADVISORY WRITE 12345 fe:00:131 0 EOF`; the lines of waiting processes have an arrow in the second
/// column.
#[cfg(target_os = "linux")]
fn parse_holder(locks: &str, file: &str) -> Option<u32> {
    let holds = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let is_it = words.get(1) == Some(&"FLOCK") && words.get(5) == Some(&file);
        // A process of another container has the number 0.
        words.get(4).filter(|_| is_it)?.parse().ok().filter(|id| *id > 0)
    };
    locks.lines().find_map(holds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_waits_in_vain_hears_for_whom() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let (holder, waits) = (File::create(&path).unwrap(), File::create(&path).unwrap());
        holder.lock().unwrap();
        for mode in [LockMode::Shared, LockMode::Exclusive] {
            let error = wait_for(&waits, &path, mode, Duration::from_millis(20)).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::TimedOut);
            let text = error.to_string();
            assert!(text.starts_with(&path.display().to_string()), "{text}");
            // Some file systems and containers do not tell the holder.
            #[cfg(target_os = "linux")]
            if super::find_holder(&waits).is_some() {
                assert!(text.contains(&format!("kill -CONT {}", std::process::id())), "{text}");
            }
        }
        holder.unlock().unwrap();
        wait(&waits, &path, LockMode::Exclusive).unwrap();
    }

    #[test]
    fn a_lock_that_comes_free_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let (holder, waits) = (File::create(&path).unwrap(), File::create(&path).unwrap());
        holder.lock().unwrap();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| wait(&waits, &path, LockMode::Exclusive));
            drop(holder);
            waiting.join().unwrap().unwrap();
        });
        assert!(File::open(&path).unwrap().try_lock().is_err(), "it is held by whoever waited");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn only_a_holder_of_this_file_is_named() {
        let locks = "1: POSIX  ADVISORY  WRITE 7 fe:00:131 0 EOF\n\
                     2: FLOCK  ADVISORY  WRITE 8 fe:00:13 0 EOF\n\
                     3: FLOCK  ADVISORY  WRITE 0 fe:00:131 0 EOF\n\
                     3: -> FLOCK  ADVISORY  WRITE 9 fe:00:131 0 EOF\n\
                     4: FLOCK  ADVISORY  READ 10 fe:00:131 0 EOF\n";
        assert_eq!(parse_holder(locks, "fe:00:131"), Some(10));
        assert_eq!(parse_holder(locks, "fe:00:999"), None);
    }
}
