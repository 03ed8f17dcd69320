//! Whether a file that is about to be edited decides what Tidegate does.
//!
//! Told by what the file is, not by how its path is spelled: a link, a `..` or a second name leads to the same file.

use std::borrow::Cow;
use std::fs;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use tidegate_core::feature::own_settings::OwnFile;

use crate::config::PROJECT_FILES;
use crate::project::touched::{real, without_dots};

/// Where our files are.
#[derive(Clone, Copy)]
pub struct Places<'a> {
    /// The project, the folder the client was started in, the main worktree: where settings may stand.
    pub roots: &'a [PathBuf],
    /// The user's config.
    pub config: Option<&'a Path>,
    /// The host's folder.
    pub host: Option<&'a Path>,
    /// Private state.
    pub state: Option<&'a Path>,
    /// The folder of the memory.
    pub memory: Option<&'a Path>,
    /// Paths that lead to the program that hooks start. Asked for only where the file could be one.
    pub programs: &'a dyn Fn() -> Vec<PathBuf>,
    /// The plugin that started this hook.
    pub plugin: Option<&'a Path>,
}

impl Default for Places<'_> {
    fn default() -> Self {
        const NONE: fn() -> Vec<PathBuf> = Vec::new;
        Places {
            roots: &[],
            config: None,
            host: None,
            state: None,
            memory: None,
            programs: &NONE,
            plugin: None,
        }
    }
}

/// Names under which the program is found in a `bin` folder: on `PATH`, behind the stable link, by the plugin.
const PROGRAM_NAMES: [&str; 2] = ["tidegate", "tidegate-bin"];

/// Files of a plugin that say what is started.
const PLUGIN_FILES: [&str; 3] = ["hooks.json", "plugin.json", ".mcp.json"];

/// The client's own lists, which say where plugins are.
const PLUGIN_LISTS: [&str; 2] = ["installed_plugins.json", "known_marketplaces.json"];

/// An administrator's settings, which count more than those of a person. Only root writes there, and agents do run as root.
const MANAGED: &str = "/etc/claude-code";

/// Which of our files this is.
pub fn which(target: &Path, places: &Places<'_>) -> Option<OwnFile> {
    // The system follows `..` through links, a program may take it out of the text first: either may be meant.
    let dotted = target.components().any(|part| part == Component::ParentDir);
    find(target, places).or_else(|| if dotted { find(&without_dots(target), places) } else { None })
}

fn find(target: &Path, places: &Places<'_>) -> Option<OwnFile> {
    let in_project = |files: &'static [&'static str]| {
        places.roots.iter().flat_map(move |root| files.iter().map(move |file| in_folder(root, file)))
    };
    let hosts = places
        .host
        .map(|host| in_folder(host, "settings.json"))
        .into_iter()
        .chain(in_project(&[".claude/settings.json", ".claude/settings.local.json"]));
    let target = Target::of(target);
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
    let real = without_links(&target.path);
    if real.starts_with(MANAGED) {
        return Some(OwnFile::Host);
    }
    if registers_plugin(&real, places) {
        return Some(OwnFile::Plugin);
    }
    if places.state.is_some_and(|state| is_below(&real, state)) {
        return Some(OwnFile::State);
    }
    // Also under another name: it is one file, and what is in it is told to later sessions.
    let is_store =
        |memory: &Path| is_below(&real, memory) || target.has_names && target.is(&memory.join("memory.db"));
    places.memory.filter(|memory| is_store(memory)).map(|_| OwnFile::Memory)
}

/// `Path::join` copies the folder once more to make room for the file, and every edit asks for a dozen of these.
fn in_folder(folder: &Path, file: &str) -> PathBuf {
    let mut path = PathBuf::with_capacity(folder.as_os_str().len() + 1 + file.len());
    path.push(folder);
    path.push(file);
    path
}

/// Only few names are looked at further: the folders of plugins hold many files that start nothing.
fn registers_plugin(real: &Path, places: &Places<'_>) -> bool {
    let Some(name) = real.file_name().and_then(|name| name.to_str()) else { return false };
    let is_ours = PLUGIN_FILES.contains(&name);
    if !is_ours && !PLUGIN_LISTS.contains(&name) {
        return false;
    }
    let in_host = |folder: &str| places.host.is_some_and(|host| is_below(real, &host.join(folder)));
    // Copies of several versions and marketplaces lie there; the folder of each of ours is named after us. A home may be, too.
    let below = || real.iter().rev().take_while(|name| *name != "plugins" && *name != "skills");
    let names_us = || below().any(|name| name.to_string_lossy().contains("tidegate"));
    if is_ours {
        places.plugin.is_some_and(|plugin| is_below(real, plugin))
            || names_us() && (in_host("plugins") || in_host("skills"))
    } else {
        in_host("plugins")
    }
}

