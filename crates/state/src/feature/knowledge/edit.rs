//! Changes a person's files: under a lock, durably, archive before trim.
//!
//! The lock works between Tidegate's processes; people and models write without it. So a file is read again when its
//! new version is on disk and only the rename is left. If it has changed, everything starts again from its new
//! content.

use std::cell::Cell;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tidegate_core::feature::knowledge::conflict::has_conflict;
use tidegate_core::feature::knowledge::entry_id::EntryId;
use tidegate_core::feature::knowledge::flow;
use tidegate_core::feature::knowledge::flow::{FileEnd, NewEntry, Progress};
use tidegate_core::feature::knowledge::plan;
use tidegate_core::time::Millis;

use crate::feature::knowledge::folder::{ContextFolder, decode_utf8, read_bounded};
use crate::file::lock;
use crate::file::lock::LockMode;
use crate::file::{private, replace};
use crate::place::StateDir;

/// Far more than is worth reading, so that an overgrown file can still be trimmed.
const LARGEST: u64 = 64 * 1024 * 1024;

/// A file that keeps changing is left alone.
const TRIES: usize = 5;

/// Less than usual: hooks wait for it, too.
const PATIENCE: Duration = Duration::from_secs(2);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trim {
    /// Entries that moved to the archive.
    pub moved: usize,
    /// The reason why the plan has no note of the compaction.
    pub plan: Option<String>,
}

/// Adds it at the newest end of `progress.md`, which is created if it is missing.
pub fn add_entry(state: &StateDir, folder: &ContextFolder, entry: &NewEntry) -> io::Result<Option<EntryId>> {
    let added = Cell::new(None);
    change(state, folder, flow::FILE, |text| {
        let old = Progress::parse_flow(text);
        let with = old.with(entry);
        let new = Progress::parse_flow(&with);
        // The new entry is at one of the two ends.
        let end = match old.newest_end() {
            _ if old.entries.is_empty() => new.entries.last(),
            FileEnd::Top => new.entries.first(),
            FileEnd::Bottom => new.entries.last(),
        };
        added.set(end.map(|entry| entry.id));
        Some(with)
    })?;
    Ok(added.get())
}

/// For a file outside of projects. A missing file counts as empty. Returns whether it changed.
pub fn change_file(
    state: &StateDir,
    path: &Path,
    change: impl Fn(&str) -> Option<String>,
) -> io::Result<bool> {
    let _lock = lock_project(state, path)?;
    change_path(path, &change, &mut replace_durably)
}

/// A missing file counts as empty. Returns whether it changed.
pub fn change(
    state: &StateDir,
    folder: &ContextFolder,
    name: &str,
    change: impl Fn(&str) -> Option<String>,
) -> io::Result<bool> {
    let _lock = lock_project(state, folder.root())?;
    change_locked(folder, name, &change, &mut replace_durably)
}

/// Moves all but the newest entries of `progress.md` to the archive, and notes the time in the plan.
///
/// After a kill at any time, each entry is in one of the two files or in both; an entry in both is not archived
/// again.
pub fn trim(state: &StateDir, folder: &ContextFolder, keep: usize, at: Millis) -> io::Result<Trim> {
    let _lock = lock_project(state, folder.root())?;
    let moved = trim_locked(folder, keep, &mut replace_durably)?;
    let plan =
        stamp_locked(folder, at, &mut replace_durably).err().map(|error| format!("{}: {error}", plan::FILE));
    Ok(Trim { moved, plan })
}

/// Path, old text, new text. An argument, so that tests can fail each step.
type Replace<'a> = &'a mut dyn FnMut(&Path, Option<&str>, &str) -> io::Result<()>;

fn change_locked(
    folder: &ContextFolder,
    name: &str,
    change: &dyn Fn(&str) -> Option<String>,
    replace: Replace<'_>,
) -> io::Result<bool> {
    change_path(&folder.file(name)?, change, replace)
}

fn change_path(
    path: &Path,
    change: &dyn Fn(&str) -> Option<String>,
    replace: Replace<'_>,
) -> io::Result<bool> {
    retry_if_changed(|| {
        let old = read_editable(path)?;
        match change(old.as_deref().unwrap_or_default()) {
            Some(new) if old.as_ref() != Some(&new) => replace(path, old.as_deref(), &new).map(|()| true),
            _ => Ok(false),
        }
    })
}

