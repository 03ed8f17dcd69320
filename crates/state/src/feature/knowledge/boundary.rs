//! Notes of a session about its last compaction.
//!
//! Appended, and replaced by rename only when it has grown: replacing costs more than the rest of a hook. The last
//! whole line counts.

use std::fs;
use std::io;
use std::path::Path;

use tidegate_core::feature::knowledge::boundary::Boundary;

use crate::file::{append, bounded, replace};

const FILE: &str = "boundaries";

/// A longer file is replaced by its last line. A line has a few thousand bytes.
const LONG: u64 = 64 * 1024;

const LARGEST: u64 = 512 * 1024;

/// `None` if there is nothing readable.
pub fn read(session: &Path) -> Option<Boundary> {
    let bytes = bounded::read(&session.join(FILE), LARGEST).ok()?;
    bytes.split(|byte| *byte == b'\n').rev().find_map(|line| serde_json::from_slice(line).ok())
}

pub fn write(session: &Path, boundary: &Boundary) -> io::Result<()> {
    // The leading line break protects this line if a kill tore the last one.
    let line = format!("\n{}\n", serde_json::to_string(boundary)?);
    let path = session.join(FILE);
    if fs::metadata(&path).is_ok_and(|found| found.len() > LONG) {
        replace::copy(&path, line.as_bytes())
    } else {
        append::lines(&mut append::open(&path)?, &line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::time::Millis;

    fn noted(at: u64) -> Boundary {
        Boundary { noted: Millis(at), trigger: "auto".into(), ..Boundary::default() }
    }

    #[test]
    fn the_last_whole_line_counts_and_damage_is_nothing() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read(folder.path()), None);
        write(folder.path(), &noted(5)).unwrap();
        write(folder.path(), &noted(6)).unwrap();
        assert_eq!(read(folder.path()), Some(noted(6)));
        let path = folder.path().join(FILE);
        let bytes = fs::read(&path).unwrap();
        fs::write(&path, &bytes[..bytes.len() - 10]).unwrap();
        assert_eq!(read(folder.path()), Some(noted(5)), "a torn line");
        write(folder.path(), &noted(7)).unwrap();
        assert_eq!(read(folder.path()), Some(noted(7)), "after a torn one");
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert_eq!(read(folder.path()), None);
    }

    #[test]
    fn it_does_not_grow_for_ever() {
        let folder = tempfile::tempdir().unwrap();
        let long = Boundary { headings: vec!["x".repeat(3000)], ..noted(1) };
        for _ in 0..60 {
            write(folder.path(), &long).unwrap();
        }
        assert!(fs::metadata(folder.path().join(FILE)).unwrap().len() < LONG + 4000);
        assert_eq!(read(folder.path()), Some(long));
    }
}
