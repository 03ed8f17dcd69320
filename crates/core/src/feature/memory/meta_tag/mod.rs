//! Meta tag: each answer names its project and topic.
//!
//! The rules, case by case, are in `meta_tag.md`. Only `strict` asks for it; elsewhere topics are found
//! without it.

use crate::event::{Event, EventKind};
use crate::feature::config::Config;
use crate::feature::facts::{Facts, Known, Needs};
use crate::feature::marks::{Marks, SessionMark};
use crate::feature::memory::facts as own;
use crate::feature::memory::facts::{TurnAnswer, held_mark, tag_now, turn_ends};
use crate::feature::memory::tag as meta_tag;
use crate::feature::memory::words;
use crate::feature::verdict::{Asks, Audience, Call, Effect, Say, Verdict};
use crate::feature::{Mode, Policy};
use crate::settings::section::section;
use crate::settings::setting::choices;

section! {
    /// Section `[meta_tag]`.
    Settings "meta_tag" {
        /// Block an answer without a meta tag once per turn (`block`), or ask for none (`off`).
        mode: TagMode = TagMode::Off, Tightens;
    }
    presets {
        mode: TagMode::Off, TagMode::Block;
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TagMode {
    Off,
    /// Blocks the stop.
    Block,
}

choices!(TagMode { "off" => TagMode::Off, "block" => TagMode::Block });

pub const ID: &str = "meta-tag";

pub struct MetaTag;

impl Policy for MetaTag {
    fn id(&self) -> &'static str {
        ID
    }

    fn mode(&self, config: &Config) -> Mode {
        match config.policies.meta_tag.mode {
            TagMode::Block => Mode::Live,
            TagMode::Off => Mode::Off,
        }
    }

    fn needs(&self, event: &Event<'_>, _: Option<&Marks>) -> Option<Needs> {
        let ends = turn_ends(event);
        let starts = event.kind == EventKind::SessionStart && event.is_main_thread();
        let memory = own::Needs { topics: ends, page: true, ..own::Needs::default() };
        (ends || starts).then_some(Needs { memory, ..Needs::default() })
    }

    /// The names in a tag were made neutral before.
    fn speaks_markup(&self) -> bool {
        true
    }

    fn decide(&self, facts: &Facts<'_>, config: &Config) -> Verdict {
        if !facts.person.may_be_there() {
            return Verdict::silent("the session is unattended");
        }
        if config.stepped_down(ID) {
            return Verdict::silent("stepped down: topics are found without it");
        }
        if facts.event.kind == EventKind::SessionStart {
            return Verdict {
                says: vec![Say {
                    to: Audience::Model,
                    text: tag_reminder(facts),
                    weight: 75,
                    explains: false,
                    when_said: Vec::new(),
                }],
                ..Verdict::silent("the tag as it would be now")
            };
        }
        let marks = match &facts.marks {
            Known::Value(marks) => marks,
            // Unknown whether it was asked for in this turn.
            Known::Absent | Known::Broken(_) => return Verdict::silent("the session's state cannot be read"),
        };
        match &facts.memory.answer {
            None => return Verdict::silent("the answer is not known"),
            Some(TurnAnswer { tag: Some(tag) }) if !facts.memory.is_foreign(tag.topic.id) => {
                return Verdict::silent("the answer has its tag");
            }
            Some(_) => {}
        }
        if marks.memory.held_in_turn(facts.event) {
            return Verdict::silent("blocked once in this turn");
        }
        block_stop(facts, marks)
    }
}

fn block_stop(facts: &Facts<'_>, marks: &Marks) -> Verdict {
    let (project, topic) = tag_now(facts);
    let tag = meta_tag::render(&project, &topic);
    let (why, because) = match facts.memory.tag() {
        Some(foreign) => (
            format!("Topic {} of the last tag belongs to another project.", foreign.topic.id),
            "the tag names a topic of another project",
        ),
        None => ("The last message has no meta tag.".to_owned(), "the answer has no tag"),
    };
    let reason = format!(
        "End the answer with this meta tag, outside of code:\n{tag}\n{why} These ids are the current ones: 0 is \
         the project that the session runs in, or the session's own topic. Choose another topic with set_topic or add_topic; \
         list_topics has the ids."
    );
    let mut verdict = Verdict {
        call: Call::Deny,
        reason: Some(reason),
        because,
        effects: vec![Effect::mark(held_mark(facts.event))],
        asks: Asks::tag(),
        ..Verdict::pass()
    };
    if !marks.session.noticed(ID) {
        verdict.says.push(Say {
            to: Audience::User,
            text: words::tag_missing(facts.lang),
            weight: 40,
            explains: true,
            when_said: vec![Effect::mark(SessionMark::Notice(ID.to_owned()))],
        });
    }
    verdict
}

/// For the start of a session.
fn tag_reminder(facts: &Facts<'_>) -> String {
    let (project, topic) = tag_now(facts);
    format!(
        "End each answer with a meta tag, outside of code, that names its project and topic. With the current ids:\n{}\nId 0 is \
         the project that the session runs in, or the session's own topic.",
        meta_tag::render(&project, &topic)
    )
}
