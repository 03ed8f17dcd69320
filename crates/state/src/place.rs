//! Places of private state, config and data, and the checks that they belong to the user alone. [`crate::layout`] lists the
//! files of private state, for their deletion.
//!
//! ```text
//! $TIDEGATE_STATE_DIR, else $XDG_STATE_HOME/tidegate, else ~/.local/state/tidegate     0700
//! ├── journal/2026-11-15.jsonl      one record per ruling, one file per day (UTC)
//! ├── installs/
//! │   ├── lock                      exclusive while an install changes files
//! │   ├── client-lock               the lock of Claude Code's own file, while an install holds it
//! │   ├── <project>/                files as `init` first found them (`*.before`), and `record.json`, from which
//! │   │                             `uninstall` restores them
//! │   └── replaced/                 files without a record, as they were before `init` replaced entries of 0.1.0
//! ├── llm-calls.json, .lock         today's calls to a language model about prompts
//! ├── summary-calls.json, .lock     this hour's calls for summaries
//! ├── off.json, off.lock            policies that `tidegate off` switched off, and policies that stepped down
//! ├── projects/<project>/
//! │   ├── cycles.jsonl              finished cycles and the cost of their stages; append-only
//! │   ├── cycle-consent.json        why a person's go-ahead is owed before a cycle publishes
//! │   ├── fix-loop.json             rounds of review and fix
//! │   ├── gates.jsonl               cleared gates of workflows, and owners of manifests; append-only
//! │   ├── knowledge                 reviewed entries, and sets of entries that caused a nudge; append-only
//! │   ├── listed.json               entries that `compound list` showed at a terminal
//! │   └── lock                      exclusive to change the project's persistence files or the files above
//! ├── worktrees/<project>/<time>-<name>/
//! │                                 flow and stock that existed only in a worktree, before it went
//! ├── memory/                       the catalogue: the part of the store that hooks know
//! │   ├── topics                    one record of 32 bytes per topic, at its id
//! │   ├── undecided.json            topics to offer at the start of a session
//! │   ├── projects/<project>.json   a project's id and decisions
//! │   ├── retries.json              work that the worker has to try again
//! │   └── lock                      exclusive to write
//! ├── spool/                        jobs from hooks to the worker, one file each, oldest first by name
//! │   ├── damaged/                  files that are not jobs
//! │   ├── lock                      held by the running worker
//! │   └── worker-started            when a hook last started one
//! ├── trust/                        project config files as a person trusted them
//! ├── config/                       config files as they last parsed
//! ├── told/                         an empty file for each text that the person was given once
//! ├── kept                          the day on which old files were last deleted
//! ├── unnoted/<session id>          edits of a session whose folder could not be written
//! └── sessions/<session id>/        of another host than Claude Code: `<host>.<session id>`
//!     ├── marks                     append-only, rewritten short beyond 12 KB
//!     ├── lock                      shared to append, exclusive to decide once or to rewrite
//!     ├── unnoted                   edits that could not be added to the marks in time, for the next Stop
//!     ├── bridge                    numbers of the status line, newest line last
//!     ├── boundaries                key facts of the last compaction, and which of them survived; newest line last
//!     ├── listed.json               entries that `compound list` showed
//!     ├── promotions/<digest>       promotions that wait for a person's yes
//!     └── claims                    fixed size: the registration that answers an event with two of them; written at
//!                                   every event, so its time is the hooks' heartbeat
//! ```
//!
//! Data that cannot be recreated is elsewhere, so that state can be deleted:
//!
//! ```text
//! $TIDEGATE_DATA_DIR, else $XDG_DATA_HOME/tidegate, else ~/.local/share/tidegate
//! ├── bin/tidegate                  the link that settings call (never below TIDEGATE_DATA_DIR)
//! └── memory/                       0700
//!     ├── memory.db                 the store: SQLite with its write-ahead log, 0600
//!     ├── backups/                  one a day, and one before a migration
//!     ├── damaged/<time>/           a store that was set aside, and the outcome
//!     ├── lock                      shared to open the store, exclusive to rebuild it
//!     └── team.json                 the outcome of the last exchange with a team
//! ```
//!
//! `tests/written_by/<version>` in `state`, `memory` and `cli` hold these files as a released version wrote
//! them, and tests read each one.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use tidegate_core::event::SessionId;

