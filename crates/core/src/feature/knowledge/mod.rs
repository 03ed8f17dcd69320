//! Knowledge in files: flow, stock, and the facts in them that a compaction must not lose. Text in, values
//! and new text out.
//!
//! People and models write these files (`.claude/context/`), too. So every change is a splice that leaves
//! the rest to the byte, and an entry is named by a hash of its text ([`entry_id`]), not by its place or
//! time. Policies ask for the files only in view of other facts (`needs_more`): a tool call that changes
//! nothing opens none of them.
//!
//! One compaction is a chain of events, and each hook is a process that knows nothing of the others:
//!
//! ```text
//! PreCompact ─► key facts ─► sessions/<id>/boundaries ────┬─► SessionStart(compact): what happened, names of files; trim
//!      │                                                  ├─► PostCompact: summary against facts ─► survival, note
//!      └─► instructions for the summary                   └─► next prompt or tool call: kept messages count; note is given
//! ```
//!
//! - PreCompact also comes if no compaction follows, or several times for one boundary. The last one counts,
//!   and nothing is trimmed or said before SessionStart confirms the compaction.
//! - The client writes the boundary into its transcript after PostCompact. The messages that it kept whole
//!   are known only at the next event. Until then a lost fact waits as a note, and it is looked for in those
//!   messages once more.
//! - Reviewed entries and nudges belong to the project (`projects/<project>/knowledge`), not to a session: a
//!   second terminal does not ask again.
//! - A compaction loses the person's own words first, because no file has them. Sentences of a prompt that limit the work
//!   ([`constraint`]) are marks of the session, until a later prompt takes them back.
//! - A handoff's first line holds a hash of the rest ([`handoff`]), so a person's changes are noticed, and
//!   their version is kept under a second name. Work in steps adds its `Steps` to it.

pub mod differences;
pub mod boundary;
pub mod compaction;
pub mod compound_nudge;
pub mod conflict;
pub mod constraint;
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
mod stated;
pub mod stock;
pub mod survival;
mod terms;
pub mod timestamp;
pub mod tracked;
pub mod words;

use crate::event::Event;
use crate::feature::Feature;
use crate::feature::config::Config;
use crate::feature::facts::Facts;
use crate::feature::knowledge::compaction::CompactionMode;
use crate::feature::knowledge::constraint::OwnWords;
use crate::feature::marks::{Mark as AnyMark, Marks, Note};

pub struct Room;

impl Feature for Room {
    type Needs = facts::Needs;
    type Facts = facts::Facts;
    type Effect = effect::Effect;

    fn observe(facts: &Facts<'_>, config: &Config) -> Vec<AnyMark> {
        let Some(prompt) = stated::prompt(facts) else { return Vec::new() };
        let own = OwnWords::of(&prompt);
        // A cycle asks for them, whether or not a compaction is looked after.
        let reserved = stated::reserved(facts, config, &prompt, &own).map(AnyMark::from);
        if config.policies.compaction.mode == CompactionMode::Off {
            return reserved.into_iter().collect();
        }
        stated::changes(facts, &prompt, &own).into_iter().map(AnyMark::from).chain(reserved).collect()
    }

    /// Lost facts are told once, and the messages kept next to the summary must be read first.
    fn deserves_time(_: &Event<'_>, marks: &Marks) -> bool {
        marks.session.notes.contains(&Note::Lost)
    }
}
