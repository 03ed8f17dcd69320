//! Replaces a file by writing a new one next to it and renaming that. Readers see the old or the new content, never
//! half of it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// For copies that can be made again. No `fsync`: after a power cut the old content may be back.
pub fn copy(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let (temporary, mut file) = create_temporary(path, 0o600)?;
    let written = file.write_all(bytes).and_then(|()| rename_with_retries(&temporary, path));
    if written.is_err() {
        drop(fs::remove_file(&temporary));
    }
    written
}

/// For files that a person could not recreate: the new content is on disk before the old one is gone. Follows a
/// symbolic link, so that a file kept elsewhere stays there, and keeps the file's mode.
pub fn durable(path: &Path, bytes: &[u8]) -> io::Result<()> {
    durable_if(path, bytes, |_| Ok(()))
}

/// Like [`durable`], but a new file is for its owner alone.
pub fn durable_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_durably(path, bytes, 0o600, |_| Ok(()))
}

/// Calls `check` when the new content is on disk and only the rename is left.
pub fn durable_if(path: &Path, bytes: &[u8], check: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
    write_durably(path, bytes, 0o644, check)
}

/// `mode` is for a new file.
fn write_durably(
    path: &Path,
    bytes: &[u8],
    mode: u32,
    check: impl FnOnce(&Path) -> io::Result<()>,
) -> io::Result<()> {
    let path = &fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let (temporary, mut file) = create_temporary(path, mode)?;
    let written = (|| {
        if let Ok(old) = fs::metadata(path) {
            file.set_permissions(old.permissions())?;
        }
        file.write_all(bytes)?;
        file.sync_all()?;
        check(path)?;
        rename_with_retries(&temporary, path)?;
        match path.parent() {
            #[cfg(unix)]
            Some(folder) => File::open(folder)?.sync_all(),
            _ => Ok(()),
        }
    })();
    if written.is_err() {
        drop(fs::remove_file(&temporary));
    }
    written
}

/// Whether this is the name of a temporary file for `name`, left by a killed process.
pub(crate) fn is_temporary(file: &str, name: &str) -> bool {
    let numbers = file
        .strip_prefix('.')
        .and_then(|rest| rest.strip_prefix(name)?.strip_prefix('.')?.strip_suffix(".tmp"));
    numbers.and_then(|numbers| numbers.split_once('.')).is_some_and(|(process, count)| {
        [process, count]
            .iter()
            .all(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
    })
}

/// Gives the file the first free name, or one whose file has the same content already (`is_kept`). Links the file, so
/// that the old name stays; renames it on file systems without links.
pub(crate) fn keep_as(
    path: &Path,
    names: impl Iterator<Item = PathBuf>,
    is_kept: impl Fn(&Path) -> bool,
) -> io::Result<PathBuf> {
    for name in names {
        // Unlike a rename, a link never replaces a file.
        match fs::hard_link(path, &name) {
            Ok(()) => return Ok(name),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && is_kept(&name) => return Ok(name),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(_) if fs::symlink_metadata(&name).is_err() => {
                fs::rename(path, &name)?;
                return Ok(name);
            }
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("too many files were put aside already"))
}

/// Always a new file: in a folder that others can write, an existing one could be a link to anywhere.
fn create_temporary(path: &Path, mode: u32) -> io::Result<(PathBuf, File)> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let name = path.file_name().ok_or_else(|| io::Error::other("no file name"))?.to_string_lossy();
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    #[cfg(not(unix))]
    let _ = mode;
    loop {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let temporary = path.with_file_name(format!(".{name}.{}.{count}.tmp", std::process::id()));
        match options.open(&temporary) {
            // Left by a killed process with the same id, or planted.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && count < 1000 => {}
            opened => return Ok((temporary, opened?)),
        }
    }
}

/// On Windows a rename fails while a reader has the old file open.
fn rename_with_retries(from: &Path, to: &Path) -> io::Result<()> {
    let mut tries = if cfg!(windows) { 5 } else { 1 };
    loop {
        tries -= 1;
        match fs::rename(from, to) {
            Err(error) if tries > 0 && error.kind() == io::ErrorKind::PermissionDenied => {
                std::thread::sleep(std::time::Duration::from_millis(2));
            }
            done => return done,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_but_the_file_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.json");
        copy(&path, b"one").unwrap();
        durable(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        let refused = durable_if(&path, b"three", |_| Err(io::Error::other("no")));
        assert_eq!(refused.unwrap_err().to_string(), "no");
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        let (left, _) = create_temporary(&path, 0o600).unwrap();
        let left = left.file_name().unwrap().to_str().unwrap();
        assert!(
            is_temporary(left, "x.json") && !is_temporary(left, "x") && !is_temporary("x.json", "x.json")
        );
        assert!(!is_temporary(".x.json.mine.0.tmp", "x.json"));
        assert!(copy(&folder.path().join("no/such/folder"), b"x").is_err());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_in_place_of_the_temporary_file_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (path, victim) = (folder.path().join("x.json"), folder.path().join("victim"));
        fs::write(&victim, b"precious").unwrap();
        for count in 0..50 {
            let trap = folder.path().join(format!(".x.json.{}.{count}.tmp", std::process::id()));
            std::os::unix::fs::symlink(&victim, trap).unwrap();
        }
        copy(&path, b"new").unwrap();
        assert_eq!(fs::read(&victim).unwrap(), b"precious");
        assert_eq!(fs::read(&path).unwrap(), b"new");
    }

    #[cfg(unix)]
    #[test]
    fn a_linked_file_stays_where_it_is() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real"), folder.path().join("link"));
        fs::write(&real, b"old").unwrap();
        fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        durable(&link, b"new").unwrap();
        assert_eq!(fs::read(&real).unwrap(), b"new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&real), 0o640);
        durable_private(&real, b"newer").unwrap();
        assert_eq!(mode(&real), 0o640, "only a new file gets a mode");
        let new = folder.path().join("new");
        durable_private(&new, b"x").unwrap();
        assert_eq!(mode(&new), 0o600);
    }
}
