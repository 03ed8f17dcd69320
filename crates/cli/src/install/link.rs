//! The stable link to this program. Settings call the link, so that an upgrade leaves no stale path in them.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Prefers the entry on `path` that is this very program, since that survives an upgrade if a package manager keeps
/// versions in separate folders; otherwise the program itself.
pub(crate) fn choose_target(program: &Path, path: Option<&OsStr>, link: &Path) -> PathBuf {
    let name = program.file_name().unwrap_or_default();
    let named = [OsStr::new("tidegate"), name];
    path.into_iter()
        .flat_map(std::env::split_paths)
        .filter(|folder| folder.is_absolute())
        .flat_map(|folder| named.map(|name| folder.join(name)))
        .find(|entry| {
            fs::canonicalize(entry).is_ok_and(|found| found == program) && !leads_through(entry, link)
        })
        .unwrap_or_else(|| program.to_owned())
}

/// The link must not lead to itself.
fn leads_through(entry: &Path, link: &Path) -> bool {
    let place = |path: &Path| Some((fs::canonicalize(path.parent()?).ok()?, path.file_name()?.to_owned()));
    let mut at = entry.to_owned();
    for _ in 0..40 {
        if place(&at).is_some() && place(&at) == place(link) {
            return true;
        }
        match (fs::read_link(&at), at.parent()) {
            (Ok(next), Some(folder)) => at = folder.join(next),
            _ => return false,
        }
    }
    true
}

#[derive(Debug, PartialEq)]
pub(crate) enum Now {
    Nothing,
    /// A link that leads here.
    To(PathBuf),
    /// This program itself, put there by its installer.
    Program,
    /// Not to be replaced.
    Other,
}

pub(crate) fn read_place(link: &Path, program: &Path) -> Now {
    match fs::symlink_metadata(link) {
        Err(_) => Now::Nothing,
        Ok(found) if found.is_symlink() => fs::read_link(link).map_or(Now::Other, Now::To),
        Ok(_) if fs::canonicalize(link).is_ok_and(|found| found == program) => Now::Program,
        Ok(_) => Now::Other,
    }
}

/// Replaces it by rename, so that there is always one.
#[cfg(unix)]
pub(crate) fn make_link(link: &Path, target: &Path) -> io::Result<()> {
    let folder = link.parent().ok_or_else(|| io::Error::other("no folder"))?;
    fs::create_dir_all(folder)?;
    let temporary = folder.join(format!(".tidegate.{}.tmp", std::process::id()));
    // Left by a killed process with the same id.
    let _ = fs::remove_file(&temporary);
    std::os::unix::fs::symlink(target, &temporary)?;
    fs::rename(&temporary, link).inspect_err(|_| drop(fs::remove_file(&temporary)))
}

#[cfg(not(unix))]
pub(crate) fn make_link(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::Error::from(io::ErrorKind::Unsupported))
}

/// `npx`, `pnpm dlx` and `bunx` run it from there, and clear that folder when they like.
pub(crate) fn is_in_npm_cache(program: &Path) -> bool {
    let names = program.components().filter_map(|part| part.as_os_str().to_str());
    names.into_iter().any(|name| name == "_npx" || name == "dlx" || name.starts_with("bunx-"))
}

/// Where a program that would not stay is copied to.
pub(crate) fn place_of_copy(link: &Path) -> Option<PathBuf> {
    Some(link.parent()?.parent()?.join("program").join(link.file_name()?))
}

/// Replaces it by rename: hooks may start it at any time.
pub(crate) fn copy_program(from: &Path, to: &Path) -> io::Result<()> {
    let folder = to.parent().ok_or_else(|| io::Error::other("no folder"))?;
    fs::create_dir_all(folder)?;
    let temporary = folder.join(format!(".tidegate.{}.0.tmp", std::process::id()));
    fs::copy(from, &temporary)
        .and_then(|_| fs::File::open(&temporary)?.sync_all())
        .and_then(|()| fs::rename(&temporary, to))
        .inspect_err(|_| drop(fs::remove_file(&temporary)))
}

/// `cargo clean` would delete it.
pub(crate) fn is_build(program: &Path) -> bool {
    program.parent().is_some_and(|folder| folder.join(".fingerprint").is_dir())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn caches_of_package_runners_are_known() {
        for cached in
            ["/h/.npm/_npx/1a/node_modules/p/bin/t", "/h/.cache/pnpm/dlx/1a/t", "/tmp/bunx-0-p@latest/t"]
        {
            assert!(is_in_npm_cache(Path::new(cached)), "{cached}");
        }
        assert!(!is_in_npm_cache(Path::new("/usr/lib/node_modules/tidegate-linux-x64/bin/tidegate")));
    }

    #[test]
    fn the_entry_on_the_path_counts_unless_it_is_the_link_again() {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        let at = |path: &str| root.join(path);
        for name in ["cellar/1.0", "brew", "bin", "share", "other"] {
            fs::create_dir_all(at(name)).unwrap();
        }
        let (program, link) = (at("cellar/1.0/tidegate"), at("share/tidegate"));
        fs::write(&program, "").unwrap();
        fs::write(at("other/tidegate"), "").unwrap();
        let target = |path: &[&str]| {
            let path = std::env::join_paths(path.iter().map(|folder| at(folder))).unwrap();
            choose_target(&program, Some(&path), &link)
        };
        assert_eq!(target(&["other", "bin"]), program);
        symlink("../cellar/1.0/tidegate", at("brew/tidegate")).unwrap();
        assert_eq!(target(&["other", "brew"]), at("brew/tidegate"));
        assert_eq!(read_place(&link, &program), Now::Nothing);
        make_link(&link, &at("brew/tidegate")).unwrap();
        symlink(&link, at("bin/tidegate")).unwrap();
        assert_eq!(target(&["share", "bin"]), program, "both are the link itself");
        assert_eq!(target(&["share", "bin", "brew"]), at("brew/tidegate"));
        make_link(&link, &program).unwrap();
        assert_eq!(read_place(&link, &program), Now::To(program.clone()));
        assert_eq!(read_place(&program, &program), Now::Program);
        assert_eq!(read_place(&at("other/tidegate"), &program), Now::Other);
        assert_eq!(fs::read_dir(at("share")).unwrap().count(), 1);
    }
}
