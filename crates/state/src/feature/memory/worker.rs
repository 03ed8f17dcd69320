//! The process that does what was left in the spool.

use std::io;
use std::process::{Command, Stdio};

use crate::child;
use crate::place::StateDir;

/// Starts a worker and leaves it. In a group of its own: what ends with the client must not end it. A variable that a
/// repository set must not tell it where the store is.
pub(super) fn start(state: &StateDir, ignored: &[String]) -> io::Result<()> {
    let mut command = Command::new(std::env::current_exe()?);
    // Nor must it hold on to a folder that a person wants to remove.
    command.current_dir(state.root());
    for name in ignored {
        command.env_remove(name);
    }
    command.arg("worker").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    child::set_own_group(&mut command);
    command.spawn().map(drop)
}
