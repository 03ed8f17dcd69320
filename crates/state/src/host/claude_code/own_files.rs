//! Identifies files that decide what Tidegate does, before they are edited.
//!
//! By the file itself, not by the spelling of its path: a link, a `..` or a second name leads to the same file.

use std::borrow::Cow;
use std::fs;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use tidegate_core::feature::own_settings::OwnFile;

use crate::config::PROJECT_FILES;
use crate::project::paths::{remove_dots, resolve};

#[derive(Clone, Copy)]
pub struct OwnPlaces<'a> {
    /// The project, the folder that Claude Code was started in, the main worktree: each may have settings.
    pub roots: &'a [PathBuf],
    pub config: Option<&'a Path>,
    pub host: Option<&'a Path>,
    pub state: Option<&'a Path>,
    pub memory: Option<&'a Path>,
    /// Paths to the program that hooks start. Called only if the file could be one.
    pub programs: &'a dyn Fn() -> Vec<PathBuf>,
    pub plugin: Option<&'a Path>,
    /// Folders of other hosts that a variable moved elsewhere, with their usual names.
    pub moved: &'a dyn Fn() -> Vec<(&'static str, PathBuf)>,
}

impl Default for OwnPlaces<'_> {
    fn default() -> Self {
        const NONE: fn() -> Vec<PathBuf> = Vec::new;
        const NOT_MOVED: fn() -> Vec<(&'static str, PathBuf)> = Vec::new;
        OwnPlaces {
            roots: &[],
            config: None,
            host: None,
            state: None,
            memory: None,
            programs: &NONE,
            plugin: None,
            moved: &NOT_MOVED,
        }
    }
}

/// Names of the program in a `bin` folder: on `PATH`, behind the stable link, in the plugin.
const PROGRAM_NAMES: [&str; 2] = ["tidegate", "tidegate-bin"];

/// Files of a plugin that register programs.
const PLUGIN_FILES: [&str; 3] = ["hooks.json", "plugin.json", ".mcp.json"];

/// Claude Code's lists of plugin folders.
const PLUGIN_LISTS: [&str; 2] = ["installed_plugins.json", "known_marketplaces.json"];

/// An administrator's settings override a person's. Only root writes there, and agents do run as root.
const MANAGED: &str = "/etc/claude-code";

pub fn identify(target: &Path, places: &OwnPlaces<'_>) -> Option<OwnFile> {
    // The system follows `..` through links; a program may remove it from the text first. Either may be meant.
    let dotted = target.components().any(|part| part == Component::ParentDir);
    identify_path(target, places)
        .or_else(|| if dotted { identify_path(&remove_dots(target), places) } else { None })
}

fn identify_path(target: &Path, places: &OwnPlaces<'_>) -> Option<OwnFile> {
    let in_project = |files: &'static [&'static str]| {
        places.roots.iter().flat_map(move |root| files.iter().map(move |file| in_folder(root, file)))
    };
    let hosts = places
        .host
        .map(|host| in_folder(host, "settings.json"))
        .into_iter()
        .chain(in_project(&[".claude/settings.json", ".claude/settings.local.json"]));
    let target = Target::follow(target);
    if places.config.is_some_and(|path| target.is(path)) {
        return Some(OwnFile::Config);
    }
    if in_project(&PROJECT_FILES).any(|path| target.is(&path)) {
        return Some(OwnFile::ProjectConfig);
    }
    if hosts.into_iter().any(|path| target.is(&path)) {
        return Some(OwnFile::Host);
    }
    let is_program = || target.may_run && (places.programs)().iter().any(|path| target.is(path));
    if target.is_named_as_program() || is_program() {
        return Some(OwnFile::Program);
    }
    let real = follow_links(&target.path);
    if real.starts_with(MANAGED) || is_of_other_host(&real) || is_of_moved_host(&target, &real, places) {
        return Some(OwnFile::Host);
    }
    if registers_plugin(&real, places) {
        return Some(OwnFile::Plugin);
    }
    if places.state.is_some_and(|state| is_below(&real, state)) {
        return Some(OwnFile::State);
    }
    // Also under another name: later sessions read its content.
    let is_store =
        |memory: &Path| is_below(&real, memory) || target.is_linked && target.is(&memory.join("memory.db"));
    places.memory.filter(|memory| is_store(memory)).map(|_| OwnFile::Memory)
}

