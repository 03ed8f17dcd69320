//! A file that an install reads or writes.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::CliError;
use crate::json_text::{Fault, fault_at};
use crate::path::real_path;
#[cfg(unix)]
use crate::shell::quote_path;

/// A file by its shown and its real path.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) shown: PathBuf,
    pub(crate) file: PathBuf,
}

impl Place {
    /// For a file with one path only.
    pub(crate) fn plain(file: PathBuf) -> Place {
        Place { shown: file.clone(), file }
    }

    /// `None` if there is no file.
    pub(crate) fn read(&self) -> Result<Option<String>, CliError> {
        let shown = self.shown.display();
        let bytes =
            match fs::metadata(&self.file) {
                Ok(found) if !found.is_file() => {
                    return Err(CliError::new(format!("{shown} is not a file"))
                        .hint("move it away; nothing was changed"));
                }
                Ok(_) => fs::read(&self.file).map_err(|error| self.failed(&error))?,
                Err(error) if is_missing(&error) => {
                    if let Ok(end) = fs::read_link(&self.file) {
                        let what = format!("{shown} is a link to {}, which is not there", end.display());
                        return Err(CliError::new(what)
                            .hint("make that file or remove the link; nothing was changed"));
                    }
                    return Ok(None);
                }
                Err(error) => return Err(self.failed(&error)),
            };
        String::from_utf8(bytes).map(Some).map_err(|error| {
            let valid = error.utf8_error().valid_up_to();
            let text = String::from_utf8_lossy(&error.as_bytes()[..valid]).into_owned();
            self.refused(
                &fault_at(&text, text.len(), "not UTF-8"),
                "save it as UTF-8, then run this again; nothing was changed",
            )
        })
    }

    pub(crate) fn is_link(&self) -> bool {
        fs::symlink_metadata(&self.file).is_ok_and(|found| found.is_symlink())
    }

    /// Refuses a folder that cannot be written, before anything is done.
    pub(crate) fn check_folder(&self) -> Result<(), CliError> {
        check_folder(&self.file)
    }

    /// Refuses a file that its owner made read-only, although replacing it would work.
    pub(crate) fn check_writable(&self) -> Result<(), CliError> {
        // A link's target is replaced in place.
        check_folder(&real_path(&self.file))?;
        let locked = fs::metadata(&self.file).is_ok_and(|found| found.permissions().readonly());
        let shown = self.shown.display();
        if locked {
            let cure =
                format!("make it writable (`chmod u+w {shown}`), then run this again; nothing was changed");
            return Err(CliError::new(format!("{shown} is read-only")).hint(cure));
        }
        Ok(())
    }

    pub(crate) fn failed(&self, error: &io::Error) -> CliError {
        CliError::new(format!("{}: {error}", self.shown.display()))
    }

    pub(crate) fn refused(&self, fault: &Fault, hint: &str) -> CliError {
        let Fault { line, column, what } = fault;
        CliError::new(format!("{}:{line}:{column}: {what}", self.shown.display())).hint(hint)
    }
}

fn check_folder(file: &Path) -> Result<(), CliError> {
    // A link to nothing: a folder can be made neither there nor in its place.
    let dangling = |path: &&Path| path.is_symlink() && !path.exists();
    if let Some(link) = file.ancestors().skip(1).find(dangling) {
        let end = fs::read_link(link).unwrap_or_default();
        let what = format!("{} is a link to {}, which is not there", link.display(), end.display());
        return Err(CliError::new(what).hint("make that folder or remove the link; nothing was changed"));
    }
    let Some(above) = file.ancestors().skip(1).find(|folder| folder.exists()) else { return Ok(()) };
    if !above.is_dir() {
        let what = format!("{} is not a folder", above.display());
        return Err(CliError::new(what).hint("move it away; nothing was changed"));
    }
    if let Some(cure) = lock_of(above) {
        let what = format!("nothing can be written in {}", above.display());
        return Err(CliError::new(what).hint(format!("{cure}, then run this again; nothing was changed")));
    }
    Ok(())
}

/// The command that makes a folder writable, if it is not.
#[cfg(unix)]
fn lock_of(folder: &Path) -> Option<String> {
    use rustix::fs::Access;
    use std::os::unix::fs::MetadataExt;

    let found = fs::metadata(folder).ok()?;
    let access = rustix::fs::access(folder, Access::WRITE_OK | Access::EXEC_OK);
    if access.is_ok() && !found.permissions().readonly() {
        return None;
    }
    Some(match access {
        Err(rustix::io::Errno::ROFS) => "make its file system writable".to_owned(),
        _ if found.uid() == rustix::process::geteuid().as_raw() => {
            format!("`chmod u+wx {}`", quote_path(folder))
        }
        _ => "have its owner give you the right to".to_owned(),
    })
}

#[cfg(not(unix))]
fn lock_of(_: &Path) -> Option<String> {
    None
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
