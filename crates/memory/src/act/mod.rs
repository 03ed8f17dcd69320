//! Actions on topics, decisions and logs, shared by the commands and the MCP tools.
//!
//! All text is redacted before it is stored.

mod author;
mod project;

use std::collections::BTreeMap;

use tidegate_core::feature::memory::automatic;
use tidegate_core::feature::memory::job::RelayProject;
use tidegate_core::feature::memory::settings::{MemorySettings, StartupProjects};
use tidegate_core::redact::redact;
use tidegate_core::time::Millis;

use self::author::teammate;
pub use self::author::{
    Authored, DecisionStatus, Standing, author, author_of_decision, author_of_log, author_of_teammate,
    with_authors,
};
pub(crate) use self::project::WITHIN;
pub use self::project::{
    check_own_project, find_own_project, find_project, is_own_key, make_project, project_within,
};
use crate::error::{Error, ErrorKind, Result};
use crate::record::{self, LogSource, LogSummary, Record, TopicStatus, new_uid};
use crate::store::{Put, Store};
use crate::text::one_line;
use crate::view::{Decision, Filter, Log, MemoryProject, Page, Topic};

/// In characters.
pub const LONGEST_TITLE: usize = 200;

/// In bytes.
pub const LONGEST_TEXT: usize = 64 * 1024;

#[derive(Clone, Copy, Debug)]
pub struct Acting<'a> {
    pub now: Millis,
    /// The project of the current folder.
    pub own: Option<&'a RelayProject>,
    pub session: Option<&'a str>,
    /// Who decides, where that is known.
    pub by: Option<record::TakenBy>,
}

pub fn find_topic(store: &mut dyn Store, id: i64) -> Result<Topic> {
    store.topic(id)?.ok_or_else(|| {
        Error::new(ErrorKind::Missing, format!("there is no topic {id}"))
            .hint("a list of topics gives their ids; adding one begins a new topic")
    })
}

pub fn find_decision(store: &mut dyn Store, id: i64) -> Result<Decision> {
    store.decision(id)?.ok_or_else(|| {
        Error::new(ErrorKind::Missing, format!("there is no decision {id}"))
            .hint("a list of decisions gives their ids")
    })
}

/// By its uid or a unique prefix of it.
pub fn find_log(store: &mut dyn Store, uid: &str) -> Result<Log> {
    store.log(uid)?.ok_or_else(|| {
        Error::new(ErrorKind::Missing, format!("there is no log `{}`", one_line(uid, 80)))
            .hint("a list of logs, or a search, gives their ids")
    })
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddedTopic {
    pub topic: Topic,
    /// No open topic of this name was there.
    pub is_new: bool,
}

/// Gives the open topic of the same title instead of a second one.
pub fn add_topic(
    store: &mut dyn Store,
    acting: &Acting<'_>,
    title: &str,
    of: Option<i64>,
    parent: Option<i64>,
) -> Result<AddedTopic> {
    let title = clean_title("the title", title)?;
    let parent = parent.map(|id| find_topic(store, id)).transpose()?;
    let project = match (of, &parent, acting.own) {
        (Some(id), ..) => store
            .project(id)?
            .ok_or_else(|| Error::new(ErrorKind::Missing, format!("there is no project {id}")))?,
        (None, Some(parent), _) => store
            .project(parent.in_project.id)?
            .ok_or_else(|| Error::new(ErrorKind::Missing, "the project is gone"))?,
        (None, None, Some(own)) => make_project(store, own, acting.now)?,
        (None, None, None) => {
            return Err(Error::new(ErrorKind::Refused, "it is not known which project this is about")
                .hint("name the project"));
        }
    };
    if let Some(parent) = &parent
        && parent.in_project.id != project.id
    {
        return Err(Error::new(ErrorKind::Refused, format!("topic {} is in another project", parent.id))
            .hint("a topic is part of one in its own project"));
    }
    let parent = parent.map(|parent| parent.row.uid);
    let open = Filter { project: Some(project.id), open: Some(true), ..Filter::default() };
    let known = store.topics(&open, &Page { limit: 1000, after: None })?.rows;
    let is_same = |topic: &Topic| topic.row.title == title && topic.row.parent == parent;
    if let Some(topic) = known.into_iter().find(is_same) {
        return Ok(AddedTopic { topic, is_new: false });
    }
    let row = record::TopicRow {
        uid: new_uid(),
        id: None,
        project: project.row.uid,
        parent,
        title,
        status: TopicStatus::Open,
        automatic: None,
        offered: 0,
        offered_at: None,
        created: acting.now,
        updated: acting.now,
    };
    let uid = row.uid.clone();
    store.put(&[Record::Topic(row)])?;
    let topic = store.topic_by_uid(&uid)?.ok_or_else(lost_row)?;
    Ok(AddedTopic { topic, is_new: true })
}

/// Changes to a topic; unset fields stay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TopicEdit {
    pub title: Option<String>,
    pub project: Option<i64>,
    /// `Some(None)` makes it a topic of its own.
    pub parent: Option<Option<i64>>,
    pub status: Option<TopicStatus>,
}

