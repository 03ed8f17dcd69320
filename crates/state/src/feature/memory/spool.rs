//! The spool: jobs that hooks leave and a worker takes, one small file each in the folder `spool` of private state.
//!
//! A job is a new file, renamed into place, without `fsync`. Its name begins with its time, so that the order of names is
//! the order of jobs, and ends with a hash of its text, so that two of one name are the same job.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use tidegate_core::feature::memory::effect::StartWhen;
use tidegate_core::feature::memory::job::{Job, VERSION};
use tidegate_core::text::fnv;
use tidegate_core::time::Millis;

use crate::file::lock;
use crate::file::lock::Keeps;
use crate::file::{bounded, private, replace};
use crate::place::{self, StateDir};

/// More than this is damage: the longest thing in a job is a path.
const LARGEST: u64 = 64 * 1024;

/// At the end of turns a worker is started at most once in this time.
const BETWEEN_STARTS_MS: u64 = 60_000;

/// A file that lies in the spool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queued {
    /// Where.
    pub path: PathBuf,
    /// What it says.
    pub job: Result<Job, Unread>,
}

/// Why a file in the spool is no job that can be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unread {
    /// A newer program left it, which will know what to do with it.
    Newer(u32),
    /// It makes no sense.
    Damaged(String),
    /// The system does not give it out now; another time it may.
    NotNow(String),
}

/// Leaves a job.
pub fn put(state: &StateDir, job: &Job) -> io::Result<()> {
    let text = serde_json::to_vec(job).map_err(io::Error::other)?;
    let session: String =
        job.session.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(64).collect();
    let name = format!("{:015}-{session}-{:016x}.json", job.at.0, fnv::hash(text.iter().copied()));
    let path = folder(state).join(name);
    match replace::copy(&path, &text) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            place::make_private(&folder(state))?;
            replace::copy(&path, &text)
        }
        done => done,
    }
}

/// Everything that lies there, oldest first.
pub fn list(state: &StateDir) -> io::Result<Vec<Queued>> {
    let entries = match fs::read_dir(folder(state)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut paths = Vec::new();
    for entry in entries {
        let entry = entry?;
        let path = entry.path();
        let hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        if path.extension().is_some_and(|extension| extension == "json") && !hidden {
            paths.push(path);
        }
    }
    paths.sort_unstable();
    let read = paths.into_iter().filter_map(|path| match read(&path) {
        // Another worker was there first.
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => {
            // What the system did not say, we did: too large, or no file.
            let of_system = error.raw_os_error().is_some();
            let unread = if of_system { Unread::NotNow } else { Unread::Damaged };
            Some(Queued { path, job: Err(unread(error.to_string())) })
        }
        Ok(job) => Some(Queued { path, job }),
    });
    Ok(read.collect())
}

/// Whether anything lies there. Nothing is read for that, and no more than a few names: there may be thousands of them while
/// no worker comes.
pub fn has_jobs(state: &StateDir) -> bool {
    any_name(&folder(state), |name| name.ends_with(b".json"))
}

#[cfg(target_os = "linux")]
fn any_name(folder: &Path, is: impl Fn(&[u8]) -> bool) -> bool {
    let Ok(folder) = File::open(folder) else { return false };
    let mut few = Vec::with_capacity(1024);
    let mut entries = rustix::fs::RawDir::new(&folder, few.spare_capacity_mut());
    while let Some(Ok(entry)) = entries.next() {
        if is(entry.file_name().to_bytes()) {
            return true;
        }
    }
    false
}

#[cfg(not(target_os = "linux"))]
fn any_name(folder: &Path, is: impl Fn(&[u8]) -> bool) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.into_iter().any(|entry| is(entry.file_name().as_encoded_bytes()))
}

