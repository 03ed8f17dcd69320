//! A session's marks on disk: append-only, and rewritten shorter when they have grown.
//!
//! Parallel hooks read the same marks. To say or do something once, take the exclusive lock, read the marks
//! again, decide again if they changed, and append before releasing it. All other hooks append under the
//! shared lock.
//!
//! An edit that cannot be added leaves a sign, or the turn would end as if there had been none: in the
//! session's folder, in the state directory, or in the user's runtime folder, the first that can be written.
//! The next end of a turn collects them. If even that fails because the state cannot be used, the stop is
//! blocked once; the host says whether it was blocked before in this turn, so that needs no state.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tidegate_core::feature::facts::Known;
use tidegate_core::feature::marks::{Mark, Marks, write_lines};
use tidegate_core::feature::verification::marks::Mark as VerificationMark;
use tidegate_core::feature::verification::work::{Edit, UNNAMED};

use crate::clock;
use crate::file::lock;
use crate::file::lock::{LockMode, LockTimeout};
use crate::file::{append, bounded, private};
use crate::place::{make_private, refuse_foreign};

const FILE: &str = "marks";

/// Edits that could not be added to the marks in time.
const UNNOTED: &str = "unnoted";

/// The same file while its edits are added to the marks.
const TAKING: &str = "unnoted.taking";

/// In bytes; the newest edits decide whether something is unverified.
const MOST_TAKEN: u64 = 64 * 1024;

/// A longer file is rewritten. A short one has a few hundred bytes and hardly ever half of this, so that is rare.
const LONG: u64 = 12 * 1024;

/// This many unreadable lines, without those that every file has, mean damage.
const DAMAGED: usize = 3;

const LARGEST: u64 = 4 * 1024 * 1024;

pub fn file(session: &Path) -> PathBuf {
    session.join(FILE)
}

/// When the last mark was added.
pub fn changed(session: &Path) -> Option<SystemTime> {
    fs::metadata(file(session)).and_then(|file| file.modified()).ok()
}

