//! The memory of this machine: the embedded store in the user's data folder.
//!
//! Every change through [`Memory`] also updates the catalogue that the hooks read. A damaged file is set
//! aside and rebuilt once, by the first process that notices. A process that still has the old file open
//! switches to the new one.

mod backups;
mod heal;
mod look;
mod notes;
mod publish;

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};

use tidegate_core::feature::memory::settings::{MemorySettings, Team};
use tidegate_core::settings::list::{Listed, TeamProject};
use tidegate_core::time::Millis;
use tidegate_state::file::lock;
use tidegate_state::file::lock::LockMode;
use tidegate_state::place::{self, PlaceEnv, StateDir};

use crate::act::WITHIN;
use crate::error::{Error, ErrorKind, Result};
use crate::record::{Foreign, Record, Uid};
use crate::sqlite::{OpenOutcome, SqliteStore, StoreSizes};
use crate::store::{Put, Store};
use crate::team::project_key;
use crate::view::{Decision, Filter, Forget, Found, Log, MemoryProject, Page, Paged, Query, Topic};

pub use heal::Healed;
pub use look::look;

/// The folder of the memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryHome(PathBuf);

impl MemoryHome {
    /// All files in it, in the form of [`tidegate_state::layout`].
    pub const FILES: &[&str] = &[
        "memory.db",
        "memory.db-wal",
        "memory.db-shm",
        "memory.db-journal",
        "memory.half",
        "lock",
        "lock.copies",
        "team.json",
        "backups/memory-<any>",
        "backups/before-version-<any>",
        "backups/new.<any>",
        "damaged/<day>T<any>/memory.db",
        "damaged/<day>T<any>/memory.db-wal",
        "damaged/<day>T<any>/memory.db-shm",
        "damaged/<day>T<any>/what-happened.json",
    ];

    /// Refuses a folder that others own or can write: their files would be served as the user's own.
    pub fn of(place: &PlaceEnv) -> Result<MemoryHome> {
        let folder = place.memory().map_err(|why| {
            Error::new(ErrorKind::Io, why).hint("set TIDEGATE_DATA_DIR to a folder of your own")
        })?;
        place::refuse_foreign(&folder).map_err(|why| {
            Error::new(ErrorKind::Io, why).hint(format!(
                "look at what is in it; if it is all yours, `chown -R \"$USER\"` and `chmod 700` on {} make it yours alone, \
                 or TIDEGATE_DATA_DIR names another folder",
                folder.display()
            ))
        })?;
        Ok(MemoryHome(folder))
    }

    pub fn folder(&self) -> &Path {
        &self.0
    }

    pub fn file(&self) -> PathBuf {
        self.0.join("memory.db")
    }

    pub fn backups(&self) -> PathBuf {
        self.0.join("backups")
    }

    pub fn damaged(&self) -> PathBuf {
        self.0.join("damaged")
    }

    /// False until something was stored for the first time.
    pub fn is_there(&self) -> Result<bool> {
        self.file().try_exists().map_err(|error| self.io_error(&error))
    }

    /// Shared while a store is opened, exclusive while it is rebuilt.
    fn lock(&self, keeps: LockMode) -> Result<File> {
        place::make_private(&self.0).map_err(|error| self.io_error(&error))?;
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let path = self.0.join("lock");
        let file = options.open(&path).map_err(|error| self.io_error(&error))?;
        lock::wait(&file, &path, keeps).map_err(|error| Error::of_lock(&path, &error))?;
        Ok(file)
    }

    fn io_error(&self, error: &std::io::Error) -> Error {
        Error::new(ErrorKind::Io, format!("{}: {error}", self.0.display()))
            .hint("the folder has to be yours to write; TIDEGATE_DATA_DIR names another")
    }
}

#[derive(Debug)]
pub struct Memory {
    home: MemoryHome,
    state: StateDir,
    settings: MemorySettings,
    store: SqliteStore,
    /// The inode of the open file: a rebuild puts another file in its place.
    file: Option<u64>,
    now: Millis,
    user_home: Option<PathBuf>,
    /// Set if a damaged file was replaced since opening. The caller reports it.
    pub healed: Option<Healed>,
    /// Set if forgotten text may still be in copies or in unused bytes of the file. The caller reports it;
    /// the next process to open the memory tries again.
    pub unfinished: Option<Error>,
}

