//! Codex's `config.toml`: where it compacts.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use tidegate_core::host::window::{AutoCompactWindow, HostSettings};

use crate::file::bounded;
use crate::place::PlaceEnv;

const LARGEST: u64 = 4 * 1024 * 1024;

/// The person's folder. `moved`: `CODEX_HOME`.
pub fn home(place: &PlaceEnv, moved: Option<&Path>) -> Option<PathBuf> {
    let moved = moved.filter(|path| path.is_absolute()).map(Path::to_owned);
    moved.or_else(|| place.home.as_ref().filter(|home| home.is_absolute()).map(|home| home.join(".codex")))
}

/// The project's file counts first. Unreadable files are ignored, and so is a limit on the command line.
pub fn read(project: Option<&Path>, home: Option<&Path>) -> HostSettings {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Config {
        model_auto_compact_token_limit: Option<i64>,
    }
    let files = [project.map(|project| project.join(".codex")), home.map(Path::to_owned)];
    let limit = files.into_iter().flatten().find_map(|folder| {
        let bytes = bounded::read(&folder.join("config.toml"), LARGEST).ok()?;
        let config: Config = toml::from_str(std::str::from_utf8(&bytes).ok()?).ok()?;
        u64::try_from(config.model_auto_compact_token_limit?).ok().filter(|limit| *limit > 0)
    });
    let windows = limit.map(|tokens| AutoCompactWindow { model: None, tokens: Some(tokens) });
    HostSettings { auto_compact_windows: windows.into_iter().collect(), ..HostSettings::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_limit_is_read_from_the_nearest_file_that_has_one() {
        let base = tempfile::tempdir().unwrap();
        let (project, home) = (base.path().join("p"), base.path().join("home"));
        fs::create_dir_all(project.join(".codex")).unwrap();
        fs::create_dir_all(&home).unwrap();
        let limit =
            || read(Some(&project), Some(&home)).auto_compact_windows.first().and_then(|it| it.tokens);
        assert_eq!(limit(), None);
        fs::write(home.join("config.toml"), "model_auto_compact_token_limit = 60000\n[a]\nb = 1\n").unwrap();
        assert_eq!(limit(), Some(60_000));
        fs::write(project.join(".codex/config.toml"), "model_auto_compact_token_limit = 9000").unwrap();
        assert_eq!(limit(), Some(9000));
        for broken in
            ["model_auto_compact_token_limit = -1", "model_auto", "model_auto_compact_token_limit = \"x\""]
        {
            fs::write(project.join(".codex/config.toml"), broken).unwrap();
            assert_eq!(limit(), Some(60_000), "{broken}");
        }
    }
}
