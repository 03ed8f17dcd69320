//! Where a line runs, and what a folder is called in the project.

use crate::shell::{self, Spot};

/// Where a line runs. All paths are whole, and no links.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The project's root; then other folders that belong to it: added directories, other worktrees.
    pub roots: &'a [&'a str],
    /// The folder in which the line starts.
    pub cwd: &'a str,
    /// The folder in which it ended, where that is another one.
    pub end: Option<&'a str>,
    /// Folders that have another name, each with the one it leads to.
    pub links: &'a [(String, String)],
}

impl<'a> Place<'a> {
    /// The whole path.
    pub fn whole(&self, spot: &Spot) -> Option<String> {
        // The top of the repository is that of the folder in which the line starts.
        let top = self.root_of(self.cwd).or(self.roots.first().copied()).unwrap_or(self.cwd);
        let path = spot.resolve(top, self.cwd, self.end)?;
        let link = self.links.iter().find(|(name, _)| *name == path);
        Some(link.map_or(path, |(_, real)| real.clone()))
    }

    /// What a folder or a file is called in the project: relative to the root, whole where it is elsewhere; `None`
    /// outside.
    pub fn name(&self, spot: &Spot) -> Option<String> {
        let path = self.whole(spot)?;
        let root = self.root_of(&path)?;
        if self.roots.first() == Some(&root) { shell::below(&path, root) } else { Some(path) }
    }

    /// The path below the root that it is in.
    pub(super) fn below(&self, spot: &Spot) -> Option<String> {
        let path = self.whole(spot)?;
        shell::below(&path, self.root_of(&path)?)
    }

    fn root_of(&self, path: &str) -> Option<&'a str> {
        self.roots.iter().find(|root| shell::below(path, root).is_some()).copied()
    }
}