/// Takes a job away that is done. One that is gone already is no error.
pub fn remove(queued: &Queued) -> io::Result<()> {
    match fs::remove_file(&queued.path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// Puts a file aside that is no job, for a person to look at.
pub fn set_aside(state: &StateDir, queued: &Queued) -> io::Result<PathBuf> {
    let damaged = folder(state).join("damaged");
    place::make_private(&damaged)?;
    let name = queued.path.file_name().ok_or_else(|| io::Error::other("no file name"))?;
    let aside = damaged.join(name);
    fs::rename(&queued.path, &aside)?;
    Ok(aside)
}

/// Files that were put aside.
pub fn damaged(state: &StateDir) -> io::Result<Vec<PathBuf>> {
    match fs::read_dir(folder(state).join("damaged")) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        entries => entries?.map(|entry| Ok(entry?.path())).collect(),
    }
}

/// Removes what killed hooks left half-written, once it is an hour old.
pub fn clear_half_written(state: &StateDir, now: Millis) -> io::Result<()> {
    for entry in fs::read_dir(folder(state))? {
        let entry = entry?;
        let hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        let half = hidden && entry.path().extension().is_some_and(|extension| extension == "tmp");
        let written = entry.metadata().and_then(|found| found.modified()).ok();
        let written = written.and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
        if half && written.is_some_and(|at| now.since(Millis(at.as_millis() as u64)) > 3_600_000) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// What makes a worker the only one, for as long as the file is open; `None` while there is another.
pub fn try_work(state: &StateDir) -> io::Result<Option<File>> {
    let file = private::to_lock(&lock_file(state))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// The same, but waits so long until the other is done.
pub fn wait_to_work(state: &StateDir, patience: Duration) -> io::Result<File> {
    let path = lock_file(state);
    let file = private::to_lock(&path)?;
    lock::wait_for(&file, &path, Keeps::Alone, patience)?;
    Ok(file)
}

/// Whether it is for the caller to start a worker: none runs, nor was one started too short a time ago.
pub fn worker_is_due(state: &StateDir, now: Millis, starts: StartWhen) -> io::Result<bool> {
    let mut stamp = private::to_lock(&folder(state).join("worker-started"))?;
    match stamp.try_lock() {
        Ok(()) => {}
        // Somebody else is just about to.
        Err(TryLockError::WouldBlock) => return Ok(false),
        Err(TryLockError::Error(error)) => return Err(error),
    }
    let mut bytes = [0; 8];
    let started = stamp.read_exact(&mut bytes).ok().map(|()| Millis(u64::from_le_bytes(bytes)));
    // A time that has not come yet is a clock that was set back.
    let lately = started.is_some_and(|at| at <= now && now.since(at) < BETWEEN_STARTS_MS);
    if (lately && starts == StartWhen::OnceAMinute) || try_work(state)?.is_none() {
        return Ok(false);
    }
    stamp.seek(SeekFrom::Start(0))?;
    stamp.write_all(&now.0.to_le_bytes())?;
    Ok(true)
}

fn read(path: &Path) -> io::Result<Result<Job, Unread>> {
    #[derive(Deserialize)]
    struct Version {
        v: u32,
    }
    let bytes = bounded::read(path, LARGEST)?;
    // What a newer job is like is not known beyond its version.
    let version = match serde_json::from_slice::<Version>(&bytes) {
        Ok(version) => version.v,
        Err(error) => return Ok(Err(Unread::Damaged(error.to_string()))),
    };
    if version > VERSION {
        return Ok(Err(Unread::Newer(version)));
    }
    Ok(serde_json::from_slice(&bytes).map_err(|error| Unread::Damaged(error.to_string())))
}

fn folder(state: &StateDir) -> PathBuf {
    state.root().join("spool")
}

fn lock_file(state: &StateDir) -> PathBuf {
    folder(state).join("lock")
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::feature::memory::job::Work;

    fn state(folder: &tempfile::TempDir) -> StateDir {
        let env = place::PlaceEnv { state_dir: Some(folder.path().join("s")), ..Default::default() };
        StateDir::open(&env).unwrap()
    }

    fn job(at: u64, topic: i64) -> Job {
        let work = Work::Offered { topics: vec![topic] };
        Job { v: VERSION, at: Millis(at), session: "a1-b2".to_owned(), work }
    }

    #[test]
    fn jobs_come_back_oldest_first_and_none_is_lost() {
        let folder = tempfile::tempdir().unwrap();
        let state = state(&folder);
        assert!(list(&state).unwrap().is_empty() && !has_jobs(&state));
        for (at, topic) in [(1000, 1), (90, 2), (1000, 3), (1_800_000_000_000, 4), (1000, 1)] {
            put(&state, &job(at, topic)).unwrap();
        }
        let listed = list(&state).unwrap();
        assert!(has_jobs(&state));
        let times: Vec<u64> =
            listed.iter().map(|queued| queued.job.as_ref().map_or(0, |job| job.at.0)).collect();
        assert_eq!(times, [90, 1000, 1000, 1_800_000_000_000], "the same job twice is one");
        for queued in &listed {
            remove(queued).unwrap();
            remove(queued).unwrap();
        }
        assert!(list(&state).unwrap().is_empty() && !has_jobs(&state));
    }

    #[cfg(unix)]
    #[test]
    fn a_job_is_private() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let state = state(&folder);
        put(&state, &job(1, 1)).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&list(&state).unwrap()[0].path), mode(&super::folder(&state))), (0o600, 0o700));
    }

    #[test]
    fn what_is_no_job_is_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let state = state(&folder);
        put(&state, &job(5, 1)).unwrap();
        let spool = super::folder(&state);
        fs::write(spool.join("1-newer.json"), r#"{"v": 9, "job": "dance"}"#).unwrap();
        fs::write(spool.join("2-torn.json"), r#"{"v": 1, "at": 3"#).unwrap();
        fs::write(spool.join("3-empty.json"), "").unwrap();
        fs::write(spool.join("4-huge.json"), " ".repeat(LARGEST as usize + 1)).unwrap();
        fs::write(spool.join(".5.json.77.0.tmp"), "{").unwrap();
        fs::create_dir(spool.join("6-folder.json")).unwrap();
        // The system refuses to open what leads back to itself, to anybody.
        #[cfg(unix)]
        std::os::unix::fs::symlink("7-loop.json", spool.join("7-loop.json")).unwrap();
        let listed = list(&state).unwrap();
        let of = |n: usize| &listed[n].job;
        assert!(matches!(of(0), Ok(job) if job.at == Millis(5)));
        assert_eq!(of(1), &Err(Unread::Newer(9)));
        assert!((2..6).all(|n| matches!(of(n), Err(Unread::Damaged(_)))), "{listed:?}");
        #[cfg(unix)]
        assert!(matches!(of(6), Err(Unread::NotNow(_))), "{listed:?}");
        let aside = set_aside(&state, &listed[2]).unwrap();
        assert!(aside.ends_with("spool/damaged/2-torn.json"), "{}", aside.display());
        assert_eq!(list(&state).unwrap().len(), listed.len() - 1);
        clear_half_written(&state, crate::clock::now()).unwrap();
        assert!(spool.join(".5.json.77.0.tmp").exists(), "it may be under way");
        clear_half_written(&state, Millis(crate::clock::now().0 + 3_700_000)).unwrap();
        assert!(!spool.join(".5.json.77.0.tmp").exists());
    }

    #[test]
    fn a_worker_is_started_once_a_minute_and_not_while_one_runs() {
        let folder = tempfile::tempdir().unwrap();
        let state = state(&folder);
        let due = |now| worker_is_due(&state, Millis(now), StartWhen::OnceAMinute).unwrap();
        let at_any_time = |now| worker_is_due(&state, Millis(now), StartWhen::AnyTime).unwrap();
        assert_eq!([due(100_000), due(100_001), due(159_999), due(160_000)], [true, false, false, true]);
        assert!(due(50_000), "the clock was set back");
        let working = try_work(&state).unwrap();
        assert!(working.is_some() && try_work(&state).unwrap().is_none());
        assert!(!due(500_000) && !at_any_time(500_000), "one runs");
        drop(working);
        assert!(at_any_time(50_001), "one was started just before");
        assert!(!due(50_002), "that was a start like any other");
        assert!(due(500_000), "one that was not started leaves no stamp");
        drop(wait_to_work(&state, Duration::ZERO).unwrap());
    }
}