/// Variables that override places.
#[derive(Clone, Debug, Default)]
pub struct PlaceEnv {
    /// `TIDEGATE_STATE_DIR`.
    pub state_dir: Option<PathBuf>,
    /// `TIDEGATE_DATA_DIR`.
    pub data_dir: Option<PathBuf>,
    /// `XDG_STATE_HOME`.
    pub xdg_state: Option<PathBuf>,
    /// `XDG_CONFIG_HOME`.
    pub xdg_config: Option<PathBuf>,
    /// `XDG_DATA_HOME`.
    pub xdg_data: Option<PathBuf>,
    /// `HOME`.
    pub home: Option<PathBuf>,
    /// `CLAUDE_CONFIG_DIR`.
    pub host_config: Option<PathBuf>,
    /// `QWEN_CODE_TRUSTED_FOLDERS_PATH`.
    pub qwen_trust: Option<PathBuf>,
}

impl PlaceEnv {
    /// Relative paths are refused: they would mean another place in every directory.
    pub fn state(&self) -> Result<PathBuf, String> {
        if let Some(dir) = &self.state_dir {
            let absolute = dir.is_absolute();
            return if absolute {
                Ok(dir.clone())
            } else {
                Err("TIDEGATE_STATE_DIR is not an absolute path".to_owned())
            };
        }
        let base = only_absolute(self.xdg_state.as_ref())
            .or_else(|| Some(only_absolute(self.home.as_ref())?.join(".local/state")));
        base.map(|base| base.join("tidegate"))
            .ok_or_else(|| "neither HOME nor TIDEGATE_STATE_DIR is set".to_owned())
    }

    pub fn config(&self) -> Option<PathBuf> {
        let base = only_absolute(self.xdg_config.as_ref())
            .or_else(|| Some(only_absolute(self.home.as_ref())?.join(".config")))?;
        Some(base.join("tidegate/config.toml"))
    }

    /// Settings refer to this link, so that an upgrade does not leave a stale path in them.
    pub fn link(&self) -> Option<PathBuf> {
        Some(self.shared()?.join("bin/tidegate"))
    }

    /// Where everything is that a person could not make again.
    pub fn data(&self) -> Result<PathBuf, String> {
        match &self.data_dir {
            Some(dir) if dir.is_absolute() => Ok(dir.clone()),
            Some(_) => Err("TIDEGATE_DATA_DIR is not an absolute path".to_owned()),
            None => self.shared().ok_or_else(|| "neither HOME nor TIDEGATE_DATA_DIR is set".to_owned()),
        }
    }

    /// The folder of the memory store.
    pub fn memory(&self) -> Result<PathBuf, String> {
        self.data().map(|data| data.join("memory"))
    }

    fn shared(&self) -> Option<PathBuf> {
        let base = only_absolute(self.xdg_data.as_ref())
            .or_else(|| Some(only_absolute(self.home.as_ref())?.join(".local/share")))?;
        Some(base.join("tidegate"))
    }

    /// The host's folder in the home directory.
    pub fn host(&self) -> Option<PathBuf> {
        only_absolute(self.host_config.as_ref())
            .or_else(|| Some(only_absolute(self.home.as_ref())?.join(".claude")))
    }
}

/// Starts this very program, also if it was called by another name.
pub fn running_program() -> io::Result<PathBuf> {
    if cfg!(target_os = "linux") {
        // `current_exe` would also resolve the link.
        return Ok(PathBuf::from("/proc/self/exe"));
    }
    std::env::current_exe()
}

