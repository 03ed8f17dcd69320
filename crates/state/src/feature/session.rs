//! Looks once per session for Tidegate's own skills and for texts that a person was never given.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tidegate_core::feature::session::effect::Effect;
use tidegate_core::feature::session::facts::{SessionFacts, Told};
use tidegate_core::text::skill_name::OWN_PREFIX;

use crate::feature::HookContext;
use crate::file::{append, bounded};
use crate::host::claude_code::skills;
use crate::place::{StateDir, make_private};

/// More than there are skills to rename.
const MOST: usize = 32;

const LARGEST: u64 = 4 * 1024 * 1024;

pub(super) fn read_facts(here: &HookContext<'_>) -> SessionFacts {
    let untold = |told: &Told| match told {
        Told::Recording => true,
        Told::StatusLine => here.plugin.is_some() && !has_status_line(here),
    };
    let known = |told: &Told| here.state.is_none_or(|state| was_told(state, *told));
    let untold = Told::ALL.into_iter().filter(|told| !known(told) && untold(told)).collect();
    SessionFacts { renamed: Some(find_renamed(here)), untold }
}

pub(super) fn carry_out(effect: Effect, here: &HookContext<'_>) -> io::Result<()> {
    let Effect::Told(told) = effect;
    note_told(here.state()?, told)
}

pub fn was_told(state: &StateDir, told: Told) -> bool {
    path_of(state, told).exists()
}

/// An empty file: only whether it is there counts.
pub fn note_told(state: &StateDir, told: Told) -> io::Result<()> {
    let path = path_of(state, told);
    make_private(path.parent().unwrap_or(&path))?;
    append::open(&path).map(drop)
}

fn path_of(state: &StateDir, told: Told) -> PathBuf {
    state.root().join("told").join(told.name())
}

fn find_renamed(here: &HookContext<'_>) -> Vec<String> {
    let mut names = Vec::new();
    for folder in skills::folders(here.root, here.place.host().as_deref(), None) {
        let entries = fs::read_dir(folder.join("skills")).into_iter().flatten().flatten();
        for entry in entries.take(1024) {
            let name = entry.file_name();
            let Some(name) = name.to_str().and_then(|name| name.strip_prefix(OWN_PREFIX)) else { continue };
            if names.len() < MOST && !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
    }
    names.sort();
    names
}

/// In any settings file: a line around another one counts, too.
fn has_status_line(here: &HookContext<'_>) -> bool {
    let project = here.root.map(|root| root.join(".claude"));
    let files = [
        project.as_ref().map(|folder| folder.join("settings.local.json")),
        project.as_ref().map(|folder| folder.join("settings.json")),
        here.place.host().map(|folder| folder.join("settings.json")),
    ];
    files.into_iter().flatten().any(|file| mentions_status_line(&file))
}

fn mentions_status_line(file: &Path) -> bool {
    let text = bounded::read(file, LARGEST).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    text.is_some_and(|text| text.contains("tidegate") && text.contains(" statusline"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::PlaceEnv;

    #[test]
    fn it_is_told_once() {
        let base = tempfile::tempdir().unwrap();
        let place = PlaceEnv { state_dir: Some(base.path().join("state")), ..PlaceEnv::default() };
        let state = StateDir::open(&place).unwrap();
        assert!(!was_told(&state, Told::Recording));
        note_told(&state, Told::Recording).unwrap();
        note_told(&state, Told::Recording).unwrap();
        assert!(was_told(&state, Told::Recording) && !was_told(&state, Told::StatusLine));
    }
}
