//! A state directory, a store, a transcript and a clock.

use std::cell::Cell;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tidegate_core::event::SessionId;
use tidegate_core::feature::marks::SessionMark;
use tidegate_core::feature::memory::job::{
    AnswerDigest, Job, JobCause, RelayProject, TranscriptPart, VERSION, Work,
};
use tidegate_core::feature::memory::marks::{Mark as MemoryMark, Spooled};
use tidegate_core::text::fnv;
use tidegate_core::time::Millis;
use tidegate_memory::error::{Error, ErrorKind, Result};
use tidegate_memory::record::{ProjectRow, Record, TopicRow, TopicStatus, Uid};
use tidegate_memory::sqlite::SqliteStore;
use tidegate_memory::store::{Put, Store};
use tidegate_memory::view::{self, Decision, Filter, Forget, Found, Log, Page, Paged, Query};
use tidegate_memory::worker::{Summarise, Worker, WorkerEvent, WorkerReport};
use tidegate_state::feature::memory::spool;
use tidegate_state::place::{PlaceEnv, StateDir};

pub(crate) const NOW: Millis = Millis(1_794_744_378_000);

pub(crate) struct World {
    _folder: tempfile::TempDir,
    pub(crate) state: StateDir,
    pub(crate) store: SqliteStore,
    pub(crate) transcript: PathBuf,
    pub(crate) now: Cell<Millis>,
    pub(crate) until: Millis,
    pub(crate) at_once: bool,
    /// Set by an MCP call.
    pub(crate) topic: Option<i64>,
    /// Recording was off until then.
    pub(crate) passed: Option<Millis>,
    /// The worker's events.
    pub(crate) told: Vec<String>,
    /// The length of the transcript at the last job.
    spooled: u64,
    jobs: u64,
}

impl World {
    pub(crate) fn new() -> World {
        let folder = tempfile::tempdir().unwrap();
        let env = PlaceEnv { state_dir: Some(folder.path().join("state")), ..PlaceEnv::default() };
        let store = SqliteStore::open_with(&folder.path().join("memory.db"), Duration::ZERO).unwrap().store;
        World {
            state: StateDir::open(&env).unwrap(),
            store,
            transcript: folder.path().join("t.jsonl"),
            now: Cell::new(NOW),
            until: Millis(u64::MAX),
            at_once: false,
            topic: None,
            passed: None,
            told: Vec::new(),
            spooled: 0,
            jobs: 0,
            _folder: folder,
        }
    }

    /// A second after the previous line.
    pub(crate) fn say(&mut self, line: &str) {
        append(&self.transcript, line);
    }

    pub(crate) fn length(&self) -> u64 {
        std::fs::metadata(&self.transcript).unwrap().len()
    }

    /// The job of a turn that ended with this answer.
    pub(crate) fn stop(&mut self, session: &str, answer: &str) {
        let from = self.spooled;
        self.stop_from(session, from, answer);
    }

    pub(crate) fn stop_from(&mut self, session: &str, from: u64, answer: &str) {
        let to = std::fs::metadata(&self.transcript).map_or(from, |file| file.len());
        self.spooled = to;
        let hash = AnswerDigest { bytes: answer.len() as u64, hash: fnv::hash(answer.bytes()) };
        let project = RelayProject {
            key: "/shop/.git".to_owned(),
            name: "shop".to_owned(),
            root: "/shop".to_owned(),
            branch: Some("feat/x".to_owned()),
        };
        let part = TranscriptPart {
            transcript: self.transcript.to_string_lossy().into_owned(),
            from,
            to,
            because: JobCause::Stop,
            answer: (!answer.is_empty()).then_some(hash),
            topic: self.topic,
            passed: self.passed,
            project,
            lang: None,
        };
        self.job(session, Work::Relays(part));
    }

    pub(crate) fn job(&mut self, session: &str, work: Work) {
        self.jobs += 1;
        let at = Millis(self.now.get().0 + self.jobs);
        spool::put(&self.state, &Job { v: VERSION, at, session: session.to_owned(), work }).unwrap();
    }

