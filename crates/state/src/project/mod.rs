//! The project that a session belongs to. No git process: worktrees are recognised by their `.git` entry.

pub mod head;
pub mod paths;

use std::fs;
use std::path::{Path, PathBuf};

use tidegate_core::feature::memory::job::RelayProject;
use tidegate_core::redact::redact;

use crate::file::bounded;
use crate::session::claims;

/// The host's project, unless `cwd` is in another worktree of the same repository: then that worktree. Without a
/// host's project, the git top level of `cwd`, else `cwd`.
pub fn root(host: Option<&Path>, cwd: Option<&Path>) -> Option<PathBuf> {
    let cwd = cwd.filter(|cwd| cwd.is_absolute());
    let host = host.filter(|host| host.is_absolute());
    match (host, cwd) {
        (Some(host), Some(cwd)) if host != cwd => {
            let elsewhere = find_top_level(cwd).filter(|top| top != host && !host.starts_with(top));
            let same_repository = |top: &PathBuf| {
                let common = find_common_dir(top);
                common.is_some() && common == find_top_level(host).and_then(|host| find_common_dir(&host))
            };
            Some(elsewhere.filter(same_repository).unwrap_or_else(|| host.to_owned()))
        }
        (Some(host), _) => Some(host.to_owned()),
        (None, Some(cwd)) => Some(find_top_level(cwd).unwrap_or_else(|| cwd.to_owned())),
        (None, None) => None,
    }
}

/// Not the home directory, nor that of the system: without a repository there, a client was only started in it.
pub fn is_known(root: &Path, home: Option<&Path>) -> bool {
    let is_home = |home: &Path| home == root || fs::canonicalize(home).ok() == fs::canonicalize(root).ok();
    let is_general = || root.parent().is_none() || home.is_some_and(is_home);
    // The usual case costs one call.
    fs::symlink_metadata(root.join(".git")).is_ok() || !is_general()
}

/// `None` unless `root` is a linked worktree.
pub fn main_worktree(root: &Path) -> Option<PathBuf> {
    // Only a linked worktree has a file there, so the usual case costs one call.
    fs::metadata(root.join(".git")).ok().filter(fs::Metadata::is_file)?;
    let common = find_common_dir(root)?;
    common.parent().filter(|_| common.ends_with(".git")).map(Path::to_owned)
}

/// The worktree that contains the path, if it belongs to the same repository as `root`.
pub fn worktree_of(path: &Path, root: &Path) -> Option<PathBuf> {
    let top = find_top_level(path.parent()?)?;
    let common = find_common_dir(&top)?;
    (find_top_level(root).and_then(|root| find_common_dir(&root)) == Some(common)).then_some(top)
}

/// All worktrees of the repository, including the folder's own.
pub fn worktrees(path: &Path) -> Vec<PathBuf> {
    const MOST: usize = 1024;
    let Some(common) = find_top_level(path).as_deref().and_then(find_common_dir) else { return Vec::new() };
    let main = common.parent().filter(|_| common.ends_with(".git")).map(Path::to_owned);
    let known = fs::read_dir(common.join("worktrees")).into_iter().flatten().flatten().take(MOST);
    let linked = known.filter_map(|entry| {
        // Absolute, or relative to the folder of the file.
        let back = entry.path().join(read_text(&entry.path().join("gitdir"))?.trim());
        Some(fs::canonicalize(back).ok()?.parent()?.to_owned())
    });
    main.into_iter().chain(linked).collect()
}

/// A working copy of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkout {
    pub top: PathBuf,
    /// Its own git folder, with the index.
    pub git: PathBuf,
    /// The git folder that all worktrees share; the same as `git` without linked worktrees.
    pub common: PathBuf,
}

impl Checkout {
    /// `None` outside of a repository, and where `.git` names a folder that does not know this checkout.
    pub fn find(path: &Path) -> Option<Checkout> {
        let top = find_top_level(path)?;
        let entry = top.join(".git");
        if fs::metadata(&entry).ok()?.is_dir() {
            let git = fs::canonicalize(entry).ok()?;
            return Some(Checkout { common: git.clone(), git, top });
        }
        let git = fs::canonicalize(top.join(read_text(&entry)?.strip_prefix("gitdir:")?.trim())).ok()?;
        if let Some(common) = find_common_dir(&top) {
            return Some(Checkout { top, git, common });
        }
        // A submodule: its git folder is in that of a repository above.
        let modules = |above: &Path| fs::canonicalize(above.join(".git/modules")).ok();
        let is_known = top
            .ancestors()
            .skip(1)
            .filter_map(modules)
            .any(|modules| git.starts_with(modules) && git.join("HEAD").is_file());
        is_known.then(|| Checkout { common: git.clone(), git, top })
    }
}

