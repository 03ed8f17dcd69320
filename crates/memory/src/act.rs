//! What people and models do with topics, decisions and logs: once, for commands and tools alike.
//!
//! Everything that is written is redacted first. An error says what to do.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;
use tidegate_core::feature::memory::job::ProjectOf;
use tidegate_core::feature::memory::settings::{MemorySettings, StartupProjects};
use tidegate_core::redact::redact;
use tidegate_core::text::hidden::is_plain;
use tidegate_core::time::Millis;
use tidegate_state::project::memory_project;

use crate::error::{Error, ErrorKind, Result};
use crate::record::{self, Record, Source, Status, Summary, new_uid};
use crate::store::{Put, Store};
use crate::text::one_line;
use crate::view::{Decision, Filter, Hit, Kind, Log, Page, Project, Topic};

/// How long a title may be, in characters.
pub const LONGEST_TITLE: usize = 200;

/// How long a text may be, in bytes.
pub const LONGEST_TEXT: usize = 64 * 1024;

/// Who acts, where and when.
#[derive(Clone, Copy, Debug)]
pub struct Acting<'a> {
    /// Now.
    pub now: Millis,
    /// The project of the folder it is done in.
    pub own: Option<&'a ProjectOf>,
    /// The session it is done in, where there is one.
    pub session: Option<&'a str>,
}

/// A project as somebody names it: by its id, its name, or a path in it.
pub fn project(store: &mut dyn Store, named: &str) -> Result<Project> {
    if let Ok(id) = named.parse::<i64>()
        && let Some(found) = store.project(id)?
    {
        return Ok(found);
    }
    if let Some(found) = store.project_by_name(named)? {
        return Ok(found);
    }
    if let Some(found) = store.project_by_key(named)? {
        return Ok(found);
    }
    if named.contains('/') || named.starts_with('.') {
        let path = std::fs::canonicalize(named).unwrap_or_else(|_| Path::new(named).to_owned());
        if let Some(found) = store.project_by_key(&memory_project(&path).key)? {
            return Ok(found);
        }
    }
    let known = store.projects(&Page { limit: 5, after: None })?.rows;
    let known: Vec<String> = known
        .iter()
        .map(|project| format!("{} (id {})", one_line(&project.row.name, 40), project.id))
        .collect();
    let hint = if known.is_empty() {
        "nothing has been recorded yet".to_owned()
    } else {
        format!("the last active ones are {}", known.join(", "))
    };
    Err(Error::new(ErrorKind::Missing, format!("there is no project `{}`", one_line(named, 80))).hint(hint))
}

/// The same, but no guess: a name that several projects have is refused.
pub fn the_project(store: &mut dyn Store, named: &str) -> Result<Project> {
    let found = project(store, named)?;
    if found.row.name != named || found.id.to_string() == named {
        return Ok(found);
    }
    let mut page = Page { limit: 1000, after: None };
    let mut same = Vec::new();
    loop {
        let projects = store.projects(&page)?;
        same.extend(projects.rows.into_iter().filter(|project| project.row.name == named));
        page.after = projects.next;
        if page.after.is_none() {
            break;
        }
    }
    if same.len() < 2 {
        return Ok(found);
    }
    let each: Vec<String> = same
        .iter()
        .map(|project| {
            let folder = project.row.key.as_deref().unwrap_or("no folder of this machine");
            format!("id {} ({})", project.id, one_line(folder, 200))
        })
        .collect();
    let what = format!("{} projects are called `{}`", same.len(), one_line(named, 80));
    Err(Error::new(ErrorKind::Refused, what).hint(format!("name one by its id: {}", each.join(", "))))
}

/// The project of a folder, if something has been recorded of it.
pub fn own_project(store: &mut dyn Store, own: Option<&ProjectOf>) -> Result<Option<Project>> {
    match own {
        Some(own) => store.project_by_key(&own.key),
        None => Ok(None),
    }
}

/// The project of a folder, made where it is not known yet.
pub fn make_project(store: &mut dyn Store, own: &ProjectOf, now: Millis) -> Result<Project> {
    if let Some(found) = store.project_by_key(&own.key)? {
        return Ok(found);
    }
    let row = record::Project {
        uid: new_uid(),
        id: None,
        key: Some(own.key.clone()),
        name: own.name.clone(),
        created: now,
        updated: now,
    };
    store.put(&[Record::Project(row)])?;
    // Whoever was faster has the key.
    store.project_by_key(&own.key)?.ok_or_else(|| Error::new(ErrorKind::Other, "the project was not stored"))
}

/// Separates the name of a project within a repository from the repository's key. No resolved path has it.
const WITHIN: &str = "//";