fn only_absolute(path: Option<&PathBuf>) -> Option<PathBuf> {
    path.filter(|path| path.is_absolute()).cloned()
}

#[derive(Clone, Debug)]
pub struct StateDir {
    root: PathBuf,
}

impl StateDir {
    /// Creates it if it is missing. Refuses a directory of another user, or one reached through another user's link.
    pub fn open(env: &PlaceEnv) -> Result<StateDir, String> {
        if let Some(found) = StateDir::open_if_there(env)? {
            return Ok(found);
        }
        let root = env.state()?;
        make_private(&root).map_err(|error| format!("{}: {error}", root.display()))?;
        check_folder(&root, LoosePermissions::Restrict).map_err(|refused| refused.describe(&root))?;
        Ok(StateDir { root })
    }

    /// For a process that outlives the hook that started it, and possibly its homes: it ends without one, and from now on makes
    /// folders only inside of those that it finds.
    pub fn open_in_background(env: &PlaceEnv) -> Result<Option<StateDir>, String> {
        // A second call in the same process could only repeat the first.
        let _ = FOUND_HOMES.set([env.state(), env.memory()].into_iter().flatten().collect());
        StateDir::open_if_there(env)
    }

    fn open_if_there(env: &PlaceEnv) -> Result<Option<StateDir>, String> {
        let root = env.state()?;
        match check_folder(&root, LoosePermissions::Restrict) {
            Ok(()) => Ok(Some(StateDir { root })),
            Err(Refused::Missing) => Ok(None),
            Err(refused) => Err(refused.describe(&root)),
        }
    }

    /// False once somebody deleted it.
    pub fn is_there(&self) -> bool {
        self.root.is_dir()
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Its name is safe for a folder: `SessionId` checks it.
    pub fn session(&self, session: &SessionId) -> PathBuf {
        self.root.join("sessions").join(session.as_str())
    }

    pub fn sessions(&self) -> PathBuf {
        self.root.join("sessions")
    }

    /// The same for every path that leads to the project.
    pub fn project(&self, root: &Path) -> PathBuf {
        let root = fs::canonicalize(root).unwrap_or_else(|_| root.to_owned());
        self.projects().join(crate::project::folder_name(&root))
    }

    pub fn projects(&self) -> PathBuf {
        self.root.join("projects")
    }

    pub fn journal(&self) -> PathBuf {
        self.root.join("journal")
    }
}

/// Refuses a folder of another user, one reached through another user's link, or one that others can write. Unlike
/// the state directory, it is not restricted: its files could still be theirs.
pub fn refuse_foreign(folder: &Path) -> Result<(), String> {
    match check_folder(folder, LoosePermissions::Refuse) {
        Err(refused @ (Refused::Shared | Refused::Foreign(_))) => Err(refused.describe(folder)),
        // Other problems show when the folder is used.
        _ => Ok(()),
    }
}

/// Treatment of a folder that others can read or write.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LoosePermissions {
    Restrict,
    /// Only if others can write; reading is fine.
    Refuse,
}

enum Refused {
    Missing,
    NotAFolder,
    Shared,
    Foreign(PathBuf),
    Io(io::Error),
}

impl Refused {
    fn describe(&self, root: &Path) -> String {
        match self {
            Refused::Missing => format!("{} cannot be made", root.display()),
            Refused::NotAFolder => format!("{} is not a folder", root.display()),
            Refused::Shared => format!("{} is shared with other users, who can write it", root.display()),
            Refused::Foreign(path) => format!("{} belongs to another user", path.display()),
            Refused::Io(error) => format!("{}: {error}", root.display()),
        }
    }
}

/// Set in a process that never makes a home: [`StateDir::open_in_background`].
static FOUND_HOMES: OnceLock<Vec<PathBuf>> = OnceLock::new();

