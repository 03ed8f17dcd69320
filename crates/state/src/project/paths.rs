//! Paths of a call: whether they are in the project, and when the files changed.

use std::fs;
use std::path::{Component, Path, PathBuf};
use std::time::UNIX_EPOCH;

use tidegate_core::time::Millis;

use crate::project;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inside {
    pub root: PathBuf,
    /// With `/` as separator.
    pub below: String,
}

impl Inside {
    /// Relative if it is below `home`, else absolute.
    pub fn name(&self, home: &Path) -> String {
        let same = |one: &Path, other: &Path| {
            one == other
                || fs::canonicalize(one)
                    .is_ok_and(|one| fs::canonicalize(other).is_ok_and(|other| one == other))
        };
        if same(&self.root, home) {
            return self.below.clone();
        }
        let whole = self.root.join(&self.below);
        match whole.strip_prefix(home) {
            Ok(below) => join_with_slashes(below),
            Err(_) => whole.to_string_lossy().into_owned(),
        }
    }
}

/// `None` outside of all roots. Another worktree of the same repository counts as inside.
pub fn locate(path: &Path, roots: &[PathBuf]) -> Option<Inside> {
    let path = remove_dots(path);
    let below = |path: &Path, root: &Path| {
        let below = path.strip_prefix(root).ok().map(join_with_slashes).filter(|rest| !rest.is_empty())?;
        Some(Inside { root: root.to_owned(), below })
    };
    if let Some(found) = roots.iter().find_map(|root| below(&path, root)) {
        return Some(found);
    }
    // The same folder may have two names through links.
    let real = resolve(&path)?;
    let real_roots = roots.iter().filter_map(|root| fs::canonicalize(root).ok());
    real_roots
        .into_iter()
        .find_map(|root| below(&real, &root))
        .or_else(|| below(&real, &project::worktree_of(&real, roots.first()?)?))
}

/// Last modification, or the move or copy that put the file there with an older time (`mv`, `cp -p`).
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

/// Resolves the existing part of the path.
pub fn resolve(path: &Path) -> Option<PathBuf> {
    path.ancestors().find_map(|above| {
        let found = fs::canonicalize(above).ok()?;
        Some(found.join(path.strip_prefix(above).ok()?))
    })
}

/// `a/../b` becomes `b`: as the host's tools read it, not as the system would through a link.
pub fn remove_dots(path: &Path) -> PathBuf {
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

fn join_with_slashes(path: &Path) -> String {
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
        let inside = |path: &str| locate(&base.join(path), &roots).map(|found| found.below);
        assert_eq!(inside("p/src/a.rs").as_deref(), Some("src/a.rs"));
        assert_eq!(inside("p/new/folder/a.rs").as_deref(), Some("new/folder/a.rs"));
        assert_eq!(inside("p/src/../b.rs").as_deref(), Some("b.rs"));
        assert_eq!(inside("alias/src/a.rs").as_deref(), Some("src/a.rs"));
        for outside in ["q/a.rs", "p", "p/../q/a.rs", "pp/a.rs", "nowhere/a.rs"] {
            assert_eq!(inside(outside), None, "{outside}");
        }
    }

    #[test]
    fn a_name_tells_the_root_unless_it_is_ones_own() {
        let folder = tempfile::tempdir().unwrap();
        let base = fs::canonicalize(folder.path()).unwrap();
        for root in ["p/tree", "q"] {
            fs::create_dir_all(base.join(root)).unwrap();
        }
        symlink(base.join("p"), base.join("alias")).unwrap();
        let name = |path: &str, roots: &[&str], home: &str| {
            let roots: Vec<PathBuf> = roots.iter().map(|root| base.join(root)).collect();
            locate(&base.join(path), &roots).unwrap().name(&base.join(home))
        };
        assert_eq!(name("p/a.rs", &["p", "q"], "p"), "a.rs");
        assert_eq!(name("p/a.rs", &["alias", "q"], "alias"), "a.rs");
        assert_eq!(name("alias/a.rs", &["p"], "p"), "a.rs");
        assert_eq!(name("q/a.rs", &["p", "q"], "p"), base.join("q/a.rs").to_str().unwrap());
        assert_eq!(name("p/tree/a.rs", &["p/tree", "p"], "p/tree"), "a.rs");
        assert_eq!(name("p/tree/a.rs", &["p/tree", "p"], "p"), "tree/a.rs");
        assert_eq!(name("p/a.rs", &["p/tree", "p"], "p/tree"), base.join("p/a.rs").to_str().unwrap());
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
