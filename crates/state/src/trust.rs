//! Which project files a person trusts: kept whole in private state, so that any change revokes it, and so that a change
//! can be shown. (A hash would tell the same with less; what changed it could not tell.)

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::place::{StateDir, make_private};
use crate::{bounded, claims, replace};

/// A config file is smaller, and so is its copy here.
const LARGEST: u64 = 2 * 1024 * 1024;

#[derive(Serialize, Deserialize)]
struct Trusted {
    /// The file, as an absolute path.
    file: PathBuf,
    /// What a person saw and trusted.
    text: String,
}

/// Whether a person trusted this file with exactly this text.
pub fn is_trusted(state: &StateDir, file: &Path, text: &str) -> bool {
    trusted_text(state, file).is_some_and(|trusted| trusted == text)
}

/// What of this file was trusted last.
pub fn trusted_text(state: &StateDir, file: &Path) -> Option<String> {
    let (file, slot) = slot(state, file);
    let trusted: Trusted = serde_json::from_slice(&bounded::read(&slot, LARGEST).ok()?).ok()?;
    (trusted.file == file).then_some(trusted.text)
}

/// Trusts a file as it is now.
pub fn remember(state: &StateDir, file: &Path, text: &str) -> io::Result<()> {
    let (file, slot) = slot(state, file);
    make_private(&state.root().join("trust"))?;
    let json = serde_json::to_vec(&Trusted { file, text: text.to_owned() }).map_err(io::Error::other)?;
    replace::durable(&slot, &json)
}

/// Trusts it no more. Tells whether it was trusted.
pub fn revoke(state: &StateDir, file: &Path) -> io::Result<bool> {
    match fs::remove_file(slot(state, file).1) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// The file's true path, and where it is remembered.
fn slot(state: &StateDir, file: &Path) -> (PathBuf, PathBuf) {
    let folder = file.parent().and_then(|folder| fs::canonicalize(folder).ok());
    let file = match (folder, file.file_name()) {
        (Some(folder), Some(name)) => folder.join(name),
        _ => file.to_owned(),
    };
    let name = format!("{:016x}.json", claims::hash(&[&file.to_string_lossy()]));
    let slot = state.root().join("trust").join(name);
    (file, slot)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_change_revokes_it() {
        let folder = tempfile::tempdir().unwrap();
        let env = crate::place::PlaceEnv { state_dir: Some(folder.path().join("s")), ..Default::default() };
        let state = StateDir::open(&env).unwrap();
        let (file, other) = (folder.path().join("a.toml"), folder.path().join("b.toml"));
        assert!(!is_trusted(&state, &file, "x = 1"));
        remember(&state, &file, "x = 1").unwrap();
        assert!(is_trusted(&state, &file, "x = 1"));
        assert!(!is_trusted(&state, &file, "x = 1\n"));
        assert!(!is_trusted(&state, &other, "x = 1"));
        assert_eq!(trusted_text(&state, &file).as_deref(), Some("x = 1"));
        assert!(revoke(&state, &file).unwrap() && !revoke(&state, &file).unwrap());
        assert!(!is_trusted(&state, &file, "x = 1"));
    }
}
