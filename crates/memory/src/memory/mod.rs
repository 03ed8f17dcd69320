//! The memory of this machine: the embedded store where people's data is, kept sound, and told to the hooks.
//!
//! Whoever changes the store through this leaves a catalogue that says the same. A damaged file is set aside and rebuilt,
//! once, by whoever notices.

mod backups;
mod heal;
mod notes;
mod publish;

use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};

use tidegate_core::feature::memory::settings::MemorySettings;
use tidegate_core::time::Millis;
use tidegate_state::file::lock;
use tidegate_state::file::lock::Keeps;
use tidegate_state::place::{self, PlaceEnv, StateDir};

use crate::error::{Error, ErrorKind, Result};
use crate::record::{Foreign, Record, Uid};
use crate::sqlite::{How, Sizes, SqliteStore};
use crate::store::{Put, Store};
use crate::view::{Decision, Filter, Forget, Hit, Log, Page, Paged, Project, Query, Topic};

pub use heal::Healed;

/// Where a machine keeps its memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home(PathBuf);

impl Home {
    /// Its folder. One that others own or can write is refused: what they put there would be served as the user's own.
    pub fn of(place: &PlaceEnv) -> Result<Home> {
        let data = place.data().map_err(|why| {
            Error::new(ErrorKind::Io, why).hint("set TIDEGATE_DATA_DIR to a folder of your own")
        })?;
        let folder = data.join("memory");
        place::refuse_foreign(&folder).map_err(|why| {
            Error::new(ErrorKind::Io, why).hint(format!(
                "look at what is in it; if it is all yours, `chown -R \"$USER\"` and `chmod 700` on {} make it yours alone, \
                 or TIDEGATE_DATA_DIR names another folder",
                folder.display()
            ))
        })?;
        Ok(Home(folder))
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.0
    }

    /// The store.
    pub fn file(&self) -> PathBuf {
        self.0.join("memory.db")
    }

    /// Copies of it.
    pub fn backups(&self) -> PathBuf {
        self.0.join("backups")
    }

    /// What was found damaged.
    pub fn damaged(&self) -> PathBuf {
        self.0.join("damaged")
    }

    /// Whether anything has been remembered yet.
    pub fn is_there(&self) -> Result<bool> {
        self.file().try_exists().map_err(|error| self.failed(&error))
    }

    /// What makes whoever rebuilds the store the only one there. Others hold it together while they open the store.
    fn lock(&self, keeps: Keeps) -> Result<File> {
        place::make_private(&self.0).map_err(|error| self.failed(&error))?;
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let path = self.0.join("lock");
        let file = options.open(&path).map_err(|error| self.failed(&error))?;
        lock::wait(&file, &path, keeps).map_err(|error| Error::of_lock(&path, &error))?;
        Ok(file)
    }

    fn failed(&self, error: &std::io::Error) -> Error {
        Error::new(ErrorKind::Io, format!("{}: {error}", self.0.display()))
            .hint("the folder has to be yours to write; TIDEGATE_DATA_DIR names another")
    }
}

/// The memory, open.
#[derive(Debug)]
pub struct Memory {
    home: Home,
    state: StateDir,
    settings: MemorySettings,
    store: SqliteStore,
    /// Which file is open: another one may have taken its place.
    file: Option<u64>,
    now: Millis,
    user_home: Option<PathBuf>,
    /// What became of a damaged file since this was opened. Whoever opened it says so.
    pub healed: Option<Healed>,
    /// Why something that was forgotten may still be in copies, or in bytes that nothing refers to. Whoever opened it says so;
    /// the next one tries again.
    pub unfinished: Option<Error>,
}

impl Memory {
    /// Opens it, and makes it where there is none.
    pub fn open(
        place: &PlaceEnv,
        state: &StateDir,
        settings: &MemorySettings,
        now: Millis,
    ) -> Result<Memory> {
        let home = Home::of(place)?;
        let mut healed = None;
        let (store, how) = match open_store(&home) {
            Ok(opened) => opened,
            Err(error) if error.kind == ErrorKind::Damaged => {
                let (store, what) = heal::heal(&home, state, now, &error, false)?;
                healed = what;
                (store, How::Found)
            }
            Err(error) => return Err(error),
        };
        let file = identity(&home.file());
        let (state, settings, user_home) = (state.clone(), settings.clone(), place.home.clone());
        let mut memory =
            Memory { home, state, settings, store, file, now, user_home, healed, unfinished: None };
        memory.share()?;
        if memory.healed.is_some() {
            memory.share_anew()?;
        }
        if memory.healed.is_some() || how != How::Found || !publish::is_there(&memory.state) {
            memory.publish_all()?;
        }
        // A damaged file that was just set aside is not to be gone before anybody knows of it.
        if memory.healed.is_none() {
            memory.unfinished = memory.finish_forgetting(SqliteStore::clear_log_now).err();
        }
        Ok(memory)
    }

