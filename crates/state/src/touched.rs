//! Files that a call writes: whether they belong to the project, and whether they changed.

use std::fs;
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use tidegate_core::time::Millis;

use crate::project;

/// Where a path is in the project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inside {
    /// The root that it is in.
    pub root: PathBuf,
    /// The path below that, with `/`.
    pub below: String,
}

impl Inside {
    /// What the path is called by those who work in `home`: relative where it is below that, else whole.
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
            Ok(below) => slashed(below),
            Err(_) => whole.to_string_lossy().into_owned(),
        }
    }
}

/// Where a path is; `None` outside all roots. A worktree of the same repository belongs to it, too.
pub fn inside(path: &Path, roots: &[PathBuf]) -> Option<Inside> {
    let path = without_dots(path);
    let below = |path: &Path, root: &Path| {
        let below = path.strip_prefix(root).ok().map(slashed).filter(|rest| !rest.is_empty())?;
        Some(Inside { root: root.to_owned(), below })
    };
    if let Some(found) = roots.iter().find_map(|root| below(&path, root)) {
        return Some(found);
    }
    // The same place may have two names: a link above it, or a folder that is one.
    let real = real(&path)?;
    let real_roots = roots.iter().filter_map(|root| fs::canonicalize(root).ok());
    real_roots
        .into_iter()
        .find_map(|root| below(&real, &root))
        .or_else(|| below(&real, &project::worktree_of(&real, roots.first()?)?))
}

/// Whether a file was written since then.
pub fn changed_since(path: &Path, since: Millis) -> bool {
    let modified =
        fs::metadata(path).ok().filter(fs::Metadata::is_file).and_then(|file| file.modified().ok());
    modified.is_some_and(|at| at >= UNIX_EPOCH + Duration::from_millis(since.0))
}

/// The path with the part that is there resolved.
pub fn real(path: &Path) -> Option<PathBuf> {
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
        let inside = |path: &str| inside(&base.join(path), &roots).map(|found| found.below);
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
            inside(&base.join(path), &roots).unwrap().name(&base.join(home))
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
    fn only_what_was_written_since_has_changed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.rs");
        fs::write(&file, "x").unwrap();
        let set = |at: u64| {
            let time = UNIX_EPOCH + Duration::from_millis(at);
            fs::File::options().write(true).open(&file).unwrap().set_modified(time).unwrap();
        };
        set(5_000);
        assert!(changed_since(&file, Millis(5_000)));
        assert!(!changed_since(&file, Millis(5_001)));
        assert!(!changed_since(folder.path(), Millis(0)));
        assert!(!changed_since(&folder.path().join("none"), Millis(0)));
    }
}
