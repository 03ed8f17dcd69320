//! Copies of config files in private state: as a person trusted them, and as they last parsed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::file::{bounded, replace};
use crate::place::{StateDir, make_private};
use crate::session::claims;

/// Larger than the copy of any config file.
const LARGEST: u64 = 2 * 1024 * 1024;

/// The name of a folder of copies in private state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Copies(pub(crate) &'static str);

#[derive(Serialize, Deserialize)]
struct StoredCopy {
    /// Absolute.
    file: PathBuf,
    text: String,
}

impl Copies {
    pub(crate) fn read(self, state: &StateDir, file: &Path) -> Option<String> {
        let (file, slot) = self.slot(state, file);
        let copy: StoredCopy = serde_json::from_slice(&bounded::read(&slot, LARGEST).ok()?).ok()?;
        (copy.file == file).then_some(copy.text)
    }

    pub(crate) fn modified(self, state: &StateDir, file: &Path) -> Option<SystemTime> {
        fs::metadata(self.slot(state, file).1).and_then(|found| found.modified()).ok()
    }

    pub(crate) fn set_modified(self, state: &StateDir, file: &Path, time: SystemTime) -> io::Result<()> {
        fs::File::options().write(true).open(self.slot(state, file).1)?.set_modified(time)
    }

    /// Removes temporary files that killed processes left for this copy. A process that is writing it now fails, so
    /// this is only for copies that are tried again.
    pub(crate) fn remove_unfinished(self, state: &StateDir, file: &Path) {
        let slot = self.slot(state, file).1;
        let name = slot.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        for entry in fs::read_dir(state.root().join(self.0)).into_iter().flatten().flatten() {
            if entry.file_name().to_str().is_some_and(|found| replace::is_temporary(found, name)) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    pub(crate) fn write(self, state: &StateDir, file: &Path, text: &str) -> io::Result<()> {
        let (file, slot) = self.slot(state, file);
        make_private(&state.root().join(self.0))?;
        let json =
            serde_json::to_vec(&StoredCopy { file, text: text.to_owned() }).map_err(io::Error::other)?;
        replace::durable(&slot, &json)
    }

    /// Returns whether there was a copy.
    pub(crate) fn remove(self, state: &StateDir, file: &Path) -> io::Result<bool> {
        match fs::remove_file(self.slot(state, file).1) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The canonical path of the file, and the path of its copy.
    fn slot(self, state: &StateDir, file: &Path) -> (PathBuf, PathBuf) {
        let folder = file.parent().and_then(|folder| fs::canonicalize(folder).ok());
        let file = match (folder, file.file_name()) {
            (Some(folder), Some(name)) => folder.join(name),
            _ => file.to_owned(),
        };
        let name = format!("{:016x}.json", claims::hash_parts(&[&file.to_string_lossy()]));
        let slot = state.root().join(self.0).join(name);
        (file, slot)
    }
}