fn trim_locked(folder: &ContextFolder, keep: usize, replace: Replace<'_>) -> io::Result<usize> {
    retry_if_changed(|| {
        let (path, old) = match open_editable(folder, flow::FILE) {
            Err(error) if is_conflict(&error) => return Ok(0),
            found => found?,
        };
        let old = old.unwrap_or_default();
        let Some(trimmed) = Progress::parse_flow(&old).trim_to(keep) else { return Ok(0) };
        let (archive, known) = open_editable(folder, flow::ARCHIVE)?;
        let archived = flow::add_to_archive(known.as_deref().unwrap_or_default(), &trimmed.moved);
        if known.as_ref() != Some(&archived) {
            replace(&archive, known.as_deref(), &archived)?;
        }
        replace(&path, Some(&old), &trimmed.kept)?;
        Ok(trimmed.moved.len())
    })
}

fn stamp_locked(folder: &ContextFolder, at: Millis, replace: Replace<'_>) -> io::Result<bool> {
    if open_editable(folder, plan::FILE)?.1.is_none() {
        return Ok(false);
    }
    change_locked(folder, plan::FILE, &|text| Some(plan::stamp_compaction(text, at)), replace)
}

/// In private state, so that nothing is left in the project.
pub(crate) fn lock_project(state: &StateDir, root: &Path) -> io::Result<File> {
    let path = state.project(root).join("lock");
    let file = private::open_lock_file(&path)?;
    lock::wait_for(&file, &path, LockMode::Exclusive, PATIENCE)?;
    Ok(file)
}

/// The path and the text of a file that is about to change. Refuses a read-only file, which a rename would replace.
fn open_editable(folder: &ContextFolder, name: &str) -> io::Result<(PathBuf, Option<String>)> {
    let path = folder.file(name)?;
    let text = read_editable(&path)?;
    Ok((path, text))
}

fn read_editable(path: &Path) -> io::Result<Option<String>> {
    let bytes = match read_bounded(path, LARGEST) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if fs::metadata(path)?.permissions().readonly() {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is read-only"));
    }
    OpenOptions::new().write(true).open(path)?;
    let text = decode_utf8(bytes)?;
    if has_conflict(&text) {
        return Err(io::Error::other(InConflict));
    }
    Ok(Some(text))
}

/// A merge is not resolved.
#[derive(Debug)]
struct InConflict;

impl std::fmt::Display for InConflict {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("it has conflict markers from a Git merge; resolve them first")
    }
}

impl std::error::Error for InConflict {}

fn is_conflict(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.downcast_ref::<InConflict>().is_some())
}

/// Another program wrote the file meanwhile.
#[derive(Debug)]
pub(super) struct ChangedMeanwhile;

impl std::fmt::Display for ChangedMeanwhile {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("another program keeps writing this file")
    }
}

impl std::error::Error for ChangedMeanwhile {}

pub(super) fn retry_if_changed<T>(mut attempt: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    let is_changed = |error: &io::Error| {
        error.get_ref().and_then(|inner| inner.downcast_ref::<ChangedMeanwhile>()).is_some()
    };
    let mut tries = TRIES;
    loop {
        tries -= 1;
        match attempt() {
            Err(error) if tries > 0 && is_changed(&error) => {}
            done => return done,
        }
    }
}

fn replace_durably(path: &Path, old: Option<&str>, new: &str) -> io::Result<()> {
    remove_leftovers(path);
    replace::durable_if(path, new.as_bytes(), |path| {
        let is_same = match (read_bounded(path, LARGEST), old) {
            (Ok(bytes), Some(old)) => bytes == old.as_bytes(),
            (Err(error), None) => error.kind() == io::ErrorKind::NotFound,
            _ => false,
        };
        if is_same { Ok(()) } else { Err(io::Error::other(ChangedMeanwhile)) }
    })
}

