//! Temporary folders in memory: tests wait for a disk thousands of times, since what they test flushes what it writes.

use std::path::Path;
use std::process::Command;

use tempfile::TempDir;
use xtask::workspace;

/// Linux has it nearly everywhere; containers often with little room, or closed to programs.
const MEMORY: &str = "/dev/shm";

/// What all tests at once need, several times over.
const ROOM_KIB: u64 = 4 << 20;

/// A folder for the temporary folders of tests, or none, and they are where they always were. It goes with this.
pub(crate) struct Scratch(Option<TempDir>);

impl Scratch {
    /// Who sets `TMPDIR` has chosen.
    pub(crate) fn new() -> Scratch {
        let chosen = std::env::var_os("TMPDIR").is_some();
        let folder = (!chosen && room(MEMORY).is_some_and(|room| room >= ROOM_KIB))
            .then(|| tempfile::Builder::new().prefix("tidegate-").tempdir_in(MEMORY).ok())
            .flatten();
        Scratch(folder.filter(|folder| runs_programs(folder.path())))
    }

    /// The command, with it.
    pub(crate) fn given(&self, mut command: Command) -> Command {
        if let Some(folder) = &self.0 {
            command.env("TMPDIR", folder.path());
        }
        command
    }
}

/// In KiB, as `df` tells it.
fn room(folder: &str) -> Option<u64> {
    let told = workspace::output(Command::new("df").args(["-k", "--output=avail", folder])).ok()?;
    told.lines().nth(1)?.trim().parse().ok()
}

/// Also opens the folder to others, as `/tmp` is: a database's server runs as another user, and removes its own.
fn runs_programs(folder: &Path) -> bool {
    let script = "printf '#!/bin/sh\\n' > program && chmod 755 program && chmod 1777 . && ./program";
    let mut shell = Command::new("sh");
    shell.args(["-c", script]).current_dir(folder).status().is_ok_and(|status| status.success())
}
