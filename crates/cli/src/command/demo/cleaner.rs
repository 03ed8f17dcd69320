//! Deletes the demo's folder when the demo cannot: another process waits for the end of the demo and of the hooks it runs.
//!
//! The demo and its hooks hold one end of a pipe. Whatever ends them, Ctrl-C or a kill, closes it. If even that process is
//! killed, the next demo deletes the folder: a lock tells whether a living demo owns it.

use std::fs::{self, File};
use std::io::{self, PipeReader, PipeWriter, Read as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tidegate_state::file::lock::{self, LockMode};

/// `tempfile` adds six letters and digits.
pub(super) const PREFIX: &str = "tidegate-demo-";
const RANDOM: usize = 6;
/// In the demo's folder; the demo holds it as long as it lives.
const LOCK: &str = ".demo-lock";

/// Dropped after the folder is gone, it ends the waiting process.
pub(super) struct Cleaner {
    pipe: Option<PipeWriter>,
    process: Child,
    _lock: File,
}

impl Cleaner {
    pub(super) fn start(program: &Path, folder: &Path) -> io::Result<Cleaner> {
        let lock = File::create_new(folder.join(LOCK))?;
        lock.lock()?;
        let (reader, pipe): (PipeReader, PipeWriter) = io::pipe()?;
        let mut command = Command::new(program);
        command.args(["demo", "--clean-up"]).arg(folder).stdin(reader).stdout(Stdio::null());
        // Ctrl-C reaches the group of the demo only.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let process = command.spawn()?;
        // From now on for children, too: a hook that is under way may still write there.
        #[cfg(unix)]
        rustix::io::fcntl_setfd(&pipe, rustix::io::FdFlags::empty())?;
        Ok(Cleaner { pipe: Some(pipe), process, _lock: lock })
    }
}

impl Drop for Cleaner {
    fn drop(&mut self) {
        drop(self.pipe.take());
        let _ = self.process.wait();
    }
}

/// The part of the waiting process.
pub(super) fn clean_up_after_demo(folder: &Path) {
    let _ = io::stdin().read_to_end(&mut Vec::new());
    // A process that ends may close its end of the pipe before it releases the lock.
    delete_left_folder(folder, lock::PATIENCE);
}

/// Folders of this person that no living demo owns.
pub(super) fn delete_left_folders(temporary: &Path) {
    for entry in fs::read_dir(temporary).into_iter().flatten().flatten() {
        delete_left_folder(&entry.path(), Duration::ZERO);
    }
}

fn delete_left_folder(folder: &Path, patience: Duration) {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let is_named_so = name.strip_prefix(PREFIX).is_some_and(|random| {
        random.len() == RANDOM && random.bytes().all(|byte| byte.is_ascii_alphanumeric())
    });
    let is_own_folder = || fs::symlink_metadata(folder).is_ok_and(|found| found.is_dir() && is_own(&found));
    if !is_named_so || !is_own_folder() {
        return;
    }
    let path = folder.join(LOCK);
    if !fs::symlink_metadata(&path).is_ok_and(|found| found.is_file() && is_own(&found)) {
        return;
    }
    let Ok(file) = File::open(&path) else { return };
    let is_free = match patience {
        Duration::ZERO => file.try_lock().is_ok(),
        patience => lock::wait_for(&file, &path, LockMode::Exclusive, patience).is_ok(),
    };
    if is_free {
        let _ = fs::remove_dir_all(folder);
    }
}

#[cfg(unix)]
fn is_own(found: &fs::Metadata) -> bool {
    std::os::unix::fs::MetadataExt::uid(found) == rustix::process::geteuid().as_raw()
}

#[cfg(not(unix))]
fn is_own(_: &fs::Metadata) -> bool {
    true
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder").flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn only_left_folders_of_a_demo_go() {
        let base = tempfile::tempdir().unwrap();
        let at = |path: &str| base.path().join(path);
        let demo = |name: &str| {
            fs::create_dir_all(at(name).join("shop")).unwrap();
            File::create(at(name).join(LOCK)).unwrap()
        };
        for name in ["tidegate-demo-abc123", "tidegate-demo-notes-of-mine", "tidegate-abc123", "elsewhere"] {
            demo(name);
        }
        let living = demo("tidegate-demo-living");
        living.lock().unwrap();
        fs::create_dir(at("tidegate-demo-nolock")).unwrap();
        fs::write(at("tidegate-demo-a1file"), "").unwrap();
        symlink(at("elsewhere"), at("tidegate-demo-a1link")).unwrap();
        fs::create_dir(at("tidegate-demo-locked")).unwrap();
        symlink(at("elsewhere").join(LOCK), at("tidegate-demo-locked").join(LOCK)).unwrap();
        symlink(at("elsewhere"), at("tidegate-demo-abc123").join("out")).unwrap();
        let before = names(base.path());
        delete_left_folders(base.path());
        let mut expected = before;
        expected.retain(|name| name != "tidegate-demo-abc123");
        assert_eq!(names(base.path()), expected);
        assert_eq!(names(&at("elsewhere")), [LOCK, "shop"], "no link is followed");
        drop(living);
        // A process that another test is just starting may still hold the lock.
        delete_left_folder(&at("tidegate-demo-living"), lock::PATIENCE);
        assert!(!at("tidegate-demo-living").exists());
    }
}
