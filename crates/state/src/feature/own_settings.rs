//! Whether a file that is about to be edited, or was written, decides what Tidegate does.

use std::path::{Path, PathBuf};

use tidegate_core::feature::facts::Facts;
use tidegate_core::feature::own_settings::OwnFile;

use crate::feature::Where;
use crate::host::claude_code::own_files;
use crate::place::running;
use crate::project;

pub(super) fn read_facts(facts: &Facts<'_>, here: &Where<'_>) -> Option<OwnFile> {
    match facts.event.edit_paths().and_then(Result::ok) {
        Some(targets) => targets.iter().find_map(|target| which(Path::new(target.as_ref()), here)),
        // What a command line has changed.
        None => facts.verification.files.iter().find_map(|file| which(Path::new(&file.path), here)),
    }
}

fn which(target: &Path, here: &Where<'_>) -> Option<OwnFile> {
    let place = here.place;
    let config = place.config();
    let host = place.host();
    let state = place.state().ok();
    let memory = place.data().ok().map(|data| data.join("memory"));
    let programs = || place.link().into_iter().chain(running()).collect();
    // In another worktree the client still uses the settings of the folder it was started in.
    let main = here.root.and_then(project::main_worktree);
    let mut roots: Vec<PathBuf> = [here.root.map(Path::to_owned), here.started_in.map(Path::to_owned), main]
        .into_iter()
        .flatten()
        .collect();
    roots.dedup();
    own_files::which(
        target,
        &own_files::Places {
            roots: &roots,
            config: config.as_deref(),
            host: host.as_deref(),
            state: state.as_deref(),
            memory: memory.as_deref(),
            programs: &programs,
            plugin: here.plugin,
        },
    )
}
