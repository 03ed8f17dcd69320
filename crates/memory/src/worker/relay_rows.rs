//! The rows of a relay, and the choice of its topic.
//!
//! A relay stays in the project of its session: what the model writes, or a file that it was told to write,
//! must not carry a conversation into the memory of another project, and from there to its team.

use tidegate_core::feature::memory::automatic;
use tidegate_core::feature::memory::catalogue::OWN;
use tidegate_core::feature::memory::job::{Job, TranscriptPart};
use tidegate_core::feature::memory::relay::Relay;
use tidegate_core::feature::memory::said;
use tidegate_core::feature::memory::summary;

use crate::act::is_own_key;
use crate::error::Result;
use crate::record::{
    DecisionRow, LogRow, LogSource, LogSummary, ProjectRow, Record, SessionRow, TakenBy, TopicRow,
    TopicStatus, Uid, found_decision_uid, new_uid,
};
use crate::store::Store;
use crate::view::Topic;

/// The summariser's name in records without a language model.
pub(super) const LOCAL: &str = "local";

/// All rows of a relay, referenced rows first, its log last. `again` asks for a summary by a language model; `before` is
/// the stored topic if this part holds only the end of the relay.
pub(super) fn rows_of_relay(
    store: &mut dyn Store,
    job: &Job,
    part: &TranscriptPart,
    relay: &Relay,
    again: bool,
    before: Option<Uid>,
) -> Result<Vec<Record>> {
    let mut records = Vec::new();
    let project = ensure_project(store, part, relay, &mut records)?;
    let mut notes = Vec::new();
    let topic = match named_topic(store, part, relay, before, &mut notes)? {
        Some(topic) => topic,
        None => automatic_topic(store, job, part, relay, &project, &mut notes, &mut records)?,
    };
    records.push(Record::Session(SessionRow {
        uid: job.session.clone(),
        project,
        root: part.project.root.clone(),
        branch: relay.branch.clone().or_else(|| part.project.branch.clone()),
        created: relay.at,
        updated: relay.ended,
    }));
    let told = summary::summarise_locally(relay, part.lang);
    let decisions = relay.answered.iter().enumerate().map(|(number, answered)| {
        Record::Decision(DecisionRow {
            uid: found_decision_uid(&relay.uid, number),
            id: None,
            topic: topic.clone(),
            text: answered.to_string(),
            reason: String::new(),
            supersedes: None,
            retracted: None,
            session: Some(job.session.clone()),
            taken_by: Some(TakenBy::Person),
            created: relay.at,
            updated: relay.at,
        })
    });
    records.extend(decisions);
    if relay.compacted {
        notes.push("the conversation was compacted meanwhile".to_owned());
    }
    records.push(Record::Log(LogRow {
        uid: relay.uid.clone(),
        topic,
        session: Some(job.session.clone()),
        title: told.title,
        text: told.text,
        prompt: relay.prompt.clone(),
        answer: said::join(&relay.said),
        tools: relay.tools.clone(),
        files: relay.files.clone(),
        source: LogSource::Relay,
        redacted: relay.redacted.iter().map(|(kind, count)| (kind.name().to_owned(), count)).collect(),
        notes,
        summary: LogSummary { by: LOCAL.to_owned(), again },
        at: relay.at,
        updated: relay.ended,
    }));
    Ok(records)
}

/// Used unless the tag or the session names one within it.
fn ensure_project(
    store: &mut dyn Store,
    part: &TranscriptPart,
    relay: &Relay,
    records: &mut Vec<Record>,
) -> Result<Uid> {
    if let Some(known) = store.project_by_key(&part.project.key)? {
        return Ok(known.row.uid);
    }
    let uid = new_uid();
    records.push(Record::Project(ProjectRow {
        uid: uid.clone(),
        id: None,
        key: Some(part.project.key.clone()),
        name: part.project.name.clone(),
        created: relay.at,
        updated: relay.at,
    }));
    Ok(uid)
}

/// Whether this is the project of the session, or one within it.
pub(super) fn is_own_project(store: &mut dyn Store, part: &TranscriptPart, id: i64) -> Result<bool> {
    let key = store.project(id)?.and_then(|project| project.row.key);
    Ok(key.is_some_and(|key| is_own_key(&part.project, &key)))
}

fn is_own_topic(store: &mut dyn Store, part: &TranscriptPart, topic: &Topic) -> Result<bool> {
    is_own_project(store, part, topic.in_project.id)
}

/// The topic in the tag, else the one set in the session. Ids that are unknown or of another project are
/// noted in the log.
fn named_topic(
    store: &mut dyn Store,
    part: &TranscriptPart,
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
            Some(topic) if is_own_topic(store, part, &topic)? => return Ok(Some(topic.row.uid)),
            Some(_) => notes.push(format!("the tag names topic {id}, which is in another project")),
            None => notes.push(format!("the tag names topic {id}, which does not exist")),
        }
    }
    // A topic that was set since then is about a later relay.
    if let Some(topic) = before.map(|uid| store.topic_by_uid(&uid)).transpose()?.flatten()
        && is_own_topic(store, part, &topic)?
    {
        return Ok(Some(topic.row.uid));
    }
    let Some(id) = part.topic.filter(|id| *id != OWN) else { return Ok(None) };
    match store.topic(id)? {
        Some(topic) if is_own_topic(store, part, &topic)? => return Ok(Some(topic.row.uid)),
        Some(_) => notes.push(format!("topic {id} was set in the session, and is in another project")),
        None => notes.push(format!("topic {id} was set in the session, and does not exist")),
    }
    Ok(None)
}

/// The automatic topic of the session, created if missing: in the project of the tag if that is within the
/// session's, else in that of the relay.
fn automatic_topic(
    store: &mut dyn Store,
    job: &Job,
    part: &TranscriptPart,
    relay: &Relay,
    default: &str,
    notes: &mut Vec<String>,
    records: &mut Vec<Record>,
) -> Result<Uid> {
    let named = relay.tag.as_ref().and_then(|tag| tag.project.as_ref()).filter(|named| named.id != OWN);
    let mut project = default.to_owned();
    if let Some(named) = named {
        match store.project(named.id)? {
            Some(found) if is_own_project(store, part, found.id)? => project = found.row.uid,
            Some(_) => notes.push(format!("the tag names project {}, which is another one", named.id)),
            None => notes.push(format!("the tag names project {}, which does not exist", named.id)),
        }
    }
    let within = Some(project.as_str()).filter(|project| *project != default);
    let mut uid = automatic::topic_uid(&job.session, within);
    let mut known = store.topic_by_uid(&uid)?;
    // A person moved it, or its name was taken on purpose.
    if let Some(topic) = &known
        && !is_own_topic(store, part, topic)?
    {
        uid = automatic::topic_uid(&job.session, Some(&format!("{project} again")));
        known = store.topic_by_uid(&uid)?;
        if let Some(topic) = &known
            && !is_own_topic(store, part, topic)?
        {
            (uid, known) = (new_uid(), None);
        }
    }
    if known.is_none() {
        let branch = relay.branch.as_deref().or(part.project.branch.as_deref());
        records.push(Record::Topic(TopicRow {
            uid: uid.clone(),
            id: None,
            project,
            parent: None,
            title: automatic::topic_title(relay, branch),
            status: TopicStatus::Open,
            automatic: Some(job.session.clone()),
            offered: 0,
            offered_at: None,
            created: relay.at,
            updated: relay.at,
        }));
    }
    Ok(uid)
}
