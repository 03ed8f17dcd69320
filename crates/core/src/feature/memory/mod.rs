//! The memory of conversations: the part that needs no store.
//!
//! A hook leaves a [`job`] and reads the [`catalogue`]; both are small files. The store and its search are
//! in the crate `memory`, which no hook is linked against.
//!
//! A job names the bytes of the transcript that no earlier job covers; one look at the file's length is
//! enough for that. It is written before its mark and before the answer. If something fails in between, the
//! next turn covers the same bytes again, and the worker recognises a relay by the id of its prompt. If
//! recording is off, the mark moves without a job: the conversation of that time stays unrecorded after
//! recording is switched on again.
//!
//! Every change of the store rewrites the part of the catalogue that it affects. A topic costs one `pread`.
//! An unreadable catalogue blocks nothing. A session's topic is bound at PostToolUse of Tidegate's own MCP
//! tools ([`call`]), because only a hook knows the true session. Names from a store, a tag or a team become
//! one short line before a model sees them ([`short_name`]). The memory blocks a stop at most once per turn,
//! for a tag or for a topic.

pub mod answer;
pub mod automatic;
pub mod call;
pub mod catalogue;
pub mod choice;
pub mod effect;
pub mod job;
pub mod marks;
pub mod meta_tag;
pub mod facts;
pub mod relay;
pub mod relay_log;
pub mod said;
pub mod settings;
pub mod short_name;
pub mod summary;
pub mod tag;
pub mod topic_decision;
mod words;

use crate::event::Event;
use crate::feature::Feature;
use crate::feature::config::Config;
use crate::feature::facts::{Facts, Needs};
use crate::feature::marks::{Mark, Marks};

pub struct Room;

impl Feature for Room {
    type Needs = facts::Needs;
    type Facts = facts::MemoryFacts;
    type Effect = effect::Effect;

    fn needs(event: &Event<'_>, _: Option<&Marks>, config: &Config) -> Needs {
        facts::needs(event).and(relay_log::needs_for_skipping(event, config))
    }

    fn observe(facts: &Facts<'_>, config: &Config) -> Vec<Mark> {
        if !facts.event.is_main_thread() {
            return Vec::new();
        }
        relay_log::marks(facts, config).into_iter().map(Mark::from).collect()
    }
}