/// Creates missing folders with mode 0700.
pub fn make_private(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match FOUND_HOMES.get() {
        None => builder.recursive(true).create(folder),
        Some(homes) => make_inside(homes, folder, &builder),
    }
}

/// Goes down from the home step by step: below a folder that is gone, no step succeeds.
fn make_inside(homes: &[PathBuf], folder: &Path, builder: &fs::DirBuilder) -> io::Result<()> {
    let missing = || io::Error::new(io::ErrorKind::NotFound, format!("{} is gone", folder.display()));
    let home = homes.iter().find(|home| folder.starts_with(home)).ok_or_else(missing)?;
    if !home.is_dir() {
        return Err(missing());
    }
    let mut steps: Vec<&Path> = folder.ancestors().take_while(|step| *step != home).collect();
    steps.reverse();
    for step in steps {
        match builder.create(step) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && step.is_dir() => {}
            made => made?,
        }
    }
    Ok(())
}

#[cfg(unix)]
fn check_folder(root: &Path, loose: LoosePermissions) -> Result<(), Refused> {
    use std::os::unix::fs::MetadataExt;

    let refused = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => Refused::Missing,
        io::ErrorKind::NotADirectory => Refused::NotAFolder,
        _ => Refused::Io(error),
    };
    let us = rustix::process::geteuid().as_raw();
    for step in root.ancestors().collect::<Vec<_>>().into_iter().rev() {
        let found = fs::symlink_metadata(step).map_err(refused)?;
        if found.is_symlink() {
            if found.uid() != us && found.uid() != 0 {
                return Err(Refused::Foreign(step.to_owned()));
            }
        } else if step == root {
            return check_owner(root, &found, us, loose);
        }
    }
    // Reached only if the root itself is a link.
    let found = fs::metadata(root).map_err(refused)?;
    check_owner(root, &found, us, loose)
}

