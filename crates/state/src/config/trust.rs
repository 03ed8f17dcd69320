//! Which project files a person trusts: kept whole in private state, so that any change revokes it, and so that a change
//! can be shown. (A hash would tell the same with less; what changed it could not tell.)

use std::io;
use std::path::Path;

use crate::config::copies::Copies;
use crate::place::StateDir;

const COPIES: Copies = Copies("trust");

/// Whether a person trusted this file with exactly this text.
pub fn is_trusted(state: &StateDir, file: &Path, text: &str) -> bool {
    trusted_text(state, file).is_some_and(|trusted| trusted == text)
}

/// What of this file was trusted last.
pub fn trusted_text(state: &StateDir, file: &Path) -> Option<String> {
    COPIES.read(state, file)
}

/// Trusts a file as it is now.
pub fn remember(state: &StateDir, file: &Path, text: &str) -> io::Result<()> {
    COPIES.write(state, file, text)
}

/// Trusts it no more. Tells whether it was trusted.
pub fn revoke(state: &StateDir, file: &Path) -> io::Result<bool> {
    COPIES.remove(state, file)
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
