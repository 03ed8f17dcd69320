//! Claude Code's settings files: compaction, and variables that only a person may set.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use tidegate_core::host::claude_code::settings_file::{Guard, GuardedVariable, HostFile};
use tidegate_core::host::window::HostSettings;

use crate::file::bounded;
use crate::project;
use crate::project::paths::{remove_dots, resolve};

const LARGEST: u64 = 4 * 1024 * 1024;

/// Nearer files count more. Unreadable files are ignored. Read at session start and when they change.
pub fn read(project: Option<&Path>, user: Option<&Path>) -> HostSettings {
    let nearest_first: [Option<PathBuf>; 3] = [
        project.map(|project| project.join(".claude/settings.local.json")),
        project.map(|project| project.join(".claude/settings.json")),
        user.map(|user| user.join("settings.json")),
    ];
    let mut enabled = None;
    let mut windows = Vec::new();
    for path in nearest_first.into_iter().flatten() {
        let Ok(bytes) = bounded::read(&path, LARGEST) else { continue };
        let Ok(file) = HostFile::read(&bytes) else { continue };
        enabled = enabled.or(file.auto_compact_enabled.get().copied());
        windows.extend(file.windows());
    }
    HostSettings {
        auto_compact: enabled.unwrap_or(true),
        auto_compact_windows: windows,
        ..HostSettings::default()
    }
}

/// Guarded variables in a project's own settings.
///
/// Claude Code passes them to every process, but a repository must neither switch Tidegate off nor redirect it to a
/// store: such a variable counts only if a person set it. `None` if a file is unreadable: then any variable may come
/// from it.
pub fn read_project_variables(project: &Path) -> Option<Vec<GuardedVariable>> {
    let mut variables = Vec::new();
    for name in ["settings.json", "settings.local.json"] {
        let found = read_file_variables(&project.join(".claude").join(name)).ok()?;
        variables.extend(found.unwrap_or_default());
    }
    Some(variables)
}

