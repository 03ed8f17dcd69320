//! What a hook knows of the store, and what a turn says about itself.

use serde::{Deserialize, Serialize};

use crate::event::{Event, EventKind};
use crate::feature::facts::{Facts, Known, Needs};
use crate::feature::marks::{Mark, Marks, Note};
use crate::feature::memory::call;
use crate::feature::memory::catalogue::{Named, OWN, ProjectPage, TopicRecord, Undecided};
use crate::feature::memory::job::ProjectOf;
use crate::feature::memory::shown::shown;
use crate::feature::memory::tag::MetaTag;
use crate::time::Millis;

/// Facts about what is remembered. Each is there only where somebody asked for it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Remembered {
    /// The length of the session's transcript; `None` where there is none.
    pub length: Option<u64>,
    /// The project that the session's relays belong to unless somebody says otherwise.
    pub project: Option<ProjectOf>,
    /// What the turn that ends here says last; `None` where that is not known.
    pub answer: Option<Answer>,
    /// What the catalogue says of the topics that this event is about, by id.
    pub topics: Vec<(i64, Known<Option<TopicRecord>>)>,
    /// What it says of the project.
    pub page: Known<ProjectPage>,
    /// What it says a session may be offered.
    pub undecided: Known<Undecided>,
}

/// The last message of a turn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// Its tag.
    pub tag: Option<MetaTag>,
}

impl Remembered {
    /// What the catalogue says of a topic.
    pub fn topic(&self, id: i64) -> &Known<Option<TopicRecord>> {
        self.topics.iter().find(|(known, _)| *known == id).map_or(&Known::Absent, |(_, record)| record)
    }

    /// The tag at the end of the turn.
    pub fn tag(&self) -> Option<&MetaTag> {
        self.answer.as_ref()?.tag.as_ref()
    }
}

/// How far a transcript was left for the worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spooled {
    /// Up to this byte.
    pub to: u64,
    /// When.
    pub at: Millis,
    /// What began up to this time and is not stored is not to be: nothing was recorded then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passed: Option<Millis>,
}

/// A topic that a session is or was about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TopicOf {
    /// The topic.
    pub topic: Named,
    /// Its project, where that was told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<Named>,
    /// Not earlier than this it began.
    pub since: Millis,
    /// When it was told.
    pub at: Millis,
}

impl TopicOf {
    /// Whether it is the session's own.
    pub fn is_own(&self) -> bool {
        self.topic.id == OWN
    }
}

impl Marks {
    /// What the session is about as far as somebody said: a tag, or a call that came after it.
    pub fn current_topic(&self) -> Option<&TopicOf> {
        match (&self.topic, &self.topic_set) {
            (Some(told), Some(set)) if set.at > told.at => Some(set),
            (Some(told), _) => Some(told),
            (None, set) => set.as_ref(),
        }
    }

    /// The topics that it may matter to look up: the present one, and those that notes are about.
    pub fn topics_in_question(&self) -> Vec<i64> {
        let left = self.topic_left.as_ref().filter(|_| self.notes.contains(&Note::TopicLeft));
        let mut ids: Vec<i64> = self.topic.iter().chain(left).map(|topic| topic.topic.id).collect();
        ids.extend(self.notes.iter().filter_map(|note| match note {
            Note::UnknownTopic(id) => Some(*id),
            _ => None,
        }));
        ids
    }

    /// When the turn that is under way cannot have begun earlier: the end of the last one, as far as we saw it.
    pub fn turn_began(&self) -> Millis {
        let ended = self.spooled.map(|spooled| spooled.at);
        ended.max(self.attached).max(self.began).unwrap_or_default()
    }

    /// Whether a stop was held for the memory's sake in this turn. Where the host does not name its turns, whoever held the
    /// stop before may have been us.
    pub fn memory_holds(&self, event: &Event<'_>) -> bool {
        match event.turn.as_deref() {
            Some(turn) => self.memory_held.as_deref() == Some(turn),
            None => event.held_before,
        }
    }
}

/// The mark of a stop that is held.
pub fn held(event: &Event<'_>) -> Mark {
    Mark::MemoryHeld(event.turn.as_deref().unwrap_or_default().to_owned())
}

/// What has to be known to tell which topic a call has chosen.
pub fn needs(event: &Event<'_>) -> Needs {
    Needs { tool: event.memory_call().is_some_and(chooses), ..Needs::default() }
}

fn chooses(tool: &str) -> bool {
    matches!(tool, "set_topic" | "add_topic")
}

/// The topic that a call of our MCP server has bound to the session.
pub fn chosen(facts: &Facts<'_>) -> Option<TopicOf> {
    let tool = facts.event.memory_call().filter(|tool| chooses(tool))?;
    let answer = call::chosen(facts.tool_response);
    let told = match (tool, facts.event.called_topic()) {
        ("set_topic", Some(id)) => {
            let answer = answer.filter(|answer| answer.topic.id == id);
            let (topic, project) = answer.map_or_else(
                || (Named { id, name: String::new() }, None),
                |answer| (answer.topic, answer.project),
            );
            Some((topic, project))
        }
        // A tool that says what became current has said it, whatever it was given.
        ("set_topic", None) => answer.map(|answer| (answer.topic, answer.project)),
        _ => answer.filter(|answer| answer.current).map(|answer| (answer.topic, answer.project)),
    };
    let (topic, project) = told?;
    Some(TopicOf { topic, project, since: facts.now, at: facts.now })
}

/// The topic for which a call of our MCP server has recorded something by hand.
pub fn recorded(event: &Event<'_>) -> Option<i64> {
    let tool = event.memory_call()?;
    matches!(tool, "add_decision" | "add_log" | "supersede_decision" | "close_topic")
        .then(|| event.called_topic())
        .flatten()
}

/// The project and topic that a tag would name now.
pub fn tag_now(facts: &Facts<'_>) -> (Named, Named) {
    let own = |name: &str| Named { id: OWN, name: shown(name) };
    let current = facts.marks.value().and_then(Marks::current_topic);
    let topic = current.map_or_else(|| own("this session"), |current| current.topic.clone());
    let of_topic = current.filter(|current| !current.is_own()).and_then(|current| current.project.clone());
    let known = facts.memory.page.value().map(|page| page.project.clone());
    let named = facts.memory.project.as_ref().map_or("this project", |project| project.name.as_str());
    let project = of_topic.or(known).unwrap_or_else(|| own(named));
    let short = |named: Named| Named { name: shown(&named.name), ..named };
    let (project, topic) = (short(project), short(topic));
    let or = |named: Named, name: &str| {
        if named.name.is_empty() { Named { name: name.to_owned(), ..named } } else { named }
    };
    (or(project, "project"), or(topic, "topic"))
}

/// Whether a turn of the main thread ends here.
pub fn turn_ends(event: &Event<'_>) -> bool {
    event.kind == EventKind::Stop && event.main_thread()
}
