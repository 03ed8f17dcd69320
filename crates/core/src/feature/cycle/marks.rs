//! The stage that a session is in.

use serde::{Deserialize, Serialize};

use crate::feature::cycle::{ActiveStage, Turn};
use crate::feature::marks::{RoomMarks, SessionMark, SessionMarks};
use crate::time::Millis;

/// One mark, as it is written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    /// The stage of a cycle that this session is in, as it is.
    Stage(Box<ActiveStage>),
    /// The stage is done: somebody said so.
    StageDone(String),
    /// A stop was held because the stage was not done.
    StageHeld,
    /// A person's prompt came while a stage was under way, or its turn has ended.
    StageTurn(Turn),
    /// The public copy of the budget was written.
    BudgetCopied(Millis),
    /// The session is in no cycle any more.
    StageLeft,
}

/// The marks, folded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Marks {
    /// The stage of a cycle that the session is in.
    pub stage: Option<ActiveStage>,
}

impl RoomMarks for Marks {
    type Mark = Mark;

    fn apply(&mut self, mark: Mark) {
        match mark {
            Mark::Stage(stage) => self.stage = Some(*stage),
            Mark::StageDone(name) => self.change(|stage| stage.done |= stage.stage == name),
            // Each changes one thing: hooks that run at once do not undo each other's.
            Mark::StageHeld => self.change(|stage| stage.held = true),
            Mark::StageTurn(turn) => self.change(|stage| {
                stage.turn = turn;
                if turn != Turn::Closed {
                    stage.chained = 0;
                }
            }),
            Mark::BudgetCopied(at) => self.change(|stage| stage.copied = at),
            Mark::StageLeft => self.stage = None,
        }
    }

    fn hear(&mut self, mark: &SessionMark, _: &SessionMarks) {
        self.change(|stage| stage.done |= mark.invokes(&stage.skill));
    }

    fn short(&self) -> Vec<Mark> {
        self.stage.clone().map(|stage| Mark::Stage(Box::new(stage))).into_iter().collect()
    }
}

impl Marks {
    /// What must not be lost of it.
    pub fn key_fact(&self) -> Option<String> {
        self.stage.as_ref().map(ActiveStage::key_fact)
    }

    fn change(&mut self, how: impl FnOnce(&mut ActiveStage)) {
        if let Some(stage) = &mut self.stage {
            how(stage);
        }
    }
}

#[cfg(test)]
pub(in crate::feature) mod tests {
    use super::*;
    use proptest::prelude::*;

    pub(in crate::feature) fn mark() -> impl Strategy<Value = Mark> {
        prop_oneof![
            "[ab]".prop_map(|stage| Mark::Stage(Box::new(ActiveStage {
                skill: stage.clone(),
                stage,
                ..ActiveStage::default()
            }))),
            "[ab]".prop_map(Mark::StageDone),
            Just(Mark::StageHeld),
            Just(Mark::StageTurn(Turn::Interrupted)),
            Just(Mark::BudgetCopied(Millis(9))),
            Just(Mark::StageLeft),
        ]
    }
}
