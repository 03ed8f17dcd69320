//! What the host's own settings files say about compaction. Read at session start and when they change.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use tidegate_core::meter::models::{AutoCompactWindow, HostSettings};

/// The members of a settings file that move the point of compaction.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct File {
    auto_compact_enabled: Option<bool>,
    auto_compact_window: Option<serde_json::Value>,
    model_settings: BTreeMap<String, ModelSettings>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ModelSettings {
    auto_compact_window: Option<serde_json::Value>,
}

/// Reads the settings of a project and of the user; what stands nearer counts more. A file that cannot be read
/// says nothing: the host would not use it either.
pub fn read(project: Option<&Path>, user: Option<&Path>) -> HostSettings {
    let nearest_first: [Option<PathBuf>; 3] = [
        project.map(|project| project.join(".claude/settings.local.json")),
        project.map(|project| project.join(".claude/settings.json")),
        user.map(|user| user.join("settings.json")),
    ];
    let mut enabled = None;
    let mut windows = Vec::new();
    for path in nearest_first.into_iter().flatten() {
        let file: File =
            fs::read(path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
        enabled = enabled.or(file.auto_compact_enabled);
        let of_models = file
            .model_settings
            .into_iter()
            .map(|(model, settings)| (Some(model), settings.auto_compact_window));
        for (model, window) in of_models.chain([(None, file.auto_compact_window)]) {
            windows.extend(window.map(|window| AutoCompactWindow { model, tokens: tokens(&window) }));
        }
    }
    HostSettings {
        auto_compact: enabled.unwrap_or(true),
        auto_compact_windows: windows,
        ..HostSettings::default()
    }
}

/// Which of our variables a project's own settings put into the environment. The host hands them to its hooks, but a
/// repository must not switch us off: such a variable counts only when a person set it.
pub fn variables_of_project(project: &Path) -> Vec<String> {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct File {
        env: serde_json::Map<String, serde_json::Value>,
    }
    let files = ["settings.json", "settings.local.json"].map(|name| project.join(".claude").join(name));
    let read = |path: PathBuf| -> Option<File> { serde_json::from_slice(&fs::read(path).ok()?).ok() };
    let names =
        files.into_iter().filter_map(read).flat_map(|file| file.env.into_iter().map(|(name, _)| name));
    names.filter(|name| name.starts_with("TIDEGATE_")).collect()
}

fn tokens(value: &serde_json::Value) -> Option<u64> {
    match value {
        serde_json::Value::Number(number) => number.as_u64(),
        serde_json::Value::String(text) => parse_tokens(text),
        _ => None,
    }
}

/// `200000` or `200k`, as the host takes it.
pub fn parse_tokens(text: &str) -> Option<u64> {
    let text = text.trim();
    match text.strip_suffix(['k', 'K']) {
        Some(thousands) => thousands.trim().parse::<u64>().ok()?.checked_mul(1000),
        None => text.parse().ok(),
    }
    .filter(|tokens| *tokens > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearer_file_counts_more() {
        let folder = tempfile::tempdir().unwrap();
        let (project, user) = (folder.path().join("p"), folder.path().join("u"));
        fs::create_dir_all(project.join(".claude")).unwrap();
        fs::create_dir_all(&user).unwrap();
        assert_eq!(read(Some(&project), Some(&user)), HostSettings::default());
        let window = |model: Option<&str>, tokens| AutoCompactWindow { model: model.map(Into::into), tokens };
        fs::write(
            user.join("settings.json"),
            r#"{"autoCompactWindow": "300k", "autoCompactEnabled": false}"#,
        )
        .unwrap();
        let settings = read(Some(&project), Some(&user));
        assert!(!settings.auto_compact);
        assert_eq!(settings.auto_compact_windows, [window(None, Some(300_000))]);
        let shared =
            r#"{"autoCompactEnabled": true, "modelSettings": {"m": {"autoCompactWindow": "auto"}, "n": {}}}"#;
        fs::write(project.join(".claude/settings.json"), shared).unwrap();
        fs::write(project.join(".claude/settings.local.json"), "{broken").unwrap();
        let settings = read(Some(&project), Some(&user));
        assert!(settings.auto_compact);
        assert_eq!(settings.auto_compact_windows, [window(Some("m"), None), window(None, Some(300_000))]);
    }

    #[test]
    fn only_our_variables_of_the_project_are_named() {
        let folder = tempfile::tempdir().unwrap();
        assert!(variables_of_project(folder.path()).is_empty());
        fs::create_dir_all(folder.path().join(".claude")).unwrap();
        let shared = r#"{"env": {"TIDEGATE_OFF": "skill-gate", "PATH": "/x"}}"#;
        fs::write(folder.path().join(".claude/settings.json"), shared).unwrap();
        fs::write(folder.path().join(".claude/settings.local.json"), r#"{"env": {"TIDEGATE_GUARD": 1}}"#)
            .unwrap();
        assert_eq!(variables_of_project(folder.path()), ["TIDEGATE_OFF", "TIDEGATE_GUARD"]);
    }
}
