//! Deletes what Tidegate recorded, for all projects.
//!
//! Nothing goes while an install stays: it would go on recording, and needs its record to be taken out. A person can choose
//! folders that hold more than Tidegate's files, and link them to another disk. So only files go that Tidegate makes, links
//! of the person are followed, and everything that stays is named.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use tidegate_core::host::Host;
use tidegate_memory::memory::MemoryHome;
use tidegate_state::file::bounded;
use tidegate_state::file::lock::{self, LockMode};
use tidegate_state::layout::{self, STATE_FILES};

use super::place::Place;
use super::plan::Plan;
use super::record::{Kind, Records};
use super::remains::{Remains, WORKTREE_NOTES};
use super::summary::tilde;
use super::target::Target;
use crate::bilingual::{Bilingual, both};
use crate::config_words::describe_file_fault;
use crate::error::CliError;
use crate::host::claude_code::settings_file::Scope;
use crate::host::claude_code::{plugin, settings_text, warnings};
use crate::host::opencode;
use crate::host::registered::{HOSTS, HostHooks};
use crate::json_text::Document;
use crate::path::{is_own, is_same_place};
use crate::shell::quote_path;

/// More than this is not a settings file.
const LARGEST: u64 = 4 * 1024 * 1024;

/// Refuses while an install would stay.
pub(crate) fn check_alone(target: &Target, records: &Records) -> Result<(), CliError> {
    let home = target.env.place.home.as_deref();
    let mut installs: Vec<Install> = Vec::new();
    for install in list_installs(target, records) {
        match install.state(&target.call) {
            InstallState::Gone => {}
            InstallState::Used => installs.push(install),
            InstallState::Wrapped(wrapper) => return Err(wrapped(&tilde(&install.file, home), &wrapper)),
            InstallState::Unknown(why) => {
                let (file, Bilingual { en, ja }) = (tilde(&install.file, home), describe_file_fault(&why));
                return Err(CliError::new(both!(
                    "{file} may still start Tidegate, and cannot be read: {en}",
                    "{file} がまだ Tidegate を起動する可能性がありますが、読めません: {ja}"
                ))
                .hint(both!(
                    "fix or delete that file, then run this again; nothing was changed",
                    "ファイルを直すか削除して、もう一度実行してください。何も変更していません"
                )));
            }
        }
    }
    if !installs.is_empty() {
        let files = installs.iter().map(|install| tilde(&install.file, home)).collect::<Vec<_>>().join(", ");
        let mut commands: Vec<String> =
            installs.iter().map(|install| format!("`{}`", install.way_out(target))).collect();
        commands.dedup();
        let commands = commands.join(", ");
        return Err(CliError::new(both!(
            "Tidegate's hooks in {files} would stay and record again",
            "{files} の Tidegate のフックが残り、また記録を始めます"
        ))
        .hint(both!(
            "the recorded conversations are those of all projects. First run {commands}; nothing was changed",
            "記録した会話は全プロジェクト共通です。先に {commands} を実行してください。何も変更していません"
        )));
    }
    check_plugin(target)
}

fn wrapped(file: &str, wrapper: &str) -> CliError {
    CliError::new(both!(
        "your own hook `{wrapper}` in {file} starts Tidegate, which would record again",
        "{file} にあるご自身のフック `{wrapper}` が Tidegate を起動し、また記録を始めます"
    ))
    .hint(both!(
        "remove it there, then run this again; nothing was changed",
        "そこから消して、もう一度実行してください。何も変更していません"
    ))
}

/// After the uninstall: an entry that it had to leave needs the record.
pub(crate) fn check_gone(target: &Target, plan: &Plan) -> Result<(), CliError> {
    let Some(kept) = plan.record.files.iter().find(|kept| kept.kind == Kind::Server) else { return Ok(()) };
    Err(CliError::new(both!(
        "nothing recorded was deleted: {file} still names Tidegate",
        "記録は削除していません。{file} にまだ Tidegate の記述があります",
        file = tilde(&kept.file, target.env.place.home.as_deref())
    ))
    .hint(both!(
        "the uninstall is done otherwise. Take that entry out, then run `tidegate uninstall --purge` again",
        "ほかの部分は外しました。その記述を消して、もう一度 `tidegate uninstall --purge` を実行してください"
    )))
}