impl Memory {
    /// Creates the store if there is none.
    pub fn open(
        place: &PlaceEnv,
        state: &StateDir,
        settings: &MemorySettings,
        now: Millis,
    ) -> Result<Memory> {
        let home = MemoryHome::of(place)?;
        let mut healed = None;
        let (store, outcome) = match open_store(&home) {
            Ok(opened) => opened,
            Err(error) if error.kind == ErrorKind::Damaged => {
                let (store, what) = heal::repair_store(&home, state, now, &error, false)?;
                healed = what;
                (store, OpenOutcome::Found)
            }
            Err(error) => return Err(error),
        };
        let file = file_identity(&home.file());
        let (state, settings, user_home) = (state.clone(), settings.clone(), place.home.clone());
        let mut memory =
            Memory { home, state, settings, store, file, now, user_home, healed, unfinished: None };
        memory.apply_sharing()?;
        if memory.healed.is_some() {
            memory.queue_all_shared()?;
        }
        if memory.healed.is_some()
            || outcome != OpenOutcome::Found
            || !publish::catalogue_exists(&memory.state)
        {
            memory.publish_all()?;
        }
        // Keeps a file that was just set aside until the user had a chance to hear of it.
        if memory.healed.is_none() {
            memory.unfinished = memory.finish_forgetting(SqliteStore::clear_log_now).err();
        }
        Ok(memory)
    }

    /// Removes forgotten text from every copy: replaces the backups and deletes files that were set aside as
    /// damaged. A mark in the store survives a crash in between, and the next process to open the memory
    /// continues.
    fn finish_forgetting(&mut self, clear_log: fn(&mut SqliteStore) -> Result<bool>) -> Result<()> {
        let Some(mut left) = self.with_store(SqliteStore::pending_purge)? else { return Ok(()) };
        let is_clear = clear_log(&mut self.store)?;
        if left.copies {
            self.replace_backups()?;
            left = self.store.purged_copies(&left)?;
        }
        if !is_clear {
            return Err(Error::new(
                ErrorKind::Busy,
                "another process reads the memory, so that bytes of it may still be in the store's file",
            ));
        }
        self.store.purged_all(&left)
    }

    /// Opens the store only if it exists: a search should not create one.
    pub fn open_if_there(
        place: &PlaceEnv,
        state: &StateDir,
        settings: &MemorySettings,
        now: Millis,
    ) -> Result<Option<Memory>> {
        if !MemoryHome::of(place)?.is_there()? {
            return Ok(None);
        }
        Memory::open(place, state, settings, now).map(Some)
    }

    pub fn home(&self) -> &MemoryHome {
        &self.home
    }

    /// For operations that only SQLite has. After a change, call [`Memory::publish_all`].
    pub fn store(&mut self) -> &mut SqliteStore {
        &mut self.store
    }

    /// Runs `act`, and a second time on the rebuilt store if the file turns out to be damaged.
    fn with_store<T>(&mut self, act: impl Fn(&mut SqliteStore) -> Result<T>) -> Result<T> {
        if self.file != file_identity(&self.home.file()) {
            self.open_again()?;
        }
        match act(&mut self.store) {
            Err(error) if error.kind == ErrorKind::Damaged => {
                self.rebuild(&error, false)?;
                act(&mut self.store)
            }
            done => done,
        }
    }

    pub fn sizes(&mut self) -> Result<StoreSizes> {
        self.with_store(SqliteStore::sizes)
    }

    /// By its uid or a unique prefix of it.
    pub fn session_by_prefix(&mut self, beginning: &str) -> Result<Option<crate::record::SessionRow>> {
        self.with_store(|store| store.session_by_prefix(beginning))
    }

    pub fn session(&mut self, uid: &str) -> Result<Option<crate::record::SessionRow>> {
        self.with_store(|store| store.session(uid))
    }

    /// Reads the whole store and returns what is wrong with it.
    pub fn check(&mut self) -> Result<Vec<String>> {
        match self.store.check() {
            Err(error) if error.kind == ErrorKind::Damaged => Ok(vec![error.what]),
            checked => checked,
        }
    }

    /// Repairs a store that a check found damaged: rebuilds the index if that suffices, else the whole store.
    pub fn repair(&mut self, why: &str) -> Result<()> {
        if self.store.rebuild_index().is_ok() && self.check()?.is_empty() {
            return Ok(());
        }
        self.rebuild(&Error::new(ErrorKind::Damaged, why), true)
    }

    fn rebuild(&mut self, why: &Error, surely: bool) -> Result<()> {
        let (store, healed) = heal::repair_store(&self.home, &self.state, self.now, why, surely)?;
        self.store = store;
        self.file = file_identity(&self.home.file());
        self.healed = healed.or_else(|| self.healed.take());
        self.apply_sharing()?;
        self.queue_all_shared()?;
        self.publish_all()
    }

    /// Keeps a session from being stored later although nothing of it is stored yet.
    pub fn forget_unseen_session(&mut self, uid: &str) -> Result<()> {
        self.with_store(|store| store.forget_uids(&[uid.to_owned()]))
    }

