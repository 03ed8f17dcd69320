//! A file that an install reads or writes.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::bilingual::{Bilingual, both};
use crate::config_words::describe_file_fault;
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
        let bytes = match fs::metadata(&self.file) {
            Ok(found) if !found.is_file() => {
                return Err(CliError::new(both!(
                    "{shown} is not a file",
                    "{shown} はファイルではありません"
                ))
                .hint(move_away()));
            }
            Ok(_) => fs::read(&self.file).map_err(|error| self.failed(&error))?,
            Err(error) if is_missing(&error) => {
                if let Ok(end) = fs::read_link(&self.file) {
                    return Err(dangling_link(&self.shown, &end));
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
                both!(
                    "save it as UTF-8, then run this again; nothing was changed",
                    "UTF-8 で保存して、もう一度実行してください。何も変更していません"
                ),
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
        if self.file.is_symlink() && !self.file.exists() {
            return Err(dangling_link(&self.shown, &fs::read_link(&self.file).unwrap_or_default()));
        }
        // A link's target is replaced in place.
        check_folder(&real_path(&self.file))?;
        let locked = fs::metadata(&self.file).is_ok_and(|found| found.permissions().readonly());
        let shown = self.shown.display();
        if locked {
            return Err(CliError::new(both!("{shown} is read-only", "{shown} は読み取り専用です")).hint(both!(
                "make it writable (`chmod u+w {shown}`), then run this again; nothing was changed",
                "書き込めるようにして（`chmod u+w {shown}`）、もう一度実行してください。何も変更していません"
            )));
        }
        Ok(())
    }

    pub(crate) fn failed(&self, error: &io::Error) -> CliError {
        CliError::new(format!("{}: {error}", self.shown.display()))
    }

    pub(crate) fn refused(&self, fault: &Fault, hint: Bilingual) -> CliError {
        let Fault { line, column, what } = fault;
        let (place, what) = (format!("{}:{line}:{column}", self.shown.display()), describe_file_fault(what));
        CliError::new(both!("{place}: {en}", "{place}: {ja}", en = what.en, ja = what.ja)).hint(hint)
    }
}

fn check_folder(file: &Path) -> Result<(), CliError> {
    // A link to nothing: a folder can be made neither there nor in its place.
    let dangling = |path: &&Path| path.is_symlink() && !path.exists();
    if let Some(link) = file.ancestors().skip(1).find(dangling) {
        let end = fs::read_link(link).unwrap_or_default();
        return Err(dangling_link(link, &end));
    }
    let Some(above) = file.ancestors().skip(1).find(|folder| folder.exists()) else { return Ok(()) };
    if !above.is_dir() {
        let what =
            both!("{above} is not a folder", "{above} はフォルダではありません", above = above.display());
        return Err(CliError::new(what).hint(move_away()));
    }
    if let Some(Bilingual { en, ja }) = lock_of(above) {
        let what = both!("{above} cannot be written", "{above} に書き込めません", above = above.display());
        return Err(CliError::new(what).hint(both!(
            "{en}, then run this again; nothing was changed",
            "{ja}、もう一度実行してください。何も変更していません"
        )));
    }
    Ok(())
}

fn dangling_link(link: &Path, end: &Path) -> CliError {
    CliError::new(both!(
        "{link} is a link to {end}, which does not exist",
        "{link} は、存在しない {end} へのリンクです",
        link = link.display(),
        end = end.display()
    ))
    .hint(both!(
        "create {end} or remove the link, then run this again; nothing was changed",
        "{end} を作るかリンクを消して、もう一度実行してください。何も変更していません",
        end = end.display()
    ))
}

fn move_away() -> Bilingual {
    both!(
        "move it away, then run this again; nothing was changed",
        "別の場所へ移して、もう一度実行してください。何も変更していません"
    )
}

/// How to make a folder writable, if it is not.
#[cfg(unix)]
fn lock_of(folder: &Path) -> Option<Bilingual> {
    use rustix::fs::Access;
    use std::os::unix::fs::MetadataExt;

    let found = fs::metadata(folder).ok()?;
    let access = rustix::fs::access(folder, Access::WRITE_OK | Access::EXEC_OK);
    if access.is_ok() && !found.permissions().readonly() {
        return None;
    }
    Some(match access {
        Err(rustix::io::Errno::ROFS) => {
            both!("make its file system writable", "ファイルシステムを書き込めるようにして")
        }
        _ if found.uid() == rustix::process::geteuid().as_raw() => {
            both!(
                "run `chmod u+wx {folder}`",
                "`chmod u+wx {folder}` を実行して",
                folder = quote_path(folder)
            )
        }
        _ => both!("ask its owner for write access", "所有者に書き込み権限をもらって"),
    })
}

#[cfg(not(unix))]
fn lock_of(_: &Path) -> Option<Bilingual> {
    None
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
