//! Finds transcripts in files and folders.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tidegate_core::time::Millis;

/// Deeper than any host nests them.
const DEEPEST: usize = 8;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TranscriptFile {
    /// First, so that a conversation comes before its forks.
    pub changed: Millis,
    pub path: PathBuf,
    pub bytes: u64,
}

#[derive(Debug, Default)]
pub struct FoundTranscripts {
    pub files: Vec<TranscriptFile>,
    /// Folders below, and why they were left out.
    pub unreadable: Vec<(PathBuf, io::Error)>,
}

/// As [`find_readable`], without the folders that were left out.
pub fn find(path: &Path) -> io::Result<Vec<TranscriptFile>> {
    find_readable(path).map(|found| found.files)
}

/// A file as it is; of a folder all `.jsonl` files in it and below, without following links.
pub fn find_readable(path: &Path) -> io::Result<FoundTranscripts> {
    let found = fs::metadata(path)?;
    let mut transcripts = FoundTranscripts::default();
    if !found.is_dir() {
        transcripts.files.push(describe(path, &found));
        return Ok(transcripts);
    }
    let mut folders = vec![(path.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if depth == 0 => return Err(error),
            Err(error) => {
                transcripts.unreadable.push((folder, error));
                continue;
            }
        };
        for entry in entries.flatten() {
            let Ok(kind) = entry.file_type() else { continue };
            let path = entry.path();
            if kind.is_dir() && depth < DEEPEST {
                folders.push((path, depth + 1));
            } else if kind.is_file()
                && path.extension().is_some_and(|extension| extension == "jsonl")
                && let Ok(found) = entry.metadata()
            {
                transcripts.files.push(describe(&path, &found));
            }
        }
    }
    transcripts.files.sort();
    Ok(transcripts)
}

fn describe(path: &Path, found: &fs::Metadata) -> TranscriptFile {
    let changed = found.modified().ok().and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
    TranscriptFile {
        changed: Millis(changed.map_or(0, |at| at.as_millis() as u64)),
        path: path.to_owned(),
        bytes: found.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transcripts_are_found_below_and_links_are_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let below = folder.path().join("2026/11");
        fs::create_dir_all(&below).unwrap();
        fs::write(folder.path().join("a.jsonl"), "x").unwrap();
        fs::write(below.join("b.jsonl"), "xy").unwrap();
        fs::write(below.join("notes.md"), "x").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(folder.path(), below.join("again")).unwrap();
        let mut names: Vec<(String, u64)> = find(folder.path())
            .unwrap()
            .iter()
            .map(|file| (file.path.file_name().unwrap().to_string_lossy().into_owned(), file.bytes))
            .collect();
        names.sort();
        assert_eq!(names, [("a.jsonl".to_owned(), 1), ("b.jsonl".to_owned(), 2)]);
        assert_eq!(find(&below.join("notes.md")).unwrap().len(), 1, "a person named it");
        assert!(find(&below.join("missing")).is_err());
    }
}
