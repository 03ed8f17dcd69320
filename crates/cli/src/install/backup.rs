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

/// Keeps what was there: `old`, or where that has entries of ours already, the first original or `without_us`.
pub(super) fn keep(
    env: &Environment,
    file: &Path,
    old: Option<&str>,
    without_us: Option<String>,
    installed: &str,
) -> Result<(), String> {
    let state = StateDir::open(&env.place)?;
    let (file, path) = slot(&state, file)?;
    let first = read(&path).filter(|kept| kept.file == file && Some(kept.installed.as_str()) == old);
    let original = first.map_or(without_us, |kept| kept.original);
    let backup = Backup { file, original, installed: installed.to_owned() };
    let json = serde_json::to_vec_pretty(&backup).map_err(|error| error.to_string())?;
    let folder = path.parent().expect("a slot is in a folder");
    let kept = tidegate_state::place::make_private(folder).and_then(|()| replace::durable(&path, &json));
    kept.map_err(|error| error.to_string())
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

/// The file's true path, and where its backup is: named by its folders, so that a person can find it, and by a hash, so
/// that no two share one.
fn slot(state: &StateDir, file: &Path) -> Result<(PathBuf, PathBuf), String> {
    let folder = file.parent().filter(|folder| folder.exists()).or(file.parent().and_then(Path::parent));
    let folder = fs::canonicalize(folder.unwrap_or(Path::new("."))).map_err(|error| error.to_string())?;
    let file = if folder.ends_with(".claude") { folder } else { folder.join(".claude") }
        .join(file.file_name().unwrap_or_default());
    let text = file.to_string_lossy();
    let name: String = text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let tail = name[name.len().saturating_sub(150)..].trim_start_matches('-');
    let path = state
        .root()
        .join("installs")
        .join(format!("{tail}-{:016x}.json", tidegate_state::claims::hash(&[&text])));
    Ok((file, path))
}
