//! The workflow that a session is in.

use serde::{Deserialize, Serialize};

use crate::feature::marks::{RoomMarks, SessionMark, SessionMarks};
use crate::feature::workflow::check::SKILL;
use crate::feature::workflow::{Attached, PhaseBegan};

/// One mark, as it is written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    /// The workflow that this session is in, as it is.
    Workflow(Box<Attached>),
    /// A phase of it begins.
    PhaseBegan(PhaseBegan),
    /// A compaction that was asked for at the end of this phase stands in the manifest.
    CompactionNoted(usize),
    /// An agent failed: what it was to do.
    AgentFailed(u64),
    /// It was said how the same work is given to an agent again.
    AgentRetried(u64),
    /// The session is in no workflow any more.
    WorkflowLeft,
}

/// The marks, folded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Marks {
    /// The workflow that the session is in.
    pub attached: Option<Attached>,
}

impl RoomMarks for Marks {
    type Mark = Mark;

    fn apply(&mut self, mark: Mark) {
        match mark {
            Mark::Workflow(workflow) => self.attached = Some(*workflow),
            Mark::PhaseBegan(new) => self.change(|workflow| workflow.begin(&new)),
            Mark::CompactionNoted(number) => self.change(|workflow| {
                let noted = workflow.seen.iter_mut().filter(|seen| seen.number == number);
                noted.for_each(|seen| seen.asked = false);
            }),
            Mark::AgentFailed(work) => self.change(|workflow| workflow.fail(work)),
            Mark::AgentRetried(work) => {
                self.change(|workflow| workflow.failed.retain(|known| *known != work));
            }
            Mark::WorkflowLeft => self.attached = None,
        }
    }

    fn hear(&mut self, mark: &SessionMark, _: &SessionMarks) {
        if mark.invokes(SKILL) {
            self.change(|workflow| workflow.seen.iter_mut().for_each(|seen| seen.skill = true));
        }
    }

    fn short(&self) -> Vec<Mark> {
        self.attached.clone().map(|workflow| Mark::Workflow(Box::new(workflow))).into_iter().collect()
    }
}

impl Marks {
    /// What must not be lost of it.
    pub fn key_fact(&self) -> Option<String> {
        self.attached.as_ref().map(Attached::key_fact)
    }

    fn change(&mut self, how: impl FnOnce(&mut Attached)) {
        if let Some(workflow) = &mut self.attached {
            how(workflow);
        }
    }
}

#[cfg(test)]
pub(in crate::feature) mod tests {
    use super::*;
    use crate::feature::workflow::SeenPhase;
    use crate::time::Millis;
    use proptest::prelude::*;

    pub(in crate::feature) fn mark() -> impl Strategy<Value = Mark> {
        prop_oneof![
            ("[ab]", 0usize..3).prop_map(|(manifest, number)| Mark::Workflow(Box::new(Attached {
                manifest,
                seen: vec![SeenPhase { number, ..SeenPhase::default() }],
                ..Attached::default()
            }))),
            (0usize..40, proptest::option::of(0u64..1 << 40), proptest::option::of(0u8..100), any::<bool>())
                .prop_map(|(number, at, level, asked)| Mark::PhaseBegan(PhaseBegan {
                    number,
                    name: "implementation".into(),
                    at: at.map(Millis),
                    level,
                    asked,
                })),
            (0usize..40).prop_map(Mark::CompactionNoted),
            any::<u64>().prop_map(Mark::AgentFailed),
            (0u64..3).prop_map(Mark::AgentRetried),
            Just(Mark::WorkflowLeft),
        ]
    }
}
