//! Whole copies of config files in private state: as a person trusted them, and as they could last be read.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::file::{bounded, replace};
use crate::place::{StateDir, make_private};
use crate::session::claims;

/// A config file is smaller, and so is its copy here.
const LARGEST: u64 = 2 * 1024 * 1024;

/// A folder of copies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Copies(pub(crate) &'static str);

#[derive(Serialize, Deserialize)]
struct Copy {
    /// The file, as an absolute path.
    file: PathBuf,
    /// What it said.
    text: String,
}

impl Copies {
    pub(crate) fn read(self, state: &StateDir, file: &Path) -> Option<String> {
        let (file, slot) = self.slot(state, file);
        let copy: Copy = serde_json::from_slice(&bounded::read(&slot, LARGEST).ok()?).ok()?;
        (copy.file == file).then_some(copy.text)
    }

    /// The time that the copy was given.
    pub(crate) fn time(self, state: &StateDir, file: &Path) -> Option<SystemTime> {
        fs::metadata(self.slot(state, file).1).and_then(|found| found.modified()).ok()
    }

    pub(crate) fn set_time(self, state: &StateDir, file: &Path, time: SystemTime) -> io::Result<()> {
        fs::File::options().write(true).open(self.slot(state, file).1)?.set_modified(time)
    }

    /// Removes what a killed process left when it wrote this copy. One that is writing it now fails, so this is only for copies
    /// that are tried again.
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
        let json = serde_json::to_vec(&Copy { file, text: text.to_owned() }).map_err(io::Error::other)?;
        replace::durable(&slot, &json)
    }

    /// Tells whether there was one.
    pub(crate) fn remove(self, state: &StateDir, file: &Path) -> io::Result<bool> {
        match fs::remove_file(self.slot(state, file).1) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The file's true path, and where its copy is.
    fn slot(self, state: &StateDir, file: &Path) -> (PathBuf, PathBuf) {
        let folder = file.parent().and_then(|folder| fs::canonicalize(folder).ok());
        let file = match (folder, file.file_name()) {
            (Some(folder), Some(name)) => folder.join(name),
            _ => file.to_owned(),
        };
        let name = format!("{:016x}.json", claims::hash(&[&file.to_string_lossy()]));
        let slot = state.root().join(self.0).join(name);
        (file, slot)
    }
}
