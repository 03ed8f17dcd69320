//! Project files that a person trusts. Their text is kept whole: any change revokes trust, and a change can be shown,
//! which a hash could not do.

use std::io;
use std::path::Path;

use crate::config::copies::Copies;
use crate::place::StateDir;

const COPIES: Copies = Copies("trust");

/// Trusted with exactly this text.
pub fn is_trusted(state: &StateDir, file: &Path, text: &str) -> bool {
    trusted_text(state, file).is_some_and(|trusted| trusted == text)
}

/// The text that was last trusted.
pub fn trusted_text(state: &StateDir, file: &Path) -> Option<String> {
    COPIES.read(state, file)
}

pub fn remember(state: &StateDir, file: &Path, text: &str) -> io::Result<()> {
    COPIES.write(state, file, text)
}

/// Returns whether it was trusted.
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