/// A settings file that may call Tidegate.
#[derive(Debug)]
struct Install {
    root: PathBuf,
    file: PathBuf,
    /// Of another host than Claude Code.
    host: Option<&'static HostHooks>,
    /// By this very uninstall.
    is_cleared: bool,
}

enum InstallState {
    Gone,
    Used,
    /// A person's own hook starts Tidegate.
    Wrapped(String),
    Unknown(String),
}

impl Install {
    fn state(&self, program: &str) -> InstallState {
        let bytes = match bounded::read(&self.file, LARGEST) {
            Ok(bytes) => bytes,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return InstallState::Gone;
            }
            Err(error) => return InstallState::Unknown(error.to_string()),
        };
        let Ok(text) = String::from_utf8(bytes) else {
            return InstallState::Unknown("not UTF-8".to_owned());
        };
        // A script, not JSON.
        if self.host.is_some_and(|hooks| hooks.host == Host::OpenCode) {
            let is_used = opencode::is_shim(&text) && !self.is_cleared;
            return if is_used { InstallState::Used } else { InstallState::Gone };
        }
        if let Some(wrapper) = settings_text::find_wrappers(&text, program).into_iter().next() {
            return InstallState::Wrapped(wrapper);
        }
        match Document::parse(&text) {
            Ok(_) if self.is_cleared || !settings_text::has_ours(&text, program) => InstallState::Gone,
            Ok(_) => InstallState::Used,
            Err(fault) if text.contains("tidegate") => {
                InstallState::Unknown(format!("{}:{}: {}", fault.line, fault.column, fault.what))
            }
            Err(_) => InstallState::Gone,
        }
    }

    fn way_out(&self, target: &Target) -> String {
        let host = self.host.map(|hooks| format!(" --host {}", hooks.host.name())).unwrap_or_default();
        if target.env.place.host().is_some_and(|host| is_same_place(&host, &self.root)) {
            return format!("tidegate uninstall --user{host}");
        }
        let is_shared = self.host.is_none() && self.file.ends_with("settings.json");
        let shared = if is_shared { " --shared" } else { "" };
        format!("tidegate uninstall --project {}{shared}{host}", quote_path(&self.root))
    }
}

/// Of all records, and of this project and its person, each file once.
fn list_installs(target: &Target, records: &Records) -> Vec<Install> {
    let place = &target.env.place;
    let here = [Some(target.own_settings()), target.shared_settings()];
    let here = here.into_iter().flatten().map(|place| (target.root.clone(), place.file));
    let user = place.host().map(|host| (host.clone(), host.join("settings.json")));
    let project = (!target.is_user).then_some(target.root.as_path());
    let of_others = HOSTS.iter().flat_map(|hooks| hooks.files(project, place)).map(|(scope, file)| {
        let root = place.host().filter(|_| scope == Scope::User);
        (root.unwrap_or_else(|| target.root.clone()), file)
    });
    let is_named = |host: Host| target.host.is_none_or(|named| named == host);
    let own = [Some(target.own_settings()), target.shared_settings().filter(|_| target.shared)];
    let own = own.into_iter().filter(|_| is_named(Host::ClaudeCode));
    let others = HOSTS.iter().filter(|hooks| is_named(hooks.host)).map(|hooks| target.hooks_of(hooks));
    let cleared: Vec<Place> = own.chain(others).flatten().collect();
    let mut installs: Vec<Install> = Vec::new();
    for (root, file) in here.chain(user).chain(of_others).chain(records.settings()) {
        if !installs.iter().any(|known| is_same_place(&known.file, &file)) {
            let is_cleared = cleared.iter().any(|place| is_same_place(&place.file, &file));
            let host = HOSTS.iter().copied().find(|hooks| hooks.is_file(&file, &root, place));
            installs.push(Install { root, file, host, is_cleared });
        }
    }
    installs
}