/// Hooks and settings of other hosts, by their names and folders: of a project or of the person.
const OF_OTHER_HOSTS: &[(&str, &[&str])] = &[
    (".codex", &["hooks.json", "config.toml"]),
    (".github/hooks", &[]),
    (".github/copilot", &["settings.json", "settings.local.json"]),
    (".copilot/hooks", &[]),
    (".copilot", &["settings.json", "config.json", "mcp-config.json"]),
    (".qwen", &["settings.json"]),
    ("plugins", &["tidegate.js"]),
];

/// Without names any file in the folder counts.
fn is_of_other_host(real: &Path) -> bool {
    let (Some(folder), Some(name)) = (real.parent(), real.file_name()) else { return false };
    OF_OTHER_HOSTS.iter().any(|(known, names)| {
        (names.is_empty() || names.iter().any(|known| name == *known)) && folder.ends_with(known)
    })
}

/// The same below folders with names of the person's own.
fn is_of_moved_host(target: &Target, real: &Path, places: &OwnPlaces<'_>) -> bool {
    (places.moved)().iter().any(|(usual, moved)| {
        OF_OTHER_HOSTS.iter().any(|(known, names)| {
            let Ok(rest) = Path::new(known).strip_prefix(usual) else { return false };
            let folder = moved.join(rest);
            match names {
                [] => is_below(real, &folder),
                names => names.iter().any(|name| target.is(&in_folder(&folder, name))),
            }
        })
    })
}

/// `Path::join` reallocates the folder to make room for the file, and every edit needs a dozen of these.
fn in_folder(folder: &Path, file: &str) -> PathBuf {
    let mut path = PathBuf::with_capacity(folder.as_os_str().len() + 1 + file.len());
    path.push(folder);
    path.push(file);
    path
}

/// Checks few names further: most files of plugins start nothing.
fn registers_plugin(real: &Path, places: &OwnPlaces<'_>) -> bool {
    let Some(name) = real.file_name().and_then(|name| name.to_str()) else { return false };
    let is_ours = PLUGIN_FILES.contains(&name);
    if !is_ours && !PLUGIN_LISTS.contains(&name) {
        return false;
    }
    let in_host = |folder: &str| places.host.is_some_and(|host| is_below(real, &host.join(folder)));
    // The folder holds several versions and marketplaces; each of our folders has our name in it. A home directory
    // may have it, too.
    let below = || real.iter().rev().take_while(|name| *name != "plugins" && *name != "skills");
    let names_us = || below().any(|name| name.to_string_lossy().contains("tidegate"));
    if is_ours {
        places.plugin.is_some_and(|plugin| is_below(real, plugin))
            || names_us() && (in_host("plugins") || in_host("skills"))
    } else {
        in_host("plugins")
    }
}

/// `real` has no links; `folder` may have some.
fn is_below(real: &Path, folder: &Path) -> bool {
    let through_link = || matches!(check_links(folder), Links::Some);
    real.starts_with(folder)
        || through_link() && resolve(folder).is_some_and(|folder| real.starts_with(folder))
}

fn follow_links(path: &Path) -> Cow<'_, Path> {
    // Missing folders cannot be links.
    let mut looks = path.ancestors().skip(1).map(check_links);
    if let Some(Links::None) = looks.find(|links| !matches!(links, Links::Missing)) {
        return Cow::Borrowed(path);
    }
    resolve(path).map_or(Cow::Borrowed(path), Cow::Owned)
}

enum Links {
    None,
    Some,
    Missing,
}

/// One system call; following the path would take one for each part of it.
#[cfg(target_os = "linux")]
fn check_links(folder: &Path) -> Links {
    use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
    let flags = OFlags::PATH | OFlags::CLOEXEC | OFlags::DIRECTORY;
    match openat2(CWD, folder, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        Ok(_) if !folder.components().any(|part| part == Component::ParentDir) => Links::None,
        Err(rustix::io::Errno::NOENT) => Links::Missing,
        // Old kernels cannot tell.
        _ => Links::Some,
    }
}

#[cfg(not(target_os = "linux"))]
fn check_links(folder: &Path) -> Links {
    if folder.exists() { Links::Some } else { Links::Missing }
}

