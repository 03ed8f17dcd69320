//! The commit that is checked out, read from git's files. No git process: hooks ask for it.

use std::path::{Component, Path};

use tidegate_core::feature::cycle::state::NO_COMMIT;

use tidegate_core::time::Millis;

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

/// The end of a longer log is enough.
const LARGEST_LOG: u64 = 64 * 1024;

/// Commits made since `began`, by the log of `HEAD`; 0 if `head` is not one of them: a reset and a checkout move it, too. An
/// amended or rebased commit counts where a new one was made before it. `None` without a log that tells of `head`.
pub fn count_new_commits(path: &Path, head: &str, began: Millis) -> Option<usize> {
    let checkout = Checkout::find(path)?;
    let log = bounded::read_end(&checkout.git.join("logs/HEAD"), LARGEST_LOG).ok()?;
    let log = String::from_utf8_lossy(&log);
    let moves: Vec<HeadMove<'_>> = log.lines().filter_map(HeadMove::read).collect();
    if moves.last()?.to != head {
        return None;
    }
    let is_since = |step: &&HeadMove<'_>| step.at >= began.0 / 1000;
    let made = moves.iter().filter(is_since).filter(|step| step.makes_commit()).count();
    let leads_here =
        |step: &HeadMove<'_>| step.to == head && (step.makes_commit() || made > 0 && step.rewrites_commit());
    Some(if moves.iter().filter(is_since).any(leads_here) { made } else { 0 })
}

/// One line of the log.
struct HeadMove<'a> {
    to: &'a str,
    /// In seconds.
    at: u64,
    /// `commit: …`, `reset: …`, `checkout: …`.
    how: &'a str,
}

impl HeadMove<'_> {
    fn read(line: &str) -> Option<HeadMove<'_>> {
        let (place, how) = line.split_once('\t')?;
        let mut end = place.rsplitn(3, ' ');
        let (_zone, at) = (end.next()?, end.next()?.parse().ok()?);
        Some(HeadMove { to: place.split(' ').nth(1)?, at, how })
    }

    fn makes_commit(&self) -> bool {
        let is = |start: &&str| self.how.starts_with(*start);
        let merges = ["merge ", "pull"].iter().any(is) && self.how.contains(": Merge made by");
        !self.rewrites_commit() && (merges || ["commit", "cherry-pick", "revert", "am:"].iter().any(is))
    }

    fn rewrites_commit(&self) -> bool {
        ["commit (amend)", "rebase"].iter().any(|start| self.how.starts_with(start))
    }
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
    fn only_commits_of_this_time_are_new() {
        let folder = tempfile::tempdir().unwrap();
        let base = fs::canonicalize(folder.path()).unwrap();
        fs::create_dir_all(base.join(".git/logs")).unwrap();
        let name = |letter: char| letter.to_string().repeat(40);
        let began = Millis(1_000_000);
        // Each move: the commit that it leads to, the second, and what git writes.
        let count = |moves: &[(char, u64, &str)]| {
            let mut from = '0';
            let mut log = String::new();
            for (to, at, how) in moves {
                let (from_id, to_id) = (name(from), name(*to));
                log.extend([&*from_id, " ", &to_id, &format!(" A B <a@b.c> {at} +0900\t{how}\n")]);
                from = *to;
            }
            fs::write(base.join(".git/logs/HEAD"), log).unwrap();
            count_new_commits(&base, &name(from), began)
        };
        let (a, b) = (('a', 900, "commit: a"), ('b', 1001, "commit: b"));
        assert_eq!(count(&[a, b]), Some(1));
        assert_eq!(
            count(&[a, ('b', 1000, "commit (initial): b"), ('c', 1002, "commit (merge): c")]),
            Some(2)
        );
        assert_eq!(count(&[a, ('b', 1001, "merge x: Merge made by the 'ort' strategy.")]), Some(1));
        assert_eq!(count(&[a, b, ('c', 1002, "commit (amend): c")]), Some(1));
        assert_eq!(
            count(&[a, b, ('c', 1002, "rebase (pick): b"), ('c', 1002, "rebase (finish): x")]),
            Some(1)
        );
        assert_eq!(
            count(&[a, b, ('a', 1002, "reset: moving to HEAD~1"), ('b', 1003, "reset: moving to b")]),
            Some(1)
        );
        for other in [
            "reset: moving to HEAD~1",
            "checkout: moving from main to old",
            "commit (amend): a",
            "pull: Fast-forward",
            "merge x: Fast-forward",
            "rebase (pick): a",
        ] {
            assert_eq!(count(&[('o', 800, "commit: o"), a, ('o', 1001, other)]), Some(0), "{other}");
        }
        assert_eq!(count(&[a, b, ('o', 1002, "checkout: moving from main to o")]), Some(0));
        assert_eq!(count(&[]), None);
        assert_eq!(count_new_commits(&base, &name('x'), began), None, "the log is not kept any more");
        fs::remove_dir_all(base.join(".git/logs")).unwrap();
        assert_eq!(count_new_commits(&base, &name('a'), began), None);
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