/// The default project of a session's memory: all worktrees of a repository are one project.
pub fn memory_project(root: &Path) -> RelayProject {
    let top = find_top_level(root);
    let common = top.as_deref().and_then(find_common_dir);
    let folder = top.as_deref().unwrap_or(root);
    let key = common.clone().or_else(|| fs::canonicalize(folder).ok()).unwrap_or_else(|| folder.to_owned());
    // A bare repository carries the name itself.
    let named = match &common {
        Some(common) if common.ends_with(".git") => common.parent().unwrap_or(folder),
        Some(common) => common,
        None => folder,
    };
    let name = named.file_name().unwrap_or(named.as_os_str()).to_string_lossy();
    RelayProject {
        key: key.to_string_lossy().into_owned(),
        name: name.strip_suffix(".git").unwrap_or(&name).to_owned(),
        root: root.to_string_lossy().into_owned(),
        // Redacted because it becomes part of a title; the key and the name are for lookup.
        branch: top.as_deref().and_then(read_branch).map(|branch| redact(&branch).text.into_owned()),
    }
}

/// `None` with a detached `HEAD`.
fn read_branch(top: &Path) -> Option<String> {
    let entry = top.join(".git");
    let git_dir = if fs::metadata(&entry).ok()?.is_dir() {
        entry
    } else {
        top.join(read_text(&entry)?.strip_prefix("gitdir:")?.trim())
    };
    let head = read_text(&git_dir.join("HEAD"))?;
    // With the reftable format, `HEAD` is a placeholder.
    let branch = head.lines().next()?.strip_prefix("ref:")?.trim().strip_prefix("refs/heads/")?;
    (branch != ".invalid" && !branch.is_empty() && branch.len() <= 255).then(|| branch.to_owned())
}

/// A folder name for a project: its path, so that a person can find it, and a hash, so that it is unique.
pub fn folder_name(project: &Path) -> String {
    let text = project.to_string_lossy();
    let name: String = text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let tail = name[name.len().saturating_sub(150)..].trim_start_matches('-');
    format!("{tail}-{:016x}", claims::hash_parts(&[&text]))
}

fn find_top_level(path: &Path) -> Option<PathBuf> {
    path.ancestors().find(|folder| fs::symlink_metadata(folder.join(".git")).is_ok()).map(Path::to_owned)
}

/// The repository that all worktrees share. A `.git` file can claim anything, so the repository has to know the
/// worktree, too.
fn find_common_dir(top: &Path) -> Option<PathBuf> {
    let entry = top.join(".git");
    if fs::metadata(&entry).ok()?.is_dir() {
        return fs::canonicalize(entry).ok();
    }
    let git_dir = fs::canonicalize(top.join(read_text(&entry)?.strip_prefix("gitdir:")?.trim())).ok()?;
    let common = fs::canonicalize(git_dir.join(read_text(&git_dir.join("commondir"))?.trim())).ok()?;
    let back = fs::canonicalize(git_dir.join(read_text(&git_dir.join("gitdir"))?.trim())).ok()?;
    let known =
        git_dir.parent() == Some(&common.join("worktrees")) && back == fs::canonicalize(entry).ok()?;
    known.then_some(common)
}

