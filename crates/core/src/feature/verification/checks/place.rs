//! The place where a line runs, and names of folders within the project.

use crate::shell::{self, Spot};

/// All paths are whole and resolved.
#[derive(Clone, Copy, Debug)]
pub struct RunPlace<'a> {
    /// The project's root; then other folders that belong to it: added directories, other worktrees.
    pub roots: &'a [&'a str],
    /// The folder in which the line starts.
    pub cwd: &'a str,
    /// The folder in which it ended, if that is another one.
    pub end: Option<&'a str>,
    /// Links to folders, each with its target.
    pub links: &'a [(String, String)],
}

impl<'a> RunPlace<'a> {
    pub fn whole(&self, spot: &Spot) -> Option<String> {
        // The top of the repository belongs to the folder in which the line starts.
        let top = self.root_of(self.cwd).or(self.roots.first().copied()).unwrap_or(self.cwd);
        let path = spot.resolve(top, self.cwd, self.end)?;
        let link = self.links.iter().find(|(name, _)| *name == path);
        Some(link.map_or(path, |(_, real)| real.clone()))
    }

    /// Relative to the project's root, a whole path in other folders of the project, `None` outside.
    pub fn name(&self, spot: &Spot) -> Option<String> {
        let path = self.whole(spot)?;
        let root = self.root_of(&path)?;
        if self.roots.first() == Some(&root) { shell::below(&path, root) } else { Some(path) }
    }

    /// Relative to whichever root contains it.
    pub(super) fn below(&self, spot: &Spot) -> Option<String> {
        let path = self.whole(spot)?;
        shell::below(&path, self.root_of(&path)?)
    }

    fn root_of(&self, path: &str) -> Option<&'a str> {
        self.roots.iter().find(|root| shell::below(path, root).is_some()).copied()
    }
}
