//! Topic decision: a topic is not left without a record, and undecided topics are named at the start of a
//! session.
//!
//! The rules, case by case, are in `topic_decision.md`. The catalogue shows which topics have records; if it
//! cannot be read, nothing is blocked.

mod startup;

use crate::event::{Event, EventKind};
use crate::feature::config::Config;
use crate::feature::facts::{Facts, Known, Needs};
use crate::feature::marks::{Marks, Note, SessionMark};
use crate::feature::memory::catalogue::{NamedId, OWN, TopicRecord};
use crate::feature::memory::facts as own;
use crate::feature::memory::facts::{held_mark, turn_began, turn_ends};
use crate::feature::memory::marks::{Mark, SessionTopic};
use crate::feature::memory::short_name::short_name;
use crate::feature::memory::words;
use crate::feature::verdict::{Asks, Audience, Call, Effect, Say, Verdict};
use crate::feature::{Mode, Policy};
use crate::settings::section::section;
use crate::settings::setting::choices;
use crate::time::Millis;

section! {
    /// Section `[topic_decision]`.
    Settings "topic_decision" {
        /// When a topic is left without a record: tell the model at the next prompt (`note`), block the stop once (`block`), or do nothing (`off`). With `off` the start of a session names no topics either.
        mode: TopicMode = TopicMode::Note, Tightens;
    }
    presets {
        mode: TopicMode::Off, TopicMode::Block;
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TopicMode {
    Off,
    /// Tells the model.
    Note,
    /// Blocks the stop.
    Block,
}

choices!(TopicMode { "off" => TopicMode::Off, "note" => TopicMode::Note, "block" => TopicMode::Block });

pub const ID: &str = "topic-decision";

pub struct TopicDecision;

impl Policy for TopicDecision {
    fn id(&self) -> &'static str {
        ID
    }

    fn mode(&self, config: &Config) -> Mode {
        match config.policies.topic_decision.mode {
            TopicMode::Note | TopicMode::Block => Mode::Live,
            TopicMode::Off => Mode::Off,
        }
    }

    fn needs(&self, event: &Event<'_>, marks: Option<&Marks>) -> Option<Needs> {
        let waits = || marks.is_some_and(|marks| marks.session.notes.iter().copied().any(is_topic_note));
        let topics = own::Needs { topics: true, ..own::Needs::default() };
        match event.kind {
            _ if !event.is_main_thread() => None,
            EventKind::Stop => {
                let memory = own::Needs { page: true, ..topics };
                Some(Needs { memory, ..Needs::default() })
            }
            EventKind::SessionStart => {
                let memory = own::Needs { page: true, undecided: true, ..own::Needs::default() };
                Some(Needs { memory, ..Needs::default() })
            }
            EventKind::UserPromptSubmit if event.is_human_prompt() && waits() => {
                Some(Needs { memory: topics, ..Needs::default() })
            }
            _ => None,
        }
    }

    fn decide(&self, facts: &Facts<'_>, config: &Config) -> Verdict {
        if !facts.person.may_be_there() {
            return Verdict::silent("the session is unattended");
        }
        if facts.event.kind == EventKind::SessionStart {
            return startup::tell(facts, config);
        }
        let marks = match &facts.marks {
            Known::Value(marks) => marks,
            Known::Absent | Known::Broken(_) => return Verdict::silent("the session's state cannot be read"),
        };
        if turn_ends(facts.event) { judge_turn(facts, config, marks) } else { deliver_notes(facts, marks) }
    }
}

fn is_topic_note(note: Note) -> bool {
    matches!(note, Note::TopicLeft | Note::UnknownTopic(_))
}

/// The topic that a turn names.
enum TurnTopic {
    Nothing,
    Topic(SessionTopic),
    /// It does not exist.
    Unknown(i64),
    /// It belongs to another project.
    Foreign,
    /// It cannot be looked up.
    Unreadable,
}

/// From the turn's tag, else from a call since the last turn.
fn topic_of_turn(facts: &Facts<'_>, marks: &Marks) -> TurnTopic {
    let topic = |topic: NamedId, project: Option<NamedId>| {
        let topic = NamedId { name: short_name(&topic.name), ..topic };
        let project = project.map(|project| NamedId { name: short_name(&project.name), ..project });
        TurnTopic::Topic(SessionTopic { topic, project, since: turn_began(marks), at: facts.now })
    };
    if let Some(tag) = facts.memory.tag() {
        return match facts.memory.topic(tag.topic.id) {
            _ if tag.topic.id == OWN => topic(tag.topic.clone(), tag.project.clone()),
            _ if facts.memory.is_foreign(tag.topic.id) => TurnTopic::Foreign,
            Known::Value(Some(_)) => topic(tag.topic.clone(), tag.project.clone()),
            Known::Value(None) => TurnTopic::Unknown(tag.topic.id),
            Known::Absent | Known::Broken(_) => TurnTopic::Unreadable,
        };
    }
    let since = marks.memory.topic.as_ref().map(|topic| topic.at);
    match &marks.memory.topic_set {
        Some(set) if since.is_none_or(|since| set.at > since) => {
            topic(set.topic.clone(), set.project.clone())
        }
        _ => TurnTopic::Nothing,
    }
}

fn judge_turn(facts: &Facts<'_>, config: &Config, marks: &Marks) -> Verdict {
    let now = match topic_of_turn(facts, marks) {
        TurnTopic::Topic(now) => now,
        TurnTopic::Nothing => return Verdict::silent("the turn names no topic"),
        TurnTopic::Foreign => return Verdict::silent("the tag names a topic of another project"),
        TurnTopic::Unreadable => return Verdict::silent("the list of topics cannot be read"),
        TurnTopic::Unknown(id) => return note_unknown(marks, id),
    };
    let moved = |because| Verdict {
        effects: vec![Effect::mark(Mark::Topic(now.clone()))],
        ..Verdict::silent(because)
    };
    let Some(before) = &marks.memory.topic else { return moved("the session's first topic") };
    if before.topic.id == now.topic.id {
        return Verdict::silent("the same topic");
    }
    if before.is_own() {
        return moved("the session's own topic is exempt");
    }
    match facts.memory.topic(before.topic.id) {
        _ if facts.memory.is_foreign(before.topic.id) => {
            return moved("the topic belongs to another project");
        }
        Known::Value(Some(record)) => {
            if let Some(because) = leave_reason(record, before.since) {
                return moved(because);
            }
        }
        Known::Value(None) => return moved("the topic is gone"),
        Known::Absent | Known::Broken(_) => return moved("the list of topics cannot be read"),
    }
    let mode = config.policies.topic_decision.mode;
    let held_by_us = marks.memory.held_in_turn(facts.event);
    if mode == TopicMode::Block && !held_by_us && !config.stepped_down(ID) {
        return block_stop(facts, marks, before, &now);
    }
    let was_told = held_by_us && marks.session.noticed(&hold_notice(before));
    if was_told {
        return moved("blocked once in this turn");
    }
    Verdict {
        effects: vec![
            Effect::mark(Mark::Topic(now.clone())),
            Effect::mark(Mark::TopicLeft(before.clone())),
            Effect::mark(SessionMark::Note(Note::TopicLeft)),
        ],
        ..Verdict::silent("nothing is recorded for the topic that was left")
    }
}

/// Remembers the topic of a blocked stop, so that it is not told a second time.
fn hold_notice(topic: &SessionTopic) -> String {
    format!("topic {} since {}", topic.topic.id, topic.since.0)
}

/// The reason why a topic may be left without another record.
fn leave_reason(record: &TopicRecord, since: Millis) -> Option<&'static str> {
    if record.automatic {
        Some("a session's own topic is exempt")
    } else if record.closed {
        Some("the topic is closed")
    } else if record.recorded.is_some_and(|recorded| recorded >= since) {
        Some("something is recorded for the topic that was left")
    } else {
        None
    }
}

