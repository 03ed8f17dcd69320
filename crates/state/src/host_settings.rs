//! What the host's own settings files say about compaction. Read at session start and when they change.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use tidegate_core::meter::models::HostSettings;

/// The members of a settings file that move the point of compaction.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct File {
    auto_compact_enabled: Option<bool>,
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
    let (mut enabled, mut window) = (None, None);
    for path in nearest_first.into_iter().flatten() {
        let file: File =
            fs::read(path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
        enabled = enabled.or(file.auto_compact_enabled);
        window = window.or(file.auto_compact_window.as_ref().and_then(tokens));
    }
    HostSettings {
        auto_compact: enabled.unwrap_or(true),
        auto_compact_window: window,
        ..HostSettings::default()
    }
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
        fs::write(
            user.join("settings.json"),
            r#"{"autoCompactWindow": "300k", "autoCompactEnabled": false}"#,
        )
        .unwrap();
        let settings = read(Some(&project), Some(&user));
        assert_eq!((settings.auto_compact, settings.auto_compact_window), (false, Some(300_000)));
        fs::write(project.join(".claude/settings.json"), r#"{"autoCompactEnabled": true}"#).unwrap();
        fs::write(project.join(".claude/settings.local.json"), "{broken").unwrap();
        let settings = read(Some(&project), Some(&user));
        assert_eq!((settings.auto_compact, settings.auto_compact_window), (true, Some(300_000)));
    }
}
