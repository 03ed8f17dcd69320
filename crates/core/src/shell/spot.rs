//! Where a command line is or writes, as far as its text tells.

/// A folder or a file as a command line names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Spot {
    /// Relative to where the line starts; empty for that folder itself.
    Start(String),
    /// Relative to the top of the repository (`cd "$(git rev-parse --show-toplevel)"`).
    Top(String),
    /// A whole path.
    Absolute(String),
    /// The text does not tell.
    Unknown,
}

impl Spot {
    /// What `path` means when this is the current folder.
    #[must_use]
    pub fn join(&self, path: &str) -> Spot {
        if path.starts_with('~') {
            return Spot::Unknown;
        }
        if path.starts_with('/') || path.as_bytes().get(1) == Some(&b':') {
            return Spot::Absolute(tidy(path));
        }
        let below = |base: &str| if base.is_empty() { tidy(path) } else { tidy(&format!("{base}/{path}")) };
        match self {
            Spot::Start(base) => Spot::Start(below(base)),
            Spot::Top(base) => Spot::Top(below(base)),
            Spot::Absolute(base) => Spot::Absolute(below(base)),
            Spot::Unknown => Spot::Unknown,
        }
    }

    /// The whole path, for a line that starts in `cwd`, in a project at `root` (both absolute).
    pub fn resolve(&self, root: &str, cwd: &str) -> Option<String> {
        let (base, path) = match self {
            Spot::Start(path) => (cwd, path),
            Spot::Top(path) => (root, path),
            Spot::Absolute(path) => return Some(path.clone()),
            Spot::Unknown => return None,
        };
        Some(tidy(&format!("{base}/{path}")))
    }

    /// The path below `root`, empty for the root itself; `None` for anything outside.
    pub fn below(&self, root: &str, cwd: &str) -> Option<String> {
        let whole = self.resolve(root, cwd)?;
        let root = tidy(root);
        let rest = whole.strip_prefix(root.trim_end_matches('/'))?;
        match rest.strip_prefix('/') {
            Some(rest) => Some(rest.to_owned()),
            None => rest.is_empty().then(String::new),
        }
    }
}

/// Without `.`, `..` and doubled slashes, as far as the text alone allows.
pub(crate) fn tidy(path: &str) -> String {
    let absolute = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => drop(parts.pop()),
            ".." if absolute => {}
            part => parts.push(part),
        }
    }
    let path = parts.join("/");
    if absolute { format!("/{path}") } else { path }
}
