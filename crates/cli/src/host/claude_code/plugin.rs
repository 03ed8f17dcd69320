//! Tidegate's plugin, if the client has it enabled.

use std::path::{Path, PathBuf};

use serde_json::Value;
use tidegate_state::file::bounded;

use super::settings_file::SettingsFile;

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
    let enabled = settings.iter().filter_map(|file| file.get("enabledPlugins")?.as_object()).flatten();
    let mut ours: Vec<(&String, &Value)> = Vec::new();
    for (id, value) in enabled.filter(|(id, _)| id.split('@').next() == Some(NAME)) {
        // The nearer file counts more.
        if !ours.iter().any(|(known, _)| *known == id) {
            ours.push((id, value));
        }
    }
    let on = |value: &Value| !matches!(value, Value::Null | Value::Bool(false));
    let (id, folder) = if let Some((id, _)) = ours.into_iter().find(|(_, value)| on(value)) {
        (id.clone(), install_path(host, id))
    } else {
        let folder = host.join("skills").join(NAME);
        bounded::open(&folder.join(".claude-plugin/plugin.json")).ok()?;
        (format!("{NAME}@skills-dir"), Some(folder))
    };
    let events = folder.as_deref().and_then(read_events);
    Some(Plugin { id, folder, events })
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
