//! Free room of a disk.

use std::path::Path;
use std::process::Command;

use crate::failure::{Done, Failure};
use crate::workspace;

/// In KiB, from `df`; `None` where it does not say.
pub fn free_kib(folder: &Path) -> Option<u64> {
    let told = workspace::read_output(Command::new("df").args(["-k", "--output=avail"]).arg(folder)).ok()?;
    told.lines().nth(1)?.trim().parse().ok()
}

/// Before a task writes that much: a full disk would stop other programs, too.
pub fn require(folder: &Path, megabytes: u64) -> Done {
    match free_kib(folder) {
        Some(free) if free / 1_000 < megabytes => Err(Failure::new(format!(
            "{} has room for {} MB, and this needs {megabytes} MB",
            folder.display(),
            free / 1_000
        ))
        .next("name a folder on another disk, or ask for less")),
        _ => Ok(()),
    }
}
