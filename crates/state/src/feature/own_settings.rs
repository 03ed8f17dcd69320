//! Recognises files that decide what Tidegate does, when they are about to be edited or were written.

use std::path::{Path, PathBuf};

use tidegate_core::feature::facts::Facts;
use tidegate_core::feature::own_settings::OwnFile;

use crate::feature::HookContext;
use crate::host::claude_code::own_files;
use crate::host::moved_folders;
use crate::place::running_program;
use crate::project;

pub(super) fn read_facts(facts: &Facts<'_>, here: &HookContext<'_>) -> Option<OwnFile> {
    match facts.event.edit_paths().and_then(Result::ok) {
        Some(targets) => targets.iter().find_map(|target| identify(Path::new(target.as_ref()), here)),
        // Files that a command line has changed.
        None => facts.verification.files.iter().find_map(|file| identify(Path::new(&file.path), here)),
    }
}

fn identify(target: &Path, here: &HookContext<'_>) -> Option<OwnFile> {
    let place = here.place;
    let config = place.config();
    let host = place.host();
    let state = place.state().ok();
    let memory = place.data().ok().map(|data| data.join("memory"));
    let programs = || place.link().into_iter().chain(running_program()).collect();
    // In another worktree, Claude Code still uses the settings of the folder it was started in.
    let main = here.root.and_then(project::main_worktree);
    let mut roots: Vec<PathBuf> = [here.root.map(Path::to_owned), here.started_in.map(Path::to_owned), main]
        .into_iter()
        .flatten()
        .collect();
    roots.dedup();
    own_files::identify(
        target,
        &own_files::OwnPlaces {
            roots: &roots,
            config: config.as_deref(),
            host: host.as_deref(),
            state: state.as_deref(),
            memory: memory.as_deref(),
            programs: &programs,
            plugin: here.plugin,
            moved: &moved_folders,
        },
    )
}
