//! The record of an install, in private state: `uninstall` restores files to the byte from it. One folder per project,
//! with the original files next to the record, so that a person finds them.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tidegate_core::time::Millis;
use tidegate_hook::environment::Environment;
use tidegate_state::file::lock;
use tidegate_state::file::lock::LockMode;
use tidegate_state::file::{append, bounded, replace};
use tidegate_state::place::{StateDir, make_private};
use tidegate_state::project;

use crate::host::claude_code::shipped::Part;

/// More than this is damage.
const LARGEST: u64 = 64 * 1024 * 1024;

/// Versions of one file that are remembered; an upgrade adds one.
const VERSIONS: usize = 8;

/// One project's, or the user's.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Record {
    /// The project's folder, or the host's.
    pub(crate) target: PathBuf,
    pub(crate) files: Vec<Kept>,
    /// Folders that `init` made.
    pub(crate) folders: Vec<PathBuf>,
    /// Parts that `init --with` asked for. `None`: written by 0.1, which installed all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) parts: Option<Vec<Part>>,
    /// Files with a name that Tidegate uses, which existed before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) theirs: Vec<PathBuf>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Kept {
    pub(crate) file: PathBuf,
    pub(crate) kind: Kind,
    /// Time of the first write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) since: Option<Millis>,
    /// The text that `uninstall` restores; `None` when there was no file.
    pub(crate) original: Option<String>,
    /// The very first text, kept as a file.
    #[serde(skip)]
    first: Option<String>,
    /// Texts that `init` wrote, newest last. A killed process may have left the one before.
    pub(crate) written: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    Settings,
    Shipped,
    Ignore,
    Config,
    /// Changed in place, never restored: only the outline of what was there is kept.
    Server,
}

impl Record {
    pub(crate) fn of(&self, file: &Path) -> Option<&Kept> {
        self.files.iter().find(|kept| kept.file == file)
    }

    /// `None` if the file was changed since `init` wrote it.
    pub(crate) fn untouched(&self, file: &Path, now: Option<&str>) -> Option<&Kept> {
        self.of(file).filter(|kept| now.is_some_and(|now| kept.written.iter().any(|text| text == now)))
    }

    /// Call before writing over `old`. `without_us` becomes the original if the file was changed since.
    pub(crate) fn note(
        &mut self,
        file: &Path,
        kind: Kind,
        old: Option<&str>,
        without_us: Option<String>,
        new: &str,
        now: Millis,
    ) {
        let known = self.of(file);
        let since = known.and_then(|known| known.since).or(Some(now));
        let is_new = known.is_none() && kind != Kind::Shipped;
        let first = known.and_then(|known| known.first.clone()).or(old.filter(|_| is_new).map(str::to_owned));
        let mut kept = self.untouched(file, old).cloned().unwrap_or_else(|| Kept {
            file: file.to_owned(),
            kind,
            since,
            original: without_us,
            first,
            written: Vec::new(),
        });
        kept.written.retain(|text| text != new);
        kept.written.push(new.to_owned());
        let surplus = kept.written.len().saturating_sub(VERSIONS);
        kept.written.drain(..surplus);
        self.forget(file);
        self.files.push(kept);
    }

    /// For a file of which no copy is kept: others write it all the time, and it holds their secrets.
    pub(crate) fn note_outline(&mut self, file: &Path, outline: Option<String>, now: Millis) {
        if self.of(file).is_none() {
            let (file, kind, since) = (file.to_owned(), Kind::Server, Some(now));
            self.files.push(Kept { file, kind, since, original: outline, first: None, written: Vec::new() });
        }
    }

    pub(crate) fn forget(&mut self, file: &Path) {
        self.files.retain(|kept| kept.file != file);
    }
}

#[derive(Debug)]
pub(crate) struct Records {
    folder: PathBuf,
}

impl Records {
    /// Makes nothing.
    pub(crate) fn look(env: &Environment) -> Result<Records, String> {
        Ok(Records { folder: env.place.state()?.join("installs") })
    }

    /// Makes the folder and waits for other installs; the lock is held as long as the file is open.
    pub(crate) fn lock(env: &Environment) -> Result<(Records, File), String> {
        let folder = StateDir::open(&env.place)?.root().join("installs");
        let locked = make_private(&folder).and_then(|()| {
            let path = folder.join("lock");
            let file = append::open(&path)?;
            lock::wait(&file, &path, LockMode::Exclusive)?;
            Ok(file)
        });
        match locked {
            Ok(file) => Ok((Records { folder }, file)),
            Err(error) if error.kind() == io::ErrorKind::TimedOut => Err(error.to_string()),
            Err(error) => Err(format!("{}: {error}", folder.display())),
        }
    }

    pub(crate) fn folder_of(&self, target: &Path) -> PathBuf {
        self.folder.join(project::folder_name(target))
    }

    /// Empty if there is none that can be read.
    pub(crate) fn load(&self, target: &Path) -> Record {
        let record = read_record(&self.folder_of(target)).filter(|record| record.target == target);
        record.unwrap_or_else(|| Record { target: target.to_owned(), ..Record::default() })
    }