    /// What is forgotten goes from every copy, too: the backups are made anew, and what was set aside as damaged is deleted.
    /// Whoever is killed in the middle has left a mark, and the next one goes on.
    fn finish_forgetting(&mut self, clear_log: fn(&mut SqliteStore) -> Result<bool>) -> Result<()> {
        let Some(mut left) = self.with(SqliteStore::left)? else { return Ok(()) };
        let is_clear = clear_log(&mut self.store)?;
        if left.copies {
            self.copies_anew()?;
            left = self.store.without_copies(&left)?;
        }
        if !is_clear {
            return Err(Error::new(
                ErrorKind::Busy,
                "another process reads the memory, so that bytes of it may still be in the store's file",
            ));
        }
        self.store.nothing_left(&left)
    }

    /// Opens it where there is one: looking for something is no reason to make it.
    pub fn open_if_there(
        place: &PlaceEnv,
        state: &StateDir,
        settings: &MemorySettings,
        now: Millis,
    ) -> Result<Option<Memory>> {
        if !Home::of(place)?.is_there()? {
            return Ok(None);
        }
        Memory::open(place, state, settings, now).map(Some)
    }

    /// Where it is.
    pub fn home(&self) -> &Home {
        &self.home
    }

    /// The store itself, for what only this kind has. What is changed this way, hooks learn by [`Memory::publish_all`].
    pub fn store(&mut self) -> &mut SqliteStore {
        &mut self.store
    }

