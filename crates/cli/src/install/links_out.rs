//! Links that lead out of the project. A repository can hold a link to anywhere, and `init` would write there.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use super::plan::Plan;
use super::step::Act;
use super::target::Target;
use crate::bilingual::{Bilingual, both};
use crate::path::is_own;

/// The limit of the system.
const MOST_LINKS: usize = 40;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LinkOut {
    pub(crate) link: PathBuf,
    pub(crate) to: PathBuf,
}

impl LinkOut {
    /// As one line for the person.
    pub(crate) fn said(&self) -> Bilingual {
        both!(
            "{link} leads out of the project: `init` would write to {to}",
            "{link} はプロジェクトの外へのリンクです。`init` は {to} に書き込みます",
            link = self.link.display(),
            to = self.to.display()
        )
    }
}

/// Only links that the plan would write through, each once.
pub(crate) fn find_links(plan: &Plan, target: &Target) -> Vec<LinkOut> {
    let mut links: Vec<LinkOut> = Vec::new();
    for step in plan.steps.iter().filter(|step| step.act != Act::Nothing) {
        // Some places hold the file behind a link, and show the link.
        let named =
            [&step.place.file, &step.place.shown].into_iter().find(|path| path.starts_with(&target.root));
        let Some(link) = named.and_then(|path| find_leaving_link(&target.root, path)) else { continue };
        let is_theirs = target.is_user && is_own(&link.link) && is_own(&link.to);
        if !is_theirs && !links.contains(&link) {
            links.push(link);
        }
    }
    links
}

/// `root` itself is not behind a link. Also finds links to nothing.
fn find_leaving_link(root: &Path, path: &Path) -> Option<LinkOut> {
    let is_out = |path: &Path| !follow_links(path).starts_with(root);
    if !is_out(path) {
        return None;
    }
    let below: Vec<&Path> = path.ancestors().take_while(|above| *above != root).collect();
    let link = below.into_iter().rev().find(|path| is_out(path))?;
    Some(LinkOut { link: link.to_owned(), to: follow_links(link) })
}

/// Behind all links, also if nothing is there.
fn follow_links(path: &Path) -> PathBuf {
    let parts = |path: &Path| -> Vec<OsString> {
        path.components().map(|part| part.as_os_str().to_owned()).collect()
    };
    let mut left: VecDeque<OsString> = parts(path).into();
    let (mut at, mut followed) = (PathBuf::new(), 0);
    while let Some(part) = left.pop_front() {
        if part == "." || part == ".." && at.pop() {
            continue;
        }
        at.push(&part);
        if let Some(to) = fs::read_link(&at).ok().filter(|_| followed < MOST_LINKS) {
            followed += 1;
            at.pop();
            for part in parts(&to).into_iter().rev() {
                left.push_front(part);
            }
        }
    }
    at
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn the_link_that_leads_out_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let base = fs::canonicalize(folder.path()).unwrap();
        let at = |path: &str| base.join(path);
        fs::create_dir_all(at("p/config/deep")).unwrap();
        fs::create_dir_all(at("other/skills")).unwrap();
        for (to, link) in [
            ("config", "p/inside"),
            ("../../p/config", "p/config/back"),
            ("../other", "p/out"),
            ("out/skills", "p/second"),
            ("inside/../../other", "p/dots"),
            ("/nowhere/at/all", "p/dangling"),
            ("round", "p/round"),
        ] {
            symlink(to, at(link)).unwrap();
        }
        let leaving = |path: &str| find_leaving_link(&at("p"), &at(path));
        for path in ["p/a/b", "p/inside/x", "p/config/back/deep/x", "p/inside/back/x", "p/round/x"] {
            assert_eq!(leaving(path), None, "{path}");
        }
        for (path, link, to) in [
            ("p/out/x/y", "p/out", "other"),
            ("p/second/x", "p/second", "other/skills"),
            ("p/dots/x", "p/dots", "other"),
            ("p/dangling/x", "p/dangling", "/nowhere/at/all"),
        ] {
            assert_eq!(leaving(path), Some(LinkOut { link: at(link), to: at(to) }), "{path}");
        }
    }
}
