//! Hosts into whose own files `init --host` writes, besides Claude Code: one row each.
//!
//! Such a file is read by no other host, so its entries may name the host.

use std::path::{Path, PathBuf};

use serde_json::Value;
use tidegate_core::host::Host;
use tidegate_state::place::PlaceEnv;

use super::claude_code::registrations::Registration;
use super::claude_code::{settings_file, settings_text};
use super::{codex, copilot, opencode, qwen};
use crate::bilingual::Bilingual;

/// The hooks of a host, and the files that have them.
#[derive(Debug)]
pub(crate) struct HostHooks {
    pub(crate) host: Host,
    /// Below a project.
    pub(crate) in_project: &'static str,
    /// Below the person's folder of the host.
    pub(crate) in_home: &'static str,
    /// The person's folder of the host, below the home directory.
    pub(crate) home: &'static str,
    /// Where it is instead, if this is set.
    pub(crate) home_variable: &'static str,
    /// Its folder in a project.
    pub(crate) project_home: &'static str,
    pub(crate) registrations: &'static [Registration],
    /// One entry, from the path of the program and its arguments.
    pub(crate) handler: fn(&str, &[&str]) -> Value,
    /// The same in a plugin.
    pub(crate) plugin_handler: fn(&[&str]) -> Value,
    /// What a person has to do before the hooks run.
    pub(crate) next: fn() -> Bilingual,
}

/// Two rows are the same if they are of one host.
impl PartialEq for HostHooks {
    fn eq(&self, other: &HostHooks) -> bool {
        self.host == other.host
    }
}

pub(crate) const HOSTS: &[&HostHooks] = &[
    &codex::registrations::HOOKS,
    &copilot::registrations::HOOKS,
    &qwen::registrations::HOOKS,
    &opencode::registrations::HOOKS,
];

impl HostHooks {
    pub(crate) fn of(host: Host) -> Option<&'static HostHooks> {
        HOSTS.iter().copied().find(|hooks| hooks.host == host)
    }

    /// The person's folder.
    pub(crate) fn person_folder(&self, place: &PlaceEnv) -> Option<PathBuf> {
        let moved = std::env::var_os(self.home_variable).map(PathBuf::from).filter(|path| path.is_absolute());
        moved.or_else(|| place.home.as_ref().map(|home| home.join(self.home)))
    }

    /// The file of a project, else the person's.
    pub(crate) fn file(&self, project: Option<&Path>, place: &PlaceEnv) -> Option<PathBuf> {
        match project {
            Some(project) => Some(project.join(self.in_project)),
            None => Some(self.person_folder(place)?.join(self.in_home)),
        }
    }

    /// A file here or of the person has Tidegate's hooks.
    pub(crate) fn is_installed(&self, project: Option<&Path>, place: &PlaceEnv, program: &str) -> bool {
        let files = [project.and_then(|project| self.file(Some(project), place)), self.file(None, place)];
        let text = |file: PathBuf| settings_file::read_text(&file);
        files.into_iter().flatten().filter_map(text).any(|text| self.has_ours(&text, program))
    }

    /// Whether the text of its file calls Tidegate.
    pub(crate) fn has_ours(&self, text: &str, program: &str) -> bool {
        if self.host == Host::OpenCode {
            opencode::is_shim(text)
        } else {
            settings_text::has_ours(text, program)
        }
    }

    /// The person uses this host.
    pub(crate) fn is_found(&self, place: &PlaceEnv) -> bool {
        self.person_folder(place).is_some_and(|folder| folder.is_dir())
    }
}
