//! Knowledge in files: flow, stock, and the facts in them that a compaction must not lose. Text in, values
//! and new text out.

pub mod differences;
pub mod boundary;
pub mod compaction;
pub mod compound_nudge;
pub mod document;
pub mod effect;
pub mod entry_id;
pub mod facts;
pub mod flow;
pub mod handoff;
pub mod key_facts;
pub mod marks;
pub mod plan;
pub mod preserved;
pub mod similarity;
pub mod stock;
pub mod survival;
mod terms;
pub mod timestamp;
pub mod tracked;
pub mod words;

use crate::event::Event;
use crate::feature::Feature;
use crate::feature::marks::{Marks, Note};

pub struct Room;

impl Feature for Room {
    type Needs = facts::Needs;
    type Facts = facts::Facts;
    type Effect = effect::Effect;

    /// Lost facts are told once, and the messages kept next to the summary must be read first.
    fn deserves_time(_: &Event<'_>, marks: &Marks) -> bool {
        marks.session.notes.contains(&Note::Lost)
    }
}