    /// With the original files. An empty record is deleted.
    pub(crate) fn save(&self, record: &Record) -> io::Result<()> {
        let folder = self.folder_of(&record.target);
        if record.files.is_empty() {
            return match fs::remove_dir_all(&folder) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            };
        }
        make_private(&folder)?;
        for kept in &record.files {
            if let (Some(first), Some(copy)) = (&kept.first, backup_path(&folder, kept)) {
                replace::durable(&copy, first.as_bytes())?;
            }
        }
        let json = serde_json::to_vec_pretty(record).map_err(io::Error::other)?;
        replace::durable(&folder.join("record.json"), &json)
    }

    pub(crate) fn has_backup(&self, record: &Record) -> bool {
        let folder = self.folder_of(&record.target);
        record.files.iter().any(|kept| backup_path(&folder, kept).is_some_and(|copy| copy.exists()))
    }

    pub(crate) fn has(&self, target: &Path) -> bool {
        !self.load(target).files.is_empty()
    }

    /// The earliest of all records.
    pub(crate) fn since(&self, file: &Path) -> Option<Millis> {
        let file = fs::canonicalize(file).ok()?;
        let is_it =
            |kept: &Kept| kept.file == file || fs::canonicalize(&kept.file).is_ok_and(|real| real == file);
        self.all()
            .into_iter()
            .flat_map(|record| record.files)
            .filter(is_it)
            .filter_map(|kept| kept.since)
            .min()
    }

    pub(crate) fn folder_of_replaced(&self) -> PathBuf {
        self.folder.join("replaced")
    }

    /// Backup of a file that no record will restore.
    pub(crate) fn keep_replaced(&self, now: Millis, number: usize, file: &Path, old: &str) -> io::Result<()> {
        let folder = self.folder_of_replaced();
        make_private(&folder)?;
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        replace::durable(&folder.join(format!("{}-{number}-{name}", now.0)), old.as_bytes())
    }

    /// A record that is there and cannot be read: damaged, or of a newer version. To write over it would lose the way back.
    pub(crate) fn find_unreadable(&self) -> Option<PathBuf> {
        let folders = fs::read_dir(&self.folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let files = folders.map(|folder| folder.join("record.json"));
        files.into_iter().find(|file| {
            let is_missing = fs::symlink_metadata(file).is_err();
            !is_missing && file.parent().is_some_and(|folder| read_record(folder).is_none())
        })
    }

    /// Of every install, each with its project's folder.
    pub(crate) fn settings(&self) -> Vec<(PathBuf, PathBuf)> {
        let of = |record: Record| {
            let files = record.files.iter().filter(|kept| kept.kind == Kind::Settings);
            let files: Vec<PathBuf> = files.map(|kept| kept.file.clone()).collect();
            files.into_iter().map(move |file| (record.target.clone(), file))
        };
        self.all().into_iter().flat_map(of).collect()
    }

    fn all(&self) -> Vec<Record> {
        let folders = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        folders.filter_map(|entry| read_record(&entry.path())).collect()
    }

    pub(crate) fn others(&self, target: &Path) -> Vec<Record> {
        let mut records = self.all();
        records.retain(|record| record.target != target);
        records
    }
}

fn read_record(folder: &Path) -> Option<Record> {
    serde_json::from_slice(&bounded::read(&folder.join("record.json"), LARGEST).ok()?).ok()
}

fn backup_path(folder: &Path, kept: &Kept) -> Option<PathBuf> {
    Some(folder.join(format!("{}.before", kept.file.file_name()?.to_string_lossy())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_original_stays_until_somebody_changes_the_file() {
        let (mut record, file) = (Record::default(), Path::new("/p/x"));
        record.note(file, Kind::Settings, Some("a"), Some("a".into()), "a+1", Millis(1));
        record.note(file, Kind::Settings, Some("a+1"), Some("?".into()), "a+2", Millis(2));
        assert_eq!(record.untouched(file, Some("a+1")).unwrap().original.as_deref(), Some("a"));
        assert_eq!(record.untouched(file, Some("a+2")).unwrap().original.as_deref(), Some("a"));
        assert_eq!(record.untouched(file, Some("b")), None);
        record.note(file, Kind::Settings, Some("b+1"), Some("b".into()), "b+2", Millis(3));
        assert_eq!(record.of(file).unwrap().since, Some(Millis(1)));
        assert_eq!(record.of(file).unwrap().first.as_deref(), Some("a"));
        assert_eq!(record.of(file).unwrap().original.as_deref(), Some("b"));
        assert_eq!(record.of(file).unwrap().written, ["b+2"]);
        for n in 0..20 {
            record.note(file, Kind::Settings, Some("b+2"), None, &n.to_string(), Millis(4));
        }
        assert_eq!(record.files.len(), 1);
        assert!(record.files[0].written.len() <= VERSIONS);
        record.forget(file);
        assert_eq!(record, Record::default());
    }
}