/// Removes temporary files of killed processes. All writers hold the lock, so none is in use.
pub(crate) fn remove_leftovers(path: &Path) {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name().and_then(|name| name.to_str())) else {
        return;
    };
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().to_str().is_some_and(|file| replace::is_temporary(file, name)) {
            drop(fs::remove_file(entry.path()));
        }
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use crate::place::PlaceEnv;
    use std::cell::Cell;
    use std::os::unix::fs::PermissionsExt;
    use tidegate_core::feature::knowledge::entry_id::EntryId;

    struct Project {
        _base: tempfile::TempDir,
        state: StateDir,
        folder: ContextFolder,
    }

    impl Project {
        fn new() -> Project {
            let base = tempfile::tempdir().unwrap();
            let env = PlaceEnv { state_dir: Some(base.path().join("state")), ..PlaceEnv::default() };
            let root = base.path().join("project");
            fs::create_dir(&root).unwrap();
            Project {
                state: StateDir::open(&env).unwrap(),
                folder: ContextFolder::make(&root).unwrap(),
                _base: base,
            }
        }

        fn put(&self, name: &str, text: impl AsRef<[u8]>) {
            fs::write(self.folder.path().join(name), text).unwrap();
        }

        fn get(&self, name: &str) -> String {
            fs::read_to_string(self.folder.path().join(name)).unwrap_or_default()
        }

        fn files(&self) -> Vec<String> {
            let names = fs::read_dir(self.folder.path()).unwrap();
            let mut names: Vec<String> =
                names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
            names.sort();
            names
        }

        fn trim(&self) -> Trim {
            trim(&self.state, &self.folder, 2, NOON).unwrap()
        }
    }

    const NOON: Millis = Millis(1_794_830_400_000);

    const PROGRESS: &str = "\u{feff}# 進捗\r\n\r\n## [2026-01-04] — 四\r\n- 決定: あ\r\n\r\n## 覚え書き\n\n```\n## x\n```\n\
        ## [2026-01-03] — 三\n- Next: 次\n\n## [2026-01-01] — 一  \n\n## [2026-01-02] — 二\n~~~\nopen";

    fn ids(text: &str) -> Vec<EntryId> {
        Progress::parse(text).entries.iter().map(|entry| entry.id).collect()
    }

    #[test]
    fn a_trim_moves_the_older_entries_and_notes_the_time() {
        let project = Project::new();
        project.put(flow::FILE, PROGRESS);
        project.put(plan::FILE, "# Current Task: 直す\n- x");
        assert_eq!(project.trim(), Trim { moved: 3, plan: None });
        let kept =
            "\u{feff}# 進捗\r\n\r\n## [2026-01-04] — 四\r\n- 決定: あ\r\n\r\n## 覚え書き\n\n```\n## x\n```\n";
        assert_eq!(project.get(flow::FILE), kept);
        let archive = "# Progress archive\n\n## [2026-01-01] — 一\n\n## [2026-01-02] — 二\n~~~\nopen\n~~~\n\n\
            ## [2026-01-03] — 三\n- Next: 次\n";
        assert_eq!(project.get(flow::ARCHIVE), archive);
        assert_eq!(
            project.get(plan::FILE),
            "# Current Task: 直す\nLast compacted: 2026-11-16T12:00:00Z\n- x"
        );
        assert_eq!(project.trim(), Trim::default());
        assert_eq!((project.get(flow::FILE).as_str(), project.get(flow::ARCHIVE).as_str()), (kept, archive));
        assert_eq!(project.files(), [flow::ARCHIVE, flow::FILE, plan::FILE]);
    }

    #[test]
    fn nothing_is_made_where_there_is_nothing() {
        let project = Project::new();
        assert_eq!(project.trim(), Trim::default());
        project.put(flow::FILE, "# 進捗\n\n## 一\n");
        assert_eq!(project.trim(), Trim::default());
        assert_eq!(project.files(), [flow::FILE]);
    }

    /// The step in which a process dies: before writing, in the middle of the new file, at the rename.
    const DEATHS: [&str; 3] = ["before", "within", "after"];

    /// Fails the write with this number.
    fn dies<'a>(
        at: usize,
        death: &'a str,
        count: &'a Cell<usize>,
    ) -> impl FnMut(&Path, Option<&str>, &str) -> io::Result<()> + 'a {
        move |path, old, new| {
            count.set(count.get() + 1);
            if count.get() != at + 1 {
                return replace_durably(path, old, new);
            }
            match death {
                "within" => {
                    let name = path.file_name().unwrap().to_str().unwrap();
                    fs::write(
                        path.with_file_name(format!(".{name}.1.0.tmp")),
                        &new.as_bytes()[..new.len() / 2],
                    )?;
                }
                "after" => replace_durably(path, old, new)?,
                _ => {}
            }
            Err(io::Error::other("killed"))
        }
    }

    #[test]
    fn a_trim_that_dies_at_any_step_loses_nothing_and_archives_nothing_twice() {
        for old_archive in ["", "# 古い\n\n## [2025-01-01] — 古い\n- x\n"] {
            for (at, death) in (0..2).flat_map(|at| DEATHS.map(|death| (at, death))) {
                let project = Project::new();
                project.put(flow::FILE, PROGRESS);
                if !old_archive.is_empty() {
                    project.put(flow::ARCHIVE, old_archive);
                }
                let count = Cell::new(0);
                let died = trim_locked(&project.folder, 2, &mut dies(at, death, &count));
                assert_eq!((died.is_err(), count.get()), (true, at + 1), "{at} {death}");
                let (progress, archive) = (project.get(flow::FILE), project.get(flow::ARCHIVE));
                let there: Vec<EntryId> = ids(&progress).into_iter().chain(ids(&archive)).collect();
                assert!(ids(PROGRESS).iter().all(|id| there.contains(id)), "{at} {death}");
                assert!(archive.starts_with(old_archive), "{at} {death}");
                // Each file has its old or its new content, never half of it.
                assert!(progress == PROGRESS || ids(&progress).len() == 2, "{at} {death}");

                project.trim();
                let mut all = ids(&project.get(flow::FILE));
                all.extend(ids(&project.get(flow::ARCHIVE)));
                let mut expected = ids(PROGRESS);
                expected.extend(ids(old_archive));
                all.sort();
                expected.sort();
                assert_eq!(all, expected, "{at} {death}");
                let left = at == 1 && death == "after";
                assert!(left || project.files() == [flow::ARCHIVE, flow::FILE], "{at} {death}");
            }
        }
    }

    #[test]
    fn an_entry_that_dies_at_any_step_is_there_or_not() {
        let entry = NewEntry { at: NOON, what: "新しい".into(), ..NewEntry::default() };
        let with = |text: &str| Some(Progress::parse(text).with(&entry));
        for death in DEATHS {
            for text in ["", PROGRESS] {
                let project = Project::new();
                if !text.is_empty() {
                    project.put(flow::FILE, text);
                }
                let count = Cell::new(0);
                assert!(
                    change_locked(&project.folder, flow::FILE, &with, &mut dies(0, death, &count)).is_err()
                );
                let is = project.get(flow::FILE);
                assert!(is == text || is == Progress::parse(text).with(&entry), "{death}");
                assert_eq!(is != text, death == "after");
                add_entry(&project.state, &project.folder, &entry).unwrap();
                assert_eq!(project.files(), [flow::FILE], "{death}");
            }
        }
    }

    #[test]
    fn what_another_program_writes_in_between_is_kept() {
        let project = Project::new();
        let entry = NewEntry { at: NOON, what: "新しい".into(), ..NewEntry::default() };
        let first = Cell::new(true);
        let wrote = change(&project.state, &project.folder, flow::FILE, |text| {
            let new = Progress::parse(text).with(&entry);
            if first.take() {
                project.put(flow::FILE, "## theirs\n");
            }
            Some(new)
        });
        assert!(wrote.unwrap());
        assert_eq!(project.get(flow::FILE), "## [2026-11-16T12:00:00Z] — 新しい\n\n## theirs\n");

        let busy = Cell::new(0);
        let refused = change(&project.state, &project.folder, flow::FILE, |text| {
            busy.set(busy.get() + 1);
            project.put(flow::FILE, format!("## theirs {}\n", busy.get()));
            Some(Progress::parse(text).with(&entry))
        });
        assert!(refused.unwrap_err().to_string().contains("keeps writing"));
        assert_eq!((busy.get(), project.get(flow::FILE).as_str()), (TRIES, "## theirs 5\n"));
        assert_eq!(project.files(), [flow::FILE]);

        project.put(flow::FILE, PROGRESS);
        let first = Cell::new(true);
        let moved = trim_locked(&project.folder, 2, &mut |path, old, new| {
            if path.ends_with(flow::FILE) && first.take() {
                project.put(flow::FILE, format!("{PROGRESS}\n~~~\n\n## [2026-01-05] — 五\n"));
            }
            replace_durably(path, old, new)
        });
        assert_eq!(moved.unwrap(), 4);
        let mut all = ids(&project.get(flow::FILE));
        all.extend(ids(&project.get(flow::ARCHIVE)));
        assert_eq!(all.len(), 6, "each once");
    }

    /// On a slow disk, others may hold the lock for longer than the limit.
    fn patiently<T>(mut write: impl FnMut() -> io::Result<T>) -> T {
        loop {
            match write() {
                Err(error) if error.kind() == io::ErrorKind::TimedOut => {}
                done => return done.unwrap(),
            }
        }
    }

    #[test]
    fn all_that_write_at_the_same_time_are_heard() {
        let project = Project::new();
        std::thread::scope(|scope| {
            for thread in 0..6 {
                let project = &project;
                scope.spawn(move || {
                    for n in 0..5 {
                        let what = format!("{thread}の{n}");
                        let entry = NewEntry { at: Millis(NOON.0 + n), what, ..NewEntry::default() };
                        patiently(|| add_entry(&project.state, &project.folder, &entry));
                        patiently(|| trim(&project.state, &project.folder, 2, NOON));
                    }
                });
            }
        });
        let (progress, archive) = (project.get(flow::FILE), project.get(flow::ARCHIVE));
        assert_eq!((ids(&progress).len(), ids(&archive).len()), (2, 28));
        assert_eq!(project.files(), [flow::ARCHIVE, flow::FILE]);
    }

    #[test]
    fn what_must_not_be_changed_is_not() {
        let entry = NewEntry::default();
        let refuses = |project: &Project| {
            let before: Vec<_> =
                project.files().iter().map(|name| (name.clone(), project.get(name))).collect();
            assert!(add_entry(&project.state, &project.folder, &entry).is_err());
            let after: Vec<_> =
                project.files().iter().map(|name| (name.clone(), project.get(name))).collect();
            assert_eq!(before, after);
            trim(&project.state, &project.folder, 2, NOON)
        };
        let project = Project::new();
        project.put(flow::FILE, b"## caf\xe9\n## b\n## c\n");
        assert!(refuses(&project).unwrap_err().to_string().contains("not UTF-8"));

        let path = project.folder.path().join(flow::FILE);
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert!(refuses(&project).unwrap_err().to_string().contains("not a file"));
        fs::remove_dir(&path).unwrap();

        let outside = project.folder.root().parent().unwrap().join("outside.md");
        fs::write(&outside, PROGRESS).unwrap();
        std::os::unix::fs::symlink(&outside, &path).unwrap();
        assert!(refuses(&project).unwrap_err().to_string().contains("out of the project"));
        assert_eq!(fs::read_to_string(&outside).unwrap(), PROGRESS);
        fs::remove_file(&path).unwrap();

        project.put(flow::FILE, PROGRESS);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
        assert!(refuses(&project).unwrap_err().to_string().contains("read-only"));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();

        let archive = project.folder.path().join(flow::ARCHIVE);
        fs::write(&archive, b"## caf\xe9\n").unwrap();
        assert!(trim(&project.state, &project.folder, 2, NOON).is_err());
        assert_eq!(
            (project.get(flow::FILE).as_str(), fs::read(&archive).unwrap()),
            (PROGRESS, b"## caf\xe9\n".to_vec())
        );
        fs::remove_file(&archive).unwrap();

        // A plan that is not UTF-8 does not prevent the trim.
        project.put(plan::FILE, b"\xff");
        let trim = trim(&project.state, &project.folder, 2, NOON).unwrap();
        assert_eq!((trim.moved, trim.plan.as_deref()), (3, Some("task_plan.md: not UTF-8")));
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    }

    #[test]
    fn a_file_that_was_let_grow_is_trimmed() {
        let project = Project::new();
        let long = "行\n".repeat(200_000);
        project.put(flow::FILE, format!("## 2026-01-03\n## 2026-01-02\n## 2026-01-01\n{long}"));
        assert_eq!(project.trim().moved, 1);
        assert!(project.get(flow::FILE).len() < 100);
        project.put(flow::FILE, "");
        File::options()
            .write(true)
            .open(project.folder.path().join(flow::FILE))
            .unwrap()
            .set_len(LARGEST + 1)
            .unwrap();
        assert!(trim(&project.state, &project.folder, 2, NOON).is_err());
    }

    #[test]
    fn a_file_linked_inside_of_the_project_stays_where_it_is() {
        let project = Project::new();
        let notes = project.folder.root().join("notes.md");
        fs::write(&notes, "## a\n").unwrap();
        std::os::unix::fs::symlink(&notes, project.folder.path().join(flow::FILE)).unwrap();
        add_entry(&project.state, &project.folder, &NewEntry { at: NOON, ..NewEntry::default() }).unwrap();
        assert_eq!(ids(&fs::read_to_string(&notes).unwrap()).len(), 2);
        assert!(fs::symlink_metadata(project.folder.path().join(flow::FILE)).unwrap().is_symlink());
    }
}