/// Requires a folder of this user that others cannot access.
#[cfg(unix)]
fn check_owner(root: &Path, found: &fs::Metadata, us: u32, loose: LoosePermissions) -> Result<(), Refused> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    if !found.is_dir() {
        return Err(Refused::NotAFolder);
    }
    if found.uid() != us {
        return Err(Refused::Foreign(root.to_owned()));
    }
    // Shared places such as `/tmp` must not be closed to other users.
    if found.mode() & 0o1002 != 0 || (loose == LoosePermissions::Refuse && found.mode() & 0o020 != 0) {
        return Err(Refused::Shared);
    }
    if loose == LoosePermissions::Restrict && found.mode() & 0o077 != 0 {
        fs::set_permissions(root, fs::Permissions::from_mode(0o700)).map_err(Refused::Io)?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn check_folder(root: &Path, _: LoosePermissions) -> Result<(), Refused> {
    match fs::metadata(root) {
        Ok(found) if found.is_dir() => Ok(()),
        Ok(_) => Err(Refused::NotAFolder),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(Refused::Missing),
        Err(error) => Err(Refused::Io(error)),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn at(dir: &Path) -> PlaceEnv {
        PlaceEnv { state_dir: Some(dir.to_owned()), ..PlaceEnv::default() }
    }

    #[test]
    fn it_is_made_private_and_made_private_again() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("a/b");
        StateDir::open(&at(&root)).unwrap();
        let mode = || fs::metadata(&root).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(), 0o700);
        fs::set_permissions(&root, fs::Permissions::from_mode(0o755)).unwrap();
        StateDir::open(&at(&root)).unwrap();
        assert_eq!(mode(), 0o700);
        fs::set_permissions(&root, fs::Permissions::from_mode(0o1777)).unwrap();
        assert!(StateDir::open(&at(&root)).unwrap_err().contains("shared"));
        assert_eq!(mode(), 0o777);
    }

    #[test]
    fn only_who_may_make_it_makes_it() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("state");
        assert!(StateDir::open_if_there(&at(&root)).unwrap().is_none() && !root.exists());
        let state = StateDir::open(&at(&root)).unwrap();
        assert!(StateDir::open_if_there(&at(&root)).unwrap().is_some() && state.is_there());
        fs::remove_dir(&root).unwrap();
        assert!(!state.is_there());
    }

    #[test]
    fn a_home_that_is_gone_is_not_made_again() {
        let folder = tempfile::tempdir().unwrap();
        let homes = [folder.path().join("state"), folder.path().join("data/memory")];
        let make = |path: &Path| make_inside(&homes, path, &fs::DirBuilder::new());
        let below = homes[0].join("memory/projects");
        for path in [&homes[0], &homes[1], &below, &folder.path().join("elsewhere")] {
            assert_eq!(make(path).unwrap_err().kind(), io::ErrorKind::NotFound, "{}", path.display());
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        fs::create_dir(&homes[0]).unwrap();
        make(&below).unwrap();
        make(&below).unwrap();
        make(&homes[0]).unwrap();
        assert!(below.is_dir());
        fs::write(homes[0].join("file"), b"").unwrap();
        assert!(make(&homes[0].join("file")).is_err() && make(&homes[0].join("file/below")).is_err());
    }

    #[test]
    fn a_file_and_a_relative_path_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, b"").unwrap();
        assert!(StateDir::open(&at(&file)).unwrap_err().contains("not a folder"));
        assert!(StateDir::open(&at(&file.join("below"))).is_err());
        assert!(StateDir::open(&at(Path::new("relative"))).unwrap_err().contains("absolute"));
    }

    #[test]
    fn our_own_link_is_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real"), folder.path().join("link"));
        fs::create_dir(&real).unwrap();
        symlink(&real, &link).unwrap();
        StateDir::open(&at(&link)).unwrap();
    }

    /// Changing owners requires root.
    #[test]
    fn somebody_elses_folder_or_link_is_refused() {
        if !rustix::process::geteuid().is_root() {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("theirs");
        fs::create_dir(&root).unwrap();
        std::os::unix::fs::chown(&root, Some(12345), None).unwrap();
        assert!(StateDir::open(&at(&root)).unwrap_err().contains("another user"));
        let (real, link) = (folder.path().join("ours"), folder.path().join("link"));
        fs::create_dir(&real).unwrap();
        symlink(&real, &link).unwrap();
        std::os::unix::fs::lchown(&link, Some(12345), None).unwrap();
        assert!(StateDir::open(&at(&link)).unwrap_err().contains("another user"));
        assert!(StateDir::open(&at(&link.join("below"))).unwrap_err().contains("another user"));
    }

    #[test]
    fn the_order_of_places() {
        let mut env = PlaceEnv { home: Some("/h".into()), ..PlaceEnv::default() };
        assert_eq!(env.state().unwrap(), Path::new("/h/.local/state/tidegate"));
        assert_eq!(env.link().unwrap(), Path::new("/h/.local/share/tidegate/bin/tidegate"));
        env.xdg_data = Some("/d".into());
        assert_eq!(env.link().unwrap(), Path::new("/d/tidegate/bin/tidegate"));
        assert_eq!(env.data().unwrap(), Path::new("/d/tidegate"));
        env.data_dir = Some("/m".into());
        assert_eq!(env.data().unwrap(), Path::new("/m"));
        assert_eq!(env.link().unwrap(), Path::new("/d/tidegate/bin/tidegate"), "settings hold it");
        env.data_dir = Some("m".into());
        assert!(env.data().is_err() && PlaceEnv::default().data().is_err());
        env.xdg_state = Some("/x".into());
        assert_eq!(env.state().unwrap(), Path::new("/x/tidegate"));
        env.state_dir = Some("/s".into());
        assert_eq!(env.state().unwrap(), Path::new("/s"));
        assert!(PlaceEnv::default().state().is_err());
    }
}