fn check_plugin(target: &Target) -> Result<(), CliError> {
    let settings = warnings::read_settings(target);
    let Some(found) = plugin::find_removal(&settings, target.env.place.host().as_deref()) else {
        return Ok(());
    };
    let id = found.id;
    let error = CliError::new(both!(
        "the plugin {id} would stay and record again",
        "プラグイン {id} が残り、また記録を始めます"
    ));
    Err(match found.command {
        Some(command) => error.hint(both!(
            "first run `{command}`; nothing was changed",
            "先に `{command}` を実行してください。何も変更していません"
        )),
        None => error.hint(both!(
            "your administrator enabled it: ask them to remove it first; nothing was changed",
            "管理者が有効にしています。先に削除を依頼してください。何も変更していません"
        )),
    })
}

/// Returns what stays, other than notes.
pub(crate) fn delete(remains: &Remains) -> Result<Vec<PathBuf>, CliError> {
    let failed = |path: &Path, error: &io::Error| {
        CliError::new(format!("{}: {error}", path.display())).hint(both!(
            "the rest was not deleted; fix this, then run it again",
            "残りは削除していません。原因を取り除いて、もう一度実行してください"
        ))
    };
    let (memory, state, config) = (remains.memory_path(), remains.state_path(), remains.config_path());
    // A worker, or an MCP server in a call, would write on into what is deleted.
    let locks = [state.map(|state| state.join("spool/lock")), memory.map(|memory| memory.join("lock"))];
    let mut held = Vec::new();
    for path in locks.iter().flatten().filter(|path| path.exists()) {
        let lock = File::open(path).and_then(|file| {
            lock::wait(&file, path, LockMode::Exclusive)?;
            Ok(file)
        });
        held.push(lock.map_err(|error| failed(path, &error))?);
    }
    let mut left = Vec::new();
    // A person's notes, which exist nowhere else.
    let is_of_notes = |file: &&&str| file.starts_with(&format!("{WORKTREE_NOTES}/"));
    let of_state: Vec<&str> = STATE_FILES.iter().filter(|file| !is_of_notes(file)).copied().collect();
    for (folder, files) in [(memory, MemoryHome::FILES), (state, &of_state)] {
        if let Some(folder) = folder {
            delete_listed(folder, files, &mut left).map_err(|error| failed(folder, &error))?;
        }
    }
    if let Some(config) = config {
        // A link goes, but not the file behind it: that is kept with a person's other settings.
        left.extend(fs::canonicalize(config).ok().filter(|real| config.is_symlink() && real.exists()));
        ignore_missing(fs::remove_file(config)).map_err(|error| failed(config, &error))?;
    }
    for folder in [memory, config].into_iter().flatten().filter_map(Path::parent) {
        let _ = fs::remove_dir(folder);
    }
    // The same folder may hold both.
    let notes = state.map(|state| state.join(WORKTREE_NOTES));
    let is_note = |path: &Path| notes.as_ref().is_some_and(|notes| path.starts_with(notes));
    left.retain(|path| fs::symlink_metadata(path).is_ok() && !is_note(path));
    left.dedup();
    Ok(left)
}

/// Deletes files with these names below a folder, and the folders that are empty then. Adds everything else to `left`.
fn delete_listed(folder: &Path, files: &[&str], left: &mut Vec<PathBuf>) -> io::Result<()> {
    let is_link = folder.is_symlink();
    let real = if is_link { fs::canonicalize(folder)? } else { folder.to_owned() };
    // Another user's link could lead to any files of this one.
    if !real.is_dir() || is_link && !(is_own(folder) && is_own(&real)) {
        left.push(folder.to_owned());
        return Ok(());
    }
    let before = left.len();
    clear(&real, Path::new(""), files, left)?;
    if left.len() == before {
        // A mount point stays, empty.
        let _ = fs::remove_dir(&real);
        if is_link {
            fs::remove_file(folder)?;
        }
    }
    Ok(())
}