/// One of several projects that a repository holds. Its key says whose it is.
pub fn project_within(own: &ProjectOf, name: &str) -> ProjectOf {
    ProjectOf { key: format!("{}{WITHIN}{name}", own.key), name: name.to_owned(), ..own.clone() }
}

/// Whether a key is that of a project itself, or of one within it.
pub fn is_own(own: &ProjectOf, key: &str) -> bool {
    key.strip_prefix(own.key.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with(WITHIN))
}

/// Refuses a project that is not the one of this folder, nor within it: an agent that reads hostile text in one project must
/// not write into another one's memory.
pub fn check_own(store: &mut dyn Store, own: Option<&ProjectOf>, project: i64) -> Result<()> {
    let found = store
        .project(project)?
        .ok_or_else(|| Error::new(ErrorKind::Missing, format!("there is no project {project}")))?;
    if own.zip(found.row.key.as_deref()).is_some_and(|(own, key)| is_own(own, key)) {
        return Ok(());
    }
    let (theirs, ours) = (one_line(&found.row.name, 40), own.map_or("no project", |own| own.name.as_str()));
    Err(Error::new(
        ErrorKind::Refused,
        format!("nothing was written: this belongs to the project {theirs}, and this session to {}", one_line(ours, 40)),
    )
    .hint(format!(
        "an agent writes only into its own project: do it in a session there, or have the person do it at a terminal with \
         `tidegate memory`; a topic of {} can be begun here",
        one_line(ours, 40)
    )))
}

/// Who recorded something, as far as that is known: agents act in a session, a person at a terminal does not.
pub fn author(session: Option<&str>) -> String {
    match session {
        Some(session) => format!("agent, session {}", short(session)),
        None => "author not recorded".to_owned(),
    }
}

/// Who recorded a log. That of a relay holds what both sides said.
pub fn author_of_log(row: &record::Log) -> String {
    match (row.source, row.session.as_deref()) {
        (Source::Relay, Some(session)) => format!("conversation, session {}", short(session)),
        (_, session) => author(session),
    }
}

fn short(session: &str) -> String {
    session.chars().filter(|c| is_plain(*c)).take(8).collect()
}

/// A hit with who recorded it, where the local store knows that.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Authored {
    /// What was found.
    #[serde(flatten)]
    pub hit: Hit,
    /// Who recorded it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

/// Adds who recorded each.
pub fn authored(store: &mut dyn Store, hits: Vec<Hit>) -> Result<Vec<Authored>> {
    hits.into_iter().map(|hit| Ok(Authored { by: author_of(store, &hit)?, hit })).collect()
}

fn author_of(store: &mut dyn Store, hit: &Hit) -> Result<Option<String>> {
    Ok(match hit.kind {
        Kind::Decision => {
            let id = hit.id.parse().unwrap_or_default();
            let found = store.decision(id)?.filter(|found| found.row.uid == hit.uid);
            found.map(|found| author(found.row.session.as_deref()))
        }
        Kind::Log => store.log(&hit.id)?.map(|found| author_of_log(&found.row)),
        Kind::Stock | Kind::Progress => Some("a file of the project".to_owned()),
        Kind::Topic => None,
    })
}

/// A topic by its id.
pub fn topic(store: &mut dyn Store, id: i64) -> Result<Topic> {
    store.topic(id)?.ok_or_else(|| {
        Error::new(ErrorKind::Missing, format!("there is no topic {id}"))
            .hint("a list of topics gives their ids; adding one begins a new topic")
    })
}

/// A decision by its id.
pub fn decision(store: &mut dyn Store, id: i64) -> Result<Decision> {
    store.decision(id)?.ok_or_else(|| {
        Error::new(ErrorKind::Missing, format!("there is no decision {id}"))
            .hint("a list of decisions gives their ids")
    })
}

/// A log by its uid, or the beginning of it.
pub fn log(store: &mut dyn Store, uid: &str) -> Result<Log> {
    store.log(uid)?.ok_or_else(|| {
        Error::new(ErrorKind::Missing, format!("there is no log `{}`", one_line(uid, 80)))
            .hint("a list of logs, or a search, gives their ids")
    })
}

/// Begins a topic.
pub fn add_topic(
    store: &mut dyn Store,
    acting: &Acting<'_>,
    title: &str,
    of: Option<i64>,
    parent: Option<i64>,
) -> Result<Topic> {
    let title = clean_title("the title", title)?;
    let parent = parent.map(|id| topic(store, id)).transpose()?;
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
    let row = record::Topic {
        uid: new_uid(),
        id: None,
        project: project.row.uid,
        parent: parent.map(|parent| parent.row.uid),
        title,
        status: Status::Open,
        automatic: None,
        offered: 0,
        offered_at: None,
        created: acting.now,
        updated: acting.now,
    };
    let uid = row.uid.clone();
    store.put(&[Record::Topic(row)])?;
    store.topic_by_uid(&uid)?.ok_or_else(lost)
}

