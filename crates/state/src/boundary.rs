//! What a session knows about its last compaction: one small file, replaced as a whole.

use std::io;
use std::path::Path;

use tidegate_core::facts::boundary::Boundary;

use crate::{bounded, replace};

const FILE: &str = "boundary.json";

/// Forty facts of a line each are far less.
const LARGEST: u64 = 256 * 1024;

/// What was noted last; `None` where there is nothing that can be read.
pub fn read(session: &Path) -> Option<Boundary> {
    serde_json::from_slice(&bounded::read(&session.join(FILE), LARGEST).ok()?).ok()
}

/// Notes it.
pub fn write(session: &Path, boundary: &Boundary) -> io::Result<()> {
    replace::copy(&session.join(FILE), &serde_json::to_vec(boundary)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use tidegate_core::time::Millis;

    #[test]
    fn what_is_noted_is_read_and_damage_is_nothing() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read(folder.path()), None);
        let boundary = Boundary { noted: Millis(5), trigger: "auto".into(), ..Boundary::default() };
        write(folder.path(), &boundary).unwrap();
        assert_eq!(read(folder.path()), Some(boundary));
        let path = folder.path().join(FILE);
        let bytes = fs::read(&path).unwrap();
        fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
        assert_eq!(read(folder.path()), None);
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert_eq!(read(folder.path()), None);
    }
}