fn clear(root: &Path, below: &Path, files: &[&str], left: &mut Vec<PathBuf>) -> io::Result<()> {
    let mut entries = fs::read_dir(root.join(below))?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = below.join(entry.file_name());
        let kind = entry.file_type()?;
        if kind.is_dir() && layout::is_folder_listed(files, &path) {
            let before = left.len();
            clear(root, &path, files, left)?;
            if left.len() == before {
                ignore_missing(fs::remove_dir(root.join(path)))?;
            }
        } else if kind.is_file() && layout::is_listed(files, &path) {
            ignore_missing(fs::remove_file(root.join(path)))?;
        } else {
            left.push(root.join(path));
        }
    }
    Ok(())
}

fn ignore_missing(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    const FILES: &[&str] = &["kept", "projects/<project>/lock", "sessions/<session>/marks"];

    fn put(path: PathBuf) {
        fs::create_dir_all(path.parent().expect("a folder")).expect("new folders");
        fs::write(path, "").expect("a new file");
    }

    fn deleted(folder: &Path) -> Vec<PathBuf> {
        let mut left = Vec::new();
        delete_listed(folder, FILES, &mut left).expect("a readable folder");
        left
    }

    #[test]
    fn only_known_files_go_and_the_rest_is_named() {
        let base = tempfile::tempdir().unwrap();
        let root = base.path().join("state");
        for path in [
            "kept",
            "projects/app-85ee94c05585ebbb/lock",
            "sessions/s-1/marks",
            "sessions/s-1/.marks.1.0.tmp",
        ] {
            put(root.join(path));
        }
        let theirs = ["projects/mine", "projects/other-85ee94c05585ebbb/thesis.md", "readme.md"];
        put(root.join("projects/mine/thesis.md"));
        put(root.join(theirs[1]));
        put(root.join(theirs[2]));
        let mut left = deleted(&root);
        left.sort();
        assert_eq!(left, theirs.map(|path| root.join(path)));
        assert!(root.join("projects/mine/thesis.md").exists());
        for gone in ["kept", "sessions", "projects/app-85ee94c05585ebbb"] {
            assert!(!root.join(gone).exists(), "{gone}");
        }
        fs::remove_dir_all(root.join("projects")).unwrap();
        fs::remove_file(root.join("readme.md")).unwrap();
        assert_eq!((deleted(&root), root.exists()), (Vec::new(), false));
    }

    #[test]
    fn a_link_of_the_person_is_followed_and_one_inside_is_not() {
        let base = tempfile::tempdir().unwrap();
        let base = fs::canonicalize(base.path()).unwrap();
        let (disk, link, other) = (base.join("disk"), base.join("memory"), base.join("other"));
        put(disk.join("kept"));
        put(other.join("s-1/marks"));
        symlink(&disk, &link).unwrap();
        symlink(&other, disk.join("sessions")).unwrap();
        assert_eq!(deleted(&link), [disk.join("sessions")]);
        assert!(!disk.join("kept").exists() && other.join("s-1/marks").exists() && link.is_symlink());
        fs::remove_file(disk.join("sessions")).unwrap();
        assert!(deleted(&link).is_empty());
        assert!(!disk.exists() && !link.is_symlink());
    }

    /// Changing owners requires root.
    #[test]
    fn a_link_of_another_user_is_not_followed() {
        if !rustix::process::geteuid().is_root() {
            return;
        }
        let base = tempfile::tempdir().unwrap();
        let (disk, link) = (base.path().join("disk"), base.path().join("memory"));
        put(disk.join("kept"));
        symlink(&disk, &link).unwrap();
        std::os::unix::fs::lchown(&link, Some(12345), None).unwrap();
        assert_eq!(deleted(&link), std::slice::from_ref(&link));
        assert!(disk.join("kept").exists());
    }
}