/// An automatic topic that gets a title becomes an ordinary one.
pub fn edit_topic(store: &mut dyn Store, now: Millis, id: i64, edit: &TopicEdit) -> Result<Topic> {
    let old = find_topic(store, id)?;
    let mut row = old.row.clone();
    if let Some(title) = &edit.title {
        row.title = clean_title("the title", title)?;
        row.automatic = None;
    }
    if let Some(project) = edit.project {
        let project = store
            .project(project)?
            .ok_or_else(|| Error::new(ErrorKind::Missing, format!("there is no project {project}")))?;
        if project.row.uid != row.project {
            row.parent = None;
        }
        row.project = project.row.uid;
    }
    if let Some(parent) = edit.parent {
        row.parent = match parent {
            None => None,
            Some(parent) => {
                let parent = find_topic(store, parent)?;
                if parent.row.project != row.project {
                    return Err(Error::new(
                        ErrorKind::Refused,
                        format!("topic {} is in another project", parent.id),
                    )
                    .hint("a topic is part of one in its own project"));
                }
                Some(parent.row.uid)
            }
        };
    }
    if let Some(status) = edit.status {
        row.status = status;
    }
    if row == old.row {
        return Ok(old);
    }
    row.offered = 0;
    row.offered_at = None;
    row.updated = next_version(now, old.row.updated);
    check_changed(&store.put(&[Record::Topic(row)])?)?;
    find_topic(store, id)
}

pub fn add_log(
    store: &mut dyn Store,
    acting: &Acting<'_>,
    to: i64,
    title: Option<&str>,
    text: &str,
) -> Result<Log> {
    let topic = find_topic(store, to)?;
    let mut redacted = BTreeMap::new();
    let text = clean_text("the text", text, &mut redacted)?;
    let title = match title {
        Some(title) => clean_title("the title", title)?,
        None => one_line(text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default(), 100),
    };
    let session = ensure_session(store, acting)?;
    let row = record::LogRow {
        uid: new_uid(),
        topic: topic.row.uid,
        session,
        title,
        text,
        prompt: String::new(),
        answer: String::new(),
        tools: BTreeMap::new(),
        files: Vec::new(),
        source: LogSource::Hand,
        redacted,
        notes: Vec::new(),
        summary: LogSummary::default(),
        at: acting.now,
        updated: acting.now,
    };
    let uid = row.uid.clone();
    check_stored(&store.put(&[Record::Log(row)])?)?;
    store.log(&uid)?.ok_or_else(lost_row)
}

/// The topic stays open.
pub fn add_decision(
    store: &mut dyn Store,
    acting: &Acting<'_>,
    to: i64,
    text: &str,
    reason: Option<&str>,
) -> Result<Decision> {
    let topic = find_topic(store, to)?;
    put_decision(store, acting, topic.row.uid, text, reason, None)
}

/// Records a decision that replaces another.
pub fn supersede_decision(
    store: &mut dyn Store,
    acting: &Acting<'_>,
    id: i64,
    text: &str,
    reason: Option<&str>,
) -> Result<Decision> {
    let old = find_decision(store, id)?;
    if let Some(by) = old.superseded_by {
        return Err(Error::new(ErrorKind::Refused, format!("decision {id} has been superseded by {by}"))
            .hint(format!("supersede decision {by}")));
    }
    if old.row.retracted.is_some() {
        return Err(
            Error::new(ErrorKind::Refused, format!("decision {id} was retracted")).hint("add a new decision")
        );
    }
    put_decision(store, acting, old.row.topic, text, reason, Some(old.row.uid))
}

fn put_decision(
    store: &mut dyn Store,
    acting: &Acting<'_>,
    topic: String,
    text: &str,
    reason: Option<&str>,
    supersedes: Option<String>,
) -> Result<Decision> {
    let mut redacted = BTreeMap::new();
    let session = ensure_session(store, acting)?;
    let row = record::DecisionRow {
        uid: new_uid(),
        id: None,
        topic,
        text: clean_text("the decision", text, &mut redacted)?,
        reason: reason.map(|reason| clean_reason(reason, &mut redacted)).transpose()?.unwrap_or_default(),
        supersedes,
        retracted: None,
        taken_by: acting.by.or(session.as_ref().map(|_| record::TakenBy::Model)),
        session,
        created: acting.now,
        updated: acting.now,
    };
    let uid = row.uid.clone();
    check_stored(&store.put(&[Record::Decision(row)])?)?;
    find_decision_by_uid(store, &uid)
}

