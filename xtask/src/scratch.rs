//! Temporary folders in memory: the tested code flushes its files, and tests would wait for a disk thousands
//! of times.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;
use xtask::room;

/// Nearly every Linux has it; in containers it is often small, or mounted `noexec`.
const MEMORY: &str = "/dev/shm";

/// Several times what all tests need at once.
const ROOM_KIB: u64 = 4 << 20;

/// Followed by the process id.
const PREFIX: &str = "tidegate-test-";

/// `None` leaves the tests in the default folder. Removed when dropped.
pub(crate) struct Scratch(Option<TempDir>);

impl Scratch {
    /// A `TMPDIR` of the user takes precedence.
    pub(crate) fn new() -> Scratch {
        remove_stale_folders();
        let chosen = std::env::var_os("TMPDIR").is_some();
        let prefix = format!("{PREFIX}{}-", std::process::id());
        let folder = (!chosen && room::free_kib(Path::new(MEMORY)).is_some_and(|room| room >= ROOM_KIB))
            .then(|| tempfile::Builder::new().prefix(&prefix).tempdir_in(MEMORY).ok())
            .flatten();
        Scratch(folder.filter(|folder| runs_programs(folder.path())))
    }

    pub(crate) fn with_folder(&self, mut command: Command) -> Command {
        if let Some(folder) = &self.0 {
            command.env("TMPDIR", folder.path());
        }
        command
    }
}

/// Folders of killed runs would take memory until the next restart.
fn remove_stale_folders() {
    for entry in fs::read_dir(MEMORY).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(process) = name.to_str().and_then(owner_process) else { continue };
        if !Path::new("/proc").join(process).exists() {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn owner_process(name: &str) -> Option<&str> {
    let (process, _) = name.strip_prefix(PREFIX)?.split_once('-')?;
    process.parse::<u32>().is_ok().then_some(process)
}

/// Also opens the folder to other users, like `/tmp`: a database server runs as another user.
fn runs_programs(folder: &Path) -> bool {
    let script = "printf '#!/bin/sh\\n' > program && chmod 755 program && chmod 1777 . && ./program";
    let mut shell = Command::new("sh");
    shell.args(["-c", script]).current_dir(folder).status().is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_folders_of_this_kind_have_a_maker() {
        assert_eq!(owner_process("tidegate-test-4711-aB3"), Some("4711"));
        for other in ["tidegate-test-x-aB3", "tidegate-4711-aB3", "tidegate-test-4711", "PostgreSQL.1-2"] {
            assert_eq!(owner_process(other), None, "{other}");
        }
    }
}
