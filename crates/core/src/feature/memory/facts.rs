//! Facts from the store's catalogue, and about the turn that ends.

use crate::event::{Event, EventKind};
use crate::feature::facts;
use crate::feature::facts::{Facts, Known};
use crate::feature::marks::{Marks, Note};
use crate::feature::memory::call;
use crate::feature::memory::catalogue::{NamedId, OWN, ProjectPage, TopicRecord, Undecided};
use crate::feature::memory::job::RelayProject;
use crate::feature::memory::marks::{Mark, SessionTopic};
use crate::feature::memory::short_name::short_name;
use crate::feature::memory::tag::TopicTag;
use crate::time::Millis;

facts::needs! {
    Needs {
        /// The length of the transcript, and the project to record for.
        transcript,
        /// The tag at the end of a turn, and the catalogue's records of the topics in question.
        topics,
        /// The catalogue's page of the project.
        page,
        /// The catalogue's undecided topics.
        undecided,
    }
}

/// Each is present only if it was asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MemoryFacts {
    /// The length of the session's transcript.
    pub length: Option<u64>,
    /// The default project of the session's relays.
    pub project: Option<RelayProject>,
    /// The last message of the turn that ends; `None` if unknown.
    pub answer: Option<TurnAnswer>,
    /// The catalogue's records of the topics in question, by id.
    pub topics: Vec<(i64, Known<Option<TopicRecord>>)>,
    pub page: Known<ProjectPage>,
    /// Topics to offer at the start of a session.
    pub undecided: Known<Undecided>,
}

/// The last message of a turn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TurnAnswer {
    pub tag: Option<TopicTag>,
}

impl MemoryFacts {
    pub fn topic(&self, id: i64) -> &Known<Option<TopicRecord>> {
        self.topics.iter().find(|(known, _)| *known == id).map_or(&Known::Absent, |(_, record)| record)
    }

    /// Whether a topic belongs to another project than the session. What cannot be looked up does not.
    pub fn is_foreign(&self, id: i64) -> bool {
        match (self.topic(id).value(), self.page.value()) {
            (Some(Some(record)), Some(page)) => !page.is_own_project(record.project),
            _ => false,
        }
    }

    /// The tag at the end of the turn.
    pub fn tag(&self) -> Option<&TopicTag> {
        self.answer.as_ref()?.tag.as_ref()
    }
}

/// The current topic, and those that notes are about.
pub fn topics_in_question(marks: &Marks) -> Vec<i64> {
    let (notes, memory) = (&marks.session.notes, &marks.memory);
    let left = memory.topic_left.as_ref().filter(|_| notes.contains(&Note::TopicLeft));
    let mut ids: Vec<i64> = memory.topic.iter().chain(left).map(|topic| topic.topic.id).collect();
    ids.extend(notes.iter().filter_map(|note| match note {
        Note::UnknownTopic(id) => Some(*id),
        _ => None,
    }));
    ids
}

/// The earliest possible start of the current turn: the last observed end of one.
pub fn turn_began(marks: &Marks) -> Millis {
    let ended = marks.memory.spooled.map(|spooled| spooled.at);
    ended.max(marks.session.attached).max(marks.session.began).unwrap_or_default()
}

/// The mark of a blocked stop.
pub fn held_mark(event: &Event<'_>) -> Mark {
    Mark::MemoryHeld(event.turn.as_deref().unwrap_or_default().to_owned())
}

pub fn needs(event: &Event<'_>) -> facts::Needs {
    facts::Needs { tool: event.memory_call().is_some_and(chooses_topic), ..facts::Needs::default() }
}

fn chooses_topic(tool: &str) -> bool {
    matches!(tool, "set_topic" | "add_topic")
}

/// The topic that a call of Tidegate's MCP server bound to the session.
pub fn chosen_topic(facts: &Facts<'_>) -> Option<SessionTopic> {
    let tool = facts.event.memory_call().filter(|tool| chooses_topic(tool))?;
    let answer = call::parse_chosen_topic(facts.tool_response);
    let told = match (tool, facts.event.called_topic()) {
        ("set_topic", Some(id)) => {
            let answer = answer.filter(|answer| answer.topic.id == id);
            let (topic, project) = answer.map_or_else(
                || (NamedId { id, name: String::new() }, None),
                |answer| (answer.topic, answer.project),
            );
            Some((topic, project))
        }
        // The answer names the current topic, whatever the input was.
        ("set_topic", None) => answer.map(|answer| (answer.topic, answer.project)),
        _ => answer.filter(|answer| answer.current).map(|answer| (answer.topic, answer.project)),
    };
    let (topic, project) = told?;
    Some(SessionTopic { topic, project, since: facts.now, at: facts.now })
}

/// The topic for which a call of Tidegate's MCP server recorded something by hand.
pub fn recorded_topic(event: &Event<'_>) -> Option<i64> {
    let tool = event.memory_call()?;
    matches!(tool, "add_decision" | "add_log" | "supersede_decision" | "close_topic")
        .then(|| event.called_topic())
        .flatten()
}

/// The project and topic for a tag at this moment.
pub fn tag_now(facts: &Facts<'_>) -> (NamedId, NamedId) {
    let own = |name: &str| NamedId { id: OWN, name: short_name(name) };
    let current = facts.marks.value().and_then(|marks| marks.memory.current_topic());
    let topic = current.map_or_else(|| own("this session"), |current| current.topic.clone());
    let of_topic = current.filter(|current| !current.is_own()).and_then(|current| current.project.clone());
    let known = facts.memory.page.value().map(|page| page.project.clone());
    let named = facts.memory.project.as_ref().map_or("this project", |project| project.name.as_str());
    let project = of_topic.or(known).unwrap_or_else(|| own(named));
    let short = |named: NamedId| NamedId { name: short_name(&named.name), ..named };
    let (project, topic) = (short(project), short(topic));
    let or = |named: NamedId, name: &str| {
        if named.name.is_empty() { NamedId { name: name.to_owned(), ..named } } else { named }
    };
    (or(project, "project"), or(topic, "topic"))
}

/// Whether a turn of the main thread ends here.
pub fn turn_ends(event: &Event<'_>) -> bool {
    event.kind == EventKind::Stop && event.is_main_thread()
}