/// Whether a path without links is below a folder, which may be reached by links.
fn is_below(real: &Path, folder: &Path) -> bool {
    let through_link = || matches!(look(folder), Links::Some);
    real.starts_with(folder)
        || through_link() && self::real(folder).is_some_and(|folder| real.starts_with(folder))
}

/// The path with every link in it followed.
fn without_links(path: &Path) -> Cow<'_, Path> {
    // Folders that are not there yet are no links.
    let mut looks = path.ancestors().skip(1).map(look);
    if let Some(Links::None) = looks.find(|links| !matches!(links, Links::Missing)) {
        return Cow::Borrowed(path);
    }
    real(path).map_or(Cow::Borrowed(path), Cow::Owned)
}

/// Whether a part of a folder's path is a link.
enum Links {
    None,
    Some,
    /// The folder is not there.
    Missing,
}

/// One look, where following the path would take one for each part of it.
#[cfg(target_os = "linux")]
fn look(folder: &Path) -> Links {
    use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
    let flags = OFlags::PATH | OFlags::CLOEXEC | OFlags::DIRECTORY;
    match openat2(CWD, folder, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        Ok(_) if !folder.components().any(|part| part == Component::ParentDir) => Links::None,
        Err(rustix::io::Errno::NOENT) => Links::Missing,
        // Old kernels cannot say.
        _ => Links::Some,
    }
}

#[cfg(not(target_os = "linux"))]
fn look(folder: &Path) -> Links {
    if folder.exists() { Links::Some } else { Links::Missing }
}

struct Target {
    path: PathBuf,
    file: Option<Id>,
    /// It can be run. A program that is not there yet is told by its name alone.
    may_run: bool,
    /// It has more than one name.
    has_names: bool,
}

impl Target {
    fn of(path: &Path) -> Target {
        // What is not there yet may still be a link, or a link to a link, to where it would be.
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
        let (may_run, has_names) = found.as_ref().map_or((false, false), traits);
        Target { file: found.and_then(|found| Id::read(&found, &path)), path, may_run, has_names }
    }

    fn is(&self, ours: &Path) -> bool {
        match self.file {
            _ if self.path == ours => true,
            Some(ref target) => Id::of(ours).as_ref() == Some(target),
            // It is not there: the same names below the same folder would be the same file.
            None if same_names(last(&self.path), last(ours)) => match (resting(&self.path), resting(ours)) {
                (Some((above, rest)), Some((our_above, our_rest))) => {
                    above == our_above && same_names(&rest, &our_rest)
                }
                _ => false,
            },
            None => false,
        }
    }

    /// Whether something that looks for the program would start this file.
    fn is_named_as_program(&self) -> bool {
        let in_bin = || self.path.parent().is_some_and(|folder| last(folder) == "bin");
        PROGRAM_NAMES.iter().any(|name| last(&self.path) == *name) && in_bin()
    }
}

fn last(path: &Path) -> &Path {
    path.file_name().map_or(Path::new(""), Path::new)
}

/// The nearest folder that is there, and what is not there below it.
fn resting(path: &Path) -> Option<(Id, PathBuf)> {
    path.ancestors()
        .skip(1)
        .find_map(|above| Some((Id::of(above)?, path.strip_prefix(above).ok()?.to_owned())))
}

/// File systems that do not tell capitals apart would make one file of two names.
fn same_names(one: &Path, other: &Path) -> bool {
    let (one, other): (Vec<_>, Vec<_>) = (one.components().collect(), other.components().collect());
    let same = |(one, other): (&Component<'_>, &Component<'_>)| {
        one.as_os_str().eq_ignore_ascii_case(other.as_os_str())
    };
    one.len() == other.len() && one.iter().zip(&other).all(same)
}

/// What a path leads to.
#[cfg(unix)]
#[derive(Clone, Copy, PartialEq, Eq)]
struct Id(u64, u64);

#[cfg(unix)]
impl Id {
    fn of(path: &Path) -> Option<Id> {
        Id::read(&fs::metadata(path).ok()?, path)
    }

