//! A session's marks on disk: append-only, and rewritten short when they have grown long.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tidegate_core::feature::facts::Known;
use tidegate_core::feature::marks::{Mark, Marks, write_lines};
use tidegate_core::feature::verification::marks::Mark as VerificationMark;
use tidegate_core::feature::verification::work::{Edit, UNNAMED};

use crate::clock;
use crate::file::lock;
use crate::file::lock::{Held, Keeps};
use crate::file::{append, bounded, private};
use crate::place::{make_private, refuse_foreign};

const FILE: &str = "marks";

/// Edits that could not be put into the marks in time.
const UNNOTED: &str = "unnoted";

/// The same while they are put there.
const TAKING: &str = "unnoted.taking";

/// Of more than this only the newest are taken: they decide whether something is unverified.
const MOST_TAKEN: u64 = 64 * 1024;

/// From here on the file is rewritten: a short one is a few hundred bytes and hardly ever more than half of this, so it is rare.
const LONG: u64 = 12 * 1024;

/// So many lines that cannot be read, and none that every file has, are damage.
const DAMAGED: usize = 3;

/// More than this is damage.
const LARGEST: u64 = 4 * 1024 * 1024;

/// Reads a session's marks.
pub fn read(session: &Path) -> Known<Marks> {
    let bytes = File::open(session.join(FILE)).and_then(|file| {
        let mut bytes = Vec::with_capacity(LONG as usize + 1024);
        file.take(LARGEST + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > LARGEST { Err(io::Error::other("too large")) } else { Ok(bytes) }
    });
    match bytes {
        Ok(bytes) => match Marks::fold(&bytes) {
            // One torn line is a killed process; a file of nothing else is no marks file.
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

/// The right to append: shared with others, or alone.
///
/// Alone is for what must happen once: several hooks of one session run at the same time and see the same marks.
/// Whoever wants to say something once reads the marks again under the lock, and appends before letting go.
#[derive(Debug)]
pub struct Lock {
    file: File,
    session: PathBuf,
    alone: bool,
    patience: Duration,
}

/// Together with other hooks; only a rewrite of the file waits for it.
pub fn lock_shared(session: &Path) -> io::Result<Lock> {
    lock(session, Keeps::Shared, lock::PATIENCE)
}

/// Alone.
pub fn lock_alone(session: &Path) -> io::Result<Lock> {
    lock(session, Keeps::Alone, lock::PATIENCE)
}

/// Waits only so long: a hook has to answer before its own deadline.
pub fn lock(session: &Path, keeps: Keeps, patience: Duration) -> io::Result<Lock> {
    let path = session.join("lock");
    let file = private::to_lock(&path)?;
    lock::wait_for(&file, &path, keeps, patience)?;
    Ok(Lock { file, session: session.to_owned(), alone: keeps == Keeps::Alone, patience })
}

impl Lock {
    /// Appends marks and lets go. Each line is led by a line break, so that one torn by a killed process takes no
    /// other along.
    pub fn append(self, marks: &[Mark]) -> io::Result<()> {
        if marks.is_empty() { Ok(()) } else { self.append_lines(&write_lines(marks)) }
    }

    /// The same for marks that are lines already.
    pub(crate) fn append_lines(self, lines: &str) -> io::Result<()> {
        let path = self.session.join(FILE);
        let mut file = crate::file::append::open(&path)?;
        crate::file::append::lines(&mut file, &format!("\n{lines}"))?;
        if file.metadata()?.len() <= LONG {
            return Ok(());
        }
        // Rewritten as the marks it comes to, and alone: an append to the old file would be lost.
        if !self.alone {
            self.file.unlock()?;
            match lock::wait_for(&self.file, &self.session.join("lock"), Keeps::Alone, self.patience) {
                // They are in it. A later one makes it shorter.
                Err(error) if Held::of(&error).is_some() => return Ok(()),
                waited => waited?,
            }
        }
        if let (true, Known::Value(marks)) = (fs::metadata(&path)?.len() > LONG, read(&self.session)) {
            crate::file::replace::copy(&path, marks.lines().as_bytes())?;
        }
        Ok(())
    }
}

/// Other places for edits that could not be noted: the session's own folder may be the one that cannot be written.
#[derive(Clone, Debug, Default)]
pub struct Elsewhere {
    /// The folders, each there only as long as something is in it.
    pub folders: Vec<PathBuf>,
    /// The session's file in each.
    pub file: String,
}

impl Elsewhere {
    /// In the state, and in a folder that the system keeps for the user or, by the user's number, for everybody.
    pub fn of(session: &str, state: &Path, runtime: Option<&Path>) -> Elsewhere {
        let outside = match runtime {
            Some(runtime) => runtime.join("tidegate-unnoted"),
            None => for_everybody(),
        };
        Elsewhere { folders: vec![state.join("unnoted"), outside], file: session.to_owned() }
    }
}

#[cfg(unix)]
fn for_everybody() -> PathBuf {
    PathBuf::from(format!("/tmp/tidegate-unnoted-{}", rustix::process::geteuid().as_raw()))
}

#[cfg(not(unix))]
fn for_everybody() -> PathBuf {
    std::env::temp_dir().join("tidegate-unnoted")
}

/// Leaves edits that cannot be put into the marks: the lock is held, time is up, or the file cannot be written. Takes no lock.
/// On a full disk a file can often be made and not be written: then one without contents says that there was an edit.
pub fn leave_unnoted(session: &Path, elsewhere: &Elsewhere, edits: &[Mark]) -> io::Result<()> {
    let mut left = leave_at(&session.join(UNNOTED), edits);
    for folder in &elsewhere.folders {
        if left.is_ok() {
            break;
        }
        left = make_private(folder)
            .and_then(|()| refuse_foreign(folder).map_err(io::Error::other))
            .and_then(|()| leave_at(&folder.join(&elsewhere.file), edits));
    }
    left
}

/// The sign of an edit that could not be written down. Not the empty file itself: that is about to be written.
fn unnamed(path: &Path) -> PathBuf {
    path.with_added_extension("unnamed")
}

fn leave_at(path: &Path, edits: &[Mark]) -> io::Result<()> {
    loop {
        let mut file = append::open(path)?;
        append::lines(&mut file, &format!("\n{}", write_lines(edits)))
            .inspect_err(|_| drop(append::open(&unnamed(path))))?;
        // What was taken up after it was opened may have been read before this was in it. Twice does no harm.
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

/// No open file can be moved away here.
#[cfg(not(unix))]
fn is_still_at(_: &File, _: &Path) -> io::Result<bool> {
    Ok(true)
}

/// Puts edits that were left into the marks, for an event whose gate rests on them.
pub fn take_up_unnoted(session: &Path, elsewhere: &Elsewhere, patience: Duration) -> io::Result<()> {
    let lock_alone = |session: &Path| lock(session, Keeps::Alone, patience);
    let own = take_from(session, &session.join(UNNOTED), &session.join(TAKING), &lock_alone)?;
    // Hardly ever is one of them there. Another user's signs are none.
    for folder in elsewhere.folders.iter().filter(|folder| folder.exists()) {
        if refuse_foreign(folder).is_ok() {
            let left = folder.join(&elsewhere.file);
            let taken = take_from(session, &left, &left.with_added_extension("taking"), &lock_alone)?;
            taken.map_or(Ok(()), |sign| take_unnamed(session, &sign, &lock_alone))?;
            // Where others are left it stays.
            let _ = fs::remove_dir(folder);
        }
    }
    // Last: the same edit may have its name elsewhere.
    own.map_or(Ok(()), |sign| take_unnamed(session, &sign, &lock_alone))
}

/// Takes up those in the session's own folder, if that takes no time: not while another has the lock. What is left then is
/// taken up at the end of the turn.
pub fn try_take_up_unnoted(session: &Path) -> io::Result<()> {
    let lock = |session: &Path| {
        let file = private::to_lock(&session.join("lock"))?;
        file.try_lock()?;
        Ok(Lock { file, session: session.to_owned(), alone: true, patience: Duration::ZERO })
    };
    take_from(session, &session.join(UNNOTED), &session.join(TAKING), &lock)?
        .map_or(Ok(()), |sign| take_unnamed(session, &sign, &lock))
}

/// That there was an edit is all that is known. Where others are known to be unverified it says nothing new.
fn take_unnamed(
    session: &Path,
    sign: &Path,
    lock_alone: &impl Fn(&Path) -> io::Result<Lock>,
) -> io::Result<()> {
    let Ok(found) = fs::metadata(sign) else { return Ok(()) };
    let lock = lock_alone(session)?;
    let known = read(session);
    let work = known.value().map(|marks| &marks.verification);
    let at = found.modified().map_or_else(|_| clock::now(), clock::millis);
    let is_verified = work.and_then(|work| work.verified).is_some_and(|verified| at <= verified);
    if !is_verified && work.is_none_or(|work| work.changes.is_none()) {
        let edit = Edit { file: UNNAMED.to_owned(), at, shell: true };
        lock.append(&[VerificationMark::Edit(edit).into()])?;
    }
    fs::remove_file(sign)
}

/// Takes up one file; gives the place of its sign without a name, if there was a file at all.
fn take_from(
    session: &Path,
    left: &Path,
    taking: &Path,
    lock_alone: &impl Fn(&Path) -> io::Result<Lock>,
) -> io::Result<Option<PathBuf>> {
    let mut sign = None;
    while left.exists() || taking.exists() {
        let lock = lock_alone(session)?;
        sign = Some(unnamed(left));
        // Under another name, since others append to it without the lock. It may have been left by a process that was killed.
        if !taking.exists() {
            match fs::rename(left, taking) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => break,
                renamed => renamed?,
            }
        }
        let lines = bounded::read_end(taking, MOST_TAKEN)?;
        // What was verified since it was edited is not to be verified again.
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

    fn take_up(session: &Path, elsewhere: &Elsewhere) -> io::Result<()> {
        take_up_unnoted(session, elsewhere, lock::PATIENCE)
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
        VerificationMark::Edit(Edit { file: file.to_owned(), at: Millis(at), shell: false }).into()
    }

    fn unverified(session: &Path) -> Vec<String> {
        let marks = read(session);
        marks.value().and_then(|marks| marks.verification.changes.clone()).unwrap_or_default().files
    }

    #[test]
    fn edits_that_were_left_are_taken_up_once() {
        let folder = tempfile::tempdir().unwrap();
        let session = folder.path();
        leave_unnoted(session, &Elsewhere::default(), &[edit("a.rs", 1)]).unwrap();
        // As one leaves it that is killed while it takes them up; meanwhile another edit was left.
        fs::rename(session.join(UNNOTED), session.join(TAKING)).unwrap();
        leave_unnoted(session, &Elsewhere::default(), &[edit("b.rs", 2)]).unwrap();
        take_up(session, &Elsewhere::default()).unwrap();
        assert_eq!(unverified(session), ["a.rs", "b.rs"]);
        assert!(!session.join(UNNOTED).exists() && !session.join(TAKING).exists());
    }

    /// Hooks leave edits without the lock, also while others are taken up.
    #[test]
    fn an_edit_that_is_left_meanwhile_is_not_lost() {
        let folder = tempfile::tempdir().unwrap();
        let session = folder.path();
        for _ in 0..20 {
            std::thread::scope(|scope| {
                let leaving = scope.spawn(|| {
                    for at in 0..60 {
                        leave_unnoted(session, &Elsewhere::default(), &[edit(&format!("{at}.rs"), at)])
                            .unwrap();
                    }
                });
                while !leaving.is_finished() {
                    take_up(session, &Elsewhere::default()).unwrap();
                }
            });
            take_up(session, &Elsewhere::default()).unwrap();
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
        let checked = SucceededChecks { kinds: Kinds::TEST, at: Millis(5), seen: Millis(6), verified: true };
        append(session, &[VerificationMark::Checked(checked).into()]).unwrap();
        leave_unnoted(session, &Elsewhere::default(), &[edit("b.rs", 5)]).unwrap();
        take_up(session, &Elsewhere::default()).unwrap();
        assert_eq!(unverified(session), Vec::<String>::new());
        leave_unnoted(session, &Elsewhere::default(), &[edit("c.rs", 6)]).unwrap();
        take_up(session, &Elsewhere::default()).unwrap();
        assert_eq!(unverified(session), ["c.rs"]);
    }

    #[test]
    fn a_great_many_edits_that_were_left_count_and_do_not_flood_the_marks() {
        let folder = tempfile::tempdir().unwrap();
        let session = folder.path();
        let long = "x".repeat(60);
        let many: Vec<Mark> = (0..60_000).map(|at| edit(&format!("{long}{at}.rs"), at)).collect();
        leave_unnoted(session, &Elsewhere::default(), &many).unwrap();
        assert!(fs::metadata(session.join(UNNOTED)).unwrap().len() > LARGEST);
        take_up(session, &Elsewhere::default()).unwrap();
        assert!(!unverified(session).is_empty() && !session.join(TAKING).exists());
        assert!(fs::metadata(session.join(FILE)).unwrap().len() <= LONG);
    }

    #[test]
    fn without_the_lock_nothing_is_taken_up_in_passing() {
        let folder = tempfile::tempdir().unwrap();
        let session = folder.path();
        leave_unnoted(session, &Elsewhere::default(), &[edit("a.rs", 1)]).unwrap();
        let lock = lock_shared(session).unwrap();
        assert_eq!(try_take_up_unnoted(session).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        drop(lock);
        try_take_up_unnoted(session).unwrap();
        assert_eq!(unverified(session), ["a.rs"]);
    }

    /// The session's folder cannot be written, and later it can.
    #[test]
    fn an_edit_is_left_elsewhere_where_the_session_cannot_hold_it() {
        let folder = tempfile::tempdir().unwrap();
        let (session, sign) = (folder.path().join("s"), folder.path().join("signs"));
        let blocked = folder.path().join("a file");
        fs::write(&blocked, "").unwrap();
        let elsewhere = Elsewhere { folders: vec![blocked, sign.clone()], file: "s".to_owned() };
        fs::write(&session, "no folder").unwrap();
        leave_unnoted(&session, &elsewhere, &[edit("a.rs", 1)]).unwrap();
        assert!(sign.join("s").exists());
        take_up(&session, &elsewhere).unwrap_err();
        fs::remove_file(&session).unwrap();
        take_up(&session, &elsewhere).unwrap();
        assert_eq!(unverified(&session), ["a.rs"]);
        assert!(!sign.exists());
    }

    /// A full disk lets a file be made and not be written.
    #[test]
    fn a_sign_without_a_name_is_an_edit() {
        let folder = tempfile::tempdir().unwrap();
        let session = folder.path();
        fs::write(unnamed(&session.join(UNNOTED)), "").unwrap();
        // It is torn, too, if the disk became full in the middle of it.
        fs::write(session.join(UNNOTED), "\n{\"edit\":{\"fi").unwrap();
        take_up(session, &Elsewhere::default()).unwrap();
        assert_eq!(unverified(session), [UNNAMED]);
        assert!(!unnamed(&session.join(UNNOTED)).exists());
        // One that is known by name is enough.
        fs::remove_file(session.join(FILE)).unwrap();
        fs::write(unnamed(&session.join(UNNOTED)), "").unwrap();
        leave_unnoted(session, &Elsewhere::default(), &[edit("a.rs", 1)]).unwrap();
        take_up(session, &Elsewhere::default()).unwrap();
        assert_eq!(unverified(session), ["a.rs"]);
    }

    /// A device that is always full.
    #[cfg(target_os = "linux")]
    #[test]
    fn on_a_full_disk_a_sign_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let session = folder.path();
        std::os::unix::fs::symlink("/dev/full", session.join(UNNOTED)).unwrap();
        leave_unnoted(session, &Elsewhere::default(), &[edit("a.rs", 1)]).unwrap_err();
        fs::remove_file(session.join(UNNOTED)).unwrap();
        fs::write(session.join(UNNOTED), "").unwrap();
        take_up(session, &Elsewhere::default()).unwrap();
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
