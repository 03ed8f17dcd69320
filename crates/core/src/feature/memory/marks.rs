//! What a session has left for the memory, and what it was told from it.

use serde::{Deserialize, Serialize};

use crate::event::Event;
use crate::feature::marks::{RoomMarks, SessionMark, SessionMarks};
use crate::feature::memory::catalogue::{NamedId, OWN};
use crate::time::Millis;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    /// How far the transcript was left for the worker.
    Spooled(Spooled),
    /// A call bound a topic to the session.
    TopicSet(SessionTopic),
    /// The topic of the turns.
    Topic(SessionTopic),
    /// A topic was left without a record.
    TopicLeft(SessionTopic),
    /// A stop was blocked in this turn because of a tag or a topic.
    MemoryHeld(String),
    /// Hash of the decisions named at the session's start.
    DecisionsTold(u64),
    /// Hash of the undecided topics named at the session's start.
    TopicsTold(u64),
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Marks {
    /// How far the transcript was left for the worker.
    pub spooled: Option<Spooled>,
    /// The topic that a call last bound to the session.
    pub topic_set: Option<SessionTopic>,
    /// The topic of the turns, as far as they name one.
    pub topic: Option<SessionTopic>,
    /// The last topic that was left without a record.
    pub topic_left: Option<SessionTopic>,
    /// The turn in which a stop was last blocked because of a tag or a topic.
    pub held: Option<String>,
    /// Hash of the decisions last named at the session's start.
    pub decisions_told: Option<u64>,
    /// Hash of the undecided topics last named there.
    pub topics_told: Option<u64>,
}

/// How far a transcript was left for the worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spooled {
    /// Up to this byte.
    pub to: u64,
    pub at: Millis,
    /// Relays that began up to this time must not be stored: recording was off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passed: Option<Millis>,
}

/// A present or past topic of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionTopic {
    pub topic: NamedId,
    /// `None` if it was not named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<NamedId>,
    /// It began at this time or later.
    pub since: Millis,
    /// When it was named.
    pub at: Millis,
}

impl SessionTopic {
    /// Whether it is the session's own.
    pub fn is_own(&self) -> bool {
        self.topic.id == OWN
    }
}

impl RoomMarks for Marks {
    type Mark = Mark;

    fn apply(&mut self, mark: Mark) {
        match mark {
            Mark::Spooled(spooled) => self.spooled = Some(spooled),
            Mark::TopicSet(topic) => self.topic_set = Some(topic),
            Mark::Topic(topic) => self.topic = Some(topic),
            Mark::TopicLeft(topic) => self.topic_left = Some(topic),
            Mark::MemoryHeld(turn) => self.held = Some(turn),
            Mark::DecisionsTold(which) => self.decisions_told = Some(which),
            Mark::TopicsTold(which) => self.topics_told = Some(which),
        }
    }

    fn hear(&mut self, mark: &SessionMark, session: &SessionMarks) {
        // Nothing of another file was left yet.
        if matches!(mark, SessionMark::Transcript(path) if session.transcript.as_ref() != Some(path)) {
            self.spooled = None;
        }
    }

    fn short(&self) -> Vec<Mark> {
        let mut marks = Vec::new();
        marks.extend(self.spooled.map(Mark::Spooled));
        marks.extend(self.topic_set.clone().map(Mark::TopicSet));
        marks.extend(self.topic.clone().map(Mark::Topic));
        marks.extend(self.topic_left.clone().map(Mark::TopicLeft));
        marks.extend(self.held.clone().map(Mark::MemoryHeld));
        marks.extend(self.decisions_told.map(Mark::DecisionsTold));
        marks.extend(self.topics_told.map(Mark::TopicsTold));
        marks
    }
}

impl Marks {
    /// From a tag, or from a later call.
    pub fn current_topic(&self) -> Option<&SessionTopic> {
        match (&self.topic, &self.topic_set) {
            (Some(told), Some(set)) if set.at > told.at => Some(set),
            (Some(told), _) => Some(told),
            (None, set) => set.as_ref(),
        }
    }

    /// Whether the memory blocked a stop in this turn. If the host does not identify its turns, any earlier
    /// block counts.
    pub fn held_in_turn(&self, event: &Event<'_>) -> bool {
        match event.turn.as_deref() {
            Some(turn) => self.held.as_deref() == Some(turn),
            None => event.held_before,
        }
    }
}

#[cfg(test)]
pub(in crate::feature) mod tests {
    use super::*;
    use crate::feature::marks;
    use proptest::prelude::*;

    pub(in crate::feature) fn mark() -> impl Strategy<Value = Mark> {
        prop_oneof![
            (0u64..1 << 40, 0u64..1 << 40).prop_map(|(to, at)| Mark::Spooled(Spooled {
                to,
                at: Millis(at),
                passed: (at % 3 == 0).then_some(Millis(at))
            })),
            topic().prop_map(Mark::TopicSet),
            topic().prop_map(Mark::Topic),
            topic().prop_map(Mark::TopicLeft),
            "[0-9a-f-]{36}".prop_map(Mark::MemoryHeld),
            any::<u64>().prop_map(Mark::DecisionsTold),
            any::<u64>().prop_map(Mark::TopicsTold),
        ]
    }

    fn topic() -> impl Strategy<Value = SessionTopic> {
        let named = || (0i64..1 << 40, "[a-z設計]{0,60}").prop_map(|(id, name)| NamedId { id, name });
        let times = (0u64..1 << 40, 0u64..1 << 40);
        (named(), proptest::option::of(named()), times).prop_map(|(topic, project, (since, at))| {
            SessionTopic { topic, project, since: Millis(since), at: Millis(at) }
        })
    }

    #[test]
    fn another_transcript_was_not_left_yet() {
        let spooled = Spooled { to: 9, at: Millis(1), passed: None };
        let spooled_after = |path: &str| {
            let mut all = marks::Marks::default();
            all.apply(SessionMark::Transcript("/a".into()));
            all.apply(Mark::Spooled(spooled));
            all.apply(SessionMark::Transcript(path.into()));
            all.memory.spooled
        };
        assert_eq!(spooled_after("/a"), Some(spooled));
        assert_eq!(spooled_after("/b"), None);
    }
}