pub fn read(session: &Path) -> Known<Marks> {
    let bytes = bounded::open_anything(&session.join(FILE)).and_then(|file| {
        let mut bytes = Vec::with_capacity(LONG as usize + 1024);
        (&file).take(LARGEST + 1).read_to_end(&mut bytes)?;
        // A pipe reads as an empty file.
        if bytes.is_empty() && !file.metadata()?.is_file() {
            return Err(io::Error::other("not a file"));
        }
        if bytes.len() as u64 > LARGEST { Err(io::Error::other("too large")) } else { Ok(bytes) }
    });
    match bytes {
        Ok(bytes) => match Marks::fold(&bytes) {
            // A single torn line comes from a killed process; a file of torn lines is not a marks file.
            marks
                if marks.unread.len() >= DAMAGED
                    && marks.session.attached.is_none()
                    && marks.session.began.is_none() =>
            {
                Known::Broken(format!("{}: no line of it can be read", session.join(FILE).display()))
            }
            marks => Known::Value(marks),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => Known::Absent,
        Err(error) => Known::Broken(format!("{}: {error}", session.join(FILE).display())),
    }
}

/// The right to append, shared or exclusive.
///
/// Exclusive for things that must happen once: parallel hooks of one session see the same marks. To say something
/// once, read the marks again under the lock, and append before releasing it.
#[derive(Debug)]
pub struct MarksLock {
    file: File,
    session: PathBuf,
    exclusive: bool,
    patience: Duration,
}

/// Only a rewrite of the file waits for it.
pub fn lock_shared(session: &Path) -> io::Result<MarksLock> {
    lock(session, LockMode::Shared, lock::PATIENCE)
}

pub fn lock_exclusive(session: &Path) -> io::Result<MarksLock> {
    lock(session, LockMode::Exclusive, lock::PATIENCE)
}

/// A hook has to answer before its own deadline.
pub fn lock(session: &Path, mode: LockMode, patience: Duration) -> io::Result<MarksLock> {
    let path = session.join("lock");
    let file = private::open_lock_file(&path)?;
    lock::wait_for(&file, &path, mode, patience)?;
    Ok(MarksLock { file, session: session.to_owned(), exclusive: mode == LockMode::Exclusive, patience })
}

impl MarksLock {
    /// Releases the lock. The leading line break protects a line if a kill tore the last one.
    pub fn append(self, marks: &[Mark]) -> io::Result<()> {
        if marks.is_empty() { Ok(()) } else { self.append_lines(&write_lines(marks)) }
    }

    pub(crate) fn append_lines(self, lines: &str) -> io::Result<()> {
        let path = self.session.join(FILE);
        let mut file = crate::file::append::open(&path)?;
        crate::file::append::lines(&mut file, &format!("\n{lines}"))?;
        if file.metadata()?.len() <= LONG {
            return Ok(());
        }
        // Rewritten under the exclusive lock: an append to the old file would be lost.
        if !self.exclusive {
            self.file.unlock()?;
            match lock::wait_for(&self.file, &self.session.join("lock"), LockMode::Exclusive, self.patience) {
                // The marks are appended; a later call rewrites the file.
                Err(error) if LockTimeout::find(&error).is_some() => return Ok(()),
                waited => waited?,
            }
        }
        if let (true, Known::Value(marks)) = (fs::metadata(&path)?.len() > LONG, read(&self.session)) {
            crate::file::replace::copy(&path, marks.to_lines().as_bytes())?;
        }
        Ok(())
    }
}

/// Places for unnoted edits if the session's own folder cannot be written.
#[derive(Clone, Debug, Default)]
pub struct FallbackFolders {
    /// Each is removed once it is empty.
    pub folders: Vec<PathBuf>,
    /// The file name in each folder.
    pub file: String,
}

impl FallbackFolders {
    /// In the state directory, and in the user's runtime folder or else in the shared temporary folder under the
    /// user's id.
    pub fn new(session: &str, state: &Path, runtime: Option<&Path>) -> FallbackFolders {
        let outside = match runtime {
            Some(runtime) => runtime.join("tidegate-unnoted"),
            None => shared_folder(),
        };
        FallbackFolders { folders: vec![state.join("unnoted"), outside], file: session.to_owned() }
    }
}

#[cfg(unix)]
fn shared_folder() -> PathBuf {
    PathBuf::from(format!("/tmp/tidegate-unnoted-{}", rustix::process::geteuid().as_raw()))
}

#[cfg(not(unix))]
fn shared_folder() -> PathBuf {
    std::env::temp_dir().join("tidegate-unnoted")
}

/// Saves edits that cannot be added to the marks: the lock is taken, time is up, or the file cannot be written. Takes
/// no lock. On a full disk an empty file can often still be created: it signals an edit without its name.
pub fn save_unnoted(session: &Path, elsewhere: &FallbackFolders, edits: &[Mark]) -> io::Result<()> {
    let mut left = save_at(&session.join(UNNOTED), edits);
    for folder in &elsewhere.folders {
        if left.is_ok() {
            break;
        }
        left = make_private(folder)
            .and_then(|()| refuse_foreign(folder).map_err(io::Error::other))
            .and_then(|()| save_at(&folder.join(&elsewhere.file), edits));
    }
    left
}

/// Signals an edit without its name. A separate file, since an empty main file may just be in use.
fn unnamed_sign(path: &Path) -> PathBuf {
    path.with_added_extension("unnamed")
}

fn save_at(path: &Path, edits: &[Mark]) -> io::Result<()> {
    loop {
        let sign = |_: &io::Error| drop(append::open(&unnamed_sign(path)));
        let mut file = append::open(path).inspect_err(sign)?;
        append::lines(&mut file, &format!("\n{}", write_lines(edits))).inspect_err(sign)?;
        // Another process may have collected the file after it was opened, without these lines. Twice does no harm.
        if is_still_at(&file, path)? {
            return Ok(());
        }
    }
}

#[cfg(unix)]
fn is_still_at(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let ours = file.metadata()?;
    Ok(fs::metadata(path).is_ok_and(|there| (there.dev(), there.ino()) == (ours.dev(), ours.ino())))
}

/// An open file cannot be moved here.
#[cfg(not(unix))]
fn is_still_at(_: &File, _: &Path) -> io::Result<bool> {
    Ok(true)
}

/// Adds unnoted edits to the marks, for events whose gate depends on them.
pub fn collect_unnoted(session: &Path, elsewhere: &FallbackFolders, patience: Duration) -> io::Result<()> {
    let lock_exclusive = |session: &Path| lock(session, LockMode::Exclusive, patience);
    let own = collect_from(session, &session.join(UNNOTED), &session.join(TAKING), &lock_exclusive)?;
    // These folders hardly ever exist. Those of other users are ignored.
    for folder in elsewhere.folders.iter().filter(|folder| folder.exists()) {
        if refuse_foreign(folder).is_ok() {
            let left = folder.join(&elsewhere.file);
            let taken = collect_from(session, &left, &left.with_added_extension("taking"), &lock_exclusive)?;
            taken.map_or(Ok(()), |sign| collect_unnamed(session, &sign, &lock_exclusive))?;
            // Fails if the folder is not empty, which is right.
            let _ = fs::remove_dir(folder);
        }
    }
    // Last, because the same edit may have its name elsewhere.
    own.map_or(Ok(()), |sign| collect_unnamed(session, &sign, &lock_exclusive))
}

/// Collects those in the session's own folder, unless another process has the lock. The end of the turn collects the
/// rest.
pub fn try_collect_unnoted(session: &Path) -> io::Result<()> {
    let lock = |session: &Path| {
        let file = private::open_lock_file(&session.join("lock"))?;
        file.try_lock()?;
        Ok(MarksLock { file, session: session.to_owned(), exclusive: true, patience: Duration::ZERO })
    };
    collect_from(session, &session.join(UNNOTED), &session.join(TAKING), &lock)?
        .map_or(Ok(()), |sign| collect_unnamed(session, &sign, &lock))
}

/// Only the fact of an edit is known. It adds nothing if other edits are unverified anyway.
fn collect_unnamed(
    session: &Path,
    sign: &Path,
    lock_exclusive: &impl Fn(&Path) -> io::Result<MarksLock>,
) -> io::Result<()> {
    let Ok(found) = fs::metadata(sign) else { return Ok(()) };
    let lock = lock_exclusive(session)?;
    let known = read(session);
    let work = known.value().map(|marks| &marks.verification);
    let at = found.modified().map_or_else(|_| clock::now(), clock::to_millis);
    let is_verified = work.and_then(|work| work.verified).is_some_and(|verified| at <= verified);
    if !is_verified && work.is_none_or(|work| work.changes.is_none()) {
        let edit = Edit { file: UNNAMED.to_owned(), at, shell: true, removed: false };
        lock.append(&[VerificationMark::Edit(edit).into()])?;
    }
    fs::remove_file(sign)
}

/// Returns the path of the unnamed sign if there was a file.
fn collect_from(
    session: &Path,
    left: &Path,
    taking: &Path,
    lock_exclusive: &impl Fn(&Path) -> io::Result<MarksLock>,
) -> io::Result<Option<PathBuf>> {
    let mut sign = None;
    while left.exists() || taking.exists() {
        let lock = lock_exclusive(session)?;
        sign = Some(unnamed_sign(left));
        // Renamed first, since others append to it without the lock. A killed process may have left the renamed file.
        if !taking.exists() {
            match fs::rename(left, taking) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => break,
                renamed => renamed?,
            }
        }
        let lines = bounded::read_end(taking, MOST_TAKEN)?;
        // Edits that were verified since stay verified.
        let verified = read(session).value().and_then(|marks| marks.verification.verified);
        let edit = |line: &[u8]| match serde_json::from_slice(line) {
            Ok(VerificationMark::Edit(edit)) if verified.is_none_or(|at| edit.at > at) => {
                Some(VerificationMark::Edit(edit).into())
            }
            _ => None,
        };
        let edits: Vec<Mark> = lines.split(|b| *b == b'\n').filter_map(edit).collect();
        lock.append(&edits)?;
        fs::remove_file(taking)?;
    }
    Ok(sign)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::feature::marks::SessionMark;
    use tidegate_core::feature::pressure::marks::{Mark as PressureMark, PressureLevel, SaidPressure};
    use tidegate_core::feature::verification::checks::Kinds;
    use tidegate_core::feature::verification::work::SucceededChecks;
    use tidegate_core::time::Millis;

    fn take_up(session: &Path, elsewhere: &FallbackFolders) -> io::Result<()> {
        collect_unnoted(session, elsewhere, lock::PATIENCE)
    }

    fn append(session: &Path, marks: &[Mark]) -> io::Result<()> {
        lock_shared(session)?.append(marks)
    }

    #[test]
    fn absent_is_not_broken() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read(folder.path()), Known::Absent);
        fs::create_dir(folder.path().join(FILE)).unwrap();
        assert!(matches!(read(folder.path()), Known::Broken(_)));
    }

    fn edit(file: &str, at: u64) -> Mark {
        VerificationMark::Edit(Edit { file: file.to_owned(), at: Millis(at), shell: false, removed: false })
            .into()
    }

    fn unverified(session: &Path) -> Vec<String> {
        let marks = read(session);
        marks.value().and_then(|marks| marks.verification.changes.clone()).unwrap_or_default().files
    }

    #[test]
    fn edits_that_were_left_are_taken_up_once() {
        let folder = tempfile::tempdir().unwrap();
        let session = folder.path();
        save_unnoted(session, &FallbackFolders::default(), &[edit("a.rs", 1)]).unwrap();
        // As left by a process that was killed while collecting; another edit was saved meanwhile.
        fs::rename(session.join(UNNOTED), session.join(TAKING)).unwrap();
        save_unnoted(session, &FallbackFolders::default(), &[edit("b.rs", 2)]).unwrap();
        take_up(session, &FallbackFolders::default()).unwrap();
        assert_eq!(unverified(session), ["a.rs", "b.rs"]);
        assert!(!session.join(UNNOTED).exists() && !session.join(TAKING).exists());
    }

    /// Hooks save edits without the lock, also while others are collected.
    #[test]
    fn an_edit_that_is_left_meanwhile_is_not_lost() {
        let folder = tempfile::tempdir().unwrap();
        let session = folder.path();
        for _ in 0..20 {
            std::thread::scope(|scope| {
                let leaving = scope.spawn(|| {
                    for at in 0..60 {
                        save_unnoted(session, &FallbackFolders::default(), &[edit(&format!("{at}.rs"), at)])
                            .unwrap();
                    }
                });
                while !leaving.is_finished() {
                    take_up(session, &FallbackFolders::default()).unwrap();
                }
            });
            take_up(session, &FallbackFolders::default()).unwrap();
            let marks = read(session);
            assert_eq!(marks.value().unwrap().verification.changes.as_ref().unwrap().count(), 60);
            fs::remove_file(session.join(FILE)).unwrap();
        }
    }

    #[test]
    fn an_edit_that_was_verified_before_it_was_noted_holds_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let session = folder.path();
        append(session, &[edit("a.rs", 1)]).unwrap();
        let checked = SucceededChecks::seen_at(Millis(5), Kinds::TEST, true);
        append(session, &[VerificationMark::Checked(checked).into()]).unwrap();
        save_unnoted(session, &FallbackFolders::default(), &[edit("b.rs", 5)]).unwrap();
        take_up(session, &FallbackFolders::default()).unwrap();
        assert_eq!(unverified(session), Vec::<String>::new());
        save_unnoted(session, &FallbackFolders::default(), &[edit("c.rs", 6)]).unwrap();
        take_up(session, &FallbackFolders::default()).unwrap();
        assert_eq!(unverified(session), ["c.rs"]);
    }

    #[test]
    fn a_great_many_edits_that_were_left_count_and_do_not_flood_the_marks() {
        let folder = tempfile::tempdir().unwrap();
        let session = folder.path();
        let long = "x".repeat(60);
        let many: Vec<Mark> = (0..60_000).map(|at| edit(&format!("{long}{at}.rs"), at)).collect();
        save_unnoted(session, &FallbackFolders::default(), &many).unwrap();
        assert!(fs::metadata(session.join(UNNOTED)).unwrap().len() > LARGEST);
        take_up(session, &FallbackFolders::default()).unwrap();
        assert!(!unverified(session).is_empty() && !session.join(TAKING).exists());
        assert!(fs::metadata(session.join(FILE)).unwrap().len() <= LONG);
    }

    #[test]
    fn without_the_lock_nothing_is_taken_up_in_passing() {
        let folder = tempfile::tempdir().unwrap();
        let session = folder.path();
        save_unnoted(session, &FallbackFolders::default(), &[edit("a.rs", 1)]).unwrap();
        let lock = lock_shared(session).unwrap();
        assert_eq!(try_collect_unnoted(session).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        drop(lock);
        try_collect_unnoted(session).unwrap();
        assert_eq!(unverified(session), ["a.rs"]);
    }

    /// The session's folder cannot be written at first, and later it can.
    #[test]
    fn an_edit_is_left_elsewhere_where_the_session_cannot_hold_it() {
        let folder = tempfile::tempdir().unwrap();
        let (session, sign) = (folder.path().join("s"), folder.path().join("signs"));
        let blocked = folder.path().join("a file");
        fs::write(&blocked, "").unwrap();
        let elsewhere = FallbackFolders { folders: vec![blocked, sign.clone()], file: "s".to_owned() };
        fs::write(&session, "no folder").unwrap();
        save_unnoted(&session, &elsewhere, &[edit("a.rs", 1)]).unwrap();
        assert!(sign.join("s").exists());
        take_up(&session, &elsewhere).unwrap_err();
        fs::remove_file(&session).unwrap();
        take_up(&session, &elsewhere).unwrap();
        assert_eq!(unverified(&session), ["a.rs"]);
        assert!(!sign.exists());
    }

    /// On a full disk a file can be created but not written.
    #[test]
    fn a_sign_without_a_name_is_an_edit() {
        let folder = tempfile::tempdir().unwrap();
        let session = folder.path();
        fs::write(unnamed_sign(&session.join(UNNOTED)), "").unwrap();
        // The line is torn if the disk became full in the middle of it.
        fs::write(session.join(UNNOTED), "\n{\"edit\":{\"fi").unwrap();
        take_up(session, &FallbackFolders::default()).unwrap();
        assert_eq!(unverified(session), [UNNAMED]);
        assert!(!unnamed_sign(&session.join(UNNOTED)).exists());
        fs::remove_file(session.join(FILE)).unwrap();
        fs::write(unnamed_sign(&session.join(UNNOTED)), "").unwrap();
        save_unnoted(session, &FallbackFolders::default(), &[edit("a.rs", 1)]).unwrap();
        take_up(session, &FallbackFolders::default()).unwrap();
        assert_eq!(unverified(session), ["a.rs"]);
    }

    /// A device that is always full.
    #[cfg(target_os = "linux")]
    #[test]
    fn on_a_full_disk_a_sign_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let session = folder.path();
        std::os::unix::fs::symlink("/dev/full", session.join(UNNOTED)).unwrap();
        save_unnoted(session, &FallbackFolders::default(), &[edit("a.rs", 1)]).unwrap_err();
        fs::remove_file(session.join(UNNOTED)).unwrap();
        fs::write(session.join(UNNOTED), "").unwrap();
        take_up(session, &FallbackFolders::default()).unwrap();
        assert_eq!(unverified(session), [UNNAMED]);
    }

    #[test]
    fn a_long_session_keeps_a_short_file() {
        let folder = tempfile::tempdir().unwrap();
        let session = folder.path().join("s");
        let info = SaidPressure { level: PressureLevel::Info, ..SaidPressure::default() };
        append(&session, &[PressureMark::Pressure(info).into()]).unwrap();
        for turn in 0..10_000 {
            append(&session, &[SessionMark::Relay(turn).into()]).unwrap();
        }
        assert!(fs::metadata(session.join(FILE)).unwrap().len() <= LONG + 64);
        let marks = read(&session);
        let marks = marks.value().unwrap();
        assert_eq!((marks.pressure.said, marks.session.relays.last()), (info, Some(&9999)));
    }

    #[test]
    fn appending_while_others_shorten_loses_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let session = folder.path().join("s");
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let session = &session;
                scope.spawn(move || {
                    for turn in 0..600 {
                        append(
                            session,
                            &[
                                SessionMark::Root(format!("/p/{thread}/{turn}")).into(),
                                SessionMark::Relay(turn).into(),
                            ],
                        )
                        .unwrap();
                    }
                });
            }
        });
        append(&session, &[SessionMark::Relay(7).into()]).unwrap();
        let marks = read(&session);
        assert_eq!(marks.value().unwrap().session.relays.last(), Some(&7));
        assert!(marks.value().unwrap().unread.is_empty());
    }
}
