//! Qwen Code's settings: where it compacts.

use std::path::{Path, PathBuf};

use tidegate_core::host::qwen;
use tidegate_core::host::window::HostSettings;

use crate::file::bounded;
use crate::place::PlaceEnv;

const LARGEST: u64 = 4 * 1024 * 1024;

/// The person's folder. `moved`: `QWEN_HOME`.
pub fn home(place: &PlaceEnv, moved: Option<&Path>) -> Option<PathBuf> {
    let moved = moved.filter(|path| path.is_absolute()).map(Path::to_owned);
    moved.or_else(|| place.home.as_ref().filter(|home| home.is_absolute()).map(|home| home.join(".qwen")))
}

/// The project's file counts first. Unreadable files are ignored.
pub fn read(project: Option<&Path>, home: Option<&Path>) -> HostSettings {
    let folders = [project.map(|project| project.join(".qwen")), home.map(Path::to_owned)];
    let percent = folders.into_iter().flatten().find_map(|folder| {
        let bytes = bounded::read(&folder.join("settings.json"), LARGEST).ok()?;
        qwen::compaction_percent(&bytes)
    });
    HostSettings { percent, ..HostSettings::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_share_is_read_from_the_nearest_file_that_has_one() {
        let base = tempfile::tempdir().unwrap();
        let (project, home) = (base.path().join("p"), base.path().join("home"));
        fs::create_dir_all(project.join(".qwen")).unwrap();
        fs::create_dir_all(&home).unwrap();
        let percent = || read(Some(&project), Some(&home)).percent;
        assert_eq!(percent(), None);
        fs::write(home.join("settings.json"), r#"{"context": {"autoCompactThreshold": 0.5}}"#).unwrap();
        assert_eq!(percent(), Some(50.0));
        fs::write(project.join(".qwen/settings.json"), r#"{"context": {"autoCompactThreshold": 0.25}}"#)
            .unwrap();
        assert_eq!(percent(), Some(25.0));
        for broken in [
            "{",
            "[]",
            r#"{"context": {"autoCompactThreshold": 7}}"#,
            r#"{"context": {"autoCompactThreshold": "x"}}"#,
        ] {
            fs::write(project.join(".qwen/settings.json"), broken).unwrap();
            assert_eq!(percent(), Some(50.0), "{broken}");
        }
    }
}
