//! Files of hosts, one folder for each, and transcripts, whose lines each host parses in its own way.

pub mod claude_code;
pub mod codex;
pub mod copilot;
pub mod qwen;
pub mod transcript;

use std::path::{Path, PathBuf};

use tidegate_core::event::SessionId;
use tidegate_core::host::Host;
use tidegate_core::host::window::HostSettings;

use crate::place::PlaceEnv;

/// Folders with skills that the model of this host can read. Codex does not list Claude Code's, but its model can print
/// them; Copilot and opencode load them, Qwen Code does not (0.24.4).
pub fn skill_folders(
    host: Host,
    project: Option<&Path>,
    place: &PlaceEnv,
    plugin: Option<&Path>,
) -> Vec<PathBuf> {
    let mut folders = match host {
        Host::Qwen => plugin.map(Path::to_owned).into_iter().collect(),
        _ => claude_code::skills::folders(project, place.host().as_deref(), plugin),
    };
    let names: &[&str] = match host {
        Host::Codex => &[".codex", ".agents"],
        Host::Copilot => &[".github", ".copilot", ".agents"],
        Host::Qwen => &[".qwen", ".agents"],
        Host::OpenCode => &[".opencode"],
        _ => &[],
    };
    folders.extend(project.into_iter().flat_map(|base| names.iter().map(|name| base.join(name))));
    let moved = if names.is_empty() { Vec::new() } else { moved_folders() };
    let of_person = |name: &&str| {
        let moved = moved.iter().find(|(usual, _)| usual == name).map(|(_, path)| path.clone());
        moved.or_else(|| Some(place.home.as_ref()?.join(name)))
    };
    folders.extend(names.iter().filter_map(of_person));
    folders
}

/// Whether this host can find a skill in such folders, or in a plugin of Claude Code if it loads those.
pub fn has_skill(host: Host, name: &str, folders: &[PathBuf], place: &PlaceEnv) -> bool {
    let plugins = place.host().filter(|_| host != Host::Qwen);
    claude_code::skills::is_installed(name, folders, plugins.as_deref())
}

/// Folders that replace a person's usual ones of other hosts, each with the usual name. Read when needed: few processes
/// have to know.
pub fn moved_folders() -> Vec<(&'static str, PathBuf)> {
    let moved = [(".codex", "CODEX_HOME"), (".copilot", "COPILOT_HOME"), (".qwen", "QWEN_HOME")];
    let moved = moved.into_iter().filter_map(|(usual, variable)| {
        let path = std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute())?;
        Some((usual, path))
    });
    moved.collect()
}

/// A host's own settings about compaction. `moved`: the folder of another host than Claude Code, where a variable
/// names it.
pub fn settings(host: Host, project: Option<&Path>, place: &PlaceEnv, moved: Option<&Path>) -> HostSettings {
    match host {
        Host::Copilot => HostSettings::default(),
        Host::Codex => codex::settings::read(project, codex::settings::home(place, moved).as_deref()),
        Host::Qwen => qwen::settings::read(project, qwen::settings::home(place, moved).as_deref()),
        _ => claude_code::settings::read(project, place.host().as_deref()),
    }
}

/// A session's transcript, where the host's payloads leave it out. `moved` as in [`settings`].
pub fn find_transcript(
    host: Host,
    session: &SessionId,
    place: &PlaceEnv,
    moved: Option<&Path>,
) -> Option<PathBuf> {
    match host {
        Host::Copilot => copilot::events_file(&copilot::home(place, moved)?, session),
        _ => None,
    }
}