/// Records the decisions of a progress note, in the automatic topic of the session, else in one for the project's notes.
/// One that stands there already is left out.
pub fn note_decisions(
    store: &mut dyn Store,
    acting: &Acting<'_>,
    note: &str,
    decisions: &[String],
    reason: Option<&str>,
) -> Result<Vec<Decision>> {
    let Some(own) = acting.own else { return Ok(Vec::new()) };
    let session = ensure_session(store, acting)?;
    let project = make_project(store, own, acting.now)?;
    let uid = automatic::topic_uid(session.as_deref().unwrap_or(&own.key), None);
    let known = store.topic_by_uid(&uid)?;
    // A person may have moved it.
    let uid = match &known {
        Some(topic) if topic.in_project.id != project.id => automatic::topic_uid(&uid, Some(&own.key)),
        _ => uid,
    };
    if store.topic_by_uid(&uid)?.is_none() {
        let title = if session.is_some() { note } else { "Progress notes" };
        let row = record::TopicRow {
            uid: uid.clone(),
            id: None,
            project: project.row.uid,
            parent: None,
            title: clean_title("the note", title)?,
            status: TopicStatus::Open,
            automatic: session,
            offered: 0,
            offered_at: None,
            created: acting.now,
            updated: acting.now,
        };
        check_stored(&store.put(&[Record::Topic(row)])?)?;
    }
    let topic = store.topic_by_uid(&uid)?.ok_or_else(lost_row)?;
    let filter = Filter { topic: Some(topic.id), ..Filter::default() };
    let standing = store.decisions(&filter, &Page { limit: 1000, after: None })?.rows;
    let mut made = Vec::new();
    for text in decisions {
        let is_known = |known: &Decision| known.row.text == redact_text(text, &mut BTreeMap::new());
        if !standing.iter().any(is_known) {
            made.push(put_decision(store, acting, uid.clone(), text, reason, None)?);
        }
    }
    Ok(made)
}

/// A person stands by a decision that a model wrote down.
pub fn confirm_decision(store: &mut dyn Store, now: Millis, id: i64) -> Result<Decision> {
    let old = find_decision(store, id)?;
    if old.row.taken_by == Some(record::TakenBy::Person) {
        return Ok(old);
    }
    check_own_decision(&old)?;
    let updated = next_version(now, old.row.updated);
    let row = record::DecisionRow { taken_by: Some(record::TakenBy::Person), updated, ..old.row };
    check_changed(&store.put(&[Record::Decision(row)])?)?;
    find_decision(store, id)
}

/// Retracts a decision; the one it replaced is in force again.
pub fn retract_decision(store: &mut dyn Store, now: Millis, id: i64) -> Result<Decision> {
    let old = find_decision(store, id)?;
    if old.row.retracted.is_some() {
        return Ok(old);
    }
    check_own_decision(&old)?;
    let updated = next_version(now, old.row.updated);
    let row = record::DecisionRow { retracted: Some(now), updated, ..old.row };
    check_changed(&store.put(&[Record::Decision(row)])?)?;
    find_decision(store, id)
}

/// Changes to a decision; unset fields stay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DecisionEdit {
    pub text: Option<String>,
    pub reason: Option<String>,
    pub topic: Option<i64>,
}

/// Corrects the wording of a decision. A different decision is recorded with [`supersede_decision`].
pub fn edit_decision(store: &mut dyn Store, now: Millis, id: i64, edit: &DecisionEdit) -> Result<Decision> {
    let old = find_decision(store, id)?;
    check_own_decision(&old)?;
    let mut redacted = BTreeMap::new();
    let mut row = old.row.clone();
    if let Some(text) = &edit.text {
        row.text = clean_text("the decision", text, &mut redacted)?;
    }
    if let Some(reason) = &edit.reason {
        row.reason = clean_reason(reason, &mut redacted)?;
    }
    if let Some(to) = edit.topic {
        row.topic = find_topic(store, to)?.row.uid;
    }
    if row == old.row {
        return Ok(old);
    }
    row.updated = next_version(now, old.row.updated);
    check_changed(&store.put(&[Record::Decision(row)])?)?;
    find_decision(store, id)
}

/// A teammate's decision is replaced by another one, never changed: theirs would differ from ours.
fn check_own_decision(decision: &Decision) -> Result<()> {
    let Some(author) = &decision.author else { return Ok(()) };
    let (id, author) = (decision.id, teammate(author));
    Err(Error::new(ErrorKind::Refused, format!("decision {id} is {author}'s: only {author} can change it"))
        .hint(format!("supersede decision {id} with one of your own")))
}