/// What is to be different about a topic. What is unset stays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TopicEdit {
    /// Its title.
    pub title: Option<String>,
    /// Its project.
    pub project: Option<i64>,
    /// The topic that it is a part of; `Some(None)` for none.
    pub parent: Option<Option<i64>>,
    /// Whether somebody works on it.
    pub status: Option<Status>,
}

/// Changes a topic. An automatic one that gets a title is a topic like others from then on.
pub fn edit_topic(store: &mut dyn Store, now: Millis, id: i64, edit: &TopicEdit) -> Result<Topic> {
    let old = topic(store, id)?;
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
                let parent = topic(store, parent)?;
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
    row.updated = after(now, old.row.updated);
    changed(&store.put(&[Record::Topic(row)])?)?;
    topic(store, id)
}

/// Writes a log down by hand.
pub fn add_log(
    store: &mut dyn Store,
    acting: &Acting<'_>,
    to: i64,
    title: Option<&str>,
    text: &str,
) -> Result<Log> {
    let topic = topic(store, to)?;
    let mut redacted = BTreeMap::new();
    let text = clean("the text", text, &mut redacted)?;
    let title = match title {
        Some(title) => clean_title("the title", title)?,
        None => one_line(text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default(), 100),
    };
    let session = session(store, acting)?;
    let row = record::Log {
        uid: new_uid(),
        topic: topic.row.uid,
        session,
        title,
        text,
        prompt: String::new(),
        answer: String::new(),
        tools: BTreeMap::new(),
        files: Vec::new(),
        source: Source::Hand,
        redacted,
        notes: Vec::new(),
        summary: Summary::default(),
        at: acting.now,
        updated: acting.now,
    };
    let uid = row.uid.clone();
    stored(&store.put(&[Record::Log(row)])?)?;
    store.log(&uid)?.ok_or_else(lost)
}

/// Writes a decision down. It closes nothing.
pub fn add_decision(
    store: &mut dyn Store,
    acting: &Acting<'_>,
    to: i64,
    text: &str,
    reason: Option<&str>,
) -> Result<Decision> {
    let topic = topic(store, to)?;
    put_decision(store, acting, topic.row.uid, text, reason, None)
}

/// Puts a decision in the place of another.
pub fn supersede(
    store: &mut dyn Store,
    acting: &Acting<'_>,
    id: i64,
    text: &str,
    reason: Option<&str>,
) -> Result<Decision> {
    let old = decision(store, id)?;
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
    let session = session(store, acting)?;
    let row = record::Decision {
        uid: new_uid(),
        id: None,
        topic,
        text: clean("the decision", text, &mut redacted)?,
        reason: reason.map(|reason| clean_reason(reason, &mut redacted)).transpose()?.unwrap_or_default(),
        supersedes,
        retracted: None,
        session,
        created: acting.now,
        updated: acting.now,
    };
    let uid = row.uid.clone();
    stored(&store.put(&[Record::Decision(row)])?)?;
    by_uid(store, &uid)
}

/// Takes a decision back. What it took the place of stands again.
pub fn retract(store: &mut dyn Store, now: Millis, id: i64) -> Result<Decision> {
    let old = decision(store, id)?;
    if old.row.retracted.is_some() {
        return Ok(old);
    }
    let updated = after(now, old.row.updated);
    let row = record::Decision { retracted: Some(now), updated, ..old.row };
    changed(&store.put(&[Record::Decision(row)])?)?;
    decision(store, id)
}

/// What is to be different about a decision. What is unset stays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DecisionEdit {
    /// What was decided.
    pub text: Option<String>,
    /// Why.
    pub reason: Option<String>,
    /// Its topic.
    pub topic: Option<i64>,
}

/// Mends how a decision is written down. Another decision is made by [`supersede`].
pub fn edit_decision(store: &mut dyn Store, now: Millis, id: i64, edit: &DecisionEdit) -> Result<Decision> {
    let old = decision(store, id)?;
    let mut redacted = BTreeMap::new();
    let mut row = old.row.clone();
    if let Some(text) = &edit.text {
        row.text = clean("the decision", text, &mut redacted)?;
    }
    if let Some(reason) = &edit.reason {
        row.reason = clean_reason(reason, &mut redacted)?;
    }
    if let Some(to) = edit.topic {
        row.topic = topic(store, to)?.row.uid;
    }
    if row == old.row {
        return Ok(old);
    }
    row.updated = after(now, old.row.updated);
    changed(&store.put(&[Record::Decision(row)])?)?;
    decision(store, id)
}