    pub(crate) fn work(&mut self) -> WorkerReport {
        self.work_with(None, &|_| {})
    }

    pub(crate) fn work_with(
        &mut self,
        model: Option<&mut dyn Summarise>,
        pause: &dyn Fn(Duration),
    ) -> WorkerReport {
        self.try_work(model, pause).unwrap()
    }

    pub(crate) fn try_work(
        &mut self,
        summarise: Option<&mut dyn Summarise>,
        pause: &dyn Fn(Duration),
    ) -> Result<WorkerReport> {
        let (now, told) = (self.now.get(), &mut self.told);
        let mut worker = Worker {
            state: &self.state,
            store: &mut self.store,
            summarise: match summarise {
                Some(model) => Some(model),
                None => None,
            },
            now: &|| now,
            pause,
            notify: &mut |progress| match progress {
                WorkerEvent::Lost { why, .. } => told.push(format!("lost: {why}")),
                WorkerEvent::SetAside { why, .. } => told.push(format!("aside: {why}")),
                WorkerEvent::Unreadable { why, .. } => told.push(format!("not read: {why}")),
                WorkerEvent::SummaryFailed(why) => told.push(format!("not told: {why}")),
                WorkerEvent::JobsFound(_) | WorkerEvent::Done(_) | WorkerEvent::Retrying { .. } => {}
            },
            until: self.until,
            at_once: self.at_once,
        };
        worker.run()
    }

    pub(crate) fn log(&mut self, uid: &str) -> Log {
        self.store.log(uid).unwrap().unwrap_or_else(|| panic!("no log {uid}"))
    }

    pub(crate) fn logs(&mut self) -> usize {
        self.store.logs(&Filter::default(), &Page { limit: 1000, after: None }).unwrap().rows.len()
    }

    /// Another project with a topic `one`; topics `two` and `three` of the project `shop`, and `four` of one
    /// within it. Their ids are these numbers, and those of the projects 1, 2 and 3.
    pub(crate) fn put_topics(&mut self) {
        let project = |uid: &str, key: &str, name: &str| {
            let (uid, key, name) = (uid.to_owned(), Some(key.to_owned()), name.to_owned());
            Record::Project(ProjectRow { uid, id: None, key, name, created: Millis(1), updated: Millis(1) })
        };
        let topic = |uid: &str, project: &str, title: &str| {
            Record::Topic(TopicRow {
                uid: uid.to_owned(),
                id: None,
                project: project.to_owned(),
                parent: None,
                title: title.to_owned(),
                status: TopicStatus::Open,
                automatic: None,
                offered: 0,
                offered_at: None,
                created: Millis(1),
                updated: Millis(1),
            })
        };
        let rows = [
            project("p1", "/other/.git", "other"),
            project("p2", "/shop/.git", "shop"),
            project("p3", "/shop/.git//web", "web"),
            topic("t1", "p1", "one"),
            topic("t2", "p2", "two"),
            topic("t3", "p2", "three"),
            topic("t4", "p3", "four"),
        ];
        self.store.put(&rows).unwrap();
    }

    /// The marks of an ended session that left its transcript up to this length.
    pub(crate) fn marks(&self, session: &str, spooled: u64) {
        let folder = self.state.session(&SessionId::parse(session).unwrap());
        let marks = [
            SessionMark::Root("/shop".to_owned()).into(),
            SessionMark::Attended(tidegate_core::host::person::Person::There).into(),
            SessionMark::Transcript(self.transcript.to_string_lossy().into_owned()).into(),
            MemoryMark::Spooled(Spooled { to: spooled, at: NOW, passed: self.passed }).into(),
        ];
        tidegate_state::session::marks::lock_shared(&folder).unwrap().append(&marks).unwrap();
        std::fs::write(folder.join("claims"), "").unwrap();
    }
}

pub(crate) fn append(path: &Path, line: &str) {
    let mut file = OpenOptions::new().append(true).create(true).open(path).unwrap();
    file.write_all(line.as_bytes()).unwrap();
}

thread_local! {
    static SECOND: Cell<u64> = const { Cell::new(0) };
}

