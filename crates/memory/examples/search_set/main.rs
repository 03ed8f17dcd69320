//! Puts the labelled logs of all given folders into a store, as the worker would, and asks it the labelled queries of the
//! last one. Prints one JSON line per query with what was found, best first. `cargo xtask eval-search` runs it and makes
//! figures of it.
//!
//! An example, because that program should not wait for SQLite to compile.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde::Deserialize;
use serde_json::json;
use tidegate_core::feature::memory::automatic;
use tidegate_core::feature::memory::relay::Relay;
use tidegate_core::feature::memory::said::{self, Said};
use tidegate_core::feature::memory::summary;
use tidegate_core::time::Millis;
use tidegate_memory::record::{
    DecisionRow, LogRow, LogSource, LogSummary, ProjectRow, Record, SessionRow, TakenBy, TopicRow,
    TopicStatus, found_decision_uid,
};
use tidegate_memory::sqlite::SqliteStore;
use tidegate_memory::store::Store;
use tidegate_memory::view::{HitKind, LocalTime, Query};

type Done<T = ()> = Result<T, String>;

/// 2026-11-18T09:00, a Wednesday. Local time is UTC.
const NOW: Millis = Millis(1_794_992_400_000);
const DAY: u64 = 86_400_000;

/// More than anybody looks at.
const LIMIT: usize = 20;

#[derive(Deserialize)]
struct Log {
    id: String,
    project: String,
    days_ago: u64,
    prompt: String,
    said: Vec<String>,
    files: Vec<String>,
    decision: Option<String>,
}

#[derive(Deserialize)]
struct Labelled {
    id: String,
    query: String,
    now_offset_days: i64,
}

fn main() -> ExitCode {
    let folders: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    match run(&folders) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(folders: &[PathBuf]) -> Done {
    let asked = folders.last().ok_or("search_set FOLDER…")?;
    let queries: Vec<Labelled> = read(&asked.join("queries.jsonl"))?;
    let mut logs: Vec<Log> = Vec::new();
    for folder in folders {
        logs.extend(read::<Log>(&folder.join("logs.jsonl"))?);
    }
    let temporary = tempfile::tempdir().map_err(|error| error.to_string())?;
    let opened = SqliteStore::open(&temporary.path().join("memory").join("memory.db"));
    let mut store = opened.map_err(|error| error.to_string())?.store;
    store.put(&records(&logs)).map_err(|error| error.to_string())?;
    let mut out = std::io::stdout().lock();
    for labelled in queries {
        let now = Millis(NOW.0.saturating_add_signed(labelled.now_offset_days * DAY.cast_signed()));
        let local = Some(LocalTime { now, offsets: Vec::new() });
        let query = Query { text: labelled.query, limit: LIMIT, local, ..Query::default() };
        let found = store.search(&query).map_err(|error| error.to_string())?;
        let found: Vec<&str> = found
            .hits
            .iter()
            .map(|hit| match hit.kind {
                // A decision is found in its exchange.
                HitKind::Decision => hit.uid.split(':').next().unwrap_or_default(),
                _ => hit.uid.as_str(),
            })
            .collect();
        writeln!(out, "{}", json!({ "id": labelled.id, "found": found }))
            .map_err(|error| error.to_string())?;
    }
    Ok(())
}

fn read<T: for<'de> Deserialize<'de>>(path: &Path) -> Done<Vec<T>> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let parsed = text.lines().map(|line| serde_json::from_str(line));
    parsed.collect::<Result<_, _>>().map_err(|error| format!("{}: {error}", path.display()))
}

/// One session per project and day.
fn records(logs: &[Log]) -> Vec<Record> {
    let mut records = Vec::new();
    let mut projects = BTreeSet::new();
    let mut sessions: BTreeMap<(&str, u64), String> = BTreeMap::new();
    let oldest = Millis(NOW.0 - 400 * DAY);
    for (number, log) in logs.iter().enumerate() {
        // Between midnight and now.
        let at = Millis(NOW.0 - log.days_ago * DAY - 3_600_000 - (number as u64 % 400) * 60_000);
        let relay = relay(log, at);
        let project = format!("project {}", log.project);
        if projects.insert(log.project.as_str()) {
            records.push(Record::Project(ProjectRow {
                uid: project.clone(),
                id: None,
                key: Some(format!("/home/dev/{}/.git", log.project)),
                name: log.project.clone(),
                created: oldest,
                updated: oldest,
            }));
        }
        let session = sessions.entry((&log.project, log.days_ago)).or_insert_with(|| {
            let session = format!("session {number}");
            records.push(Record::Session(SessionRow {
                uid: session.clone(),
                project: project.clone(),
                root: format!("/home/dev/{}", log.project),
                branch: Some("main".to_owned()),
                created: at,
                updated: at,
            }));
            records.push(Record::Topic(TopicRow {
                uid: automatic::topic_uid(&session, None),
                id: None,
                project: project.clone(),
                parent: None,
                title: automatic::topic_title(&relay, Some("main")),
                status: TopicStatus::Open,
                automatic: Some(session.clone()),
                offered: 0,
                offered_at: None,
                created: at,
                updated: at,
            }));
            session
        });
        let topic = automatic::topic_uid(session, None);
        records.extend(log.decision.as_ref().map(|text| {
            Record::Decision(DecisionRow {
                uid: found_decision_uid(&log.id, 0),
                id: None,
                topic: topic.clone(),
                text: text.clone(),
                reason: String::new(),
                supersedes: None,
                retracted: None,
                session: Some(session.clone()),
                taken_by: Some(TakenBy::Person),
                created: at,
                updated: at,
            })
        }));
        let told = summary::summarise_locally(&relay, None);
        records.push(Record::Log(LogRow {
            uid: log.id.clone(),
            topic,
            session: Some(session.clone()),
            title: told.title,
            text: told.text,
            prompt: relay.prompt,
            answer: said::join(&relay.said),
            tools: BTreeMap::new(),
            files: relay.files,
            source: LogSource::Relay,
            redacted: BTreeMap::new(),
            notes: Vec::new(),
            summary: LogSummary { by: "local".to_owned(), again: false },
            at,
            updated: at,
        }));
    }
    records
}

fn relay(log: &Log, at: Millis) -> Relay {
    Relay {
        uid: log.id.clone(),
        at,
        ended: at,
        prompt: log.prompt.clone(),
        answer: log.said.last().cloned().unwrap_or_default(),
        said: log.said.iter().cloned().map(Said::Text).collect(),
        files: log.files.clone(),
        ..Relay::default()
    }
}
