//! The rows of a relay, and the choice of its topic.
//!
//! A relay stays in the project of its session: what the model writes, or a file that it was told to write,
//! must not carry a conversation into the memory of another project, and from there to its team.

use std::collections::{BTreeMap, BTreeSet};

use tidegate_core::feature::memory::automatic;
use tidegate_core::feature::memory::catalogue::OWN;
use tidegate_core::feature::memory::choice;
use tidegate_core::feature::memory::job::RelayProject;
use tidegate_core::feature::memory::relay::Relay;
use tidegate_core::feature::memory::said;
use tidegate_core::feature::memory::summary;
use tidegate_core::text::lang::Lang;
use tidegate_core::time::Millis;

use crate::act::is_own_key;
use crate::error::{ErrorKind, Result};
use crate::record::{
    DecisionRow, LogRow, LogSource, LogSummary, ProjectRow, Record, SessionRow, TakenBy, TopicRow,
    TopicStatus, Uid, found_decision_uid, new_uid,
};
use crate::store::Store;
use crate::view::{Log, Topic};

/// The summariser's name in records without a language model.
pub(crate) const LOCAL: &str = "local";

/// Everything that is known of a relay apart from its text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RelayPlace<'a> {
    pub(crate) session: &'a str,
    /// The default project.
    pub(crate) project: &'a RelayProject,
    /// The topic that was set in the session.
    pub(crate) topic: Option<i64>,
    pub(crate) lang: Option<Lang>,
    pub(crate) pending: &'a PendingRows,
}

/// Rows that come earlier in the same transaction, and are not in the store yet.
#[derive(Debug, Default)]
pub(crate) struct PendingRows {
    /// By their keys.
    projects: BTreeMap<String, Uid>,
    topics: BTreeSet<Uid>,
    /// With their versions.
    logs: BTreeMap<Uid, Millis>,
}

impl PendingRows {
    pub(crate) fn add(&mut self, records: &[Record]) {
        for record in records {
            match record {
                Record::Project(row) => {
                    self.projects.extend(row.key.clone().map(|key| (key, row.uid.clone())));
                }
                Record::Topic(row) => {
                    self.topics.insert(row.uid.clone());
                }
                Record::Log(row) => {
                    self.logs.insert(row.uid.clone(), row.updated);
                }
                Record::Session(_) | Record::Decision(_) => {}
            }
        }
    }

    pub(crate) fn has_log(&self, uid: &str) -> bool {
        self.logs.contains_key(uid)
    }

    /// The version of a log.
    pub(crate) fn log_version(&self, uid: &str) -> Option<Millis> {
        self.logs.get(uid).copied()
    }
}

/// The stored log of a relay.
pub(crate) fn stored_log(store: &mut dyn Store, relay: &Relay) -> Result<Option<Log>> {
    match store.log(&relay.uid) {
        // An ambiguous prefix is not this relay.
        Err(error) if error.kind == ErrorKind::Refused => Ok(None),
        found => Ok(found?.filter(|log| log.row.uid == relay.uid)),
    }
}

/// Whether a relay may be stored here, in place of the known log if there is one. Relays that began up to `passed` were
/// not recorded on purpose.
pub(crate) fn may_store(
    store: &mut dyn Store,
    place: &RelayPlace<'_>,
    relay: &Relay,
    known: Option<&Log>,
    passed: Option<Millis>,
) -> Result<bool> {
    // A fork begins with a copy of relays that another session recorded.
    let is_own = |log: &Log| log.row.session.as_deref() == Some(place.session);
    if passed.is_some_and(|until| relay.at <= until) && !known.is_some_and(is_own) {
        return Ok(false);
    }
    // A prompt's uid can be forged, and would replace another project's log.
    match known.filter(|log| !is_own(log)) {
        Some(log) => is_own_project(store, place, log.in_project.id),
        None => Ok(true),
    }
}

/// All rows of a relay, referenced rows first, its log last. `again` asks for a summary by a language model; `before` is
/// the stored topic if this part holds only the end of the relay.
pub(crate) fn rows_of_relay(
    store: &mut dyn Store,
    place: &RelayPlace<'_>,
    relay: &Relay,
    again: bool,
    before: Option<Uid>,
) -> Result<Vec<Record>> {
    let mut records = Vec::new();
    let project = ensure_project(store, place, relay, &mut records)?;
    let mut notes = Vec::new();
    let topic = match named_topic(store, place, relay, before, &mut notes)? {
        Some(topic) => topic,
        None => automatic_topic(store, place, relay, &project, &mut notes, &mut records)?,
    };
    records.push(Record::Session(SessionRow {
        uid: place.session.to_owned(),
        project,
        root: place.project.root.clone(),
        branch: relay.branch.clone().or_else(|| place.project.branch.clone()),
        created: relay.at,
        updated: relay.ended,
    }));
    let told = summary::summarise_locally(relay, place.lang);
    records.extend(found_decisions(relay, &topic, place.session));
    if relay.compacted {
        notes.push("the conversation was compacted meanwhile".to_owned());
    }
    records.push(Record::Log(LogRow {
        uid: relay.uid.clone(),
        topic,
        session: Some(place.session.to_owned()),
        title: told.title,
        text: told.text,
        prompt: relay.prompt.clone(),
        answer: said::join(&relay.said),
        tools: relay.tools.clone(),
        files: relay.files.clone(),
        source: LogSource::Relay,
        redacted: count_secrets(relay),
        notes,
        summary: LogSummary { by: LOCAL.to_owned(), again },
        at: relay.at,
        updated: relay.ended,
    }));
    Ok(records)
}