fn quote_topic(topic: &NamedId) -> String {
    match topic.name.as_str() {
        "" => format!("with id {}", topic.id),
        name => format!("\"{}\" (id {})", short_name(name), topic.id),
    }
}

fn block_stop(facts: &Facts<'_>, marks: &Marks, before: &SessionTopic, now: &SessionTopic) -> Verdict {
    let (left, id) = (quote_topic(&before.topic), before.topic.id);
    let next = if now.is_own() { "the session's own topic".to_owned() } else { quote_topic(&now.topic) };
    let reason = format!(
        "Record a decision or a log for the topic {left} with add_decision or add_log and topic_id {id}, or end it with \
         close_topic if nothing is worth keeping. The conversation moved on to {next}, and the topic has no record from this session."
    );
    let said = hold_notice(before);
    let mut verdict = Verdict {
        call: Call::Deny,
        reason: Some(reason),
        because: "nothing is recorded for the topic that was left",
        effects: vec![Effect::mark(held_mark(facts.event)), Effect::mark(SessionMark::Notice(said))],
        asks: Asks::topic(id),
        ..Verdict::pass()
    };
    if !marks.session.noticed(ID) {
        verdict.says.push(Say {
            to: Audience::User,
            text: words::topic_undecided(facts.lang, &left),
            weight: 40,
            explains: true,
            when_said: vec![Effect::mark(SessionMark::Notice(ID.to_owned()))],
        });
    }
    verdict
}

