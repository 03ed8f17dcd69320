//! Starts the process that works through the spool.

use std::io;
use std::process::{Command, Stdio};

use crate::child;
use crate::feature::HookContext;
use crate::place::{self, StateDir};

/// In its own process group, so that it outlives the client. Without variables that a repository set: they could
/// redirect the store.
pub(super) fn start(state: &StateDir, here: &HookContext<'_>) -> io::Result<()> {
    // The worker makes no home. If this fails, it says so in the journal.
    if let Ok(memory) = here.place.memory() {
        let _ = place::make_private(&memory);
    }
    let mut command = Command::new(std::env::current_exe()?);
    // Its working directory must not block the removal of a person's folder.
    command.current_dir(state.root());
    for name in here.ignored {
        command.env_remove(name);
    }
    command.arg("worker").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    child::set_own_group(&mut command);
    command.spawn().map(drop)
}
