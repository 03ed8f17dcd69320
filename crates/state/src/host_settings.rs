//! The host's own settings files: what they say about compaction, and which of our variables a project sets in them.

use std::io;
use std::path::{Path, PathBuf};

use tidegate_core::host_file::HostFile;
use tidegate_core::meter::models::HostSettings;

use crate::bounded;

/// More than this is no settings file.
const LARGEST: u64 = 4 * 1024 * 1024;

/// Reads the settings of a project and of the user; what stands nearer counts more. A file that cannot be read
/// says nothing. Read at session start and when they change.
pub fn read(project: Option<&Path>, user: Option<&Path>) -> HostSettings {
    let nearest_first: [Option<PathBuf>; 3] = [
        project.map(|project| project.join(".claude/settings.local.json")),
        project.map(|project| project.join(".claude/settings.json")),
        user.map(|user| user.join("settings.json")),
    ];
    let mut enabled = None;
    let mut windows = Vec::new();
    for path in nearest_first.into_iter().flatten() {
        let Ok(bytes) = bounded::read(&path, LARGEST) else { continue };
        let Ok(file) = HostFile::read(&bytes) else { continue };
        enabled = enabled.or(file.auto_compact_enabled.get().copied());
        windows.extend(file.windows());
    }
    HostSettings {
        auto_compact: enabled.unwrap_or(true),
        auto_compact_windows: windows,
        ..HostSettings::default()
    }
}

/// Which of our variables a project's own settings put into the environment.
///
/// The host hands them to its hooks, but a repository must not switch us off: such a variable counts only when a person
/// set it. `None`: a file is there and cannot be read, so any of them may come from it.
pub fn variables_of_project(project: &Path) -> Option<Vec<String>> {
    let mut names = Vec::new();
    for name in ["settings.json", "settings.local.json"] {
        match bounded::read(&project.join(".claude").join(name), LARGEST) {
            Ok(bytes) => names.extend(HostFile::read(&bytes).ok()?.env.value().unwrap_or_default().0),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {}
            Err(_) => return None,
        }
    }
    Some(names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use tidegate_core::meter::models::AutoCompactWindow;

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
    fn a_file_that_cannot_be_read_may_set_anything() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(variables_of_project(folder.path()), Some(Vec::new()));
        fs::create_dir_all(folder.path().join(".claude")).unwrap();
        let shared = r#"{"env": {"TIDEGATE_OFF": "skill-gate", "PATH": "/x"}}"#;
        fs::write(folder.path().join(".claude/settings.json"), shared).unwrap();
        let local = folder.path().join(".claude/settings.local.json");
        fs::write(&local, r#"{"env": {"TIDEGATE_GUARD": 1}}"#).unwrap();
        let both = ["TIDEGATE_OFF", "TIDEGATE_GUARD"].map(str::to_owned).to_vec();
        assert_eq!(variables_of_project(folder.path()), Some(both));
        fs::write(&local, "{broken").unwrap();
        assert_eq!(variables_of_project(folder.path()), None);
        fs::remove_file(&local).unwrap();
        fs::create_dir(&local).unwrap();
        assert_eq!(variables_of_project(folder.path()), None);
    }
}