/// `None` without the file.
pub fn read_file_variables(path: &Path) -> io::Result<Option<Vec<GuardedVariable>>> {
    match bounded::read(path, LARGEST) {
        Ok(bytes) => match HostFile::read(&bytes) {
            Ok(file) => Ok(Some(file.env.value().unwrap_or_default().0)),
            Err(_) => Err(io::Error::from(io::ErrorKind::InvalidData)),
        },
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// `of_project`: the result of [`read_project_variables`].
pub fn may_come_from_project(
    project: &Path,
    of_project: Option<&[GuardedVariable]>,
    name: &str,
    value: &OsStr,
) -> bool {
    match of_project {
        Some(variables) => {
            let is_theirs = |variable: &GuardedVariable| {
                variable.name == name && variable.value.as_deref().is_none_or(|theirs| value == theirs)
            };
            variables.iter().any(is_theirs)
                && (Guard::of(name) != Some(Guard::Place) || is_in_repository(project, name, value))
        }
        // Without these, the person's own files would not be found; Claude Code does not take them from a project.
        None => matches!(Guard::of(name), Some(Guard::Ours | Guard::Programs)),
    }
}

/// Also true elsewhere in the project's repository. Settings for a container may well name the person's home
/// directory there.
pub fn is_in_repository(project: &Path, name: &str, place: &OsStr) -> bool {
    let place = remove_dots(&project.join(place));
    let real_place = resolve(&place).unwrap_or_else(|| place.clone());
    let real_project = resolve(project).unwrap_or_else(|| project.to_owned());
    if place.starts_with(project) || real_place.starts_with(&real_project) {
        return true;
    }
    // A home directory with its own repository is not a worktree of the projects below it.
    let is_home_above = matches!(name, "HOME" | "USERPROFILE") && real_project.starts_with(&real_place);
    !is_home_above && project::worktree_of(&real_place.join(".git"), &real_project).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use tidegate_core::host::window::AutoCompactWindow;

    #[test]
    fn the_nearer_file_counts_more() {
        let folder = tempfile::tempdir().unwrap();
        let (project, user) = (folder.path().join("p"), folder.path().join("u"));
        fs::create_dir_all(project.join(".claude")).unwrap();
        fs::create_dir_all(&user).unwrap();
        assert_eq!(read(Some(&project), Some(&user)), HostSettings::default());
        let window = |model: Option<&str>, tokens| AutoCompactWindow { model: model.map(Into::into), tokens };
        fs::write(
            user.join("settings.json"),
            r#"{"autoCompactWindow": "300k", "autoCompactEnabled": false}"#,
        )
        .unwrap();
        let settings = read(Some(&project), Some(&user));
        assert!(!settings.auto_compact);
        assert_eq!(settings.auto_compact_windows, [window(None, Some(300_000))]);
        let shared =
            r#"{"autoCompactEnabled": true, "modelSettings": {"m": {"autoCompactWindow": "auto"}, "n": {}}}"#;
        fs::write(project.join(".claude/settings.json"), shared).unwrap();
        fs::write(project.join(".claude/settings.local.json"), "{broken").unwrap();
        let settings = read(Some(&project), Some(&user));
        assert!(settings.auto_compact);
        assert_eq!(settings.auto_compact_windows, [window(Some("m"), None), window(None, Some(300_000))]);
    }

    #[test]
    fn a_file_that_cannot_be_read_may_set_anything() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read_project_variables(folder.path()), Some(Vec::new()));
        fs::create_dir_all(folder.path().join(".claude")).unwrap();
        let shared = r#"{"env": {"TIDEGATE_OFF": "skill-gate", "PATH": "/x"}}"#;
        fs::write(folder.path().join(".claude/settings.json"), shared).unwrap();
        let local = folder.path().join(".claude/settings.local.json");
        fs::write(&local, r#"{"env": {"TIDEGATE_GUARD": 1}}"#).unwrap();
        let of_project = read_project_variables(folder.path()).unwrap();
        let names: Vec<&str> = of_project.iter().map(|variable| variable.name.as_str()).collect();
        assert_eq!(names, ["TIDEGATE_OFF", "TIDEGATE_GUARD"]);
        let may_be =
            |name: &str| may_come_from_project(folder.path(), Some(&of_project), name, OsStr::new("x"));
        assert!(may_be("TIDEGATE_OFF") && !may_be("TIDEGATE_STATE_DIR") && !may_be("PATH"));
        fs::write(&local, "{broken").unwrap();
        assert_eq!(read_project_variables(folder.path()), None);
        let may_be = |name: &str| may_come_from_project(folder.path(), None, name, OsStr::new("x"));
        assert!(may_be("TIDEGATE_STATE_DIR") && may_be("https_proxy") && !may_be("HOME") && !may_be("PATH"));
        fs::remove_file(&local).unwrap();
        fs::create_dir(&local).unwrap();
        assert_eq!(read_project_variables(folder.path()), None);
    }

    fn variable(name: &str, value: &Path) -> GuardedVariable {
        GuardedVariable { name: name.to_owned(), value: value.to_str().map(str::to_owned) }
    }

    /// A repository that names the home directory must not disable it.
    #[test]
    fn a_place_is_ignored_only_where_it_leads_into_the_repository() {
        let folder = tempfile::tempdir().unwrap();
        let (home, project) = (folder.path().join("home"), folder.path().join("home/app"));
        fs::create_dir_all(&project).unwrap();
        let may_be = |name: &str, theirs: &Path, value: &Path| {
            may_come_from_project(&project, Some(&[variable(name, theirs)]), name, value.as_os_str())
        };
        for name in ["HOME", "USERPROFILE", "XDG_STATE_HOME", "CLAUDE_CONFIG_DIR"] {
            for theirs in
                [project.clone(), project.join("shipped"), home.join("x/../app/y"), "shipped".into()]
            {
                assert!(may_be(name, &theirs, &theirs), "{name} {}", theirs.display());
                assert!(!may_be(name, &theirs, &home), "another value");
            }
            assert!(!may_be(name, &home, &home), "{name}: a person's own, named by the repository");
            assert!(!may_be(name, &home.join(".config"), &home.join(".config")), "{name}");
        }
        // Through a link into the project, and through one out of it that the repository ships.
        #[cfg(unix)]
        for (link, leads) in [(folder.path().join("link"), &project), (project.join("link"), &home)] {
            std::os::unix::fs::symlink(leads, &link).unwrap();
            let theirs = link.join("state");
            assert!(may_be("XDG_STATE_HOME", &theirs, &theirs), "{}", link.display());
        }
        // A repository around the project is part of the project, but the home directory is not.
        fs::create_dir(home.join(".git")).unwrap();
        assert!(may_be("XDG_STATE_HOME", &home.join("shipped"), &home.join("shipped")));
        assert!(!may_be("HOME", &home, &home));
    }

    #[test]
    fn a_proxy_is_ignored_only_with_the_value_of_the_repository() {
        let theirs = [variable("HTTPS_PROXY", Path::new("http://evil"))];
        let may_be = |value: &str| {
            may_come_from_project(Path::new("/p"), Some(&theirs), "HTTPS_PROXY", OsStr::new(value))
        };
        assert!(may_be("http://evil") && !may_be("http://proxy.example.com"));
    }
}
