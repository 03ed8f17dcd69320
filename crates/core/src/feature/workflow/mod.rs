//! Workflows: phases with a manifest on disk, and gates between some of them.
//!
//! What a workflow is comes from the config ([`definition`]), where one stands from its manifest ([`manifest`], which is read and
//! changed as text: [`yaml`]). What a gate wants is checked ([`check`]) and reported ([`report`]).

pub mod check;
pub mod definition;
pub mod effect;
pub mod manifest;
pub mod marks;
pub mod policy;
pub mod report;
pub mod settings;
pub mod standing;
pub mod words;

pub use definition::{Gate, Phase, Workflow};
pub use manifest::{Damage, Manifest};

use serde::{Deserialize, Serialize};

use crate::event::Event;
use crate::feature::Feature;
use crate::feature::facts::Known;
use crate::feature::marks::Marks;
use crate::text::fnv;
use crate::time::Millis;

/// What this room adds to the aggregates.
pub struct Room;

impl Feature for Room {
    type Needs = bool;
    type Facts = Known<standing::Standing>;
    type Effect = effect::Effect;

    /// A gate decides whether an agent is spawned, and the reading it rests on may be worth a wait.
    fn deserves_time(event: &Event<'_>, marks: &Marks) -> bool {
        event.spawned_agent().is_some() && marks.workflow.attached.is_some()
    }
}

/// The workflow that is there without any config.
pub const BUILT_IN: &str = "feature";

/// So many phases of a session are remembered; gates look back a few.
const SEEN_KEPT: usize = 16;

/// So many agents that failed are remembered.
const FAILED_KEPT: usize = 8;

/// A workflow as the marks of its session know it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Attached {
    /// The project that it was begun in, by its root: the session may stand in another worktree by now.
    pub project: String,
    /// Its manifest, below the project's root, or by its whole path elsewhere.
    pub manifest: String,
    /// Which workflow.
    pub workflow: String,
    /// How many phases it has.
    pub of: usize,
    /// The name of the phase under way.
    pub name: String,
    /// Phases that were seen, the one under way last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub seen: Vec<SeenPhase>,
    /// Agents that failed, by what they were to do.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<u64>,
}

/// A phase as it was seen in a manifest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SeenPhase {
    /// Its number.
    pub number: usize,
    /// When it began, if that was seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub began: Option<Millis>,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<Millis>,
    /// The level of context use at its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<u8>,
    /// The skill that persists progress was invoked since it began.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub skill: bool,
    /// At its end a compaction was asked for, although no gate lies there.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub asked: bool,
}

/// A phase begins, as a manifest shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseBegan {
    /// Its number.
    pub number: usize,
    /// Its name.
    pub name: String,
    /// When: not where it was under way before anybody looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Millis>,
    /// The level of context use then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<u8>,
    /// A compaction is asked for, although no gate lies before it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub asked: bool,
}

impl Attached {
    /// The phase under way.
    pub fn current(&self) -> Option<&SeenPhase> {
        self.seen.last()
    }

    /// What was seen of a phase.
    pub fn seen(&self, number: usize) -> Option<&SeenPhase> {
        self.seen.iter().find(|seen| seen.number == number)
    }

    /// A phase begins.
    pub fn begin(&mut self, new: &PhaseBegan) {
        if let Some(last) = self.seen.last_mut().filter(|last| last.number != new.number) {
            (last.ended, last.level, last.asked) = (new.at, new.level, new.asked);
        }
        self.name.clone_from(&new.name);
        if self.seen.last().is_some_and(|last| last.number == new.number) {
            return;
        }
        self.seen.retain(|seen| seen.number != new.number);
        self.seen.push(SeenPhase { number: new.number, began: new.at, ..SeenPhase::default() });
        if self.seen.len() > SEEN_KEPT {
            self.seen.remove(0);
        }
    }

    /// An agent failed.
    pub fn fail(&mut self, work: u64) {
        self.failed.retain(|known| *known != work);
        self.failed.push(work);
        if self.failed.len() > FAILED_KEPT {
            self.failed.remove(0);
        }
    }

    /// What must not be lost of it.
    pub fn key_fact(&self) -> String {
        let Attached { manifest, workflow, of, name, .. } = self;
        let phase = match self.current() {
            Some(current) => {
                format!("phase {} of {of} ({name}) of the workflow {workflow} is under way", current.number)
            }
            None => format!("the workflow {workflow} is under way"),
        };
        format!("{phase}; its manifest {manifest} holds what each phase came to")
    }
}

/// What an agent is to do, so that it is known again.
pub fn work_id(description: &str, kind: &str) -> u64 {
    fnv::hash(description.bytes().chain([0]).chain(kind.bytes()))
}
