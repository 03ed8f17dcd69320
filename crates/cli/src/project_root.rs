//! Which project a command means.

use std::fs;
use std::path::{Path, PathBuf};

use tidegate_hook::environment::Environment;
use tidegate_state::project;

use crate::host::settings_file::{self, is_same};
use crate::install::record::Records;
use crate::install::settings;

/// The project of the session we run in, else the one the host names, else the nearest at or above the current folder:
/// one with settings or an install, one in which a session worked, or the git top level. Nothing above the top level: it is
/// another project's.
pub(crate) fn find(env: &Environment, of_session: Option<PathBuf>, known: &[PathBuf]) -> Option<PathBuf> {
    if of_session.is_some() {
        return of_session;
    }
    let cwd = std::env::current_dir().ok()?;
    if env.project.is_some() {
        return project::root(env.project.as_deref(), Some(&cwd));
    }
    // The home directory is a project to who stands in it; below it, sessions and settings there are another's.
    let home = env.place.home.as_deref().filter(|home| !is_same(home, &cwd));
    let known: Vec<PathBuf> =
        known.iter().filter(|root| !home.is_some_and(|home| is_same(home, root))).cloned().collect();
    Some(nearest(
        &cwd,
        &known,
        |folder| fs::symlink_metadata(folder.join(".git")).is_ok(),
        |folder| {
            !home.is_some_and(|home| is_same(home, folder))
                && (has_settings(env, folder) || is_installed(env, folder))
        },
    ))
}

/// Whether a folder has settings of its own, the client's or ours.
fn has_settings(env: &Environment, folder: &Path) -> bool {
    let host = folder.join(".claude");
    let is_users = env.place.host().is_some_and(|users| is_same(&host, &users));
    let names = ["settings.json", "settings.local.json", "tidegate.toml", "tidegate.local.toml"];
    !is_users && names.iter().any(|name| host.join(name).is_file())
}

fn nearest(
    cwd: &Path,
    known: &[PathBuf],
    is_top: impl Fn(&Path) -> bool,
    is_installed: impl Fn(&Path) -> bool,
) -> PathBuf {
    let real: Vec<PathBuf> = known.iter().filter_map(|root| fs::canonicalize(root).ok()).collect();
    for folder in cwd.ancestors() {
        // As it is written down, so that what is known about it is found.
        if known.iter().any(|root| root == folder) || real.iter().any(|root| root == folder) {
            let written = known.iter().find(|root| is_same(root, folder));
            return written.map_or_else(|| folder.to_owned(), PathBuf::clone);
        }
        if is_top(folder) || is_installed(folder) {
            return folder.to_owned();
        }
    }
    cwd.to_owned()
}

/// Whether `init` was here: by its record, or by entries of ours in the settings.
pub(crate) fn is_installed(env: &Environment, folder: &Path) -> bool {
    if Records::look(env).is_ok_and(|records| records.has(folder)) {
        return true;
    }
    let host = folder.join(".claude");
    // In the home directory the one is the user's, and means every project.
    let is_users = env.place.host().is_some_and(|users| is_same(&host, &users));
    let names: &[&str] =
        if is_users { &["settings.local.json"] } else { &["settings.local.json", "settings.json"] };
    let link = env.place.link().map(|link| link.to_string_lossy().into_owned()).unwrap_or_default();
    let has_ours = |text: String| settings::has_ours(&text, &link);
    names.iter().any(|name| settings_file::text(&host.join(name)).is_some_and(has_ours))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_counts_and_nothing_above_the_repository() {
        let find = |cwd: &str, known: &[&str], tops: &[&str], installs: &[&str]| {
            let known: Vec<PathBuf> = known.iter().map(PathBuf::from).collect();
            let is_in = |list: &[&str], folder: &Path| list.iter().any(|path| Path::new(path) == folder);
            nearest(Path::new(cwd), &known, |folder| is_in(tops, folder), |folder| is_in(installs, folder))
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