struct Target {
    path: PathBuf,
    file: Option<FileId>,
    /// Executable. A program that does not exist yet is identified by its name alone.
    may_run: bool,
    /// It has another hard link.
    is_linked: bool,
}

impl Target {
    fn follow(path: &Path) -> Target {
        // A missing target may be the end of a chain of links.
        let mut path = path.to_owned();
        let mut is_there = true;
        for _ in 0..40 {
            let to = match fs::read_link(&path) {
                Ok(to) => to,
                Err(error) => {
                    is_there = error.kind() != ErrorKind::NotFound;
                    break;
                }
            };
            path = path.parent().map_or(to.clone(), |folder| folder.join(to));
        }
        let found = if is_there { fs::metadata(&path).ok() } else { None };
        let (may_run, is_linked) = found.as_ref().map_or((false, false), can_run_or_is_linked);
        Target { file: found.and_then(|found| FileId::read(&found, &path)), path, may_run, is_linked }
    }

    fn is(&self, ours: &Path) -> bool {
        match self.file {
            _ if self.path == ours => true,
            Some(ref target) => FileId::of(ours).as_ref() == Some(target),
            // A missing file: the same names below the same folder would be the same file.
            None if are_same_names(last_name(&self.path), last_name(ours)) => {
                match (split_missing(&self.path), split_missing(ours)) {
                    (Some((above, rest)), Some((our_above, our_rest))) => {
                        above == our_above && are_same_names(&rest, &our_rest)
                    }
                    _ => false,
                }
            }
            None => false,
        }
    }

    /// Whether a search for the program would start this file.
    fn is_named_as_program(&self) -> bool {
        let in_bin = || self.path.parent().is_some_and(|folder| last_name(folder) == "bin");
        PROGRAM_NAMES.iter().any(|name| last_name(&self.path) == *name) && in_bin()
    }
}

fn last_name(path: &Path) -> &Path {
    path.file_name().map_or(Path::new(""), Path::new)
}

/// The nearest existing folder, and the missing part below it.
fn split_missing(path: &Path) -> Option<(FileId, PathBuf)> {
    path.ancestors()
        .skip(1)
        .find_map(|above| Some((FileId::of(above)?, path.strip_prefix(above).ok()?.to_owned())))
}

/// Some file systems do not distinguish capitals.
fn are_same_names(one: &Path, other: &Path) -> bool {
    let (one, other): (Vec<_>, Vec<_>) = (one.components().collect(), other.components().collect());
    let same = |(one, other): (&Component<'_>, &Component<'_>)| {
        one.as_os_str().eq_ignore_ascii_case(other.as_os_str())
    };
    one.len() == other.len() && one.iter().zip(&other).all(same)
}

/// Device and inode.
#[cfg(unix)]
#[derive(Clone, Copy, PartialEq, Eq)]
struct FileId(u64, u64);

#[cfg(unix)]
impl FileId {
    fn of(path: &Path) -> Option<FileId> {
        FileId::read(&fs::metadata(path).ok()?, path)
    }

    #[expect(clippy::unnecessary_wraps, reason = "on other systems it may not be found")]
    fn read(found: &fs::Metadata, _: &Path) -> Option<FileId> {
        use std::os::unix::fs::MetadataExt;
        Some(FileId(found.dev(), found.ino()))
    }
}

/// Executable; more than one hard link.
#[cfg(unix)]
fn can_run_or_is_linked(found: &fs::Metadata) -> (bool, bool) {
    use std::os::unix::fs::MetadataExt;
    (found.mode() & 0o111 != 0, found.nlink() > 1)
}

#[cfg(not(unix))]
#[derive(Clone, PartialEq, Eq)]
struct FileId(PathBuf);

#[cfg(not(unix))]
impl FileId {
    fn of(path: &Path) -> Option<FileId> {
        fs::canonicalize(path).ok().map(FileId)
    }

    fn read(_: &fs::Metadata, path: &Path) -> Option<FileId> {
        FileId::of(path)
    }
}