/// A tag with an id that does not exist is told once.
fn note_unknown(marks: &Marks, id: i64) -> Verdict {
    let notice = format!("unknown topic {id}");
    let because = "the tag names a topic that does not exist";
    if marks.session.noticed(&notice) {
        return Verdict::silent(because);
    }
    let effects = vec![
        Effect::mark(SessionMark::Note(Note::UnknownTopic(id))),
        Effect::mark(SessionMark::Notice(notice)),
    ];
    Verdict { effects, ..Verdict::silent(because) }
}

/// Delivers waiting notes that are still true.
fn deliver_notes(facts: &Facts<'_>, marks: &Marks) -> Verdict {
    let mut verdict = Verdict::silent("the waiting note is no longer true");
    for note in marks.session.notes.iter().copied().filter(|note| is_topic_note(*note)) {
        let given = Effect::mark(SessionMark::NoteGiven(note));
        let text = match note {
            Note::UnknownTopic(id) => still_unknown(facts, marks, id),
            _ => still_left(facts, marks).map(|(id, text)| {
                verdict.asks = Asks::topic(id);
                text
            }),
        };
        match text {
            None => verdict.effects.push(given),
            Some(text) => {
                verdict.because = "a note waited";
                let when_said = vec![given];
                verdict.says.push(Say { to: Audience::Model, text, weight: 35, explains: false, when_said });
            }
        }
    }
    verdict
}

fn still_left(facts: &Facts<'_>, marks: &Marks) -> Option<(i64, String)> {
    let left = marks.memory.topic_left.as_ref()?;
    let record = facts.memory.topic(left.topic.id).value()?.as_ref()?;
    // The session has returned to the topic.
    let back = marks.memory.current_topic().is_some_and(|now| now.topic.id == left.topic.id);
    if back || leave_reason(record, left.since).is_some() {
        return None;
    }
    let (topic, id) = (quote_topic(&left.topic), left.topic.id);
    let text = format!(
        "Record a decision or a log for the topic {topic} with add_decision or add_log and topic_id {id}, or end it with \
         close_topic if nothing is worth keeping. The conversation left it without a record."
    );
    Some((id, text))
}

fn still_unknown(facts: &Facts<'_>, marks: &Marks, id: i64) -> Option<String> {
    if !matches!(facts.memory.topic(id), Known::Value(None)) {
        return None;
    }
    let used = match &marks.memory.topic_set {
        Some(set) => format!("the topic {}", quote_topic(&set.topic)),
        None => "the session's own topic".to_owned(),
    };
    Some(format!(
        "Use a topic id from list_topics in meta tags, or 0 for the session's own topic: id {id} does not exist, so Tidegate filed \
         that answer under {used}."
    ))
}
