//! Finding the project that a command means.

use std::fs;
use std::path::{Path, PathBuf};

use tidegate_hook::environment::Environment;
use tidegate_state::project;

use crate::host::claude_code::project_folder::{has_own_entries, has_settings};
use crate::install::record::Records;
use crate::path::is_same_place;

/// The project of the session we run in, else the one the host names, else the nearest at or above the current folder:
/// one with settings or an install, one in which a session worked, or the git top level. Nothing above the top level: it is
/// another project's.
pub(crate) fn find_project(
    env: &Environment,
    of_session: Option<PathBuf>,
    known: impl FnOnce() -> Vec<PathBuf>,
) -> Option<PathBuf> {
    if of_session.is_some() {
        return of_session;
    }
    let cwd = std::env::current_dir().ok()?;
    if env.project.is_some() {
        return project::root(env.project.as_deref(), Some(&cwd));
    }
    // For a command in the home directory, that is a project; for one below it, sessions and settings in it belong to
    // other projects.
    let home = env.place.home.as_deref().filter(|home| !is_same_place(home, &cwd));
    let mut known = known();
    known.retain(|root| !home.is_some_and(|home| is_same_place(home, root)));
    Some(find_nearest(
        &cwd,
        &known,
        |folder| fs::symlink_metadata(folder.join(".git")).is_ok(),
        |folder| {
            !home.is_some_and(|home| is_same_place(home, folder))
                && (has_settings(env, folder) || is_installed(env, folder))
        },
    ))
}

fn find_nearest(
    cwd: &Path,
    known: &[PathBuf],
    is_top: impl Fn(&Path) -> bool,
    is_installed: impl Fn(&Path) -> bool,
) -> PathBuf {
    let real: Vec<PathBuf> = known.iter().filter_map(|root| fs::canonicalize(root).ok()).collect();
    for folder in cwd.ancestors() {
        // As it was written down before, so that records of it are found.
        if known.iter().any(|root| root == folder) || real.iter().any(|root| root == folder) {
            let written = known.iter().find(|root| is_same_place(root, folder));
            return written.map_or_else(|| folder.to_owned(), PathBuf::clone);
        }
        if is_top(folder) || is_installed(folder) {
            return folder.to_owned();
        }
    }
    cwd.to_owned()
}

/// By the record that `init` left, or by Tidegate's entries in the settings.
pub(crate) fn is_installed(env: &Environment, folder: &Path) -> bool {
    Records::look(env).is_ok_and(|records| records.has(folder)) || has_own_entries(env, folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_counts_and_nothing_above_the_repository() {
        let find = |cwd: &str, known: &[&str], tops: &[&str], installs: &[&str]| {
            let known: Vec<PathBuf> = known.iter().map(PathBuf::from).collect();
            let is_in = |list: &[&str], folder: &Path| list.iter().any(|path| Path::new(path) == folder);
            find_nearest(
                Path::new(cwd),
                &known,
                |folder| is_in(tops, folder),
                |folder| is_in(installs, folder),
            )
        };
        assert_eq!(find("/h/a/src", &["/h"], &["/h/a"], &[]), Path::new("/h/a"));
        assert_eq!(find("/h/a/src", &[], &["/h/a"], &["/h"]), Path::new("/h/a"));
        assert_eq!(find("/h/a/src/x", &["/h/a/src"], &["/h/a"], &["/h"]), Path::new("/h/a/src"));
        assert_eq!(find("/h/a/src/x", &["/h/a"], &["/h/a"], &["/h/a/src"]), Path::new("/h/a/src"));
        assert_eq!(find("/h/a/src", &["/h"], &[], &[]), Path::new("/h"), "in no repository");
        assert_eq!(find("/h/a/src", &["/h"], &[], &["/h/a"]), Path::new("/h/a"));
        assert_eq!(find("/h/a", &["/other"], &[], &[]), Path::new("/h/a"));
    }
}
