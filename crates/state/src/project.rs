//! Which project a session belongs to.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{bounded, claims};

/// The host's own project, unless `cwd` is in another worktree of the same repository, then that; else the git
/// top level of `cwd`; else `cwd`. No git process: a worktree is told by its `.git` entry.
pub fn root(host: Option<&Path>, cwd: Option<&Path>) -> Option<PathBuf> {
    let cwd = cwd.filter(|cwd| cwd.is_absolute());
    let host = host.filter(|host| host.is_absolute());
    match (host, cwd) {
        (Some(host), Some(cwd)) if host != cwd => {
            let elsewhere = top_level(cwd).filter(|top| top != host && !host.starts_with(top));
            let same_repository = |top: &PathBuf| {
                let common = common_dir(top);
                common.is_some() && common == top_level(host).and_then(|host| common_dir(&host))
            };
            Some(elsewhere.filter(same_repository).unwrap_or_else(|| host.to_owned()))
        }
        (Some(host), _) => Some(host.to_owned()),
        (None, Some(cwd)) => Some(top_level(cwd).unwrap_or_else(|| cwd.to_owned())),
        (None, None) => None,
    }
}

/// The main worktree of the repository that a linked worktree belongs to; `None` for anything else.
pub fn main_worktree(root: &Path) -> Option<PathBuf> {
    // Only a linked worktree has a file there: the usual case costs one look.
    fs::metadata(root.join(".git")).ok().filter(fs::Metadata::is_file)?;
    let common = common_dir(root)?;
    common.parent().filter(|_| common.ends_with(".git")).map(Path::to_owned)
}

/// The worktree that a path is in, if it is one of the same repository as `root`.
pub fn worktree_of(path: &Path, root: &Path) -> Option<PathBuf> {
    let top = top_level(path.parent()?)?;
    let common = common_dir(&top)?;
    (top_level(root).and_then(|root| common_dir(&root)) == Some(common)).then_some(top)
}

/// What a folder of our own is called that belongs to a project: by the project's path, so that a person can find it, and
/// by a hash, so that no two share one.
pub fn folder_name(project: &Path) -> String {
    let text = project.to_string_lossy();
    let name: String = text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let tail = name[name.len().saturating_sub(150)..].trim_start_matches('-');
    format!("{tail}-{:016x}", claims::hash(&[&text]))
}

fn top_level(path: &Path) -> Option<PathBuf> {
    path.ancestors().find(|folder| fs::symlink_metadata(folder.join(".git")).is_ok()).map(Path::to_owned)
}

/// The repository that all its worktrees share. A `.git` file can claim anything, so the repository has to know the
/// worktree, too.
fn common_dir(top: &Path) -> Option<PathBuf> {
    let entry = top.join(".git");
    if fs::metadata(&entry).ok()?.is_dir() {
        return fs::canonicalize(entry).ok();
    }
    let git_dir = fs::canonicalize(top.join(read_line(&entry)?.strip_prefix("gitdir:")?.trim())).ok()?;
    let common = fs::canonicalize(git_dir.join(read_line(&git_dir.join("commondir"))?.trim())).ok()?;
    let back = fs::canonicalize(git_dir.join(read_line(&git_dir.join("gitdir"))?.trim())).ok()?;
    let known =
        git_dir.parent() == Some(&common.join("worktrees")) && back == fs::canonicalize(entry).ok()?;
    known.then_some(common)
}

fn read_line(path: &Path) -> Option<String> {
    String::from_utf8(bounded::read(path, 16 * 1024).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worktrees_are_their_own_project() {
        let folder = tempfile::tempdir().unwrap();
        let base = fs::canonicalize(folder.path()).unwrap();
        let (main, tree, other) = (base.join("main"), base.join("main/.trees/one"), base.join("other"));
        for path in
            [&main.join(".git/worktrees/one"), &tree.join("src"), &other.join(".git"), &main.join("src")]
        {
            fs::create_dir_all(path).unwrap();
        }
        fs::write(tree.join(".git"), format!("gitdir: {}\n", main.join(".git/worktrees/one").display()))
            .unwrap();
        fs::write(main.join(".git/worktrees/one/commondir"), "../..\n").unwrap();
        fs::write(main.join(".git/worktrees/one/gitdir"), format!("{}\n", tree.join(".git").display()))
            .unwrap();

        let root = |host: Option<&PathBuf>, cwd: &Path| root(host.map(PathBuf::as_path), Some(cwd)).unwrap();
        assert_eq!(root(Some(&main), &main), main);
        assert_eq!(root(Some(&main), &main.join("src")), main);
        assert_eq!(root(Some(&main), &tree.join("src")), tree);
        assert_eq!(root(Some(&main), &other), main);
        assert_eq!(root(Some(&main.join("src")), &main), main.join("src"));
        assert_eq!(root(None, &main.join("src")), main);
        assert_eq!(root(None, &base), base);
        assert_eq!(main_worktree(&tree), Some(main.clone()));
        assert_eq!((main_worktree(&main), main_worktree(&other)), (None, None));
        // git can write both paths relative to where they stand.
        fs::write(tree.join(".git"), "gitdir: ../../.git/worktrees/one\n").unwrap();
        fs::write(main.join(".git/worktrees/one/gitdir"), "../../../.trees/one/.git\n").unwrap();
        assert_eq!(main_worktree(&tree), Some(main.clone()));

        assert_eq!(worktree_of(&tree.join("src/a.rs"), &main), Some(tree.clone()));
        assert_eq!(worktree_of(&main.join("src/a.rs"), &tree), Some(main.clone()));
        assert_eq!(worktree_of(&other.join("a.rs"), &main), None);

        // A folder that only says it is a worktree of `main`.
        let stranger = base.join("stranger");
        fs::create_dir_all(stranger.join("fake")).unwrap();
        fs::write(stranger.join(".git"), "gitdir: fake\n").unwrap();
        fs::write(stranger.join("fake/commondir"), format!("{}\n", main.join(".git").display())).unwrap();
        fs::write(stranger.join("fake/gitdir"), format!("{}\n", stranger.join(".git").display())).unwrap();
        assert_eq!(main_worktree(&stranger), None);
        assert_eq!(root(Some(&main), &stranger), main);
        fs::write(stranger.join(".git"), format!("gitdir: {}\n", main.join(".git/worktrees/one").display()))
            .unwrap();
        assert_eq!(main_worktree(&stranger), None);
    }
}