    /// Rows from the team are not delivered back to it.
    pub fn put_from_team(&mut self, rows: &[Foreign]) -> Result<Vec<Put>> {
        let puts = self.with_store(|store| store.put_from_team(rows))?;
        let records: Vec<Record> = rows.iter().map(|row| row.record.clone()).collect();
        self.publish(&records)?;
        Ok(puts)
    }

    fn open_again(&mut self) -> Result<()> {
        self.store = open_store(&self.home)?.0;
        self.file = file_identity(&self.home.file());
        Ok(())
    }

    /// Applies the sharing settings to every project.
    fn apply_sharing(&mut self) -> Result<()> {
        let (settings, home) = (self.settings.team.clone(), self.user_home.clone());
        let mut named = BTreeSet::new();
        for (id, name, key) in self.store.project_names()? {
            let key = key.as_deref();
            let how = find_sharing(&settings, home.as_deref(), &name, key);
            // A name means one project: another folder of that name may be anything.
            let is_first = !is_within(key) && named.insert(name);
            self.store.set_shared(id, how.is_some_and(|how| how == Sharing::ByPlace || is_first))?;
        }
        Ok(())
    }

    /// A folder whose project came from the team before anything was recorded in it: that project gets the
    /// folder.
    fn adopt_folders(&mut self, records: &[Record]) -> Result<()> {
        for record in records {
            let Record::Project(row) = record else { continue };
            let Some(key) = row.key.as_deref().filter(|key| project_key::has_folder(key)) else { continue };
            let in_team = project_key::key_in_team(row);
            // A model that names a project within its repository must not get the team's project of that name.
            if is_within(Some(key)) && !is_within(Some(&in_team)) {
                continue;
            }
            let without = project_key::key_without_folder(&in_team);
            if self.store.project_by_key(key)?.is_none()
                && let Some(found) = self.store.project_by_key(&without)?
            {
                self.store.set_folder(found.id, key, &row.name)?;
            }
        }
        Ok(())
    }

    /// Names and remotes that the config lists and that are not the project of any row here.
    pub(crate) fn listed_without_project(&mut self) -> Result<Vec<String>> {
        let known = self.store.project_names()?;
        let listed = self.settings.team.projects.0.iter().map(|entry| entry.0.clone());
        let is_missing = |entry: &String| {
            let by_key =
                |name: &str, key: &Option<String>| project_key::key_of(key.as_deref(), name) == *entry;
            let is_path = entry.contains('/') && !project_key::is_remote(entry);
            !is_path && !known.iter().any(|(_, name, key)| name == entry || by_key(name, key))
        };
        Ok(listed.filter(is_missing).collect())
    }

    /// Entries of the config that are the project of no row here, or of one without a folder.
    pub fn listed_without_work(&mut self) -> Result<Vec<String>> {
        let known = self.store.project_names()?;
        let (team, home) = (&self.settings.team, self.user_home.as_deref());
        let has_work = |entry: &TeamProject| {
            let only = Team { projects: Listed(vec![entry.clone()]), ..team.clone() };
            known.iter().any(|(_, name, key)| {
                let key = key.as_deref();
                key.is_none_or(project_key::has_folder) && find_sharing(&only, home, name, key).is_some()
            })
        };
        Ok(team.projects.0.iter().filter(|entry| !has_work(entry)).map(|entry| entry.0.clone()).collect())
    }

