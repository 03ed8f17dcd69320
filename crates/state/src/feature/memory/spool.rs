//! The spool: jobs from hooks to the worker, one small file each in the folder `spool` of private state.
//!
//! A job is a new file, renamed into place, without `fsync`. Its name begins with its time, so that names sort like
//! jobs, and ends with a hash of its text, so that equal names mean equal jobs.

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
use crate::file::lock::LockMode;
use crate::file::{bounded, private, replace};
use crate::place::{self, StateDir};

/// In bytes; the longest part of a job is a path.
const LARGEST: u64 = 64 * 1024;

/// At the end of turns, a worker is started at most this often.
const BETWEEN_STARTS_MS: u64 = 60_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queued {
    pub path: PathBuf,
    pub job: Result<Job, Unread>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unread {
    /// A newer version wrote it, and will handle it.
    Newer(u32),
    Damaged(String),
    /// The system refused to read it this time.
    NotNow(String),
}

pub fn put(state: &StateDir, job: &Job) -> io::Result<()> {
    let text = serde_json::to_vec(job).map_err(io::Error::other)?;
    let session: String =
        job.session.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(64).collect();
    let name = format!("{:015}-{session}-{:016x}.json", job.at.0, fnv::hash(text.iter().copied()));
    let path = spool_folder(state).join(name);
    match replace::copy(&path, &text) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            place::make_private(&spool_folder(state))?;
            replace::copy(&path, &text)
        }
        done => done,
    }
}

/// Oldest first.
pub fn list(state: &StateDir) -> io::Result<Vec<Queued>> {
    let entries = match fs::read_dir(spool_folder(state)) {
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
        // Another worker has taken it.
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => {
            // Errors without a system code are our own: too large, or not a file.
            let of_system = error.raw_os_error().is_some();
            let unread = if of_system { Unread::NotNow } else { Unread::Damaged };
            Some(Queued { path, job: Err(unread(error.to_string())) })
        }
        Ok(job) => Some(Queued { path, job }),
    });
    Ok(read.collect())
}

/// Reads only a few names: thousands may pile up without a worker.
pub fn has_jobs(state: &StateDir) -> bool {
    any_name(&spool_folder(state), |name| name.ends_with(b".json"))
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

/// Succeeds if the file is gone already.
pub fn remove(queued: &Queued) -> io::Result<()> {
    match fs::remove_file(&queued.path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// For a person to look at.
pub fn set_aside(state: &StateDir, queued: &Queued) -> io::Result<PathBuf> {
    let damaged = spool_folder(state).join("damaged");
    place::make_private(&damaged)?;
    let name = queued.path.file_name().ok_or_else(|| io::Error::other("no file name"))?;
    let aside = damaged.join(name);
    fs::rename(&queued.path, &aside)?;
    Ok(aside)
}

pub fn list_damaged(state: &StateDir) -> io::Result<Vec<PathBuf>> {
    match fs::read_dir(spool_folder(state).join("damaged")) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        entries => entries?.map(|entry| Ok(entry?.path())).collect(),
    }
}

/// Removes temporary files of killed hooks once they are an hour old.
pub fn clear_half_written(state: &StateDir, now: Millis) -> io::Result<()> {
    for entry in fs::read_dir(spool_folder(state))? {
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

/// The worker's lock, held while the file is open; `None` if another worker has it.
pub fn try_lock_worker(state: &StateDir) -> io::Result<Option<File>> {
    let file = private::open_lock_file(&lock_file(state))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Waits for the other worker.
pub fn lock_worker(state: &StateDir, patience: Duration) -> io::Result<File> {
    let path = lock_file(state);
    let file = private::open_lock_file(&path)?;
    lock::wait_for(&file, &path, LockMode::Exclusive, patience)?;
    Ok(file)
}

/// Whether the caller should start a worker: none is running, and none was started too recently.
pub fn worker_is_due(state: &StateDir, now: Millis, starts: StartWhen) -> io::Result<bool> {
    let mut stamp = private::open_lock_file(&spool_folder(state).join("worker-started"))?;
    match stamp.try_lock() {
        Ok(()) => {}
        // Another process is starting one.
        Err(TryLockError::WouldBlock) => return Ok(false),
        Err(TryLockError::Error(error)) => return Err(error),
    }
    let mut bytes = [0; 8];
    let started = stamp.read_exact(&mut bytes).ok().map(|()| Millis(u64::from_le_bytes(bytes)));
    // A time in the future means that the clock moved back.
    let lately = started.is_some_and(|at| at <= now && now.since(at) < BETWEEN_STARTS_MS);
    if (lately && starts == StartWhen::OnceAMinute) || try_lock_worker(state)?.is_none() {
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
    // Of a newer job, only the version is known.
    let version = match serde_json::from_slice::<Version>(&bytes) {
        Ok(version) => version.v,
        Err(error) => return Ok(Err(Unread::Damaged(error.to_string()))),
    };
    if version > VERSION {
        return Ok(Err(Unread::Newer(version)));
    }
    Ok(serde_json::from_slice(&bytes).map_err(|error| Unread::Damaged(error.to_string())))
}

fn spool_folder(state: &StateDir) -> PathBuf {
    state.root().join("spool")
}

fn lock_file(state: &StateDir) -> PathBuf {
    spool_folder(state).join("lock")
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
        assert_eq!(
            (mode(&list(&state).unwrap()[0].path), mode(&super::spool_folder(&state))),
            (0o600, 0o700)
        );
    }

    #[test]
    fn what_is_no_job_is_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let state = state(&folder);
        put(&state, &job(5, 1)).unwrap();
        let spool = super::spool_folder(&state);
        fs::write(spool.join("1-newer.json"), r#"{"v": 9, "job": "dance"}"#).unwrap();
        fs::write(spool.join("2-torn.json"), r#"{"v": 1, "at": 3"#).unwrap();
        fs::write(spool.join("3-empty.json"), "").unwrap();
        fs::write(spool.join("4-huge.json"), " ".repeat(LARGEST as usize + 1)).unwrap();
        fs::write(spool.join(".5.json.77.0.tmp"), "{").unwrap();
        fs::create_dir(spool.join("6-folder.json")).unwrap();
        // The system refuses to open a link to itself.
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
        let working = try_lock_worker(&state).unwrap();
        assert!(working.is_some() && try_lock_worker(&state).unwrap().is_none());
        assert!(!due(500_000) && !at_any_time(500_000), "one runs");
        // A process that another test is just starting has a copy of the handle.
        working.unwrap().unlock().unwrap();
        assert!(at_any_time(50_001), "one was started just before");
        assert!(!due(50_002), "that was a start like any other");
        assert!(due(500_000), "one that was not started leaves no stamp");
        drop(lock_worker(&state, Duration::ZERO).unwrap());
    }
}