    #[expect(clippy::unnecessary_wraps, reason = "on other systems it may not be found")]
    fn read(found: &fs::Metadata, _: &Path) -> Option<Id> {
        use std::os::unix::fs::MetadataExt;
        Some(Id(found.dev(), found.ino()))
    }
}

/// Whether a file can be run, and whether it has more than one name.
#[cfg(unix)]
fn traits(found: &fs::Metadata) -> (bool, bool) {
    use std::os::unix::fs::MetadataExt;
    (found.mode() & 0o111 != 0, found.nlink() > 1)
}

#[cfg(not(unix))]
#[derive(Clone, PartialEq, Eq)]
struct Id(PathBuf);

#[cfg(not(unix))]
impl Id {
    fn of(path: &Path) -> Option<Id> {
        fs::canonicalize(path).ok().map(Id)
    }

    fn read(_: &fs::Metadata, path: &Path) -> Option<Id> {
        Id::of(path)
    }
}

#[cfg(not(unix))]
fn traits(_: &fs::Metadata) -> (bool, bool) {
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
        let places = Places {
            roots: &[root],
            config: None,
            host: Some(&host),
            state: Some(&state),
            memory: Some(&memory),
            programs: &programs,
            plugin: Some(&plugin),
        };
        for managed in ["managed-settings.json", "managed-settings.d/10.json"] {
            let managed = Path::new(MANAGED).join(managed);
            assert_eq!(super::which(&managed, &places), Some(OwnFile::Host), "{}", managed.display());
        }
        let which = |path: &str| which(&at(path), &places);
        for path in [
            "share/tidegate/bin/tidegate",
            "cellar/tidegate-0.1.1",
            "p/src/tool",
            "home/.cargo/bin/tidegate",
            "checkout/plugin/bin/tidegate",
            "checkout/plugin/bin/tidegate-bin",
        ] {
            assert_eq!(which(path), Some(OwnFile::Program), "{path}");
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
            assert_eq!(which(path), Some(OwnFile::Plugin), "{path}");
        }
        for path in [
            "share/tidegate/memory/memory.db",
            "share/tidegate/memory/memory.db-wal",
            "share/tidegate/memory/memory.db-shm",
            "share/tidegate/memory/backups/memory-2026-01-01.db",
            "p/src/m/memory.db-wal",
            "p/src/notes.md",
        ] {
            assert_eq!(which(path), Some(OwnFile::Memory), "{path}");
        }
        assert_eq!(which("p/src/s/s/marks"), Some(OwnFile::State), "behind a link to a part of it");
        symlink(at("state"), at("linked")).unwrap();
        let linked = at("linked");
        let by_link = Places { state: Some(&linked), ..places };
        for path in ["state/off.json", "linked/off.json", "p/src/s/s/marks"] {
            assert_eq!(super::which(&at(path), &by_link), Some(OwnFile::State), "{path}");
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
            assert_eq!(which(path), None, "{path}");
        }
    }

    #[test]
    fn also_before_its_folder_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("p");
        fs::create_dir(&root).unwrap();
        symlink(&root, root.join("self")).unwrap();
        let places = Places { roots: std::slice::from_ref(&root), ..Places::default() };
        assert_eq!(which(&root.join("self/.claude/settings.json"), &places), Some(OwnFile::Host));
        assert_eq!(which(&root.join("self/.claude/other.json"), &places), None);
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
        let places = Places {
            roots: &[root],
            config: Some(&config),
            host: Some(&host),
            state: Some(&state),
            ..Places::default()
        };
        let which = |path: &str| which(&at(path), &places);
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
            assert_eq!(which(path), Some(OwnFile::Host), "{path}");
        }
        assert_eq!(which("conf/config.toml"), Some(OwnFile::Config));
        for path in ["p/.claude/tidegate.toml", "p/src/dangling.toml", "p/src/link/Tidegate.local.toml"] {
            assert_eq!(which(path), Some(OwnFile::ProjectConfig), "{path}");
        }
        for path in ["state/off.json", "state/sessions/s/marks", "state/new/file"] {
            assert_eq!(which(path), Some(OwnFile::State), "{path}");
        }
        for path in ["p/src/settings.json", "p/.claude/context/progress.md", "p/settings.json", "nowhere/x"] {
            assert_eq!(which(path), None, "{path}");
        }
    }
}
