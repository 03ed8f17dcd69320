//! The activity of a session.

use serde::{Deserialize, Serialize};

use crate::feature::activity::classifier::Phase;
use crate::feature::marks::{RoomMarks, SessionMark, SessionMarks};
use crate::text::skill_name::satisfies;
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
    /// Skills or files were named.
    Advised(GivenAdvice),
    /// A named file was read.
    AdviceHeeded,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Marks {
    /// The current phase.
    pub phase: Option<Phase>,
    /// The last question to a language model since the phase was set.
    pub late: Option<Late>,
    pub advice: GivenAdvice,
}

/// The advice of a session so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct GivenAdvice {
    /// Skills and files that were named.
    pub named: Vec<String>,
    pub times: u32,
    /// Before the last one, in a row.
    #[serde(skip_serializing_if = "is_zero")]
    pub ignored: u32,
    /// None of the named skills was invoked, and none of the files read, since the last one.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub open: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// More would be noise, however useful.
const MOST_ADVICE: u32 = 3;

/// Ignored so often in a row, it has nothing to say in this session.
const MOST_IGNORED: u32 = 2;

impl GivenAdvice {
    pub fn may_go_on(&self) -> bool {
        self.times < MOST_ADVICE && self.ignored + u32::from(self.open) < MOST_IGNORED
    }

    /// With one more that names these.
    #[must_use]
    pub fn and(&self, names: impl IntoIterator<Item = String>) -> GivenAdvice {
        GivenAdvice {
            named: self.named.iter().cloned().chain(names).collect(),
            times: self.times + 1,
            ignored: if self.open { self.ignored + 1 } else { 0 },
            open: true,
        }
    }

    pub fn has_named(&self, name: &str) -> bool {
        self.named.iter().any(|named| named == name)
    }

    fn heed(&mut self) {
        self.open = false;
        self.ignored = 0;
    }
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
            Mark::Advised(advice) => self.advice = advice,
            Mark::AdviceHeeded => self.advice.heed(),
        }
    }

    fn hear(&mut self, mark: &SessionMark, _: &SessionMarks) {
        if let SessionMark::Skill { name, .. } = mark
            && self.advice.named.iter().any(|named| satisfies(name, named))
        {
            self.advice.heed();
        }
    }

    fn short(&self) -> Vec<Mark> {
        let mut marks = Vec::new();
        marks.extend(self.phase.map(Mark::Phase));
        if let Some(Late { prompt, phase }) = self.late {
            marks.push(Mark::PhaseAsked(prompt));
            marks.extend(phase.map(|phase| Mark::LatePhase { phase, prompt }));
        }
        marks.extend((self.advice != GivenAdvice::default()).then(|| Mark::Advised(self.advice.clone())));
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
            (0u32..4, 0u32..3, any::<bool>()).prop_map(|(times, ignored, open)| {
                Mark::Advised(GivenAdvice { named: vec!["a".into()], times, ignored, open })
            }),
            Just(Mark::AdviceHeeded),
        ]
    }

    #[test]
    fn advice_ends_after_three_or_when_two_were_ignored() {
        let names = || ["rules".to_owned(), "learnings.md".to_owned()];
        let mut marks = marks::Marks::default();
        let advise = |marks: &mut marks::Marks| {
            let next = marks.activity.advice.and(names());
            marks.apply(Mark::Advised(next));
            marks.activity.advice.may_go_on()
        };
        assert!(advise(&mut marks), "one may have been missed");
        assert!(!advise(&mut marks), "two in a row were not heeded");
        for heeded in [
            marks::Mark::from(Mark::AdviceHeeded),
            SessionMark::Skill { name: "tidegate:rules".into(), agent: None }.into(),
        ] {
            let mut marks = marks.clone();
            marks.apply(heeded);
            assert!(marks.activity.advice.may_go_on());
            assert!(!advise(&mut marks), "the third was the last");
        }
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