    /// Does something with the store. If the file turns out to be damaged, then once more with the one that takes its place.
    fn with<T>(&mut self, act: impl Fn(&mut SqliteStore) -> Result<T>) -> Result<T> {
        if self.file != identity(&self.home.file()) {
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

    /// How much there is of what.
    pub fn sizes(&mut self) -> Result<Sizes> {
        self.with(SqliteStore::sizes)
    }

    /// A session by its id.
    pub fn session(&mut self, uid: &str) -> Result<Option<crate::record::Session>> {
        self.with(|store| store.session(uid))
    }

    /// Goes through the whole store. Gives what is wrong with it.
    pub fn check(&mut self) -> Result<Vec<String>> {
        match self.store.check() {
            Err(error) if error.kind == ErrorKind::Damaged => Ok(vec![error.what]),
            checked => checked,
        }
    }

    /// Mends the store, which a check found damaged: the index alone where that is all, else everything.
    pub fn mend(&mut self, why: &str) -> Result<()> {
        if self.store.index_anew().is_ok() && self.check()?.is_empty() {
            return Ok(());
        }
        self.rebuild(&Error::new(ErrorKind::Damaged, why), true)
    }

    fn rebuild(&mut self, why: &Error, surely: bool) -> Result<()> {
        let (store, healed) = heal::heal(&self.home, &self.state, self.now, why, surely)?;
        self.store = store;
        self.file = identity(&self.home.file());
        self.healed = healed.or_else(|| self.healed.take());
        self.share()?;
        self.share_anew()?;
        self.publish_all()
    }

    /// A session of which nothing has been stored is not to be stored later, either.
    pub fn forget_unseen_session(&mut self, uid: &str) -> Result<()> {
        self.with(|store| store.forget_uids(&[uid.to_owned()]))
    }

    /// Puts in what comes from the team: it does not go back there.
    pub fn put_from_team(&mut self, rows: &[Foreign]) -> Result<Vec<Put>> {
        let puts = self.with(|store| store.put_from_team(rows))?;
        let records: Vec<Record> = rows.iter().map(|row| row.record.clone()).collect();
        self.publish(&records)?;
        Ok(puts)
    }

    fn open_again(&mut self) -> Result<()> {
        self.store = open_store(&self.home)?.0;
        self.file = identity(&self.home.file());
        Ok(())
    }

    /// Says of each project whether it is shared, as the settings do.
    fn share(&mut self) -> Result<()> {
        for (id, name, key) in self.store.names()? {
            self.store.set_shared(id, self.is_shared(&name, key.as_deref()))?;
        }
        Ok(())
    }

    /// After a loss nobody knows what a team was told: all of it again, which changes nothing there.
    fn share_anew(&mut self) -> Result<()> {
        self.store.line_up_anew()
    }

    /// By its name, or by the path of the folder or of its repository.
    fn is_shared(&self, name: &str, key: Option<&str>) -> bool {
        let team = &self.settings.team;
        team.url.is_some()
            && team.projects.0.iter().any(|named| {
                if !named.0.contains('/') {
                    return named.0 == name;
                }
                let path = match (named.0.strip_prefix("~/"), &self.user_home) {
                    (Some(below), Some(home)) => home.join(below),
                    _ => PathBuf::from(&named.0),
                };
                let path = fs::canonicalize(&path).unwrap_or(path);
                let key = key.map(Path::new);
                key.is_some_and(|key| key == path || (key.ends_with(".git") && key.parent() == Some(&path)))
            })
    }
}

/// Opens the store while nobody rebuilds it.
fn open_store(home: &Home) -> Result<(SqliteStore, How)> {
    let _lock = home.lock(Keeps::Shared)?;
    if heal::was_emptied(home) {
        return Err(Error::new(ErrorKind::Damaged, format!("{} is empty", home.file().display())));
    }
    let opened = SqliteStore::open(&home.file())?;
    Ok((opened.store, opened.how))
}

/// What tells one file from another that took its name.
#[cfg(unix)]
fn identity(path: &Path) -> Option<u64> {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(path).ok().map(|found| found.ino())
}

/// Elsewhere a file that is open cannot be replaced.
#[cfg(not(unix))]
fn identity(path: &Path) -> Option<u64> {
    path.exists().then_some(0)
}

impl Store for Memory {
    fn put(&mut self, records: &[Record]) -> Result<Vec<Put>> {
        let puts = self.with(|store| store.put(records))?;
        let changed = |put: &Put| matches!(put, Put::New | Put::Changed);
        let new_project = records
            .iter()
            .zip(&puts)
            .any(|(record, put)| matches!(record, Record::Project(_)) && changed(put));
        if new_project {
            self.share()?;
        }
        if puts.iter().any(changed) {
            self.publish(records)?;
        }
        Ok(puts)
    }

    fn project(&mut self, id: i64) -> Result<Option<Project>> {
        self.with(|store| store.project(id))
    }

    fn project_by_key(&mut self, key: &str) -> Result<Option<Project>> {
        self.with(|store| store.project_by_key(key))
    }

    fn project_by_name(&mut self, name: &str) -> Result<Option<Project>> {
        self.with(|store| store.project_by_name(name))
    }

    fn projects(&mut self, page: &Page) -> Result<Paged<Project>> {
        self.with(|store| store.projects(page))
    }

    fn topic(&mut self, id: i64) -> Result<Option<Topic>> {
        self.with(|store| store.topic(id))
    }

    fn topic_by_uid(&mut self, uid: &str) -> Result<Option<Topic>> {
        self.with(|store| store.topic_by_uid(uid))
    }

    fn topics(&mut self, filter: &Filter, page: &Page) -> Result<Paged<Topic>> {
        self.with(|store| store.topics(filter, page))
    }

    fn undecided(&mut self, project: Option<i64>, limit: usize) -> Result<Vec<Topic>> {
        self.with(|store| store.undecided(project, limit))
    }

    fn offered(&mut self, session: &str, topics: &[i64], at: Millis) -> Result<()> {
        self.with(|store| store.offered(session, topics, at))?;
        self.publish_undecided()
    }

    fn log(&mut self, uid: &str) -> Result<Option<Log>> {
        self.with(|store| store.log(uid))
    }

    fn logs(&mut self, filter: &Filter, page: &Page) -> Result<Paged<Log>> {
        self.with(|store| store.logs(filter, page))
    }

    fn unsummed(&mut self, limit: usize) -> Result<Vec<Uid>> {
        self.with(|store| store.unsummed(limit))
    }

    fn decision(&mut self, id: i64) -> Result<Option<Decision>> {
        self.with(|store| store.decision(id))
    }

    fn decisions(&mut self, filter: &Filter, page: &Page) -> Result<Paged<Decision>> {
        self.with(|store| store.decisions(filter, page))
    }

    fn search(&mut self, query: &Query) -> Result<Vec<Hit>> {
        self.with(|store| store.search(query))
    }

    /// Also from every copy. What keeps that from being done now is in `unfinished`.
    fn forget(&mut self, what: &Forget) -> Result<Vec<Uid>> {
        let gone = self.with(|store| store.forget_rows(what))?;
        self.unfinished = self.finish_forgetting(SqliteStore::clear_log).err();
        self.publish_all()?;
        Ok(gone)
    }

    fn each(&mut self, take: &mut dyn FnMut(Record) -> Result<()>) -> Result<()> {
        // Nothing is given twice, so damage has to show before.
        self.with(|store| store.each(&mut |_| Ok(())))?;
        self.store.each(take)
    }
}
