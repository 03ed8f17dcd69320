//! Waiting for a lock, but not for ever: its holder may be suspended.

use std::error::Error;
use std::fmt;
use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

/// How long commands, the MCP server and the worker wait. Holders need milliseconds; only copying or rebuilding a large store
/// takes seconds.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// How often the system is asked who holds a lock.
#[cfg(target_os = "linux")]
const LOOKS: usize = 3;

/// Whom a lock keeps out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeps {
    /// Those who want to be alone.
    Shared,
    /// Everybody else.
    Alone,
}

impl Keeps {
    fn try_take(self, file: &File) -> Result<(), TryLockError> {
        match self {
            Keeps::Shared => file.try_lock_shared(),
            Keeps::Alone => file.try_lock(),
        }
    }

    fn take(self, file: &File) -> io::Result<()> {
        match self {
            Keeps::Shared => file.lock_shared(),
            Keeps::Alone => file.lock(),
        }
    }
}

/// Takes the lock of an open file, and waits for it as long as is usual. The error names the file, its holder where that is
/// known, and the way out.
pub fn wait(file: &File, path: &Path, keeps: Keeps) -> io::Result<()> {
    wait_for(file, path, keeps, PATIENCE)
}

/// The same with another patience.
pub fn wait_for(file: &File, path: &Path, keeps: Keeps, patience: Duration) -> io::Result<()> {
    match keeps.try_take(file) {
        Ok(()) => return Ok(()),
        Err(TryLockError::Error(error)) => return Err(error),
        Err(TryLockError::WouldBlock) => {}
    }
    // A thread that waits keeps its place in the queue, which asking again and again would not. If it comes too late, it has
    // the lock for a moment and lets go of it with its handle.
    let (sender, receiver) = mpsc::channel();
    let waiting = file.try_clone()?;
    std::thread::Builder::new().spawn(move || sender.send(keeps.take(&waiting)))?;
    receiver.recv_timeout(patience).unwrap_or_else(|_| {
        let held = Held { file: path.to_owned(), process: holder(file), waited: patience };
        Err(io::Error::new(io::ErrorKind::TimedOut, held))
    })
}

/// A lock that did not come free in time.
#[derive(Clone, Debug)]
pub struct Held {
    /// The file.
    pub file: PathBuf,
    /// Its holder, where the system tells.
    pub process: Option<u32>,
    /// How long it was waited for.
    pub waited: Duration,
}

impl Held {
    /// The lock that an error is about.
    pub fn of(error: &io::Error) -> Option<&Held> {
        error.get_ref()?.downcast_ref()
    }
}

impl fmt::Display for Held {
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

impl Error for Held {}

/// The process that holds the lock of this file, where the system tells.
#[cfg(target_os = "linux")]
pub fn holder(file: &File) -> Option<u32> {
    use std::os::unix::fs::MetadataExt;
    let found = file.metadata().ok()?;
    let (major, minor) = (rustix::fs::major(found.dev()), rustix::fs::minor(found.dev()));
    let name = format!("{major:02x}:{minor:02x}:{}", found.ino());
    // The list can change between two reads, and an entry be missed.
    (0..LOOKS).find_map(|_| parse_holder(&read_locks().ok()?, &name))
}

/// In reads as large as the system gives.
#[cfg(target_os = "linux")]
fn read_locks() -> io::Result<String> {
    use std::io::Read;
    let mut bytes = Vec::with_capacity(64 * 1024);
    File::open("/proc/locks")?.take(1024 * 1024).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(not(target_os = "linux"))]
pub fn holder(_: &File) -> Option<u32> {
    None
}

/// `3: FLOCK  ADVISORY  WRITE 12345 fe:00:131 0 EOF`; who waits for it has an arrow in the second place.
#[cfg(target_os = "linux")]
fn parse_holder(locks: &str, file: &str) -> Option<u32> {
    let holds = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let is_it = words.get(1) == Some(&"FLOCK") && words.get(5) == Some(&file);
        // Another container's process has no number here.
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
        for keeps in [Keeps::Shared, Keeps::Alone] {
            let error = wait_for(&waits, &path, keeps, Duration::from_millis(20)).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::TimedOut);
            let text = error.to_string();
            assert!(text.starts_with(&path.display().to_string()), "{text}");
            // Where the file system or a container does not tell, nobody is named.
            #[cfg(target_os = "linux")]
            if super::holder(&waits).is_some() {
                assert!(text.contains(&format!("kill -CONT {}", std::process::id())), "{text}");
            }
        }
        holder.unlock().unwrap();
        wait(&waits, &path, Keeps::Alone).unwrap();
    }

    #[test]
    fn a_lock_that_comes_free_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let (holder, waits) = (File::create(&path).unwrap(), File::create(&path).unwrap());
        holder.lock().unwrap();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| wait(&waits, &path, Keeps::Alone));
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
