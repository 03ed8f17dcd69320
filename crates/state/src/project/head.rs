//! The commit that is checked out, read from git's files. No git process: hooks ask for it.

use std::path::{Component, Path};

use tidegate_core::feature::cycle::state::NO_COMMIT;

use super::{Checkout, read_text};
use crate::file::bounded;

/// Repositories with tens of thousands of references stay below this.
const LARGEST_PACKED: u64 = 8 * 1024 * 1024;

/// A branch may point to another name; more than this is a loop.
const MOST_STEPS: usize = 5;

/// The commit's hash; [`NO_COMMIT`] outside of a repository and before its first commit; `None` if it cannot be told, as
/// with the reftable format.
pub fn read_head(path: &Path) -> Option<String> {
    let Some(checkout) = Checkout::find(path) else { return Some(NO_COMMIT.to_owned()) };
    let mut text = read_text(&checkout.git.join("HEAD"))?;
    for _ in 0..MOST_STEPS {
        let Some(name) = text.strip_prefix("ref:").map(str::trim) else { return as_commit(&text) };
        if !is_reference(name) || name == "refs/heads/.invalid" {
            return None;
        }
        // Some references belong to one worktree, branches to all of them.
        let loose = [&checkout.git, &checkout.common].into_iter().find_map(|git| read_text(&git.join(name)));
        match loose {
            Some(next) => text = next,
            None => return Some(find_packed(&checkout.common, name).unwrap_or_else(|| NO_COMMIT.to_owned())),
        }
    }
    None
}

fn as_commit(text: &str) -> Option<String> {
    let text = text.trim();
    let is_hash = matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash.then(|| text.to_owned())
}

/// A repository can write anything into its files.
fn is_reference(name: &str) -> bool {
    let plain = |part: Component<'_>| matches!(part, Component::Normal(_));
    name.starts_with("refs/") && Path::new(name).components().all(plain)
}

fn find_packed(common: &Path, name: &str) -> Option<String> {
    let packed = bounded::read(&common.join("packed-refs"), LARGEST_PACKED).ok()?;
    packed.split(|byte| *byte == b'\n').find_map(|line| {
        let (commit, found) = std::str::from_utf8(line).ok()?.split_once(' ')?;
        (found == name).then(|| as_commit(commit)).flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const A: &str = "a1b2c3d4e5f6a7b8c9d0a1b2c3d4e5f6a7b8c9d0";
    const B: &str = "b1b2c3d4e5f6a7b8c9d0a1b2c3d4e5f6a7b8c9d0";

    #[test]
    fn commits_of_every_form() {
        let folder = tempfile::tempdir().unwrap();
        let base = fs::canonicalize(folder.path()).unwrap();
        let write = |path: &str, text: &str| {
            let path = base.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let head = |path: &str| read_head(&base.join(path));
        assert_eq!(head("app").as_deref(), Some(NO_COMMIT), "no repository");
        write("app/src/a.rs", "");
        write("app/.git/HEAD", "ref: refs/heads/main\n");
        assert_eq!(head("app").as_deref(), Some(NO_COMMIT), "no commit yet");
        write(
            "app/.git/packed-refs",
            &format!("# pack-refs with: peeled\n{B} refs/heads/maintenance\n{A} refs/heads/main\n"),
        );
        assert_eq!(head("app/src").as_deref(), Some(A));
        write("app/.git/refs/heads/main", &format!("{B}\n"));
        assert_eq!(head("app").as_deref(), Some(B), "the loose one is newer");
        write("app/.git/worktrees/one/HEAD", &format!("{A}\n"));
        write("app/.git/worktrees/one/commondir", "../..\n");
        write("app/.git/worktrees/one/gitdir", &format!("{}\n", base.join("tree/.git").display()));
        write("tree/.git", &format!("gitdir: {}\n", base.join("app/.git/worktrees/one").display()));
        assert_eq!(head("tree").as_deref(), Some(A), "detached");
        write("app/.git/worktrees/one/HEAD", "ref: refs/heads/main\n");
        assert_eq!(head("tree").as_deref(), Some(B), "branches are shared");
    }

    #[test]
    fn what_cannot_be_told() {
        let folder = tempfile::tempdir().unwrap();
        let base = fs::canonicalize(folder.path()).unwrap();
        fs::create_dir_all(base.join(".git/refs")).unwrap();
        fs::write(base.join("secret"), A).unwrap();
        for text in [
            "",
            "ref: refs/heads/.invalid\n",
            "ref: ../secret\n",
            "ref: refs/../../secret\n",
            "ref: /etc/passwd\n",
            "not a hash\n",
            "ref: refs/loop\n",
        ] {
            fs::write(base.join(".git/HEAD"), text).unwrap();
            fs::write(base.join(".git/refs/loop"), "ref: refs/loop\n").unwrap();
            assert_eq!(read_head(&base), None, "{text}");
        }
        fs::remove_file(base.join(".git/HEAD")).unwrap();
        assert_eq!(read_head(&base), None);
    }
}
