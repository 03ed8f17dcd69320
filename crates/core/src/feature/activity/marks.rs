//! The activity of a session.

use serde::{Deserialize, Serialize};

use crate::feature::activity::classifier::Phase;
use crate::feature::marks::RoomMarks;
use crate::time::Millis;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    /// The phase that the session entered, or that was confirmed.
    Phase(Phase),
    /// The time of a prompt that a language model is asked about.
    PhaseAsked(Millis),
    /// The language model's answer.
    LatePhase {
        phase: Phase,
        /// The time of its prompt.
        prompt: Millis,
    },
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Marks {
    /// The current phase.
    pub phase: Option<Phase>,
    /// The last question to a language model since the phase was set.
    pub late: Option<Late>,
}

/// A question to a language model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Late {
    /// The time of the prompt.
    pub prompt: Millis,
    /// `None` until the answer is there.
    pub phase: Option<Phase>,
}

impl Marks {
    /// The current phase, if its work teaches something worth keeping.
    pub fn teaching_phase(&self) -> Option<Phase> {
        self.phase.filter(|phase| matches!(phase, Phase::Implement | Phase::Debug | Phase::Review))
    }
}

impl RoomMarks for Marks {
    type Mark = Mark;

    fn apply(&mut self, mark: Mark) {
        match mark {
            Mark::Phase(phase) => {
                self.phase = Some(phase);
                self.late = None;
            }
            Mark::PhaseAsked(prompt) => self.late = Some(Late { prompt, phase: None }),
            // Ignores answers to cancelled or superseded questions.
            Mark::LatePhase { phase, prompt } => {
                if let Some(late) = self.late.as_mut().filter(|late| late.prompt == prompt) {
                    late.phase = Some(phase);
                }
            }
        }
    }

    fn short(&self) -> Vec<Mark> {
        let mut marks = Vec::new();
        marks.extend(self.phase.map(Mark::Phase));
        if let Some(Late { prompt, phase }) = self.late {
            marks.push(Mark::PhaseAsked(prompt));
            marks.extend(phase.map(|phase| Mark::LatePhase { phase, prompt }));
        }
        marks
    }
}

#[cfg(test)]
pub(in crate::feature) mod tests {
    use super::*;
    use crate::feature::marks::{self, SessionMark};
    use proptest::prelude::*;

    pub(in crate::feature) fn mark() -> impl Strategy<Value = Mark> {
        prop_oneof![
            Just(Mark::Phase(Phase::Debug)),
            (0u64..3).prop_map(|prompt| Mark::PhaseAsked(Millis(prompt))),
            (0u64..3).prop_map(|prompt| Mark::LatePhase { phase: Phase::Plan, prompt: Millis(prompt) }),
        ]
    }

    #[test]
    fn a_late_answer_counts_for_its_prompt_and_until_something_newer() {
        let fold = |new: &[marks::Mark]| {
            let mut all = marks::Marks::default();
            for mark in new {
                all.apply(mark.clone());
            }
            all.activity.late
        };
        let answer = |prompt| Mark::LatePhase { phase: Phase::Plan, prompt: Millis(prompt) }.into();
        let asked = |prompt| Mark::PhaseAsked(Millis(prompt)).into();
        let there = Some(Late { prompt: Millis(2), phase: Some(Phase::Plan) });
        assert_eq!(fold(&[asked(2), answer(2)]), there);
        assert_eq!(fold(&[asked(1), asked(2), answer(2)]), there);
        let waits = Some(Late { prompt: Millis(2), phase: None });
        assert_eq!(fold(&[asked(1), answer(1), asked(2)]), waits);
        assert_eq!(fold(&[asked(1), asked(2), answer(1)]), waits, "of an older prompt");
        for newer in [Mark::Phase(Phase::Debug).into(), SessionMark::Began { at: Millis(3) }.into()] {
            let newer: marks::Mark = newer;
            assert_eq!(fold(&[asked(2), answer(2), newer.clone()]), None);
            assert_eq!(fold(&[asked(2), newer, answer(2)]), None);
        }
        assert_eq!(fold(&[answer(2)]), None, "nobody asked");
    }
}