fn read_text(path: &Path) -> Option<String> {
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
        fs::write(tree.join(".git"), "gitdir: ../../.git/worktrees/one\n").unwrap();
        fs::write(main.join(".git/worktrees/one/gitdir"), "../../../.trees/one/.git\n").unwrap();
        assert_eq!(main_worktree(&tree), Some(main.clone()));

        for place in [&main, &tree.join("src")] {
            assert_eq!(worktrees(place), [main.clone(), tree.clone()]);
        }
        assert_eq!((worktrees(&other), worktrees(&base)), (vec![other.clone()], Vec::new()));
        assert_eq!(worktree_of(&tree.join("src/a.rs"), &main), Some(tree.clone()));
        assert_eq!(worktree_of(&main.join("src/a.rs"), &tree), Some(main.clone()));
        assert_eq!(worktree_of(&other.join("a.rs"), &main), None);

        // A folder that only claims to be a worktree of `main`.
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

    #[test]
    fn worktrees_of_a_repository_are_one_project_to_remember() {
        let folder = tempfile::tempdir().unwrap();
        let base = fs::canonicalize(folder.path()).unwrap();
        let (main, tree, bare) = (base.join("shop"), base.join("trees/one"), base.join("store.git"));
        for path in [&main.join(".git/worktrees/one"), &main.join("src"), &tree, &base.join("plain/src")] {
            fs::create_dir_all(path).unwrap();
        }
        let linked = |tree: &Path, git_dir: &Path| {
            fs::create_dir_all(tree).unwrap();
            fs::create_dir_all(git_dir).unwrap();
            fs::write(tree.join(".git"), format!("gitdir: {}\n", git_dir.display())).unwrap();
            fs::write(git_dir.join("commondir"), "../..\n").unwrap();
            fs::write(git_dir.join("gitdir"), format!("{}\n", tree.join(".git").display())).unwrap();
        };
        linked(&tree, &main.join(".git/worktrees/one"));
        linked(&base.join("trees/two"), &bare.join("worktrees/two"));
        fs::write(main.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::write(main.join(".git/worktrees/one/HEAD"), "ref: refs/heads/feat/search\n").unwrap();
        fs::write(bare.join("worktrees/two/HEAD"), "0123456789012345678901234567890123456789\n").unwrap();

        let of = |root: &Path| {
            let project = memory_project(root);
            assert_eq!(project.root, root.to_string_lossy());
            (PathBuf::from(project.key), project.name, project.branch)
        };
        let (shop, branch) = (main.join(".git"), |name: &str| Some(name.to_owned()));
        assert_eq!(of(&main), (shop.clone(), "shop".into(), branch("main")));
        assert_eq!(of(&main.join("src")), (shop.clone(), "shop".into(), branch("main")));
        assert_eq!(of(&tree), (shop, "shop".into(), branch("feat/search")));
        fs::write(main.join(".git/HEAD"), "ref: refs/heads/try/password=hunter2hunter2\n").unwrap();
        assert_eq!(of(&main).2, branch("try/password=[redacted:password]"));
        assert_eq!(of(&base.join("trees/two")), (bare, "store".into(), None));
        assert_eq!(of(&base.join("plain/src")), (base.join("plain/src"), "src".into(), None));
        assert_eq!(of(&base.join("gone")), (base.join("gone"), "gone".into(), None));
    }

    #[test]
    fn a_checkout_has_the_git_folder_that_knows_it() {
        let folder = tempfile::tempdir().unwrap();
        let base = fs::canonicalize(folder.path()).unwrap();
        let at = |path: &str| base.join(path);
        for path in [
            "main/.git/worktrees/one",
            "main/.git/modules/lib",
            "main/lib/src",
            "tree/src",
            "plain",
            "fake",
            "stranger",
        ] {
            fs::create_dir_all(at(path)).unwrap();
        }
        let write = |path: &str, text: String| fs::write(at(path), text).unwrap();
        write("tree/.git", format!("gitdir: {}\n", at("main/.git/worktrees/one").display()));
        write("main/.git/worktrees/one/commondir", "../..\n".into());
        write("main/.git/worktrees/one/gitdir", format!("{}\n", at("tree/.git").display()));
        write("main/lib/.git", "gitdir: ../.git/modules/lib\n".into());
        write("main/.git/modules/lib/HEAD", "ref: refs/heads/main\n".into());
        write("stranger/.git", "gitdir: ../fake\n".into());
        write("fake/HEAD", "ref: refs/heads/main\n".into());
        let checkout = |top: &str, git: &str, common: &str| {
            Some(Checkout { top: at(top), git: at(git), common: at(common) })
        };
        assert_eq!(Checkout::find(&at("main")), checkout("main", "main/.git", "main/.git"));
        let tree = checkout("tree", "main/.git/worktrees/one", "main/.git");
        assert_eq!(Checkout::find(&at("tree/src")), tree);
        let lib = checkout("main/lib", "main/.git/modules/lib", "main/.git/modules/lib");
        assert_eq!(Checkout::find(&at("main/lib/src")), lib);
        assert_eq!(Checkout::find(&at("stranger")), None);
        assert_eq!(Checkout::find(&at("plain")), None);
    }
}