/// The memory's part of a session's start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Startup {
    pub own: Option<MemoryProject>,
    /// Last active first.
    pub undecided: Vec<Topic>,
    /// Of open topics, newest first.
    pub decisions: Vec<Decision>,
    /// The project's topics, last active first.
    pub recent: Vec<Topic>,
}

/// The same topics and decisions that hooks show at the start of a session.
pub fn startup(
    store: &mut dyn Store,
    settings: &MemorySettings,
    own: Option<&RelayProject>,
    limit: Option<usize>,
) -> Result<Startup> {
    let own = find_own_project(store, own)?;
    let limit = limit.unwrap_or_else(|| settings.startup_topics.get() as usize);
    let of = match settings.startup_projects {
        StartupProjects::All => None,
        // No id matches: a project without records has no topics.
        StartupProjects::This => Some(own.as_ref().map_or(-1, |project| project.id)),
    };
    let undecided = store.undecided_topics(of, limit)?;
    let (mut decisions, mut recent) = (Vec::new(), Vec::new());
    if let Some(project) = &own {
        let open = Filter { project: Some(project.id), open: Some(true), ..Filter::default() };
        decisions = store.decisions(&open, &Page { limit: 20, after: None })?.rows;
        let all = Filter { project: Some(project.id), all: true, ..Filter::default() };
        recent = store.topics(&all, &Page { limit: limit.max(1), after: None })?.rows;
    }
    Ok(Startup { own, undecided, decisions, recent })
}

/// Creates the session if the recorder has not stored it yet.
fn ensure_session(store: &mut dyn Store, acting: &Acting<'_>) -> Result<Option<String>> {
    let (Some(uid), Some(own)) = (acting.session, acting.own) else { return Ok(None) };
    let project = make_project(store, own, acting.now)?;
    let row = record::SessionRow {
        uid: uid.to_owned(),
        project: project.row.uid,
        root: own.root.clone(),
        branch: own.branch.clone(),
        created: acting.now,
        // Older than anything: the recorder's version will replace this one.
        updated: Millis(0),
    };
    match store.put(&[Record::Session(row)])?.as_slice() {
        // A forgotten session does not keep a person from writing into the memory.
        [Put::Forgotten] => Ok(None),
        _ => Ok(Some(uid.to_owned())),
    }
}

fn check_stored(puts: &[Put]) -> Result<()> {
    if puts.contains(&Put::Forgotten) {
        return Err(Error::new(ErrorKind::Refused, "it belongs to something that was forgotten"));
    }
    Ok(())
}

/// A concurrent change may have stored a newer version, or the stored one carries a time in the far future.
fn check_changed(puts: &[Put]) -> Result<()> {
    check_stored(puts)?;
    if puts.contains(&Put::Kept) {
        return Err(Error::new(ErrorKind::Refused, "a newer version is there; nothing was changed")
            .hint("look at it and try again"));
    }
    Ok(())
}

fn find_decision_by_uid(store: &mut dyn Store, uid: &str) -> Result<Decision> {
    store.decision_by_uid(uid)?.ok_or_else(lost_row)
}

fn lost_row() -> Error {
    Error::new(ErrorKind::Other, "what was stored is not there")
        .hint("`tidegate memory check` looks at the store")
}

/// Newer than the old version even after the clock moved back.
fn next_version(now: Millis, old: Millis) -> Millis {
    Millis(now.0.max(old.0 + 1))
}

fn clean_title(what: &str, text: &str) -> Result<String> {
    let title = one_line(&redact(text).text, LONGEST_TITLE);
    if title.is_empty() {
        return Err(Error::new(ErrorKind::Refused, format!("{what} is empty")).hint("say it in one line"));
    }
    Ok(title)
}

fn clean_text(what: &str, text: &str, redacted: &mut BTreeMap<String, u32>) -> Result<String> {
    let clean = redact_text(text, redacted);
    if clean.is_empty() {
        return Err(Error::new(ErrorKind::Refused, format!("{what} is empty")));
    }
    check_length(what, clean)
}

/// Unlike a text, a reason may be empty.
fn clean_reason(text: &str, redacted: &mut BTreeMap<String, u32>) -> Result<String> {
    check_length("the reason", redact_text(text, redacted))
}

fn check_length(what: &str, text: String) -> Result<String> {
    if text.len() > LONGEST_TEXT {
        return Err(Error::new(ErrorKind::Refused, format!("{what} is longer than {LONGEST_TEXT} bytes"))
            .hint("say what matters, and name the file that holds the rest"));
    }
    Ok(text)
}

fn redact_text(text: &str, redacted: &mut BTreeMap<String, u32>) -> String {
    let clean = redact(text);
    for (kind, count) in clean.found.iter() {
        *redacted.entry(kind.name().to_owned()).or_default() += count;
    }
    let plain: String = clean.text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect();
    plain.trim().to_owned()
}
