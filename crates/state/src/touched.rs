//! Files that a call writes: whether they belong to the project, and whether they changed.

use std::fs;
use std::path::{Component, Path, PathBuf};
use std::time::UNIX_EPOCH;

use tidegate_core::time::Millis;

use crate::project;

/// The path below the root it belongs to, with `/`; `None` outside all of them. A worktree of the same repository belongs
/// to it, too.
pub fn inside(path: &Path, roots: &[PathBuf]) -> Option<String> {
    let path = without_dots(path);
    let below =
        |path: &Path, root: &Path| path.strip_prefix(root).ok().map(slashed).filter(|rest| !rest.is_empty());
    if let Some(rest) = roots.iter().find_map(|root| below(&path, root)) {
        return Some(rest);
    }
    // The same place may have two names: a link above it, or a folder that is one.
    let real = real(&path)?;
    let real_roots = roots.iter().filter_map(|root| fs::canonicalize(root).ok());
    real_roots
        .into_iter()
        .find_map(|root| below(&real, &root))
        .or_else(|| below(&real, &project::worktree_of(&real, roots.first()?)?))
}

/// When a file was last written, or put there with an older time on it (`mv`, `cp -p`).
pub fn changed_at(path: &Path) -> Option<Millis> {
    let file = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    let written = file.modified().ok()?.duration_since(UNIX_EPOCH).ok()?.as_millis() as u64;
    #[cfg(unix)]
    let put = {
        use std::os::unix::fs::MetadataExt;
        u64::try_from(file.ctime() * 1000 + file.ctime_nsec() / 1_000_000).unwrap_or_default()
    };
    #[cfg(not(unix))]
    let put = 0;
    Some(Millis(written.max(put)))
}

/// The path with the part that is there resolved.
fn real(path: &Path) -> Option<PathBuf> {
    path.ancestors().find_map(|above| {
        let found = fs::canonicalize(above).ok()?;
        Some(found.join(path.strip_prefix(above).ok()?))
    })
}

/// `a/../b` is `b`. As the host's tools read it, not as the system would through a link.
pub fn without_dots(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(clean.pop()),
            Component::CurDir => {}
            part => clean.push(part),
        }
    }
    clean
}

fn slashed(path: &Path) -> String {
    path.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn inside_is_told_by_where_a_path_leads() {
        let folder = tempfile::tempdir().unwrap();
        let base = fs::canonicalize(folder.path()).unwrap();
        fs::create_dir_all(base.join("p/src")).unwrap();
        fs::create_dir_all(base.join("q")).unwrap();
        symlink(base.join("p"), base.join("alias")).unwrap();
        let roots = [base.join("p")];
        let inside = |path: &str| inside(&base.join(path), &roots);
        assert_eq!(inside("p/src/a.rs").as_deref(), Some("src/a.rs"));
        assert_eq!(inside("p/new/folder/a.rs").as_deref(), Some("new/folder/a.rs"));
        assert_eq!(inside("p/src/../b.rs").as_deref(), Some("b.rs"));
        assert_eq!(inside("alias/src/a.rs").as_deref(), Some("src/a.rs"));
        for outside in ["q/a.rs", "p", "p/../q/a.rs", "pp/a.rs", "nowhere/a.rs"] {
            assert_eq!(inside(outside), None, "{outside}");
        }
    }

    #[test]
    fn a_file_with_an_old_time_was_put_there_now() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.rs");
        fs::write(&file, "x").unwrap();
        let now = changed_at(&file).unwrap();
        let old = UNIX_EPOCH + std::time::Duration::from_secs(5);
        fs::File::options().write(true).open(&file).unwrap().set_modified(old).unwrap();
        assert!(changed_at(&file).unwrap() >= now);
        assert_eq!(changed_at(folder.path()), None);
        assert_eq!(changed_at(&folder.path().join("none")), None);
    }
}
