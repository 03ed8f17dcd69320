//! Marks for the workflow that a session is in.

use serde::{Deserialize, Serialize};

use crate::feature::marks::{RoomMarks, SessionMark, SessionMarks};
use crate::feature::workflow::check::PROGRESS_SKILL;
use crate::feature::workflow::closed::PendingGate;
use crate::feature::workflow::{AttachedWorkflow, PhaseBegan};
use crate::time::Millis;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    /// Replaces the whole workflow.
    Workflow(Box<AttachedWorkflow>),
    PhaseBegan(PhaseBegan),
    /// The manifest records the compaction requested at the end of this phase.
    CompactionNoted(usize),
    /// Written by 0.1 only: an agent with this id of its task failed.
    AgentFailed(u64),
    /// Written by 0.1 only: the model was told how to give the same work to an agent again.
    AgentRetried(u64),
    /// This gate blocks agents.
    GatePending(PendingGate),
    /// The phase before this gate was reached.
    GateDue(PendingGate),
    /// This gate was passed or skipped.
    GateOpen(usize),
    ManifestGone(Millis),
    WorkflowLeft,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Marks {
    pub attached: Option<AttachedWorkflow>,
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
            Mark::AgentFailed(work) => self.change(|workflow| {
                workflow.failed.retain(|known| *known != work);
                workflow.failed.push(work);
            }),
            Mark::AgentRetried(work) => {
                self.change(|workflow| workflow.failed.retain(|known| *known != work));
            }
            Mark::GatePending(gate) => self.change(|workflow| workflow.close(gate)),
            Mark::GateDue(gate) => self.change(|workflow| workflow.expect(gate)),
            Mark::GateOpen(gate) => self.change(|workflow| workflow.open(gate)),
            Mark::ManifestGone(at) => self.change(|workflow| workflow.gone = Some(at)),
            Mark::WorkflowLeft => self.attached = None,
        }
    }

    fn hear(&mut self, mark: &SessionMark, _: &SessionMarks) {
        if mark.invokes(PROGRESS_SKILL) {
            self.change(|workflow| workflow.seen.iter_mut().for_each(|seen| seen.skill = true));
        }
    }

    fn short(&self) -> Vec<Mark> {
        self.attached.clone().map(|workflow| Mark::Workflow(Box::new(workflow))).into_iter().collect()
    }
}

impl Marks {
    pub fn key_fact(&self) -> Option<String> {
        self.attached.as_ref().map(AttachedWorkflow::key_fact)
    }

    fn change(&mut self, how: impl FnOnce(&mut AttachedWorkflow)) {
        if let Some(workflow) = &mut self.attached {
            how(workflow);
        }
    }
}

#[cfg(test)]
pub(in crate::feature) mod tests {
    use super::*;
    use crate::feature::workflow::{Gate, SeenPhase};
    use proptest::prelude::*;

    pub(in crate::feature) fn mark() -> impl Strategy<Value = Mark> {
        prop_oneof![
            ("[ab]", 0usize..3).prop_map(|(manifest, number)| Mark::Workflow(Box::new(AttachedWorkflow {
                manifest,
                seen: vec![SeenPhase { number, ..SeenPhase::default() }],
                ..AttachedWorkflow::default()
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
            (0u64..3).prop_map(Mark::AgentFailed),
            (1usize..4, 0u64..1 << 40).prop_map(|(number, at)| {
                Mark::GatePending(PendingGate::new(Gate { number, after: number * 5 }, Millis(at)))
            }),
            (1usize..4, 0u64..1 << 40).prop_map(|(number, at)| {
                Mark::GateDue(PendingGate::due(Gate { number, after: number * 5 }, Millis(at)))
            }),
            (1usize..4).prop_map(Mark::GateOpen),
            (0u64..1 << 40).prop_map(|at| Mark::ManifestGone(Millis(at))),
            (0u64..3).prop_map(Mark::AgentRetried),
            Just(Mark::WorkflowLeft),
        ]
    }
}
