//! What Linux says of processes and folders while the soak runs.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use xtask::failure::{Done, Failure, While};

/// Linux shows processor time in hundredths of a second on every architecture.
const TICKS_A_SECOND: f64 = 100.0;

const LOOK_INTERVAL: Duration = Duration::from_millis(200);

/// Of all children that ended and were waited for, in seconds. Workers are not among them: a hook does not wait for the one it starts.
pub(crate) fn children_time() -> Done<f64> {
    let stat = fs::read_to_string("/proc/self/stat").while_("/proc/self/stat")?;
    // The name of the program may have spaces; the fields after it do not.
    let fields = stat.rsplit_once(") ").map(|(_, fields)| fields.split(' ').collect::<Vec<_>>());
    let ticks = |place: usize| fields.as_ref()?.get(place)?.parse::<u64>().ok();
    let total = ticks(13).zip(ticks(14)).map(|(user, system)| user + system);
    total.map(|ticks| ticks as f64 / TICKS_A_SECOND).ok_or_else(|| Failure::new("/proc/self/stat: no times"))
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Held {
    /// Peak of the resident memory.
    pub(crate) kib: u64,
    pub(crate) files: u64,
}

impl Held {
    fn or_more(self, other: Held) -> Held {
        Held { kib: self.kib.max(other.kib), files: self.files.max(other.files) }
    }
}

/// `None` once the process ended.
fn held_by(process: &str) -> Option<Held> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib = peak.trim().strip_suffix("kB")?.trim().parse().ok()?;
    let files = fs::read_dir(format!("/proc/{process}/fd")).ok()?.count() as u64;
    Some(Held { kib, files })
}

/// Looks for processes of one program that outlive a call, by their first argument.
pub(crate) struct Watch {
    program: PathBuf,
    most: Mutex<BTreeMap<String, Held>>,
    over: AtomicBool,
}

impl Watch {
    pub(crate) fn of(program: &Path) -> Watch {
        Watch { program: program.to_owned(), most: Mutex::default(), over: AtomicBool::new(false) }
    }

    pub(crate) fn run(&self) {
        while !self.over.load(Ordering::Relaxed) {
            self.look();
            std::thread::sleep(LOOK_INTERVAL);
        }
    }

    pub(crate) fn end(&self) {
        self.over.store(true, Ordering::Relaxed);
    }

    /// The most that processes with this argument had since the last call.
    pub(crate) fn take(&self, argument: &str) -> Held {
        self.most.lock().ok().and_then(|mut most| most.remove(argument)).unwrap_or_default()
    }

    fn look(&self) {
        for (process, argument) in self.running() {
            let Some(held) = held_by(&process) else { continue };
            if let Ok(mut most) = self.most.lock() {
                let before = most.entry(argument).or_default();
                *before = before.or_more(held);
            }
        }
    }

    fn running(&self) -> Vec<(String, String)> {
        let mut found = Vec::new();
        for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.parse::<u32>().is_err()
                || fs::read_link(entry.path().join("exe")).ok().as_ref() != Some(&self.program)
            {
                continue;
            }
            let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            let argument = line.split(|byte| *byte == 0).nth(1).unwrap_or_default();
            if matches!(argument, b"worker" | b"serve" | b"mcp") {
                found.push((name, String::from_utf8_lossy(argument).into_owned()));
            }
        }
        found
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) files: u64,
    pub(crate) bytes: u64,
}

/// With everything below. Files may go away meanwhile.
pub(crate) fn size_of(folder: &Path) -> Size {
    let mut size = Size::default();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let Ok(found) = entry.metadata() else { continue };
        if found.is_dir() {
            let below = size_of(&entry.path());
            size = Size { files: size.files + below.files, bytes: size.bytes + below.bytes };
        } else {
            size = Size { files: size.files + 1, bytes: size.bytes + found.len() };
        }
    }
    size
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_the_size_of_everything_below() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("a")).unwrap();
        fs::write(folder.path().join("a/one"), "12345").unwrap();
        fs::write(folder.path().join("two"), "1").unwrap();
        assert_eq!(size_of(folder.path()), Size { files: 2, bytes: 6 });
        assert_eq!(size_of(&folder.path().join("none")), Size::default());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_has_memory_and_files() {
        let own = held_by("self").unwrap();
        assert!(own.kib > 0 && own.files > 2, "{own:?}");
        assert_eq!(held_by("none"), None);
        assert!(children_time().unwrap() >= 0.0);
    }
}