    /// After a loss it is unknown what the team has received. Sending everything again changes nothing there.
    fn queue_all_shared(&mut self) -> Result<()> {
        self.store.queue_all_shared()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sharing {
    /// By its folder or its repository.
    ByPlace,
    ByName,
}

/// One of several projects in a repository. A name in the settings is not its.
fn is_within(key: Option<&str>) -> bool {
    key.is_some_and(|key| key.contains(WITHIN))
}

/// Whether a team gets the rows of this project. The settings name it by its name, its folder or its repository (`key`). Of
/// several projects of one name only the first is meant.
pub fn is_shared(team: &Team, user_home: Option<&Path>, name: &str, key: Option<&str>) -> bool {
    find_sharing(team, user_home, name, key).is_some()
}

fn find_sharing(team: &Team, user_home: Option<&Path>, name: &str, key: Option<&str>) -> Option<Sharing> {
    team.url.as_ref()?;
    let is_named = |named: &TeamProject| !named.0.contains('/') && named.0 == name && !is_within(key);
    let is_placed = |named: &TeamProject| {
        if !named.0.contains('/') {
            return false;
        }
        if project_key::is_remote(&named.0) {
            return project_key::key_of(key, name) == named.0;
        }
        let path = match (named.0.strip_prefix("~/"), user_home) {
            (Some(below), Some(home)) => home.join(below),
            _ => PathBuf::from(&named.0),
        };
        let path = fs::canonicalize(&path).unwrap_or(path);
        let key = key.map(Path::new);
        key.is_some_and(|key| key == path || (key.ends_with(".git") && key.parent() == Some(&path)))
    };
    let all = &team.projects.0;
    if all.iter().any(is_placed) {
        return Some(Sharing::ByPlace);
    }
    all.iter().any(is_named).then_some(Sharing::ByName)
}

/// Opens the store under a lock that a rebuild excludes.
fn open_store(home: &MemoryHome) -> Result<(SqliteStore, OpenOutcome)> {
    let _lock = home.lock(LockMode::Shared)?;
    if heal::was_emptied(home) {
        return Err(Error::new(ErrorKind::Damaged, format!("{} is empty", home.file().display())));
    }
    let opened = SqliteStore::open(&home.file())?;
    Ok((opened.store, opened.outcome))
}

/// Tells a file from another one that replaced it.
#[cfg(unix)]
fn file_identity(path: &Path) -> Option<u64> {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(path).ok().map(|found| found.ino())
}

/// Elsewhere an open file cannot be replaced.
#[cfg(not(unix))]
fn file_identity(path: &Path) -> Option<u64> {
    path.exists().then_some(0)
}

impl Store for Memory {
    fn put(&mut self, records: &[Record]) -> Result<Vec<Put>> {
        self.adopt_folders(records)?;
        let puts = self.with_store(|store| store.put(records))?;
        let changed = |put: &Put| matches!(put, Put::New | Put::Changed);
        let new_project = records
            .iter()
            .zip(&puts)
            .any(|(record, put)| matches!(record, Record::Project(_)) && changed(put));
        if new_project {
            self.apply_sharing()?;
        }
        if puts.iter().any(changed) {
            self.publish(records)?;
        }
        Ok(puts)
    }

    fn project(&mut self, id: i64) -> Result<Option<MemoryProject>> {
        self.with_store(|store| store.project(id))
    }

    fn project_by_key(&mut self, key: &str) -> Result<Option<MemoryProject>> {
        self.with_store(|store| store.project_by_key(key))
    }

    fn project_by_name(&mut self, name: &str) -> Result<Option<MemoryProject>> {
        self.with_store(|store| store.project_by_name(name))
    }

    fn projects(&mut self, page: &Page) -> Result<Paged<MemoryProject>> {
        self.with_store(|store| store.projects(page))
    }

    fn topic(&mut self, id: i64) -> Result<Option<Topic>> {
        self.with_store(|store| store.topic(id))
    }

    fn topic_by_uid(&mut self, uid: &str) -> Result<Option<Topic>> {
        self.with_store(|store| store.topic_by_uid(uid))
    }

    fn topics(&mut self, filter: &Filter, page: &Page) -> Result<Paged<Topic>> {
        self.with_store(|store| store.topics(filter, page))
    }

    fn undecided_topics(&mut self, project: Option<i64>, limit: usize) -> Result<Vec<Topic>> {
        self.with_store(|store| store.undecided_topics(project, limit))
    }

    fn note_offers(&mut self, session: &str, topics: &[i64], at: Millis) -> Result<()> {
        self.with_store(|store| store.note_offers(session, topics, at))?;
        self.publish_undecided()
    }

    fn log(&mut self, uid: &str) -> Result<Option<Log>> {
        self.with_store(|store| store.log(uid))
    }

    fn logs(&mut self, filter: &Filter, page: &Page) -> Result<Paged<Log>> {
        self.with_store(|store| store.logs(filter, page))
    }

    fn logs_to_summarise(&mut self, limit: usize) -> Result<Vec<Uid>> {
        self.with_store(|store| store.logs_to_summarise(limit))
    }

    fn decision(&mut self, id: i64) -> Result<Option<Decision>> {
        self.with_store(|store| store.decision(id))
    }

    fn decision_by_uid(&mut self, uid: &str) -> Result<Option<Decision>> {
        self.with_store(|store| store.decision_by_uid(uid))
    }

    fn decisions(&mut self, filter: &Filter, page: &Page) -> Result<Paged<Decision>> {
        self.with_store(|store| store.decisions(filter, page))
    }

    fn search(&mut self, query: &Query) -> Result<Found> {
        self.with_store(|store| store.search(query))
    }

    /// Also from every copy; `unfinished` says what prevented that.
    fn forget(&mut self, what: &Forget) -> Result<Vec<Uid>> {
        let gone = self.with_store(|store| store.forget_rows(what))?;
        self.unfinished = self.finish_forgetting(SqliteStore::clear_log).err();
        self.publish_all()?;
        Ok(gone)
    }

    fn for_each_record(&mut self, take: &mut dyn FnMut(Record) -> Result<()>) -> Result<()> {
        // A first pass finds damage before any row is handed out: after a rebuild, rows would come twice.
        self.with_store(|store| store.for_each_record(&mut |_| Ok(())))?;
        self.store.for_each_record(take)
    }
}
