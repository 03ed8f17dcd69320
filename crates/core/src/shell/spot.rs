//! Folders and files of a command line, as far as its text tells.

/// A folder or a file as a command line names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Spot {
    /// Relative to where the line starts; empty for that folder itself.
    Start(String),
    /// Relative to the top of the repository (`cd "$(git rev-parse --show-toplevel)"`).
    Top(String),
    /// Relative to where the line ends, which its text does not tell (`cd "$DIR"`).
    End(String),
    /// A whole path.
    Absolute(String),
    /// The text does not tell.
    Unknown,
}

impl Spot {
    /// `path`, with this as the current folder.
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
            Spot::End(base) => Spot::End(below(base)),
            Spot::Absolute(base) => Spot::Absolute(below(base)),
            Spot::Unknown => Spot::Unknown,
        }
    }

    /// The whole path, for a line that starts in `cwd` and ends in `end`, in a project at `root` (all whole).
    pub fn resolve(&self, root: &str, cwd: &str, end: Option<&str>) -> Option<String> {
        let (base, path) = match self {
            Spot::Start(path) => (cwd, path),
            Spot::Top(path) => (root, path),
            Spot::End(path) => (end?, path),
            Spot::Absolute(path) => return Some(path.clone()),
            Spot::Unknown => return None,
        };
        Some(tidy(&format!("{base}/{path}")))
    }

    /// Rewrites a place relative to the first unknown folder: relative to `end` where the line ended below that folder,
    /// else unknown.
    pub(super) fn settle(&mut self, end: Option<&str>) {
        if let Spot::End(path) = self {
            *self = match end.and_then(|end| below(path, end)) {
                Some(rest) => Spot::End(rest),
                None => Spot::Unknown,
            };
        }
    }
}

/// The path below another, empty for that one itself; `None` for anything outside.
pub(crate) fn below(path: &str, root: &str) -> Option<String> {
    if root.is_empty() {
        return Some(path.to_owned());
    }
    let rest = path.strip_prefix(root.trim_end_matches('/'))?;
    match rest.strip_prefix('/') {
        Some(rest) => Some(rest.to_owned()),
        None => rest.is_empty().then(String::new),
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