#[cfg(not(unix))]
fn can_run_or_is_linked(_: &fs::Metadata) -> (bool, bool) {
    (true, true)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn the_program_the_plugin_and_the_memory_are_ours_by_any_name() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        let installed = "host/plugins/cache/market/tidegate/0.1.1";
        for path in [
            "p/src",
            "cellar",
            "share/tidegate/bin",
            "share/tidegate/memory/backups",
            "state/sessions/s",
            "checkout/plugin/hooks",
            "host/plugins/cache/market/other/hooks",
            "host/skills/tidegate/hooks",
            &format!("{installed}/hooks"),
            &format!("{installed}/skills/audit"),
        ] {
            fs::create_dir_all(at(path)).unwrap();
        }
        for path in ["cellar/tidegate-0.1.1", "share/tidegate/memory/memory.db", "p/src/main.rs"] {
            fs::write(at(path), "x").unwrap();
        }
        let runs = <fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o755);
        fs::set_permissions(at("cellar/tidegate-0.1.1"), runs).unwrap();
        symlink(at("cellar/tidegate-0.1.1"), at("share/tidegate/bin/tidegate")).unwrap();
        symlink(at("share/tidegate/memory"), at("p/src/m")).unwrap();
        symlink(at("state/sessions"), at("p/src/s")).unwrap();
        symlink(at(installed), at("p/src/plugin")).unwrap();
        fs::hard_link(at("share/tidegate/memory/memory.db"), at("p/src/notes.md")).unwrap();
        fs::hard_link(at("cellar/tidegate-0.1.1"), at("p/src/tool")).unwrap();
        let (root, host, state, memory) = (at("p"), at("host"), at("state"), at("share/tidegate/memory"));
        let (programs, plugin) = (|| vec![at("share/tidegate/bin/tidegate")], at("checkout/plugin"));
        let places = OwnPlaces {
            roots: &[root],
            config: None,
            host: Some(&host),
            state: Some(&state),
            memory: Some(&memory),
            programs: &programs,
            plugin: Some(&plugin),
            ..OwnPlaces::default()
        };
        for managed in ["managed-settings.json", "managed-settings.d/10.json"] {
            let managed = Path::new(MANAGED).join(managed);
            assert_eq!(super::identify(&managed, &places), Some(OwnFile::Host), "{}", managed.display());
        }
        let identified = |path: &str| identify(&at(path), &places);
        for path in [
            "share/tidegate/bin/tidegate",
            "cellar/tidegate-0.1.1",
            "p/src/tool",
            "home/.cargo/bin/tidegate",
            "checkout/plugin/bin/tidegate",
            "checkout/plugin/bin/tidegate-bin",
        ] {
            assert_eq!(identified(path), Some(OwnFile::Program), "{path}");
        }
        for path in [
            "checkout/plugin/hooks/hooks.json",
            "checkout/plugin/.claude-plugin/plugin.json",
            "host/plugins/cache/market/tidegate/0.1.1/hooks/hooks.json",
            "host/skills/tidegate/hooks/hooks.json",
            "p/src/plugin/hooks/hooks.json",
            "host/plugins/installed_plugins.json",
            "host/plugins/known_marketplaces.json",
        ] {
            assert_eq!(identified(path), Some(OwnFile::Plugin), "{path}");
        }
        for path in [
            "share/tidegate/memory/memory.db",
            "share/tidegate/memory/memory.db-wal",
            "share/tidegate/memory/memory.db-shm",
            "share/tidegate/memory/backups/memory-2026-01-01.db",
            "p/src/m/memory.db-wal",
            "p/src/notes.md",
        ] {
            assert_eq!(identified(path), Some(OwnFile::Memory), "{path}");
        }
        assert_eq!(identified("p/src/s/s/marks"), Some(OwnFile::State), "behind a link to a part of it");
        symlink(at("state"), at("linked")).unwrap();
        let linked = at("linked");
        let by_link = OwnPlaces { state: Some(&linked), ..places };
        for path in ["state/off.json", "linked/off.json", "p/src/s/s/marks"] {
            assert_eq!(super::identify(&at(path), &by_link), Some(OwnFile::State), "{path}");
        }
        for path in [
            "p/src/main.rs",
            "p/src/tidegate",
            "p/src/hooks.json",
            "p/src/memory.db",
            "host/plugins/cache/market/other/hooks/hooks.json",
            "host/plugins/cache/market/tidegate/0.1.1/skills/audit/SKILL.md",
            "share/tidegate/other",
        ] {
            assert_eq!(identified(path), None, "{path}");
        }
    }

    #[test]
    fn the_files_of_other_hosts_are_known_where_a_variable_moved_them() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        for path in ["c", "q", "x"] {
            fs::create_dir(at(path)).unwrap();
        }
        symlink(at("c"), at("link")).unwrap();
        let moved = || vec![(".copilot", at("c")), (".qwen", at("q")), (".codex", at("x"))];
        let places = OwnPlaces { moved: &moved, ..OwnPlaces::default() };
        for path in [
            "c/hooks/tidegate.json",
            "link/hooks/tidegate.json",
            "c/settings.json",
            "link/mcp-config.json",
            "q/settings.json",
            "x/hooks.json",
            "x/config.toml",
        ] {
            assert_eq!(identify(&at(path), &places), Some(OwnFile::Host), "{path}");
            assert_eq!(identify(&at(path), &OwnPlaces::default()), None, "{path}");
        }
        for path in ["c/session-state/s.json", "q/hooks.json", "x/settings.json", "x/skills/a/SKILL.md"] {
            assert_eq!(identify(&at(path), &places), None, "{path}");
        }
    }

    #[test]
    fn also_before_its_folder_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("p");
        fs::create_dir(&root).unwrap();
        symlink(&root, root.join("self")).unwrap();
        let places = OwnPlaces { roots: std::slice::from_ref(&root), ..OwnPlaces::default() };
        assert_eq!(identify(&root.join("self/.claude/settings.json"), &places), Some(OwnFile::Host));
        assert_eq!(identify(&root.join("self/.claude/other.json"), &places), None);
    }

    #[test]
    fn a_file_is_known_by_what_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        for path in ["p/.claude", "p/src", "home/.claude", "conf", "state/sessions/s", "dotfiles"] {
            fs::create_dir_all(at(path)).unwrap();
        }
        fs::write(at("p/.claude/settings.json"), "{}").unwrap();
        fs::write(at("p/src/settings.json"), "{}").unwrap();
        fs::write(at("dotfiles/claude.json"), "{}").unwrap();
        symlink(at("dotfiles/claude.json"), at("home/.claude/settings.json")).unwrap();
        symlink(at("p/.claude/settings.json"), at("p/src/alias.json")).unwrap();
        symlink(at("p/.claude/tidegate.toml"), at("p/src/dangling.toml")).unwrap();
        symlink(at("p/.claude"), at("p/src/link")).unwrap();
        symlink(at("p"), at("p/self")).unwrap();
        symlink("dangling.toml", at("p/src/second.toml")).unwrap();
        fs::hard_link(at("p/.claude/settings.json"), at("p/src/hard.json")).unwrap();
        let (root, config, host, state) = (at("p"), at("conf/config.toml"), at("home/.claude"), at("state"));
        let places = OwnPlaces {
            roots: &[root],
            config: Some(&config),
            host: Some(&host),
            state: Some(&state),
            ..OwnPlaces::default()
        };
        let identified = |path: &str| identify(&at(path), &places);
        for path in [
            "p/.claude/settings.json",
            "p/.claude/settings.local.json",
            "p/src/../.claude/settings.json",
            "p/no/such/../../.claude/settings.json",
            "p/src/link/settings.local.json",
            "p/src/alias.json",
            "p/src/hard.json",
            "home/.claude/settings.json",
            "dotfiles/claude.json",
        ] {
            assert_eq!(identified(path), Some(OwnFile::Host), "{path}");
        }
        assert_eq!(identified("conf/config.toml"), Some(OwnFile::Config));
        for path in ["p/.claude/tidegate.toml", "p/src/dangling.toml", "p/src/link/Tidegate.local.toml"] {
            assert_eq!(identified(path), Some(OwnFile::ProjectConfig), "{path}");
        }
        for path in ["state/off.json", "state/sessions/s/marks", "state/new/file"] {
            assert_eq!(identified(path), Some(OwnFile::State), "{path}");
        }
        for path in ["p/src/settings.json", "p/.claude/context/progress.md", "p/settings.json", "nowhere/x"] {
            assert_eq!(identified(path), None, "{path}");
        }
    }
}