/// Questions that the person answered by a choice. The number of an answer stays, whether or not others decide: it is in the
/// uid.
pub(crate) fn found_decisions(relay: &Relay, topic: &str, session: &str) -> Vec<Record> {
    let decision = |(number, answered): (usize, &said::AnsweredQuestion)| {
        Record::Decision(DecisionRow {
            uid: found_decision_uid(&relay.uid, number),
            id: None,
            topic: topic.to_owned(),
            text: answered.to_string(),
            reason: String::new(),
            supersedes: None,
            retracted: None,
            session: Some(session.to_owned()),
            taken_by: Some(TakenBy::Person),
            created: relay.at,
            updated: relay.at,
        })
    };
    let decides = |(_, answered): &(usize, &said::AnsweredQuestion)| {
        choice::decides(&answered.question, &answered.answer)
    };
    relay.answered.iter().enumerate().filter(decides).map(decision).collect()
}

/// Removed secrets by kind.
pub(crate) fn count_secrets(relay: &Relay) -> BTreeMap<String, u32> {
    relay.redacted.iter().map(|(kind, count)| (kind.name().to_owned(), count)).collect()
}

/// Used unless the tag or the session names one within it.
fn ensure_project(
    store: &mut dyn Store,
    place: &RelayPlace<'_>,
    relay: &Relay,
    records: &mut Vec<Record>,
) -> Result<Uid> {
    if let Some(uid) = place.pending.projects.get(&place.project.key) {
        return Ok(uid.clone());
    }
    if let Some(known) = store.project_by_key(&place.project.key)? {
        return Ok(known.row.uid);
    }
    let uid = new_uid();
    records.push(Record::Project(ProjectRow {
        uid: uid.clone(),
        id: None,
        key: Some(place.project.key.clone()),
        name: place.project.name.clone(),
        created: relay.at,
        updated: relay.at,
    }));
    Ok(uid)
}

/// Whether this is the project of the session, or one within it.
fn is_own_project(store: &mut dyn Store, place: &RelayPlace<'_>, id: i64) -> Result<bool> {
    let key = store.project(id)?.and_then(|project| project.row.key);
    Ok(key.is_some_and(|key| is_own_key(place.project, &key)))
}

fn is_own_topic(store: &mut dyn Store, place: &RelayPlace<'_>, topic: &Topic) -> Result<bool> {
    is_own_project(store, place, topic.in_project.id)
}

/// The topic in the tag, else the one set in the session. Ids that are unknown or of another project are
/// noted in the log.
fn named_topic(
    store: &mut dyn Store,
    place: &RelayPlace<'_>,
    relay: &Relay,
    before: Option<Uid>,
    notes: &mut Vec<String>,
) -> Result<Option<Uid>> {
    if let Some(id) = relay.tag.as_ref().map(|tag| tag.topic.id) {
        // The tag explicitly names the session's own topic.
        if id == OWN {
            return Ok(None);
        }
        match store.topic(id)? {
            Some(topic) if is_own_topic(store, place, &topic)? => return Ok(Some(topic.row.uid)),
            Some(_) => notes.push(format!("the tag names topic {id}, which is in another project")),
            None => notes.push(format!("the tag names topic {id}, which does not exist")),
        }
    }
    // A topic that was set since then is about a later relay.
    if let Some(topic) = before.map(|uid| store.topic_by_uid(&uid)).transpose()?.flatten()
        && is_own_topic(store, place, &topic)?
    {
        return Ok(Some(topic.row.uid));
    }
    let Some(id) = place.topic.filter(|id| *id != OWN) else { return Ok(None) };
    match store.topic(id)? {
        Some(topic) if is_own_topic(store, place, &topic)? => return Ok(Some(topic.row.uid)),
        Some(_) => notes.push(format!("topic {id} was set in the session, and is in another project")),
        None => notes.push(format!("topic {id} was set in the session, and does not exist")),
    }
    Ok(None)
}

/// The automatic topic of the session, created if missing: in the project of the tag if that is within the
/// session's, else in that of the relay.
fn automatic_topic(
    store: &mut dyn Store,
    place: &RelayPlace<'_>,
    relay: &Relay,
    default: &str,
    notes: &mut Vec<String>,
    records: &mut Vec<Record>,
) -> Result<Uid> {
    let named = relay.tag.as_ref().and_then(|tag| tag.project.as_ref()).filter(|named| named.id != OWN);
    let mut project = default.to_owned();
    if let Some(named) = named {
        match store.project(named.id)? {
            Some(found) if is_own_project(store, place, found.id)? => project = found.row.uid,
            Some(_) => notes.push(format!("the tag names project {}, which is another one", named.id)),
            None => notes.push(format!("the tag names project {}, which does not exist", named.id)),
        }
    }
    let within = Some(project.as_str()).filter(|project| *project != default);
    let mut uid = automatic::topic_uid(place.session, within);
    if place.pending.topics.contains(&uid) {
        return Ok(uid);
    }
    let mut known = store.topic_by_uid(&uid)?;
    // A person moved it, or its name was taken on purpose.
    if let Some(topic) = &known
        && !is_own_topic(store, place, topic)?
    {
        uid = automatic::topic_uid(place.session, Some(&format!("{project} again")));
        known = store.topic_by_uid(&uid)?;
        if let Some(topic) = &known
            && !is_own_topic(store, place, topic)?
        {
            (uid, known) = (new_uid(), None);
        }
    }
    if known.is_none() {
        let branch = relay.branch.as_deref().or(place.project.branch.as_deref());
        records.push(Record::Topic(TopicRow {
            uid: uid.clone(),
            id: None,
            project,
            parent: None,
            title: automatic::topic_title(relay, branch),
            status: TopicStatus::Open,
            automatic: Some(place.session.to_owned()),
            offered: 0,
            offered_at: None,
            created: relay.at,
            updated: relay.at,
        }));
    }
    Ok(uid)
}