fn time() -> String {
    SECOND.set(SECOND.get() + 1);
    last_second().iso()
}

/// The time of the last line of a transcript.
pub(crate) fn last_second() -> Millis {
    Millis(NOW.0 - 86_400_000 + SECOND.get() * 1000)
}

pub(crate) fn user(uuid: &str, prompt: &str) -> String {
    let entry = serde_json::json!({
        "type": "user", "uuid": uuid, "timestamp": time(), "turnOrigin": "human",
        "message": {"role": "user", "content": prompt},
    });
    format!("{entry}\n")
}

pub(crate) fn said(id: &str, text: &str) -> String {
    let entry = serde_json::json!({
        "type": "assistant", "timestamp": time(),
        "message": {"id": id, "model": "claude-opus-5-5", "content": [{"type": "text", "text": text}]},
    });
    format!("{entry}\n")
}

/// A store that rejects all rows of one session.
pub(crate) struct Refuses<'a> {
    pub(crate) store: &'a mut SqliteStore,
    pub(crate) session: &'static str,
    /// The number of logs in each transaction that it was asked for.
    pub(crate) asked: Vec<usize>,
}

impl Store for Refuses<'_> {
    fn put(&mut self, records: &[Record]) -> Result<Vec<Put>> {
        self.asked.push(records.iter().filter(|record| matches!(record, Record::Log(_))).count());
        if records.iter().any(|record| matches!(record, Record::Session(row) if row.uid == self.session)) {
            return Err(Error::new(ErrorKind::Other, "no"));
        }
        self.store.put(records)
    }
    fn project(&mut self, id: i64) -> Result<Option<view::MemoryProject>> {
        self.store.project(id)
    }
    fn project_by_key(&mut self, key: &str) -> Result<Option<view::MemoryProject>> {
        self.store.project_by_key(key)
    }
    fn project_by_name(&mut self, name: &str) -> Result<Option<view::MemoryProject>> {
        self.store.project_by_name(name)
    }
    fn projects(&mut self, page: &Page) -> Result<Paged<view::MemoryProject>> {
        self.store.projects(page)
    }
    fn topic(&mut self, id: i64) -> Result<Option<view::Topic>> {
        self.store.topic(id)
    }
    fn topic_by_uid(&mut self, uid: &str) -> Result<Option<view::Topic>> {
        self.store.topic_by_uid(uid)
    }
    fn topics(&mut self, filter: &Filter, page: &Page) -> Result<Paged<view::Topic>> {
        self.store.topics(filter, page)
    }
    fn undecided_topics(&mut self, project: Option<i64>, limit: usize) -> Result<Vec<view::Topic>> {
        self.store.undecided_topics(project, limit)
    }
    fn note_offers(&mut self, session: &str, topics: &[i64], at: Millis) -> Result<()> {
        self.store.note_offers(session, topics, at)
    }
    fn log(&mut self, uid: &str) -> Result<Option<Log>> {
        self.store.log(uid)
    }
    fn logs(&mut self, filter: &Filter, page: &Page) -> Result<Paged<Log>> {
        self.store.logs(filter, page)
    }
    fn logs_to_summarise(&mut self, limit: usize) -> Result<Vec<Uid>> {
        self.store.logs_to_summarise(limit)
    }
    fn decision(&mut self, id: i64) -> Result<Option<Decision>> {
        self.store.decision(id)
    }
    fn decision_by_uid(&mut self, uid: &str) -> Result<Option<view::Decision>> {
        self.store.decision_by_uid(uid)
    }
    fn decisions(&mut self, filter: &Filter, page: &Page) -> Result<Paged<Decision>> {
        self.store.decisions(filter, page)
    }
    fn search(&mut self, query: &Query) -> Result<Found> {
        self.store.search(query)
    }
    fn forget(&mut self, what: &Forget) -> Result<Vec<Uid>> {
        self.store.forget(what)
    }
    fn for_each_record(&mut self, take: &mut dyn FnMut(Record) -> Result<()>) -> Result<()> {
        self.store.for_each_record(take)
    }
}
