//! The settings file as it was before `init`, kept in private state, so that `uninstall` can give it back to the byte.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tidegate_hook::environment::Environment;
use tidegate_state::place::StateDir;
use tidegate_state::replace;

#[derive(Serialize, Deserialize)]
struct Backup {
    /// The file, as an absolute path.
    file: PathBuf,
    /// What was there; `None` when there was no file.
    original: Option<String>,
    /// What we wrote.
    installed: String,
}

/// Keeps what was there. A file that had our entries already is no original.
pub(super) fn keep(
    env: &Environment,
    file: &Path,
    original: Option<&str>,
    installed: &str,
) -> Result<(), String> {
    let state = StateDir::open(&env.place)?;
    let (file, path) = slot(&state, file)?;
    // Installed anew over our own entries: the first original is still the one.
    let first = read(&path).filter(|kept| Some(kept.installed.as_str()) == original);
    let original = first.map_or_else(|| original.map(str::to_owned), |kept| kept.original);
    let backup = Backup { file, original, installed: installed.to_owned() };
    let json = serde_json::to_vec_pretty(&backup).map_err(|error| error.to_string())?;
    let folder = path.parent().expect("a slot is in a folder");
    tidegate_state::place::make_private(folder)
        .and_then(|()| replace::durable(&path, &json))
        .map_err(|error| error.to_string())
}

/// What was there, if the file is still what we wrote. `Some(None)`: there was no file.
#[expect(clippy::option_option, reason = "no backup, a backup of no file, a backup of a file")]
pub(super) fn original(env: &Environment, file: &Path, now: Option<&str>) -> Option<Option<String>> {
    let state = StateDir::open(&env.place).ok()?;
    let (file, path) = slot(&state, file).ok()?;
    let backup =
        read(&path).filter(|backup| backup.file == file && Some(backup.installed.as_str()) == now)?;
    Some(backup.original)
}

/// The file is not ours any more.
pub(super) fn forget(env: &Environment, file: &Path) {
    if let Ok((_, path)) = StateDir::open(&env.place).and_then(|state| slot(&state, file)) {
        let _ = fs::remove_file(path);
    }
}

fn read(path: &Path) -> Option<Backup> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

/// The file's absolute path, and where its backup is: named by its folders, so that a person can find it.
fn slot(state: &StateDir, file: &Path) -> Result<(PathBuf, PathBuf), String> {
    let file = std::path::absolute(file).map_err(|error| error.to_string())?;
    let name: String =
        file.to_string_lossy().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    // A name that is too long for a file loses its beginning; the path inside tells two apart.
    let short = &name[name.len().saturating_sub(200)..];
    let path = state.root().join("installs").join(format!("{}.json", short.trim_start_matches('-')));
    Ok((file, path))
}