/// What a session begins with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Startup {
    /// The project of this folder, if something has been recorded of it.
    pub own: Option<Project>,
    /// Topics that wait for a decision, the last active one first.
    pub undecided: Vec<Topic>,
    /// Decisions of the project's open topics, newest first.
    pub decisions: Vec<Decision>,
}

/// What a session begins with: the same that hooks say at its start.
pub fn startup(
    store: &mut dyn Store,
    settings: &MemorySettings,
    own: Option<&ProjectOf>,
    limit: Option<usize>,
) -> Result<Startup> {
    let own = own_project(store, own)?;
    let limit = limit.unwrap_or_else(|| settings.startup_topics.get() as usize);
    let of = match settings.startup_projects {
        StartupProjects::All => None,
        // Of a project that nothing is known of nothing waits.
        StartupProjects::This => Some(own.as_ref().map_or(-1, |project| project.id)),
    };
    let undecided = store.undecided(of, limit)?;
    let decisions = match &own {
        None => Vec::new(),
        Some(project) => {
            let filter = Filter { project: Some(project.id), open: Some(true), ..Filter::default() };
            store.decisions(&filter, &Page { limit: 20, after: None })?.rows
        }
    };
    Ok(Startup { own, undecided, decisions })
}

/// The session that something is done in, made where the recorder has not seen it yet.
fn session(store: &mut dyn Store, acting: &Acting<'_>) -> Result<Option<String>> {
    let (Some(uid), Some(own)) = (acting.session, acting.own) else { return Ok(None) };
    let project = make_project(store, own, acting.now)?;
    let row = record::Session {
        uid: uid.to_owned(),
        project: project.row.uid,
        root: own.root.clone(),
        branch: own.branch.clone(),
        created: acting.now,
        // The recorder knows better when it began.
        updated: Millis(0),
    };
    match store.put(&[Record::Session(row)])?.as_slice() {
        // What is written down by hand is written down, whatever became of the session.
        [Put::Forgotten] => Ok(None),
        _ => Ok(Some(uid.to_owned())),
    }
}

fn stored(puts: &[Put]) -> Result<()> {
    if puts.contains(&Put::Forgotten) {
        return Err(Error::new(ErrorKind::Refused, "it belongs to something that was forgotten"));
    }
    Ok(())
}

/// Another version may have come meanwhile, or the one that is there says that it is of the end of time.
fn changed(puts: &[Put]) -> Result<()> {
    stored(puts)?;
    if puts.contains(&Put::Kept) {
        return Err(Error::new(ErrorKind::Refused, "a newer version is there; nothing was changed")
            .hint("look at it and try again"));
    }
    Ok(())
}

fn by_uid(store: &mut dyn Store, uid: &str) -> Result<Decision> {
    let all = Filter { all: true, ..Filter::default() };
    let mut page = Page { limit: 50, after: None };
    loop {
        let found = store.decisions(&all, &page)?;
        if let Some(one) = found.rows.into_iter().find(|one| one.row.uid == uid) {
            return Ok(one);
        }
        page.after = Some(found.next.ok_or_else(lost)?);
    }
}

fn lost() -> Error {
    Error::new(ErrorKind::Other, "what was stored is not there")
        .hint("`tidegate memory check` looks at the store")
}

/// A version that stands against an older one, even if the clock was set back.
fn after(now: Millis, old: Millis) -> Millis {
    Millis(now.0.max(old.0 + 1))
}

fn clean_title(what: &str, text: &str) -> Result<String> {
    let title = one_line(&redact(text).text, LONGEST_TITLE);
    if title.is_empty() {
        return Err(Error::new(ErrorKind::Refused, format!("{what} is empty")).hint("say it in one line"));
    }
    Ok(title)
}

fn clean(what: &str, text: &str, redacted: &mut BTreeMap<String, u32>) -> Result<String> {
    let clean = cleaned(text, redacted);
    if clean.is_empty() {
        return Err(Error::new(ErrorKind::Refused, format!("{what} is empty")));
    }
    short_enough(what, clean)
}

/// A reason may be empty.
fn clean_reason(text: &str, redacted: &mut BTreeMap<String, u32>) -> Result<String> {
    short_enough("the reason", cleaned(text, redacted))
}

fn short_enough(what: &str, text: String) -> Result<String> {
    if text.len() > LONGEST_TEXT {
        return Err(Error::new(ErrorKind::Refused, format!("{what} is longer than {LONGEST_TEXT} bytes"))
            .hint("say what matters, and name the file that holds the rest"));
    }
    Ok(text)
}

fn cleaned(text: &str, redacted: &mut BTreeMap<String, u32>) -> String {
    let clean = redact(text);
    for (kind, count) in clean.found.iter() {
        *redacted.entry(kind.name().to_owned()).or_default() += count;
    }
    let plain: String = clean.text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect();
    plain.trim().to_owned()
}
