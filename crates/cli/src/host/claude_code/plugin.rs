//! Tidegate's plugin, if the client has it enabled.

use std::path::{Path, PathBuf};

use serde_json::Value;
use tidegate_state::file::bounded;

use super::settings_file::{Scope, SettingsFile, read_all};
use crate::shell::quote_path;

/// More than this is none of the client's lists.
const LARGEST: u64 = 4 * 1024 * 1024;

const NAME: &str = "tidegate";

#[derive(Clone, Debug)]
pub(crate) struct Plugin {
    /// `tidegate@market`.
    pub(crate) id: String,
    /// As far as the client says.
    pub(crate) folder: Option<PathBuf>,
    /// `None` if its hooks cannot be read.
    pub(crate) events: Option<Vec<String>>,
}

/// Enabled in a settings file, or in the user's folder of skills, which needs no install.
pub(crate) fn find_plugin(settings: &[SettingsFile], host: Option<&Path>) -> Option<Plugin> {
    let host = host?;
    let (id, folder) = if let Some((id, _)) = find_enabled(settings) {
        let folder = install_path(host, &id);
        (id, folder)
    } else {
        (format!("{NAME}@skills-dir"), Some(find_in_skills(host)?))
    };
    let events = folder.as_deref().and_then(read_events);
    Some(Plugin { id, folder, events })
}

/// Its id, and the nearest settings file that has it: the nearer file counts more.
fn find_enabled(settings: &[SettingsFile]) -> Option<(String, Scope)> {
    let mut ours: Vec<(&String, &Value, Scope)> = Vec::new();
    for file in settings {
        let enabled = file.get("enabledPlugins").and_then(Value::as_object).into_iter().flatten();
        for (id, value) in enabled.filter(|(id, _)| id.split('@').next() == Some(NAME)) {
            if !ours.iter().any(|(known, _, _)| *known == id) {
                ours.push((id, value, file.scope));
            }
        }
    }
    let on = |value: &Value| !matches!(value, Value::Null | Value::Bool(false));
    ours.into_iter().find(|(_, value, _)| on(value)).map(|(id, _, scope)| (id.clone(), scope))
}

fn find_in_skills(host: &Path) -> Option<PathBuf> {
    let folder = host.join("skills").join(NAME);
    bounded::open(&folder.join(".claude-plugin/plugin.json")).ok()?;
    Some(folder)
}

pub(crate) struct PluginRemoval {
    pub(crate) id: String,
    /// `None` if only an administrator can.
    pub(crate) command: Option<String>,
}

/// The plugin that is enabled here, or in another project that the client lists, and the way to remove it.
pub(crate) fn find_removal(settings: &[SettingsFile], host: Option<&Path>) -> Option<PluginRemoval> {
    let host = host?;
    let uninstall = |id: &str, scope: Scope| {
        let scope = match scope {
            Scope::Managed => return None,
            Scope::User => "",
            Scope::Shared => " --scope project",
            Scope::Local => " --scope local",
        };
        Some(format!("claude plugin uninstall {id}{scope}"))
    };
    if let Some((id, scope)) = find_enabled(settings) {
        return Some(PluginRemoval { command: uninstall(&id, scope), id });
    }
    for project in list_projects(host) {
        // The user's own file is among those that were looked at.
        let settings = read_all(Some(&project), None);
        if let Some((id, scope)) = find_enabled(&settings) {
            let command = uninstall(&id, scope);
            let command = command.map(|command| format!("cd {} && {command}", quote_path(&project)));
            return Some(PluginRemoval { id, command });
        }
    }
    let folder = find_in_skills(host)?;
    let command = Some(format!("rm -r {}", quote_path(&folder)));
    Some(PluginRemoval { id: format!("{NAME}@skills-dir"), command })
}

/// Projects for which the client installed it.
fn list_projects(host: &Path) -> Vec<PathBuf> {
    let list = read_json(&host.join("plugins/installed_plugins.json")).unwrap_or_default();
    let plugins = list.get("plugins").unwrap_or(&list).as_object().into_iter().flatten();
    let ours = plugins.filter(|(id, _)| id.split('@').next() == Some(NAME));
    let entries = ours.flat_map(|(_, entry)| entry.as_array().into_iter().flatten());
    entries.filter_map(|entry| Some(PathBuf::from(entry.get("projectPath")?.as_str()?))).collect()
}

/// From the client's own list. Its form has changed over time: one entry, or a list of them.
fn install_path(host: &Path, id: &str) -> Option<PathBuf> {
    let list: Value = read_json(&host.join("plugins/installed_plugins.json"))?;
    let entry = list.get("plugins").unwrap_or(&list).get(id)?;
    let entries = match entry {
        Value::Array(entries) => entries.as_slice(),
        entry => std::slice::from_ref(entry),
    };
    let path = entries.iter().rev().find_map(|entry| entry.get("installPath")?.as_str())?;
    Some(PathBuf::from(path))
}

fn read_events(folder: &Path) -> Option<Vec<String>> {
    let file: Value = read_json(&folder.join("hooks/hooks.json"))?;
    Some(file.get("hooks")?.as_object()?.keys().cloned().collect())
}

fn read_json(path: &Path) -> Option<Value> {
    serde_json::from_slice(&bounded::read(path, LARGEST).ok()?).ok()
}
