//! Marks for the stage that a session is in.

use serde::{Deserialize, Serialize};

use crate::feature::cycle::{ActiveStage, ReportedFindings, Turn};
use crate::feature::marks::{RoomMarks, SessionMark, SessionMarks};
use crate::time::Millis;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    /// Replaces the whole stage.
    Stage(Box<ActiveStage>),
    /// The stage was declared done.
    StageDone(String),
    /// A push or a new pull request succeeded.
    StagePublished,
    /// A commit that was allowed to be empty.
    EmptyCommit,
    /// The report contradicts the model's word: it has to be given again.
    StageReopened,
    /// The person was asked for the next stage.
    NextStageAsked,
    /// The first reading in a stage that began without one: tokens in use.
    StageUsed(u64),
    /// A stop was blocked because the stage was not done.
    StageHeld,
    /// After their word the person heard why it still waits.
    WaitTold,
    /// A prompt came during a stage, or its turn ended.
    StageTurn(Turn),
    /// The person lets a cycle continue that waited for them, or that failed.
    GoAhead,
    /// The person ordered a cycle, with these words about publishing.
    Ordered(Order),
    /// Another prompt came after that, before a stage began.
    GoAheadOver,
    /// The stage reported open findings, or that none is open any more.
    FindingsReported(ReportedFindings),
    /// The stage failed, for this reason. The person learns it when the turn ends.
    StageFailed(String),
    /// The public copy of the budget was written.
    BudgetCopied(Millis),
    StageLeft,
    /// An agent gave the cycle up.
    Dropped(DroppedCycle),
    /// The person knows that.
    DropTold,
}

/// An order of the person for a cycle.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Order {
    /// Its words about publishing, other than asking for it plainly.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reserved: Option<String>,
}

/// A cycle that an agent gave up, at this stage.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DroppedCycle {
    pub cycle: String,
    pub stage: String,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Marks {
    pub stage: Option<ActiveStage>,
    /// The stage that the session left: a file that was edited since takes nothing past it.
    pub last: Option<ActiveStage>,
    /// The person does not know it yet.
    pub dropped: Option<DroppedCycle>,
    /// No stage is under way, and the person's last prompt lets a cycle continue: one that another session left.
    pub ahead: bool,
    /// The person's last prompt orders a cycle, and none has begun since.
    pub order: Option<Order>,
}

impl RoomMarks for Marks {
    type Mark = Mark;

    fn apply(&mut self, mark: Mark) {
        match mark {
            Mark::Stage(stage) => {
                (self.stage, self.last, self.ahead) = (Some(*stage), None, false);
                self.order = None;
            }
            Mark::StageDone(name) => self.change(|stage| stage.done |= stage.stage == name),
            // One field each, so that hooks running at once do not undo each other's change.
            Mark::StagePublished => self.change(|stage| stage.published = true),
            Mark::EmptyCommit => self.change(|stage| stage.empty_commits += 1),
            Mark::StageReopened => self.change(|stage| stage.done = false),
            Mark::NextStageAsked => self.change(|stage| stage.asked = true),
            Mark::StageUsed(used) => self.change(|stage| stage.used = stage.used.or(Some(used))),
            Mark::StageHeld => self.change(|stage| stage.held = true),
            Mark::WaitTold => self.change(|stage| stage.urged = false),
            Mark::StageTurn(turn) => self.change(|stage| {
                stage.turn = turn;
                if turn != Turn::Closed {
                    stage.chained = 0;
                }
            }),
            Mark::GoAhead => {
                self.change(|stage| (stage.turn, stage.chained, stage.urged) = (Turn::Open, 0, true));
                self.last.iter_mut().for_each(|last| last.failed = None);
                (self.ahead, self.order) = (self.stage.is_none(), None);
            }
            Mark::Ordered(order) => (self.ahead, self.order) = (false, Some(order)),
            Mark::GoAheadOver => (self.ahead, self.order) = (false, None),
            Mark::FindingsReported(new) => {
                self.change(|stage| stage.findings = Some(new).filter(|new| new.open > 0));
            }
            Mark::StageFailed(why) => self.change(|stage| stage.failed = Some(why)),
            Mark::BudgetCopied(at) => self.change(|stage| stage.copied = at),
            Mark::StageLeft => self.last = self.stage.take().or(self.last.take()),
            Mark::Dropped(dropped) => (self.dropped, self.last) = (Some(dropped), None),
            Mark::DropTold => self.dropped = None,
        }
    }

    fn hear(&mut self, mark: &SessionMark, _: &SessionMarks) {
        self.change(|stage| stage.invoked |= mark.invokes(&stage.skill));
    }

    fn short(&self) -> Vec<Mark> {
        let stage = self.stage.clone().map(|stage| Mark::Stage(Box::new(stage)));
        let last = self.last.clone().map(|last| [Mark::Stage(Box::new(last)), Mark::StageLeft]);
        let dropped = self.dropped.clone().map(Mark::Dropped);
        let ahead = self.ahead.then_some(Mark::GoAhead);
        let order = self.order.clone().map(Mark::Ordered);
        dropped.into_iter().chain(last.into_iter().flatten()).chain(stage).chain(ahead).chain(order).collect()
    }
}

impl Marks {
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
            Just(Mark::WaitTold),
            Just(Mark::StagePublished),
            Just(Mark::EmptyCommit),
            Just(Mark::StageReopened),
            Just(Mark::NextStageAsked),
            (1u64..9).prop_map(Mark::StageUsed),
            Just(Mark::StageTurn(Turn::Interrupted)),
            Just(Mark::GoAhead),
            Just(Mark::GoAheadOver),
            proptest::option::of("[ab]").prop_map(|reserved| Mark::Ordered(Order { reserved })),
            (0u64..3)
                .prop_map(|open| Mark::FindingsReported(ReportedFindings { open, ..Default::default() })),
            Just(Mark::StageFailed("why".to_owned())),
            Just(Mark::BudgetCopied(Millis(9))),
            Just(Mark::StageLeft),
            "[ab]".prop_map(|stage| Mark::Dropped(DroppedCycle { cycle: stage.clone(), stage })),
            Just(Mark::DropTold),
        ]
    }
}
